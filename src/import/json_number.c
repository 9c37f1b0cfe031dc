/* json_number.c - exact numbers and texts from slices of JSON; see json_scan.h.
 *
 * Times are decimals of microseconds with three or more places. A double holds 53 bits, and nanoseconds
 * since 1970 need 61, so nothing here passes through one.
 */
#include <string.h>

#include "import/json_scan.h"

struct decimal {
	bool negative;
	const char *digits, *end; /* digits with at most one '.' among them */
	int64_t point;            /* how many digits stand before the point, exponent included */
};

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* The exponent; beyond +-100000 it makes no difference. */
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
		return false; /* nothing, or only a point */
	int64_t exponent = 0;
	if (at < end && (*at == 'e' || *at == 'E')) {
		if (!read_exponent(at + 1, end, &exponent))
			return false;
		at = end;
	}
	decimal->point += exponent;
	return at == end;
}

/* The digits before the point as a number, rounded by the first one behind it. */
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

/* Nearly all: no sign, no exponent, no more than 'shift' places, and at most 19 digits in the end, which 64
 * bits hold. */
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

/* Addresses and handles: all 64 bits are kept, the topmost as the sign. */
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

/* The four hexadecimal digits of an escape, or -1. */
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

/* At most three bytes for an escape of six, four for one of twelve: never more than the text had. */
static size_t write_utf8(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | code);
	return n;
}

/* Behind "\u". Yields the bytes read; half a surrogate pair becomes U+FFFD. */
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
	*written = write_utf8((uint32_t)unit, out);
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
		default: *to++ = c; /* quote, backslash, slash; others stand for themselves */
		}
	}
	return (size_t)(to - out);
}
