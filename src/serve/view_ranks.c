/* SPDX-License-Identifier: Apache-2.0 */
/* view_ranks.c - see view_ranks.h. */
#include "serve/view_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Lists the numbers of the ranks, each once, in order. */
static void list_ranks(struct view_trace *view)
{
	const struct hwy_trace *trace = view->trace;
	int64_t *all = hwy_array(trace->n_processes, sizeof *all);
	uint32_t n = 0, kept = 0;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (trace->processes[p].rank != HWY_NONE)
			all[n++] = trace->processes[p].rank;
	if (n > 0)
		qsort(all, n, sizeof *all, by_number);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || all[i] != all[kept - 1])
			all[kept++] = all[i];
	view->ranks = all;
	view->n_ranks = kept > 1 ? kept : 0;
}

void ranks_open(struct view_trace *view)
{
	const struct hwy_trace *trace = view->trace;
	list_ranks(view);
	view->rank_of = hwy_array(trace->n_processes, sizeof *view->rank_of);
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		int64_t number = trace->processes[p].rank;
		uint32_t at = HWY_FIRST(i, 0, view->n_ranks, view->ranks[i] >= number);
		bool is_known = number != HWY_NONE && at < view->n_ranks;
		view->rank_of[p] = is_known ? at : RANKS_NOBODY;
	}
}

void ranks_close(struct view_trace *view)
{
	free(view->ranks);
	free(view->rank_of);
}

static bool is_stream(const struct view_trace *view, uint32_t lane)
{
	return view->lanes[lane].n > 0 && view->trace->lanes[lane].type == HWY_LANE_STREAM;
}

void ranks_find_owners(const struct view_trace *view, uint32_t *owners)
{
	for (uint32_t d = 0; d < view->trace->n_devices; d++)
		owners[d] = RANKS_NOBODY;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		const struct hwy_lane *lane = &view->trace->lanes[l];
		uint32_t rank = ranks_of_lane(view, lane);
		if (!is_stream(view, l) || rank == RANKS_NOBODY || lane->device == HWY_NONE)
			continue;
		uint32_t *owner = &owners[lane->device];
		*owner = *owner == RANKS_NOBODY || *owner == rank ? rank : RANKS_SHARED;
	}
}

bool ranks_shares_device(const struct view_trace *view, uint32_t rank)
{
	uint32_t *owners = hwy_array(view->trace->n_devices, sizeof *owners);
	int64_t only = HWY_NONE;
	bool is_one = true;
	ranks_find_owners(view, owners);
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		const struct hwy_lane *lane = &view->trace->lanes[l];
		if (!is_stream(view, l) || ranks_of_lane(view, lane) != rank ||
		    lane->device == HWY_NONE)
			continue;
		is_one &= only == HWY_NONE || only == lane->device;
		only = lane->device;
	}
	bool is_shared = only != HWY_NONE && is_one && owners[only] == RANKS_SHARED;
	free(owners);
	return is_shared;
}

/* ---- where messages stand -------------------------------------------------------------------- */

/* Puts a lane among those of its rank, those with more messages first. */
static void insert_lane(uint32_t *strip, uint32_t lane, const uint32_t *count)
{
	uint32_t i = RANKS_STRIP;
	while (i > 0 && (strip[i - 1] == RANKS_NOBODY || count[strip[i - 1]] < count[lane])) {
		i--;
		if (i + 1 < RANKS_STRIP)
			strip[i + 1] = strip[i];
	}
	if (i < RANKS_STRIP)
		strip[i] = lane;
}

void ranks_find_strips(const struct view_trace *view, uint32_t *strips)
{
	const struct hwy_trace *trace = view->trace;
	uint32_t *count = hwy_zarray(trace->n_lanes, sizeof *count), row;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		int64_t span = trace->messages[i].span;
		if (span >= 0 && span < trace->n_spans)
			count[hwy_strip_of(trace, (uint32_t)span, &row)->lane]++;
	}
	for (uint32_t i = 0; i < view->n_ranks * RANKS_STRIP; i++)
		strips[i] = RANKS_NOBODY;
	for (uint32_t l = 0; l < trace->n_lanes; l++) {
		uint32_t rank = ranks_of_lane(view, &trace->lanes[l]);
		if (count[l] > 0 && rank != RANKS_NOBODY)
			insert_lane(&strips[(size_t)rank * RANKS_STRIP], l, count);
	}
	free(count);
}

/* ---- titles ---------------------------------------------------------------------------------- */

/* Adds " · GPU 0, 1": the devices that the rank's streams are on. */
static int add_devices(const struct view_trace *view, uint32_t rank, char *title, size_t size)
{
	const struct hwy_trace *trace = view->trace;
	bool *is_used = hwy_zarray(trace->n_devices, sizeof *is_used);
	int n = 0, listed = 0;
	for (uint32_t l = 0; l < trace->n_lanes; l++)
		if (is_stream(view, l) && ranks_of_lane(view, &trace->lanes[l]) == rank &&
		    trace->lanes[l].device != HWY_NONE)
			is_used[trace->lanes[l].device] = true;
	for (uint32_t d = 0; d < trace->n_devices && (size_t)n < size; d++) {
		int64_t number = trace->devices[d].ordinal;
		if (is_used[d])
			n += snprintf(title + n, size - (size_t)n, "%s%" PRId64,
				      listed++ ? ", " : " · GPU ", number == HWY_NONE ? d : number);
	}
	free(is_used);
	return n;
}

void ranks_put_title(const struct view_trace *view, struct hwy_json *json, uint32_t rank)
{
	const struct hwy_trace *trace = view->trace;
	char title[512];
	const char *host = "";
	for (uint32_t p = 0; p < trace->n_processes && !*host; p++)
		if (view->rank_of[p] == rank && trace->processes[p].host != HWY_NONE)
			host = hwy_str(trace, trace->hosts[trace->processes[p].host].name);
	int n = snprintf(title, sizeof title, "rank %" PRId64 "%s%.200s", view->ranks[rank],
			 *host ? " · " : "", host);
	n += add_devices(view, rank, title + n, sizeof title - (size_t)n);
	json_text(json, title, (size_t)n < sizeof title ? (size_t)n : sizeof title - 1);
}
