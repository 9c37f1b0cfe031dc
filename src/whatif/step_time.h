/* SPDX-License-Identifier: Apache-2.0 */
/* step_time.h - how long the steps of a phase take in a replayed graph. */
#ifndef HWY_WHATIF_STEP_TIME_H
#define HWY_WHATIF_STEP_TIME_H

#include "whatif/replayed_steps.h"

struct pace {
	int64_t mean; /* ns from the begin of the first steady step to the begin of the step after the
			    * last, divided by the number of steady steps */
	double rate; /* ns from the end of a steady step's work to that of the next, on average; 0 where
			    * there are too few steps */
	double spread; /* doubt about 'rate', as a share of it: half the distance of the quartiles, divided
			    * by the root (rounded up) of the number of steps */
	bool has_next; /* a step follows the steady steps, and 'mean' ends where that step begins */
	/* Other ranks no longer wait for this rank, so this rank's pace says nothing about
	 * theirs. */
	bool is_unwaited;
	int64_t floor; /* ns that the busiest stream of a step takes: no step can be shorter */
	/* ns a step that a device works, where work overlaps as it did in the recording; 0 where
	 * the order between streams is known, because the replay keeps that order. */
	int64_t chain;
	const char *bound; /* the class that most of the critical path belongs to */
	double host;       /* the share of the critical path that is not device work */
};

/* ends: the replayed end of each node of the graph. with_bound: 'bound' and 'host' are wanted
 * too. */
struct pace step_time_measure(const struct whatif *w, const struct hwy_graph *graph,
			      const int64_t *ends, bool with_bound);

#endif
