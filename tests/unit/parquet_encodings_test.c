/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_encodings_test.c - what src/export/parquet encodes, the tests' own decoders read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/hash.h"
#include "export/parquet/encodings.h"
#include "export/parquet/thrift.h"
#include "parquet_decode.h"

static uint64_t seed;

static uint64_t chance(uint64_t below)
{
	seed = hwy_mix(seed + 0x9e3779b97f4a7c15u);
	return below ? seed % below : 0;
}

static uint64_t mask_of(unsigned width)
{
	return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* ---- packed bits ---- */

static void packed_bits_of_every_width_come_back(void **state)
{
	for (unsigned width = 0; width <= 64; width++) {
		uint64_t values[32];
		struct hwy_bytes out = {0};
		for (unsigned i = 0; i < 32; i++)
			values[i] = hwy_mix(i * 65 + width) & mask_of(width);
		values[7] = mask_of(width);
		encodings_pack(&out, values, 32, width);
		assert_int_equal(out.n, 4 * width);
		for (unsigned i = 0; i < 32; i++)
			assert_true(read_packed(out.bytes, i, width) == values[i]);
		hwy_bytes_free(&out);
	}
}

static void a_width_is_the_least_that_holds_the_value(void **state)
{
	assert_int_equal(encodings_width(0), 0);
	assert_int_equal(encodings_width(1), 1);
	assert_int_equal(encodings_width(255), 8);
	assert_int_equal(encodings_width(256), 9);
	assert_int_equal(encodings_width(UINT64_MAX), 64);
	assert_int_equal(encodings_whole_bytes(0), 0);
	assert_int_equal(encodings_whole_bytes(1), 8);
	assert_int_equal(encodings_whole_bytes(8), 8);
	assert_int_equal(encodings_whole_bytes(57), 64);
}

/* ---- runs and packed bits ---- */

static void check_hybrid(const uint32_t *values, uint32_t n, unsigned width)
{
	struct hwy_bytes out = {0};
	uint64_t *back = malloc((n + 1) * sizeof *back);
	encodings_hybrid(&out, values, n, width);
	struct read_bytes in = {out.bytes, out.n, false};
	assert_true(read_hybrid(&in, width, back, n));
	assert_int_equal(in.n, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(back[i], values[i]);
	free(back);
	hwy_bytes_free(&out);
}

static void runs_and_packed_bits_of_any_mixture_come_back(void **state)
{
	enum { MOST = 3000 };
	uint32_t values[MOST];
	for (seed = 0; seed < 400;) {
		uint64_t round = seed;
		unsigned width = (unsigned)chance(33);
		uint32_t n = (uint32_t)chance(MOST), i = 0;
		while (i < n) { /* a run, or values of all sorts */
			uint32_t part = (uint32_t)chance(chance(2) ? 12 : 300) + 1;
			uint64_t value = chance(UINT64_MAX);
			bool is_run = chance(2);
			for (; part > 0 && i < n; part--)
				values[i++] = (uint32_t)((is_run ? value : chance(UINT64_MAX)) &
							 mask_of(width));
		}
		check_hybrid(values, n, width);
		seed = round + 1;
	}
}

static void runs_of_every_length_behind_values_of_every_number_come_back(void **state)
{
	uint32_t values[300];
	for (uint32_t before = 0; before < 20; before++)
		for (uint32_t run = 1; run < 90; run++)
			for (uint32_t after = 0; after < 10; after += 9) {
				for (uint32_t i = 0; i < before + run + after; i++)
					values[i] = i >= before && i < before + run ? 5 : i % 3;
				check_hybrid(values, before + run + after, 3);
			}
}

static void one_value_a_million_times_takes_a_few_bytes(void **state)
{
	uint32_t *values = calloc(1000000, sizeof *values);
	struct hwy_bytes out = {0};
	encodings_hybrid(&out, values, 1000000, 0);
	assert_true(out.n <= 4);
	check_hybrid(values, 1000000, 0);
	hwy_bytes_free(&out);
	free(values);
}

/* ---- differences ---- */

static void check_delta(const int64_t *values, uint32_t n, bool whole_bytes)
{
	struct hwy_bytes out = {0};
	uint64_t *back = malloc((n + 1) * sizeof *back);
	encodings_delta(&out, values, n, whole_bytes);
	struct read_bytes in = {out.bytes, out.n, false};
	assert_true(read_delta(&in, back, n));
	assert_int_equal(in.n, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_true((int64_t)back[i] == values[i]);
	free(back);
	hwy_bytes_free(&out);
}

static void differences_of_any_numbers_come_back(void **state)
{
	enum { MOST = 1000 };
	int64_t values[MOST];
	for (seed = 0; seed < 600;) {
		uint64_t round = seed;
		uint32_t n = (uint32_t)chance(MOST);
		unsigned width = (unsigned)chance(65);
		for (uint32_t i = 0; i < n; i++)
			values[i] = (int64_t)((chance(UINT64_MAX) & mask_of(width)) -
					      (mask_of(width) >> 1));
		check_delta(values, n, round % 2);
		seed = round + 1;
	}
}

static void extreme_numbers_and_their_differences_come_back(void **state)
{
	static const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0,  INT64_MAX, INT64_MIN,
					   INT64_MIN, -1,        1,  INT64_MIN, INT64_MAX,
					   INT64_MAX, INT64_MIN, -1, INT64_MAX};
	enum { N = sizeof extremes / sizeof *extremes };
	int64_t many[N * 40];
	for (uint32_t n = 0; n <= N; n++)
		for (int whole = 0; whole < 2; whole++)
			check_delta(extremes, n, whole);
	for (uint32_t i = 0; i < N * 40; i++)
		many[i] = extremes[hwy_mix(i) % N];
	check_delta(many, N * 40, false);
	check_delta(many, N * 40, true);
}

static void lists_that_end_at_every_place_of_a_block_come_back(void **state)
{
	int64_t values[300];
	for (uint32_t i = 0; i < 300; i++)
		values[i] = 1000 * (int64_t)i + (int64_t)(hwy_mix(i) % 900);
	for (uint32_t n = 0; n < 300; n++)
		check_delta(values, n, false);
}

static void steady_numbers_take_a_few_bits(void **state)
{
	int64_t values[12800];
	struct hwy_bytes out = {0};
	for (int i = 0; i < 12800; i++)
		values[i] = INT64_C(1) << 40 | i * INT64_C(7);
	encodings_delta(&out, values, 12800, false);
	assert_true(out.n < 12800 / 20);
	hwy_bytes_free(&out);
}

/* ---- Thrift ---- */

static void structs_in_lists_in_structs_come_back(void **state)
{
	struct hwy_bytes out = {0};
	struct thrift t = thrift_begin(&out);
	thrift_bool(&t, 1, true);
	thrift_bool(&t, 2, false);
	thrift_i8(&t, 3, -7);
	thrift_i32(&t, 4, INT32_MIN);
	thrift_i64(&t, 40, INT64_MIN); /* too far from 4 for the short form */
	thrift_i64(&t, 41, INT64_MAX);
	thrift_text(&t, 42, "start");
	thrift_list(&t, 43, THRIFT_STRUCT, 20);
	for (int i = 0; i < 20; i++) {
		thrift_element(&t);
		thrift_struct(&t, 9);
		thrift_i32(&t, 1, i - 10);
		thrift_end(&t);
		thrift_i32(&t, 10, i);
		thrift_end(&t);
	}
	thrift_list(&t, 44, THRIFT_I32, 14);
	for (int i = 0; i < 14; i++)
		thrift_number(&t, i * 1000);
	thrift_list(&t, 45, THRIFT_BINARY, 1);
	thrift_word(&t, "");
	thrift_end(&t);

	struct read_bytes in = {out.bytes, out.n, false};
	struct read_tree *tree = read_tree(&in);
	assert_non_null(tree);
	assert_int_equal(in.n, 0);
	assert_int_equal(read_tree_number(tree, 1, -1), 1);
	assert_int_equal(read_tree_number(tree, 2, -1), 0);
	assert_int_equal(read_tree_number(tree, 3, 0), -7);
	assert_int_equal(read_tree_number(tree, 4, 0), INT32_MIN);
	assert_true(read_tree_number(tree, 40, 0) == INT64_MIN);
	assert_true(read_tree_number(tree, 41, 0) == INT64_MAX);
	assert_int_equal(read_tree_field(tree, 42)->length, 5);
	assert_memory_equal(read_tree_field(tree, 42)->bytes, "start", 5);
	assert_int_equal(read_tree_field(tree, 43)->n, 20);
	for (int i = 0; i < 20; i++) {
		const struct read_tree *element = &read_tree_field(tree, 43)->items[i];
		assert_int_equal(read_tree_number(read_tree_field(element, 9), 1, 99), i - 10);
		assert_int_equal(read_tree_number(element, 10, 99), i);
	}
	assert_int_equal(read_tree_field(tree, 44)->n, 14);
	assert_int_equal(read_tree_field(tree, 44)->items[13].number, 13000);
	assert_int_equal(read_tree_field(tree, 45)->items[0].length, 0);
	read_tree_free(tree);
	for (size_t cut = 0; cut < out.n; cut++) {
		struct read_bytes part = {out.bytes, cut, false};
		assert_null(read_tree(&part));
	}
	hwy_bytes_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_bits_of_every_width_come_back),
		cmocka_unit_test(a_width_is_the_least_that_holds_the_value),
		cmocka_unit_test(runs_and_packed_bits_of_any_mixture_come_back),
		cmocka_unit_test(runs_of_every_length_behind_values_of_every_number_come_back),
		cmocka_unit_test(one_value_a_million_times_takes_a_few_bytes),
		cmocka_unit_test(differences_of_any_numbers_come_back),
		cmocka_unit_test(extreme_numbers_and_their_differences_come_back),
		cmocka_unit_test(lists_that_end_at_every_place_of_a_block_come_back),
		cmocka_unit_test(steady_numbers_take_a_few_bits),
		cmocka_unit_test(structs_in_lists_in_structs_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
