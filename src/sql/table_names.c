/* SPDX-License-Identifier: Apache-2.0 */
/* table_names.c - spans added up by kind and name, once, for all queries: `names`, and `kernels`
 * for the kernels among them. A query for the sums of a large recording is answered without
 * looking at its spans again. */
#include "sql/sql_tables.h"

#include <stdlib.h>

struct sql_tally {
	uint32_t kind, name;
	uint64_t count;
	int64_t total, least, most;
};

enum {
	NAME_KIND,
	NAME_NAME,
	NAME_CLASS,
	NAME_COUNT,
	NAME_TOTAL,
	NAME_MEAN,
	NAME_MIN,
	NAME_MAX,
	NAME_SHARE,
};
static const char *const tally_classes[HWY_CLASSES] = {"compute", "comm", "memory"};
static const struct sql_column name_columns[] = {
	[NAME_KIND] = {"kind", SQL_TEXT, .description = "the kind of the spans"},
	[NAME_NAME] = {"name", SQL_TEXT, .description = "their name"},
	[NAME_CLASS] = {"class", SQL_TEXT,
			.description = "of device work: compute, comm or memory"},
	[NAME_COUNT] = {"count", SQL_NUMBER, .description = "how many spans"},
	[NAME_TOTAL] = {"total", SQL_DURATION, .description = "their durations added up"},
	[NAME_MEAN] = {"mean", SQL_REAL, .description = "ns: total / count"},
	[NAME_MIN] = {"min", SQL_DURATION, .description = "the shortest"},
	[NAME_MAX] = {"max", SQL_DURATION, .description = "the longest"},
	[NAME_SHARE] = {"share", SQL_REAL,
			.description = "total as a share of that of all spans of the kind, 0 … 1"},
};

/* Adds, or stays at the largest number: damaged recordings have times of any length. */
static int64_t add_length(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void tally_strip(const struct hwy_strip *strip, uint32_t *places, struct sql_source *source,
			uint32_t *cap)
{
	struct hwy_reader names = column_reader(strip->columns[HWY_NAME]);
	struct hwy_reader lengths = column_reader(strip->columns[HWY_DUR]);
	for (uint32_t row = 0; row < strip->rows; row++) {
		uint32_t name = (uint32_t)reader_get(&names, row);
		int64_t length = reader_get(&lengths, row);
		if (!places[name]) {
			HWY_GROW(source->tallies, source->n_tallies, *cap);
			source->tallies[source->n_tallies++] =
				(struct sql_tally){strip->kind, name, 0, 0, length, length};
			places[name] = source->n_tallies;
		}
		struct sql_tally *tally = &source->tallies[places[name] - 1];
		tally->count++;
		tally->total = add_length(tally->total, length);
		tally->least = length < tally->least ? length : tally->least;
		tally->most = length > tally->most ? length : tally->most;
	}
}

static int compare_tallies(const void *left, const void *right)
{
	const struct sql_tally *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static bool names_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	struct hwy_trace *trace = source->trace;
	uint32_t cap = 0, kinds = HWY_KIND_BIT(HWY_KINDS) - 1;
	*rows = source->n_tallies;
	if (source->tallies)
		return true;
	if (!hwy_need(trace, kinds, HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_DUR), err))
		return false;
	for (uint32_t kind = 0; kind < HWY_KINDS; kind++) {
		uint32_t *places = hwy_zarray(trace->strings.n, sizeof *places);
		for (uint32_t s = 0; s < trace->n_strips; s++)
			if (trace->strips[s].kind == kind && kind != HWY_COUNTER)
				tally_strip(&trace->strips[s], places, source, &cap);
		free(places);
	}
	if (source->n_tallies)
		qsort(source->tallies, source->n_tallies, sizeof *source->tallies, compare_tallies);
	else
		source->tallies = hwy_alloc(sizeof *source->tallies);
	*rows = source->n_tallies;
	return true;
}

static double tally_share(const struct sql_source *source, const struct sql_tally *tally)
{
	double whole = 0;
	for (uint32_t i = 0; i < source->n_tallies; i++)
		whole += source->tallies[i].kind == tally->kind ? (double)source->tallies[i].total
								: 0;
	return whole > 0 ? (double)tally->total / whole : 0;
}

static struct hwy_cell name_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct sql_tally *tally = &source->tallies[row];
	enum hwy_kind kind = (enum hwy_kind)tally->kind;
	switch (column) {
	case NAME_KIND: return sql_textz(hwy_kind_names[kind]);
	case NAME_NAME: return sql_text(hwy_text(source->trace, tally->name));
	case NAME_CLASS:
		return HWY_KIND_BIT(kind) & HWY_DEVICE_KINDS
			       ? sql_textz(
					 tally_classes[hwy_class(source->trace, kind, tally->name)])
			       : sql_none();
	case NAME_COUNT: return sql_int((int64_t)tally->count);
	case NAME_TOTAL: return sql_int(tally->total);
	case NAME_MEAN: return sql_real((double)tally->total / (double)tally->count);
	case NAME_MIN: return sql_int(tally->least);
	case NAME_MAX: return sql_int(tally->most);
	case NAME_SHARE: return sql_real(tally_share(source, tally));
	default: return sql_none();
	}
}

const struct sql_table table_names = {.name = "names",
				      .about = "spans added up by kind and name, but for counters",
				      SQL_COLUMNS(name_columns),
				      .make = names_make,
				      .cell = name_cell};

/* The tallies of kernels stand together: by kind, then by total. */
static bool kernels_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	if (!names_make(source, rows, err))
		return false;
	*rows = source->first_kernel = 0;
	for (uint32_t i = source->n_tallies; i-- > 0;)
		if (source->tallies[i].kind == HWY_KERNEL) {
			source->first_kernel = i;
			++*rows;
		}
	return true;
}

static struct hwy_cell kernel_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	return name_cell(source, source->first_kernel + row, column + NAME_NAME);
}

const struct sql_table table_kernels = {
	.name = "kernels",
	.about = "kernels added up by name, the one with most time first",
	.columns = &name_columns[NAME_NAME],
	.n_columns = sizeof name_columns / sizeof *name_columns - NAME_NAME,
	.make = kernels_make,
	.cell = kernel_cell};
