/* gaps.h - the intervals in which a device has nothing to do inside a phase's window, and why.
 *
 * Every gap has exactly one cause, decided by the op that ends it (design: 1 dependency, 2 blocked, 3 alloc
 * and module, 4 launch, 5 input, os, cpu; outside any step drain, no link unknown). The causes add up to the
 * idle time, to the nanosecond. In long recordings runs of tiny gaps between kernels (dependency, below 2 us,
 * in one step) are listed as one that begins with the first and is as long as all of them.
 */
#ifndef HWY_ANALYZE_GAPS_GAPS_H
#define HWY_ANALYZE_GAPS_GAPS_H

#include "analyze/phases/phases.h"

enum gap_cause {
	GAP_BLOCKED,
	GAP_LAUNCH,
	GAP_INPUT,
	GAP_OS,
	GAP_CPU,
	GAP_DEPENDENCY,
	GAP_ALLOC,
	GAP_MODULE,
	GAP_DRAIN,
	GAP_UNKNOWN,
	GAP_CAUSES
};
extern const char *const gap_cause_names[GAP_CAUSES]; /* "blocked", … */

struct hwy_gap {
	struct hwy_interval at;
	uint32_t op; /* that ends it, or FLOW_NONE when none follows */
	/* A call, or FLOW_NONE. blocked: the wait; alloc, module: the longest such call; launch: the launch. */
	uint32_t culprit;
	/* What names it (input, os, cpu): id of an OS call, state, range, operator, function, sample or call,
	 * plus one; 0: nothing does. */
	uint32_t span;
	uint32_t step;   /* in the phase */
	uint8_t cause;   /* enum gap_cause */
	uint16_t device; /* index into flow.devices */
};

/* The exclusive states of one device inside a window; they add up to it. */
struct gap_states {
	int64_t window, busy, idle;
	int64_t compute, exposed_comm, exposed_copy, fill;
	int64_t copy_overlapped, comm_overlapped; /* of copies and comm: the part beside compute */
	int64_t causes[GAP_CAUSES];               /* add up to idle */
};

void gap_states_add(struct gap_states *sum, const struct gap_states *one);

struct hwy_gaps {
	struct hwy_gap *gaps; /* device by device, in order of time */
	uint32_t n;
	struct gap_states *devices; /* parallel to flow.devices */
};

bool gaps_find(const struct hwy_flow *flow, const struct hwy_phase *phase, struct hwy_gaps *gaps,
	       struct hwy_err *err);
void gaps_free(struct hwy_gaps *gaps);

#endif
