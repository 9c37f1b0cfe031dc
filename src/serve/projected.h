/* SPDX-License-Identifier: Apache-2.0 */
/* projected.h - ranges of threads projected onto a device: virtual lanes under it, one for each
 * lane of ranges that launched work there.
 *
 * A projection runs from the first start to the last end of the work that calls inside the range
 * enqueued on the device, as in the table nvtx_gpu_proj_trace of `headway stats`. A projected span
 * has the id of its range. Recordings that have such lanes themselves (Kineto's) get none, and
 * neither do those of more than PROJECTED_SPANS spans.
 */
#ifndef HWY_SERVE_PROJECTED_H
#define HWY_SERVE_PROJECTED_H

#include "base/json.h"
#include "serve/view.h"

enum { PROJECTED_SPANS = 2000000 };

/* Makes the projections once. */
bool projected_need(struct view_trace *view, struct hwy_err *err);
void projected_close(struct view_trace *view);

/* The lane with this number (VIEW_PROJECTED | index), or NULL. Call projected_need before. */
const struct projected_lane *projected_find(const struct view_trace *view, uint32_t number);
/* Adds the spans that touch [from, to), in order, with the columns of their ranges in memory.
 * False where there are more than 'most' (then *ok stays true), and where a range cannot be
 * read. */
bool projected_touching(struct view_trace *view, const struct projected_lane *lane, int64_t from,
			int64_t to, uint32_t most, struct view_spans *out, bool *ok,
			struct hwy_err *err);
/* Writes the answer `at` of such a lane. */
bool projected_answer_window(struct view_trace *view, struct hwy_json *json, uint32_t number,
			     int64_t from, int64_t to, struct hwy_err *err);
/* Writes the key "projected" of a range: where it stands on devices. */
bool projected_put_span(struct view_trace *view, struct hwy_json *json, uint32_t id,
			struct hwy_err *err);
/* Writes the lane for the tree. */
void projected_put_lane(const struct view_trace *view, struct hwy_json *json, uint32_t index);

#endif
