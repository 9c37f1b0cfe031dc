/* SPDX-License-Identifier: Apache-2.0 */
/* profile_job.h - `headway profile` of a whole job: which part of it this headway has, and the
 * job's folder.
 *
 * Three headways may take part in a job. One runs the launcher (mpirun, srun …), in whose
 * command line it has put a headway before each program; each of these records a rank and leaves
 * its report in the job's folder; where the launcher starts ranks of this host only (torchrun
 * …), one headway records them all and leaves a report for each.
 */
#ifndef HWY_CLI_PROFILE_JOB_H
#define HWY_CLI_PROFILE_JOB_H

#include <stdbool.h>

#include "base/mem.h"
#include "job/folder.h"
#include "run/job_launchers.h"
#include "run/run.h"
#include "spool/rank_variables.h"

enum profile_role {
	PROFILE_ALONE,    /* one program, one report */
	PROFILE_LAUNCHER, /* runs a launcher; records nothing itself */
	PROFILE_TREE,     /* records a launcher with the ranks that it starts on this host */
	PROFILE_RANK,     /* records one rank */
};

struct profile_job {
	enum profile_role role;
	/* the value of --job-rank: the folder that the headway above has made; or NULL */
	const char *given;
	struct launcher_found launcher; /* of PROFILE_LAUNCHER and PROFILE_TREE */
	struct ranks ranks;             /* as this headway's environment tells */
	char id[96];                    /* what tells the job from others */
	/* other headways, of which none is above this one, record into the same folder */
	bool joins;
	char *folder; /* the job's folder, an absolute path */
	/* Why the folder cannot be written from here; "" where it can. */
	struct hwy_err unreachable;
	struct job_note note; /* what the folder is told about this rank */
	const char **reports; /* the reports that were written, in the arena; for their digests */
	uint32_t n_reports, cap_reports;
	struct hwy_arena texts;
};

struct profile;
struct hwy_trace;

/* Finds out the role, from the command line and the environment. argv is the command line of
 * profile. */
void profile_job_begin(struct profile *profile, int argc, char **argv);
/* Yields the path of this rank's report, to be freed; NULL where the job has none of its own. */
char *profile_job_path(const struct profile *profile);
/* Tells the folder that the rank is recorded, and where. */
void profile_job_started(struct profile *profile, const struct run *run);
/* Tells the folder that the rank has not been recorded, and why. */
void profile_job_failed(struct profile *profile, const char *why, int status);
/* The program has ended; must come before its report is made. */
void profile_job_ended(struct profile *profile, const struct run *run);
/* Tells the folder that the report is made of this trace (NULL: of several). */
void profile_job_reported(struct profile_job *job, const struct hwy_trace *trace);
/* Tells the folder that there is no report. */
void profile_job_unreported(struct profile *profile);
/* The last: where the job is over, its folder is completed and its summary printed. */
void profile_job_finish(struct profile *profile, const struct run *run);

/* profile_words.c: the launcher's command line with a headway before each program, NULL at the
 * end. The array is to be freed; its texts live as long as the job. */
char **profile_words(struct profile *profile, int argc, char **argv);

/* profile_place.c: chooses or joins the job's folder; exits where that cannot be. */
void profile_place(struct profile *profile);

/* profile_digest.c: notes a report that was written; and makes the digests of those, as far as
 * that takes a moment. Never fails: what has no digest then gets it by `headway digest`. */
void profile_digest_later(struct profile_job *job, const char *report);
void profile_digest(struct profile_job *job);

/* job_split.c: writes a report for each rank of a trace to the job's folder, or one of all where
 * no process has a rank. *written is the first, to be freed. */
bool job_split(struct hwy_trace *trace, struct profile_job *job, char **written,
	       struct hwy_err *err);

/* job_end.c: completes the folder of a job that has just ended, with the reports of ranks of
 * this host whose headway was killed: 'status' is the launcher's, HWY_NONE: not known. Prints
 * the summary, unless 'quiet'. */
void job_end(const char *folder, int64_t status, bool quiet);
/* The same at any later time. Where ranks are still being recorded, only says so, and the folder
 * stays as it is. */
void job_recover(const char *folder);
/* Whether every rank of the job has told that it ended. */
bool job_end_is_reached(const char *folder);

#endif
