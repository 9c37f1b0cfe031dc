/* SPDX-License-Identifier: Apache-2.0 */
/* job_split.c - takes the recording of a launcher's tree apart: a report for each rank.
 *
 * Which process belongs to which rank is told by job/job_parts.h; the launcher itself is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/profile.h"
#include "job/job_parts.h"
#include "trace/file.h"
#include "whatif/path_cache.h"

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
	if (done)
		profile_digest_later(job, path);
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
	struct hwy_trace *part = job_part_of(trace, keep, rank, err);
	bool done = part && write_part(part, job, written, err);
	hwy_trace_free(part);
	free(keep);
	job->note = launcher;
	return done;
}

bool job_split(struct hwy_trace *trace, struct profile_job *job, char **written,
	       struct hwy_err *err)
{
	int64_t *owners = job_parts_owners(trace),
		*ranks = hwy_array(trace->n_processes, sizeof *ranks);
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
