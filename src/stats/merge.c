/* merge.c - see merge.h. */
#include "stats/merge.h"

#include <stdlib.h>

static bool merge_comes_before(const struct merge_head *a, const struct merge_head *b)
{
	return a->start != b->start ? a->start < b->start : a->strip->first < b->strip->first;
}

static void sink_down(struct merge *merge, uint32_t i)
{
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= merge->n)
			return;
		if (child + 1 < merge->n &&
		    merge_comes_before(&merge->heads[child + 1], &merge->heads[child]))
			child++;
		if (!merge_comes_before(&merge->heads[child], &merge->heads[i]))
			return;
		struct merge_head head = merge->heads[i];
		merge->heads[i] = merge->heads[child];
		merge->heads[child] = head;
		i = child;
	}
}

void merge_open(struct merge *merge, const struct stats_run *run, uint32_t kinds)
{
	const struct hwy_trace *trace = run->trace;
	*merge = (struct merge){.run = run};
	merge->heads = hwy_alloc(((size_t)trace->n_strips + 1) * sizeof *merge->heads);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if ((kinds & HWY_KIND_BIT(strip->kind)) && strip->rows)
			merge->heads[merge->n++] =
				(struct merge_head){hwy_get(strip, HWY_START, 0), strip, 0};
	}
	for (uint32_t i = merge->n / 2; i-- > 0;)
		sink_down(merge, i);
}

bool merge_next(struct merge *merge)
{
	while (merge->n) {
		struct merge_head *first = &merge->heads[0];
		merge->strip = first->strip;
		merge->row = first->row++;
		if (first->row < first->strip->rows)
			first->start = hwy_get(first->strip, HWY_START, first->row);
		else
			*first = merge->heads[--merge->n];
		sink_down(merge, 0);
		if (!filter_is_on(&merge->run->filter) ||
		    filter_keeps(&merge->run->filter, merge->run->trace, merge->strip, merge->row))
			return true;
	}
	return false;
}

void merge_close(struct merge *merge)
{
	free(merge->heads);
	*merge = (struct merge){0};
}
