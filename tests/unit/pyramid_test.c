/* SPDX-License-Identifier: Apache-2.0 */
/* pyramid_test.c - buckets equal what a plain look at all spans gives, whichever level they come from. */
#include "make_trace.h"

#include "trace/pyramid.h"

enum { LANES = 6, SPANS = 40000, HIGHEST = 61 };

static struct hwy_trace *trace, *stored;

/* The bucket of one index, made the slow way. */
static struct hwy_bucket slow_bucket(uint32_t lane, unsigned level, int64_t index)
{
	struct hwy_bucket bucket = {.index = index, .end = INT64_MIN, .longest_dur = -1};
	int64_t covered[HWY_BUSY_CLASSES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	struct hwy_walk walk = hwy_walk(trace, lane, UINT32_MAX);
	while (hwy_walk_next(&walk)) {
		int64_t start = hwy_get(walk.strip, HWY_START, walk.row);
		int64_t dur = hwy_get(walk.strip, HWY_DUR, walk.row);
		unsigned class = HWY_BUSY_OTHER;
		if (HWY_KIND_BIT(walk.strip->kind) & HWY_DEVICE_KINDS)
			class = hwy_class(trace, walk.strip->kind,
					  hwy_get(walk.strip, HWY_NAME, walk.row));
		int64_t from = start > covered[class] ? start : covered[class];
		int64_t fresh = start + dur > from ? start + dur - from : 0;
		covered[class] = start + dur > covered[class] ? start + dur : covered[class];
		if (start >> level != index)
			continue;
		bucket.count++;
		bucket.busy[class] += fresh;
		bucket.end = start + dur > bucket.end ? start + dur : bucket.end;
		if (dur > bucket.longest_dur) {
			bucket.longest_dur = dur;
			bucket.longest = walk.strip->first + walk.row;
		}
	}
	return bucket;
}

static struct hwy_buckets level_of(struct hwy_trace *from, uint32_t lane, unsigned level)
{
	struct hwy_err err = {0};
	struct hwy_buckets buckets;
	if (!hwy_pyramid_level(from, lane, level, INT64_MIN, INT64_MAX, &buckets, &err))
		fail_msg("%s", err.text);
	return buckets;
}

static void every_level_holds_every_span_once(void **state)
{
	for (uint32_t lane = 0; lane < LANES; lane++)
		for (unsigned level = 0; level <= HIGHEST; level += 3) {
			uint64_t expected = 0, counted = 0;
			for (uint32_t s = 0; s < trace->n_strips; s++)
				expected +=
					trace->strips[s].lane == lane ? trace->strips[s].rows : 0;
			struct hwy_buckets buckets = level_of(stored, lane, level);
			for (uint32_t i = 0; i < buckets.n; i++) {
				counted += buckets.v[i].count;
				assert_true(i == 0 || buckets.v[i].index > buckets.v[i - 1].index);
			}
			assert_int_equal(counted, expected);
			free(buckets.v);
		}
}

static void buckets_equal_those_of_a_plain_look_at_all_spans(void **state)
{
	struct dice dice = {2};
	for (int round = 0; round < 40; round++) {
		uint32_t lane = (uint32_t)roll_below(&dice, LANES);
		unsigned level = (unsigned)roll_below(&dice, HIGHEST + 1);
		struct hwy_buckets buckets = level_of(stored, lane, level);
		if (buckets.n == 0)
			continue; /* a lane without spans */
		const struct hwy_bucket *got = &buckets.v[roll_below(&dice, buckets.n)];
		struct hwy_bucket expected = slow_bucket(lane, level, got->index);
		assert_memory_equal(got, &expected, sizeof expected);
		free(buckets.v);
	}
}

static void stored_levels_equal_those_made_from_spans(void **state)
{
	for (uint32_t lane = 0; lane < LANES; lane++)
		for (unsigned level = 0; level <= HIGHEST; level++) {
			struct hwy_buckets a = level_of(trace, lane, level),
					   b = level_of(stored, lane, level);
			assert_int_equal(a.n, b.n);
			assert_memory_equal(a.v, b.v, a.n * sizeof *a.v);
			free(a.v);
			free(b.v);
		}
}

static void the_lowest_level_holds_about_32_spans_a_bucket(void **state)
{
	unsigned pyramids = 0;
	for (uint32_t lane = 0; lane < LANES; lane++) {
		int leaf = hwy_pyramid_leaf(stored, lane);
		if (leaf < 0)
			continue;
		pyramids++;
		struct hwy_buckets low = level_of(stored, lane, (unsigned)leaf);
		struct hwy_buckets high = level_of(stored, lane, (unsigned)leaf + 1);
		uint64_t spans = 0;
		for (uint32_t i = 0; i < low.n; i++)
			spans += low.v[i].count;
		assert_true(spans <= 32 * (uint64_t)low.n);
		assert_true(spans > 32 * (uint64_t)high.n);
		free(low.v);
		free(high.v);
	}
	assert_true(pyramids > 0);
}

static void a_window_yields_only_the_buckets_that_reach_into_it(void **state)
{
	struct hwy_err err;
	struct hwy_buckets all = level_of(stored, 0, 20), some;
	assert_true(all.n > 10);
	const int64_t width = 1 << 20;
	int64_t from = all.v[all.n / 3].index * width, to = all.v[all.n / 3 + 4].index * width;
	assert_true(hwy_pyramid_level(stored, 0, 20, from, to, &some, &err));
	uint32_t expected = 0;
	for (uint32_t i = 0; i < all.n; i++)
		expected += all.v[i].index * width < to && all.v[i].end >= from;
	assert_int_equal(some.n, expected);
	assert_true(some.n < all.n);
	free(all.v);
	free(some.v);
}

static void lanes_of_few_spans_have_no_pyramid(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OS, HWY_NONE, HWY_NONE));
	struct hwy_row row = {.v = {[HWY_START] = 5}};
	for (int i = 0; i < 256; i++)
		hwy_add_span(b, lane, HWY_OS, &row);
	struct hwy_trace *few = hwy_builder_finish(b, false);
	assert_null(pyramid_build(few, lane));
	assert_null(pyramid_build(few, lane + 1));
	hwy_trace_free(few);
}

static void spans_at_one_moment_and_at_the_ends_of_time_have_a_pyramid(void **state)
{
	struct hwy_builder *b = hwy_builder_new();
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OS, HWY_NONE, HWY_NONE));
	struct hwy_row row = {
		.v = {[HWY_START] = HWY_TIME_LIMIT, [HWY_DUR] = 2 * HWY_TIME_LIMIT - 1}};
	for (int i = 0; i < 1000; i++)
		hwy_add_span(b, lane, HWY_OS, &row);
	row.v[HWY_START] = -HWY_TIME_LIMIT;
	hwy_add_span(b, lane, HWY_OS, &row);
	struct hwy_trace *ends = hwy_builder_finish(b, false);
	struct hwy_pyramid *pyramid = pyramid_build(ends, lane);
	assert_non_null(pyramid);
	assert_int_equal(pyramid->levels[0].rows, 2);
	pyramid_free(pyramid);
	struct hwy_buckets buckets = level_of(ends, lane, HIGHEST);
	assert_int_equal(buckets.n, 2);
	assert_int_equal(buckets.v[1].count, 1000);
	assert_true(buckets.v[1].end == 3 * HWY_TIME_LIMIT - 1);
	free(buckets.v);
	hwy_trace_free(ends);
}

static int set_up(void **state)
{
	struct hwy_err err = {0};
	char name[128];
	const char *folder = make_folder();
	snprintf(name, sizeof name, "%s/a.hwy", folder);
	trace = random_trace(11, LANES, SPANS);
	bool ok = hwy_file_write(trace, name, true, NULL, &err);
	stored = ok ? hwy_file_open(name, &err) : NULL;
	drop_folder(folder); /* the open file lives on */
	return stored ? 0 : -1;
}

static int tear_down(void **state)
{
	hwy_trace_free(stored);
	hwy_trace_free(trace);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level_holds_every_span_once),
		cmocka_unit_test(buckets_equal_those_of_a_plain_look_at_all_spans),
		cmocka_unit_test(stored_levels_equal_those_made_from_spans),
		cmocka_unit_test(the_lowest_level_holds_about_32_spans_a_bucket),
		cmocka_unit_test(a_window_yields_only_the_buckets_that_reach_into_it),
		cmocka_unit_test(lanes_of_few_spans_have_no_pyramid),
		cmocka_unit_test(spans_at_one_moment_and_at_the_ends_of_time_have_a_pyramid),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
