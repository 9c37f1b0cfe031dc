/* lead.h - headway: device work enqueued and not yet finished, over a phase's window, per device. */
#ifndef HWY_ANALYZE_LEAD_H
#define HWY_ANALYZE_LEAD_H

#include "analyze/phases/phases.h"

struct lead_point {
	int64_t time;
	uint32_t count; /* ops enqueued and not finished: the largest of its stretch */
	int64_t work;   /* ns of device work left in them: likewise */
};

struct hwy_lead {
	uint32_t max_count;
	int64_t max_work;
	double mean_count; /* over time */
	int64_t mean_work;
	int64_t empty;             /* ns of the window with nothing enqueued */
	uint32_t n_zero;           /* times it fell to zero */
	struct lead_point *series; /* at most 'cells' points */
	uint32_t n_series;
	double steps; /* how many steps the CPU is ahead, mean over the steady steps */
};

/* One for each device of the flow, 'leads' has room for them. */
void lead_measure(const struct hwy_flow *flow, const struct hwy_phase *phase, uint32_t cells,
		  struct hwy_lead *leads);
void lead_free(struct hwy_lead *lead);

#endif
