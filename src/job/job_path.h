/* SPDX-License-Identifier: Apache-2.0 */
/* job_path.h - the critical path of a job (run_path.h), summed up: by class, by rank, and by
 * what and where it is.
 *
 * Where ranks have steps, the path is that through the steady steps of the first rank that has
 * some; else it is that through all that was recorded.
 */
#ifndef HWY_JOB_JOB_PATH_H
#define HWY_JOB_JOB_PATH_H

#include "whatif/joint.h"
#include "whatif/path.h"

struct job_path_link { /* the pieces of the path that have one rank, class, name and place */
	int64_t rank;  /* the rank's number */
	uint8_t class; /* enum path_class */
	const char *name, *place;
	int64_t time; /* ns */
	uint64_t count;
};

struct job_path_rank {
	int64_t rank; /* the rank's number */
	int64_t time; /* ns of the path that are the rank's */
};

struct hwy_job_path {
	uint32_t n_steps;              /* steady steps in the window; 0: the whole recording */
	int64_t length;                /* ns of the window */
	int64_t classes[PATH_CLASSES]; /* ns; they add up to 'length' */
	struct job_path_rank *ranks;   /* in the order given; the times add up to 'length' */
	uint32_t n_ranks;
	struct job_path_link *links; /* the one with most time first */
	uint32_t n, cap;
	uint32_t n_crossings;            /* how often the path goes from one rank to another */
	uint32_t n_meetings, n_messages; /* collectives and messages that join the ranks */
	struct hwy_arena texts;
};

/* ranks[].phase may be beyond the rank's phases: the rank has no device work. After a failure
 * there is nothing to free. */
bool job_path(struct hwy_job_path *path, const struct joint_rank *ranks, uint32_t n,
	      struct hwy_err *err);
void job_path_free(struct hwy_job_path *path);

#endif
