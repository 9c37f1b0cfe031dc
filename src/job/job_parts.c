/* SPDX-License-Identifier: Apache-2.0 */
/* job_parts.c - see job_parts.h. */
#include "job/job_parts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/append.h"

/* Whether a process has a rank of its own, beside the launcher. */
static bool has_own_rank(const struct hwy_trace *trace, uint32_t process)
{
	const struct hwy_process *one = &trace->processes[process], *first = &trace->processes[0];
	return one->rank != HWY_NONE &&
	       (process > 0 && (one->rank != first->rank || one->world != first->world ||
				one->local_rank != first->local_rank));
}

int64_t *job_parts_owners(const struct hwy_trace *trace)
{
	int64_t *owners = hwy_array(trace->n_processes, sizeof *owners);
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		uint32_t at = p;
		owners[p] = HWY_NONE;
		/* At most as many steps as there are processes: a file may name a parent in a circle. */
		for (uint32_t step = 0; step < trace->n_processes; step++) {
			if (has_own_rank(trace, at)) {
				owners[p] = trace->processes[at].rank;
				break;
			}
			int64_t parent = trace->processes[at].parent;
			if (parent < 0 || parent >= trace->n_processes)
				break;
			at = (uint32_t)parent;
		}
	}
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

/* The ranks whose processes have work on a stream, ascending, each once; to be freed. */
static int64_t *ranks_that_work(const struct hwy_trace *trace, const int64_t *owners, uint32_t *n)
{
	int64_t *ranks = hwy_array(trace->n_strips, sizeof *ranks);
	uint32_t found = 0;
	for (uint32_t i = 0; i < trace->n_strips; i++) {
		int64_t process = trace->lanes[trace->strips[i].lane].process;
		if ((HWY_KIND_BIT(trace->strips[i].kind) & HWY_DEVICE_KINDS) && process >= 0 &&
		    process < trace->n_processes && owners[process] != HWY_NONE)
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
