/* pending.h - when the device work that was enqueued before a moment will have ended. */
#ifndef HWY_STATS_PENDING_H
#define HWY_STATS_PENDING_H

#include "stats/report_run.h"

struct pending {
	struct pending_lane {
		int64_t process, device, stream; /* indexes */
		struct pending_work {
			int64_t enqueued; /* start of the call; of the work itself where no call is known */
			int64_t end; /* the latest end up to here */
		} * work;            /* sorted */
		uint32_t n;
	} * lanes;
	uint32_t n;
};

/* Brings in START, DUR and LINK of all device work, and START of the calls. */
bool pending_open(struct pending *pending, struct hwy_trace *trace, struct hwy_err *err);
void pending_close(struct pending *pending);

/* The latest end of what was enqueued before 'moment' by this process; device and stream may be HWY_NONE:
 * any. INT64_MIN when there was nothing. */
int64_t pending_end(const struct pending *pending, int64_t moment, int64_t process, int64_t device,
		    int64_t stream);

#endif
