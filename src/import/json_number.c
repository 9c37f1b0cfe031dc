/* SPDX-License-Identifier: Apache-2.0 */
/* json_number.c - turns slices of JSON into exact numbers and texts; see json_scan.h.
 *
 * Times are decimals of microseconds with three or more places. Nanoseconds since 1970 need 61 bits
 * and a double holds 53, so no number here is ever a double.
 */
#include <string.h>

#include "base/utf8.h"
#include "import/json_scan.h"

struct decimal {
	bool negative;
	const char *digits, *end; /* the digits, with at most one '.' among them */
	/* Number of digits before the decimal point, after the exponent moved the point. */
	int64_t point;
};

static const char *skip_digits(const char *cursor, const char *end)
{
	while (cursor < end && *cursor >= '0' && *cursor <= '9')
		cursor++;
	return cursor;
}

/* Reads the exponent; beyond ±100000 further digits make no difference and are ignored. */
static bool read_exponent(const char *cursor, const char *end, int64_t *exponent)
{
	bool negative = cursor < end && *cursor == '-';
	if (cursor < end && (*cursor == '-' || *cursor == '+'))
		cursor++;
	if (cursor == end || skip_digits(cursor, end) != end)
		return false;
	int64_t value = 0;
	for (; cursor < end; cursor++)
		value = value < 100000 ? value * 10 + (*cursor - '0') : value;
	*exponent = negative ? -value : value;
	return true;
}

static bool read_decimal(const char *text, size_t length, struct decimal *decimal)
{
	const char *cursor = text, *end = text + length;
	*decimal = (struct decimal){.negative = cursor < end && *cursor == '-'};
	if (cursor < end && (*cursor == '-' || *cursor == '+'))
		cursor++;
	decimal->digits = cursor;
	cursor = skip_digits(cursor, end);
	decimal->point = cursor - decimal->digits;
	if (cursor < end && *cursor == '.')
		cursor = skip_digits(cursor + 1, end);
	decimal->end = cursor;
	/* The text has no digit, at most a decimal point. */
	if (cursor - decimal->digits <= (decimal->point == 0))
		return false;
	int64_t exponent = 0;
	if (cursor < end && (*cursor == 'e' || *cursor == 'E')) {
		if (!read_exponent(cursor + 1, end, &exponent))
			return false;
		cursor = end;
	}
	decimal->point += exponent;
	return cursor == end;
}

/* Yields the digits before the decimal point as a number, rounded by the first digit behind the
 * point. */
static int64_t round_decimal(const struct decimal *decimal)
{
	const uint64_t most = (uint64_t)INT64_MAX + decimal->negative;
	uint64_t number = 0;
	int64_t left = decimal->point;
	const char *cursor = decimal->digits;
	for (; cursor < decimal->end && left > 0; cursor++) {
		if (*cursor == '.')
			continue;
		unsigned digit = (unsigned)(*cursor - '0');
		number = number > (most - digit) / 10 ? most : number * 10 + digit;
		left--;
	}
	for (; left > 0 && number != 0 && number != most; left--)
		number = number > most / 10 ? most : number * 10;
	if (cursor < decimal->end && *cursor == '.')
		cursor++;
	if (left == 0 && cursor < decimal->end && *cursor >= '5' && number < most)
		number++;
	if (!decimal->negative)
		return (int64_t)number;
	return number > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)number;
}

/* Reads nearly all decimals, quickly: those without sign and exponent, with at most 'shift' places
 * behind the point and at most 19 digits in the result, which fit 64 bits. False: scan_decimal must
 * take the slow way. */
static inline bool short_decimal(const char *cursor, const char *end, int shift, int64_t *number)
{
	uint64_t value = 0;
	const char *start = cursor, *most = start + 19 - shift;
	for (; cursor < end && cursor < most && *cursor >= '0' && *cursor <= '9'; cursor++)
		value = value * 10 + (uint64_t)(*cursor - '0');
	int left = shift;
	if (cursor > start && cursor + 1 < end && *cursor == '.')
		for (cursor++; cursor < end && left > 0 && *cursor >= '0' && *cursor <= '9';
		     cursor++, left--)
			value = value * 10 + (uint64_t)(*cursor - '0');
	for (; left > 0; left--)
		value *= 10;
	*number = (int64_t)value;
	return cursor == end && cursor > start && value <= INT64_MAX;
}

bool scan_decimal(const char *text, size_t length, int shift, int64_t *number)
{
	if (short_decimal(text, text + length, shift, number))
		return true;
	struct decimal decimal;
	if (!read_decimal(text, length, &decimal))
		return false;
	decimal.point += shift;
	*number = round_decimal(&decimal);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads an address or handle: all 64 bits are kept, so a number above INT64_MAX becomes
 * negative. */
static bool read_hex(const char *cursor, const char *end, int64_t *number)
{
	uint64_t value = 0;
	if (cursor == end || end - cursor > 16)
		return false;
	for (; cursor < end; cursor++) {
		int digit = hex_digit(*cursor);
		if (digit < 0)
			return false;
		value = value << 4 | (unsigned)digit;
	}
	*number = (int64_t)value;
	return true;
}

bool scan_integer(const struct scan_value *value, int64_t *number)
{
	if (value->type != SCAN_NUMBER && value->type != SCAN_STRING)
		return false;
	if (value->length > 2 && value->text[0] == '0' && (value->text[1] | 0x20) == 'x')
		return read_hex(value->text + 2, value->text + value->length, number);
	return scan_decimal(value->text, value->length, 0, number);
}

/* Yields the number of the four hexadecimal digits of an escape; -1: there are no four digits. */
static int32_t read_unit(const char *cursor, const char *end)
{
	int32_t unit = 0;
	if (end - cursor < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(cursor[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* Resolves an escape whose "\u" was read; yields the number of bytes read. Half a surrogate pair
 * becomes U+FFFD. At most three bytes are written for an escape of six, and four for a pair of
 * twelve: never more than the text had. */
static size_t unescape_unit(const char *cursor, const char *end, char *out, size_t *written)
{
	int32_t unit = read_unit(cursor, end);
	size_t taken = 4;
	if (unit < 0) {
		out[0] = 'u';
		*written = 1;
		return 0;
	}
	if (unit >= 0xd800 && unit < 0xe000) {
		int32_t low =
			unit < 0xdc00 && end - cursor >= 10 && cursor[4] == '\\' && cursor[5] == 'u'
				? read_unit(cursor + 6, end)
				: -1;
		if (low >= 0xdc00 && low < 0xe000) {
			unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
			taken = 10;
		} else {
			unit = 0xfffd;
		}
	}
	*written = hwy_utf8_encode(out, (uint32_t)unit);
	return taken;
}

size_t scan_unescape(const char *text, size_t length, char *out)
{
	const char *cursor = text, *end = text + length;
	char *to = out;
	while (cursor < end) {
		if (*cursor != '\\' || cursor + 1 == end) {
			*to++ = *cursor++;
			continue;
		}
		size_t written;
		char c = cursor[1];
		cursor += 2;
		switch (c) {
		case 'n': *to++ = '\n'; break;
		case 't': *to++ = '\t'; break;
		case 'r': *to++ = '\r'; break;
		case 'b': *to++ = '\b'; break;
		case 'f': *to++ = '\f'; break;
		case 'u':
			cursor += unescape_unit(cursor, end, to, &written);
			to += written;
			break;
		/* A quote, backslash or slash stands for itself; so does an unknown escape. */
		default: *to++ = c;
		}
	}
	return (size_t)(to - out);
}
