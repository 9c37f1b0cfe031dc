/* SPDX-License-Identifier: Apache-2.0 */
/* base_utf8_test.c - decoding, widths on a terminal, cutting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void every_code_point_survives_encoding_and_decoding(void **state)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		char text[HWY_UTF8_BYTES];
		uint32_t decoded;
		size_t n = hwy_utf8_encode(text, code);
		bool is_surrogate = code >= 0xd800 && code < 0xe000;
		assert_int_equal(hwy_utf8_decode(text, n, &decoded), n);
		assert_int_equal(decoded, is_surrogate ? HWY_UTF8_REPLACEMENT : code);
		assert_int_equal(hwy_utf8_length(text, n), n);
		assert_int_equal(hwy_utf8_length(text, n - 1), 0);
	}
}

static void check_malformed(const char *text, size_t length)
{
	uint32_t code;
	assert_int_equal(hwy_utf8_decode(text, length, &code), 0);
	assert_int_equal(code, HWY_UTF8_REPLACEMENT);
}

static void malformed_sequences_are_no_character(void **state)
{
	check_malformed("", 0);
	check_malformed("\x80", 1);
	check_malformed("\xc0\xaf", 2);         /* overlong '/' */
	check_malformed("\xe0\x9f\xbf", 3);     /* overlong */
	check_malformed("\xf0\x8f\xbf\xbf", 4); /* overlong */
	check_malformed("\xed\xa0\x80", 3);     /* a surrogate */
	check_malformed("\xf4\x90\x80\x80", 4); /* above U+10FFFF */
	check_malformed("\xf5\x80\x80\x80", 4);
	check_malformed("\xe4\xb8", 2); /* cut */
	check_malformed("\xe4\x41\x80", 3);
}

static int columns(const char *text)
{
	return hwy_utf8_columns(text, strlen(text));
}

static void chinese_takes_two_columns_and_marks_take_none(void **state)
{
	assert_int_equal(columns("launch"), 6);
	assert_int_equal(columns("内核 launch"), 11);
	assert_int_equal(columns("、。「」"), 8);
	assert_int_equal(columns("한글かな"), 8);
	assert_int_equal(columns("Ａ１"), 4);       /* full-width letters */
	assert_int_equal(columns("e\xcc\x81t"), 2); /* e and a combining acute accent */
	assert_int_equal(columns("µ…→–▸█·×"), 8);
	assert_int_equal(columns("🚀"), 2);
	assert_int_equal(columns("a\u200bb"), 2); /* a zero-width space */
	assert_int_equal(columns("\xff\xfe"), 2); /* shown as two '?' */
	assert_int_equal(columns("\t"), 1);
}

static void widths_change_only_at_the_edges_of_ranges(void **state)
{
	static const struct {
		uint32_t code;
		int columns;
	} edges[] = {
		{0x2ff, 1},   {0x300, 0},   {0x36f, 0},   {0x370, 1},   {0x10ff, 1},   {0x1100, 2},
		{0x115f, 2},  {0x1160, 0},  {0x2e7f, 1},  {0x2e80, 2},  {0x303f, 1},   {0x3041, 2},
		{0x302a, 0},  {0x4dff, 1},  {0x4e00, 2},  {0x9fff, 2},  {0xa4d0, 1},   {0xac00, 2},
		{0xd7a3, 2},  {0xd7a4, 1},  {0xff60, 2},  {0xff61, 1},  {0xfffd, 1},   {0x1f5ff, 2},
		{0x20000, 2}, {0x3fffd, 2}, {0x3fffe, 1}, {0xe0100, 0}, {0x10ffff, 1},
	};
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
		assert_int_equal(hwy_utf8_code_columns(edges[i].code), edges[i].columns);
}

/* Random texts of ASCII, accents, Chinese and broken bytes. */
static size_t random_text(char text[64])
{
	static const char *const parts[] = {"a", "内", "e\xcc\x81", "\xff", "\xe4\xb8", "🚀", "µ"};
	size_t n = 0;
	for (int i = rand() % 9; i > 0; i--) {
		const char *part = parts[(size_t)rand() % (sizeof parts / sizeof *parts)];
		memcpy(text + n, part, strlen(part));
		n += strlen(part);
	}
	return n;
}

static void a_cut_text_fits_splits_no_character_and_could_not_be_longer(void **state)
{
	srand(1);
	for (int round = 0; round < 5000; round++) {
		char text[64];
		size_t n = random_text(text);
		int room = rand() % 12;
		size_t cut = hwy_utf8_cut(text, n, room);
		assert_true(cut <= n);
		assert_true(hwy_utf8_columns(text, cut) <= room);
		/* Cut between characters: the two parts have the columns of the whole. */
		assert_int_equal(hwy_utf8_columns(text, cut) +
					 hwy_utf8_columns(text + cut, n - cut),
				 hwy_utf8_columns(text, n));
		if (cut < n) {
			uint32_t code;
			hwy_utf8_decode(text + cut, n - cut, &code);
			assert_true(hwy_utf8_columns(text, cut) + hwy_utf8_code_columns(code) >
				    room);
		}
	}
}

static void marks_stay_with_their_character(void **state)
{
	assert_int_equal(hwy_utf8_cut("e\xcc\x81t", 4, 1), 3);
	assert_int_equal(hwy_utf8_cut("内核", 6, 3), 3);
	assert_int_equal(hwy_utf8_cut("内核", 6, 0), 0);
}

static void bytes_are_cut_between_characters(void **state)
{
	assert_int_equal(hwy_utf8_cut_bytes("abc", 3, 5), 3);
	assert_int_equal(hwy_utf8_cut_bytes("abc", 3, 2), 2);
	assert_int_equal(hwy_utf8_cut_bytes("a内核", 7, 3), 1);
	assert_int_equal(hwy_utf8_cut_bytes("a内核", 7, 4), 4);
	assert_int_equal(hwy_utf8_cut_bytes("内", 3, 2), 0);
	assert_int_equal(hwy_utf8_cut_bytes("内", 3, 0), 0);
	assert_int_equal(hwy_utf8_cut_bytes("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point_survives_encoding_and_decoding),
		cmocka_unit_test(malformed_sequences_are_no_character),
		cmocka_unit_test(chinese_takes_two_columns_and_marks_take_none),
		cmocka_unit_test(widths_change_only_at_the_edges_of_ranges),
		cmocka_unit_test(a_cut_text_fits_splits_no_character_and_could_not_be_longer),
		cmocka_unit_test(marks_stay_with_their_character),
		cmocka_unit_test(bytes_are_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
