/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_exchanges.c - the time that threads spend in calls that exchange data with other ranks; see gaps_cause.h.
 *
 * Calls of libraries are no part of the nests by which gaps_cpu.c tells what a thread did: they do not say where in the program
 * the thread was. That a call has a message says more than its name: the thread sent, received or waited for data.
 */
#include <stdlib.h>

#include "analyze/gaps/gaps_cause.h"
#include "base/ref.h"
#include "base/search.h"

static int exchanges_by_time(const void *x, const void *y)
{
	const struct gaps_exchange *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->at.from != b->at.from)
		return a->at.from < b->at.from ? -1 : 1;
	return (a->at.to < b->at.to) - (a->at.to > b->at.to);
}

/* Adds a span, if it is a call of a thread. */
static void add_exchange(struct gaps_exchanges *list, const struct hwy_trace *trace, int64_t span)
{
	uint32_t row;
	if (span < 0 || span >= trace->n_spans)
		return;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)span, &row);
	int64_t thread = trace->lanes[strip->lane].thread;
	if (strip->kind != HWY_CALL || thread < 0 || thread >= trace->n_threads)
		return;
	list->items[list->n++] =
		(struct gaps_exchange){(uint32_t)thread,
				       (uint32_t)span,
				       {hwy_get(strip, HWY_START, row), hwy_end(strip, row)}};
}

void gaps_exchanges_list(struct gaps_exchanges *list, const struct hwy_trace *trace)
{
	*list = (struct gaps_exchanges){
		.items = hwy_array(2 * (size_t)trace->n_messages, sizeof *list->items)};
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		add_exchange(list, trace, trace->messages[i].span);
		add_exchange(list, trace, trace->messages[i].done);
	}
	if (list->n > 0)
		qsort(list->items, list->n, sizeof *list->items, exchanges_by_time);
	/* One call may have several messages, and one library may call another: the outermost call is kept. */
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct gaps_exchange *one = &list->items[i],
					   *last = kept ? &list->items[kept - 1] : NULL;
		if (!last || last->thread != one->thread || last->at.to <= one->at.from)
			list->items[kept++] = *one;
	}
	list->n = kept;
}

void gaps_exchanges_free(struct gaps_exchanges *list)
{
	free(list->items);
	*list = (struct gaps_exchanges){0};
}

int64_t gaps_exchanges_in(const struct gaps_exchanges *list, uint32_t thread,
			  struct hwy_interval at, uint32_t *longest)
{
	int64_t sum = 0, most = 0;
	const struct gaps_exchange *items = list->items;
	for (uint32_t i = HWY_FIRST(k, 0u, list->n,
				    items[k].thread > thread || (items[k].thread == thread &&
								 items[k].at.to > at.from));
	     i < list->n && items[i].thread == thread && items[i].at.from < at.to; i++) {
		int64_t from = items[i].at.from > at.from ? items[i].at.from : at.from;
		int64_t length = (items[i].at.to < at.to ? items[i].at.to : at.to) - from;
		sum += length;
		if (length > most) {
			most = length;
			*longest = hwy_ref32(items[i].span);
		}
	}
	return sum;
}
