/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_tables.c - calls of MPI by name, one row each, and the sizes of what they exchanged;
 * columns as nsys names them.
 *
 * A call is of one source by its name, as nsys sorts calls into tables. The sizes are those of
 * the trace's messages: a call of MPI_Sendrecv has two, which are one row in the table of calls
 * where they differ in nothing but their direction. Messages whose size is not known do not
 * count for sizes.
 */
#include <stdlib.h>

#include "stats/families.h"
#include "stats/merge.h"
#include "stats/tally.h"
#include "trace/collective_names.h"
#include "trace/message_index.h"

enum mpi_source { SOURCE_OTHER, SOURCE_P2P, SOURCE_COLLECTIVES, SOURCE_START_WAIT };
static const char *const source_names[] = {"other", "p2p", "collectives", "start_wait"};

static bool is_mpi(const struct hwy_trace *trace, uint32_t lane)
{
	return hwy_lane_is_library(trace, lane) &&
	       strcmp(hwy_str(trace, trace->lanes[lane].name), "MPI") == 0;
}

static enum mpi_source source_of(const char *name)
{
	static const struct {
		const char *start;
		enum mpi_source source;
	} starts[] = {
		{"MPI_Start", SOURCE_START_WAIT}, {"MPI_Wait", SOURCE_START_WAIT},
		{"MPI_Test", SOURCE_START_WAIT},  {"MPI_Sendrecv", SOURCE_P2P},
		{"MPI_Isendrecv", SOURCE_P2P},
	};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(name, starts[i].start, strlen(starts[i].start)) == 0)
			return starts[i].source;
	const struct hwy_exchange *exchange = hwy_exchange_of(name, strlen(name));
	return !exchange                                  ? SOURCE_OTHER
	       : exchange->kind == HWY_MESSAGE_COLLECTIVE ? SOURCE_COLLECTIVES
							  : SOURCE_P2P;
}

/* ---- mpi_event_sum --------------------------------------------------------------------------- */

static void group_mpi_calls(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			    uint32_t n, uint32_t *groups)
{
	if (is_mpi(tally->run->trace, strip->lane))
		tally_by_name(tally, strip, first, n, 0, groups);
	else
		tally_skip(n, groups);
}

static void name_mpi_call(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES])
{
	struct hwy_text name = hwy_text(tally->run->trace, (uint32_t)key);
	const char *source = source_names[source_of(name.at)];
	names[0] = (struct hwy_text){source, (uint32_t)strlen(source)};
	names[1] = name;
}

bool make_mpi_event_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		TALLY_TIMES("Instances"), {"Source", STATS_TEXT}, {"Name", STATS_TEXT}};
	static const struct tally_plan plan = {
		columns, STATS_LENGTH(columns), HWY_KIND_BIT(HWY_CALL), HWY_COL_BIT(HWY_NAME),
		HWY_DUR, group_mpi_calls,       name_mpi_call};
	return tally_make(run, &plan, err);
}

/* ---- mpi_event_trace ------------------------------------------------------------------------- */

/* Whether the two messages of a call differ in their direction only. */
static bool is_mirrored(const struct hwy_message *a, const struct hwy_message *b)
{
	return a->kind == HWY_MESSAGE_SEND && b->kind == HWY_MESSAGE_RECEIVE &&
	       a->peer == b->peer && a->tag == b->tag && a->sent == b->received;
}

static void yield_call(struct report_run *run, const struct hwy_strip *strip, uint32_t row,
		       const struct hwy_message *m)
{
	const struct hwy_trace *trace = run->trace;
	int64_t process = trace->lanes[strip->lane].process, start = hwy_get(strip, HWY_START, row);
	int64_t rank = process == HWY_NONE ? HWY_NONE : trace->processes[process].rank;
	bool is_collective = m && m->kind == HWY_MESSAGE_COLLECTIVE;
	int64_t size = !m || is_collective           ? HWY_NONE
		       : m->kind == HWY_MESSAGE_SEND ? m->sent
						     : m->received;
	struct stats_cell cells[] = {
		cell_number(start),
		cell_number(hwy_end(strip, row)),
		cell_number(hwy_get(strip, HWY_DUR, row)),
		cell_from_text(hwy_text(trace, hwy_get(strip, HWY_NAME, row))),
		cell_pid(trace, strip->lane),
		cell_tid(trace, strip->lane),
		cell_number_or_empty(m && !is_collective ? m->tag : HWY_NONE),
		cell_number_or_empty(rank),
		cell_number_or_empty(m && !is_collective ? m->peer : HWY_NONE),
		cell_number_or_empty(is_collective ? m->peer : HWY_NONE),
		cell_number_or_empty(size),
		cell_number_or_empty(is_collective ? m->sent : HWY_NONE),
		cell_number_or_empty(is_collective ? m->received : HWY_NONE),
	};
	report_row(run, cells);
}

bool make_mpi_event_trace(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Start", STATS_MOMENT},
						      {"End", STATS_MOMENT},
						      {"Duration", STATS_TIME},
						      {"Event", STATS_TEXT},
						      {"Pid", STATS_ID},
						      {"Tid", STATS_ID},
						      {"Tag", STATS_ID},
						      {"Rank", STATS_ID},
						      {"PeerRank", STATS_ID},
						      {"RootRank", STATS_ID},
						      {"Size", STATS_COUNT},
						      {"CollSendSize", STATS_COUNT},
						      {"CollRecvSize", STATS_COUNT}};
	struct hwy_trace *trace = run->trace;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_CALL),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME), err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	struct hwy_message_index index;
	struct merge merge;
	hwy_message_index_open(&index, trace, HWY_MESSAGE_SPAN);
	merge_open(&merge, run, HWY_KIND_BIT(HWY_CALL));
	while (merge_next(&merge)) {
		if (!is_mpi(trace, merge.strip->lane))
			continue;
		const uint32_t *found;
		uint32_t n =
			hwy_messages_of(&index, (int64_t)merge.strip->first + merge.row, &found);
		const char *name = hwy_str(trace, hwy_get(merge.strip, HWY_NAME, merge.row));
		if (n == 2 && strstr(name, "endrecv") && /* MPI_Sendrecv, MPI_Isendrecv_replace … */
		    is_mirrored(&trace->messages[found[0]], &trace->messages[found[1]]))
			n = 1;
		for (uint32_t i = 0; i < n; i++)
			yield_call(run, merge.strip, merge.row, &trace->messages[found[i]]);
		if (n == 0)
			yield_call(run, merge.strip, merge.row, NULL);
	}
	merge_close(&merge);
	hwy_message_index_close(&index);
	return true;
}

/* ---- mpi_msg_size_sum ------------------------------------------------------------------------ */

enum size_source { SIZE_P2P, SIZE_COLL_SEND, SIZE_COLL_RECV, SIZE_SOURCES };
static const char *const size_source_names[] = {"p2p", "coll_send", "coll_recv"};

struct size_line {
	struct size_key {
		int64_t name, source; /* text of the call's name; enum size_source */
	} key;
	struct sums_result sums;
	uint32_t group;
};

struct sizes {
	struct report_run *run;
	struct hwy_map groups; /* name << 2 | source -> group of 'sums' */
	struct size_line *lines;
	uint32_t n, cap;
	struct sums sums;
};

/* The bytes of a message by source; HWY_NONE: it has none of that source, or their number is not
 * known. */
static int64_t size_of_message(const struct hwy_message *m, enum size_source source)
{
	if ((m->kind == HWY_MESSAGE_COLLECTIVE) == (source == SIZE_P2P))
		return HWY_NONE;
	bool sends = source == SIZE_COLL_SEND || m->kind == HWY_MESSAGE_SEND;
	return sends ? m->sent : m->received;
}

static uint32_t group_of_size(struct sizes *sizes, int64_t name, enum size_source source)
{
	bool fresh;
	uint32_t *group = hwy_map_put(&sizes->groups, (uint64_t)name << 2 | source, &fresh);
	if (fresh) {
		*group = sizes->n;
		HWY_GROW(sizes->lines, sizes->n, sizes->cap);
		sizes->lines[sizes->n] =
			(struct size_line){.key = {name, source}, .group = sizes->n};
		sizes->n++;
	}
	return *group;
}

/* Counts the messages that the filter keeps, or puts their sizes in place. */
static void visit_sizes(struct sizes *sizes, bool puts)
{
	struct hwy_trace *trace = sizes->run->trace;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		uint32_t row;
		/* Barriers move no bytes. */
		if (m->span == HWY_NONE || strcmp(hwy_str(trace, m->name), "Barrier") == 0)
			continue;
		const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)m->span, &row);
		if (!is_mpi(trace, strip->lane) || !report_keeps(sizes->run, strip, row))
			continue;
		for (int source = 0; source < SIZE_SOURCES; source++) {
			int64_t size = size_of_message(m, (enum size_source)source);
			if (size == HWY_NONE)
				continue;
			uint32_t group = group_of_size(sizes, hwy_get(strip, HWY_NAME, row),
						       (enum size_source)source);
			if (puts)
				sums_put(&sizes->sums, group, size);
			else
				sums_expect(&sizes->sums, group, 1);
		}
	}
}

static int by_volume(const void *left, const void *right, void *self)
{
	const struct size_line *a = left, *b = right;
	const struct hwy_trace *trace = self;
	if (a->sums.total != b->sums.total)
		return a->sums.total < b->sums.total ? 1 : -1;
	int order = strcmp(hwy_str(trace, a->key.name), hwy_str(trace, b->key.name));
	if (order)
		return order;
	return a->key.source < b->key.source ? -1 : a->key.source > b->key.source;
}

static void yield_sizes(struct sizes *sizes)
{
	for (uint32_t i = 0; i < sizes->n; i++)
		sizes->lines[i].sums = sums_get(&sizes->sums, sizes->lines[i].group);
	if (sizes->n > 0)
		qsort_r(sizes->lines, sizes->n, sizeof *sizes->lines, by_volume, sizes->run->trace);
	for (uint32_t i = 0; i < sizes->n; i++) {
		const struct size_line *line = &sizes->lines[i];
		struct stats_cell cells[] = {
			cell_number(line->sums.total),
			cell_number(line->sums.count),
			cell_real(line->sums.mean),
			cell_real(line->sums.median),
			cell_number(line->sums.min),
			cell_number(line->sums.max),
			cell_real(line->sums.deviation),
			cell_from_textz(size_source_names[line->key.source]),
			cell_from_text(hwy_text(sizes->run->trace, line->key.name)),
		};
		report_row(sizes->run, cells);
	}
}

bool make_mpi_msg_size_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {{"Total Message Volume", STATS_COUNT},
						      {"Instances", STATS_COUNT},
						      {"Avg", STATS_MEAN},
						      {"Med", STATS_MEAN},
						      {"Min", STATS_COUNT},
						      {"Max", STATS_COUNT},
						      {"StdDev", STATS_MEAN},
						      {"Source", STATS_TEXT},
						      {"Name", STATS_TEXT}};
	struct sizes sizes = {.run = run};
	if (!hwy_need(run->trace, HWY_KIND_BIT(HWY_CALL),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_NAME) | filter_columns(&run->filter),
		      err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	visit_sizes(&sizes, false);
	sums_open(&sizes.sums);
	visit_sizes(&sizes, true);
	yield_sizes(&sizes);
	hwy_map_free(&sizes.groups);
	sums_free(&sizes.sums);
	free(sizes.lines);
	return true;
}
