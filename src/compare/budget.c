/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - see budget.h. */
#include "compare/budget.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"

const char *const budget_operators[] = {"<=", ">=", "<", ">", "==", "!="};
enum { OPERATORS = 6, LONGEST_NAME_BYTES = 256 };

struct reader {
	struct compare_budget *budget;
	const char *file, *next, *end;
	metric_nearest *nearest;
	unsigned line;
	char table
		[LONGEST_NAME_BYTES]; /* the current TOML table, with a dot after its name; or "" */
	struct hwy_err *err;
};

static bool budget_fail(const struct reader *r, const char *reason)
{
	return hwy_fail(r->err, "%s:%u: %s", r->file, r->line, hwy_tr(reason));
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void skip_blank(struct reader *r)
{
	while (r->next < r->end && (*r->next == ' ' || *r->next == '\t' || *r->next == '\r'))
		r->next++;
}

/* Skips blanks, newlines and comments, as they may stand between lines and inside lists. */
static void skip_lines(struct reader *r)
{
	for (;;) {
		skip_blank(r);
		if (r->next < r->end && *r->next == '#')
			while (r->next < r->end && *r->next != '\n')
				r->next++;
		if (r->next >= r->end || *r->next != '\n')
			return;
		r->line++;
		r->next++;
	}
}

static bool end_line(struct reader *r)
{
	skip_blank(r);
	if (r->next < r->end && *r->next != '\n' && *r->next != '#')
		return budget_fail(r, "something follows on the line that does not belong there");
	return true;
}

/* Reads a string in single or double quotes on one line; in double quotes \" and \\ stand for " and
 * \. */
static const char *read_string(struct reader *r)
{
	char quote = *r->next++, *text, *out;
	const char *end = r->next;
	while (end < r->end && *end != quote && *end != '\n')
		end += quote == '"' && *end == '\\' && end + 1 < r->end ? 2 : 1;
	if (end >= r->end || *end != quote)
		return budget_fail(r, "a string that does not end"), NULL;
	text = out = hwy_arena_alloc(&r->budget->arena, (size_t)(end - r->next) + 1);
	for (const char *from = r->next; from < end; from++)
		*out++ = quote == '"' && *from == '\\' ? *++from : *from;
	*out = '\0';
	r->next = end + 1;
	return text;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static struct budget_rule *add_rule(struct reader *r)
{
	struct compare_budget *budget = r->budget;
	HWY_GROW(budget->rules, budget->n, budget->cap);
	struct budget_rule *rule = &budget->rules[budget->n++];
	*rule = (struct budget_rule){.line = r->line};
	return rule;
}

/* The operator that a text begins with, and its *length; *length is 0 where there is none. */
static enum budget_operator operator_in(const char *text, const char *end, size_t *length)
{
	for (unsigned i = 0; i < OPERATORS; i++) {
		size_t n = strlen(budget_operators[i]);
		if ((size_t)(end - text) >= n && strncmp(text, budget_operators[i], n) == 0) {
			*length = n;
			return i;
		}
	}
	*length = 0;
	return OP_EQ;
}

static size_t trimmed_length(const char *text, const char *end)
{
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	return (size_t)(end - text);
}

/* Reads the rest of a rule, such as "<= 12ms", for the metric 'name'. */
static bool read_rule(struct reader *r, const char *name, const char *text, const char *end)
{
	struct hwy_err err;
	size_t length;
	enum budget_operator compares = operator_in(text, end, &length);
	if (length == 0)
		return budget_fail(r, "a rule compares: <=, >=, <, >, == or !=");
	struct budget_rule rule = {.compares = compares, .line = r->line};
	text += length;
	while (text < end && isspace((unsigned char)*text))
		text++;
	if (!metric_find(&rule.request, name, strlen(name), r->nearest, &r->budget->arena, &err) ||
	    !metric_read(rule.request.metric->kind, text, trimmed_length(text, end), &rule.limit,
			 &err))
		return budget_fail(r, err.text);
	*add_rule(r) = rule;
	return true;
}

/* The end of a metric's name without quotes: letters, digits, '_', '.' and '-'. */
static const char *plain_end(const char *text, const char *end)
{
	while (text < end && *text && (isalnum((unsigned char)*text) || strchr("_.-", *text)))
		text++;
	return text;
}

/* The end of a metric's name, in which kernel["…"] may have anything inside its quotes. */
static const char *name_end(const char *text, const char *end)
{
	text = plain_end(text, end);
	if (text >= end || *text != '[')
		return text;
	char quote = text + 1 < end ? text[1] : '\0';
	bool quoted = quote == '"' || quote == '\'';
	const char *close = text + (quoted ? 2 : 1);
	while (close < end && *close != '\n' &&
	       !(*close == ']' && (!quoted || (close > text + 2 && close[-1] == quote))))
		close++;
	return close < end && *close == ']' ? plain_end(close + 1, end) : text;
}

/* Reads a whole rule from a string: "step.p50 <= 12ms". */
static bool read_expression(struct reader *r, const char *text)
{
	const char *end = text + strlen(text);
	while (isspace((unsigned char)*text))
		text++;
	const char *name = text, *rest = name_end(text, end);
	char full[LONGEST_NAME_BYTES];
	snprintf(full, sizeof full, "%.*s",
		 (int)(rest - name < LONGEST_NAME_BYTES ? rest - name : 0), name);
	while (rest < end && isspace((unsigned char)*rest))
		rest++;
	return read_rule(r, full, rest, end);
}

static bool forbid(struct reader *r, const char *id)
{
	if (!hwy_finding_kind(id)) {
		const char *known[128] = {0}, *near;
		for (size_t i = 0; i < 127 && hwy_finding_kinds[i]; i++)
			known[i] = hwy_finding_kinds[i]->id;
		near = r->nearest ? r->nearest(id, known) : NULL;
		return hwy_fail(r->err, "%s:%u: there is no finding '%s'%s%s%s", r->file, r->line,
				id, hwy_tr(near ? "; did you mean '" : ""), near ? near : "",
				hwy_tr(near ? "'?" : ""));
	}
	add_rule(r)->forbids = id;
	return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool read_array(struct reader *r, bool (*each)(struct reader *, const char *))
{
	r->next++;
	for (;;) {
		skip_lines(r);
		if (r->next < r->end && *r->next == ']') {
			r->next++;
			return true;
		}
		if (r->next >= r->end || (*r->next != '"' && *r->next != '\''))
			return budget_fail(r, "a list of strings is expected: [\"…\"]");
		const char *text = read_string(r);
		if (!text || !each(r, text))
			return false;
		skip_lines(r);
		if (r->next < r->end && *r->next == ',')
			r->next++;
		else if (r->next >= r->end || *r->next != ']')
			return budget_fail(r, "',' or ']' is expected");
	}
}

/* Reads the value of NAME = VALUE: a list of rules or of findings, the steps' marks, or the rest of
 * a rule. */
static bool read_value(struct reader *r, const char *name)
{
	bool (*each)(struct reader *, const char *) = strcmp(name, "findings.forbid") == 0 ? forbid
						      : strcmp(name, "rules") == 0 ? read_expression
										   : NULL;
	char first = r->next < r->end ? *r->next : '\0';
	if (each && first != '[')
		return budget_fail(r, "a list of strings is expected: [\"…\"]");
	if (each)
		return read_array(r, each);
	const char *text = first == '"' || first == '\'' ? read_string(r) : "";
	if (!text)
		return false;
	if (strcmp(name, "step") == 0 && *text) {
		r->budget->step = text;
		return true;
	}
	/* An unknown name is reported rather than a missing operator. */
	struct metric_request request;
	struct hwy_err err;
	if (!metric_find(&request, name, strlen(name), r->nearest, &r->budget->arena, &err))
		return budget_fail(r, err.text);
	if (!*text)
		return budget_fail(r, "a rule compares: <=, >=, <, >, == or !=");
	return read_rule(r, name, text, text + strlen(text));
}

static bool budget_read_table(struct reader *r)
{
	const char *name = ++r->next;
	while (r->next < r->end && *r->next != ']' && *r->next != '\n')
		r->next++;
	if (r->next >= r->end || *r->next != ']' || r->next - name > 100)
		return budget_fail(r, "a table's name ends with ']'");
	size_t n = (size_t)(r->next++ - name);
	snprintf(r->table, sizeof r->table, "%.*s.", (int)n, name);
	if (n == 0 || strcmp(r->table, "budget.") == 0 || strcmp(r->table, "headway.") == 0)
		r->table[0] = '\0';
	return end_line(r);
}

static bool read_line(struct reader *r)
{
	const char *name = r->next;
	r->next = name_end(name, r->end);
	size_t n = (size_t)(r->next - name);
	char full[2 * LONGEST_NAME_BYTES];
	if (n == 0 || n >= LONGEST_NAME_BYTES)
		return budget_fail(r, "a rule is expected, such as: step.p50 <= 12ms");
	snprintf(full, sizeof full, "%s%.*s", r->table, (int)n, name);
	skip_blank(r);
	size_t length;
	operator_in(r->next, r->end, &length);
	if (length > 0) {
		const char *rule = r->next;
		while (r->next < r->end && *r->next != '\n' && *r->next != '#')
			r->next++;
		return read_rule(r, full, rule, r->next);
	}
	if (r->next >= r->end || *r->next != '=')
		return budget_fail(r, "a rule compares: <=, >=, <, >, == or !=");
	r->next++;
	skip_blank(r);
	return read_value(r, full) && end_line(r);
}

bool budget_read(struct compare_budget *budget, const char *file, const char *text, size_t length,
		 metric_nearest *nearest, struct hwy_err *err)
{
	*budget = (struct compare_budget){0};
	struct reader r = {.budget = budget,
			   .file = file,
			   .next = text,
			   .end = text + length,
			   .nearest = nearest,
			   .line = 1,
			   .err = err};
	if (memchr(text, '\0', length))
		return hwy_fail(err, "%s: this is no text", file);
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.next += 3; /* the byte order mark with which some editors begin a file */
	for (skip_lines(&r); r.next < r.end; skip_lines(&r))
		if (!(*r.next == '[' ? budget_read_table(&r) : read_line(&r)))
			return false;
	if (budget->n == 0)
		return hwy_fail(err, "%s: no rules in it", file);
	return true;
}

void budget_free(struct compare_budget *budget)
{
	free(budget->rules);
	hwy_arena_free(&budget->arena);
	*budget = (struct compare_budget){0};
}
