/* SPDX-License-Identifier: Apache-2.0 */
/* wait_state_tables.c - what the ranks of a job lose to each other: by state, rank, culprit,
 * call and place (analyze/wait_states.h). The ranks are the processes of a merged job that have
 * messages, on one clock. */
#include <stdlib.h>

#include "analyze/place.h"
#include "analyze/wait_states.h"
#include "base/index.h"
#include "stats/families.h"

struct state_line {
	struct state_key {
		int64_t rank, culprit; /* numbers in the job */
		int64_t name;          /* of the call; id of a text of the trace */
		int64_t place;         /* id of a text in state_lines.texts */
		int64_t kind;          /* enum wait_state_kind */
	} key;
	int64_t count, total, longest; /* ns */
};

struct state_lines {
	struct report_run *run;
	const struct collectives_rank *ranks;
	struct hwy_places *places;
	struct hwy_strings texts;
	struct hwy_index by_key;
	struct state_line *lines;
	uint32_t n, cap;
};

static int64_t number_of_rank(const struct state_lines *lines, uint32_t rank)
{
	uint32_t process = lines->ranks[rank].process;
	int64_t number = lines->run->trace->processes[process].rank;
	return number == HWY_NONE ? process : number;
}

static void add_state(struct state_lines *lines, const struct wait_state *state)
{
	const struct hwy_trace *trace = lines->run->trace;
	struct state_key key = {.rank = number_of_rank(lines, state->rank),
				.culprit = number_of_rank(lines, state->culprit),
				.place = hwy_intern_z(&lines->texts, ""),
				.kind = state->kind};
	if (state->span != HWY_NONE) {
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)state->span, &row);
		if (!report_keeps(lines->run, strip, row))
			return;
		key.name = hwy_get(strip, HWY_NAME, row);
		struct hwy_text place = place_line(lines->places, (uint32_t)state->span);
		key.place = hwy_intern(&lines->texts, place.at, place.length);
	}
	bool fresh;
	uint32_t *at = hwy_index_put_element(&lines->by_key, lines->lines, sizeof *lines->lines,
					     &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(lines->lines, lines->n, lines->cap);
		*at = lines->n;
		lines->lines[lines->n++] = (struct state_line){.key = key};
	}
	struct state_line *line = &lines->lines[*at];
	int64_t lost = state->at.to - state->at.from;
	line->count++;
	hwy_add_saturating(&line->total, lost);
	line->longest = lost > line->longest ? lost : line->longest;
}

static int by_lost_time(const void *left, const void *right)
{
	const struct state_line *a = left, *b = right;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return memcmp(&a->key, &b->key, sizeof a->key);
}

static void yield_states(struct state_lines *lines)
{
	int64_t total = 0;
	for (uint32_t i = 0; i < lines->n; i++)
		hwy_add_saturating(&total, lines->lines[i].total);
	if (lines->n > 0)
		qsort(lines->lines, lines->n, sizeof *lines->lines, by_lost_time);
	for (uint32_t i = 0; i < lines->n; i++) {
		const struct state_line *line = &lines->lines[i];
		struct stats_cell cells[] = {
			cell_share(line->total, total),
			cell_number(line->total),
			cell_number(line->count),
			cell_real((double)line->total / (double)line->count),
			cell_number(line->longest),
			cell_from_textz(wait_state_names[line->key.kind]),
			cell_number(line->key.rank),
			cell_number(line->key.culprit),
			cell_from_text(hwy_text(lines->run->trace, line->key.name)),
			cell_from_text(lines->texts.texts[line->key.place]),
		};
		report_row(lines->run, cells);
	}
}

/* The processes that have messages, to be freed. */
static struct collectives_rank *communicating_ranks(struct hwy_trace *trace, uint32_t *n)
{
	struct collectives_rank *ranks = hwy_array(trace->n_processes, sizeof *ranks);
	uint8_t *has_messages = hwy_zarray(trace->n_processes, sizeof *has_messages);
	for (uint32_t i = 0; i < trace->n_messages; i++)
		if (trace->messages[i].process >= 0 &&
		    trace->messages[i].process < trace->n_processes)
			has_messages[trace->messages[i].process] = 1;
	*n = 0;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (has_messages[p])
			ranks[(*n)++] = (struct collectives_rank){
				.process = p, .trace = trace, .clock = &exchange_same_clock};
	free(has_messages);
	return ranks;
}

bool make_wait_state_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Time", STATS_PERCENT},  {"Total Time", STATS_TIME}, {"Instances", STATS_COUNT},
		{"Avg", STATS_TIME_MEAN}, {"Max", STATS_TIME},        {"State", STATS_TEXT},
		{"Rank", STATS_COUNT},    {"Waits For", STATS_COUNT}, {"Name", STATS_TEXT},
		{"Place", STATS_TEXT}};
	uint32_t n;
	struct hwy_wait_states found = {0};
	struct state_lines lines = {.run = run, .ranks = communicating_ranks(run->trace, &n)};
	hwy_strings_init(&lines.texts);
	lines.places = places_open(run->trace, err);
	bool ok = lines.places &&
		  hwy_need(run->trace,
			   HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_KERNEL) |
				   HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP),
			   filter_columns(&run->filter) | HWY_COL_BIT(HWY_NAME), err) &&
		  (n < 2 || wait_states_find(&found, lines.ranks, n, err));
	if (ok) {
		report_columns(run, columns, STATS_LENGTH(columns));
		for (uint32_t i = 0; i < found.n; i++)
			add_state(&lines, &found.states[i]);
		yield_states(&lines);
	}
	wait_states_free(&found);
	places_close(lines.places);
	hwy_index_free(&lines.by_key);
	hwy_strings_free(&lines.texts);
	free(lines.lines);
	free((void *)lines.ranks);
	return ok;
}
