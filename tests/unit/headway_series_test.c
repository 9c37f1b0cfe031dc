/* SPDX-License-Identifier: Apache-2.0 */
/* headway_series_test.c - the headway of a window, at the resolution of the page: what a pixel shows is the largest of its time,
 * and an answer is as large as the window, however many phases there are. */
#include "make_trace.h"

#include <inttypes.h>

#include "base/memory_text.h"
#include "serve/headway_series.h"

enum { POINTS = 400, ROUNDS = 200, MOST = 4000 };

struct point {
	int64_t time, count, work;
};

static void add_series(struct hwy_bytes *out, int64_t phase, const struct point *points, int64_t n)
{
	const int64_t head[] = {0, phase, 9, 9, n};
	hwy_bytes_put(out, head, sizeof head);
	hwy_bytes_put(out, points, (size_t)n * sizeof *points);
}

/* Asks, and reads the points of all phases of the answer. */
static uint32_t ask_finer(const struct hwy_bytes *series, int64_t from, int64_t to, uint32_t n,
			  const struct headway_finer *finer, struct point *points)
{
	struct memory_text memory;
	memory_text_begin(&memory);
	struct hwy_json json = {.out = memory.out};
	headway_series_answer(series, from, to, n, finer, &json);
	memory_text_end(&memory);
	uint32_t got = 0;
	struct point last = {0}, by;
	for (const char *at = memory.text; *at; at++) {
		if (strncmp(at, "\"points\"", strlen("\"points\"")) == 0)
			last = (struct point){0};
		if (sscanf(at, "[%" SCNd64 ",%" SCNd64 ",%" SCNd64 "]", &by.time, &by.count,
			   &by.work) != 3)
			continue;
		last = (struct point){last.time + by.time, last.count + by.count,
				      last.work + by.work};
		points[got] = last;
		assert_true(++got < MOST);
	}
	free(memory.text);
	return got;
}

static uint32_t ask(const struct hwy_bytes *series, int64_t from, int64_t to, uint32_t n,
		    struct point *points)
{
	return ask_finer(series, from, to, n, NULL, points);
}

/* The largest work at any time of [from, to), where a point holds until the next one. */
static int64_t largest(const struct point *points, uint32_t n, int64_t from, int64_t to)
{
	int64_t most = 0;
	for (uint32_t i = 0; i + 1 < n; i++)
		if (points[i].time < to && points[i + 1].time > from && points[i].work > most)
			most = points[i].work;
	return most;
}

static void each_pixel_shows_the_largest_of_its_time(void **state)
{
	struct dice dice = {.state = 7};
	struct point points[POINTS], got[MOST];
	for (int round = 0; round < ROUNDS; round++) {
		int64_t time = 1000;
		for (int i = 0; i < POINTS; i++) {
			time += 1 + roll_below(&dice, roll_below(&dice, 10) == 0 ? 500 : 5);
			points[i] = (struct point){time, roll_below(&dice, 50),
						   roll_below(&dice, 1000)};
		}
		/* The last point only says where the one before it ends. */
		points[POINTS - 1].count = points[POINTS - 1].work = 0;
		struct hwy_bytes series = {0};
		add_series(&series, 0, points, POINTS);
		uint32_t n = 1 + (uint32_t)roll_below(&dice, 60);
		int64_t from = 1000 + roll_below(&dice, time - 1000),
			wide = n * (1 + roll_below(&dice, 90));
		uint32_t n_got = ask(&series, from, from + wide, n, got);
		assert_true(n_got <= 2 * n + 4);
		for (uint32_t part = 0; part < n; part++) {
			int64_t begin = from + part * (wide / n), end = begin + wide / n;
			int64_t shown = largest(got, n_got, begin, end);
			/* A merged point begins where the first of its pixel does, not before. */
			assert_true(shown >= largest(points, POINTS, begin, end));
			assert_true(shown <=
				    largest(points, POINTS, begin - wide / n, end + wide / n));
		}
		hwy_bytes_free(&series);
	}
}

static void an_answer_does_not_grow_with_the_phases(void **state)
{
	struct hwy_bytes series = {0};
	struct point points[POINTS], got[MOST];
	for (int64_t phase = 0; phase < 100; phase++) {
		for (int64_t i = 0; i < POINTS; i++)
			points[i] = (struct point){(phase * POINTS + i) * 10, i % 7, i % 11};
		add_series(&series, phase, points, POINTS);
	}
	assert_true(ask(&series, 0, INT64_C(100) * POINTS * 10, 64, got) <= 2 * 64 + 100 * 4);
	assert_true(ask(&series, 8000, 8100, 64, got) <= 2 * 64 + 4);
	assert_int_equal(ask(&series, INT64_C(1) << 40, INT64_C(1) << 41, 64, got), 0);
	hwy_bytes_free(&series);
}

static void a_frame_that_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
	struct hwy_bytes series = {0};
	struct point points[2] = {{0, 1, 1}, {10, 0, 0}}, got[MOST];
	add_series(&series, 0, points, 2);
	add_series(&series, 1, points, 2);
	series.n -= 8;
	assert_int_equal(ask(&series, 0, 10, 10, got), 2);
	hwy_bytes_free(&series);
}

/* At every moment one op with as much work as the part's number. */
static bool find_parts(void *self, int64_t device, struct device_lead *parts)
{
	uint32_t *asked = self;
	(*asked)++;
	for (int64_t p = 0; p < 10; p++)
		parts[p] = (struct device_lead){1, p};
	return device == 0;
}

static void a_series_that_is_coarser_than_the_window_is_found_anew(void **state)
{
	struct hwy_bytes series = {0};
	struct point points[] = {{0, 5, 86}, {1000, 5, 86}, {2000, 0, 0}}, got[MOST];
	uint32_t asked = 0;
	struct headway_finer finer = {find_parts, &asked};
	add_series(&series, 0, points, 3);
	add_series(&series, 1, points, 3);
	/* Its points are as fine as the window. */
	assert_int_equal(ask_finer(&series, 0, 2000, 2, &finer, got), 6);
	assert_int_equal(asked, 0);
	/* One series instead of two, with a value for each part and the end. */
	assert_int_equal(ask_finer(&series, 500, 600, 10, &finer, got), 11);
	assert_int_equal(asked, 1);
	assert_int_equal(got[3].time, 530);
	assert_int_equal(got[3].work, 3);
	/* Where it cannot be found, the coarse one is the answer. */
	((int64_t *)(void *)series.bytes)[0] = 7;
	assert_int_equal(ask_finer(&series, 2000, 2010, 10, &finer, got), 1 + 11);
	hwy_bytes_free(&series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pixel_shows_the_largest_of_its_time),
		cmocka_unit_test(an_answer_does_not_grow_with_the_phases),
		cmocka_unit_test(a_frame_that_is_cut_off_is_read_as_far_as_it_goes),
		cmocka_unit_test(a_series_that_is_coarser_than_the_window_is_found_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
