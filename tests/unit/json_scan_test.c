/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan_test.c - exact decimals, escapes, the walk over JSON, and the window it looks through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "import/json_scan.h"
#include "import/source.h"

static int64_t decimal(const char *text, int shift)
{
	int64_t number = -77;
	assert_true(scan_decimal(text, strlen(text), shift, &number));
	return number;
}

static void decimals_become_integers_exactly(void **state)
{
	assert_int_equal(decimal("3852612618201.770", 3), 3852612618201770);
	assert_int_equal(decimal("1712170298000000.123", 3), 1712170298000000123);
	assert_int_equal(decimal("1623212388426902", 3), 1623212388426902000);
	assert_int_equal(decimal("0.001", 3), 1);
	assert_int_equal(decimal("5", 3), 5000);
	assert_int_equal(decimal("5.1", 3), 5100);
	assert_int_equal(decimal("-0.5", 3), -500);
	assert_int_equal(decimal("1.5e3", 3), 1500000);
	assert_int_equal(decimal("15E-1", 3), 1500);
	assert_int_equal(decimal("0e999999999", 3), 0);
	assert_int_equal(decimal("00012", 0), 12);
}

static void further_digits_are_rounded_half_up(void **state)
{
	assert_int_equal(decimal("1.0004", 3), 1000);
	assert_int_equal(decimal("1.0005", 3), 1001);
	assert_int_equal(decimal("1.00049999999999999999999", 3), 1000);
	assert_int_equal(decimal("-1.0005", 3), -1001);
	assert_int_equal(decimal("0.0005", 3), 1);
	assert_int_equal(decimal("0.00049", 3), 0);
	assert_int_equal(decimal("5e-4", 3), 1);
	assert_int_equal(decimal("5e-5", 3), 0);
	assert_int_equal(decimal("1.9999e-400", 3), 0);
}

static void numbers_too_large_are_clamped(void **state)
{
	assert_int_equal(decimal("9223372036854775807", 0), INT64_MAX);
	assert_int_equal(decimal("9223372036854775806", 0), INT64_MAX - 1);
	assert_int_equal(decimal("-9223372036854775808", 0), INT64_MIN);
	assert_int_equal(decimal("10159970886766084423", 0), INT64_MAX);
	assert_int_equal(decimal("-10159970886766084423", 0), INT64_MIN);
	assert_int_equal(decimal("1e300", 3), INT64_MAX);
	assert_int_equal(decimal("-1e99999999999999999999", 3), INT64_MIN);
	assert_int_equal(decimal("9223372036854775.807", 3), INT64_MAX);
	assert_int_equal(decimal("999999999999999999", 3), INT64_MAX);
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const bad[] = {"",    "-",     ".",       "1e",  "1e+",
					  "e5",  "1.2.3", "0x10",    "1 2", "NaN",
					  "12a", "--1",   "1.5e1.5", "inf", "+"};
	int64_t number;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(scan_decimal(bad[i], strlen(bad[i]), 3, &number));
}

/* The same by way of 128-bit integers, for random digits. */
static void random_decimals_agree_with_wide_arithmetic(void **state)
{
	srand(1);
	for (int round = 0; round < 200000; round++) {
		char text[64];
		int whole = rand() % 18 + 1, places = rand() % 8, n = 0, exponent = rand() % 5 - 2;
		__int128 value = 0;
		bool negative = rand() % 4 == 0;
		if (negative)
			text[n++] = '-';
		for (int i = 0; i < whole + places; i++) {
			if (i == whole)
				text[n++] = '.';
			int digit = rand() % 10;
			text[n++] = (char)('0' + digit);
			value = value * 10 + digit;
		}
		if (rand() % 3 == 0)
			n += snprintf(text + n, 8, "e%d", exponent);
		else
			exponent = 0;
		int power = 3 + exponent - places; /* value * 10^power, rounded */
		__int128 divisor = 1;
		for (; power > 0; power--)
			value *= 10;
		for (; power < 0; power++)
			divisor *= 10;
		value = (value * 2 + divisor) / (divisor * 2);
		__int128 most = negative ? (__int128)INT64_MAX + 1 : INT64_MAX;
		value = value > most ? most : value;
		int64_t number;
		assert_true(scan_decimal(text, (size_t)n, 3, &number));
		assert_true((__int128)number == (negative ? -value : value));
	}
}

static void escapes_are_resolved(void **state)
{
	static const char *const pairs[][2] = {
		{"a\\n\\t\\\"\\\\\\/b", "a\n\t\"\\/b"},
		{"\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac"},
		{"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
		{"\\ud83dx\\udc00", "\xef\xbf\xbdx\xef\xbf\xbd"},
		{"\\u12", "u12"},
		{"\\q\\", "q\\"},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char out[64];
		size_t n = scan_unescape(pairs[i][0], strlen(pairs[i][0]), out);
		assert_int_equal(n, strlen(pairs[i][1]));
		assert_memory_equal(out, pairs[i][1], n);
	}
}

/* A text with what stands behind a window. */
struct padded {
	char bytes[4096 + SOURCE_PAD];
	const char *end;
};

static struct scan scan_text(struct padded *padded, const char *text)
{
	size_t n = strlen(text);
	memset(padded, 0, sizeof *padded);
	memcpy(padded->bytes, text, n);
	padded->bytes[n] = '"';
	return scan_over(padded->bytes, padded->bytes + n);
}

static enum scan_status status_of(const char *text, bool lenient, struct scan_value *value)
{
	static struct padded padded;
	struct scan scan = scan_text(&padded, text);
	scan.lenient = lenient;
	scan_value(&scan, value);
	return scan.status;
}

static void values_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		enum scan_type type;
		bool odd;
	} cases[] = {
		{"\"x\"", SCAN_STRING, false},
		{"12 ", SCAN_NUMBER, false},
		{"-1.5e+3,", SCAN_NUMBER, false},
		{"true ", SCAN_WORD, false},
		{"null}", SCAN_WORD, false},
		{"NaN ", SCAN_WORD, true},
		{"-Infinity ", SCAN_WORD, true},
		{"inf,", SCAN_WORD, true},
		{"1.2.3 ", SCAN_WORD, true},
		{"{\"a\": [1, {}]} ", SCAN_OBJECT, false},
		{"[[], [1], \"]\"] ", SCAN_ARRAY, false},
		{"[1, 2,] ", SCAN_ARRAY, true},
		{"{\"a\": NaN} ", SCAN_OBJECT, true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scan_value value;
		assert_int_equal(status_of(cases[i].text, false, &value), SCAN_OK);
		assert_int_equal(value.type, cases[i].type);
		assert_int_equal(value.odd, cases[i].odd);
	}
}

static void what_is_not_json_is_refused(void **state)
{
	static const char *const bad[] = {"[1 2] ",
					  "{\"a\" 1} ",
					  "{\"a\":} ",
					  "[} ",
					  "{] ",
					  "{1:2} ",
					  "[,1] ",
					  "{,} ",
					  "[1,,2] ",
					  ": ",
					  "} ",
					  "[\"a\" \"b\"] ",
					  "{\"a\":1 \"b\":2} ",
					  "\x01 "};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct scan_value value;
		assert_int_equal(status_of(bad[i], false, &value), SCAN_BAD);
	}
}

static void a_text_that_ends_wants_more_wherever_it_is_cut(void **state)
{
	const char *whole = "{\"a\\\"b\": [1.5e3, \"x\\\\\", {\"y\": null}], \"c\" : \"\\u00e9\"}";
	char part[128];
	for (size_t n = 0; n < strlen(whole); n++) {
		struct scan_value value;
		memcpy(part, whole, n);
		part[n] = 0;
		assert_int_equal(status_of(part, false, &value), SCAN_MORE);
	}
}

static void nesting_has_an_end(void **state)
{
	char text[300] = {0};
	struct scan_value value;
	memset(text, '[', SCAN_DEPTH_MOST);
	memset(text + SCAN_DEPTH_MOST, ']', SCAN_DEPTH_MOST);
	assert_int_equal(status_of(text, false, &value), SCAN_OK);
	memset(text, '[', 200);
	assert_int_equal(status_of(text, false, &value), SCAN_DEEP);
}

static void bare_quotes_are_part_of_a_string_where_asked(void **state)
{
	static struct padded padded;
	struct scan scan = scan_text(
		&padded, "{\"name\": \"say \"hi\", he said\", \"x\": [\"a\"b\", \"c\"]} ");
	struct hwy_text key;
	struct scan_value value;
	scan.lenient = true;
	assert_true(scan_enter(&scan, '{'));
	assert_true(scan_key(&scan, &key));
	assert_true(scan_value(&scan, &value));
	assert_int_equal(value.length, strlen("say \"hi\", he said"));
	assert_true(scan_key(&scan, &key));
	assert_true(scan_value(&scan, &value));
	assert_int_equal(value.type, SCAN_ARRAY);
	assert_false(scan_key(&scan, &key));
	assert_int_equal(scan.status, SCAN_OK);
}

/* ---- the window ------------------------------------------------------------------------------------ */

static char file_name[64];

static const char *write_file(const void *bytes, size_t length)
{
	strcpy(file_name, "/tmp/headway-scan-XXXXXX");
	int fd = mkstemp(file_name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
	return file_name;
}

static size_t gzip(const char *text, size_t length, unsigned char *out, size_t room)
{
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned)length;
	z.next_out = out;
	z.avail_out = (unsigned)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t n = room - z.avail_out;
	deflateEnd(&z);
	return n;
}

/* Reads all, keeping at most 'keep' bytes in the window; yields the length, or -1. */
static long read_all(const char *path, size_t window, size_t keep, char *to, struct source *source,
		     struct hwy_err *err)
{
	long n = 0;
	bool ok = source_open(source, path, window, err);
	while (ok) {
		size_t there = (size_t)(source->end - source->cursor);
		size_t take = source->finished ? there : there > keep ? there - keep : 0;
		assert_int_equal(*source->end, '"');
		assert_int_equal(source_offset(source), n);
		memcpy(to + n, source->cursor, take);
		n += (long)take;
		source->cursor += take;
		if (source->finished)
			break;
		ok = source_more(source, NULL, err);
	}
	return ok ? n : -1;
}

static char sample[20000], copy[100000];

static void fill_sample(void)
{
	for (size_t i = 0; i < sizeof sample; i++)
		sample[i] = (char)('a' + (i * i / 7) % 26);
}

static void plain_and_gzip_files_give_the_same_bytes(void **state)
{
	static unsigned char packed[40000];
	struct hwy_err err;
	struct source source;
	fill_sample();
	size_t first = gzip(sample, 8000, packed, sizeof packed);
	size_t both = first + gzip(sample + 8000, sizeof sample - 8000, packed + first,
				   sizeof packed - first);
	for (int gz = 0; gz < 2; gz++) {
		const char *path =
			gz ? write_file(packed, both) : write_file(sample, sizeof sample);
		for (size_t window = 16; window < 40000; window *= 3)
			for (size_t keep = 0; keep < 3000; keep = keep * 2 + 1) {
				assert_int_equal(read_all(path, window, keep, copy, &source, &err),
						 sizeof sample);
				assert_memory_equal(copy, sample, sizeof sample);
				assert_false(source.garbage);
				source_close(&source);
			}
		unlink(path);
	}
}

static void gzip_data_cut_anywhere_is_an_error_with_its_offset(void **state)
{
	static unsigned char packed[40000];
	struct hwy_err err;
	struct source source;
	fill_sample();
	size_t length = gzip(sample, 3000, packed, sizeof packed);
	for (size_t n = 2; n < length; n += n < 40 ? 1 : 37) {
		const char *path = write_file(packed, n);
		char offset[40];
		snprintf(offset, sizeof offset, "truncated at byte %zu", n);
		assert_int_equal(read_all(path, 64, 0, copy, &source, &err), -1);
		assert_non_null(strstr(err.text, offset));
		source_close(&source);
		unlink(path);
	}
}

static void damaged_gzip_data_is_an_error(void **state)
{
	static unsigned char packed[40000];
	struct hwy_err err;
	struct source source;
	fill_sample();
	size_t length = gzip(sample, sizeof sample, packed, sizeof packed);
	packed[length - 6] ^= 1; /* its checksum */
	const char *path = write_file(packed, length);
	assert_int_equal(read_all(path, SOURCE_WINDOW, 0, copy, &source, &err), -1);
	assert_non_null(strstr(err.text, "bad gzip data"));
	source_close(&source);
	unlink(path);
}

static void bytes_behind_gzip_data_are_ignored_and_noted(void **state)
{
	static unsigned char packed[40000];
	struct hwy_err err;
	struct source source;
	fill_sample();
	size_t length = gzip(sample, sizeof sample, packed, sizeof packed);
	memcpy(packed + length, "\0\0garbage", 9);
	const char *path = write_file(packed, length + 9);
	assert_int_equal(read_all(path, 1000, 10, copy, &source, &err), sizeof sample);
	assert_true(source.garbage);
	source_close(&source);
	unlink(path);
}

static void files_that_are_none_are_refused(void **state)
{
	struct hwy_err err;
	struct source source;
	assert_false(source_open(&source, "/tmp", 64, &err));
	assert_string_equal(err.text, "/tmp: is a directory");
	source_close(&source);
	assert_false(source_open(&source, "/nonexistent/x", 64, &err));
	source_close(&source);
	const char *path = write_file("", 0);
	assert_false(source_open(&source, path, 64, &err));
	assert_non_null(strstr(err.text, "is empty"));
	source_close(&source);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals_become_integers_exactly),
		cmocka_unit_test(further_digits_are_rounded_half_up),
		cmocka_unit_test(numbers_too_large_are_clamped),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(random_decimals_agree_with_wide_arithmetic),
		cmocka_unit_test(escapes_are_resolved),
		cmocka_unit_test(values_are_told_apart),
		cmocka_unit_test(what_is_not_json_is_refused),
		cmocka_unit_test(a_text_that_ends_wants_more_wherever_it_is_cut),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(bare_quotes_are_part_of_a_string_where_asked),
		cmocka_unit_test(plain_and_gzip_files_give_the_same_bytes),
		cmocka_unit_test(gzip_data_cut_anywhere_is_an_error_with_its_offset),
		cmocka_unit_test(damaged_gzip_data_is_an_error),
		cmocka_unit_test(bytes_behind_gzip_data_are_ignored_and_noted),
		cmocka_unit_test(files_that_are_none_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
