/* SPDX-License-Identifier: Apache-2.0 */
/* job_facts.h - what a trace that was merged from the ranks of a job tells about them: the
 * property "job.rank.N" of rank N.
 *
 * So a report that was made of a job still says where each rank's times come from and how sure
 * they are.
 */
#ifndef HWY_JOB_JOB_FACTS_H
#define HWY_JOB_JOB_FACTS_H

#include "job/job.h"
#include "trace/builder.h"

struct job_fact {
	int64_t rank;
	const char *file, *host; /* "" where it is not known; the file is without its folder */
	enum job_clock_source source;
	/* As in struct job_clock; the error may be HWY_NONE. */
	int64_t shift, drift, error;
	uint32_t compared, repairs;
};

/* The properties "job.ranks" (how many have a recording), "job.world" (how many there were) and
 * "job.rank.N". */
void job_facts_put(struct hwy_builder *b, const struct hwy_job *job);
/* Yields the facts of all ranks, by rank, in the arena; *n is 0 where the trace is not of a job. */
struct job_fact *job_facts_get(const struct hwy_trace *trace, uint32_t *n, struct hwy_arena *arena);

#endif
