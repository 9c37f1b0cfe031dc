/* SPDX-License-Identifier: Apache-2.0 */
/* job_merge.c - see job_merge.h. */
#include "job/job_merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/append.h"

static int64_t map_time(const void *clock, int64_t time)
{
	return job_clock_map(clock, time);
}

/* Every host counts its devices from 0. People tell devices by their numbers, so those of a job get one number each; the
 * number that a process knows its device by is in its streams. */
static void number_devices(struct hwy_trace *trace)
{
	bool are_different = true;
	for (uint32_t i = 0; i < trace->n_devices; i++)
		for (uint32_t k = 0; k < i; k++)
			are_different &= trace->devices[i].ordinal != trace->devices[k].ordinal;
	for (uint32_t i = 0; i < trace->n_devices && !are_different; i++)
		trace->devices[i].ordinal = i;
}

/* All processes are kept, but with a list of them only the devices that they use are: every rank lists all devices of its
 * host. */
static bool append_rank(struct hwy_builder *b, struct job_recording *rank, struct hwy_err *err)
{
	bool *all = hwy_array(rank->trace->n_processes, sizeof *all);
	for (uint32_t p = 0; p < rank->trace->n_processes; p++)
		all[p] = true;
	struct hwy_append how = {
		.keep = all, .map = map_time, .clock = &rank->clock, .rank = rank->rank};
	bool done = hwy_append(b, rank->trace, &how, err);
	free(all);
	return done;
}

struct hwy_trace *job_merge(struct hwy_job *job, const struct hwy_progress *progress,
			    struct hwy_err *err)
{
	struct hwy_builder *b = hwy_builder_new();
	for (uint32_t r = 0; r < job->n; r++) {
		if (!append_rank(b, &job->ranks[r], err)) {
			hwy_builder_free(b);
			return NULL;
		}
		hwy_tell(progress, "joining ranks", r + 1, job->n);
	}
	number_devices(hwy_builder_trace(b));
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	if (!trace)
		hwy_fail(err, "%s and the other ranks have more than %u spans together",
			 job->ranks[0].path, HWY_MOST_SPANS);
	return trace;
}
