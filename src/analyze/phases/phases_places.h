/* SPDX-License-Identifier: Apache-2.0 */
/* phases_places.h - from which place in the program calls were made, where operators tell it.
 *
 * Equal layers of a model launch equal kernels; the stacks of their operators tell them apart.
 */
#ifndef HWY_ANALYZE_PHASES_PHASES_PLACES_H
#define HWY_ANALYZE_PHASES_PHASES_PLACES_H

#include "trace/trace.h"

struct phases_places;

/* NULL where no operator of the trace has a stack. The caller has loaded START, DUR and STACK of
 * HWY_OP. */
struct phases_places *phases_places_open(const struct hwy_trace *trace);
void phases_places_close(struct phases_places *places);

/* The stack of the innermost operator with a stack that runs on a thread at a time (hwy_ref); 0:
 * there is none. Times of one thread must ascend from call to call. */
uint32_t phases_places_at(struct phases_places *places, uint32_t thread, int64_t time);

#endif
