/* SPDX-License-Identifier: Apache-2.0 */
/* lane_choice.h - the lanes that a request is about: "4-9,12,2147483648" (docs/view-protocol.md,
 * "lanes").
 *
 *   uint8_t *chosen;
 *   if (!lane_choice_read(view, "4-9,12", &chosen, err))
 *           return false;
 *   bool has_seven = lane_choice_has(chosen, 7); // true
 *   free(chosen);
 *
 * A device's or a rank's union of streams stands for all of its streams.
 */
#ifndef HWY_SERVE_LANE_CHOICE_H
#define HWY_SERVE_LANE_CHOICE_H

#include "serve/view.h"

/* Reads the first run of a list of numbers, "4-9" or "12", and moves *text to the run after it,
 * or to the list's end. False, and *text stays, at the end and where a run is expected but
 * something else stands. */
bool lane_choice_next(const char **text, uint32_t *first, uint32_t *last);
/* Yields in *chosen by lane of the trace 1 where the text names it, malloc'ed; NULL (all lanes)
 * where the text is NULL or empty. Numbers that no lane has are left out. */
bool lane_choice_read(const struct view_trace *view, const char *text, uint8_t **chosen,
		      struct hwy_err *err);

static inline bool lane_choice_has(const uint8_t *chosen, uint32_t lane)
{
	return !chosen || chosen[lane];
}

#endif
