/* words.c - see words.h. */
#include "diagnose/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three digits, but all of those before the point: 5.85, 58.5, 585, 5850. */
static struct words digits(double value, const char *unit)
{
	struct words words;
	double size = fabs(value);
	int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
	snprintf(words.at, sizeof words.at, "%.*f %s", decimals, value, unit);
	return words;
}

struct words words_time(int64_t ns)
{
	double size = fabs((double)ns);
	struct words words;
	if (size < 1000) {
		snprintf(words.at, sizeof words.at, "%d ns", (int)ns);
		return words;
	}
	return size < 999.5e3   ? digits((double)ns / 1e3, "µs")
	       : size < 999.5e6 ? digits((double)ns / 1e6, "ms")
				: digits((double)ns / 1e9, "s");
}

struct words words_share(double share)
{
	struct words words;
	double percent = 100 * share;
	snprintf(words.at, sizeof words.at, "%.*f %%", fabs(percent) < 9.95 ? 1 : 0, percent);
	return words;
}

struct words words_each(double count)
{
	struct words words;
	bool whole = fabs(count - round(count)) < 0.05 || count >= 100;
	int after = whole ? 0 : 1;
	if (count > 0 && count < 0.95) /* seldom is not never */
		after = count < 0.01 ? 4 : 2;
	snprintf(words.at, sizeof words.at, "%.*f", after, count);
	return words;
}

struct words words_many(double count, const char *one, const char *more)
{
	struct words words, each = words_each(count);
	snprintf(words.at, sizeof words.at, "%.12s %.24s", each.at,
		 strcmp(each.at, "1") == 0 ? one : more);
	return words;
}

struct words words_times(double count)
{
	struct words words, each = words_each(count);
	bool once = strcmp(each.at, "1") == 0, twice = strcmp(each.at, "2") == 0;
	snprintf(words.at, sizeof words.at, "%.20s%s", once || twice ? "" : each.at,
		 once    ? "once"
		 : twice ? "twice"
			 : " times");
	return words;
}

struct words words_bytes(uint64_t bytes)
{
	struct words words;
	if (bytes < 1000) {
		snprintf(words.at, sizeof words.at, "%d byte%s", (int)bytes, bytes == 1 ? "" : "s");
		return words;
	}
	double size = (double)bytes;
	return size < 999.5e3   ? digits(size / 1e3, "kB")
	       : size < 999.5e6 ? digits(size / 1e6, "MB")
				: digits(size / 1e9, "GB");
}

struct words words_rate(double bytes_per_s)
{
	return bytes_per_s < 1e9 ? digits(bytes_per_s / 1e6, "MB/s")
				 : digits(bytes_per_s / 1e9, "GB/s");
}

const char *words_program(const char *command, size_t *length)
{
	const char *found = command, *end = command + strcspn(command, " ");
	for (const char *word = command; *word;) {
		size_t n = strcspn(word, " ");
		if (n > 3 && strncmp(word + n - 3, ".py", 3) == 0) {
			found = word;
			end = word + n;
			break;
		}
		word += n + strspn(word + n, " ");
	}
	for (const char *at = found; at < end; at++)
		if (*at == '/' && at + 1 < end)
			found = at + 1;
	*length = (size_t)(end - found);
	return found;
}

char *words_format(struct hwy_arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	size_t size = length < 0 ? 1 : (size_t)length + 1;
	char *text = hwy_arena_alloc(arena, size);
	vsnprintf(text, size, format, arguments);
	va_end(arguments);
	return text;
}
