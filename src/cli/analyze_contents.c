/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_contents.c - what a recording without device work holds: samples, system calls, ranges,
 * operators. A line for each table that `headway stats` would print, with its first names, and for
 * what the CPU did (analyze_cpu.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "base/utf8.h"
#include "cli/analyze_cpu.h"
#include "cli/analyze_print.h"
#include "cli/record_again.h"
#include "stats/stats.h"

enum { NAMES = 3, TITLE_WIDTH = 18, NO_COLUMN = -1 };

/* A sink of a report: keeps the first names. */
struct contents {
	FILE *line;
	uint64_t rows;
	/* Indexes of the columns to show, or NO_COLUMN; 'module' has the file of a function. */
	int name, module, share, time;
	const char *whole; /* what the shares are of; NULL: none was shown */
	/* Garbage collections are rows that are left out, and then the shares, of which they
	 * have a part, are too. */
	bool leaves_collections;
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
			contents->time = i + 1 < n && columns[i + 1].type == STATS_TIME ? (int)i + 1
											: NO_COLUMN;
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

/* Writes the share of a row and the time that it is: " 72.8 % (1.85 s)". */
static void put_share(struct contents *contents, const struct stats_cell *cells)
{
	struct hwy_words time = {""};
	if (contents->time != NO_COLUMN)
		time = hwy_say_time3(cells[contents->time].number);
	if (contents->leaves_collections) {
		fprintf(contents->line, " %s", time.text);
		return;
	}
	char number[STATS_NUMBER_BYTES];
	size_t length = stats_number(&contents->columns[contents->share], &cells[contents->share],
				     STATS_NS, number);
	fprintf(contents->line, *time.text ? " %.*s %% (%s)" : " %.*s %%", (int)length, number,
		time.text);
	contents->whole = shares[share_of_column(&contents->columns[contents->share])].whole;
}

static void contents_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct contents *contents = self;
	(void)n;
	if (contents->leaves_collections && contents->name != NO_COLUMN &&
	    analyze_cpu_is_collection(cells[contents->name].text))
		return;
	if (contents->rows++ >= NAMES || contents->name == NO_COLUMN)
		return;
	struct hwy_text name = contents_name(contents, cells);
	fputs(contents->rows > 1 ? hwy_tr(", ") : "", contents->line);
	size_t shown = hwy_utf8_cut(name.at, name.length, 40);
	cli_put(contents->line, name.at, shown);
	fputs(shown < name.length ? "…" : "", contents->line);
	if (contents->share != NO_COLUMN && cells[contents->share].real > 0)
		put_share(contents, cells);
}

static void put_titled(FILE *out, const char *title, const char *line, int width)
{
	fputs("   ", out);
	cli_put_column(out, title, TITLE_WIDTH - 3);
	cli_wrap(out, line, TITLE_WIDTH, width);
}

/* Writes the line of one report; false where the report has no rows or cannot be made. */
static bool put_report(FILE *out, struct hwy_trace *trace, const struct stats_report *report,
		       bool leaves_collections, int width)
{
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
	struct memory_text memory;
	struct contents contents = {.line = memory_text_begin(&memory),
				    .name = NO_COLUMN,
				    .module = NO_COLUMN,
				    .share = NO_COLUMN,
				    .time = NO_COLUMN,
				    .leaves_collections = leaves_collections};
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
	if (any && contents.name != NO_COLUMN)
		put_titled(out, hwy_tr(report->title), line, width);
	free(line);
	return any;
}

/* Writes a line that is no table of names: what a part of analyze_cpu.c says. */
static bool put_part(FILE *out, struct hwy_trace *trace, const char *title,
		     void (*put)(FILE *, struct hwy_trace *), int width)
{
	struct memory_text memory;
	put(memory_text_begin(&memory), trace);
	char *line = memory_text_end(&memory);
	bool any = *line != '\0';
	if (any)
		put_titled(out, title, line, width);
	free(line);
	return any;
}

static void put_collections(FILE *out, struct analyze_collections sum, int width)
{
	struct memory_text memory;
	fprintf(memory_text_begin(&memory), hwy_tr("Python collected garbage %s, %s in all"),
		hwy_say_count_times((double)sum.n).text, hwy_say_time3(sum.ns).text);
	char *line = memory_text_end(&memory);
	put_titled(out, hwy_tr("Collections"), line, width);
	free(line);
}

/* Writes a line for each table and part of which the recording holds something; false where it
 * holds nothing. */
static bool put_all(FILE *out, struct hwy_trace *trace, bool *has_lines, int width)
{
	struct analyze_collections collections = analyze_cpu_collections(trace);
	bool any = put_part(out, trace, hwy_tr("Busiest thread"), analyze_cpu_put_thread, width);
	*has_lines = put_part(out, trace, hwy_tr("Hottest lines"), analyze_cpu_put_lines, width);
	any |= *has_lines;
	for (const struct stats_report *report = stats_reports; report->name; report++)
		if (report->handful)
			any |= put_report(
				out, trace, report,
				collections.n > 0 && strcmp(report->name, "nvtx_sum") == 0, width);
	if (collections.n > 0)
		put_collections(out, collections, width);
	return any;
}

/* Writes that nothing was recorded, and what the next command records. */
static void put_nothing(FILE *out, const struct hwy_trace *trace, int width)
{
	struct memory_text memory;
	FILE *words = memory_text_begin(&memory);
	if (record_again_is_within(trace))
		fputs(hwy_tr("Nothing was seen of what this recording records. -t (trace= of "
			     "headway.record) chooses that, and pytorch adds operators."),
		      words);
	else
		fprintf(words,
			hwy_tr("The program did nothing that was to be recorded. The next command records %s, "
			       "calls into the operating system and samples of the CPU."),
			record_again_source(trace));
	char *text = memory_text_end(&memory);
	fputs(width > 0 ? "   " : "", out);
	cli_wrap(out, text, width > 0 ? 3 : 0, width);
	free(text);
}

static void put_next(FILE *out, const struct analyze_run *run, bool any, bool has_samples,
		     int width)
{
	fputs(hwy_tr(width > 0 ? "   next: " : "Next: "), out);
	if (record_again_is_wanted(run->trace) && !record_again_is_within(run->trace)) {
		fputs("headway ", out);
		record_again_put_command(out, run->trace);
		fputc('\n', out);
		return;
	}
	fputs(has_samples              ? "headway sql "
	      : any                    ? "headway stats "
	      : run->trace->n_measured ? "headway kernels "
				       : "headway info ",
	      out);
	analyze_put(out, hwy_shell_word(run->path).text);
	fputs(has_samples ? " -f hot-functions" : "", out);
	const char *label = hwy_tr("   next: ");
	if (has_samples && width > 0)
		fprintf(out, "\n%*sheadway stats ", hwy_utf8_columns(label, strlen(label)), "");
	else if (any && width > 0)
		fputs(", headway show ", out);
	if (any && width > 0)
		analyze_put(out, hwy_shell_word(run->path).text);
	fputc('\n', out);
}

void analyze_put_contents(FILE *out, const struct analyze_run *run, int width)
{
	bool has_samples = false;
	struct memory_text memory;
	bool any = put_all(memory_text_begin(&memory), run->trace, &has_samples, width);
	char *lines = memory_text_end(&memory);
	if (any) {
		fputs(width > 0 ? "    " : "", out);
		cli_wrap(
			out,
			hwy_tr("Headway judges programs that drive a device; of this one it can say "
			       "where the CPU's time went."),
			width > 0 ? 4 : 0, width);
		fputs(width > 0 ? "\n" : "", out);
	}
	fputs(lines, out);
	free(lines);
	if (record_again_is_wanted(run->trace)) {
		fputs(width > 0 ? "\n" : "", out);
		put_nothing(out, run->trace, width);
	}
	if (width > 0)
		fputc('\n', out);
	put_next(out, run, any, has_samples, width);
}
