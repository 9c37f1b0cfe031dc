/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.c - see json_read.h. */
#include "base/json_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

struct reader {
	struct hwy_arena *arena;
	const char *at, *end;
	unsigned line, depth;
	const char *wrong; /* why the text is not JSON; NULL: no mistake so far */
};

static bool json_read_fail(struct reader *r, const char *reason)
{
	if (!r->wrong)
		r->wrong = reason;
	return false;
}

static void json_read_skip_space(struct reader *r)
{
	for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++)
		r->line += *r->at == '\n';
}

static bool json_read_take(struct reader *r, char c)
{
	json_read_skip_space(r);
	if (r->at >= r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Reads the four hexadecimal digits after \u. */
static bool read_hex(struct reader *r, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		if (r->at >= r->end || !isxdigit((unsigned char)*r->at))
			return json_read_fail(r, "a \\u without four digits");
		int c = tolower((unsigned char)*r->at);
		*code = *code * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* Code points above U+FFFF are written as two escapes, a high surrogate and a low one: where *code
 * is a high one, and a low one follows, *code becomes the code point. A surrogate without its other
 * half stays one. */
static bool read_low_surrogate(struct reader *r, uint32_t *code)
{
	const char *after_high = r->at;
	uint32_t low;
	if (*code < 0xd800 || *code >= 0xdc00 || r->end - r->at < 6 || r->at[0] != '\\' ||
	    r->at[1] != 'u')
		return true;
	r->at += 2;
	if (!read_hex(r, &low))
		return false;
	if (low >= 0xdc00 && low < 0xe000)
		*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
	else
		r->at = after_high;
	return true;
}

static bool read_escape(struct reader *r, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	if (r->at >= r->end)
		return json_read_fail(r, "a text that does not end");
	char c = *r->at++;
	const char *known = c ? strchr(from, c) : NULL;
	if (known) {
		*(*out)++ = to[known - from];
		return true;
	}
	uint32_t code;
	if (c != 'u')
		return json_read_fail(r, "an unknown escape");
	if (!read_hex(r, &code) || !read_low_surrogate(r, &code))
		return false;
	/* Texts end with a 0, so a text cannot contain \u0000. */
	*out += hwy_utf8_encode(*out, code ? code : HWY_UTF8_REPLACEMENT);
	return true;
}

/* Reads the rest of a string, after its opening quote. */
static const char *json_read_read_text(struct reader *r)
{
	size_t room = 0;
	for (const char *at = r->at; at < r->end && *at != '"'; at++, room++)
		if (*at == '\\' && at + 1 < r->end)
			at++, room++;
	char *text = hwy_arena_alloc(r->arena, room + 4), *out = text;
	while (r->at < r->end && *r->at != '"') {
		char c = *r->at++;
		if (c != '\\')
			*out++ = c;
		else if (!read_escape(r, &out))
			return NULL;
	}
	if (r->at >= r->end)
		return json_read_fail(r, "a text that does not end"), NULL;
	r->at++;
	*out = '\0';
	return text;
}

static bool read_value(struct reader *r, struct json_value *value);

static bool read_children(struct reader *r, struct json_value *value, char close)
{
	struct json_value **tail = &value->first;
	if (++r->depth > DEEPEST)
		return json_read_fail(r, "nested too deeply");
	if (json_read_take(r, close)) {
		r->depth--;
		return true;
	}
	do {
		struct json_value *child = hwy_arena_alloc(r->arena, sizeof *child);
		if (close == '}') {
			if (!json_read_take(r, '"'))
				return json_read_fail(r, "a key is expected");
			if (!(child->key = json_read_read_text(r)))
				return false;
			if (!json_read_take(r, ':'))
				return json_read_fail(r, "':' is expected");
		}
		if (!read_value(r, child))
			return false;
		*tail = child;
		tail = &child->next;
		value->last = child;
		value->n++;
	} while (json_read_take(r, ','));
	r->depth--;
	return json_read_take(r, close) ||
	       json_read_fail(r, "',' or the end of the list is expected");
}

static bool read_word(struct reader *r, struct json_value *value)
{
	static const struct {
		const char *word;
		enum json_type type;
	} words[] = {{"null", JSON_NULL}, {"true", JSON_TRUE}, {"false", JSON_FALSE}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].word);
		if ((size_t)(r->end - r->at) >= n && strncmp(r->at, words[i].word, n) == 0) {
			r->at += n;
			value->type = words[i].type;
			return true;
		}
	}
	size_t n = 0;
	while (r->at + n < r->end && r->at[n] && strchr("+-0123456789.eE", r->at[n]))
		n++;
	if (n == 0 || n > 64)
		return json_read_fail(r, "a value is expected");
	value->type = JSON_NUMBER;
	value->text = hwy_arena_text(r->arena, r->at, n);
	char *end;
	double number = strtod(value->text, &end);
	if (*end || !isfinite(number))
		return json_read_fail(r, "a number is expected");
	r->at += n;
	return true;
}

static bool read_value(struct reader *r, struct json_value *value)
{
	if (json_read_take(r, '{')) {
		value->type = JSON_OBJECT;
		return read_children(r, value, '}');
	}
	if (json_read_take(r, '[')) {
		value->type = JSON_ARRAY;
		return read_children(r, value, ']');
	}
	if (json_read_take(r, '"')) {
		value->type = JSON_TEXT;
		return (value->text = json_read_read_text(r)) != NULL;
	}
	return read_word(r, value);
}

struct json_value *json_read(struct hwy_arena *arena, const char *text, size_t length,
			     struct hwy_err *err)
{
	struct reader r = {.arena = arena, .at = text, .end = text + length, .line = 1};
	struct json_value *root = hwy_arena_alloc(arena, sizeof *root);
	bool done = read_value(&r, root);
	json_read_skip_space(&r);
	if (done && r.at < r.end)
		done = json_read_fail(&r, "something follows the end");
	if (done)
		return root;
	hwy_fail(err, "line %u: no JSON: %s", r.line, r.wrong);
	return NULL;
}

const struct json_value *json_get(const struct json_value *object, const char *key)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (const struct json_value *child = object->first; child; child = child->next)
		if (strcmp(child->key, key) == 0)
			return child;
	return NULL;
}

int64_t json_as_int(const struct json_value *value, int64_t otherwise)
{
	if (!value || value->type != JSON_NUMBER)
		return otherwise;
	char *end;
	errno = 0;
	long long number = strtoll(value->text, &end, 10);
	return *end || errno ? otherwise : number;
}

int64_t json_get_int(const struct json_value *object, const char *key)
{
	return json_as_int(json_get(object, key), 0);
}

double json_get_real(const struct json_value *object, const char *key)
{
	const struct json_value *value = json_get(object, key);
	return value && value->type == JSON_NUMBER ? strtod(value->text, NULL) : 0;
}

const char *json_get_text(const struct json_value *object, const char *key)
{
	const struct json_value *value = json_get(object, key);
	return value && value->type == JSON_TEXT ? value->text : "";
}

bool json_get_bool(const struct json_value *object, const char *key)
{
	const struct json_value *value = json_get(object, key);
	return value && value->type == JSON_TRUE;
}
