/* SPDX-License-Identifier: Apache-2.0 */
/* query_pattern.c - the regular expressions of the language: what POSIX and JavaScript understand
 * alike, and what takes time in proportion to the text.
 *
 * Characters, . ^ $ ( ) | * + ? [abc] [^a-z] and \ before a sign; \d \w \s are digits, letters and
 * blanks. No counts ({3}), no references back, no look around: these take long, or mean different
 * things. Pattern and name are compared in small letters (ASCII). web/src/query/pattern.ts has the
 * same rules.
 */
#include "serve/query.h"

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char pattern_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int query_pattern_family(char c)
{
	return c >= '0' && c <= '9' ? 1 : c >= 'a' && c <= 'z' ? 2 : 0;
}

/* Copies a set, "[a-z_]"; *at stands behind the "[", and then behind the "]". */
static bool read_set(const char **at, struct hwy_bytes *out, struct hwy_err *err)
{
	const char *c = *at;
	hwy_bytes_put_byte(out, '[');
	if (*c == '^')
		hwy_bytes_put_byte(out, (uint8_t)*c++);
	if (*c == ']')
		return hwy_fail(err, "a set of characters is empty");
	for (; *c && *c != ']'; c++) {
		bool is_range = c[1] == '-' && c[2] && c[2] != ']';
		char low = pattern_lower(*c), high = is_range ? pattern_lower(c[2]) : low;
		if (*c == '\\' || *c == '[')
			return hwy_fail(err, "a set of characters cannot hold '%c'", *c);
		if (is_range &&
		    (query_pattern_family(low) == 0 ||
		     query_pattern_family(low) != query_pattern_family(high) || low > high))
			return hwy_fail(
				err,
				"a range of characters goes from a digit or letter to a later one");
		hwy_bytes_put_byte(out, (uint8_t)low);
		if (is_range)
			hwy_bytes_put(out, (char[]){'-', high}, 2);
		c += is_range ? 2 : 0;
	}
	if (!*c)
		return hwy_fail(err, "a set of characters is not closed");
	hwy_bytes_put_byte(out, ']');
	*at = c + 1;
	return true;
}

/* Copies what follows a backslash; a class becomes a set. */
static bool read_escape(char c, struct hwy_bytes *out, struct hwy_err *err)
{
	const char *set = c == 'd' ? "[0-9]" : c == 'w' ? "[a-z0-9_]" : c == 's' ? "[ \t]" : NULL;
	if (set) {
		hwy_bytes_put(out, set, strlen(set));
		return true;
	}
	if (!c || is_alphanumeric(c) || (c & 0x80))
		return hwy_fail(err, "after \\ stands a sign, or one of d, w, s");
	/* In a set the sign is itself; behind a backslash glibc gives some signs a meaning of
	 * their own ("\<"). */
	if (c == '^')
		hwy_bytes_put(out, "\\^", 2);
	else
		hwy_bytes_put(out, (char[]){'[', c, ']'}, 3);
	return true;
}

/* What the part before a sign allows. */
struct reading {
	bool has_atom; /* something stands there that can be repeated */
	bool is_empty; /* the alternative has nothing so far */
	int depth;
};

static bool read_sign(struct reading *r, const char **at, struct hwy_bytes *out,
		      struct hwy_err *err)
{
	char c = *(*at)++;
	bool ends = c == ')' || c == '|';
	if ((c == '*' || c == '+' || c == '?') && !r->has_atom)
		return hwy_fail(err, "there is nothing that '%c' could repeat", c);
	if (c == '{' || c == '}')
		return hwy_fail(err, "'%c' needs a \\ before it", c);
	if (ends && r->is_empty)
		return hwy_fail(err, "there is nothing before '%c'", c);
	r->depth += c == '(' ? 1 : c == ')' ? -1 : 0;
	if (r->depth < 0)
		return hwy_fail(err, "a parenthesis is closed that was not opened");
	r->is_empty = c == '(' || c == '|';
	r->has_atom = !r->is_empty && c != '*' && c != '+' && c != '?' && c != '^' && c != '$';
	if (c == '\\' || c == '[') {
		r->has_atom = true;
		return c == '[' ? read_set(at, out, err) : read_escape(*(*at)++, out, err);
	}
	hwy_bytes_put_byte(out, (uint8_t)pattern_lower(c));
	return true;
}

bool query_pattern_compile(regex_t *pattern, const char *text, struct hwy_err *err)
{
	struct hwy_bytes out = {0};
	struct reading r = {.is_empty = true};
	bool ok = strlen(text) <= QUERY_PATTERN ||
		  hwy_fail(err, "it is longer than %d bytes", QUERY_PATTERN);
	while (ok && *text)
		ok = read_sign(&r, &text, &out, err);
	if (ok && r.depth > 0)
		ok = hwy_fail(err, "a parenthesis is not closed");
	if (ok && r.is_empty)
		ok = hwy_fail(err, "there is nothing at its end");
	hwy_bytes_put_byte(&out, 0);
	if (ok && regcomp(pattern, (const char *)out.bytes, REG_EXTENDED | REG_NOSUB) != 0)
		ok = hwy_fail(err, "it is not understood");
	hwy_bytes_free(&out);
	return ok;
}
