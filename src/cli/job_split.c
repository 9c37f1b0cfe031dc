/* SPDX-License-Identifier: Apache-2.0 */
/* job_split.c - takes the recording of a launcher's tree apart: a report for each rank.
 *
 * A process belongs to the rank that its variables name, else to its parent's. The launcher itself, and what it starts
 * besides ranks, belongs to none and is left out. Where headway itself was started as a rank of an outer launcher (srun
 * torchrun), the launcher's processes have that rank: the number counts only where it differs from the first process's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/profile.h"
#include "trace/append.h"
#include "trace/file.h"
#include "whatif/path_cache.h"

/* Whether a process has a rank of its own, beside the launcher. */
static bool has_own_rank(const struct hwy_trace *trace, uint32_t process)
{
	const struct hwy_process *one = &trace->processes[process], *first = &trace->processes[0];
	return one->rank != HWY_NONE &&
	       (process > 0 && (one->rank != first->rank || one->world != first->world ||
				one->local_rank != first->local_rank));
}

/* Yields the rank of each process, HWY_NONE for the launcher's own. */
static int64_t *find_owners(const struct hwy_trace *trace)
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

/* Writes one report to the folder, and tells the folder so. */
static bool write_part(struct hwy_trace *part, struct profile_job *job, char **written,
		       struct hwy_err *err)
{
	char *path;
	path_cache_add(part);
	job->note.report = job_note_report(&job->texts, &job->note);
	if (asprintf(&path, "%s/%s", job->folder, job->note.report) < 0)
		cli_die("out of memory");
	bool done = hwy_file_write(part, path, true, cli_progress(), err);
	if (done)
		profile_job_reported(job, part);
	if (done && !*written)
		*written = path;
	else
		free(path);
	return done;
}

static bool write_rank(struct hwy_trace *trace, const int64_t *owners, int64_t rank,
		       struct profile_job *job, char **written, struct hwy_err *err)
{
	bool *keep = hwy_zarray(trace->n_processes, sizeof *keep);
	struct job_note launcher = job->note;
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		keep[p] = owners[p] == rank;
		const struct hwy_process *process = &trace->processes[p];
		if (!keep[p] || process->rank != rank || job->note.rank == rank)
			continue;
		job->note.rank = rank;
		job->note.local_rank = process->local_rank;
		job->note.world = process->world;
		job->note.pid = process->pid;
		job->note.status = process->exit;
	}
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_append how = {.keep = keep, .rank = rank};
	struct hwy_trace *part = NULL;
	if (!hwy_append(b, trace, &how, err))
		hwy_builder_free(b);
	else if (!(part = hwy_builder_finish(b, false)))
		hwy_fail(err, "%s: too many spans", job->folder);
	bool done = part && write_part(part, job, written, err);
	hwy_trace_free(part);
	free(keep);
	job->note = launcher;
	return done;
}

bool job_split(struct hwy_trace *trace, struct profile_job *job, char **written,
	       struct hwy_err *err)
{
	int64_t *owners = find_owners(trace), *ranks = hwy_array(trace->n_processes, sizeof *ranks);
	uint32_t n = 0;
	bool done = true;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (owners[p] != HWY_NONE)
			ranks[n++] = owners[p];
	qsort(ranks, n, sizeof *ranks, hwy_ascending);
	for (uint32_t i = 0; i < n && done; i++)
		if (i == 0 || ranks[i] != ranks[i - 1])
			done = write_rank(trace, owners, ranks[i], job, written, err);
	if (n == 0)
		done = write_part(trace, job, written, err);
	else if (done)
		job_folder_drop_note(job->folder, &job->note);
	free(owners);
	free(ranks);
	return done;
}
