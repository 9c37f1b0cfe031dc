/* SPDX-License-Identifier: Apache-2.0 */
/* sql_prompt.c - see sql_prompt.h. The terminal itself lets people correct a line; a query ends
 * with a semicolon. */
#include "cli/sql_prompt.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"

static struct sql_db *volatile running;  /* the database that Ctrl-C interrupts */
static volatile sig_atomic_t interrupts; /* since the query began */

/* The third Ctrl-C ends a query that does not stop: a single call of a function cannot be
 * interrupted. */
static void on_interrupt(int number)
{
	if (running && ++interrupts == 3)
		cli_die_of(number);
	if (running)
		sql_interrupt(running);
}

static void print_tables(const struct sql_db *db, const struct sql_print *print)
{
	for (uint32_t i = 0; sql_table_name(db, i); i++)
		fprintf(print->out, "  %s%-14s%s %s\n", paint(print->colour, PAINT_BOLD),
			sql_table_name(db, i), paint(print->colour, PAINT_PLAIN),
			hwy_tr(sql_table_about(db, i)));
}

static void print_dot_help(const struct sql_print *print)
{
	fputs(hwy_tr("  .tables          list the tables\n"
		     "  .schema [TABLE]  columns with their units and meanings\n"
		     "  .quit            leave; so does Ctrl-D\n"
		     "A query ends with a semicolon: select name, sum(duration) from kernel group by name;\n"),
	      print->out);
}

static bool answer_dot(struct sql_db *db, const char *query, struct sql_print *print,
		       struct hwy_err *err)
{
	char word[16] = "", table[64] = "", rest[2] = "";
	int n = sscanf(query, ".%15s %63[A-Za-z_0-9] %1[^; \n\t]", word, table, rest);
	word[strcspn(word, ";")] = '\0';
	if (strcmp(word, "tables") == 0) {
		print_tables(db, print);
	} else if (strcmp(word, "help") == 0) {
		print_dot_help(print);
	} else if (strcmp(word, "schema") == 0 && n < 3) {
		struct hwy_bytes text = {0};
		bool found = sql_schema(db, n == 2 ? table : NULL, &text, err);
		if (found)
			fwrite(text.bytes, 1, text.n, print->out);
		hwy_bytes_free(&text);
		return found;
	} else {
		return hwy_fail(err, "'%.40s' is none of .tables, .schema [TABLE], .help and .quit",
				query);
	}
	return true;
}

bool sql_prompt_answer(struct sql_db *db, const char *query, struct sql_print *print,
		       struct hwy_err *err)
{
	query += strspn(query, " \t\r\n");
	if (*query == '.')
		return answer_dot(db, query, print, err);
	struct sql_sink sink = sql_print_sink(print);
	bool done = sql_query(db, query, &sink, err);
	if (done)
		sql_print_end(print);
	return done;
}

/* Whether a text ends with a semicolon, spaces aside. SQLite itself decides what a statement is. */
static bool is_complete(const char *text, size_t length)
{
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	return length && text[length - 1] == ';';
}

static void answer_and_say(struct sql_db *db, const char *query, struct sql_print *print)
{
	struct hwy_err err;
	print->is_cut = false;
	interrupts = 0;
	running = db;
	if (!sql_prompt_answer(db, query, print, &err))
		cli_say("%s", err.text);
	else if (print->is_cut)
		cli_say("these are the first %llu rows; --max-rows shows more",
			(unsigned long long)print->most_rows);
	running = NULL;
}

void sql_prompt_run(struct sql_db *db, struct sql_print *print)
{
	struct sigaction action = {.sa_handler = on_interrupt};
	sigaction(SIGINT, &action, NULL);
	char *line = NULL;
	size_t size = 0;
	struct hwy_bytes query = {0};
	fputs(hwy_tr("Queries end with a semicolon. .tables lists the tables, .help tells more.\n"),
	      print->out);
	for (;;) {
		fputs(query.n ? "   ...> " : "headway> ", print->out);
		fflush(print->out);
		ssize_t n = getline(&line, &size, stdin);
		if (n < 0 && ferror(stdin)) { /* Ctrl-C at the prompt: forget what was typed */
			clearerr(stdin);
			query.n = 0;
			putc('\n', print->out);
			continue;
		}
		if (n < 0)
			break;
		bool is_dot = !query.n && line[strspn(line, " \t")] == '.';
		if (is_dot && (strncmp(line, ".quit", 5) == 0 || strncmp(line, ".exit", 5) == 0))
			break;
		if (!query.n && !line[strspn(line, " \t\r\n")])
			continue;
		hwy_bytes_put(&query, line, (size_t)n);
		if (!is_dot && !is_complete((const char *)query.bytes, query.n))
			continue;
		hwy_bytes_put_byte(&query, 0);
		answer_and_say(db, (const char *)query.bytes, print);
		query.n = 0;
	}
	putc('\n', print->out);
	hwy_bytes_free(&query);
	free(line);
}
