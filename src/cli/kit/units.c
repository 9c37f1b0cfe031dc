/* units.c - see units.h. Integer arithmetic all the way: a printed digit is never off by a rounding. */
#include "cli/kit/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct units_text units_count(uint64_t n)
{
	struct units_text digits, text = {0};
	int length = snprintf(digits.at, sizeof digits.at, "%" PRIu64, n);
	char *to = text.at;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits.at[i];
	}
	return text;
}

/* value * 10^decimals / unit, rounded half up; 128 bits, since the product may not fit 64. */
static uint64_t shifted(uint64_t value, uint64_t unit, int decimals)
{
	unsigned __int128 scale = 1;
	for (int i = 0; i < decimals; i++)
		scale *= 10;
	return (uint64_t)((value * scale + unit / 2) / unit);
}

/* value/unit with as many decimals as make 'digits' digits: 9.999, then 10.00. */
static struct units_text scaled(uint64_t value, uint64_t unit, int digits, const char *name)
{
	struct units_text text;
	int decimals = digits - 1;
	uint64_t limit = 1;
	for (int i = 0; i < digits; i++)
		limit *= 10;
	while (decimals > 0 && shifted(value, unit, decimals) >= limit)
		decimals--;
	uint64_t rounded = shifted(value, unit, decimals), scale = shifted(1, 1, decimals);
	if (decimals)
		snprintf(text.at, sizeof text.at, "%" PRIu64 ".%0*" PRIu64 " %s", rounded / scale,
			 decimals, rounded % scale, name);
	else
		snprintf(text.at, sizeof text.at, "%" PRIu64 " %s", rounded, name);
	return text;
}

struct units_text units_bytes(uint64_t bytes)
{
	static const char *const names[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	struct units_text text;
	if (bytes < 1000) {
		snprintf(text.at, sizeof text.at, "%" PRIu64 " bytes", bytes);
		return text;
	}
	uint64_t unit = 1000;
	size_t i = 0;
	for (; i + 1 < sizeof names / sizeof *names && bytes / unit >= 1000; i++)
		unit *= 1000;
	return scaled(bytes, unit, 3, names[i]);
}

struct units_text units_gib(uint64_t bytes)
{
	return scaled(bytes, UINT64_C(1) << 30, 4, "GiB");
}

struct units_text units_time(int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	/* 999.95 µs and more is better said as 1.000 ms. */
	struct units_text text = n < 1000        ? scaled(n, 1, 1, "ns")
				 : n < 999950    ? scaled(n, 1000, 4, "µs")
				 : n < 999950000 ? scaled(n, 1000000, 4, "ms")
						 : scaled(n, 1000000000, 4, "s");
	if (ns < 0) {
		memmove(text.at + 1, text.at, sizeof text.at - 2);
		text.at[0] = '-';
	}
	return text;
}

struct units_text units_wall(int64_t unix_ns)
{
	struct units_text text;
	time_t seconds = (time_t)(unix_ns / 1000000000 - (unix_ns % 1000000000 < 0));
	struct tm tm;
	if (!gmtime_r(&seconds, &tm) ||
	    strftime(text.at, sizeof text.at, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
		snprintf(text.at, sizeof text.at, "%" PRId64 " ns", unix_ns);
	return text;
}
