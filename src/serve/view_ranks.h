/* SPDX-License-Identifier: Apache-2.0 */
/* view_ranks.h - the ranks of a job in one trace, as the viewer shows them: to which rank a lane
 * belongs, and on which lanes a rank's messages are.
 *
 * A trace has ranks where its processes name at least two. Ranks are counted from 0 in the order of
 * their numbers. The streams of each rank have a union of their own, which follows those of the
 * devices (struct view_trace.devices).
 */
#ifndef HWY_SERVE_VIEW_RANKS_H
#define HWY_SERVE_VIEW_RANKS_H

#include "base/json.h"
#include "serve/view.h"

enum {
	RANKS_NOBODY = UINT32_MAX,     /* a lane or device without a rank */
	RANKS_SHARED = UINT32_MAX - 1, /* a device that more than one rank uses */
	RANKS_STRIP = 4, /* lanes of messages that one line of a rank shows, at most */
};

void ranks_open(struct view_trace *view);
void ranks_close(struct view_trace *view);

/* The rank that a lane belongs to, counted from 0, or RANKS_NOBODY. */
static inline uint32_t ranks_of_lane(const struct view_trace *view, const struct hwy_lane *lane)
{
	return view->n_ranks > 0 && lane->process != HWY_NONE ? view->rank_of[lane->process]
							      : RANKS_NOBODY;
}
/* By device: the rank whose streams it has; RANKS_SHARED where several ranks use it,
 * RANKS_NOBODY where none does. */
void ranks_find_owners(const struct view_trace *view, uint32_t *owners);
/* Whether the rank works on one device, which other ranks use, too. */
bool ranks_shares_device(const struct view_trace *view, uint32_t rank);
/* Fills 'strips' with the lanes on which most messages of each rank stand: strips[rank *
 * RANKS_STRIP …], RANKS_NOBODY after the last. */
void ranks_find_strips(const struct view_trace *view, uint32_t *strips);
/* Writes "rank 3 · n1 · GPU 0". */
void ranks_put_title(const struct view_trace *view, struct hwy_json *json, uint32_t rank);

#endif
