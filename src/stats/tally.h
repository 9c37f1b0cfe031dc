/* tally.h - the plain summaries: spans of some kinds, grouped by a name, with the sums of each group.
 *
 * A tally says which spans, what groups them and what the groups are called; the rest (two rounds over the
 * columns, filters, order, shares) is the same for all.
 */
#ifndef HWY_STATS_TALLY_H
#define HWY_STATS_TALLY_H

#include "base/hash.h"
#include "stats/report_run.h"
#include "stats/sums.h"

enum { TALLY_SKIP = UINT32_MAX, TALLY_NAMES = 3, TALLY_CATEGORIES = 4 };

struct tally;
struct tally_plan {
	const struct stats_column *columns; /* the eight (seven by size) numbers, then the names */
	uint32_t n_columns;
	uint32_t kinds;
	uint64_t needs;     /* columns that 'group' reads */
	enum hwy_col value; /* DUR, or BYTES: then there is no share */
	/* Sets the group of each of n rows (in one chunk), or TALLY_SKIP. Must answer the same twice. */
	void (*group)(struct tally *tally, const struct hwy_strip *strip, uint32_t first,
		      uint32_t n, uint32_t *groups);
	/* The texts of a group, in the order of the columns; ties of the total are put in this order. */
	void (*names)(struct tally *tally, uint64_t key, struct hwy_text names[TALLY_NAMES]);
};

struct tally {
	struct stats_run *run;
	const struct tally_plan *plan;
	struct sums sums;
	struct hwy_map groups; /* key -> group */
	uint64_t *keys;        /* by group */
	uint32_t n_keys, cap_keys;
	uint32_t *by_name[TALLY_CATEGORIES]; /* text id -> group + 1 */
	struct hwy_strings texts;            /* for names that are put together */
	struct word_buffer buffer;
	uint32_t *interned; /* text id -> id in 'texts' + 1, where a plan shortens names */
	int64_t rows[HWY_CHUNK_ROWS];
};

bool tally_make(struct stats_run *run, const struct tally_plan *plan, struct hwy_err *err);

/* For plans: the group of a key; of the name column, with a category above it (key: category << 32 | name); of
 * copies and fills, by the direction, which for a fill is TALLY_FILLS. */
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
