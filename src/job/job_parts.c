/* SPDX-License-Identifier: Apache-2.0 */
/* job_parts.c - see job_parts.h. */
#include "job/job_parts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/append.h"

/* The process that a process descends from, by the recording: one without a recorded parent. */
static uint32_t root_of(const struct hwy_trace *trace, uint32_t process)
{
	/* At most as many steps as there are processes: a file may name a parent in a circle. */
	for (uint32_t step = 0; step < trace->n_processes; step++) {
		int64_t parent = trace->processes[process].parent;
		if (parent < 0 || parent >= trace->n_processes)
			break;
		process = (uint32_t)parent;
	}
	return process;
}

static bool names_another_rank(const struct hwy_trace *trace, uint32_t process, uint32_t root)
{
	const struct hwy_process *one = &trace->processes[process],
				 *first = &trace->processes[root];
	return one->rank != HWY_NONE && (one->rank != first->rank || one->world != first->world ||
					 one->local_rank != first->local_rank);
}

int64_t *job_parts_owners(const struct hwy_trace *trace)
{
	uint32_t n = trace->n_processes;
	int64_t *owners = hwy_array(n, sizeof *owners);
	uint32_t *roots = hwy_array(n, sizeof *roots);
	bool *launches = hwy_zarray(n, sizeof *launches);
	for (uint32_t p = 0; p < n; p++) {
		roots[p] = root_of(trace, p);
		launches[roots[p]] |= names_another_rank(trace, p, roots[p]);
	}
	for (uint32_t p = 0; p < n; p++) {
		uint32_t at = p, root = roots[p];
		for (uint32_t step = 0; step < n && at != root; step++) {
			if (names_another_rank(trace, at, root))
				break;
			at = (uint32_t)trace->processes[at].parent;
		}
		owners[p] = at == root && launches[root] ? HWY_NONE : trace->processes[at].rank;
	}
	free(roots);
	free(launches);
	return owners;
}

struct hwy_trace *job_part_of(struct hwy_trace *trace, const bool *keep, int64_t rank,
			      struct hwy_err *err)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_append how = {.keep = keep, .rank = rank};
	struct hwy_trace *part = NULL;
	if (!hwy_append(b, trace, &how, err))
		hwy_builder_free(b);
	else if (!(part = hwy_builder_finish(b, false)))
		hwy_fail(err, "too many spans");
	return part;
}

/* The ranks whose processes have work on a stream; where none has any, those that exchange data.
 * Ascending, each once; to be freed. */
static int64_t *ranks_that_work(const struct hwy_trace *trace, const int64_t *owners, uint32_t *n)
{
	int64_t *ranks = hwy_array((size_t)trace->n_strips + trace->n_messages, sizeof *ranks);
	uint32_t found = 0;
	for (uint32_t i = 0; i < trace->n_strips; i++) {
		int64_t process = trace->lanes[trace->strips[i].lane].process;
		if ((HWY_KIND_BIT(trace->strips[i].kind) & HWY_DEVICE_KINDS) && process >= 0 &&
		    process < trace->n_processes && owners[process] != HWY_NONE)
			ranks[found++] = owners[process];
	}
	for (uint32_t i = 0, worked = found; i < trace->n_messages && worked == 0; i++) {
		int64_t process = trace->messages[i].process;
		if (process >= 0 && process < trace->n_processes && owners[process] != HWY_NONE)
			ranks[found++] = owners[process];
	}
	qsort(ranks, found, sizeof *ranks, hwy_ascending);
	*n = 0;
	for (uint32_t i = 0; i < found; i++)
		if (*n == 0 || ranks[i] != ranks[*n - 1])
			ranks[(*n)++] = ranks[i];
	return ranks;
}

struct hwy_trace **job_parts_make(struct hwy_trace *trace, uint32_t *n, struct hwy_err *err)
{
	int64_t *owners = job_parts_owners(trace), *ranks = ranks_that_work(trace, owners, n);
	struct hwy_trace **parts = NULL;
	if (*n < 2) {
		*n = 0;
	} else {
		parts = hwy_zarray(*n, sizeof(*parts));
		bool *keep = hwy_zarray(trace->n_processes, sizeof *keep);
		for (uint32_t r = 0; r < *n && parts; r++) {
			for (uint32_t p = 0; p < trace->n_processes; p++)
				keep[p] = owners[p] == ranks[r];
			parts[r] = job_part_of(trace, keep, ranks[r], err);
			for (uint32_t k = 0; !parts[r] && k < r; k++)
				hwy_trace_free(parts[k]);
			if (!parts[r]) {
				free(parts);
				parts = NULL;
			}
		}
		free(keep);
	}
	free(owners);
	free(ranks);
	return parts;
}
