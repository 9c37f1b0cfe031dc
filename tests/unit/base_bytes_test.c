/* SPDX-License-Identifier: Apache-2.0 */
/* base_bytes_test.c - numbers into bytes and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

/* Numbers of every length in bits. */
static uint64_t random_number(void)
{
	uint64_t bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
	return bits >> rand() % 64;
}

static void every_number_comes_back_as_it_was_put(void **state)
{
	enum { NUMBERS = 20000 };
	struct hwy_bytes buffer = {0};
	srand(1);
	for (int i = 0; i < NUMBERS; i++) {
		uint64_t value = random_number();
		hwy_bytes_put_varint(&buffer, value);
		hwy_bytes_put_zigzag(&buffer, (int64_t)value);
		hwy_bytes_put_zigzag(&buffer, -(int64_t)(value >> 1));
		hwy_bytes_put_little(&buffer, value, 1u + (unsigned)i % 8);
		hwy_bytes_put_double(&buffer, (double)value / 3);
		hwy_bytes_put_float(&buffer, (float)value / 3);
		hwy_bytes_put_byte(&buffer, (uint8_t)value);
	}
	struct hwy_bytes_reader reader = hwy_bytes_reader(buffer.bytes, buffer.n);
	srand(1);
	for (int i = 0; i < NUMBERS; i++) {
		uint64_t value = random_number();
		unsigned n = 1u + (unsigned)i % 8;
		assert_true(hwy_bytes_read_varint(&reader) == value);
		assert_true(hwy_bytes_read_zigzag(&reader) == (int64_t)value);
		assert_true(hwy_bytes_read_zigzag(&reader) == -(int64_t)(value >> 1));
		assert_true(hwy_bytes_read_little(&reader, n) ==
			    (n == 8 ? value : value & ((UINT64_C(1) << 8 * n) - 1)));
		assert_true(hwy_bytes_read_double(&reader) == (double)value / 3);
		assert_true(hwy_bytes_read_float(&reader) == (float)value / 3);
		assert_int_equal(hwy_bytes_read_byte(&reader), (uint8_t)value);
	}
	assert_false(reader.is_bad);
	assert_ptr_equal(reader.next, reader.end);
	hwy_bytes_free(&buffer);
	assert_null(buffer.bytes);
}

static void the_bytes_are_those_of_the_format(void **state)
{
	static const uint8_t want[] = {0x00, 0x7f, 0x80, 0x01, 0xac, 0x02, 0x03, 0x04,
				       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				       0xff, 0x01, 0x01, 0x02, 0x00, 0x00, 'o',  'k'};
	struct hwy_bytes buffer = {0};
	hwy_bytes_put_varint(&buffer, 0);
	hwy_bytes_put_varint(&buffer, 0x7f);
	hwy_bytes_put_varint(&buffer, 0x80);
	hwy_bytes_put_varint(&buffer, 300);
	hwy_bytes_put_zigzag(&buffer, -2);
	hwy_bytes_put_zigzag(&buffer, 2);
	hwy_bytes_put_zigzag(&buffer, INT64_MIN);
	hwy_bytes_put_little(&buffer, 0x0201, 4);
	hwy_bytes_put(&buffer, NULL, 0);
	hwy_bytes_put(&buffer, "ok", 2);
	assert_int_equal(buffer.n, sizeof want);
	assert_memory_equal(buffer.bytes, want, sizeof want);
	hwy_bytes_free(&buffer);
}

static void zigzag_keeps_every_number(void **state)
{
	static const int64_t values[] = {0, -1, 1, -2, INT64_MIN, INT64_MAX};
	for (size_t i = 0; i < 6; i++)
		assert_true(hwy_unzigzag(hwy_zigzag(values[i])) == values[i]);
	assert_true(hwy_zigzag(-1) == 1);
	assert_true(hwy_zigzag(1) == 2);
}

static void reading_past_the_end_yields_zeros_and_is_told(void **state)
{
	static const uint8_t bytes[] = {0x80, 0x80};
	struct hwy_bytes_reader reader = hwy_bytes_reader(bytes, 2);
	assert_int_equal(hwy_bytes_read_varint(&reader), 0);
	assert_true(reader.is_bad);
	reader = hwy_bytes_reader(bytes, 2);
	assert_int_equal(hwy_bytes_read_little(&reader, 4), 0);
	assert_true(reader.is_bad);
	assert_int_equal(hwy_bytes_read_byte(&reader), 0); /* the rest was skipped */
	reader = hwy_bytes_reader(NULL, 0);
	assert_int_equal(hwy_bytes_read_byte(&reader), 0);
	assert_true(reader.is_bad);
	reader = hwy_bytes_reader(bytes, 2);
	assert_null(hwy_bytes_take(&reader, UINT64_MAX));
	assert_true(reader.is_bad);
}

static void a_varint_of_more_than_64_bits_is_bad(void **state)
{
	uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	struct hwy_bytes_reader reader = hwy_bytes_reader(bytes, sizeof bytes);
	assert_true(hwy_bytes_read_varint(&reader) == UINT64_MAX);
	assert_false(reader.is_bad);
	bytes[9] = 0x02;
	reader = hwy_bytes_reader(bytes, sizeof bytes);
	assert_true(hwy_bytes_read_varint(&reader) == 0);
	assert_true(reader.is_bad);
}

static void a_count_above_its_limit_is_bad(void **state)
{
	static const uint8_t bytes[] = {5, 5};
	struct hwy_bytes_reader reader = hwy_bytes_reader(bytes, 2);
	assert_int_equal(hwy_bytes_read_count(&reader, 5), 5);
	assert_false(reader.is_bad);
	assert_int_equal(hwy_bytes_read_count(&reader, 4), 0);
	assert_true(reader.is_bad);
}

static void reserved_room_can_be_written_to(void **state)
{
	struct hwy_bytes buffer = {0};
	for (unsigned i = 0; i < 1000; i++) {
		uint8_t *room = hwy_bytes_reserve(&buffer, HWY_VARINT_BYTES);
		buffer.n += (size_t)(hwy_varint_write(room, i) - room);
	}
	struct hwy_bytes_reader reader = hwy_bytes_reader(buffer.bytes, buffer.n);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(hwy_bytes_read_varint(&reader), i);
	hwy_bytes_free(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_comes_back_as_it_was_put),
		cmocka_unit_test(the_bytes_are_those_of_the_format),
		cmocka_unit_test(zigzag_keeps_every_number),
		cmocka_unit_test(reading_past_the_end_yields_zeros_and_is_told),
		cmocka_unit_test(a_varint_of_more_than_64_bits_is_bad),
		cmocka_unit_test(a_count_above_its_limit_is_bad),
		cmocka_unit_test(reserved_room_can_be_written_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
