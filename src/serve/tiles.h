/* tiles.h - one lane over 256 buckets of time: its spans, or what they cover (docs/view-protocol.md, tiles).
 *
 * Exact at every level: a summary's shares are those of the lane's union by class, rounded once.
 */
#ifndef HWY_SERVE_TILES_H
#define HWY_SERVE_TILES_H

#include "serve/view.h"

struct tile {
	uint32_t trace; /* number, for the answer only */
	unsigned level;
	uint32_t lane;
	int64_t index; /* from the origin on */
};

/* Adds the tile to 'out'. What cannot be there (unknown lane, time before or after everything) is an empty tile;
 * false only when the report cannot be read. */
bool tile_put(struct view_trace *view, const struct tile *tile, struct packed *out,
	      struct hwy_err *err);

/* ---- between tiles.c, hardware.c and counters.c ---- */

struct summary {
	int64_t from, width; /* of the tile, of a bucket */
	unsigned level;
	int64_t cover[4][VIEW_BUCKETS]; /* ns by class */
	uint32_t counts[VIEW_BUCKETS];
	int64_t longest[VIEW_BUCKETS]; /* duration of the longest span that starts there */
	uint32_t ids[VIEW_BUCKETS];    /* and its id */
};
void summary_cover(struct summary *summary, unsigned class, int64_t from, int64_t to);

/* hardware.c */
bool hardware_cover(struct view_trace *view, uint32_t device, struct summary *summary,
		    bool *is_final, struct hwy_err *err);
/* Makes the device's union; takes a while on large traces. */
bool hardware_need(struct view_trace *view, uint32_t device, struct hwy_err *err);
/* Takes over what another view of the same report has made. */
void hardware_take(struct view_trace *view, struct view_trace *from, uint32_t device);
/* The device's work that touches a window, in order. */
bool hardware_spans(struct view_trace *view, uint32_t device, int64_t from, int64_t to,
		    struct view_spans *spans, struct hwy_err *err);
void hardware_close(struct view_trace *view);
/* Whether a stream's lane belongs to the device. */
bool hardware_has(const struct view_trace *view, uint32_t device, uint32_t lane);

/* counters.c: the part after the head; the number of points. */
bool counters_put(struct view_trace *view, uint32_t lane, int64_t from, unsigned level,
		  struct packed *out, uint32_t *n, struct hwy_err *err);

#endif
