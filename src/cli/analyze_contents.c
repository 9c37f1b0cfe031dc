/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_contents.c - what a recording without device work holds: samples, system calls, ranges,
 * operators. A line for each table that `headway stats` would print, with its first names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/utf8.h"
#include "cli/analyze_print.h"
#include "cli/record_again.h"
#include "stats/stats.h"

enum { NAMES = 3, TITLE_WIDTH = 18, NO_COLUMN = -1 };

/* A sink of a report: keeps the first names. */
struct contents {
	FILE *line;
	uint64_t rows;
	/* Indexes of the columns to show, or NO_COLUMN; 'module' has the file of a function. */
	int name, module, share;
	const char *whole; /* what the shares are of; NULL: none was shown */
	const struct stats_column *columns;
};

/* Columns of shares, the first that a table has is shown, and what they are shares of. */
static const struct {
	const char *column, *whole;
} shares[] = {{"Self CPU Time", HWY_KEY("of the CPU time of all operators")},
	      {"Self", HWY_KEY("of all samples")},
	      {"Time", HWY_KEY("of the sum of all their times")}};

/* Whether a text says of which sort a row is, and not what it is about. */
static bool is_sort_of_row(const char *column)
{
	static const char *const sorts[] = {"Style", "Category", "Source", "State", "Why", "Unit"};
	for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
		if (strcmp(column, sorts[i]) == 0)
			return true;
	return false;
}

/* Yields the share that a column holds as its index in 'shares', or their number. */
static size_t share_of_column(const struct stats_column *column)
{
	size_t i = 0, n = sizeof shares / sizeof *shares;
	while (i < n &&
	       (column->type != STATS_PERCENT || strcmp(column->name, shares[i].column) != 0))
		i++;
	return i;
}

/* What a row is about is its first text that names no sort. Where numbers that name something (a
 * process, a thread) stand before that text, the text alone says nothing. */
static void contents_begin(void *self, const struct stats_column *columns, uint32_t n)
{
	struct contents *contents = self;
	contents->columns = columns;
	size_t best = sizeof shares / sizeof *shares;
	for (uint32_t i = n; i-- > 0;) {
		if (stats_is_text(&columns[i]) && !is_sort_of_row(columns[i].name))
			contents->name = (int)i;
		if (columns[i].type == STATS_ID)
			contents->name = NO_COLUMN;
		if (strcmp(columns[i].name, "Module") == 0)
			contents->module = (int)i;
		if (share_of_column(&columns[i]) < best) {
			best = share_of_column(&columns[i]);
			contents->share = (int)i;
		}
	}
}

/* Yields the name of a row; of a function without a symbol the name of its file. */
static struct hwy_text contents_name(const struct contents *contents,
				     const struct stats_cell *cells)
{
	struct hwy_text name = cells[contents->name].text;
	static const char unknown[] = "[unknown]";
	if (contents->module == NO_COLUMN || name.length != sizeof unknown - 1 ||
	    memcmp(name.at, unknown, name.length) != 0)
		return name;
	struct hwy_text module = cells[contents->module].text;
	const char *slash = module.length ? memrchr(module.at, '/', module.length) : NULL;
	if (slash) {
		module.length -= (uint32_t)(slash + 1 - module.at);
		module.at = slash + 1;
	}
	return module.length ? module : name;
}

static void contents_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct contents *contents = self;
	(void)n;
	if (contents->rows++ >= NAMES || contents->name == NO_COLUMN)
		return;
	struct hwy_text name = contents_name(contents, cells);
	fputs(contents->rows > 1 ? hwy_tr(", ") : "", contents->line);
	size_t shown = hwy_utf8_cut(name.at, name.length, 40);
	cli_put(contents->line, name.at, shown);
	fputs(shown < name.length ? "…" : "", contents->line);
	if (contents->share == NO_COLUMN || !(cells[contents->share].real > 0))
		return;
	char number[STATS_NUMBER_BYTES];
	size_t length = stats_number(&contents->columns[contents->share], &cells[contents->share],
				     STATS_NS, number);
	fprintf(contents->line, " %.*s %%", (int)length, number);
	contents->whole = shares[share_of_column(&contents->columns[contents->share])].whole;
}

/* Writes the line of one report; false where the report has no rows or cannot be made. */
static bool put_report(FILE *out, struct hwy_trace *trace, const struct stats_report *report,
		       int width)
{
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
	struct memory_text memory;
	struct contents contents = {.line = memory_text_begin(&memory),
				    .name = NO_COLUMN,
				    .module = NO_COLUMN,
				    .share = NO_COLUMN};
	struct stats_sink sink = {&contents, contents_begin, contents_row};
	struct hwy_err ignored;
	bool made = stats_run(trace, report, &options, &sink, &ignored);
	if (contents.rows > NAMES)
		fprintf(contents.line, hwy_tr(", and %llu more"),
			(unsigned long long)(contents.rows - NAMES));
	if (contents.whole)
		fprintf(contents.line, hwy_tr(" (%% %s)"), hwy_tr(contents.whole));
	char *line = memory_text_end(&memory);
	bool any = made && contents.rows > 0;
	if (any && contents.name != NO_COLUMN) {
		fputs("   ", out);
		cli_put_column(out, hwy_tr(report->title), TITLE_WIDTH - 3);
		cli_wrap(out, line, TITLE_WIDTH, width);
	}
	free(line);
	return any;
}

/* Writes that nothing was recorded, and what the next command records. */
static void put_nothing(FILE *out, const struct hwy_trace *trace, int width)
{
	struct memory_text memory;
	fprintf(memory_text_begin(&memory),
		hwy_tr("The program did nothing that was to be recorded. The next command records %s, "
		       "calls into the operating system and samples of the CPU."),
		record_again_source(trace));
	char *text = memory_text_end(&memory);
	fputs(width > 0 ? "   " : "", out);
	cli_wrap(out, text, width > 0 ? 3 : 0, width);
	free(text);
}

void analyze_put_contents(FILE *out, const struct analyze_run *run, int width)
{
	bool any = false, again = record_again_is_wanted(run->trace);
	if (width > 0)
		fputc('\n', out);
	for (const struct stats_report *report = stats_reports; report->name; report++)
		if (report->handful)
			any |= put_report(out, run->trace, report, width);
	if (again)
		put_nothing(out, run->trace, width);
	if (width > 0)
		fputc('\n', out);
	fputs(hwy_tr(width > 0 ? "   next: " : "Next: "), out);
	if (again) {
		fputs("headway ", out);
		record_again_put_command(out, run->trace);
	} else {
		fputs(any ? "headway stats " : "headway info ", out);
		analyze_put(out, run->path);
	}
	fputs(any && width > 0 ? ", headway show " : "", out);
	if (any && width > 0)
		analyze_put(out, run->path);
	fputc('\n', out);
}
