/* SPDX-License-Identifier: Apache-2.0 */
/* intervals_test.c - lengths of unions against a bitmap that cannot be wrong. */
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

/* Stretches of ones. */
static uint64_t runs(const uint8_t *bits)
{
	uint64_t n = 0;
	for (int t = 0; t < LENGTH; t++)
		n += bits[t] && (t == 0 || !bits[t - 1]);
	return n;
}

static void a_cover_yields_every_moment_once(void **state)
{
	seed = 1234567;
	for (int round = 0; round < ROUNDS; round++) {
		struct hwy_interval v[MOST], pieces[MOST];
		uint32_t n = draw(v), n_pieces = 0;
		uint8_t bits[LENGTH], own[LENGTH];
		struct hwy_cover cover = {0};
		for (uint32_t i = 0; i < n; i++)
			n_pieces += cover_add(&cover, v[i].from, v[i].to, &pieces[n_pieces]);
		mark(bits, v, n);
		mark(own, pieces, n_pieces);
		assert_memory_equal(own, bits, LENGTH);
		assert_int_equal(cover.total, ones(bits, 0, LENGTH));
		for (uint32_t i = 0; i < n_pieces; i++) {
			assert_true(pieces[i].from < pieces[i].to);
			assert_true(i == 0 || pieces[i - 1].to <= pieces[i].from);
		}
		/* Moments that stand alone are pieces too, so there may be more of them. */
		assert_true(cover.pieces >= runs(bits));
	}
}

static void bins_share_out_every_moment_once(void **state)
{
	seed = 987654321;
	for (int round = 0; round < ROUNDS; round++) {
		struct hwy_interval v[MOST], drawn[MOST], windows[MOST], fresh;
		uint32_t n = draw(v), n_drawn = draw(drawn), n_windows = 0;
		struct hwy_cover apart = {0}, cover = {0};
		for (uint32_t i = 0; i < n_drawn; i++)
			n_windows +=
				cover_add(&apart, drawn[i].from, drawn[i].to, &windows[n_windows]);
		uint8_t bits[LENGTH];
		mark(bits, v, n);
		int64_t sums[MOST] = {0};
		struct hwy_bins bins = {.windows = windows, .sums = sums, .n = n_windows};
		for (uint32_t i = 0; i < n; i++)
			if (cover_add(&cover, v[i].from, v[i].to, &fresh))
				bins_add(&bins, fresh.from, fresh.to);
		for (uint32_t i = 0; i < n_windows; i++)
			assert_int_equal(sums[i], ones(bits, windows[i].from, windows[i].to));
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
		cmocka_unit_test(a_cover_yields_every_moment_once),
		cmocka_unit_test(bins_share_out_every_moment_once),
		cmocka_unit_test(touching_intervals_are_one),
		cmocka_unit_test(a_moment_alone_is_a_piece_of_no_length),
		cmocka_unit_test(times_before_zero_are_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
