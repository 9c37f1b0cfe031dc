/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - the folder of a job: a report for each rank, and job.json, which says what is known
 * about the job.
 *
 *   struct job_folder folder;
 *   if (!job_folder_read("job1", &folder, err))
 *           return false;
 *   for (uint32_t i = 0; i < folder.n_ranks; i++)
 *           printf("rank %lld on %s\n", (long long)folder.ranks[i].rank, folder.ranks[i].host);
 *   job_folder_free(&folder);
 *
 * While ranks are being recorded each of them keeps a note of its own in the folder, .rankN.run,
 * which says where its run directory is; nobody writes a file of another rank. When the last
 * rank has ended, the notes are folded into job.json. A reader sees both as one. All files are
 * written under another name and renamed. docs/jobs.md has the format.
 */
#ifndef HWY_JOB_FOLDER_H
#define HWY_JOB_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/model.h"

#define JOB_FILE "job.json"

/* What became of a rank; the names in job.json are those of job_state_names. */
enum job_state {
	JOB_RUNNING,  /* its headway has not said that it ended */
	JOB_RECORDED, /* its report is in the folder */
	/* its headway was killed; the report is made of what was recorded until then */
	JOB_RECOVERED,
	JOB_LOST,      /* there is no report; 'why' says more */
	JOB_ELSEWHERE, /* its report is not in the folder but at 'report', on its host */
	JOB_STATES,
};
extern const char *const job_state_names[JOB_STATES];

/* What is known about one rank. */
struct job_note {
	int64_t rank, local_rank, world; /* HWY_NONE where the launcher's variables do not tell */
	int64_t pid;                     /* of the rank's headway */
	const char *host;
	const char *report;    /* file in the folder, or a path (JOB_ELSEWHERE); "" : none */
	const char *directory; /* the run directory, on 'host'; "" once the report is made */
	const char *version;   /* of the rank's headway */
	const char *gpus;      /* the devices that the rank used, "uuid name" separated by ';' */
	const char *why;       /* what went wrong, one sentence; "" where nothing did */
	int64_t started;       /* ns since 1970; HWY_NONE: not known */
	int64_t ended;         /* ns since 1970; HWY_NONE: not yet, or not known */
	int64_t status;        /* the program's, as wait() gives it; HWY_NONE: not known */
	enum job_state state;
};

struct job_folder {
	const char *path;
	/* What tells this job from others: "slurm-123.0"; the same for all ranks. */
	const char *id;
	const char *launcher; /* "mpirun", "srun", "torchrun" …; "" where it is not known */
	const char *command;  /* the command line, words joined by a space */
	const char *host;     /* where it was started */
	const char *version;  /* of the headway that made the folder */
	/* The headway that started the launcher; HWY_NONE: each rank has a headway of its own,
	 * and nobody is above. */
	int64_t pid;
	int64_t started, ended; /* ns since 1970; HWY_NONE: not known, not ended */
	int64_t status;         /* the launcher's, as wait() gives it; HWY_NONE: not known */
	int64_t world;          /* number of ranks; HWY_NONE: not known */
	struct job_note *ranks; /* by rank; those without a number come last, by host and pid */
	uint32_t n_ranks;
	bool is_over; /* the job is over: the notes of its ranks are in job.json */
	struct hwy_arena texts;
};

/* Yields a job of which nothing is known; texts that are not known are "". */
struct job_folder job_folder_none(void);
struct job_note job_note_none(void);

/* Reads job.json and the notes of the ranks. False: no such folder, or no job was recorded into
 * it. */
bool job_folder_read(const char *path, struct job_folder *folder, struct hwy_err *err);
void job_folder_free(struct job_folder *folder);

/* Whether a job was recorded into this folder. */
bool job_folder_is(const char *path);

/* Makes the folder, and writes job.json into it. False where there is a folder of this name with
 * anything in it. Of several who do this at once one succeeds: *is_taken tells the others from
 * those who could not write. */
bool job_folder_make(const struct job_folder *job, bool *is_taken, struct hwy_err *err);
/* Removes what an earlier job left in its folder, so that the folder can be made anew. False: no
 * job was recorded into this folder, or one is still being recorded. */
bool job_folder_clear(const char *path, struct hwy_err *err);

/* Writes or replaces the note of one rank. */
bool job_folder_put_note(const char *path, const struct job_note *note, struct hwy_err *err);
/* Removes the note of one rank. */
void job_folder_drop_note(const char *path, const struct job_note *note);
/* The name of a rank's report in the folder, "rank3.hwy"; "HOST-PID.hwy" for a rank without a
 * number. */
char *job_note_report(struct hwy_arena *arena, const struct job_note *note);

/* Writes the whole job into job.json and removes the notes of its ranks. */
bool job_folder_fold(const struct job_folder *folder, struct hwy_err *err);

#endif
