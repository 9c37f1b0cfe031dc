/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - opens the recordings of a job and puts its ranks in order; see job.h. */
#include "job/job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/memory_text.h"
#include "import/import.h"

enum { MOST_RANKS = 1 << 20 };

void job_problem(struct hwy_job *job, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, hwy_tr(format), arguments);
	va_end(arguments);
	HWY_GROW(job->problems, job->n_problems, job->cap_problems);
	job->problems[job->n_problems++] = hwy_copy(text, strlen(text) + 1);
}

const char *job_host(const struct job_recording *rank)
{
	const struct hwy_trace *trace = rank->trace;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (trace->processes[p].host >= 0 && trace->processes[p].host < trace->n_hosts)
			return hwy_str(trace, trace->hosts[trace->processes[p].host].name);
	return trace->n_hosts ? hwy_str(trace, trace->hosts[0].name) : "";
}

uint32_t job_find(const struct hwy_job *job, int64_t rank)
{
	uint32_t i = 0;
	while (i < job->n && job->ranks[i].rank != rank)
		i++;
	return i;
}

void job_close(struct hwy_job *job)
{
	for (uint32_t i = 0; i < job->n; i++) {
		hwy_trace_free(job->ranks[i].trace);
		free(job->ranks[i].path);
		free(job->ranks[i].clock.repairs);
	}
	for (uint32_t i = 0; i < job->n_problems; i++)
		free(job->problems[i]);
	free(job->ranks);
	free(job->problems);
	*job = (struct hwy_job){0};
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Opens all files. A file of a folder that cannot be read is a problem; one that was named is a
 * failure. */
static bool open_files(struct hwy_job *job, const struct job_files *files,
		       const struct hwy_progress *progress, struct hwy_err *err)
{
	for (uint32_t i = 0; i < files->n; i++) {
		const char *path = files->files[i].name;
		struct hwy_trace *trace = hwy_open(path, progress, err);
		if (!trace && !files->files[i].is_found)
			return false;
		if (!trace) {
			job_problem(job, "left out: %s", err->text);
			continue;
		}
		HWY_GROW(job->ranks, job->n, job->cap);
		job->ranks[job->n++] =
			(struct job_recording){.rank = job_rank_of(trace, path),
					       .path = hwy_copy(path, strlen(path) + 1),
					       .trace = trace};
	}
	return job->n > 0; /* err is that of the last file where none could be read */
}

static void leave_rank_out(struct hwy_job *job, uint32_t at)
{
	hwy_trace_free(job->ranks[at].trace);
	free(job->ranks[at].path);
	memmove(&job->ranks[at], &job->ranks[at + 1], (job->n - at - 1) * sizeof *job->ranks);
	job->n--;
}

/* Reports come before exports of them: people export a report into the folder that it is in. */
static int preference_of(const char *path)
{
	const char *ending = strrchr(path, '.');
	if (ending && strcmp(ending, ".hwy") == 0)
		return 0;
	return ending && strcmp(ending, ".sqlite") == 0 ? 1 : 2;
}

static int job_by_rank(const void *left, const void *right)
{
	const struct job_recording *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	int first = preference_of(a->path), second = preference_of(b->path);
	return first != second ? first - second : strcmp(a->path, b->path);
}

/* One file a rank, and all of one job. */
static bool settle_ranks(struct hwy_job *job, struct hwy_err *err)
{
	if (job->n == 1 && job->ranks[0].rank == HWY_NONE)
		job->ranks[0].rank = 0;
	qsort(job->ranks, job->n, sizeof *job->ranks, job_by_rank);
	uint32_t unknown = 0;
	while (unknown < job->n && job->ranks[unknown].rank == HWY_NONE)
		unknown++;
	if (unknown == job->n)
		return hwy_fail(
			err,
			"%s and %s: neither tells its rank, so they are not the ranks of a job; name one of them",
			job->ranks[0].path, job->ranks[1].path);
	for (; unknown > 0; unknown--) {
		job_problem(job, "left out: %s: does not tell its rank", job->ranks[0].path);
		leave_rank_out(job, 0);
	}
	for (uint32_t i = 1; i < job->n;) {
		const struct job_recording *one = &job->ranks[i - 1], *two = &job->ranks[i];
		const char *why = job_differ(job->ranks[0].trace, two->trace);
		if (why)
			return hwy_fail(err,
					"%s and %s are not ranks of one job, %s; name one of them",
					job->ranks[0].path, two->path, why);
		if (one->rank != two->rank) {
			i++;
			continue;
		}
		job_problem(job, "left out: %s: is of rank %" PRId64 ", as %s is", two->path,
			    two->rank, one->path);
		leave_rank_out(job, i);
	}
	return true;
}

char *job_rank_list(const int64_t *ranks, uint32_t n)
{
	enum { MOST_SHOWN = 8 };
	struct memory_text memory;
	FILE *out = memory_text_begin(&memory);
	uint32_t shown = 0;
	for (uint32_t i = 0, last; i < n && shown < MOST_SHOWN; i = last + 1, shown++) {
		for (last = i; last + 1 < n && ranks[last + 1] == ranks[last] + 1; last++)
			;
		fprintf(out, "%s%" PRId64, shown ? ", " : "", ranks[i]);
		if (last > i)
			fprintf(out, "%s%" PRId64, last == i + 1 ? ", " : "-", ranks[last]);
		if (shown + 1 == MOST_SHOWN && last + 1 < n)
			fputs(", …", out);
	}
	return memory_text_end(&memory);
}

static void tell_missing(struct hwy_job *job, const struct hwy_map *seen)
{
	/* A damaged file may claim any number of ranks. */
	int64_t most = job->world < MOST_RANKS ? job->world : MOST_RANKS, *missing = NULL;
	uint32_t n = 0, cap = 0;
	for (int64_t rank = 0; rank < most; rank++)
		if (!hwy_map_get(seen, (uint64_t)rank)) {
			HWY_GROW(missing, n, cap);
			missing[n++] = rank;
		}
	if (n > 0) {
		char *list = job_rank_list(missing, n);
		job_problem(job, "%" PRIu32 " of %" PRId64 " ranks have no recording here: %s", n,
			    job->world, list);
		free(list);
	}
	free(missing);
}

void job_find_missing(struct hwy_job *job)
{
	struct hwy_map seen = {0};
	job->world = HWY_NONE;
	for (uint32_t r = 0; r < job->n; r++) {
		const struct hwy_trace *trace = job->ranks[r].trace;
		hwy_map_put(&seen, (uint64_t)job->ranks[r].rank, NULL);
		/* A recording may have the processes of several ranks. */
		for (uint32_t p = 0; p < trace->n_processes; p++) {
			hwy_map_put(&seen, (uint64_t)trace->processes[p].rank, NULL);
			if (trace->processes[p].world > job->world)
				job->world = trace->processes[p].world;
		}
	}
	if (job->n > 0)
		tell_missing(job, &seen);
	hwy_map_free(&seen);
}

bool job_open(struct hwy_job *job, const char *const *paths, uint32_t n,
	      const struct hwy_progress *progress, struct hwy_err *err)
{
	struct job_files files = {0};
	*job = (struct hwy_job){0};
	bool done = true;
	for (uint32_t i = 0; i < n && done; i++)
		done = job_files_add(&files, paths[i], err);
	done = done && open_files(job, &files, progress, err) && settle_ranks(job, err);
	job_files_free(&files);
	if (done) {
		job_find_missing(job);
		done = job_clocks_find(job, err);
	}
	if (!done)
		job_close(job);
	return done;
}
