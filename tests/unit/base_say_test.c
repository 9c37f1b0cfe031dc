/* SPDX-License-Identifier: Apache-2.0 */
/* base_say_test.c - numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/say.h"

#define SAYS(words, want) assert_string_equal((words).text, want)

static void times_have_three_digits(void **state)
{
	SAYS(hwy_say_time3(0), "0 ns");
	SAYS(hwy_say_time3(-999), "-999 ns");
	SAYS(hwy_say_time3(5850), "5.85 µs");
	SAYS(hwy_say_time3(58500), "58.5 µs");
	SAYS(hwy_say_time3(585000), "585 µs");
	SAYS(hwy_say_time3(999499), "999 µs");
	SAYS(hwy_say_time3(999500), "1.00 ms");
	SAYS(hwy_say_time3(10400000), "10.4 ms");
	SAYS(hwy_say_time3(-1500000000), "-1.50 s");
	SAYS(hwy_say_time3(5850000000000), "5850 s");
}

static void signed_times_have_a_true_minus(void **state)
{
	SAYS(hwy_say_time3_signed(0), "0");
	SAYS(hwy_say_time3_signed(811000), "811 µs");
	SAYS(hwy_say_time3_signed(-811000), "−811 µs");
	SAYS(hwy_say_time3_change(0), "0");
	SAYS(hwy_say_time3_change(811000), "+811 µs");
	SAYS(hwy_say_time3_change(-811000), "−811 µs");
	SAYS(hwy_say_time3_change(INT64_MIN), "−9223372037 s");
}

static void times_of_four_digits_are_rounded_exactly(void **state)
{
	SAYS(hwy_say_time4(0), "0 ns");
	SAYS(hwy_say_time4(999), "999 ns");
	SAYS(hwy_say_time4(1000), "1.000 µs");
	SAYS(hwy_say_time4(10005), "10.01 µs");
	SAYS(hwy_say_time4(999949), "999.9 µs");
	SAYS(hwy_say_time4(999950), "1.000 ms");
	SAYS(hwy_say_time4(4812000000), "4.812 s");
	SAYS(hwy_say_time4(-10400000), "-10.40 ms");
	SAYS(hwy_say_time4(INT64_MIN), "-9223372037 s");
}

/* Between units nothing is lost: the printed number is within half of its last digit. */
static void times_of_four_digits_are_near_the_number(void **state)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	srand(1);
	for (int round = 0; round < 20000; round++) {
		int64_t ns = ((int64_t)rand() << 20 ^ rand()) >> rand() % 50;
		double number = 0, unit = 0;
		char name[8];
		struct hwy_words words = hwy_say_time4(ns);
		assert_int_equal(sscanf(words.text, "%lf %7s", &number, name), 2);
		for (size_t i = 0; i < 4; i++)
			if (strcmp(name, units[i].name) == 0)
				unit = units[i].ns;
		assert_true(unit > 0);
		double off = number * unit - (double)ns;
		off = off < 0 ? -off : off;
		assert_true(off <= 0.00051 * (double)ns);
	}
}

static void thresholds_are_said_whole(void **state)
{
	SAYS(hwy_say_time_whole(30000), "30 µs");
	SAYS(hwy_say_time_whole(2000000000), "2 s");
	SAYS(hwy_say_time_whole(1500000), "1500 µs");
	SAYS(hwy_say_time_whole(1234567), "1.235 ms");
	SAYS(hwy_say_time_whole(0), "0 ns");
}

static void a_ruler_has_one_unit(void **state)
{
	SAYS(hwy_say_time_on_ruler(0, 500000, true), "0");
	SAYS(hwy_say_time_on_ruler(1500000, 500000, true), "1500 µs");
	SAYS(hwy_say_time_on_ruler(1500000, 500000, false), "1500 us");
	SAYS(hwy_say_time_on_ruler(3000000000, 1000000000, true), "3 s");
	SAYS(hwy_say_time_on_ruler(7, 1, true), "7 ns");
}

static void a_wall_clock_is_in_utc(void **state)
{
	SAYS(hwy_say_wall_clock(0), "1970-01-01 00:00:00 UTC");
	SAYS(hwy_say_wall_clock(-1), "1969-12-31 23:59:59 UTC");
	SAYS(hwy_say_wall_clock(1762092202999999999), "2025-11-02 14:03:22 UTC");
}

static void shares_are_percents(void **state)
{
	SAYS(hwy_say_share(0.069), "6.9 %");
	SAYS(hwy_say_share(0.0995), "10 %");
	SAYS(hwy_say_share(0.69), "69 %");
	SAYS(hwy_say_share(0.994), "99 %");
	SAYS(hwy_say_share(0.9958), "99.6 %");
	SAYS(hwy_say_share(0.9996), "100 %");
	SAYS(hwy_say_share(1), "100 %");
	SAYS(hwy_say_share(-0.012), "-1.2 %");
	SAYS(hwy_say_share_change(0.068), "+6.8 %");
	SAYS(hwy_say_share_change(-0.12), "−12 %");
	SAYS(hwy_say_share_change(-0.0004), "0.0 %");
	SAYS(hwy_say_share_1decimal(0.9213), "92.1 %");
	SAYS(hwy_say_part_1decimal(1, 3), "33.3 %");
	SAYS(hwy_say_part_1decimal(1, 1000000), "<0.1 %");
	SAYS(hwy_say_part_1decimal(0, 10), "0.0 %");
	SAYS(hwy_say_part_1decimal(0, 0), "0.0 %");
}

static void large_counts_are_grouped(void **state)
{
	SAYS(hwy_say_count_grouped(0), "0");
	SAYS(hwy_say_count_grouped(999), "999");
	SAYS(hwy_say_count_grouped(1000), "1,000");
	SAYS(hwy_say_count_grouped(12345678), "12,345,678");
	SAYS(hwy_say_count_grouped(UINT64_MAX), "18,446,744,073,709,551,615");
	SAYS(hwy_say_digits_grouped("-1234567.8"), "-1,234,567.8");
	SAYS(hwy_say_digits_grouped("12"), "12");
	SAYS(hwy_say_digits_grouped(""), "");
	/* What is too long is cut, not written past the end. */
	struct hwy_words cut =
		hwy_say_digits_grouped("1111111111111111111111111111111111111111111111111111111"
				       "1111111111111111111111111111111111111111111");
	assert_true(strlen(cut.text) < sizeof cut.text);
}

static void mean_counts_do_not_become_0(void **state)
{
	SAYS(hwy_say_count_mean(12), "12");
	SAYS(hwy_say_count_mean(1.5), "1.5");
	SAYS(hwy_say_count_mean(1.96), "2");
	SAYS(hwy_say_count_mean(123.4), "123");
	SAYS(hwy_say_count_mean(0.1), "0.10");
	SAYS(hwy_say_count_mean(0.004), "0.0040");
	SAYS(hwy_say_count_mean(0), "0");
	SAYS(hwy_say_count_of(1, "copy", "copies"), "1 copy");
	SAYS(hwy_say_count_of(2, "copy", "copies"), "2 copies");
	SAYS(hwy_say_count_of(0.2, "copy", "copies"), "0.20 copies");
	SAYS(hwy_say_count_times(1), "once");
	SAYS(hwy_say_count_times(2.01), "twice");
	SAYS(hwy_say_count_times(12), "12 times");
	SAYS(hwy_say_count_times(0.1), "0.10 times");
}

static void counts_have_decimals_only_where_they_need_them(void **state)
{
	SAYS(hwy_say_count_2decimals(12), "12");
	SAYS(hwy_say_count_2decimals(0.5), "0.50");
	SAYS(hwy_say_count_2decimals(12.34), "12.3");
	SAYS(hwy_say_count_2decimals(123.4), "123");
	SAYS(hwy_say_count_3decimals(12), "12");
	SAYS(hwy_say_count_3decimals(0.5), "0.500");
}

static void bytes_are_powers_of_1000(void **state)
{
	SAYS(hwy_say_bytes3(1), "1 bytes");
	SAYS(hwy_say_bytes3(1500000), "1.50 MB");
	SAYS(hwy_say_bytes3(999999), "1000 kB");
	SAYS(hwy_say_bytes3(UINT64_MAX), "18.4 EB");
	SAYS(hwy_say_bytes3_signed(-1500000), "-1.50 MB");
	SAYS(hwy_say_bytes3_signed(INT64_MIN), "-9.22 EB");
	SAYS(hwy_say_bytes3_to_gb(1), "1 byte");
	SAYS(hwy_say_bytes3_to_gb(2), "2 bytes");
	SAYS(hwy_say_bytes3_to_gb(16800000), "16.8 MB");
	SAYS(hwy_say_bytes3_to_gb(1500000000000), "1500 GB");
	SAYS(hwy_say_rate3(25.1e9), "25.1 GB/s");
	SAYS(hwy_say_rate3(5e5), "0.50 MB/s");
	SAYS(hwy_say_gib4(150109511680), "139.8 GiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_three_digits),
		cmocka_unit_test(signed_times_have_a_true_minus),
		cmocka_unit_test(times_of_four_digits_are_rounded_exactly),
		cmocka_unit_test(times_of_four_digits_are_near_the_number),
		cmocka_unit_test(thresholds_are_said_whole),
		cmocka_unit_test(a_ruler_has_one_unit),
		cmocka_unit_test(a_wall_clock_is_in_utc),
		cmocka_unit_test(shares_are_percents),
		cmocka_unit_test(large_counts_are_grouped),
		cmocka_unit_test(mean_counts_do_not_become_0),
		cmocka_unit_test(counts_have_decimals_only_where_they_need_them),
		cmocka_unit_test(bytes_are_powers_of_1000),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
