/* SPDX-License-Identifier: Apache-2.0 */
/* links.c - from device work to the call that enqueued it, by equal correlation id in one process.
 *
 * Correlation ids are nearly dense, so a process's calls are found through an array, or through a
 * map where an array would be much longer than the calls are many. A linked span has the CORR of
 * its call, and its own is dropped.
 */
#include <stdlib.h>

#include "trace/finish.h"

/* The strips of each process, so that linking one process need not look at the strips of all
 * others. */
struct by_process {
	uint32_t *strips; /* process p has strips[from[p]] … strips[from[p + 1] - 1] */
	uint32_t *from;
};

struct calls { /* the calls of one process, by correlation id */
	int64_t low;
	uint64_t length; /* number of elements of 'dense' */
	uint32_t *dense; /* by correlation id - 'low': hwy_ref32 of the call's span id */
	struct hwy_map map;
};

static struct by_process strips_by_process(const struct hwy_trace *trace)
{
	uint32_t n = trace->n_processes;
	struct by_process by = {
		.strips = hwy_array(trace->n_strips, sizeof *by.strips),
		/* two more than processes: the end of the last process, and one because counts are
		 * stored two places later */
		.from = hwy_zarray(n + 2, sizeof *by.from)};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		int64_t process = trace->lanes[trace->strips[s].lane].process;
		if (process >= 0 && process < n)
			by.from[process + 2]++;
	}
	for (uint32_t p = 0; p < n; p++)
		by.from[p + 2] += by.from[p + 1];
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		int64_t process = trace->lanes[trace->strips[s].lane].process;
		if (process >= 0 && process < n)
			by.strips[by.from[process + 1]++] = s;
	}
	return by;
}

static bool has_calls(const struct hwy_strip *strip)
{
	return strip->kind == HWY_API && strip->columns[HWY_CORR];
}

static uint32_t *links_place_of(struct calls *calls, int64_t corr)
{
	if (calls->dense)
		return &calls->dense[(uint64_t)corr - (uint64_t)calls->low];
	return hwy_map_put(&calls->map, (uint64_t)corr, NULL);
}

/* Yields a reference (base/ref.h) to the call with this correlation id. */
static uint32_t call_with(const struct calls *calls, int64_t corr)
{
	if (calls->dense) {
		uint64_t at = (uint64_t)corr - (uint64_t)calls->low;
		return at < calls->length ? calls->dense[at] : HWY_REF_NONE;
	}
	const uint32_t *value = hwy_map_get(&calls->map, (uint64_t)corr);
	return value ? *value : HWY_REF_NONE;
}

static bool links_enqueues(struct hwy_trace *trace, uint32_t id)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, id, &row);
	switch (HWY_ROLE_OF(hwy_role(trace, hwy_get(strip, HWY_NAME, row)))) {
	case HWY_ROLE_LAUNCH:
	case HWY_ROLE_COPY:
	case HWY_ROLE_FILL:
	case HWY_ROLE_GRAPH_LAUNCH: return true;
	default: return false;
	}
}

static void add_calls(struct hwy_trace *trace, struct calls *calls, const struct hwy_strip *strip)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t corr = hwy_get(strip, HWY_CORR, row);
		if (corr == 0)
			continue;
		uint32_t *place = links_place_of(calls, corr);
		/* A driver call inside a runtime call has the same correlation id: the call that
		 * enqueues the work is kept. */
		if (!hwy_ref32_is_set(*place) || (!links_enqueues(trace, hwy_ref32_index(*place)) &&
						  links_enqueues(trace, strip->first + row)))
			*place = hwy_ref32(strip->first + row);
	}
}

static struct calls calls_of(struct hwy_trace *trace, const struct by_process *by, uint32_t process)
{
	struct calls calls = {0};
	int64_t low = INT64_MAX, high = INT64_MIN;
	uint64_t count = 0;
	for (uint32_t i = by->from[process]; i < by->from[process + 1]; i++) {
		const struct hwy_strip *strip = &trace->strips[by->strips[i]];
		if (!has_calls(strip))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t corr = hwy_get(strip, HWY_CORR, row);
			low = corr && corr < low ? corr : low;
			high = corr && corr > high ? corr : high;
		}
		count += strip->rows;
	}
	uint64_t length = low <= high ? (uint64_t)high - (uint64_t)low + 1 : 0;
	if (length && length / 8 <= count + 1024) {
		calls.low = low;
		calls.length = length;
		calls.dense = hwy_zarray(length, sizeof *calls.dense);
	}
	for (uint32_t i = by->from[process]; i < by->from[process + 1]; i++)
		if (has_calls(&trace->strips[by->strips[i]]))
			add_calls(trace, &calls, &trace->strips[by->strips[i]]);
	return calls;
}

static void links_put(struct hwy_column **column, uint32_t row, int64_t value)
{
	if (!*column)
		*column = hwy_zalloc(sizeof **column);
	column_append(*column, row, value);
}

static void link_strip(struct hwy_strip *strip, const struct calls *calls)
{
	struct hwy_column *link = NULL, *corr = NULL;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t wanted = hwy_get(strip, HWY_CORR, row);
		uint32_t call = wanted ? call_with(calls, wanted) : HWY_REF_NONE;
		if (hwy_ref32_is_set(call))
			links_put(&link, row, call);
		else if (wanted)
			links_put(&corr, row, wanted);
	}
	column_free(strip->columns[HWY_LINK]);
	column_free(strip->columns[HWY_CORR]);
	if (link)
		column_finish(link, strip->rows);
	if (corr)
		column_finish(corr, strip->rows);
	strip->columns[HWY_LINK] = link;
	strip->columns[HWY_CORR] = corr;
}

static bool is_linkable(const struct hwy_strip *strip)
{
	return (hwy_kind_columns[strip->kind] & HWY_COL_BIT(HWY_LINK)) && strip->columns[HWY_CORR];
}

void finish_links(struct hwy_trace *trace)
{
	struct by_process by = strips_by_process(trace);
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		struct calls calls = calls_of(trace, &by, p);
		for (uint32_t i = by.from[p]; i < by.from[p + 1]; i++)
			if (is_linkable(&trace->strips[by.strips[i]]))
				link_strip(&trace->strips[by.strips[i]], &calls);
		free(calls.dense);
		hwy_map_free(&calls.map);
	}
	free(by.strips);
	free(by.from);
	/* Roles were computed only to link work with its calls. Free them: strings that are added
	 * later would not be in this cache. */
	free(trace->roles);
	trace->roles = NULL;
}
