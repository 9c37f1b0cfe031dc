/* SPDX-License-Identifier: Apache-2.0 */
/* secrets_json.c - texts of metadata that may be JSON, without secrets.
 *
 * The text is copied token by token. A value under a key that names a secret is masked, and so is
 * every value inside of it; texts are masked as lines, and texts that are JSON themselves as JSON.
 * Environment variables are left out as a whole, whatever their names are. What comes out is JSON
 * where JSON went in. A text that was cut off, or that is no JSON, is copied as far as it goes: no
 * byte behind the key of a secret stays because a bracket is missing.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secrets.h"
#include "base/utf8.h"

enum {
	MOST_LEVELS = 64, /* what nests deeper is judged by the key of the last level */
	MOST_TEXTS = 8    /* how deep texts that are JSON themselves may hold such texts */
};

/* A slice of the text that is masked; no bytes where nothing is said. */
struct slice {
	const char *at;
	size_t n;
};

struct level {
	bool is_object;
	struct slice secret; /* the key of a secret that this value stands under */
	struct slice key;    /* the key before the next value; of a list, an option ("--token") */
	struct slice
		pair; /* the name of {"name": "HF_TOKEN", "value": …}, where it is a secret's */
};

struct walk {
	const char *text;
	size_t n, i; /* its length, and the next byte to copy */
	struct hwy_bytes *out;
	bool found;
	bool is_odd; /* a word stands where JSON has none: the text may be a line, too */
	int texts;   /* how many texts this text stands in */
	size_t depth;
	struct level levels[MOST_LEVELS];
};

static bool mask_any(const char *text, size_t n, struct hwy_bytes *out, int texts);

static struct level *level_of(struct walk *w)
{
	return &w->levels[w->depth < MOST_LEVELS ? w->depth : MOST_LEVELS - 1];
}

static void secrets_json_copy(struct walk *w, size_t end)
{
	hwy_bytes_put(w->out, w->text + w->i, end - w->i);
	w->i = end;
}

/* Puts a masked value in the place of everything up to 'end'. */
static void put_mask(struct walk *w, size_t end)
{
	static const char mask[] = "\"" SECRETS_MASK "\"";
	hwy_bytes_put(w->out, mask, sizeof mask - 1);
	w->i = end;
	w->found = true;
}

static size_t skip_space(const struct walk *w, size_t i)
{
	while (i < w->n && isspace((unsigned char)w->text[i]))
		i++;
	return i;
}

/* Yields where the string whose opening quote is at 'i' ends: its closing quote, or the text's
 * end. */
static size_t string_end(const struct walk *w, size_t i)
{
	for (i++; i < w->n && w->text[i] != '"'; i++)
		i += w->text[i] == '\\' && i + 1 < w->n;
	return i;
}

/* Yields the first byte behind the object or list that begins at 'i'. */
static size_t container_end(const struct walk *w, size_t i)
{
	for (size_t depth = 0; i < w->n; i++) {
		char c = w->text[i];
		if (c == '"')
			i = string_end(w, i);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return i + 1;
	}
	return w->n;
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool read_unicode(const char *at, size_t n, uint32_t *code)
{
	*code = 0;
	for (size_t i = 0; i < 4; i++) {
		if (i >= n || !isxdigit((unsigned char)at[i]))
			return false;
		int c = tolower((unsigned char)at[i]);
		*code = *code * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* Writes what a string means. A surrogate stays the escape that it is: no secret's name has one. */
static void unescape(struct slice raw, struct hwy_bytes *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.at[i], code_text[HWY_UTF8_BYTES];
		uint32_t code;
		if (c != '\\' || i + 1 == raw.n) {
			hwy_bytes_put_byte(out, (uint8_t)c);
			continue;
		}
		c = raw.at[++i];
		const char *known = strchr(from, c);
		if (c == 'u' && read_unicode(raw.at + i + 1, raw.n - i - 1, &code) &&
		    (code < 0xd800 || code > 0xdfff)) {
			hwy_bytes_put(out, code_text, hwy_utf8_encode(code_text, code));
			i += 4;
		} else if (c == 'u') {
			hwy_bytes_put(out, "\\u", 2);
		} else {
			hwy_bytes_put_byte(out, (uint8_t)(c && known ? to[known - from] : c));
		}
	}
}

static bool is_surrogate(const struct hwy_bytes *text, size_t i)
{
	uint32_t code;
	return i + 1 < text->n && text->bytes[i + 1] == 'u' &&
	       read_unicode((const char *)text->bytes + i + 2, text->n - i - 2, &code) &&
	       code >= 0xd800 && code <= 0xdfff;
}

static void put_escaped(struct hwy_bytes *out, const struct hwy_bytes *text)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < text->n; i++) {
		uint8_t c = text->bytes[i];
		if (c == '"' || (c == '\\' && !is_surrogate(text, i)))
			hwy_bytes_put_byte(out, '\\');
		if (c >= ' ') {
			hwy_bytes_put_byte(out, c);
		} else {
			const char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
			hwy_bytes_put(out, escape, sizeof escape);
		}
	}
}

/* Yields the length of the name before the '=' of NAME=value; 0: the text is none. */
static size_t assigned_name(struct slice text)
{
	size_t i = 0;
	while (i < text.n && (isalnum((unsigned char)text.at[i]) || text.at[i] == '_'))
		i++;
	return i < text.n && text.at[i] == '=' ? i : 0;
}

/* Writes the content of a string without secrets. */
static bool mask_content(struct slice text, struct hwy_bytes *out, int texts)
{
	size_t name = assigned_name(text);
	if (name > 0 && secrets_value(text.at, name, text.at + name + 1, text.n - name - 1)) {
		hwy_bytes_put(out, text.at, name + 1);
		hwy_bytes_put(out, SECRETS_MASK, strlen(SECRETS_MASK));
		return true;
	}
	return mask_any(text.at, text.n, out, texts + 1);
}

/* Copies the string from its opening quote at w->i to 'end', its closing quote, masked as a
 * text. */
static void copy_string(struct walk *w, size_t end)
{
	struct slice raw = {w->text + w->i + 1, end - w->i - 1};
	struct hwy_bytes plain = {0}, masked = {0};
	if (memchr(raw.at, '\\', raw.n))
		unescape(raw, &plain);
	struct slice text = plain.bytes ? (struct slice){(const char *)plain.bytes, plain.n} : raw;
	if (mask_content(text, &masked, w->texts)) {
		hwy_bytes_put_byte(w->out, '"');
		put_escaped(w->out, &masked);
		w->i = end;
		w->found = true;
	}
	secrets_json_copy(w, end < w->n ? end + 1 : end);
	hwy_bytes_free(&plain);
	hwy_bytes_free(&masked);
}

/* ---- keys and values ------------------------------------------------------------------------- */

static bool is_one_of(struct slice key, const char *const *names)
{
	for (; *names; names++)
		if (key.n == strlen(*names) && strncasecmp(key.at, *names, key.n) == 0)
			return true;
	return false;
}

/* The key that decides on the next value: the innermost that names a secret. */
static struct slice deciding_key(const struct level *level)
{
	static const char *const values[] = {"value", "val", NULL};
	if (level->pair.n > 0 && is_one_of(level->key, values))
		return level->pair;
	return secrets_name(level->key.at, level->key.n) ? level->key : level->secret;
}

/* Keeps what the key at w->i says of the value behind it. */
static void take_key(struct walk *w, size_t end)
{
	struct slice raw = {w->text + w->i + 1, end - w->i - 1};
	struct level *level = level_of(w);
	level->key = raw;
	if (!memchr(raw.at, '\\', raw.n))
		return;
	/* A key may be hidden by escapes ("\u0050ASSWORD"): the name of a secret stands for it. */
	struct hwy_bytes plain = {0};
	unescape(raw, &plain);
	if (secrets_name((const char *)plain.bytes, plain.n))
		level->key = (struct slice){"password", strlen("password")};
	else if (secrets_environment_name((const char *)plain.bytes, plain.n))
		level->key = (struct slice){"env", strlen("env")};
	hwy_bytes_free(&plain);
}

/* Keeps what a text says of the value behind it: the name of a pair, an option of a command
 * line. */
static void take_text(struct level *level, struct slice text)
{
	static const char *const names[] = {"name", "key", "variable", NULL};
	size_t dashes = 0;
	while (dashes < text.n && text.at[dashes] == '-')
		dashes++;
	struct slice name = {text.at + dashes, text.n - dashes};
	if (level->is_object && is_one_of(level->key, names) && secrets_name(text.at, text.n))
		level->pair = text;
	if (!level->is_object)
		level->key = dashes > 0 && secrets_name(name.at, name.n) ? name : (struct slice){0};
}

static void mask_string(struct walk *w)
{
	struct level *level = level_of(w);
	size_t end = string_end(w, w->i), next = skip_space(w, end + 1);
	struct slice text = {w->text + w->i + 1, end - w->i - 1};
	if (level->is_object && next < w->n && w->text[next] == ':') {
		take_key(w, end);
		copy_string(w, end);
		return;
	}
	struct slice key = deciding_key(level);
	bool is_option = !level->is_object && level->key.n > 0 && text.n > 0 && text.at[0] == '-';
	bool is_variables = level->is_object &&
			    secrets_environment_name(level->key.at, level->key.n) &&
			    assigned_name(text) > 0;
	if (is_variables || (!is_option && secrets_value(key.at, key.n, text.at, text.n)))
		put_mask(w, end < w->n ? end + 1 : end);
	else
		copy_string(w, end);
	take_text(level, text);
}

/* A number or a word. */
static void mask_scalar(struct walk *w)
{
	static const char *const words[] = {"null", "none", "true", "false", NULL};
	static const char *const reals[] = {"nan", "inf", "infinity", NULL};
	size_t end = w->i;
	while (end < w->n && !isspace((unsigned char)w->text[end]) &&
	       !memchr(",:]}[{\"", w->text[end], 7))
		end++;
	struct slice scalar = {w->text + w->i, end - w->i}, key = deciding_key(level_of(w));
	bool is_number = isdigit((unsigned char)*scalar.at) || *scalar.at == '-';
	w->is_odd |= !is_number && !is_one_of(scalar, words) && !is_one_of(scalar, reals);
	if (!is_one_of(scalar, words) && secrets_value(key.at, key.n, scalar.at, scalar.n))
		put_mask(w, end);
	else
		secrets_json_copy(w, end);
	/* Older versions masked the comma behind an option: the value still follows. */
	static const char *const masks[] = {SECRETS_MASK, NULL};
	if (!level_of(w)->is_object && !is_one_of(scalar, masks))
		level_of(w)->key = (struct slice){0};
}

static void mask_container(struct walk *w)
{
	struct level *level = level_of(w);
	struct slice key = deciding_key(level);
	bool is_object = w->text[w->i] == '{';
	if (!level->is_object)
		level->key = (struct slice){0};
	if (level->is_object && secrets_environment_name(level->key.at, level->key.n)) {
		put_mask(w, container_end(w, w->i));
		return;
	}
	w->depth++;
	*level_of(w) = (struct level){.is_object = is_object, .secret = key};
	secrets_json_copy(w, w->i + 1);
}

static bool mask_json(const char *text, size_t n, struct hwy_bytes *out, int texts, bool *is_odd)
{
	struct walk w = {.text = text, .n = n, .out = out, .texts = texts};
	while (w.i < n) {
		char c = text[w.i];
		if (c == '"') {
			mask_string(&w);
		} else if (c == '{' || c == '[') {
			mask_container(&w);
		} else if (c == '}' || c == ']') {
			w.depth -= w.depth > 0;
			secrets_json_copy(&w, w.i + 1);
		} else if (c == ',' || c == ':' || isspace((unsigned char)c)) {
			if (c == ',' && level_of(&w)->is_object)
				level_of(&w)->key = (struct slice){0};
			secrets_json_copy(&w, w.i + 1);
		} else {
			mask_scalar(&w);
		}
	}
	*is_odd = w.is_odd;
	return w.found;
}

static bool mask_any(const char *text, size_t n, struct hwy_bytes *out, int texts)
{
	size_t first = 0, start = out->n;
	while (first < n && isspace((unsigned char)text[first]))
		first++;
	bool is_json = first < n && (text[first] == '{' || text[first] == '['), is_odd = false;
	if (!is_json || texts >= MOST_TEXTS)
		return secrets_mask(text, n, out);
	bool found = mask_json(text, n, out, texts, &is_odd);
	if (!is_odd)
		return found;
	/* "[W] --token x" is no JSON, and "{'token': 'x'}" that of Python. */
	struct hwy_bytes line = {0};
	found |= secrets_mask((const char *)out->bytes + start, out->n - start, &line);
	out->n = start;
	hwy_bytes_put(out, line.bytes, line.n);
	hwy_bytes_free(&line);
	return found;
}

bool secrets_mask_text(const char *text, size_t n, struct hwy_bytes *out)
{
	if (secrets_possible(text, n))
		return mask_any(text, n, out, 0);
	hwy_bytes_put(out, text, n);
	return false;
}

bool secrets_mask_property(const char *name, const char *value, size_t n, struct hwy_bytes *out)
{
	/* "kineto.DB_PASSWORD": a reader's word stands before the name of the file. */
	const char *dot = strchr(name, '.'), *own = dot ? dot + 1 : name;
	bool is_container = n > 0 && (value[0] == '{' || value[0] == '[');
	struct slice text = {value, n};
	bool is_variables = secrets_environment_name(own, strlen(own)) &&
			    (is_container || assigned_name(text) > 0);
	if (is_variables || secrets_value(name, strlen(name), value, n) ||
	    secrets_value(own, strlen(own), value, n)) {
		hwy_bytes_put(out, SECRETS_MASK, strlen(SECRETS_MASK));
		return true;
	}
	return secrets_mask_text(value, n, out);
}
