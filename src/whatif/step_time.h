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
	bool has_next; /* a step follows the steady ones, and 'mean' ends with its begin */
	bool is_unwaited; /* other ranks no longer wait for this one: its pace says nothing about theirs */
	int64_t floor;     /* ns: no step can be shorter, because of its busiest stream */
	const char *bound; /* the class that most of the critical path belongs to */
	double host;       /* the share of the critical path that is not device work */
};

/* ends: the replayed end of each node of the graph. with_bound: 'bound' and 'host' are wanted
 * too. */
struct pace step_time_measure(const struct whatif *w, const struct hwy_graph *graph,
			      const int64_t *ends, bool with_bound);

#endif
