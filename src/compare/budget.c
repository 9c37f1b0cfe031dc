/* budget.c - see budget.h. */
#include "compare/budget.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const budget_operators[] = {"<=", ">=", "<", ">", "==", "!="};
enum { OPERATORS = 6, LONGEST_NAME_BYTES = 256 };

struct reader {
	struct compare_budget *budget;
	const char *file, *at, *end;
	metric_nearest *nearest;
	unsigned line;
	char table[LONGEST_NAME_BYTES]; /* with its dot, or "" */
	struct hwy_err *err;
};

static bool budget_fail(const struct reader *r, const char *reason)
{
	return hwy_fail(r->err, "%s:%u: %s", r->file, r->line, reason);
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static void skip_blank(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
}

/* Blanks, newlines and comments: between lines, and inside arrays. */
static void skip_lines(struct reader *r)
{
	for (;;) {
		skip_blank(r);
		if (r->at < r->end && *r->at == '#')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		if (r->at >= r->end || *r->at != '\n')
			return;
		r->line++;
		r->at++;
	}
}

static bool end_line(struct reader *r)
{
	skip_blank(r);
	if (r->at < r->end && *r->at != '\n' && *r->at != '#')
		return budget_fail(r, "something follows on the line that does not belong there");
	return true;
}

/* A string in either quotes, on one line; \" and \\ in double ones. */
static const char *read_string(struct reader *r)
{
	char quote = *r->at++, *text, *out;
	const char *end = r->at;
	while (end < r->end && *end != quote && *end != '\n')
		end += quote == '"' && *end == '\\' && end + 1 < r->end ? 2 : 1;
	if (end >= r->end || *end != quote)
		return budget_fail(r, "a string that does not end"), NULL;
	text = out = hwy_arena_alloc(&r->budget->arena, (size_t)(end - r->at) + 1);
	for (const char *at = r->at; at < end; at++)
		*out++ = quote == '"' && *at == '\\' ? *++at : *at;
	*out = '\0';
	r->at = end + 1;
	return text;
}

/* ---- rules ----------------------------------------------------------------------------------------- */

static struct budget_rule *add_rule(struct reader *r)
{
	struct compare_budget *budget = r->budget;
	HWY_GROW(budget->rules, budget->n, budget->cap);
	struct budget_rule *rule = &budget->rules[budget->n++];
	*rule = (struct budget_rule){.line = r->line};
	return rule;
}

/* The operator at a place; its length in *length, 0: none. */
static enum budget_operator op_at(const char *at, const char *end, size_t *length)
{
	for (unsigned i = 0; i < OPERATORS; i++) {
		size_t n = strlen(budget_operators[i]);
		if ((size_t)(end - at) >= n && strncmp(at, budget_operators[i], n) == 0) {
			*length = n;
			return i;
		}
	}
	*length = 0;
	return OP_EQ;
}

static size_t trimmed(const char *at, const char *end)
{
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	return (size_t)(end - at);
}

/* "<= 12ms" for a name. */
static bool read_rule(struct reader *r, const char *name, const char *at, const char *end)
{
	struct hwy_err err;
	size_t length;
	enum budget_operator compares = op_at(at, end, &length);
	if (length == 0)
		return budget_fail(r, "a rule compares: <=, >=, <, >, == or !=");
	struct budget_rule rule = {.compares = compares, .line = r->line};
	at += length;
	while (at < end && isspace((unsigned char)*at))
		at++;
	if (!metric_find(&rule.wish, name, strlen(name), r->nearest, &r->budget->arena, &err) ||
	    !metric_read(rule.wish.metric->kind, at, trimmed(at, end), &rule.limit, &err))
		return budget_fail(r, err.text);
	*add_rule(r) = rule;
	return true;
}

/* The end of a name: metrics have letters, digits, '_', '.', and kernel["…"] anything inside its quotes. */
static const char *plain_end(const char *at, const char *end)
{
	while (at < end && *at && (isalnum((unsigned char)*at) || strchr("_.-", *at)))
		at++;
	return at;
}

static const char *name_end(const char *at, const char *end)
{
	at = plain_end(at, end);
	if (at >= end || *at != '[')
		return at;
	char quote = at + 1 < end ? at[1] : '\0';
	bool quoted = quote == '"' || quote == '\'';
	const char *close = at + (quoted ? 2 : 1);
	while (close < end && *close != '\n' &&
	       !(*close == ']' && (!quoted || (close > at + 2 && close[-1] == quote))))
		close++;
	return close < end && *close == ']' ? plain_end(close + 1, end) : at;
}

/* A rule in a string: "step.p50 <= 12ms". */
static bool read_expression(struct reader *r, const char *text)
{
	const char *end = text + strlen(text);
	while (isspace((unsigned char)*text))
		text++;
	const char *name = text, *at = name_end(text, end);
	char full[LONGEST_NAME_BYTES];
	snprintf(full, sizeof full, "%.*s", (int)(at - name < LONGEST_NAME_BYTES ? at - name : 0),
		 name);
	while (at < end && isspace((unsigned char)*at))
		at++;
	return read_rule(r, full, at, end);
}

static bool forbid(struct reader *r, const char *id)
{
	if (!hwy_finding_kind(id)) {
		const char *known[128] = {0}, *near;
		for (size_t i = 0; i < 127 && hwy_finding_kinds[i]; i++)
			known[i] = hwy_finding_kinds[i]->id;
		near = r->nearest ? r->nearest(id, known) : NULL;
		return hwy_fail(r->err, "%s:%u: there is no finding '%s'%s%s%s", r->file, r->line,
				id, near ? "; did you mean '" : "", near ? near : "",
				near ? "'?" : "");
	}
	add_rule(r)->forbids = id;
	return true;
}

/* ---- values ---------------------------------------------------------------------------------------- */

static bool read_array(struct reader *r, bool (*each)(struct reader *, const char *))
{
	r->at++;
	for (;;) {
		skip_lines(r);
		if (r->at < r->end && *r->at == ']') {
			r->at++;
			return true;
		}
		if (r->at >= r->end || (*r->at != '"' && *r->at != '\''))
			return budget_fail(r, "a list of strings is expected: [\"…\"]");
		const char *text = read_string(r);
		if (!text || !each(r, text))
			return false;
		skip_lines(r);
		if (r->at < r->end && *r->at == ',')
			r->at++;
		else if (r->at >= r->end || *r->at != ']')
			return budget_fail(r, "',' or ']' is expected");
	}
}

/* key = value */
static bool read_value(struct reader *r, const char *name)
{
	bool (*each)(struct reader *, const char *) = strcmp(name, "findings.forbid") == 0 ? forbid
						      : strcmp(name, "rules") == 0 ? read_expression
										   : NULL;
	char first = r->at < r->end ? *r->at : '\0';
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
	/* An unknown name is the better news than a missing operator. */
	struct metric_wish wish;
	struct hwy_err err;
	if (!metric_find(&wish, name, strlen(name), r->nearest, &r->budget->arena, &err))
		return budget_fail(r, err.text);
	if (!*text)
		return budget_fail(r, "a rule compares: <=, >=, <, >, == or !=");
	return read_rule(r, name, text, text + strlen(text));
}

static bool budget_read_table(struct reader *r)
{
	const char *name = ++r->at;
	while (r->at < r->end && *r->at != ']' && *r->at != '\n')
		r->at++;
	if (r->at >= r->end || *r->at != ']' || r->at - name > 100)
		return budget_fail(r, "a table's name ends with ']'");
	size_t n = (size_t)(r->at++ - name);
	snprintf(r->table, sizeof r->table, "%.*s.", (int)n, name);
	if (n == 0 || strcmp(r->table, "budget.") == 0 || strcmp(r->table, "headway.") == 0)
		r->table[0] = '\0';
	return end_line(r);
}

static bool read_line(struct reader *r)
{
	const char *name = r->at;
	r->at = name_end(name, r->end);
	size_t n = (size_t)(r->at - name);
	char full[2 * LONGEST_NAME_BYTES];
	if (n == 0 || n >= LONGEST_NAME_BYTES)
		return budget_fail(r, "a rule is expected, such as: step.p50 <= 12ms");
	snprintf(full, sizeof full, "%s%.*s", r->table, (int)n, name);
	skip_blank(r);
	size_t length;
	op_at(r->at, r->end, &length);
	if (length > 0) {
		const char *at = r->at;
		while (r->at < r->end && *r->at != '\n' && *r->at != '#')
			r->at++;
		return read_rule(r, full, at, r->at);
	}
	if (r->at >= r->end || *r->at != '=')
		return budget_fail(r, "a rule compares: <=, >=, <, >, == or !=");
	r->at++;
	skip_blank(r);
	return read_value(r, full) && end_line(r);
}

bool budget_read(struct compare_budget *budget, const char *file, const char *text, size_t length,
		 metric_nearest *nearest, struct hwy_err *err)
{
	*budget = (struct compare_budget){0};
	struct reader r = {.budget = budget,
			   .file = file,
			   .at = text,
			   .end = text + length,
			   .nearest = nearest,
			   .line = 1,
			   .err = err};
	if (memchr(text, '\0', length))
		return hwy_fail(err, "%s: this is no text", file);
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.at += 3; /* some editors begin files so */
	for (skip_lines(&r); r.at < r.end; skip_lines(&r))
		if (!(*r.at == '[' ? budget_read_table(&r) : read_line(&r)))
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
