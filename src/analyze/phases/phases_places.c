/* SPDX-License-Identifier: Apache-2.0 */
/* phases_places.c - see phases_places.h. Each thread's operators are gone through once. */
#include "analyze/phases/phases_places.h"

#include <stdlib.h>

#include "base/mem.h"

struct open_place { /* an operator with a stack that has begun */
	int64_t end;
	uint32_t stack;
};
struct places_cursor {                 /* where one thread is */
	const struct hwy_strip *strip; /* the thread's operators; NULL: it has none with a stack */
	uint32_t next;                 /* the first operator that has not begun */
	struct open_place *open;
	uint32_t n, cap;
};
struct phases_places {
	struct places_cursor *cursors; /* by thread */
	uint32_t n;
};

struct phases_places *phases_places_open(const struct hwy_trace *trace)
{
	struct phases_places *places = hwy_zalloc(sizeof *places);
	places->cursors = hwy_zarray(trace->n_threads, sizeof *places->cursors);
	places->n = trace->n_threads;
	bool has_any = false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t thread = trace->lanes[strip->lane].thread;
		if (strip->kind != HWY_OP || !strip->columns[HWY_STACK] || thread < 0 ||
		    thread >= trace->n_threads)
			continue;
		places->cursors[thread].strip = strip;
		has_any = true;
	}
	if (has_any)
		return places;
	phases_places_close(places);
	return NULL;
}

void phases_places_close(struct phases_places *places)
{
	if (!places)
		return;
	for (uint32_t i = 0; i < places->n; i++)
		free(places->cursors[i].open);
	free(places->cursors);
	free(places);
}

uint32_t phases_places_at(struct phases_places *places, uint32_t thread, int64_t time)
{
	struct places_cursor *cursor = thread < places->n ? &places->cursors[thread] : NULL;
	if (!cursor || !cursor->strip)
		return 0;
	const struct hwy_strip *strip = cursor->strip;
	for (; cursor->next < strip->rows; cursor->next++) {
		uint32_t row = cursor->next;
		int64_t start = hwy_get(strip, HWY_START, row);
		if (start > time)
			break;
		uint32_t stack = (uint32_t)hwy_get(strip, HWY_STACK, row);
		if (!stack)
			continue;
		while (cursor->n && cursor->open[cursor->n - 1].end <= start)
			cursor->n--;
		HWY_GROW(cursor->open, cursor->n, cursor->cap);
		cursor->open[cursor->n++] = (struct open_place){hwy_end(strip, row), stack};
	}
	while (cursor->n && cursor->open[cursor->n - 1].end <= time)
		cursor->n--;
	return cursor->n ? cursor->open[cursor->n - 1].stack : 0;
}
