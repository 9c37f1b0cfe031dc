/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h - when the device has done all work that was enqueued before a moment. */
#ifndef HWY_STATS_PENDING_H
#define HWY_STATS_PENDING_H

#include "stats/report_run.h"

struct pending {
	struct pending_lane {
		/* Indexes into the trace's processes, devices and streams. */
		int64_t process, device, stream;
		struct pending_work {
			/* When the call started, or the work where no call was recorded. */
			int64_t enqueued;
			/* the latest end of this work and all work enqueued before it */
			int64_t end;
		} * work; /* the device work, in order of 'enqueued' */
		uint32_t n;
	} * lanes;
	uint32_t n;
};

/* Loads START, DUR and LINK of all device work, and START of the calls. */
bool pending_open(struct pending *pending, struct hwy_trace *trace, struct hwy_err *err);
void pending_close(struct pending *pending);

/* The latest end of the work that this process enqueued before 'moment', on one device and one
 * stream or (HWY_NONE) on any; INT64_MIN where there was no such work. */
int64_t pending_end(const struct pending *pending, int64_t moment, int64_t process, int64_t device,
		    int64_t stream);

#endif
