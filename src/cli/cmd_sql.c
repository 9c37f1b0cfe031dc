/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sql.c - headway sql: questions about a recording in SQL.
 *
 * The query comes from the command line, from a file or a ready question (-f), from standard
 * input, or line by line from a terminal.
 */
#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "cli/kit/paint.h"
#include "cli/opened_job.h"
#include "cli/sql_prompt.h"
#include "digest/digest_file.h"
#include "digest/digest_set.h"
#include "sql/questions.h"
#include "trace/builder.h"

enum { DEFAULT_ROWS = 1000, LONGEST_FILE = 1000000 };
/* SQLite looks at the clock between two instructions; one that takes longer than this ends the
 * program. */
#define LATE_NS INT64_C(2000000000)

struct options {
	struct cli_texts operands;
	const char *from, *output;
	uint64_t rows, memory;
	int64_t timeout;
	int format;
	bool force, digests;
};

static void list_questions(const struct cli_value *value)
{
	bool colour = cli_colour(stdout);
	(void)value;
	cli_plain_stdout();
	for (const struct sql_question *question = sql_questions; question->name; question++) {
		char about[256];
		snprintf(about, sizeof about, "%.*s", (int)strcspn(question->text, "\n") - 3,
			 question->text + 3);
		printf("  %s%-22s%s ", paint(colour, PAINT_BOLD), question->name,
		       paint(colour, PAINT_PLAIN));
		cli_wrap(stdout, hwy_tr_page(about), 25, cli_width(stdout));
	}
	exit(0);
}

static const char *question_name(size_t i)
{
	return sql_questions[i].name;
}

static const struct cli_option option_table[] = {
	{'f', "file", "NAME", "the query in this file, or the ready question of this name",
	 CLI_TEXT, CLI_AT(from), .word = question_name},
	{0, "list", NULL, "list the ready questions", CLI_READ, 0, .read = list_questions},
	{0, "digests", NULL,
	 "only the tables of digests: of a job with many ranks no report is opened", CLI_SWITCH,
	 CLI_AT(digests)},
	CLI_FORMAT(sql_format_names, "table (default), csv, json or markdown"),
	CLI_OUTPUT_BY_ENDING,
	{0, "force", NULL, CLI_FORCE_HELP, CLI_BOOLEAN, CLI_AT(force)},
	CLI_HEAD("Limits:"),
	{0, "max-rows", "N",
	 "stop after N rows, 0: never (default: 1000 for the formats 'table' and 'markdown')",
	 CLI_COUNT, CLI_AT(rows)},
	{0, "timeout", "TIME", "stop a query after this time, 0: never (default: 60 s)",
	 CLI_SECONDS, CLI_AT(timeout)},
	{0, "max-memory", "MIB",
	 "memory that SQLite may take for sorting and grouping, 0: any amount (default: 1024)",
	 CLI_COUNT, CLI_AT(memory), .most = 1 << 20},
	CLI_END_OF_OPTIONS,
};

/* ---- where the query comes from -------------------------------------------------------------- */

static char *read_stream(FILE *file, const char *name)
{
	struct hwy_bytes text = {0};
	char block[4096];
	for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) {
		hwy_bytes_put(&text, block, n);
		if (text.n > LONGEST_FILE)
			cli_die("%s: longer than %d bytes: no query", name, LONGEST_FILE);
	}
	if (ferror(file))
		cli_die("%s: %s", name, hwy_strerror(errno));
	if (text.n && memchr(text.bytes, '\0', text.n))
		cli_die("%s: holds a byte 0: no query", name);
	hwy_bytes_put_byte(&text, 0);
	return (char *)text.bytes;
}

/* A file of this name, else the ready question of this name. */
static char *read_named(const char *name)
{
	FILE *file = fopen(name, "re");
	const struct sql_question *question = sql_find_question(name);
	if (!file && !question && errno == ENOENT)
		cli_die("%s: neither a file nor a ready question; --list lists those", name);
	if (!file && !question)
		cli_die("%s: %s", name, hwy_strerror(errno));
	if (!file)
		return hwy_copy(question->text, strlen(question->text) + 1);
	char *text = read_stream(file, name);
	fclose(file);
	return text;
}

/* Yields the query, or NULL where it is to be read from a terminal. */
static char *find_query(const struct options *options)
{
	const struct cli_texts *operands = &options->operands;
	bool is_given = operands->n == 2 && strcmp(operands->texts[1], "-") != 0;
	if (options->from && operands->n == 2)
		cli_misuse(&cmd_sql, "a query and -f exclude each other");
	if (options->from)
		return read_named(options->from);
	if (is_given && operands->texts[1][0] == '@')
		return read_named(operands->texts[1] + 1);
	if (is_given)
		return hwy_copy(operands->texts[1], strlen(operands->texts[1]) + 1);
	return isatty(STDIN_FILENO) && operands->n == 1 ? NULL
							: read_stream(stdin, "standard input");
}

/* ---- the command ----------------------------------------------------------------------------- */

static struct options sql_read_options(int argc, char **argv)
{
	const struct sql_limits limits = SQL_DEFAULT_LIMITS;
	struct options options = {
		.rows = CLI_NOT_GIVEN, .timeout = limits.time, .memory = limits.memory >> 20};
	cli_read(&cmd_sql, argc, argv, &options);
	if (!options.operands.n)
		cli_misuse(&cmd_sql, "which file?");
	if (options.operands.n > 2)
		cli_misuse(&cmd_sql, "one file and one query; put the query in quotes");
	bool keeps_rows =
		options.format == SQL_FORMAT_TABLE || options.format == SQL_FORMAT_MARKDOWN;
	if (options.rows == CLI_NOT_GIVEN)
		options.rows = keeps_rows ? DEFAULT_ROWS : 0;
	return options;
}

static void answer(struct sql_db *db, const struct options *options, const char *query,
		   struct sql_print *print)
{
	struct hwy_err err;
	if (options->timeout && options->timeout < INT64_MAX - LATE_NS)
		cli_die_after(
			options->timeout + LATE_NS,
			"headway: the query was stopped because its time is over; --timeout gives it more\n");
	bool done = sql_prompt_answer(db, query, print, &err);
	cli_die_after(0, NULL);
	if (!done)
		cli_die("%s: %s", options->operands.texts[0], err.text);
	bool is_query = query[strspn(query, " \t\r\n")] != '.';
	if (is_query && print->rows == 0 && options->format == SQL_FORMAT_TABLE)
		cli_say("no rows");
	if (print->is_cut)
		cli_say("these are the first %llu rows; --max-rows 0 prints all",
			(unsigned long long)print->most_rows);
}

/* The digests of a file or folder; none where it has none. */
static void sql_read_digests(struct digest_set *set, const char *path, bool is_needed)
{
	struct hwy_err err;
	bool is_folder = opened_job_is(path);
	bool has = is_folder ? digest_set_count(path) > 0 : digest_file_is(path);
	if (is_needed && !has)
		cli_die("%s: has no digests; headway digest makes them", path);
	if (has && !digest_set_add(set, path, &err))
		cli_die("%s", err.text);
	digest_set_settle(set);
}

/* The recording; an empty one where only digests are asked for, so that no report is opened. */
static struct hwy_trace *sql_open_trace(const char *path, bool is_digests)
{
	return is_digests ? hwy_builder_finish(hwy_builder_new(), false) : cli_open(path);
}

static int run_sql(int argc, char **argv)
{
	struct options options = sql_read_options(argc, argv);
	const char *path = options.operands.texts[0];
	struct sql_limits limits = {options.timeout, options.memory << 20};
	struct hwy_err err;
	char *query = find_query(&options);
	cli_keep_input(path, options.output);
	struct cli_output output = cli_output_open(options.output, options.force);
	bool is_digests = options.digests || (!opened_job_is(path) && digest_file_is(path));
	struct digest_set digests = {0};
	sql_read_digests(&digests, path, is_digests);
	struct hwy_trace *trace = sql_open_trace(path, is_digests);
	struct sql_db *db = sql_open(trace, &limits, &err);
	if (!db)
		cli_die("%s: %s", path, err.text);
	sql_use_digests(db, &digests);
	struct sql_print print = {.out = output.out,
				  .format = (enum sql_format)options.format,
				  .most_rows = options.rows,
				  .width = cli_width(output.out),
				  .colour = cli_colour(output.out),
				  .utf8 = cli_utf8()};
	if (query)
		answer(db, &options, query, &print);
	else
		sql_prompt_run(db, &print);
	cli_output_close(&output);
	sql_print_free(&print);
	sql_close(db);
	hwy_trace_free(trace);
	digest_set_free(&digests);
	free(options.operands.texts);
	free(query);
	return 0;
}

const struct cli_command cmd_sql = {
	.name = "sql",
	.summary = "questions in SQL: spans, kernels, steps, gaps, findings as tables",
	.usage = "headway sql [options] FILE|JOB [QUERY]",
	.about =
		"Answers a question in SQL about a recording. There is a table for each kind of span "
		"(kernel, copy, api, range, op …), one for all (spans), and tables of what analyze finds: "
		"steps, gaps, findings. Nothing is converted, and a query can only read. Without a query it "
		"asks for one.",
	.options = option_table,
	.footer =
		"The query '.tables' lists the tables, '.schema TABLE' tells what their columns mean.\n"
		"Times are ns.\n"
		"\n"
		"Examples:\n"
		"  headway sql run.hwy \"select name, sum(duration) from kernel group by name\"\n"
		"  headway sql run.hwy \".schema copy\"\n"
		"  headway sql run.hwy -f top-kernels --format csv\n"
		"  headway sql --digests job1/ \"select host, max(own) from digests group by host\"\n"
		"  headway sql job1/ \"select rank, cause, sum(g.duration) from gaps g join steps s on s.id = g.step "
		"group by 1, 2\"\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, operands),
	.run = run_sql,
};
