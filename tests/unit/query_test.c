/* SPDX-License-Identifier: Apache-2.0 */
/* query_test.c - the language in which one asks for spans: every line of tests/query_cases.txt, which the page's own reader is held
 * to as well (tests/browser/query_test.mjs). */
#include "make_trace.h"

#include <inttypes.h>

#include "serve/query.h"

static const char *const fields[QUERY_FIELDS] = {
	"kind",    "name", "lane", "thread", "line", "module", "id",   "start", "end",   "dur",
	"latency", "rate", "step", "phase",  "gpu",  "stream", "rank", "pid",   "shape", "column"};
static const char *const tests[] = {"has", "is", "matches", "in"};
static const char *const members[] = {
	"grid_x",        "grid_y",         "grid_z",          "block_x",          "block_y",
	"block_z",       "cluster_x",      "cluster_y",       "cluster_z",        "registers",
	"static_shared", "dynamic_shared", "executed_shared", "local_per_thread", "local_total"};

static void write_bounds(FILE *out, const struct query_term *term)
{
	for (uint32_t i = 0; i < term->n_bounds; i++) {
		fprintf(out, "%s", i ? "|" : "");
		if (term->bounds[i].low != INT64_MIN)
			fprintf(out, "%" PRId64, term->bounds[i].low);
		fprintf(out, "..");
		if (term->bounds[i].high != INT64_MAX)
			fprintf(out, "%" PRId64, term->bounds[i].high);
	}
}

static void write_part(FILE *out, const struct query_term *term)
{
	if (term->field == QUERY_SHAPE)
		fprintf(out, " %s", members[term->part]);
	if (term->field != QUERY_COLUMN)
		return;
	fputc(' ', out);
	for (const char *c = hwy_columns[term->part].name; *c; c++)
		fputc(*c == '-' ? '_' : *c, out);
}

static void write_term(FILE *out, const struct query_term *term)
{
	fprintf(out, "%s%s", term->is_negated ? "-" : "", fields[term->field]);
	write_part(out, term);
	if (term->field == QUERY_KIND) {
		for (unsigned look = 0, n = 0; look < 32; look++)
			if (term->looks >> look & 1)
				fprintf(out, "%s%u", n++ ? "," : " ", look);
		return;
	}
	fprintf(out, " %s ", tests[term->test]);
	if (term->test == QUERY_IN)
		write_bounds(out, term);
	else
		fputs(term->text, out);
	if (term->line)
		fprintf(out, " at %" PRId64, term->line);
}

/* What a query was understood as, in the words of query_cases.txt. */
static char *understand(const char *text)
{
	char *said = NULL;
	size_t n;
	FILE *out = open_memstream(&said, &n);
	struct query query;
	struct hwy_err err;
	if (query_parse(&query, text, &err))
		for (uint32_t i = 0; i < query.n; i++) {
			fprintf(out, "%s", i ? " & " : "");
			write_term(out, &query.terms[i]);
		}
	else
		fprintf(out, "! %s", err.text);
	query_free(&query);
	fclose(out);
	return said;
}

static void check_pattern(char *line)
{
	char *pattern = strtok(line, "\t"), *name = strtok(NULL, "\t"), *found = strtok(NULL, "\t");
	struct query_term term = {.test = QUERY_MATCHES};
	struct hwy_bytes room = {0};
	struct hwy_err err;
	assert_true(query_pattern_compile(&term.pattern, pattern, &err));
	struct hwy_text text = {name, (uint32_t)strlen(name)};
	if (query_text_fits(&term, text, &room) != (*found == '1'))
		fail_msg("'%s' in '%s' is not %s", pattern, name, found);
	regfree(&term.pattern);
	hwy_bytes_free(&room);
}

static void check_shown(char *line)
{
	char *name = strtok(line, "\t"), *wanted = strtok(NULL, "\t");
	struct hwy_bytes room = {0};
	struct hwy_text shown =
		query_shown_name((struct hwy_text){name, (uint32_t)strlen(name)}, &room);
	if (shown.length != strlen(wanted) || memcmp(shown.at, wanted, shown.length) != 0)
		fail_msg("'%s' is shown as '%.*s', not '%s'", name, (int)shown.length, shown.at,
			 wanted);
	hwy_bytes_free(&room);
}

static void every_query_is_understood_as_the_table_of_cases_says(void **state)
{
	char path[1024], line[8192];
	snprintf(path, sizeof path, "%s/../query_cases.txt",
		 getenv("DATA") ? getenv("DATA") : "tests/data");
	FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("%s is missing", path);
	unsigned n = 0;
	for (; fgets(line, sizeof line, file); n++) {
		line[strcspn(line, "\n")] = 0;
		char *wanted = strchr(line, '\t');
		if (line[0] == '#')
			continue;
		assert_non_null(wanted);
		*wanted++ = 0;
		if (strcmp(line, "~") == 0) {
			check_pattern(wanted);
			continue;
		}
		if (strcmp(line, "=") == 0) {
			check_shown(wanted);
			continue;
		}
		char *said = understand(line);
		if (strcmp(said, wanted) != 0)
			fail_msg("%s\n  is understood as  %s\n  and should be     %s", line, said,
				 wanted);
		free(said);
	}
	fclose(file);
	assert_true(n > 200);
}

/* A seed, 100,000 texts of the language's own signs: what is understood is freed, what is not is said in a sentence with a place. */
static void any_text_is_understood_or_refused_with_its_place(void **state)
{
	static const char *const pieces[] = {
		"kernel", "name", "dur",  "~",  "=",         ":",  "<",    ">=", "\"", "\\",
		" ",      "-",    "5",    "..", "us",        "MB", ",",    "(",  ")",  "[",
		"]",      "*",    "line", "x",  "\xc2\xb5s", "#",  "kind", "\t", "id", "."};
	uint64_t seed = 7;
	for (int i = 0; i < 100000; i++) {
		char text[256] = "";
		for (int k = 0; k < 12; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			strcat(text, pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)]);
		}
		struct query query;
		struct hwy_err err = {0};
		if (!query_parse(&query, text, &err))
			assert_int_equal(strncmp(err.text, "character ", 10), 0);
		query_free(&query);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(every_query_is_understood_as_the_table_of_cases_says),
		cmocka_unit_test(any_text_is_understood_or_refused_with_its_place),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
