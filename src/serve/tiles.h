/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.h - one lane over 256 buckets of time: its spans, or what they cover
 * (docs/view-protocol.md, tiles).
 *
 * Exact at every level: a summary's shares are those of the lane's union by class, rounded once.
 */
#ifndef HWY_SERVE_TILES_H
#define HWY_SERVE_TILES_H

#include "serve/view.h"

struct tile {
	uint32_t trace; /* number of the trace: only copied into the answer */
	unsigned level;
	uint32_t lane;
	int64_t index; /* number of the tile; tile 0 begins at the view's origin */
};

/* Adds the tile to 'out'. A tile of an unknown lane, or of a time outside the recording, is
 * empty; the result is false only where the report cannot be read. */
bool tiles_put(struct view_trace *view, const struct tile *tile, struct hwy_bytes *out,
	       struct hwy_err *err);

/* ---- between tiles.c, hardware.c and counters.c ---- */

struct summary {
	int64_t from;  /* begin of the tile */
	int64_t width; /* duration of a bucket, ns */
	unsigned level;
	int64_t cover[4][VIEW_BUCKETS]; /* by class of work and bucket: busy time, ns */
	uint32_t counts[VIEW_BUCKETS];  /* by bucket: number of spans that start in the bucket */
	int64_t longest[VIEW_BUCKETS];  /* by bucket: duration of its longest span */
	uint32_t ids[VIEW_BUCKETS];     /* by bucket: id of its longest span */
	/* By row of the lane and bucket: busy time, ns. On a lane of thread states row 0 is the
	 * time in which the thread ran, row 1 the time in which it did not. */
	int64_t rows[VIEW_PARTS][VIEW_BUCKETS];
	unsigned n_rows; /* 0: only the lane's whole cover is known */
};
/* Adds the part of [from, to) inside the tile to the busy time of its buckets. */
void tiles_add_cover(struct summary *summary, unsigned class, int64_t from, int64_t to);

/* hardware.c. *is_final is false where the cover is only an estimate: the exact union is not
 * made yet. */
bool hardware_cover(struct view_trace *view, uint32_t device, struct summary *summary,
		    bool *is_final, struct hwy_err *err);
/* Makes the union of the device's streams; this takes seconds where a trace has many millions of
 * spans. */
bool hardware_need(struct view_trace *view, uint32_t device, struct hwy_err *err);
/* hardware_need for a request: the union of many spans is made by the thread that reads ahead, and
 * others have the lock meanwhile. */
bool hardware_wait(struct view_trace *view, uint32_t device, struct hwy_err *err);
/* Moves the union of a device from another view of the same report into this view. */
void hardware_take(struct view_trace *view, struct view_trace *from, uint32_t device);
/* Yields the work of a device that touches the window [from, to), in order of start. */
bool hardware_spans(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		    struct view_spans *spans, struct hwy_err *err);
/* Whether a span counts as work of its device: a graph does not where its nodes are recorded.
 * Call hardware_spans before. */
bool hardware_is_work(const struct view_trace *view, const struct hwy_strip *strip, uint32_t row);
void hardware_close(struct view_trace *view);
/* Whether a stream's lane belongs to the device, or to the rank counted after the devices. */
bool hardware_has(const struct view_trace *view, uint32_t device, uint32_t lane);

/* counters.c: writes the content of a counter's tile, after its head; *n is the number of
 * points. */
bool counters_put(struct view_trace *view, uint32_t lane, int64_t from, unsigned level,
		  struct hwy_bytes *out, uint32_t *n, struct hwy_err *err);

#endif
