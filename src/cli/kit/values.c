/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - reads the values of options: times, counts, shares, words. What cannot be read is a
 * misuse. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "cli/kit/cli.h"

/* 73 years, the length of the longest recording: the sum of such a time and a time of a clock or
 * of a recording fits 64 bits. */
static const int64_t longest_ns = INT64_C(1) << 61;

static int64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"", 1},           {"ns", 1},       {"us", 1000},      {"\u00b5s", 1000},
		     {"\u03bcs", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

int64_t cli_time(const struct cli_value *value)
{
	const char *option = value->option->name, *cursor = value->text;
	bool negative = *cursor == '-';
	cursor += negative;
	const char *number = cursor;
	int64_t whole = 0, fraction = 0, scale = 1;
	bool fits = true;
	for (; *cursor >= '0' && *cursor <= '9'; cursor++)
		fits = fits && !__builtin_mul_overflow(whole, 10, &whole) &&
		       !__builtin_add_overflow(whole, *cursor - '0', &whole);
	bool digits = cursor > number;
	if (*cursor == '.')
		for (cursor++; *cursor >= '0' && *cursor <= '9'; cursor++, digits = true)
			if (scale < 1000000000) { /* digits finer than 1 ns are dropped */
				fraction = fraction * 10 + (*cursor - '0');
				scale *= 10;
			}
	int64_t ns = unit_ns(cursor);
	if (!digits || ns == 0)
		cli_misuse(value->command,
			   "option '--%s': '%s' is not a time; write 1500, 1.5us, 20ms or 3s",
			   option, value->text);
	/* Either the unit is a multiple of 'scale' or 'scale' of the unit: no digit above 1 ns
	 * is lost. */
	fraction = ns >= scale ? fraction * (ns / scale) : fraction / (scale / ns);
	if (!fits || __builtin_mul_overflow(whole, ns, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole) || whole > longest_ns)
		cli_misuse(value->command, "option '--%s': '%s' is too large", option, value->text);
	return negative ? -whole : whole;
}

static int64_t read_length(const struct cli_value *value)
{
	int64_t length = cli_time(value);
	if (length < 0)
		cli_misuse(value->command, "option '--%s': '%s' is negative", value->option->name,
			   value->text);
	return length;
}

static int64_t read_seconds(const struct cli_value *value)
{
	char text[64];
	bool bare = *value->text && value->text[strspn(value->text, "0123456789.")] == '\0';
	snprintf(text, sizeof text, "%s%s", value->text, bare ? "s" : "");
	struct cli_value with_unit = *value;
	with_unit.text = text;
	return read_length(&with_unit);
}

uint64_t cli_count(const struct cli_value *value)
{
	const struct cli_option *option = value->option;
	char *end;
	errno = 0;
	unsigned long long count = strtoull(value->text, &end, 10);
	bool is_number = !errno && !*end && *value->text >= '0' && *value->text <= '9';
	if (option->most && (!is_number || count > option->most))
		cli_misuse(value->command, "option '--%s': '%s' is not a number from 0 to %llu",
			   option->name, value->text, (unsigned long long)option->most);
	if (!is_number)
		cli_misuse(value->command, "option '--%s': '%s' is not a number", option->name,
			   value->text);
	return count;
}

static double read_share(const struct cli_value *value)
{
	char *end;
	double share = strtod(value->text, &end);
	bool percent = *end == '%';
	if (end == value->text || end[percent] || !(share >= 0) || share > 1e6)
		cli_misuse(value->command, "--%s takes a share such as 3%%, not '%s'",
			   value->option->name, value->text);
	/* A bare number of 1 or more is a percentage whose sign was forgotten: as a share, 10
	 * would be 1000 %. */
	if (!percent && share >= 1)
		cli_die("--%s %s: do you mean %s%%?", value->option->name, value->text,
			value->text);
	return percent ? share / 100 : share;
}

int cli_word(const struct cli_value *value, const char *text, const char *const *words)
{
	char list[256] = "";
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
		size_t n = strlen(list);
		snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", words[i]);
	}
	cli_misuse(value->command, "option '--%s': '%s' is none of %s", value->option->name, text,
		   list);
}

void cli_add_text(struct cli_texts *texts, const char *text)
{
	HWY_GROW(texts->texts, texts->n, texts->cap);
	texts->texts[texts->n++] = text;
}

void cli_store(const struct cli_value *value)
{
	void *field = value->field;
	switch (value->option->type) {
	case CLI_SWITCH: *(bool *)field = true; break;
	case CLI_BOOLEAN: *(bool *)field = strcmp(value->text, "true") == 0; break;
	case CLI_TEXT: *(const char **)field = value->text; break;
	case CLI_TEXTS: cli_add_text(field, value->text); break;
	case CLI_COUNT: *(uint64_t *)field = cli_count(value); break;
	case CLI_TIME: *(int64_t *)field = cli_time(value); break;
	case CLI_LENGTH: *(int64_t *)field = read_length(value); break;
	case CLI_SECONDS: *(int64_t *)field = read_seconds(value); break;
	case CLI_SHARE: *(double *)field = read_share(value); break;
	case CLI_WORD: *(int *)field = cli_word(value, value->text, value->option->words); break;
	case CLI_READ: value->option->read(value); break;
	case CLI_HEADING:
	case CLI_RENAMED: break;
	}
}
