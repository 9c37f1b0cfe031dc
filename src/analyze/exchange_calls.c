/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_calls.c - see exchange_calls.h. */
#include "analyze/exchange_calls.h"

#include <stdlib.h>

#include "base/ref.h"
#include "base/search.h"

static int exchanges_by_time(const void *x, const void *y)
{
	const struct exchange_call *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->at.from != b->at.from)
		return a->at.from < b->at.from ? -1 : 1;
	return (a->at.to < b->at.to) - (a->at.to > b->at.to);
}

/* Adds a span, if it is of one of the kinds and a thread made it. */
static void add_exchange(struct exchange_calls *list, const struct hwy_trace *trace, uint32_t kinds,
			 int64_t span)
{
	uint32_t row;
	if (span < 0 || span >= trace->n_spans)
		return;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)span, &row);
	int64_t thread = trace->lanes[strip->lane].thread;
	if (!(kinds & HWY_KIND_BIT(strip->kind)) || thread < 0 || thread >= trace->n_threads)
		return;
	list->items[list->n++] =
		(struct exchange_call){(uint32_t)thread,
				       (uint32_t)span,
				       {hwy_get(strip, HWY_START, row), hwy_end(strip, row)}};
}

void exchange_calls_list(struct exchange_calls *list, const struct hwy_trace *trace, uint32_t kinds)
{
	*list = (struct exchange_calls){
		.items = hwy_array(2 * (size_t)trace->n_messages, sizeof *list->items)};
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		add_exchange(list, trace, kinds, trace->messages[i].span);
		add_exchange(list, trace, kinds, trace->messages[i].done);
	}
	if (list->n > 0)
		qsort(list->items, list->n, sizeof *list->items, exchanges_by_time);
	/* One call may have several messages, and one library may call another: the outermost
	 * call is kept. */
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct exchange_call *one = &list->items[i],
					   *last = kept ? &list->items[kept - 1] : NULL;
		if (!last || last->thread != one->thread || last->at.to <= one->at.from)
			list->items[kept++] = *one;
	}
	list->n = kept;
}

void exchange_calls_free(struct exchange_calls *list)
{
	free(list->items);
	*list = (struct exchange_calls){0};
}

int64_t exchange_calls_in(const struct exchange_calls *list, uint32_t thread,
			  struct hwy_interval at, uint32_t *longest)
{
	int64_t sum = 0, most = 0;
	const struct exchange_call *items = list->items;
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
