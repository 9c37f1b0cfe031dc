/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - see tally.h. */
#include "stats/tally.h"

#include <stdlib.h>

#include "base/ref.h"

uint32_t tally_group(struct tally *tally, uint64_t key)
{
	bool fresh;
	uint32_t *group = hwy_map_put(&tally->groups, key, &fresh);
	if (fresh) {
		*group = tally->n_keys;
		HWY_GROW(tally->keys, tally->n_keys, tally->cap_keys);
		tally->keys[tally->n_keys++] = key;
	}
	return *group;
}

void tally_by_name(struct tally *tally, const struct hwy_strip *strip, uint32_t first, uint32_t n,
		   uint32_t category, uint32_t *groups)
{
	uint32_t n_texts = tally->run->trace->strings.n;
	if (!tally->by_name[category])
		tally->by_name[category] = hwy_zarray(n_texts, sizeof(uint32_t));
	uint32_t *by_name = tally->by_name[category];
	report_read_rows(strip, HWY_NAME, first, n, tally->rows);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t name = (uint64_t)tally->rows[i];
		name = name < n_texts ? name : 0;
		if (by_name[name] == 0)
			by_name[name] =
				hwy_ref32(tally_group(tally, (uint64_t)category << 32 | name));
		groups[i] = hwy_ref32_index(by_name[name]);
	}
}

void tally_by_direction(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			uint32_t n, uint32_t category, uint32_t *groups)
{
	/* For each direction a reference to its group. */
	uint32_t by_direction[TALLY_FILLS + 1] = {0};
	if (strip->kind == HWY_COPY)
		report_read_rows(strip, HWY_DIRECTION, first, n, tally->rows);
	for (uint32_t i = 0; i < n; i++) {
		int64_t key = strip->kind == HWY_COPY ? tally->rows[i] : TALLY_FILLS;
		key = key >= 0 && key <= TALLY_FILLS ? key : HWY_DIR_UNKNOWN;
		if (by_direction[key] == 0)
			by_direction[key] = hwy_ref32(
				tally_group(tally, (uint64_t)category << 32 | (uint64_t)key));
		groups[i] = hwy_ref32_index(by_direction[key]);
	}
}

/* Finds the group of each row of a chunk; TALLY_SKIP for rows that the filter drops. */
static void tally_groups_of(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			    uint32_t n, uint32_t *groups)
{
	const struct filter *filter = &tally->run->filter;
	tally->plan->group(tally, strip, first, n, groups);
	if (!filter_is_on(filter))
		return;
	for (uint32_t i = 0; i < n; i++)
		if (!filter_keeps(filter, tally->run->trace, strip, first + i))
			groups[i] = TALLY_SKIP;
}

static void count_chunk(struct tally *tally, const struct hwy_strip *strip, uint32_t n,
			const uint32_t *groups, uint32_t first)
{
	(void)strip;
	(void)first;
	for (uint32_t i = 0; i < n; i++)
		if (groups[i] != TALLY_SKIP)
			sums_expect(&tally->sums, groups[i], 1);
}

static void put_chunk(struct tally *tally, const struct hwy_strip *strip, uint32_t n,
		      const uint32_t *groups, uint32_t first)
{
	report_read_rows(strip, tally->plan->value, first, n, tally->rows);
	for (uint32_t i = 0; i < n; i++)
		if (groups[i] != TALLY_SKIP)
			sums_put(&tally->sums, groups[i], tally->rows[i]);
}

static void each_chunk(struct tally *tally, void (*visit)(struct tally *, const struct hwy_strip *,
							  uint32_t, const uint32_t *, uint32_t))
{
	static const uint32_t step = HWY_CHUNK_ROWS;
	const struct hwy_trace *trace = tally->run->trace;
	uint32_t *groups = hwy_array(step, sizeof *groups);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(tally->plan->kinds & HWY_KIND_BIT(strip->kind)))
			continue;
		for (uint32_t first = 0; first < strip->rows; first += step) {
			uint32_t n = strip->rows - first < step ? strip->rows - first : step;
			tally_groups_of(tally, strip, first, n, groups);
			visit(tally, strip, n, groups, first);
		}
	}
	free(groups);
}

struct line { /* a group on its way to becoming a row of the report */
	struct sums_result sums;
	struct hwy_text names[TALLY_NAMES];
};

static int tally_by_total(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->sums.total != b->sums.total)
		return a->sums.total < b->sums.total ? 1 : -1;
	for (unsigned i = 0; i < TALLY_NAMES; i++) {
		int order = a->names[i].at && b->names[i].at
				    ? strcmp(a->names[i].at, b->names[i].at)
				    : 0;
		if (order)
			return order;
	}
	return 0;
}

static void tally_yield(const struct tally *tally, const struct line *line, int64_t total)
{
	const struct sums_result *sums = &line->sums;
	bool sized = tally->plan->value == HWY_BYTES;
	struct stats_cell cells[8 + TALLY_NAMES];
	uint32_t n = 0;
	if (!sized)
		cells[n++] = cell_share(sums->total, total);
	cells[n++] = cell_number(sums->total);
	cells[n++] = cell_number(sums->count);
	cells[n++] = cell_real(sums->mean);
	cells[n++] = cell_real(sums->median);
	cells[n++] = cell_number(sums->min);
	cells[n++] = cell_number(sums->max);
	cells[n++] = cell_real(sums->deviation);
	for (uint32_t i = 0; n < tally->plan->n_columns; i++)
		cells[n++] = cell_from_text(line->names[i]);
	report_row(tally->run, cells);
}

static void tally_yield_all(struct tally *tally)
{
	struct line *lines = hwy_zarray(tally->sums.n, sizeof *lines);
	uint32_t n = 0;
	int64_t total = 0;
	for (uint32_t g = 0; g < tally->sums.n; g++) {
		lines[n].sums = sums_get(&tally->sums, g);
		if (lines[n].sums.count == 0)
			continue;
		tally->plan->names(tally, tally->keys[g], lines[n].names);
		hwy_add_saturating(&total, lines[n++].sums.total);
	}
	qsort(lines, n, sizeof *lines, tally_by_total);
	for (uint32_t i = 0; i < n; i++)
		tally_yield(tally, &lines[i], total);
	free(lines);
}

bool tally_make(struct report_run *run, const struct tally_plan *plan, struct hwy_err *err)
{
	if (!hwy_need(run->trace, plan->kinds,
		      plan->needs | HWY_COL_BIT(plan->value) | filter_columns(&run->filter), err))
		return false;
	struct tally *tally = hwy_zalloc(sizeof *tally);
	tally->run = run;
	tally->plan = plan;
	hwy_strings_init(&tally->texts);
	report_columns(run, plan->columns, plan->n_columns);
	each_chunk(tally, count_chunk);
	sums_open(&tally->sums);
	each_chunk(tally, put_chunk);
	tally_yield_all(tally);
	for (unsigned c = 0; c < TALLY_CATEGORIES; c++)
		free(tally->by_name[c]);
	sums_free(&tally->sums);
	hwy_map_free(&tally->groups);
	hwy_strings_free(&tally->texts);
	free(tally->keys);
	free(tally->interned);
	free(tally->buffer.at);
	free(tally);
	return true;
}
