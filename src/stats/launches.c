/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c - see launches.h. A counting sort by call: two rounds over the links, 4 bytes for
 * each call and span. */
#include "stats/launches.h"

#include <stdlib.h>

/* Yields the number of the call that a device span links to, or UINT32_MAX. */
static uint32_t launches_call_of(const struct launches *launches, const struct report_run *run,
				 const struct hwy_strip *strip, uint32_t row)
{
	uint32_t span, call_row;
	if (!hwy_get_index(strip, HWY_LINK, row, &span) || span >= run->trace->n_spans ||
	    !report_keeps(run, strip, row))
		return UINT32_MAX;
	const struct hwy_strip *call = hwy_strip_of(run->trace, span, &call_row);
	if (call->kind != HWY_API)
		return UINT32_MAX;
	return launches->base[call - run->trace->strips] + call_row;
}

static void launches_visit(struct launches *launches, const struct report_run *run, uint32_t kinds,
			   void (*take)(struct launches *, uint32_t call, uint32_t span))
{
	/* From the last span to the first: launches_fill fills each call's part from its end, so
	 * the ids rise. */
	for (uint32_t s = run->trace->n_strips; s-- > 0;) {
		const struct hwy_strip *strip = &run->trace->strips[s];
		if (!(kinds & HWY_KIND_BIT(strip->kind)) || !strip->columns[HWY_LINK])
			continue;
		for (uint32_t row = strip->rows; row-- > 0;) {
			uint32_t call = launches_call_of(launches, run, strip, row);
			if (call != UINT32_MAX)
				take(launches, call, strip->first + row);
		}
	}
}

static void launches_count(struct launches *launches, uint32_t call, uint32_t span)
{
	(void)span;
	launches->first[call]++;
}

static void launches_fill(struct launches *launches, uint32_t call, uint32_t span)
{
	launches->spans[--launches->first[call]] = span;
}

bool launches_open(struct launches *launches, struct report_run *run, uint32_t kinds,
		   struct hwy_err *err)
{
	struct hwy_trace *trace = run->trace;
	*launches = (struct launches){0};
	if (!hwy_need(trace, kinds, HWY_COL_BIT(HWY_LINK) | filter_columns(&run->filter), err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_CORR), err))
		return false;
	launches->base = hwy_zarray(trace->n_strips, sizeof *launches->base);
	uint32_t calls = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		launches->base[s] = calls;
		if (trace->strips[s].kind == HWY_API)
			calls += trace->strips[s].rows;
	}
	launches->first = hwy_zarray((size_t)calls + 1, sizeof *launches->first);
	launches_visit(launches, run, kinds, launches_count);
	for (uint32_t c = 0; c < calls; c++)
		launches->first[c + 1] += launches->first[c];
	launches->spans = hwy_array(launches->first[calls], sizeof *launches->spans);
	launches_visit(launches, run, kinds, launches_fill);
	return true;
}

void launches_close(struct launches *launches)
{
	free(launches->base);
	free(launches->first);
	free(launches->spans);
	*launches = (struct launches){0};
}

struct launched launches_by_call(const struct launches *launches, const struct hwy_trace *trace,
				 const struct hwy_strip *strip, uint32_t row)
{
	uint32_t call = launches->base[strip - trace->strips] + row;
	uint32_t first = launches->first[call];
	return (struct launched){launches->spans + first, launches->first[call + 1] - first};
}

struct launched launches_by_call_or_twin(const struct launches *launches,
					 const struct hwy_trace *trace,
					 const struct hwy_strip *strip, uint32_t row)
{
	struct launched work = launches_by_call(launches, trace, strip, row);
	int64_t corr = hwy_get(strip, HWY_CORR, row);
	if (work.n || corr == 0)
		return work;
	if (row > 0 && hwy_get(strip, HWY_CORR, row - 1) == corr)
		return launches_by_call(launches, trace, strip, row - 1);
	if (row + 1 < strip->rows && hwy_get(strip, HWY_CORR, row + 1) == corr)
		return launches_by_call(launches, trace, strip, row + 1);
	return work;
}
