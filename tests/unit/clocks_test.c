/* SPDX-License-Identifier: Apache-2.0 */
/* clocks_test.c - a foreign clock on ours: fits over clocks that drift, wander and jump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ingest/clocks.h"

enum { MOST = 400, ROUNDS = 400 };

static uint64_t seed = 88172645463325252u;
static int64_t below(int64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int64_t)(seed % (uint64_t)n);
}

struct world {                        /* the truth: our clock as a function of the foreign one */
	int64_t offset, rate, wander; /* ns; ns a second; ns */
};

/* Our time at a foreign one. The wandering part changes by 200 ns a second at most. */
static int64_t truth(const struct world *world, int64_t foreign)
{
	int64_t phase = foreign / 1000000 % 20000; /* 20 s */
	int64_t bend = phase < 10000 ? phase : 20000 - phase;
	return foreign + world->offset + foreign / 1000 * world->rate / 1000000 +
	       bend * world->wander / 10000;
}

static struct world draw_world(void)
{
	return (struct world){below(4000000000000000000) - 2000000000000000000, below(400) - 200,
			      below(2000)};
}

/* Sights that are true: a time of ours before and after, one of them sometimes not known. */
static uint32_t draw_sights(const struct world *world, struct clocks_sight *sights)
{
	uint32_t n = 1 + (uint32_t)below(MOST);
	for (uint32_t i = 0; i < n; i++) {
		int64_t foreign = below(60) * 1000000000 + below(1000000000);
		int64_t at = truth(world, foreign) - foreign;
		int64_t width = below(20) ? 20000 : 80000000; /* a call that compiles */
		sights[i] = (struct clocks_sight){foreign, at - below(width), at + below(width)};
		if (below(4) == 0)
			sights[i].low = CLOCKS_OPEN_LOW;
		else if (below(8) == 0)
			sights[i].high = CLOCKS_OPEN_HIGH;
	}
	return n;
}

static void every_true_sight_is_kept_and_time_never_runs_backwards(void **state)
{
	(void)state;
	struct clocks_sight sights[MOST];
	for (int round = 0; round < ROUNDS; round++) {
		struct world world = draw_world();
		uint32_t n = draw_sights(&world, sights);
		struct clocks_fit fit;
		clocks_fit(&fit, sights, n);
		assert_int_equal(fit.conflicts, 0);
		assert_int_equal(clocks_misses(&fit, sights, n, 0), 0);
		int64_t before = INT64_MIN;
		for (int64_t foreign = sights[0].foreign - 1000;
		     foreign < sights[n - 1].foreign + 1000;
		     foreign += 1 + below(sights[n - 1].foreign / 50 + 2)) {
			int64_t ours = clocks_to_ours(&fit, foreign);
			assert_true(ours >= before);
			before = ours;
			int64_t next = clocks_to_ours(&fit, foreign + 1);
			assert_true(next >= ours && next - ours <= 2);
		}
		clocks_free(&fit);
	}
}

static void a_duration_changes_by_no_more_than_the_rate_of_the_fit(void **state)
{
	(void)state;
	struct clocks_sight sights[MOST];
	for (int round = 0; round < ROUNDS; round++) {
		struct world world = draw_world();
		uint32_t n = draw_sights(&world, sights);
		struct clocks_fit fit;
		clocks_fit(&fit, sights, n);
		int64_t from = sights[below(n)].foreign, time = below(1000000000);
		int64_t ours = clocks_to_ours(&fit, from + time) - clocks_to_ours(&fit, from);
		int64_t most = time / 1000000 * fit.rate / 1000 + n + 2; /* each knot rounds */
		assert_true(llabs(ours - time) <= most + fit.rate);
		clocks_free(&fit);
	}
}

static void narrow_sights_give_the_true_offset(void **state)
{
	(void)state;
	struct clocks_sight sights[MOST];
	struct world world = {123456789, 50, 0}; /* 50 ns a second */
	for (uint32_t i = 0; i < MOST; i++) {
		int64_t foreign = i * INT64_C(10000000);
		int64_t at = truth(&world, foreign) - foreign;
		sights[i] = (struct clocks_sight){foreign, at - 1500, at + 1500};
	}
	struct clocks_fit fit;
	clocks_fit(&fit, sights, MOST);
	assert_true(fit.rate <= 100);
	for (uint32_t i = 0; i + 1 < MOST; i++) {
		int64_t foreign = sights[i].foreign + 5000000;
		assert_true(llabs(clocks_to_ours(&fit, foreign) - truth(&world, foreign)) <= 1600);
	}
	clocks_free(&fit);
}

static void a_clock_that_jumps_is_reported_with_how_far(void **state)
{
	(void)state;
	struct clocks_sight sights[] = {{0, 0, 1000}, {1000000, 500000, 501000}};
	struct clocks_fit fit;
	clocks_fit(&fit, sights, 2);
	assert_int_equal(fit.conflicts, 2);
	assert_true(fit.worst > 200000 && fit.worst < 300000);
	clocks_free(&fit);
}

static void moments_on_both_clocks_are_joined_in_proportion(void **state)
{
	(void)state;
	const struct clocks_knot moments[] = {{2000, 30}, {1000, 10}, {3000, 30}};
	struct clocks_fit fit;
	clocks_join(&fit, moments, 3);
	assert_int_equal(clocks_to_ours(&fit, 0), 10);
	assert_int_equal(clocks_to_ours(&fit, 1000), 1010);
	assert_int_equal(clocks_to_ours(&fit, 1500), 1520);
	assert_int_equal(clocks_to_ours(&fit, 2500), 2530);
	assert_int_equal(clocks_to_ours(&fit, 9000), 9030);
	struct clocks_sight sights[] = {{1500, 20, 20}, {1500, 30, 40}};
	assert_int_equal(clocks_misses(&fit, sights, 2, 5), 1);
	assert_int_equal(clocks_misses(&fit, sights, 2, 10), 0);
	clocks_free(&fit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_true_sight_is_kept_and_time_never_runs_backwards),
		cmocka_unit_test(a_duration_changes_by_no_more_than_the_rate_of_the_fit),
		cmocka_unit_test(narrow_sights_give_the_true_offset),
		cmocka_unit_test(a_clock_that_jumps_is_reported_with_how_far),
		cmocka_unit_test(moments_on_both_clocks_are_joined_in_proportion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
