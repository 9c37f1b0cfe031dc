/* SPDX-License-Identifier: Apache-2.0 */
/* job_sharing.c - ranks that use one GPU: a problem of the job, since each may be late because
 * of the others. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "job/job.h"

struct shared_gpu {
	const char *name;
	uint32_t n;    /* ranks that use it */
	uint32_t last; /* the last rank that was counted, by its index */
};

struct shared_gpus {
	struct hwy_index by_uuid;
	struct shared_gpu *items;
	uint32_t n, cap;
};

static void count_gpu(struct shared_gpus *gpus, const struct hwy_trace *trace,
		      const struct hwy_device *device, uint32_t rank)
{
	const char *uuid = hwy_str(trace, device->uuid);
	bool fresh;
	if (!*uuid)
		return;
	uint32_t *at = hwy_index_put(&gpus->by_uuid, uuid, strlen(uuid), &fresh);
	if (fresh) {
		HWY_GROW(gpus->items, gpus->n, gpus->cap);
		*at = gpus->n;
		gpus->items[gpus->n++] = (struct shared_gpu){hwy_str(trace, device->name), 1, rank};
	} else if (gpus->items[*at].last != rank) {
		gpus->items[*at].last = rank;
		gpus->items[*at].n++;
	}
}

void job_find_sharing(struct hwy_job *job)
{
	struct shared_gpus gpus = {0};
	for (uint32_t r = 0; r < job->n; r++) {
		const struct hwy_trace *trace = job->ranks[r].trace;
		for (uint32_t i = 0; i < trace->n_lanes; i++) {
			const struct hwy_lane *lane = &trace->lanes[i];
			if (lane->type == HWY_LANE_STREAM && lane->device >= 0 &&
			    lane->device < trace->n_devices)
				count_gpu(&gpus, trace, &trace->devices[lane->device], r);
		}
	}
	for (uint32_t i = 0; i < gpus.n; i++)
		if (gpus.items[i].n > 1)
			job_problem(
				job,
				"%" PRIu32
				" ranks share one %s: their work takes turns on it, so a rank may be late "
				"because of the others",
				gpus.items[i].n, *gpus.items[i].name ? gpus.items[i].name : "GPU");
	hwy_index_free(&gpus.by_uuid);
	free(gpus.items);
}
