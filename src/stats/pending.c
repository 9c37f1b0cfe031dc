/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c - see pending.h. */
#include "stats/pending.h"

#include <stdlib.h>

#include "base/search.h"

static int by_enqueued(const void *left, const void *right)
{
	const struct pending_work *a = left, *b = right;
	if (a->enqueued != b->enqueued)
		return a->enqueued < b->enqueued ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

static void pending_fill(struct pending_lane *lane, const struct hwy_trace *trace,
			 const struct hwy_strip *strip)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct pending_work *work = &lane->work[lane->n++];
		uint32_t call;
		work->enqueued = hwy_get(strip, HWY_START, row);
		work->end = hwy_end(strip, row);
		if (hwy_get_index(strip, HWY_LINK, row, &call)) {
			uint32_t call_row;
			const struct hwy_strip *calls = hwy_strip_of(trace, call, &call_row);
			work->enqueued = hwy_get(calls, HWY_START, call_row);
		}
	}
}

static void pending_put_in_order(struct pending_lane *lane)
{
	qsort(lane->work, lane->n, sizeof *lane->work, by_enqueued);
	for (uint32_t i = 1; i < lane->n; i++)
		if (lane->work[i].end < lane->work[i - 1].end)
			lane->work[i].end = lane->work[i - 1].end;
}

bool pending_open(struct pending *pending, struct hwy_trace *trace, struct hwy_err *err)
{
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	*pending = (struct pending){0};
	if (!hwy_need(trace, HWY_DEVICE_KINDS, timed | HWY_COL_BIT(HWY_LINK), err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_START), err))
		return false;
	pending->lanes = hwy_zarray(trace->n_strips, sizeof *pending->lanes);
	/* Strips of one lane follow each other. */
	for (uint32_t s = 0; s < trace->n_strips;) {
		const struct hwy_lane *owner = &trace->lanes[trace->strips[s].lane];
		struct pending_lane lane = {owner->process, owner->device, owner->stream, NULL, 0};
		uint32_t first = s, rows = 0;
		for (; s < trace->n_strips && trace->strips[s].lane == trace->strips[first].lane;
		     s++)
			if (HWY_DEVICE_KINDS & HWY_KIND_BIT(trace->strips[s].kind))
				rows += trace->strips[s].rows;
		if (rows == 0)
			continue;
		lane.work = hwy_array(rows, sizeof *lane.work);
		for (uint32_t i = first; i < s; i++)
			if (HWY_DEVICE_KINDS & HWY_KIND_BIT(trace->strips[i].kind))
				pending_fill(&lane, trace, &trace->strips[i]);
		pending_put_in_order(&lane);
		pending->lanes[pending->n++] = lane;
	}
	return true;
}

void pending_close(struct pending *pending)
{
	for (uint32_t i = 0; i < pending->n; i++)
		free(pending->lanes[i].work);
	free(pending->lanes);
	*pending = (struct pending){0};
}

static int64_t end_on(const struct pending_lane *lane, int64_t moment)
{
	uint32_t n_before = HWY_FIRST(i, 0u, lane->n, lane->work[i].enqueued >= moment);
	return n_before ? lane->work[n_before - 1].end : INT64_MIN;
}

int64_t pending_end(const struct pending *pending, int64_t moment, int64_t process, int64_t device,
		    int64_t stream)
{
	int64_t latest = INT64_MIN;
	for (uint32_t i = 0; i < pending->n; i++) {
		const struct pending_lane *lane = &pending->lanes[i];
		if (lane->process != process || (device != HWY_NONE && lane->device != device) ||
		    (stream != HWY_NONE && lane->stream != stream))
			continue;
		int64_t end = end_on(lane, moment);
		latest = end > latest ? end : latest;
	}
	return latest;
}
