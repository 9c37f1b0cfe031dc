/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - see say.h. */
#include "base/say.h"
#include "base/lang.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MINUS "−" /* U+2212 */

static struct hwy_words say_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct hwy_words say_format(const char *format, ...)
{
	struct hwy_words result;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(result.text, sizeof result.text, format, arguments);
	va_end(arguments);
	return result;
}

/* Writes three digits, but never fewer than stand before the point: 5.85, 58.5, 585, 5850. */
static struct hwy_words three_digits(double value, const char *unit)
{
	double size = fabs(value);
	int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
	return say_format("%.*f %s", decimals, value, unit);
}

/* value * 10^decimals / unit, rounded half up; 128 bits, since the product may not fit 64. */
static uint64_t shifted(uint64_t value, uint64_t unit, int decimals)
{
	unsigned __int128 scale = 1;
	for (int i = 0; i < decimals; i++)
		scale *= 10;
	return (uint64_t)((value * scale + unit / 2) / unit);
}

/* Writes value / unit with as many decimals as make 'digits' digits: 9.999, then 10.00. Integer
 * arithmetic all the way: a printed digit is never off by a rounding. */
static struct hwy_words exact_digits(uint64_t value, uint64_t unit, int digits, const char *name)
{
	int decimals = digits - 1;
	uint64_t limit = 1;
	for (int i = 0; i < digits; i++)
		limit *= 10;
	while (decimals > 0 && shifted(value, unit, decimals) >= limit)
		decimals--;
	uint64_t rounded = shifted(value, unit, decimals), scale = shifted(1, 1, decimals);
	if (decimals == 0)
		return say_format("%" PRIu64 " %s", rounded, name);
	return say_format("%" PRIu64 ".%0*" PRIu64 " %s", rounded / scale, decimals,
			  rounded % scale, name);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* ---- times ----------------------------------------------------------------------------------- */

struct hwy_words hwy_say_time3(int64_t ns)
{
	double size = fabs((double)ns);
	if (size < 1000)
		return say_format("%d ns", (int)ns);
	return size < 999.5e3   ? three_digits((double)ns / 1e3, "µs")
	       : size < 999.5e6 ? three_digits((double)ns / 1e6, "ms")
				: three_digits((double)ns / 1e9, "s");
}

static struct hwy_words time3_after(const char *sign, int64_t ns)
{
	/* -INT64_MIN does not exist; one ns less is the same in three digits. */
	int64_t size = ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns;
	return say_format("%s%s", sign, hwy_say_time3(size).text);
}

struct hwy_words hwy_say_time3_signed(int64_t ns)
{
	return ns == 0 ? say_format("0") : time3_after(ns < 0 ? MINUS : "", ns);
}

struct hwy_words hwy_say_time3_change(int64_t ns)
{
	return ns == 0 ? say_format("0") : time3_after(ns < 0 ? MINUS : "+", ns);
}

struct hwy_words hwy_say_time4(int64_t ns)
{
	uint64_t n = magnitude(ns);
	/* From 999.95 µs on, rounding would show 1000 µs, so the unit becomes ms. */
	struct hwy_words size = n < 1000        ? exact_digits(n, 1, 1, "ns")
				: n < 999950    ? exact_digits(n, 1000, 4, "µs")
				: n < 999950000 ? exact_digits(n, 1000000, 4, "ms")
						: exact_digits(n, 1000000000, 4, "s");
	return ns < 0 ? say_format("-%s", size.text) : size;
}

struct hwy_words hwy_say_time_whole(int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (ns && ns % units[i].ns == 0)
			return say_format("%" PRId64 " %s", ns / units[i].ns, units[i].name);
	return hwy_say_time4(ns);
}

struct hwy_words hwy_say_time_on_ruler(int64_t ns, int64_t tick, bool utf8)
{
	const struct {
		int64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, utf8 ? "µs" : "us"}, {1, "ns"}};
	int unit = 0;
	while (tick % units[unit].ns != 0)
		unit++;
	return ns == 0 ? say_format("0")
		       : say_format("%" PRId64 " %s", ns / units[unit].ns, units[unit].name);
}

struct hwy_words hwy_say_wall_clock(int64_t unix_ns)
{
	struct hwy_words result;
	time_t seconds = (time_t)(unix_ns / 1000000000 - (unix_ns % 1000000000 < 0));
	struct tm tm;
	if (gmtime_r(&seconds, &tm) &&
	    strftime(result.text, sizeof result.text, "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		return result;
	return say_format("%" PRId64 " ns", unix_ns);
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* 99.6 % is not called 100 %: beside it something of 0.4 % is shown. */
static int share_decimals(double percent)
{
	percent = fabs(percent);
	return percent < 9.95 || (percent >= 99.5 && percent < 99.95) ? 1 : 0;
}

struct hwy_words hwy_say_share(double share)
{
	double percent = 100 * share;
	return say_format("%.*f %%", share_decimals(percent), percent);
}

struct hwy_words hwy_say_share_change(double share)
{
	double percent = fabs(100 * share);
	const char *sign = percent < 0.05 ? "" : share < 0 ? MINUS : "+";
	return say_format("%s%.*f %%", sign, share_decimals(percent), percent);
}

struct hwy_words hwy_say_share_1decimal(double share)
{
	return say_format("%.1f %%", 100 * share);
}

struct hwy_words hwy_say_part_1decimal(int64_t part, int64_t whole)
{
	double percent = whole ? (double)part * 100 / (double)whole : 0;
	return part > 0 && percent < 0.05 ? say_format("<0.1 %%") : say_format("%.1f %%", percent);
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct hwy_words hwy_say_digits_grouped(const char *digits)
{
	struct hwy_words result;
	size_t sign = digits[0] == '-', whole = strcspn(digits + sign, ".");
	char *to = result.text, *end = result.text + sizeof result.text - 1;
	if (sign)
		*to++ = '-';
	for (size_t i = 0; i < whole && to + 1 < end; i++) {
		if (i && (whole - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[sign + i];
	}
	snprintf(to, (size_t)(end + 1 - to), "%s", digits + sign + whole);
	return result;
}

struct hwy_words hwy_say_count_grouped(uint64_t count)
{
	return hwy_say_digits_grouped(say_format("%" PRIu64, count).text);
}

struct hwy_words hwy_say_count_mean(double count)
{
	bool is_whole = fabs(count - round(count)) < 0.05 || count >= 100;
	int decimals = is_whole ? 0 : 1;
	if (count > 0 && count < 0.95)
		decimals = count < 0.01 ? 4 : 2;
	return say_format("%.*f", decimals, count);
}

struct hwy_words hwy_say_count_of(double count, const char *one, const char *more)
{
	struct hwy_words number = hwy_say_count_mean(count);
	/* Another language has one form for all counts: that of 'more'. */
	const char *said = hwy_tr(more);
	return say_format("%.12s %.40s", number.text,
			  said == more && strcmp(number.text, "1") == 0 ? one : said);
}

struct hwy_words hwy_say_count_times(double count)
{
	struct hwy_words number = hwy_say_count_mean(count);
	if (strcmp(number.text, "1") == 0)
		return say_format("%s", hwy_tr("once"));
	if (strcmp(number.text, "2") == 0)
		return say_format("%s", hwy_tr("twice"));
	/* What is not whole is a mean, which some languages say. */
	return say_format(strchr(number.text, '.') ? hwy_tr_word(HWY_KEY("mean|%.20s times"))
						   : hwy_tr("%.20s times"),
			  number.text);
}

struct hwy_words hwy_say_count_2decimals(double count)
{
	bool is_whole = fabs(count - round(count)) < 0.005 || count >= 100;
	return say_format("%.*f", is_whole ? 0 : count >= 10 ? 1 : 2, count);
}

struct hwy_words hwy_say_count_3decimals(double count)
{
	return say_format("%.*f", fabs(count - round(count)) < 0.0005 ? 0 : 3, count);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct hwy_words hwy_say_bytes3(uint64_t bytes)
{
	static const char *const names[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	if (bytes < 1000)
		return say_format(hwy_tr("%" PRIu64 " bytes"), bytes);
	uint64_t unit = 1000;
	size_t i = 0;
	for (; i + 1 < sizeof names / sizeof *names && bytes / unit >= 1000; i++)
		unit *= 1000;
	return exact_digits(bytes, unit, 3, names[i]);
}

struct hwy_words hwy_say_bytes3_signed(int64_t bytes)
{
	return say_format("%s%s", bytes < 0 ? "-" : "", hwy_say_bytes3(magnitude(bytes)).text);
}

struct hwy_words hwy_say_bytes3_to_gb(uint64_t bytes)
{
	if (bytes < 1000)
		return say_format(hwy_tr("%d byte%s"), (int)bytes, bytes == 1 ? "" : "s");
	double size = (double)bytes;
	return size < 999.5e3   ? three_digits(size / 1e3, "kB")
	       : size < 999.5e6 ? three_digits(size / 1e6, "MB")
				: three_digits(size / 1e9, "GB");
}

struct hwy_words hwy_say_rate3(double bytes_per_s)
{
	return bytes_per_s < 1e9 ? three_digits(bytes_per_s / 1e6, "MB/s")
				 : three_digits(bytes_per_s / 1e9, "GB/s");
}

struct hwy_words hwy_say_gib4(uint64_t bytes)
{
	return exact_digits(bytes, UINT64_C(1) << 30, 4, "GiB");
}
