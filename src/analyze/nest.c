/* SPDX-License-Identifier: Apache-2.0 */
/* nest.c - see nest.h. */
#include "analyze/nest.h"

#include <stdlib.h>

#include "base/ref.h"
#include "base/search.h"

static bool is_of_thread(const struct hwy_trace *trace, const struct hwy_strip *strip,
			 uint32_t kinds, uint32_t *thread)
{
	int64_t owner = trace->lanes[strip->lane].thread;
	/* Start/end ranges overlap without nesting, also those of one thread. Calls of libraries
	 * do not tell where in the program the thread was. */
	if (!(kinds & HWY_KIND_BIT(strip->kind)) || owner < 0 || owner >= trace->n_threads ||
	    trace->lanes[strip->lane].type == HWY_LANE_STARTEND ||
	    hwy_lane_is_library(trace, strip->lane))
		return false;
	*thread = (uint32_t)owner;
	return true;
}

void nests_open(struct hwy_nests *nests, const struct hwy_trace *trace, uint32_t kinds)
{
	uint32_t n = trace->n_threads, thread;
	*nests = (struct hwy_nests){.trace = trace};
	/* One element for the end of the last thread, and one more that only the counting sort
	 * needs. */
	nests->first = hwy_zarray((size_t)n + 2, sizeof *nests->first);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (is_of_thread(trace, &trace->strips[s], kinds, &thread))
			nests->first[thread + 2]++;
	for (uint32_t t = 2; t < n + 2; t++)
		nests->first[t] += nests->first[t - 1];
	nests->nests = hwy_zarray(nests->first[n + 1], sizeof *nests->nests);
	/* While strips are put in place, first[t + 1] rises from the start of thread t to its
	 * end, which is the start of thread t + 1: when all are in place, first[t] is the start
	 * of thread t. */
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
	nest->parent = hwy_array(strip->rows, sizeof *nest->parent);
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row);
		while (n && hwy_end(strip, open[n - 1]) < start)
			n--;
		nest->parent[row] = n ? hwy_ref32(open[n - 1]) : HWY_REF_NONE;
		HWY_GROW(open, n, cap);
		open[n++] = row;
	}
	free(open);
}

uint32_t nest_parent(struct hwy_nest *nest, uint32_t row)
{
	if (!nest->parent)
		find_parents(nest);
	uint32_t parent = nest->parent[row];
	return hwy_ref32_is_set(parent) ? hwy_ref32_index(parent) : NEST_NONE;
}

uint32_t nest_at(const struct hwy_nest *nest, int64_t time)
{
	const struct hwy_strip *strip = nest->strip;
	return HWY_FIRST(row, 0u, strip->rows, hwy_get(strip, HWY_START, row) >= time);
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
