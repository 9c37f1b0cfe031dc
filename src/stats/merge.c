/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - see merge.h. */
#include "stats/merge.h"

#include <stdlib.h>

void merge_open(struct merge *merge, const struct report_run *run, uint32_t kinds)
{
	const struct hwy_trace *trace = run->trace;
	*merge = (struct merge){.run = run};
	merge->rows = hwy_zarray(trace->n_strips, sizeof *merge->rows);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if ((kinds & HWY_KIND_BIT(trace->strips[s].kind)) && trace->strips[s].rows)
			hwy_heap_add(&merge->heap, hwy_get(&trace->strips[s], HWY_START, 0), s);
}

bool merge_next(struct merge *merge)
{
	while (merge->heap.n) {
		struct hwy_heap_entry *first = &merge->heap.at[0];
		uint32_t *next_row = &merge->rows[first->what];
		merge->strip = &merge->run->trace->strips[first->what];
		merge->row = (*next_row)++;
		if (*next_row < merge->strip->rows) {
			first->time = hwy_get(merge->strip, HWY_START, *next_row);
			hwy_heap_sink(&merge->heap);
		} else {
			hwy_heap_drop(&merge->heap);
		}
		if (report_keeps(merge->run, merge->strip, merge->row))
			return true;
	}
	return false;
}

void merge_close(struct merge *merge)
{
	free(merge->heap.at);
	free(merge->rows);
	*merge = (struct merge){0};
}
