/* nest.c - see nest.h. */
#include "analyze/nest.h"

#include <stdlib.h>

static bool is_of_thread(const struct hwy_trace *trace, const struct hwy_strip *strip,
			 uint32_t kinds, uint32_t *thread)
{
	int64_t of = trace->lanes[strip->lane].thread;
	/* Start/end ranges overlap, whoever began them. */
	if (!(kinds & HWY_KIND_BIT(strip->kind)) || of < 0 || of >= trace->n_threads ||
	    trace->lanes[strip->lane].type == HWY_LANE_STARTEND)
		return false;
	*thread = (uint32_t)of;
	return true;
}

void nests_open(struct hwy_nests *nests, const struct hwy_trace *trace, uint32_t kinds)
{
	uint32_t n = trace->n_threads, thread;
	*nests = (struct hwy_nests){.trace = trace};
	nests->first = hwy_zalloc(((size_t)n + 2) * sizeof *nests->first);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (is_of_thread(trace, &trace->strips[s], kinds, &thread))
			nests->first[thread + 2]++;
	for (uint32_t t = 2; t < n + 2; t++)
		nests->first[t] += nests->first[t - 1];
	nests->nests = hwy_zalloc(((size_t)nests->first[n + 1] + 1) * sizeof *nests->nests);
	/* first[t + 1] counts up to where first[t + 2] began: the starts end up one place lower. */
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (is_of_thread(trace, &trace->strips[s], kinds, &thread))
			nests->nests[nests->first[thread + 1]++].strip = &trace->strips[s];
}

void nests_close(struct hwy_nests *nests)
{
	uint32_t n = nests->first ? nests->first[nests->trace->n_threads] : 0;
	for (uint32_t i = 0; i < n; i++)
		free(nests->nests[i].parent);
	free(nests->nests);
	free(nests->first);
	*nests = (struct hwy_nests){0};
}

static void find_parents(struct hwy_nest *nest)
{
	const struct hwy_strip *strip = nest->strip;
	uint32_t *open = NULL, n = 0, cap = 0;
	nest->parent = hwy_alloc(((size_t)strip->rows + 1) * sizeof *nest->parent);
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row);
		while (n && hwy_end(strip, open[n - 1]) < start)
			n--;
		nest->parent[row] = n ? open[n - 1] + 1 : 0;
		HWY_GROW(open, n, cap);
		open[n++] = row;
	}
	free(open);
}

uint32_t nest_parent(struct hwy_nest *nest, uint32_t row)
{
	if (!nest->parent)
		find_parents(nest);
	return nest->parent[row] ? nest->parent[row] - 1 : NEST_NONE;
}

uint32_t nest_at(const struct hwy_nest *nest, int64_t time)
{
	uint32_t low = 0, high = nest->strip->rows;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (hwy_get(nest->strip, HWY_START, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t nest_around(struct hwy_nest *nest, int64_t from, int64_t to)
{
	uint32_t row = nest_at(nest, from + 1);
	if (row == 0)
		return NEST_NONE;
	row--;
	while (row != NEST_NONE && hwy_end(nest->strip, row) < to)
		row = nest_parent(nest, row);
	return row;
}
