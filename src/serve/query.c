/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - see query.h: takes a query apart. It knows nothing of traces; match.c finds the
 * spans. */
#include "serve/query.h"

#include <math.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/mem.h"

/* What is being read. 'begin' is the whole query: places in sentences are characters after it. */
struct parsing {
	const char *begin, *at;
	struct query_term *term;
	struct hwy_err *err;
};

static char query_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* The number of the character at 'at', from 1, as a person counts them. */
static unsigned query_place(const struct parsing *p, const char *at)
{
	unsigned n = 1;
	for (const char *c = p->begin; c < at; c++)
		n += (*c & 0xc0) != 0x80;
	return n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_identifier(char c, bool is_first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!is_first && ((c >= '0' && c <= '9') || c == '-'));
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Reads a text up to the next blank, or in quotation marks, in which \" and \\ stand for " and
 * \. */
static bool term_read_text(struct parsing *p, struct hwy_bytes *out)
{
	const char *open = p->at;
	if (*p->at != '"') {
		while (*p->at && !is_blank(*p->at))
			hwy_bytes_put_byte(out, (uint8_t)*p->at++);
		return true;
	}
	for (p->at++; *p->at && *p->at != '"'; p->at++) {
		if (*p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\'))
			p->at++;
		hwy_bytes_put_byte(out, (uint8_t)*p->at);
	}
	if (!*p->at)
		return hwy_fail(p->err, "character %u: the quotation mark is not closed",
				query_place(p, open));
	p->at++;
	if (*p->at && !is_blank(*p->at))
		return hwy_fail(p->err,
				"character %u: a blank is missing behind the quotation mark",
				query_place(p, p->at));
	return true;
}

static void term_keep_text(struct query_term *term, const struct hwy_bytes *text)
{
	term->length = text->n;
	term->text = hwy_array(text->n + 1, 1);
	for (size_t i = 0; i < text->n; i++)
		term->text[i] =
			(char)(term->test == QUERY_IS ? text->bytes[i]
						      : (uint8_t)query_lower((char)text->bytes[i]));
	term->text[text->n] = 0;
}

/* Takes the number from the end of "train.py:18". */
static void split_line(struct query_term *term)
{
	char *colon = strrchr(term->text, ':');
	char *digits = colon ? colon + 1 : term->text;
	size_t n = strspn(digits, "0123456789");
	if (n == 0 || n > 9 || digits[n])
		return;
	term->line = strtol(digits, NULL, 10);
	term->length = colon ? (size_t)(colon - term->text) : 0;
	term->text[term->length] = 0;
}

static bool set_text(struct parsing *p, const char *value_at, const struct hwy_bytes *text)
{
	struct query_term *term = p->term;
	struct hwy_err why;
	if (text->n == 0 && term->test != QUERY_IS)
		return hwy_fail(p->err, "character %u: a text is missing",
				query_place(p, value_at));
	term_keep_text(term, text);
	if (term->test != QUERY_MATCHES) {
		if (term->field == QUERY_LINE)
			split_line(term);
		return true;
	}
	char *pattern = hwy_array(text->n + 1, 1);
	memcpy(pattern, text->bytes, text->n);
	pattern[text->n] = 0;
	bool ok = query_pattern_compile(&term->pattern, pattern, &why);
	free(pattern);
	if (!ok) {
		term->test = QUERY_HAS; /* there is no pattern to be freed */
		return hwy_fail(p->err, "character %u: the regular expression is wrong: %s",
				query_place(p, value_at), why.text);
	}
	return true;
}

/* Reads "kernel,copy". */
static bool set_kinds(struct parsing *p, const char *value_at, const struct hwy_bytes *text)
{
	const char *words = (const char *)text->bytes;
	for (size_t i = 0; i < text->n || text->n == 0;) {
		size_t n = 0;
		while (i + n < text->n && words[i + n] != ',')
			n++;
		uint32_t looks = n ? query_looks(words + i, n) : 0;
		if (!looks)
			return hwy_fail(p->err, "character %u: '%.*s' is no kind of span",
					query_place(p, value_at), n < 40 ? (int)n : 40,
					n ? words + i : "");
		p->term->looks |= looks;
		i += n + 1;
	}
	return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static struct query_bounds all_numbers(void)
{
	return (struct query_bounds){INT64_MIN, INT64_MAX, -HUGE_VAL, HUGE_VAL, false, false};
}

/* Reads "5", "5..7", "5..", "..7". */
static const char *read_range(const char *at, const char *end, enum query_unit unit,
			      struct query_bounds *bounds)
{
	struct query_quantity low, high;
	*bounds = all_numbers();
	const char *behind = query_read_quantity(at, end, unit, &low);
	bool has_low = behind != NULL;
	behind = behind ? behind : at;
	bool is_range = end - behind >= 2 && behind[0] == '.' && behind[1] == '.';
	if (has_low) {
		bounds->low = low.ceiling;
		bounds->real_low = low.real;
	}
	if (has_low && !is_range) {
		bounds->high = low.floor;
		bounds->real_high = low.real;
		return behind;
	}
	if (!is_range)
		return NULL;
	at = behind + 2;
	behind = query_read_quantity(at, end, unit, &high);
	if (!behind)
		return has_low ? at : NULL;
	bounds->high = high.floor;
	bounds->real_high = high.real;
	return behind;
}

static void add_bounds(struct query_term *term, struct query_bounds bounds)
{
	HWY_GROW(term->bounds, term->n_bounds, term->cap_bounds);
	term->bounds[term->n_bounds++] = bounds;
}

/* Reads the one number behind <, >, <= or >=. */
static const char *read_limit(const char *sign, const char *at, const char *end,
			      enum query_unit unit, struct query_bounds *bounds)
{
	struct query_quantity limit;
	bool is_with = sign[1] == '=';
	const char *behind = query_read_quantity(at, end, unit, &limit);
	*bounds = all_numbers();
	if (!behind)
		return NULL;
	if (*sign == '>') {
		bounds->low = is_with                    ? limit.ceiling
			      : limit.floor == INT64_MAX ? INT64_MAX
							 : limit.floor + 1;
		bounds->real_low = limit.real;
		bounds->low_is_open = !is_with;
	} else {
		bounds->high = is_with                      ? limit.floor
			       : limit.ceiling == INT64_MIN ? INT64_MIN
							    : limit.ceiling - 1;
		bounds->real_high = limit.real;
		bounds->high_is_open = !is_with;
	}
	return behind;
}

static bool set_numbers(struct parsing *p, const char *sign, const char *value_at,
			const struct hwy_bytes *text, enum query_unit unit)
{
	static const char *const wanted[] = {
		[QUERY_PLAIN] = HWY_KEY("a number (7, or 3..5)"),
		[QUERY_TIME] = HWY_KEY("a time (50us, or 1ms..2ms)"),
		[QUERY_BYTES] = HWY_KEY("a size (4MB, or 1KiB..1MiB)"),
		[QUERY_BYTES_A_SECOND] = HWY_KEY("a rate (20GB/s, or 1GB/s..2GB/s)"),
	};
	/* The bytes of an empty text are NULL, and in C even 0 must not be added to NULL. */
	const char *at = text->n ? (const char *)text->bytes : "", *end = at + text->n;
	bool is_limit = *sign == '<' || *sign == '>';
	p->term->test = QUERY_IN;
	do {
		struct query_bounds bounds;
		at = !text->n   ? NULL
		     : is_limit ? read_limit(sign, at, end, unit, &bounds)
				: read_range(at, end, unit, &bounds);
		if (!at || (at < end && (is_limit || *at != ',')))
			return hwy_fail(p->err, "character %u: %s is expected here",
					query_place(p, value_at), hwy_tr(wanted[unit]));
		if (p->term->n_bounds >= QUERY_LIST)
			return hwy_fail(p->err, "character %u: the list has more than %d numbers",
					query_place(p, value_at), QUERY_LIST);
		add_bounds(p->term, bounds);
	} while (at++ < end);
	return true;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Yields the length of the sign at 'c' (one of : = ~ < > <= >=), or 0. */
static size_t sign_length(const char *c)
{
	if (*c == '<' || *c == '>')
		return c[1] == '=' ? 2 : 1;
	return *c == ':' || *c == '=' || *c == '~';
}

static bool set_value(struct parsing *p, const struct query_word *word, const char *sign,
		      const char *value_at, const struct hwy_bytes *text)
{
	bool is_limit = *sign == '<' || *sign == '>';
	bool is_text = word->unit == QUERY_TEXT || word->unit == QUERY_WORDS;
	if ((is_text && is_limit) || (!is_text && *sign == '~') ||
	    (word->unit == QUERY_WORDS && *sign == '~'))
		return hwy_fail(p->err, "character %u: this field is no %s: '%.*s' does not fit it",
				query_place(p, sign),
				hwy_tr(is_text && is_limit ? "number" : "text"),
				(int)sign_length(sign), sign);
	p->term->field = word->field;
	p->term->part = word->part;
	p->term->test = *sign == '=' ? QUERY_IS : *sign == '~' ? QUERY_MATCHES : QUERY_HAS;
	if (word->unit == QUERY_WORDS) {
		p->term->test = QUERY_IS;
		return set_kinds(p, value_at, text);
	}
	return is_text ? set_text(p, value_at, text)
		       : set_numbers(p, sign, value_at, text, word->unit);
}

/* Reads a field, a sign and a value. *is_field stays false where the term is none: "aten::mm" is
 * a name. */
static bool read_field(struct parsing *p, bool *is_field)
{
	const char *begin = p->at, *sign = begin;
	struct query_word word;
	while (is_identifier(*sign, sign == begin))
		sign++;
	size_t length = (size_t)(sign - begin), n = sign_length(sign);
	if (length == 0 || n == 0 || (sign[0] == ':' && sign[1] == ':'))
		return true;
	const char *value = sign + n, *end = value;
	bool is_known = query_find_field(begin, length, &word);
	while (*end && !is_blank(*end))
		end++;
	struct query_quantity ignored;
	if (!is_known) {
		/* "durr>50us" is a field that is written wrong, "gemm<float" a part of a name. */
		if (*sign != ':' && *sign != '~' && end > value &&
		    query_read_quantity(value, end, QUERY_TIME, &ignored) == end)
			return hwy_fail(
				p->err,
				"character %u: there is no field '%.*s'; a part of a name stands in "
				"quotation marks",
				query_place(p, begin), length < 40 ? (int)length : 40, begin);
		return true;
	}
	*is_field = true;
	p->at = value;
	struct hwy_bytes text = {0};
	bool ok = term_read_text(p, &text) && set_value(p, &word, sign, value, &text);
	hwy_bytes_free(&text);
	return ok;
}

/* Reads a word or a quoted text: a kind where it is the first term, else a part of the name. */
static bool term_read_word(struct parsing *p, bool is_first)
{
	struct hwy_bytes text = {0};
	const char *begin = p->at;
	bool is_quoted = *begin == '"';
	bool ok = term_read_text(p, &text);
	if (ok && is_first && !is_quoted)
		p->term->looks = query_looks((const char *)text.bytes, text.n);
	p->term->field = p->term->looks ? QUERY_KIND : QUERY_NAME;
	p->term->test = p->term->looks ? QUERY_IS : QUERY_HAS;
	ok = ok && (p->term->looks || set_text(p, begin, &text));
	hwy_bytes_free(&text);
	return ok;
}

bool query_parse(struct query *query, const char *text, struct hwy_err *err)
{
	struct parsing p = {.begin = text, .at = text, .err = err};
	query->n = 0;
	for (;;) {
		while (is_blank(*p.at))
			p.at++;
		if (!*p.at)
			return true;
		if (query->n == QUERY_TERMS)
			return hwy_fail(err, "character %u: a query has at most %d terms",
					query_place(&p, p.at), QUERY_TERMS);
		p.term = &query->terms[query->n];
		*p.term = (struct query_term){.is_negated = *p.at == '-' && p.at[1] &&
							    !is_blank(p.at[1])};
		p.at += p.term->is_negated;
		bool is_first = query->n++ == 0, is_field = false;
		if (!read_field(&p, &is_field) || (!is_field && !term_read_word(&p, is_first)))
			return false;
	}
}

void query_free(struct query *query)
{
	for (uint32_t i = 0; i < query->n; i++) {
		struct query_term *term = &query->terms[i];
		if (term->test == QUERY_MATCHES && term->text)
			regfree(&term->pattern);
		free(term->text);
		free(term->bounds);
	}
	query->n = 0;
}

/* ---- whether a value fits -------------------------------------------------------------------- */

bool query_text_fits(const struct query_term *term, struct hwy_text text, struct hwy_bytes *room)
{
	if (term->test == QUERY_IS)
		return text.length == term->length &&
		       memcmp(text.at, term->text, term->length) == 0;
	if (term->test == QUERY_HAS && term->length > text.length)
		return false;
	room->n = 0;
	char *small = (char *)hwy_bytes_add(room, (size_t)text.length + 1);
	for (size_t i = 0; i < text.length; i++)
		small[i] = query_lower(text.at[i]);
	small[text.length] = 0;
	/* memmem takes time in proportion to the text's length, whatever both are made of. */
	if (term->test == QUERY_HAS)
		return memmem(small, text.length, term->text, term->length) != NULL;
	return regexec(&term->pattern, small, 0, NULL, 0) == 0;
}

bool query_real_fits(const struct query_term *term, double value)
{
	for (uint32_t i = 0; i < term->n_bounds; i++) {
		const struct query_bounds *b = &term->bounds[i];
		if ((b->low_is_open ? value > b->real_low : value >= b->real_low) &&
		    (b->high_is_open ? value < b->real_high : value <= b->real_high))
			return true;
	}
	return false;
}
