/* intervals_test.c - unions, intersections and differences against a bitmap that cannot be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/intervals.h"

enum { LENGTH = 200, MOST = 24, ROUNDS = 3000 };

/* xorshift: the same sequence everywhere. */
static uint64_t seed;
static int64_t below(int64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int64_t)(seed % (uint64_t)n);
}

static int by_start(const void *left, const void *right)
{
	const struct hwy_interval *a = left, *b = right;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Some intervals in order of start, lengths 0 included. */
static uint32_t draw(struct hwy_interval *v)
{
	uint32_t n = (uint32_t)below(MOST);
	int64_t longest = below(4) ? 12 : 80;
	for (uint32_t i = 0; i < n; i++) {
		v[i].from = below(LENGTH);
		v[i].to = v[i].from + below(longest);
		if (v[i].to > LENGTH)
			v[i].to = LENGTH;
	}
	qsort(v, n, sizeof *v, by_start);
	return n;
}

static void mark(uint8_t *bits, const struct hwy_interval *v, uint32_t n)
{
	memset(bits, 0, LENGTH);
	for (uint32_t i = 0; i < n; i++)
		for (int64_t t = v[i].from; t < v[i].to; t++)
			bits[t] = 1;
}

static int64_t ones(const uint8_t *bits, int64_t from, int64_t to)
{
	int64_t n = 0;
	for (int64_t t = from; t < to; t++)
		n += bits[t];
	return n;
}

static struct hwy_set set_of(const struct hwy_interval *v, uint32_t n)
{
	struct hwy_set set = {0};
	for (uint32_t i = 0; i < n; i++)
		set_add(&set, v[i].from, v[i].to);
	return set;
}

/* The set is in its normal form and holds exactly the marked moments. */
static void check_set(const struct hwy_set *set, const uint8_t *bits)
{
	uint8_t own[LENGTH];
	mark(own, set->v, set->n);
	assert_memory_equal(own, bits, LENGTH);
	assert_int_equal(set_total(set), ones(bits, 0, LENGTH));
	for (uint32_t i = 0; i < set->n; i++) {
		assert_true(set->v[i].from < set->v[i].to);
		assert_true(i == 0 || set->v[i - 1].to < set->v[i].from);
	}
}

static void sets_agree_with_a_bitmap(void **state)
{
	seed = 88172645463325252ull;
	for (int round = 0; round < ROUNDS; round++) {
		struct hwy_interval va[MOST], vb[MOST];
		uint32_t na = draw(va), nb = draw(vb);
		uint8_t a[LENGTH], b[LENGTH], both[LENGTH], either[LENGTH], only_a[LENGTH];
		mark(a, va, na);
		mark(b, vb, nb);
		for (int t = 0; t < LENGTH; t++) {
			both[t] = a[t] && b[t];
			either[t] = a[t] || b[t];
			only_a[t] = a[t] && !b[t];
		}
		struct hwy_set sa = set_of(va, na), sb = set_of(vb, nb);
		struct hwy_set joined = {0}, met = {0}, left = {0};
		set_union(&sa, &sb, &joined);
		set_intersect(&sa, &sb, &met);
		set_subtract(&sa, &sb, &left);
		check_set(&sa, a);
		check_set(&joined, either);
		check_set(&met, both);
		check_set(&left, only_a);
		assert_int_equal(set_total(&joined) + set_total(&met),
				 set_total(&sa) + set_total(&sb));
		set_free(&sa);
		set_free(&sb);
		set_free(&joined);
		set_free(&met);
		set_free(&left);
	}
}

static void a_cover_measures_what_a_set_would_keep(void **state)
{
	seed = 1234567;
	for (int round = 0; round < ROUNDS; round++) {
		struct hwy_interval v[MOST], fresh;
		uint32_t n = draw(v);
		struct hwy_set set = {0}, pieces = {0};
		struct hwy_cover cover = {0};
		int64_t before = INT64_MIN;
		for (uint32_t i = 0; i < n; i++) {
			set_add(&set, v[i].from, v[i].to);
			if (!cover_add(&cover, v[i].from, v[i].to, &fresh))
				continue;
			assert_true(fresh.from >= before && fresh.to > fresh.from);
			before = fresh.to;
			set_add(&pieces, fresh.from, fresh.to);
		}
		assert_int_equal(cover.total, set_total(&set));
		assert_int_equal(pieces.n, set.n);
		if (set.n)
			assert_memory_equal(pieces.v, set.v, set.n * sizeof *set.v);
		/* Moments that stand alone are pieces too, so there may be more of them. */
		assert_true(cover.pieces >= set.n);
		set_free(&set);
		set_free(&pieces);
	}
}

static void bins_share_out_every_moment_once(void **state)
{
	seed = 987654321;
	for (int round = 0; round < ROUNDS; round++) {
		struct hwy_interval v[MOST], drawn[MOST], fresh;
		uint32_t n = draw(v);
		struct hwy_set windows = set_of(drawn, draw(drawn));
		uint8_t bits[LENGTH];
		mark(bits, v, n);
		int64_t sums[MOST] = {0};
		struct hwy_bins bins = {.windows = windows.v, .sums = sums, .n = windows.n};
		struct hwy_cover cover = {0};
		for (uint32_t i = 0; i < n; i++)
			if (cover_add(&cover, v[i].from, v[i].to, &fresh))
				bins_add(&bins, fresh.from, fresh.to);
		for (uint32_t i = 0; i < windows.n; i++)
			assert_int_equal(sums[i], ones(bits, windows.v[i].from, windows.v[i].to));
		set_free(&windows);
	}
}

static void touching_intervals_are_one(void **state)
{
	struct hwy_cover cover = {0};
	struct hwy_interval fresh;
	assert_true(cover_add(&cover, 0, 5, &fresh));
	assert_true(cover_add(&cover, 5, 9, &fresh));
	assert_false(cover_add(&cover, 6, 9, &fresh));
	assert_int_equal(cover.pieces, 1);
	assert_int_equal(cover.total, 9);
	assert_true(cover_add(&cover, 10, 11, &fresh));
	assert_int_equal(cover.pieces, 2);
}

static void a_moment_alone_is_a_piece_of_no_length(void **state)
{
	struct hwy_cover cover = {0};
	struct hwy_interval fresh;
	assert_false(cover_add(&cover, 3, 3, &fresh));
	assert_int_equal(cover.pieces, 1);
	assert_int_equal(cover.total, 0);
	assert_true(cover_add(&cover, 3, 4, &fresh));
	assert_int_equal(cover.pieces, 1);
}

static void times_before_zero_are_times(void **state)
{
	struct hwy_cover cover = {0};
	struct hwy_interval fresh;
	cover_add(&cover, -100, -90, &fresh);
	cover_add(&cover, -95, -80, &fresh);
	assert_int_equal(cover.total, 20);
	assert_int_equal(cover.pieces, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_agree_with_a_bitmap),
		cmocka_unit_test(a_cover_measures_what_a_set_would_keep),
		cmocka_unit_test(bins_share_out_every_moment_once),
		cmocka_unit_test(touching_intervals_are_one),
		cmocka_unit_test(a_moment_alone_is_a_piece_of_no_length),
		cmocka_unit_test(times_before_zero_are_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
