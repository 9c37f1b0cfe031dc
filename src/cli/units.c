/* units.c - see units.h. Integer arithmetic all the way: a printed digit is never off by a rounding. */
#include "cli/units.h"

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

/* value/unit with as many decimals as make 'digits' digits, rounded half up. */
static struct units_text scaled(uint64_t value, uint64_t unit, int digits, const char *name)
{
	struct units_text text;
	int decimals = digits - 1;
	for (uint64_t whole = value / unit; whole >= 10 && decimals > 0; whole /= 10)
		decimals--;
	uint64_t scale = 1;
	for (int i = 0; i < decimals; i++)
		scale *= 10;
	/* 128 bits: value times 1000 may not fit 64. */
	uint64_t rounded = (uint64_t)(((unsigned __int128)value * scale + unit / 2) / unit);
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
	struct units_text text = n < 1000         ? scaled(n, 1, 1, "ns")
				 : n < 1000000    ? scaled(n, 1000, 4, "us")
				 : n < 1000000000 ? scaled(n, 1000000, 4, "ms")
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
