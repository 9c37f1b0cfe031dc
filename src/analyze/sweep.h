/* SPDX-License-Identifier: Apache-2.0 */
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

struct hwy_sweep_source { /* one of the strips that the sweep merges */
	const struct hwy_strip *strip;
	/* The next row of the strip. For the current source: the row at which it became the
	 * current source. */
	uint32_t next;
	uint32_t tag;
	struct hwy_reader starts, lengths;
};

struct hwy_sweep {
	/* The next members describe the current span. */
	const struct hwy_strip *strip;
	uint32_t row;
	uint32_t tag; /* the tag of the current span's strip, as given to sweep_add */
	int64_t start, end;
	/* The earliest next start among the other sources. The current source stays current while
	 * its next start is not later. */
	int64_t until;
	struct hwy_sweep_source *source;
	struct hwy_sweep_source *sources;
	uint32_t n_sources, cap_sources;
	/* A heap of the n_heads sources that are not used up, by start; the current source is
	 * first. It is not a struct hwy_heap, which would order equal starts by source: results
	 * of recordings with many equal starts would change. */
	struct hwy_sweep_head {
		int64_t start; /* when the row 'next' of the source starts */
		uint32_t source;
	} * heads;
	uint32_t n_heads;
};

void sweep_add(struct hwy_sweep *sweep, const struct hwy_strip *strip, uint32_t tag);
/* The slow path of sweep_next: moves to the next span where another source may hold that span. */
bool sweep_next_of_any_source(struct hwy_sweep *sweep);
void sweep_free(struct hwy_sweep *sweep);

static inline bool sweep_next(struct hwy_sweep *sweep)
{
	struct hwy_sweep_source *source = sweep->source;
	uint32_t row = sweep->row + 1;
	if (!source || row >= sweep->strip->rows)
		return sweep_next_of_any_source(sweep);
	int64_t start = reader_get(&source->starts, row);
	if (start > sweep->until)
		return sweep_next_of_any_source(sweep);
	sweep->row = row;
	sweep->start = start;
	sweep->end = start + reader_get(&source->lengths, row);
	return true;
}

#endif
