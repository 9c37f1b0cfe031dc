/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a job: the ranks of one program that ran together, each with its recording, on one
 * clock.
 *
 *   struct hwy_job job;
 *   const char *paths[] = {"job1"};
 *   if (!job_open(&job, paths, 1, NULL, err))
 *           return false;
 *   for (uint32_t r = 0; r < job.n; r++)
 *           printf("rank %lld on %s\n", (long long)job.ranks[r].rank, job_host(&job.ranks[r]));
 *   job_close(&job);
 *
 * A folder stands for the recordings in it; what cannot be read there is left out and named in
 * 'problems'. Ranks may be missing. The times of a rank's trace stay those of its own clock:
 * job_clock_map yields the time on the first rank's.
 */
#ifndef HWY_JOB_JOB_H
#define HWY_JOB_JOB_H

#include "base/progress.h"
#include "job/job_clock.h"
#include "trace/trace.h"

struct job_recording {
	int64_t rank;
	char *path;
	struct hwy_trace *trace;
	struct job_clock clock; /* to the clock of the job's first rank */
};

struct hwy_job {
	struct job_recording *ranks; /* by rank; no two have the same */
	uint32_t n, cap;
	int64_t world; /* how many ranks the job had; HWY_NONE: not known */
	/* What a person should know before the job's numbers are believed: files that were left
	 * out, ranks that are missing, clocks that could not be brought together. One line each,
	 * without a full stop. */
	char **problems;
	uint32_t n_problems, cap_problems;
};

/* Opens files and folders of files as the ranks of one job. Fails where a file that was named
 * cannot be read, where a folder has no recording, and where the recordings cannot be of one
 * job. */
bool job_open(struct hwy_job *job, const char *const *paths, uint32_t n,
	      const struct hwy_progress *progress, struct hwy_err *err);
void job_close(struct hwy_job *job);

/* The name of the host that the rank ran on, or "". */
const char *job_host(const struct job_recording *rank);
/* The index of the rank in job->ranks; job->n where the job has no recording of it. */
uint32_t job_find(const struct hwy_job *job, int64_t rank);
/* Finds how many ranks the job had, by what its recordings tell; the ranks without a recording
 * become a problem. job_open does so. */
void job_find_missing(struct hwy_job *job);
/* Ranks that use one GPU become a problem, for answers about who is late: each may be late
 * because of the others. */
void job_find_sharing(struct hwy_job *job);
/* Ranks for people, to be freed: "0-3, 7, 9, …"; they must ascend. */
char *job_rank_list(const int64_t *ranks, uint32_t n);
/* Adds a line to job->problems. */
void job_problem(struct hwy_job *job, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- the files, for front ends that open recordings one by one ------------------------------- */

struct job_files {
	struct job_file {
		char *name;
		bool is_found; /* found in a folder, which may hold files that are no recordings */
	} * files;
	uint32_t n, cap;
};

/* Adds the file, or all recordings in the folder, by name; false where the folder has none. */
bool job_files_add(struct job_files *files, const char *path, struct hwy_err *err);
void job_files_free(struct job_files *files);

/* Yields the rank that the recording names, else the number after "rank" in the file's name,
 * else HWY_NONE. */
int64_t job_rank_of(const struct hwy_trace *trace, const char *path);
/* Yields why two recordings cannot be of one job, as the end of a sentence ("their programs
 * differ"); NULL where nothing speaks against it. */
const char *job_differ(const struct hwy_trace *a, const struct hwy_trace *b);

#endif
