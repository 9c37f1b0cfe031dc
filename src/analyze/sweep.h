/* sweep.h - the spans of many strips in order of start: a k-way merge that keeps one row of each.
 *
 *   struct hwy_sweep sweep = {0};
 *   sweep_add(&sweep, strip, tag);
 *   while (sweep_next(&sweep)) // the span is sweep.row of sweep.strip
 *           printf("%" PRId64 " to %" PRId64 "\n", sweep.start, sweep.end);
 *   sweep_free(&sweep);
 *
 * The caller has loaded START and DUR of the strips. Spans with equal starts come in any order.
 */
#ifndef HWY_ANALYZE_SWEEP_H
#define HWY_ANALYZE_SWEEP_H

#include "trace/trace.h"

struct hwy_sweep_source { /* a strip that takes part */
	const struct hwy_strip *strip;
	uint32_t next; /* the next row; for the current source the row with which its turn began */
	uint32_t tag;
	struct hwy_reader starts, lengths;
};

struct hwy_sweep {
	/* the current span */
	const struct hwy_strip *strip;
	uint32_t row;
	uint32_t tag; /* as given to sweep_add */
	int64_t start, end;
	/* The earliest next start of the other sources: the current source goes on as long as it does not pass this. */
	int64_t until;
	struct hwy_sweep_source *source;
	struct hwy_sweep_source *sources;
	uint32_t n_sources, cap_sources;
	/* A heap of the n_heads sources that are not used up, by start; the current source is first. It is not a struct
	 * hwy_heap, which would order equal starts by source: results of recordings with many equal starts would
	 * change. */
	struct hwy_sweep_head {
		int64_t start; /* of row 'next' */
		uint32_t source;
	} * heads;
	uint32_t n_heads;
};

void sweep_add(struct hwy_sweep *sweep, const struct hwy_strip *strip, uint32_t tag);
/* sweep_next where another source may have the next span. */
bool sweep_turn(struct hwy_sweep *sweep);
void sweep_free(struct hwy_sweep *sweep);

static inline bool sweep_next(struct hwy_sweep *sweep)
{
	struct hwy_sweep_source *source = sweep->source;
	uint32_t row = sweep->row + 1;
	if (!source || row >= sweep->strip->rows)
		return sweep_turn(sweep);
	int64_t start = reader_get(&source->starts, row);
	if (start > sweep->until)
		return sweep_turn(sweep);
	sweep->row = row;
	sweep->start = start;
	sweep->end = start + reader_get(&source->lengths, row);
	return true;
}

#endif
