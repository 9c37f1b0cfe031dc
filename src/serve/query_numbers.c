/* SPDX-License-Identifier: Apache-2.0 */
/* query_numbers.c - numbers with units, exactly: "1.1us" is 1100 ns, not 1100.0000000000002. */
#include <strings.h>

#include "serve/query.h"

enum { MOST_DIGITS = 18 };

static const struct {
	enum query_unit of;
	const char *name;
	int64_t size;
} units[] = {
	{QUERY_TIME, "ns", 1},
	{QUERY_TIME, "us", 1000},
	{QUERY_TIME, "\xc2\xb5s", 1000}, /* the micro sign */
	{QUERY_TIME, "\xce\xbcs", 1000}, /* the Greek letter */
	{QUERY_TIME, "ms", 1000000},
	{QUERY_TIME, "s", 1000000000},
	{QUERY_TIME, "min", INT64_C(60000000000)},
	{QUERY_TIME, "h", INT64_C(3600000000000)},
	{QUERY_BYTES, "B", 1},
	{QUERY_BYTES, "kB", 1000},
	{QUERY_BYTES, "MB", 1000000},
	{QUERY_BYTES, "GB", 1000000000},
	{QUERY_BYTES, "TB", INT64_C(1000000000000)},
	{QUERY_BYTES, "KiB", 1 << 10},
	{QUERY_BYTES, "MiB", 1 << 20},
	{QUERY_BYTES, "GiB", 1 << 30},
	{QUERY_BYTES, "TiB", INT64_C(1) << 40},
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* Reads the unit at 'text'; no unit is ns, bytes or nothing. NULL where the letters are no unit
 * of this kind. */
static const char *quantity_unit(const char *text, const char *end, enum query_unit of,
				 int64_t *size)
{
	const char *stop = text;
	while (stop < end && is_letter(*stop))
		stop++;
	size_t length = (size_t)(stop - text);
	enum query_unit family = of == QUERY_BYTES_A_SECOND ? QUERY_BYTES : of;
	*size = 1;
	if (length == 0)
		return stop;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (units[i].of != family || strlen(units[i].name) != length ||
		    strncasecmp(units[i].name, text, length) != 0)
			continue;
		*size = units[i].size;
		if (of == QUERY_BYTES_A_SECOND && end - stop >= 2 && stop[0] == '/' &&
		    stop[1] == 's')
			stop += 2;
		return stop;
	}
	return NULL;
}

static int64_t query_numbers_clamp(__int128 value)
{
	return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

const char *query_read_quantity(const char *text, const char *end, enum query_unit unit,
				struct query_quantity *quantity)
{
	bool is_negative = text < end && *text == '-';
	const char *at = text + is_negative;
	__int128 digits = 0, parts = 1;
	unsigned n = 0, n_parts = 0;
	for (; at < end && *at >= '0' && *at <= '9' && n < MOST_DIGITS; n++)
		digits = digits * 10 + (*at++ - '0');
	/* "10..20" is a range, and no number with a fraction. */
	if (at + 1 < end && at[0] == '.' && at[1] >= '0' && at[1] <= '9')
		for (at++; at < end && *at >= '0' && *at <= '9' && n + n_parts < MOST_DIGITS;
		     n_parts++, parts *= 10)
			digits = digits * 10 + (*at++ - '0');
	if (n + n_parts == 0 || (at < end && *at >= '0' && *at <= '9'))
		return NULL;
	int64_t size;
	at = quantity_unit(at, end, unit, &size);
	if (!at)
		return NULL;
	__int128 value = digits * size * (is_negative ? -1 : 1);
	__int128 below = value / parts - (value % parts < 0);
	*quantity = (struct query_quantity){
		.floor = query_numbers_clamp(below),
		.ceiling = query_numbers_clamp(below + (value % parts != 0)),
		.real = (double)value / (double)parts,
	};
	return at;
}
