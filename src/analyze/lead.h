/* lead.h - headway: the device work that is enqueued and not yet finished, over a phase's window, for each device. */
#ifndef HWY_ANALYZE_LEAD_H
#define HWY_ANALYZE_LEAD_H

#include "analyze/phases/phases.h"

struct lead_point {
	int64_t time;
	uint32_t count; /* ops enqueued and not finished: the most until the next point's time */
	int64_t work; /* ns of device work left in such ops: the most until the next point's time */
};

struct hwy_lead {
	uint32_t max_count;
	int64_t max_work;
	double mean_count; /* over time */
	int64_t mean_work;
	int64_t empty;             /* ns of the window with nothing enqueued */
	uint32_t n_zero;           /* how often the count fell to zero */
	struct lead_point *series; /* one point for each of 'cells' stretches of the window */
	uint32_t n_series;
	double steps; /* how many steps the CPU is ahead, mean over the steady steps */
};

/* Fills one element of 'leads' for each device of the flow; 'cells' is the number of points of a series, 0: none. */
void lead_measure(const struct hwy_flow *flow, const struct hwy_phase *phase, uint32_t cells,
		  struct hwy_lead *leads);
void lead_free(struct hwy_lead *lead);

#endif
