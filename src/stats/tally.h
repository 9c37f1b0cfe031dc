/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - the plain summaries: spans of some kinds, grouped by a name, with the sums of each
 * group.
 *
 * A plan says which spans count, what groups them and what the groups are called; the rest (two
 * rounds over the columns, filters, order, shares) is the same for all.
 */
#ifndef HWY_STATS_TALLY_H
#define HWY_STATS_TALLY_H

#include "base/hash.h"
#include "stats/nsys_labels.h"
#include "stats/report_run.h"
#include "stats/sums.h"

enum { TALLY_SKIP = UINT32_MAX, TALLY_NAMES = 3, TALLY_CATEGORIES = 4 };

struct tally;
struct tally_plan {
	/* The names of the columns: eight numbers (seven where BYTES are summed), then the names
	 * of the group. */
	const struct stats_column *columns;
	uint32_t n_columns;
	uint32_t kinds;
	uint64_t needs; /* bits of the trace's columns that 'group' reads */
	/* The column that is summed: DUR, or BYTES, whose report has no column for the share. */
	enum hwy_col value;
	/* Sets the group of each of n rows (in one chunk), or TALLY_SKIP. Called twice for each
	 * chunk: the groups must be the same both times. */
	void (*group)(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
		      uint32_t n, uint32_t *groups);
	/* Yields the texts of a group, in the order of the columns. Rows with equal totals are
	 * sorted by these texts. */
	void (*names)(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES]);
};

struct tally {
	struct report_run *run;
	const struct tally_plan *plan;
	struct sums sums;
	struct hwy_map groups; /* maps a key to its group */
	uint64_t *keys;        /* for each group its key */
	uint32_t n_keys, cap_keys;
	uint32_t *by_name[TALLY_CATEGORIES]; /* for each text of a name a reference to its group */
	struct hwy_strings texts; /* texts that a plan has made and that are not in the trace */
	struct text_buffer buffer;
	/* References that a plan keeps for each text or shape; NULL until the plan needs them. */
	uint32_t *interned;
	int64_t rows[HWY_CHUNK_ROWS];
};

bool tally_make(struct report_run *run, const struct tally_plan *plan, struct hwy_err *err);

/* For plans: tally_group is the number of the group with this key. tally_by_name groups rows by
 * their name (key: category << 32 | name), tally_by_direction copies and fills by their
 * direction (key: category << 32 | direction; a fill has the direction TALLY_FILLS). */
enum { TALLY_FILLS = HWY_DIRECTIONS };
uint32_t tally_group(struct tally *tally, uint64_t key);
void tally_by_direction(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
			uint32_t n, uint32_t category, uint32_t *groups);
void tally_by_name(struct tally *tally, const struct hwy_strip *strip, uint32_t first, uint32_t n,
		   uint32_t category, uint32_t *groups);

static inline void tally_skip(uint32_t n, uint32_t *groups)
{
	for (uint32_t i = 0; i < n; i++)
		groups[i] = TALLY_SKIP;
}

/* The columns that all summaries of times begin with. */
#define TALLY_TIMES(count)                                                                         \
	{"Time", STATS_PERCENT}, {"Total Time", STATS_TIME}, {count, STATS_COUNT},                 \
		{"Avg", STATS_TIME_MEAN}, {"Med", STATS_TIME_MEAN}, {"Min", STATS_TIME},           \
		{"Max", STATS_TIME},                                                               \
	{                                                                                          \
		"StdDev", STATS_TIME_MEAN                                                          \
	}

#endif
