/* SPDX-License-Identifier: Apache-2.0 */
/* pyramid.c - see pyramid.h.
 *
 * Every number of a bucket can be merged (sums, maxima, sums of newly covered time), so a level
 * made from a lower one equals the one made from spans; pyramid_test.c holds it to that.
 */
#include "trace/pyramid.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"

enum {
	FEW_SPANS = 256,     /* a lane of so many spans or fewer has no pyramid */
	SPANS_A_BUCKET = 32, /* the lowest kept level has at most 32 spans a bucket, on average */
	FEW_BUCKETS = 64,    /* no level is kept above a level of so few buckets */
	STEP = 2,            /* every second level is kept */
	HIGHEST = 61,        /* this level has one bucket before time 0 and one after */
	REACH_ROWS = 64,     /* rows of a level that share one entry of file_level.reach */
	ALL_KINDS = (1 << HWY_KINDS) - 1,
};
/* The columns that a level has in the file. */
enum { COL_INDEX, COL_COUNT, COL_END, COL_LONGEST, COL_LONGEST_DUR, COL_BUSY };
_Static_assert(COL_BUSY + HWY_BUSY_CLASSES == PYRAMID_COLUMNS, "columns of a level");

/* ---- buckets --------------------------------------------------------------------------------- */

static void merge_into(struct hwy_bucket *to, const struct hwy_bucket *from)
{
	if (from->longest_dur > to->longest_dur) {
		to->longest_dur = from->longest_dur;
		to->longest = from->longest;
	}
	to->end = from->end > to->end ? from->end : to->end;
	to->count += from->count;
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		/* The sum is unsigned, because a damaged report may overflow it; the result is then
		 * wrong but defined. */
		to->busy[c] = (int64_t)((uint64_t)to->busy[c] + (uint64_t)from->busy[c]);
}

/* Adds a bucket after all buckets of 'out', or merges it with the last bucket where both have the
 * same index. */
static void add_bucket(struct hwy_buckets *out, const struct hwy_bucket *bucket)
{
	if (out->n && out->v[out->n - 1].index == bucket->index) {
		merge_into(&out->v[out->n - 1], bucket);
		return;
	}
	HWY_GROW(out->v, out->n, out->cap);
	out->v[out->n++] = *bucket;
}

static void buckets_of_spans(struct hwy_trace *trace, uint32_t lane, unsigned level,
			     struct hwy_buckets *out)
{
	/* By class: the time up to which spans of the class cover the lane. */
	int64_t covered[HWY_BUSY_CLASSES];
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		covered[c] = INT64_MIN;
	struct hwy_walk walk = hwy_walk(trace, lane, ALL_KINDS);
	while (hwy_walk_next(&walk)) {
		enum hwy_kind kind = walk.strip->kind;
		int64_t start = hwy_get(walk.strip, HWY_START, walk.row);
		int64_t dur = hwy_get(walk.strip, HWY_DUR, walk.row), end = start + dur;
		unsigned class = HWY_BUSY_OTHER;
		if (HWY_KIND_BIT(kind) & HWY_DEVICE_KINDS)
			class = hwy_class(trace, kind, hwy_get(walk.strip, HWY_NAME, walk.row));
		struct hwy_bucket bucket = {
			.index = start >> level,
			.count = 1,
			.longest = walk.strip->first + walk.row,
			.longest_dur = dur,
			.end = end,
		};
		int64_t from = start > covered[class] ? start : covered[class];
		if (end > from) {
			bucket.busy[class] = end - from;
			covered[class] = end;
		}
		add_bucket(out, &bucket);
	}
}

static struct hwy_buckets raise(const struct hwy_buckets *low, unsigned by)
{
	struct hwy_buckets high = {0};
	for (uint32_t i = 0; i < low->n; i++) {
		struct hwy_bucket bucket = low->v[i];
		bucket.index >>= by;
		add_bucket(&high, &bucket);
	}
	return high;
}

/* ---- building -------------------------------------------------------------------------------- */

/* The highest level at which the buckets in use still hold SPANS_A_BUCKET spans or fewer on
 * average. Two neighbouring starts are in different buckets of all levels up to their highest
 * differing bit. */
static unsigned leaf_level(const struct hwy_trace *trace, uint32_t lane, uint64_t spans)
{
	uint64_t apart[64] = {0}, buckets = 1;
	struct hwy_walk walk = hwy_walk(trace, lane, ALL_KINDS);
	int64_t before = 0;
	for (bool first = true; hwy_walk_next(&walk); first = false) {
		int64_t start = hwy_get(walk.strip, HWY_START, walk.row);
		if (!first && start != before)
			apart[63 - __builtin_clzll((uint64_t)(start ^ before))]++;
		before = start;
	}
	for (unsigned level = 63; level > 0; level--) {
		buckets += apart[level];
		if (level <= HIGHEST && spans <= buckets * SPANS_A_BUCKET)
			return level;
	}
	return 0;
}

static void pyramid_put(struct hwy_column **column, uint32_t row, int64_t value)
{
	if (value == 0)
		return;
	if (!*column)
		*column = hwy_zalloc(sizeof **column);
	column_append(*column, row, value);
}

static int64_t bucket_start(const struct hwy_bucket *bucket, unsigned level)
{
	return (int64_t)((uint64_t)bucket->index << level);
}

static struct file_level level_of(uint32_t lane, unsigned level, const struct hwy_buckets *buckets)
{
	struct file_level out = {.lane = lane, .level = level, .rows = buckets->n};
	for (uint32_t row = 0; row < buckets->n; row++) {
		const struct hwy_bucket *bucket = &buckets->v[row];
		pyramid_put(&out.columns[COL_INDEX], row, bucket->index);
		pyramid_put(&out.columns[COL_COUNT], row, bucket->count);
		pyramid_put(&out.columns[COL_END], row, bucket->end - bucket_start(bucket, level));
		pyramid_put(&out.columns[COL_LONGEST], row, bucket->longest);
		pyramid_put(&out.columns[COL_LONGEST_DUR], row, bucket->longest_dur);
		for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
			pyramid_put(&out.columns[COL_BUSY + c], row, bucket->busy[c]);
	}
	for (unsigned c = 0; c < PYRAMID_COLUMNS; c++)
		if (out.columns[c])
			column_finish(out.columns[c], buckets->n);
	return out;
}

struct hwy_pyramid *pyramid_build(struct hwy_trace *trace, uint32_t lane)
{
	uint64_t spans = 0;
	for (unsigned kind = 0; kind < HWY_KINDS; kind++) {
		const struct hwy_strip *strip = hwy_strip_on(trace, lane, kind);
		spans += strip ? strip->rows : 0;
	}
	if (spans <= FEW_SPANS)
		return NULL;
	struct hwy_pyramid *pyramid = hwy_zalloc(sizeof *pyramid);
	unsigned level = leaf_level(trace, lane, spans);
	struct hwy_buckets buckets = {0};
	buckets_of_spans(trace, lane, level, &buckets);
	for (;;) {
		HWY_GROW(pyramid->levels, pyramid->n_levels, pyramid->cap_levels);
		pyramid->levels[pyramid->n_levels++] = level_of(lane, level, &buckets);
		if (buckets.n <= FEW_BUCKETS || level + STEP > HIGHEST)
			break;
		struct hwy_buckets higher = raise(&buckets, STEP);
		free(buckets.v);
		buckets = higher;
		level += STEP;
	}
	free(buckets.v);
	return pyramid;
}

void pyramid_free(struct hwy_pyramid *pyramid)
{
	if (!pyramid)
		return;
	for (uint32_t i = 0; i < pyramid->n_levels; i++)
		for (unsigned c = 0; c < PYRAMID_COLUMNS; c++)
			column_free(pyramid->levels[i].columns[c]);
	free(pyramid->levels);
	free(pyramid);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Yields the highest stored level of a lane that is not above 'level', or NULL. */
static struct file_level *stored_level(const struct hwy_trace *trace, uint32_t lane, unsigned level)
{
	struct file_level *best = NULL;
	for (uint32_t i = 0; trace->file && i < trace->file->n_levels; i++) {
		struct file_level *have = &trace->file->levels[i];
		if (have->lane == lane && have->level <= level &&
		    (!best || have->level > best->level))
			best = have;
	}
	return best;
}

int hwy_pyramid_leaf(const struct hwy_trace *trace, uint32_t lane)
{
	int leaf = -1;
	for (uint32_t i = 0; trace->file && i < trace->file->n_levels; i++)
		if (trace->file->levels[i].lane == lane &&
		    (leaf < 0 || (int)trace->file->levels[i].level < leaf))
			leaf = (int)trace->file->levels[i].level;
	return leaf;
}

static int64_t value_at(const struct file_level *level, unsigned column, uint32_t row)
{
	return level->columns[column] ? column_get(level->columns[column], row) : 0;
}

/* Reads index and end of a bucket; false where a damaged file has buckets out of order or beyond
 * HWY_TIME_LIMIT. */
static bool read_extent(const struct file_level *level, uint32_t row, struct hwy_bucket *bucket)
{
	int64_t limit = HWY_TIME_LIMIT >> level->level, end = value_at(level, COL_END, row);
	*bucket = (struct hwy_bucket){.index = value_at(level, COL_INDEX, row)};
	return bucket->index >= -limit - 1 && bucket->index <= limit && end >= 0 &&
	       (row == 0 || value_at(level, COL_INDEX, row - 1) < bucket->index) &&
	       !__builtin_add_overflow(bucket_start(bucket, level->level), end, &bucket->end);
}

/* Reads the other fields of a bucket; false where a damaged file names spans that the trace does
 * not have. */
static bool read_numbers(const struct hwy_trace *trace, const struct file_level *level,
			 uint32_t row, struct hwy_bucket *bucket)
{
	int64_t count = value_at(level, COL_COUNT, row),
		longest = value_at(level, COL_LONGEST, row);
	bucket->count = (uint32_t)count;
	bucket->longest = (uint32_t)longest;
	bucket->longest_dur = value_at(level, COL_LONGEST_DUR, row);
	for (unsigned c = 0; c < HWY_BUSY_CLASSES; c++)
		bucket->busy[c] = value_at(level, COL_BUSY + c, row);
	return count > 0 && count <= trace->n_spans && longest >= 0 && longest < trace->n_spans;
}

/* Checks the rows of a level at its first use, and finds the latest end in each block of REACH_ROWS
 * rows. */
static bool check_level(struct file_level *level)
{
	uint32_t n = level->rows / REACH_ROWS + 1;
	int64_t *reach = hwy_array(n, sizeof *reach);
	bool ok = true;
	for (uint32_t i = 0; i < n; i++)
		reach[i] = INT64_MIN;
	for (uint32_t row = 0; ok && row < level->rows; row++) {
		struct hwy_bucket bucket;
		ok = read_extent(level, row, &bucket);
		if (bucket.end > reach[row / REACH_ROWS])
			reach[row / REACH_ROWS] = bucket.end;
	}
	if (ok)
		level->reach = reach;
	else
		free(reach);
	return ok;
}

/* Yields the first row that lies in or after bucket 'index' of the wanted level, which is 'by'
 * levels higher. */
static uint32_t pyramid_first_row(const struct file_level *level, unsigned by, int64_t index)
{
	return HWY_FIRST(row, 0u, level->rows, value_at(level, COL_INDEX, row) >> by >= index);
}

/* Merges the rows from *row on that lie in one bucket of the wanted level, which is 'by' levels
 * higher; *row is then the first row of the next bucket. */
static bool add_rows(const struct hwy_trace *trace, const struct file_level *level, unsigned by,
		     uint32_t *row, struct hwy_buckets *out)
{
	int64_t index = value_at(level, COL_INDEX, *row) >> by;
	for (; *row < level->rows && value_at(level, COL_INDEX, *row) >> by == index; ++*row) {
		struct hwy_bucket bucket;
		if (!read_extent(level, *row, &bucket) ||
		    !read_numbers(trace, level, *row, &bucket))
			return false;
		bucket.index >>= by;
		add_bucket(out, &bucket);
	}
	return true;
}

/* Adds buckets that begin before the window and reach into it. Blocks of rows that end before the
 * window are skipped. */
static bool add_earlier(const struct hwy_trace *trace, const struct file_level *level, unsigned by,
			int64_t from, uint32_t until, struct hwy_buckets *out)
{
	for (uint32_t row = 0; row < until;) {
		struct hwy_bucket bucket;
		if (row % REACH_ROWS == 0 && level->reach[row / REACH_ROWS] < from) {
			row += REACH_ROWS;
			continue;
		}
		if (!read_extent(level, row, &bucket))
			return false;
		if (bucket.end < from) {
			row++;
			continue;
		}
		row = pyramid_first_row(level, by, bucket.index >> by);
		if (!add_rows(trace, level, by, &row, out))
			return false;
	}
	return true;
}

static bool buckets_of_level(struct hwy_trace *trace, struct file_level *level, unsigned wanted,
			     int64_t from, int64_t to, struct hwy_buckets *out, struct hwy_err *err)
{
	unsigned by = wanted - level->level;
	if (!file_load_level(trace->file, level, err))
		return false;
	bool ok = level->reach || check_level(level);
	if (ok) {
		uint32_t row = pyramid_first_row(level, by, from >> wanted);
		ok = add_earlier(trace, level, by, from, row, out);
		while (ok && row < level->rows &&
		       bucket_start(
			       &(struct hwy_bucket){.index = value_at(level, COL_INDEX, row) >> by},
			       wanted) < to)
			ok = add_rows(trace, level, by, &row, out);
	}
	return ok ||
	       hwy_fail(err,
			"%s: the pyramid of lane %" PRIu32 " at level %" PRIu32 " makes no sense",
			trace->file->path, level->lane, level->level);
}

static bool need_lane(struct hwy_trace *trace, uint32_t lane, struct hwy_err *err)
{
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	for (enum hwy_kind kind = 0; kind < HWY_KINDS; kind++) {
		const struct hwy_strip *strip = hwy_strip_on(trace, lane, kind);
		if (strip &&
		    !hwy_need_strip(trace, (uint32_t)(strip - trace->strips), columns, err))
			return false;
	}
	return true;
}

bool hwy_pyramid_level(struct hwy_trace *trace, uint32_t lane, unsigned level, int64_t from,
		       int64_t to, struct hwy_buckets *out, struct hwy_err *err)
{
	assert(level <= HIGHEST);
	*out = (struct hwy_buckets){0};
	struct file_level *stored = stored_level(trace, lane, level);
	if (stored) {
		if (!buckets_of_level(trace, stored, level, from, to, out, err)) {
			free(out->v);
			*out = (struct hwy_buckets){0};
			return false;
		}
	} else {
		if (!need_lane(trace, lane, err))
			return false;
		buckets_of_spans(trace, lane, level, out);
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < out->n; i++)
		if (bucket_start(&out->v[i], level) < to && out->v[i].end >= from)
			out->v[kept++] = out->v[i];
	out->n = kept;
	return true;
}
