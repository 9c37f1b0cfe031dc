/* SPDX-License-Identifier: Apache-2.0 */
/* finish.c - see finish.h.
 *
 * When done: strips are sorted by lane and kind; rows by start, longer first, else in the order
 * they came; nodes of graphs and their edges by process and node; every reference is a span id.
 * Memory: at any time one strip's sort keys beside the packed columns.
 */
#include "trace/finish.h"

#include <stdlib.h>

struct key {
	int64_t start, dur;
	uint32_t row;
};

static bool finish_comes_before(const struct key *a, const struct key *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	if (a->dur != b->dur)
		return a->dur > b->dur;
	return a->row < b->row;
}

static bool is_sorted(const struct hwy_strip *strip)
{
	struct key before = {.start = INT64_MIN, .dur = INT64_MAX};
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct key now = {hwy_get(strip, HWY_START, row), hwy_get(strip, HWY_DUR, row),
				  row};
		if (finish_comes_before(&now, &before))
			return false;
		before = now;
	}
	return true;
}

/* Sources write nearly in order (by end, or buffer by buffer). So short blocks are sorted by
 * insertion, then neighbouring runs are merged; two runs that already follow each other cost one
 * comparison. */
static void sort_keys(struct key *keys, struct key *spare, uint32_t n)
{
	enum { BLOCK = 64 };
	for (uint32_t from = 0; from < n; from += BLOCK) {
		uint32_t to = n - from < BLOCK ? n : from + BLOCK;
		for (uint32_t i = from + 1; i < to; i++) {
			struct key moving = keys[i];
			uint32_t j = i;
			for (; j > from && finish_comes_before(&moving, &keys[j - 1]); j--)
				keys[j] = keys[j - 1];
			keys[j] = moving;
		}
	}
	for (uint64_t run = BLOCK; run < n; run *= 2)
		for (uint64_t from = 0; from + run < n; from += 2 * run) {
			uint64_t middle = from + run, to = from + 2 * run < n ? from + 2 * run : n;
			if (!finish_comes_before(&keys[middle], &keys[middle - 1]))
				continue;
			memcpy(spare, keys + from, run * sizeof *keys);
			uint64_t a = 0, b = middle, out = from;
			while (a < run && b < to)
				keys[out++] = finish_comes_before(&keys[b], &spare[a]) ? keys[b++]
										       : spare[a++];
			while (a < run)
				keys[out++] = spare[a++];
		}
}

/* Sorts the rows of a strip. Yields for each old row its new row; NULL where no row moved. */
static uint32_t *sort_strip(struct hwy_strip *strip)
{
	if (is_sorted(strip))
		return NULL;
	uint32_t n = strip->rows;
	struct key *keys = hwy_array(n, sizeof *keys);
	struct key *spare = hwy_array(n, sizeof *spare);
	for (uint32_t row = 0; row < n; row++)
		keys[row] = (struct key){hwy_get(strip, HWY_START, row),
					 hwy_get(strip, HWY_DUR, row), row};
	sort_keys(keys, spare, n);
	free(spare);
	uint32_t *new_row = hwy_array(n, sizeof *new_row);
	uint32_t *old_row = hwy_array(n, sizeof *old_row);
	for (uint32_t row = 0; row < n; row++) {
		new_row[keys[row].row] = row;
		old_row[row] = keys[row].row;
	}
	free(keys);
	for (unsigned c = 0; c < HWY_COLS; c++) {
		struct hwy_column *old = strip->columns[c];
		if (!old)
			continue;
		struct hwy_column *sorted = hwy_zalloc(sizeof *sorted);
		for (uint32_t row = 0; row < n; row++)
			column_append(sorted, row, column_get(old, old_row[row]));
		column_finish(sorted, n);
		column_free(old);
		strip->columns[c] = sorted;
	}
	free(old_row);
	return new_row;
}

static int by_lane_and_kind(const void *left, const void *right)
{
	const struct hwy_strip *a = left, *b = right;
	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* By strip: 1 where an edge begins or ends in the strip or a message refers to it, so that
 * finish_trace must remember where its rows went. */
static uint8_t *strips_with_edges(const struct hwy_trace *trace)
{
	uint8_t *touched = hwy_zarray(trace->n_strips, 1);
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		const int64_t spans[] = {m->span, m->asked, m->done};
		for (size_t k = 0; k < sizeof spans / sizeof *spans; k++)
			if (spans[k] != HWY_NONE)
				touched[(uint64_t)spans[k] >> 32] = 1;
	}
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		touched[(uint64_t)trace->edges[e].from >> 32] = 1;
		touched[(uint64_t)trace->edges[e].to >> 32] = 1;
	}
	return touched;
}

static int64_t span_id_of(const struct hwy_trace *trace, uint32_t *const *moved,
			  const uint32_t *place, int64_t packed)
{
	uint32_t strip = (uint32_t)((uint64_t)packed >> 32), row = (uint32_t)packed;
	return (int64_t)trace->strips[place[strip]].first +
	       (moved[strip] ? moved[strip][row] : row);
}

static void number_spans(struct hwy_trace *trace)
{
	uint32_t next = 0; /* no overflow: the builder takes at most HWY_MOST_SPANS spans */
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		trace->strips[s].first = next;
		next += trace->strips[s].rows;
	}
	trace->n_spans = next;
}

static void shift_times(struct hwy_trace *trace, int64_t shift)
{
	static const enum hwy_col times[] = {HWY_START, HWY_QUEUED, HWY_SUBMITTED};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		struct hwy_strip *strip = &trace->strips[s];
		for (size_t t = 0; t < sizeof times / sizeof *times; t++)
			if (strip->columns[times[t]])
				column_shift(strip->columns[times[t]], shift);
		/* A strip whose starts are all 0 has no column of starts, but its starts move
		 * too. */
		if (!strip->columns[HWY_START] && strip->rows) {
			strip->columns[HWY_START] = hwy_zalloc(sizeof *strip->columns[HWY_START]);
			column_finish(strip->columns[HWY_START], strip->rows);
			column_shift(strip->columns[HWY_START], shift);
		}
	}
	for (uint32_t d = 0; d < trace->n_diagnostics; d++)
		if (trace->diagnostics[d].time != HWY_NONE)
			trace->diagnostics[d].time += shift;
	for (uint32_t i = 0; i < trace->n_nodes; i++)
		if (trace->nodes[i].time != HWY_NONE)
			trace->nodes[i].time += shift;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		struct hwy_message *m = &trace->messages[i];
		int64_t *const moments[] = {&m->posted, &m->start, &m->end};
		for (size_t k = 0; k < sizeof moments / sizeof *moments; k++)
			if (*moments[k] != HWY_NONE)
				*moments[k] += shift;
	}
	for (uint32_t i = 0; i < trace->n_pings; i++)
		if (trace->pings[i].time != HWY_NONE)
			trace->pings[i].time += shift;
	if (trace->wall != HWY_NONE)
		trace->wall -= shift;
}

static void rebase_times(struct hwy_trace *trace)
{
	int64_t earliest = INT64_MAX;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].rows) {
			int64_t start = hwy_get(&trace->strips[s], HWY_START, 0);
			earliest = start < earliest ? start : earliest;
		}
	if (earliest != INT64_MAX && earliest != 0)
		shift_times(trace, -earliest);
}

static int by_process_and_node(const void *left, const void *right)
{
	const struct hwy_node *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static int by_process_node_and_after(const void *left, const void *right)
{
	const struct hwy_node_edge *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->after < b->after ? -1 : a->after > b->after;
}

static void sort_graph_nodes(struct hwy_trace *trace)
{
	if (trace->n_nodes)
		qsort(trace->nodes, trace->n_nodes, sizeof *trace->nodes, by_process_and_node);
	if (trace->n_node_edges)
		qsort(trace->node_edges, trace->n_node_edges, sizeof *trace->node_edges,
		      by_process_node_and_after);
}

void finish_trace(struct hwy_trace *trace, bool rebase)
{
	uint32_t n = trace->n_strips;
	uint8_t *touched = strips_with_edges(trace);
	uint32_t **moved = hwy_zarray(n, sizeof *moved);
	for (uint32_t s = 0; s < n; s++) {
		struct hwy_strip *strip = &trace->strips[s];
		/* Until number_spans runs, 'first' holds the strip's index before the strips are
		 * sorted. */
		strip->first = s;
		for (unsigned c = 0; c < HWY_COLS; c++)
			if (strip->columns[c])
				column_finish(strip->columns[c], strip->rows);
		moved[s] = sort_strip(strip);
		if (!touched[s]) {
			free(moved[s]);
			moved[s] = NULL;
		}
	}
	free(touched);
	if (n)
		qsort(trace->strips, n, sizeof *trace->strips, by_lane_and_kind);
	uint32_t *place = hwy_array(n, sizeof *place);
	for (uint32_t s = 0; s < n; s++)
		place[trace->strips[s].first] = s;
	number_spans(trace);
	for (uint32_t e = 0; e < trace->n_edges; e++) {
		trace->edges[e].from = span_id_of(trace, moved, place, trace->edges[e].from);
		trace->edges[e].to = span_id_of(trace, moved, place, trace->edges[e].to);
	}
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		struct hwy_message *m = &trace->messages[i];
		int64_t *const spans[] = {&m->span, &m->asked, &m->done};
		for (size_t k = 0; k < sizeof spans / sizeof *spans; k++)
			if (*spans[k] != HWY_NONE)
				*spans[k] = span_id_of(trace, moved, place, *spans[k]);
	}
	for (uint32_t s = 0; s < n; s++)
		free(moved[s]);
	free(moved);
	free(place);
	finish_links(trace);
	sort_graph_nodes(trace);
	if (rebase)
		rebase_times(trace);
}
