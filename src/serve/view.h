/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a report as the viewer sees it: lanes that can be asked for the spans of any window.
 *
 * Times are ns on the trace's clock; the page uses ns after 'origin'. A lane's columns and index
 * are read when its spans are first asked for, about ten bytes a span. A small lane is read whole
 * and stays in memory. Of a large lane only the chunks are read that may hold spans of the window
 * (the report's pyramid tells which), and view_trim frees them when they have become many. Nothing
 * here locks: the caller holds the lock of the view, and view_pause lets others have it.
 */
#ifndef HWY_SERVE_VIEW_H
#define HWY_SERVE_VIEW_H

#include "base/bytes.h"
#include "base/mem.h"
#include "serve/protocol.h"
#include "serve/turns.h"
#include "trace/trace.h"

enum {
	INDEX_BITS = 8,
	INDEX_ROWS = 1 << INDEX_BITS, /* rows of a strip in one block of its index */
	VIEW_KNOWN_COLORS = 131071,   /* entries of the cache of colours, a prime */
};

#define VIEW_COLUMNS                                                                               \
	(HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |                   \
	 HWY_COL_BIT(HWY_FLAGS) | HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SYNC_TYPE) |        \
	 HWY_COL_BIT(HWY_OPERATION))

struct view_strip {
	struct view_block {
		int64_t reach;         /* the latest end of a span in the block */
		int64_t longest;       /* the longest duration of a span in the block, ns */
	} * blocks;                    /* each block describes INDEX_ROWS rows */
	struct view_block *far_blocks; /* each of these describes INDEX_ROWS blocks */
	uint8_t *depths;  /* by row of a lane that was read whole; NULL: every depth is 0 */
	uint8_t *indexed; /* by chunk: 1 where the chunk is in memory and in the blocks */
};

struct view_lane {
	uint32_t first, n; /* the lane's strips are first … first + n - 1 of the trace */
	uint64_t spans;
	int64_t from, to; /* first start and last end of a span */
	int leaf;         /* lowest level that the lane's pyramid stores, or -1 */
	uint8_t classes; /* bits: the classes of busy time in the lane's pyramid; 0: no busy time */
	bool is_whole;   /* the whole lane is in memory and indexed */
	uint8_t depth;   /* rows that the spans read so far need when they are drawn */
	struct view_strip *strips;
};

/* index of a fourth row after the three classes of work: work of any class */
enum { HARDWARE_ANY = 3 };

/* The union of a device's streams: how long each class of work was running. */
struct view_device {
	bool is_ready;
	unsigned level;    /* a bucket lasts 2^level ns */
	int64_t base;      /* number of the first bucket, counted from time 0 */
	uint32_t n;        /* number of buckets */
	int64_t *cover[4]; /* by class of work and bucket: busy time, ns */
};

struct view_span;
/* projected.h: the ranges of one lane projected onto a device. */
struct projected_lane {
	uint32_t device;
	uint32_t lane;       /* the lane of the ranges */
	struct view_span *v; /* by start, longer first; strip and row are those of the range */
	int64_t *reach;      /* by span: the latest end of it and of those before it */
	uint32_t n, cap;
	unsigned rows; /* rows that the lane needs when it is drawn */
};
struct projected {
	bool is_made;
	struct projected_lane *v;
	uint32_t n, cap;
};

struct hwy_work;
struct span_facts;
struct event_result;

struct view_trace {
	struct hwy_trace *trace; /* the trace, which belongs to the caller */
	const char *source;      /* the file as the user named it */
	int64_t origin; /* the time from which the page counts; a multiple of 2^VIEW_ORIGIN_BITS */
	int64_t from, to;        /* first start and last end of all spans */
	struct view_lane *lanes; /* one for each lane of the trace */
	/* One for each device of the trace, then one for each rank: what its streams do
	 * together. */
	struct view_device *devices;
	/* view_ranks.h: the numbers of the ranks, in order; n_ranks is 0 where the trace has not
	 * several ranks. rank_of is, by process, the index in 'ranks', or RANKS_NOBODY. */
	int64_t *ranks;
	uint32_t n_ranks, *rank_of;
	struct projected projected; /* projected.h: made when they are first asked for */
	struct hwy_work *work;    /* hardware.c: knows which graphs have recorded nodes; or NULL */
	struct span_facts *facts; /* span_facts.h; NULL until a query needs them */
	struct event_result *results; /* event_table.h: the last tables that were asked for */
	struct turns *turns;      /* the lock of the view; NULL where there is one thread only */
	bool wants_devices;       /* a request waits for the unions of the devices */
	bool has_read_ahead;      /* another thread makes the unions where a request wants them */
	uint64_t whole_spans;     /* a lane of at most so many spans is read whole */
	uint64_t held_bytes;      /* estimated bytes that large lanes take in memory */
	uint64_t most_held_bytes; /* above this number of bytes view_trim frees large lanes */
	/* Cache: the colour of the span with id i is in entry i % VIEW_KNOWN_COLORS, if that
	 * entry refers to i. */
	struct known_color {
		uint32_t span_ref; /* reference (base/ref.h) to the span */
		uint8_t color;     /* enum span_color */
	} * known_colors;
};

/* Yields how many unions of streams there are: one of each device, and one of each rank. */
static inline uint32_t view_unions(const struct view_trace *view)
{
	return view->trace->n_devices + view->n_ranks;
}

bool view_open(struct view_trace *view, struct hwy_trace *trace, const char *source,
	       struct hwy_err *err);
void view_close(struct view_trace *view); /* does not close the trace */

/* Reads what view_spans_touching needs for these arguments ('least_ns' is its shortest
 * duration). */
bool view_need(struct view_trace *view, uint32_t lane, int64_t from, int64_t to, int64_t least_ns,
	       struct hwy_err *err);
/* Reads columns (of VIEW_COLUMNS) of n rows of a strip. Code that goes through many rows calls
 * view_trim between. */
bool view_need_rows(struct view_trace *view, uint32_t strip, uint64_t columns, uint32_t first,
		    uint32_t n, struct hwy_err *err);
/* Frees the columns of large lanes where they take more than most_held_bytes. No row may be in
 * use meanwhile. */
void view_trim(struct view_trace *view);

/* Lets others have the lock of the view for a moment. Called between two slices of work: columns of
 * large lanes may be out of memory afterwards. False where the answer is to be given up. */
static inline bool view_pause(const struct view_trace *view, struct hwy_err *err)
{
	return !view->turns || turns_pause(view->turns, err);
}

struct view_span {
	int64_t start, dur;
	uint32_t strip, row;
	/* The row in which the span is drawn. On a large lane, spans that overlap without
	 * nesting may get different depths for different windows. */
	uint8_t depth;
};
struct view_spans {
	struct view_span *v; /* the spans, malloc'ed */
	uint32_t n, cap;
};
/* Adds the spans of a lane that last at least 'least_ns' and touch [from, to): spans that start
 * in the window, and spans that start before it and end after 'from'. Where 'out' was empty the
 * spans get their depths, and they are in order of start, longer first. False where there are
 * more than 'most' spans. Call view_need before. */
bool view_spans_touching(struct view_trace *view, uint32_t lane, int64_t from, int64_t to,
			 int64_t least_ns, uint32_t most, struct view_spans *out);
void view_spans_sort(struct view_spans *spans);

static inline uint32_t view_span_id(const struct view_trace *view, const struct view_span *span)
{
	return view->trace->strips[span->strip].first + span->row;
}
/* Sets the depth of a span that does not come from view_spans_touching. */
bool view_find_depth(struct view_trace *view, struct view_span *span, struct hwy_err *err);
/* Yields the first row of a strip that starts at or after a time. Where the chunk of that row is
 * not in memory: the first row after the chunk. */
uint32_t view_row_at(const struct hwy_strip *strip, int64_t time);

/* view_walk.c: walks the spans of a lane that start in a window, in order of start, longer
 * first, a chunk in memory at a time:
 *
 *   struct view_walk walk;
 *   bool ok = view_walk_begin(&walk, view, lane, UINT32_MAX, from, to, err);
 *   while (ok && view_walk_next(&walk, &ok, err))
 *           printf("%lld\n", (long long)hwy_get(walk.strip, HWY_START, walk.row));
 *
 * The walk pauses (view_pause), so nothing that was read of the lane before a step may be used
 * after it. */
struct view_walk {
	const struct hwy_strip *strip; /* strip and row of the current span */
	uint32_t row;
	struct view_trace *view;
	struct view_walk_head {
		const struct hwy_strip *strip;
		uint32_t next, end; /* the next row, and the row at which the window ends */
	} heads[HWY_KINDS];
	uint32_t n;
	bool needs_turn; /* the next row of a strip lies in another chunk than the current one */
};
bool view_walk_begin(struct view_walk *walk, struct view_trace *view, uint32_t lane, uint32_t kinds,
		     int64_t from, int64_t to, struct hwy_err *err);
/* False at the end, and where *ok became false. */
bool view_walk_next(struct view_walk *walk, bool *ok, struct hwy_err *err);

/* span_names.c: yields the id of a span's name; a made-up name where the trace has none. Needs NAME
 * and the column that span_names_column yields for the strip's kind. */
enum {
	/* The number of made-up names; the ids of these names follow the ids of the trace's
	 * texts. */
	SPAN_NAMES_MADE = 24
};
int64_t span_names_id(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row);
struct hwy_text span_names_text(const struct hwy_trace *trace, int64_t id);
/* Yields the column that says what a span without a name is; HWY_NAME where the kind has no such
 * column. */
enum hwy_col span_names_column(enum hwy_kind kind);
/* Yields the id of a span's name from the values of its columns HWY_NAME and span_names_column. */
int64_t span_names_make(const struct hwy_trace *trace, enum hwy_kind kind, int64_t name,
			int64_t column_value);

/* span_color.c: yields the colour of a span, enum span_color. 'name' is the span's HWY_NAME. */
uint8_t span_color(struct hwy_trace *trace, enum hwy_kind kind, int64_t name);
/* Yields the class that a span's time belongs to: enum hwy_class for device work, else
 * HWY_BUSY_OTHER. */
unsigned span_color_busy_class(struct hwy_trace *trace, enum hwy_kind kind, int64_t name);

#endif
