/* SPDX-License-Identifier: Apache-2.0 */
/* device_lead.h - headway at a moment: the work of a device that is enqueued and not yet finished,
 * exactly.
 *
 * As in analyze/lead.h an op is enqueued when its call has returned, or when it begins, whichever
 * is first. That file measures whole phases; this one looks at the few ops around a moment, so that
 * a click on a kernel of a large report reads little.
 */
#ifndef HWY_SERVE_DEVICE_LEAD_H
#define HWY_SERVE_DEVICE_LEAD_H

#include "serve/view.h"

struct device_lead {
	int64_t count; /* ops enqueued and not finished */
	int64_t work;  /* ns of device work left in them */
};

/* 'time' is a time of the trace. */
bool device_lead_at(struct view_trace *view, uint32_t device, int64_t time,
		    struct device_lead *lead, struct hwy_err *err);
/* The least count and the least work in [from, to], which need not be at one moment. *is_known
 * is false where the window has so many ops that this would take long. */
bool device_lead_least(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		       struct device_lead *least, bool *is_known, struct hwy_err *err);

/* The largest count and the largest work in each of n equal parts of [from, to), which need not be
 * at one moment. *is_known is false, and 'parts' is not set, where the window has so many ops that
 * this would take long. */
int64_t device_lead_part(int64_t from, int64_t to, uint32_t part, uint32_t n); /* where it begins */
bool device_lead_parts(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		       struct device_lead *parts, uint32_t n, bool *is_known, struct hwy_err *err);

#endif
