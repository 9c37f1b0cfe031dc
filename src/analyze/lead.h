/* SPDX-License-Identifier: Apache-2.0 */
/* lead.h - headway: the device work that is enqueued and not yet finished, over a phase's
 * window, for each device. */
#ifndef HWY_ANALYZE_LEAD_H
#define HWY_ANALYZE_LEAD_H

#include "analyze/phases/phases.h"

struct lead_point {
	int64_t time;
	/* The most ops that were enqueued and unfinished before the next point's time. */
	uint32_t count;
	/* The most ns of device work left in unfinished ops before the next point's time. */
	int64_t work;
};

struct hwy_lead {
	uint32_t max_count;
	int64_t max_work;
	double mean_count; /* mean over time of the ops that are enqueued and not finished */
	int64_t mean_work;
	int64_t empty;   /* ns of the window with nothing enqueued */
	uint32_t n_zero; /* how often the count of unfinished ops fell to zero */
	/* The lead over time: one point for each of 'cells' stretches of the window. */
	struct lead_point *series;
	uint32_t n_series;
	double steps; /* how many steps the CPU is ahead, mean over the steady steps */
};

/* Fills one element of 'leads' for each device of the flow; 'cells' is the number of points of each
 * series, 0 for no series. */
void lead_measure(const struct hwy_flow *flow, const struct hwy_phase *phase, uint32_t cells,
		  struct hwy_lead *leads);
void lead_free(struct hwy_lead *lead);

#endif
