/* SPDX-License-Identifier: Apache-2.0 */
/* table_lanes.c - where spans stand, and what stands there: lanes, the counters among them, and
 * ranks. */
#include "sql/sql_tables.h"

#include <stdlib.h>

/* The facts of a lane come first, in the order of enum lane_fact, without LANE_ID, which is the
 * row's id. */
enum { LANES_UNIT = LANE_FACTS - 1, LANES_SPANS, LANES_COLUMNS };
static const struct sql_column lane_columns[LANES_COLUMNS] = {
	{"pid", SQL_NUMBER, .description = "the id of the process"},
	{"tid", SQL_NUMBER, .description = "the id of the thread"},
	{"thread", SQL_TEXT, .description = "the name of the thread"},
	{"device", SQL_NUMBER, .description = "the number of the device"},
	{"context", SQL_NUMBER, .description = "the number of the stream's context"},
	{"stream", SQL_NUMBER, .description = "the number of the stream"},
	{"lane", SQL_TEXT, .description = "what stands on it: stream, api, op, range, os …"},
	{"domain", SQL_TEXT, .description = "its name: the NVTX domain, the counter, the library"},
	{"rank", SQL_NUMBER, .description = "the rank of the process in its job"},
	{"process_id", SQL_ROW, .description = "processes.id"},
	{"thread_id", SQL_ROW, .description = "threads.id"},
	{"device_id", SQL_ROW, .description = "devices.id"},
	{"stream_id", SQL_ROW, .description = "streams.id"},
	[LANES_UNIT] = {"unit", SQL_TEXT, .description = "the unit of a counter",
			SQL_FIELD(hwy_lane, unit)},
	[LANES_SPANS] = {"spans", SQL_NUMBER, .description = "how many spans stand on it"},
};

static struct hwy_cell lane_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_trace *trace = source->trace;
	int64_t spans = 0;
	if (column < LANES_UNIT)
		return lane_fact(trace, row, (enum lane_fact)(column + (column >= LANE_ID)));
	for (int kind = 0; kind < HWY_KINDS; kind++) {
		const struct hwy_strip *strip = hwy_strip_on(trace, row, (enum hwy_kind)kind);
		spans += strip ? strip->rows : 0;
	}
	return sql_int(spans);
}

const struct sql_table table_lanes = {.name = "lanes",
				      .about = "where spans stand in order of their start",
				      SQL_COLUMNS(lane_columns),
				      .records = HWY_TABLE_lanes,
				      .cell = lane_cell};

/* ---- counters -------------------------------------------------------------------------------- */

struct sql_counter {
	uint32_t lane;
	int64_t count, start, end;
	struct hwy_cell least, most, first, last;
	double sum;
};
enum {
	COUNTER_LANE,
	COUNTER_NAME,
	COUNTER_UNIT,
	COUNTER_PID,
	COUNTER_DEVICE,
	COUNTER_RANK,
	COUNTER_COUNT,
	COUNTER_START,
	COUNTER_END,
	COUNTER_MIN,
	COUNTER_MAX,
	COUNTER_MEAN,
	COUNTER_FIRST,
	COUNTER_LAST,
};
static const struct sql_column counter_columns[] = {
	[COUNTER_LANE] = {"lane_id", SQL_ROW,
			  .description = "lanes.id; counter.lane_id has its values"},
	[COUNTER_NAME] = {"name", SQL_TEXT, .description = "the counter's name"},
	[COUNTER_UNIT] = {"unit", SQL_TEXT, .description = "its unit"},
	[COUNTER_PID] = {"pid", SQL_NUMBER, .description = "the id of the process"},
	[COUNTER_DEVICE] = {"device", SQL_NUMBER, .description = "the number of the device"},
	[COUNTER_RANK] = {"rank", SQL_NUMBER, .description = "the rank of the process in its job"},
	[COUNTER_COUNT] = {"count", SQL_NUMBER, .description = "how many values were recorded"},
	[COUNTER_START] = {"start", SQL_TIME, .description = "the time of the first value"},
	[COUNTER_END] = {"end", SQL_TIME, .description = "the time of the last value"},
	[COUNTER_MIN] = {"min", SQL_NUMBER, .description = "the smallest value",
			 .is_untyped = true},
	[COUNTER_MAX] = {"max", SQL_NUMBER, .description = "the largest value", .is_untyped = true},
	[COUNTER_MEAN] = {"mean", SQL_REAL,
			  .description = "the mean of the values, however long each lasts"},
	[COUNTER_FIRST] = {"first", SQL_NUMBER, .description = "the first value",
			   .is_untyped = true},
	[COUNTER_LAST] = {"last", SQL_NUMBER, .description = "the last value", .is_untyped = true},
};

static double cell_as_real(struct hwy_cell cell)
{
	return cell.type == HWY_CELL_REAL ? cell.real : (double)cell.number;
}

static struct sql_counter count_strip(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	struct sql_counter counter = {.lane = strip->lane, .count = strip->rows};
	counter.start = hwy_get(strip, HWY_START, 0);
	counter.end = hwy_get(strip, HWY_START, strip->rows - 1);
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct hwy_cell cell =
			hwy_column_cell(trace, strip, HWY_VALUE, hwy_get(strip, HWY_VALUE, row), 0);
		double value = cell_as_real(cell);
		counter.sum += value;
		if (row == 0)
			counter.least = counter.most = counter.first = cell;
		if (value < cell_as_real(counter.least))
			counter.least = cell;
		if (value > cell_as_real(counter.most))
			counter.most = cell;
		counter.last = cell;
	}
	return counter;
}

static bool counters_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	const struct hwy_trace *trace = source->trace;
	uint32_t cap = 0;
	if (!hwy_need(source->trace, HWY_KIND_BIT(HWY_COUNTER),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_VALUE), err))
		return false;
	source->n_counters = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_COUNTER && trace->strips[s].rows) {
			HWY_GROW(source->counters, source->n_counters, cap);
			source->counters[source->n_counters++] =
				count_strip(trace, &trace->strips[s]);
		}
	*rows = source->n_counters;
	return true;
}

static struct hwy_cell counter_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_trace *trace = source->trace;
	const struct sql_counter *counter = &source->counters[row];
	switch (column) {
	case COUNTER_LANE: return sql_int(counter->lane);
	case COUNTER_NAME: return lane_fact(trace, counter->lane, LANE_DOMAIN);
	case COUNTER_UNIT: return sql_text(hwy_text(trace, trace->lanes[counter->lane].unit));
	case COUNTER_PID: return lane_fact(trace, counter->lane, LANE_PID);
	case COUNTER_DEVICE: return lane_fact(trace, counter->lane, LANE_DEVICE);
	case COUNTER_RANK: return lane_fact(trace, counter->lane, LANE_RANK);
	case COUNTER_COUNT: return sql_int(counter->count);
	case COUNTER_START: return sql_int(counter->start);
	case COUNTER_END: return sql_int(counter->end);
	case COUNTER_MIN: return counter->least;
	case COUNTER_MAX: return counter->most;
	case COUNTER_MEAN: return sql_real(counter->sum / (double)counter->count);
	case COUNTER_FIRST: return counter->first;
	case COUNTER_LAST: return counter->last;
	default: return sql_none();
	}
}

const struct sql_table table_counters = {.name = "counters",
					 .about = "counters, with the sums of their values",
					 SQL_COLUMNS(counter_columns),
					 .make = counters_make,
					 .cell = counter_cell};

/* ---- ranks ----------------------------------------------------------------------------------- */

struct sql_rank {
	int64_t rank, host, world;
	int64_t processes, spans, start, end;
};
enum { RANK_RANK, RANK_WORLD, RANK_HOST, RANK_PROCESSES, RANK_SPANS, RANK_START, RANK_END };
static const struct sql_column rank_columns[] = {
	[RANK_RANK] = {"rank", SQL_NUMBER, .description = "the rank"},
	[RANK_WORLD] = {"world", SQL_NUMBER, .description = "how many ranks the job has"},
	[RANK_HOST] = {"host", SQL_TEXT, .description = "the name of its host"},
	[RANK_PROCESSES] = {"processes", SQL_NUMBER, .description = "how many processes it has"},
	[RANK_SPANS] = {"spans", SQL_NUMBER, .description = "how many spans were recorded of it"},
	[RANK_START] = {"start", SQL_TIME, .description = "when its first span begins"},
	[RANK_END] = {"end", SQL_TIME, .description = "when its last span ends"},
};

static int compare_rank_rows(const void *left, const void *right)
{
	const struct sql_rank *a = left, *b = right;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static struct sql_rank *rank_of(struct sql_source *source, int64_t rank)
{
	for (uint32_t i = 0; i < source->n_ranks; i++)
		if (source->ranks[i].rank == rank)
			return &source->ranks[i];
	return NULL;
}

static void add_rank_strip(struct sql_rank *rank, const struct hwy_strip *strip)
{
	int64_t start = hwy_get(strip, HWY_START, 0);
	rank->start = rank->spans && rank->start < start ? rank->start : start;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t end = hwy_end(strip, row);
		rank->end = (row || rank->spans) && rank->end > end ? rank->end : end;
	}
	rank->spans += strip->rows;
}

static bool ranks_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	const struct hwy_trace *trace = source->trace;
	uint32_t cap = 0;
	if (!hwy_need(source->trace, HWY_KIND_BIT(HWY_KINDS) - 1,
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err))
		return false;
	source->n_ranks = 0;
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		const struct hwy_process *process = &trace->processes[p];
		struct sql_rank *rank = rank_of(source, process->rank);
		if (process->rank == HWY_NONE)
			continue;
		if (!rank) {
			HWY_GROW(source->ranks, source->n_ranks, cap);
			rank = &source->ranks[source->n_ranks++];
			*rank = (struct sql_rank){
				process->rank, process->host, process->world, 0, 0, 0, 0};
		}
		rank->processes++;
	}
	if (source->n_ranks)
		qsort(source->ranks, source->n_ranks, sizeof *source->ranks, compare_rank_rows);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		struct hwy_cell of = lane_fact(trace, trace->strips[s].lane, LANE_RANK);
		if (of.type == HWY_CELL_INT && trace->strips[s].rows)
			add_rank_strip(rank_of(source, of.number), &trace->strips[s]);
	}
	*rows = source->n_ranks;
	return true;
}

static struct hwy_cell rank_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_trace *trace = source->trace;
	const struct sql_rank *rank = &source->ranks[row];
	switch (column) {
	case RANK_RANK: return sql_int(rank->rank);
	case RANK_WORLD: return sql_known(rank->world);
	case RANK_HOST:
		return rank->host >= 0 && rank->host < trace->n_hosts
			       ? sql_text(hwy_text(trace, trace->hosts[rank->host].name))
			       : sql_none();
	case RANK_PROCESSES: return sql_int(rank->processes);
	case RANK_SPANS: return sql_int(rank->spans);
	case RANK_START: return rank->spans ? sql_int(rank->start) : sql_none();
	case RANK_END: return rank->spans ? sql_int(rank->end) : sql_none();
	default: return sql_none();
	}
}

const struct sql_table table_ranks = {.name = "ranks",
				      .about = "the ranks of a job",
				      SQL_COLUMNS(rank_columns),
				      .make = ranks_make,
				      .cell = rank_cell};
