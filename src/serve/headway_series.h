/* SPDX-License-Identifier: Apache-2.0 */
/* headway_series.h - the CPU's lead over each device, between the worker that finds it and the
 * page. */
#ifndef HWY_SERVE_HEADWAY_SERIES_H
#define HWY_SERVE_HEADWAY_SERIES_H

#include "analyze/analysis.h"
#include "base/bytes.h"
#include "base/json.h"
#include "serve/device_lead.h"

/* Finds what a series is too coarse for: the largest lead of each part of the window. */
struct headway_finer {
	/* Yields false where that would take long, or cannot be. */
	bool (*find)(void *self, int64_t device, struct device_lead *parts);
	void *self;
};

/* How times of an analysis become those of a view. */
struct headway_clock {
	int64_t (*map)(const void *self, int64_t time); /* to the view's clock; NULL: it is that */
	const void *self;
	int64_t origin; /* of the view */
};
/* Adds the series of every phase and device; times are written as ns after the view's origin.
 * 'device': the number under which all of them are told, or HWY_NONE: each under its own. */
void headway_series_write(const struct hwy_analysis *analysis, const struct headway_clock *clock,
			  int64_t device, struct hwy_bytes *out);
/* Writes as JSON (docs/view-protocol.md, "headway") what of these series touches the window, at
 * most two points for each of n equal parts of the window, and two more for each series. A device
 * whose series has points that hold for longer than a part is answered exactly, if 'finer' (or
 * NULL) can. */
void headway_series_answer(const struct hwy_bytes *series, int64_t from, int64_t to, uint32_t n,
			   const struct headway_finer *finer, struct hwy_json *json);

#endif
