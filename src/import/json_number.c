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
	int64_t point; /* number of digits before the point, after the exponent moved it */
};

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* Reads the exponent; beyond ±100000 further digits make no difference and are ignored. */
static bool read_exponent(const char *at, const char *end, int64_t *exponent)
{
	bool negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end || skip_digits(at, end) != end)
		return false;
	int64_t value = 0;
	for (; at < end; at++)
		value = value < 100000 ? value * 10 + (*at - '0') : value;
	*exponent = negative ? -value : value;
	return true;
}

static bool read_decimal(const char *text, size_t length, struct decimal *decimal)
{
	const char *at = text, *end = text + length;
	*decimal = (struct decimal){.negative = at < end && *at == '-'};
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	decimal->digits = at;
	at = skip_digits(at, end);
	decimal->point = at - decimal->digits;
	if (at < end && *at == '.')
		at = skip_digits(at + 1, end);
	decimal->end = at;
	if (at - decimal->digits <= (decimal->point == 0))
		return false; /* no digit, at most a point */
	int64_t exponent = 0;
	if (at < end && (*at == 'e' || *at == 'E')) {
		if (!read_exponent(at + 1, end, &exponent))
			return false;
		at = end;
	}
	decimal->point += exponent;
	return at == end;
}

/* The digits before the point as a number, rounded by the first digit behind the point. */
static int64_t round_decimal(const struct decimal *decimal)
{
	const uint64_t most = (uint64_t)INT64_MAX + decimal->negative;
	uint64_t number = 0;
	int64_t left = decimal->point;
	const char *at = decimal->digits;
	for (; at < decimal->end && left > 0; at++) {
		if (*at == '.')
			continue;
		unsigned digit = (unsigned)(*at - '0');
		number = number > (most - digit) / 10 ? most : number * 10 + digit;
		left--;
	}
	for (; left > 0 && number != 0 && number != most; left--)
		number = number > most / 10 ? most : number * 10;
	if (at < decimal->end && *at == '.')
		at++;
	if (left == 0 && at < decimal->end && *at >= '5' && number < most)
		number++;
	if (!decimal->negative)
		return (int64_t)number;
	return number > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)number;
}

/* Reads nearly all decimals, quickly: those without sign and exponent, with at most 'shift' places
 * behind the point and at most 19 digits in the result, which fit 64 bits. False: scan_decimal must
 * take the slow way. */
static inline bool short_decimal(const char *at, const char *end, int shift, int64_t *number)
{
	uint64_t value = 0;
	const char *start = at, *most = start + 19 - shift;
	for (; at < end && at < most && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	int left = shift;
	if (at > start && at + 1 < end && *at == '.')
		for (at++; at < end && left > 0 && *at >= '0' && *at <= '9'; at++, left--)
			value = value * 10 + (uint64_t)(*at - '0');
	for (; left > 0; left--)
		value *= 10;
	*number = (int64_t)value;
	return at == end && at > start && value <= INT64_MAX;
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
static bool read_hex(const char *at, const char *end, int64_t *number)
{
	uint64_t value = 0;
	if (at == end || end - at > 16)
		return false;
	for (; at < end; at++) {
		int digit = hex_digit(*at);
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
	if (value->length > 2 && value->at[0] == '0' && (value->at[1] | 0x20) == 'x')
		return read_hex(value->at + 2, value->at + value->length, number);
	return scan_decimal(value->at, value->length, 0, number);
}

/* The number of the four hexadecimal digits of an escape; -1: there are none. */
static int32_t read_unit(const char *at, const char *end)
{
	int32_t unit = 0;
	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(at[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* Resolves an escape whose "\u" was read; yields the number of bytes read. Half a surrogate pair
 * becomes U+FFFD. At most three bytes are written for an escape of six, and four for a pair of
 * twelve: never more than the text had. */
static size_t unescape_unit(const char *at, const char *end, char *out, size_t *written)
{
	int32_t unit = read_unit(at, end);
	size_t taken = 4;
	if (unit < 0) {
		out[0] = 'u';
		*written = 1;
		return 0;
	}
	if (unit >= 0xd800 && unit < 0xe000) {
		int32_t low = unit < 0xdc00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u'
				      ? read_unit(at + 6, end)
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
	const char *at = text, *end = text + length;
	char *to = out;
	while (at < end) {
		if (*at != '\\' || at + 1 == end) {
			*to++ = *at++;
			continue;
		}
		size_t written;
		char c = at[1];
		at += 2;
		switch (c) {
		case 'n': *to++ = '\n'; break;
		case 't': *to++ = '\t'; break;
		case 'r': *to++ = '\r'; break;
		case 'b': *to++ = '\b'; break;
		case 'f': *to++ = '\f'; break;
		case 'u':
			at += unescape_unit(at, end, to, &written);
			to += written;
			break;
		default: *to++ = c; /* quote, backslash, slash; and unknown escapes, as they are */
		}
	}
	return (size_t)(to - out);
}
