/* replayed_steps.h - a phase's steps in a replayed graph. */
#ifndef HWY_WHATIF_REPLAYED_STEPS_H
#define HWY_WHATIF_REPLAYED_STEPS_H

#include "whatif/whatif.h"

struct step_time { /* of a step's device work; begin INT64_MAX: it has none */
	int64_t begin, end;
	uint32_t last; /* the node that ends last */
};

/* By op: step of the phase + 1, 0: none. To be freed. */
uint32_t *replayed_steps_by_op(const struct hwy_flow *flow, const struct hwy_phase *phase);
/* One for each step of the phase. To be freed. */
struct step_time *replayed_steps_time(const struct whatif *w, const struct hwy_graph *graph,
				      const int64_t *ends);

#endif
