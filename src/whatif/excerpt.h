/* excerpt.h - some steady steps of a phase as a flow of their own.
 *
 * Steps repeat, so a prediction needs some hundred of them, not a million: graphs of long recordings are made
 * from an excerpt, and edits cost milliseconds whatever the length of the recording.
 */
#ifndef HWY_WHATIF_EXCERPT_H
#define HWY_WHATIF_EXCERPT_H

#include "analyze/analysis.h"

struct excerpt {
	struct hwy_flow flow;   /* calls and ops of the chosen steps; spans are the trace's */
	struct hwy_phase phase; /* its steps' calls are those of this flow */
	struct hwy_gaps gaps;   /* the list only */
};

/* A recording of which no graph is made without being asked to: each edit would take seconds. */
bool excerpt_is_large(const struct hwy_flow *flow);
/* As many steps as 'most' calls and ops have, but three at least. NULL when the whole recording is within that,
 * when it has fewer steps, or when all of the phase is wanted and the recording is not large. window: the steady
 * steps that begin in it are taken, whatever their number; NULL when there are no three. */
struct excerpt *excerpt_make(const struct hwy_analysis *analysis, uint32_t phase, uint32_t most,
			     const struct hwy_interval *window);
void excerpt_free(struct excerpt *excerpt);

/* The op of an excerpt that is this one of another flow of the same trace, or FLOW_NONE. */
uint32_t excerpt_op(const struct hwy_flow *flow, const struct flow_op *op);

#endif
