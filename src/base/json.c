/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - see json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/err.h"

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\' && c < 0x7f;
}

static void escape_one(FILE *out, unsigned char c)
{
	const char *short_forms = "\"\"\\\\\bb\ff\nn\rr\tt";
	for (const char *form = short_forms; *form; form += 2)
		if ((unsigned char)form[0] == c) {
			fputc('\\', out);
			fputc(form[1], out);
			return;
		}
	fprintf(out, "\\u%04x", c);
}

void json_escape(FILE *out, const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text;
	fputc('"', out);
	for (size_t i = 0; i < length;) {
		size_t run = i;
		while (run < length && is_plain(at[run]))
			run++;
		fwrite(at + i, 1, run - i, out);
		i = run;
		if (i == length)
			break;
		size_t n = at[i] >= 0x80 ? hwy_utf8_length(text + i, length - i) : 0;
		if (n)
			fwrite(at + i, 1, n, out);
		else if (at[i] >= 0x80)
			fputs("\xef\xbf\xbd", out);
		else
			escape_one(out, at[i]);
		i += n ? n : 1;
	}
	fputc('"', out);
}

static void newline(struct hwy_json *json)
{
	if (!json->pretty)
		return;
	fputc('\n', json->out);
	for (uint32_t i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* Writes the comma and the newline that stand before a value, where it needs them. */
static void lead(struct hwy_json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->depth == 0)
		return;
	if (!json->fresh)
		fputc(',', json->out);
	newline(json);
	json->fresh = false;
}

static void json_begin(struct hwy_json *json, char bracket)
{
	lead(json);
	fputc(bracket, json->out);
	json->depth++;
	json->fresh = true;
}

static void json_end(struct hwy_json *json, char bracket)
{
	json->depth--;
	if (!json->fresh)
		newline(json);
	fputc(bracket, json->out);
	json->fresh = false;
	if (json->depth == 0 && json->pretty)
		fputc('\n', json->out);
}

void json_begin_object(struct hwy_json *json)
{
	json_begin(json, '{');
}

void json_end_object(struct hwy_json *json)
{
	json_end(json, '}');
}

void json_begin_array(struct hwy_json *json)
{
	json_begin(json, '[');
}

void json_end_array(struct hwy_json *json)
{
	json_end(json, ']');
}

void json_key(struct hwy_json *json, const char *key)
{
	lead(json);
	json_escape(json->out, key, strlen(key));
	fputs(json->pretty ? ": " : ":", json->out);
	json->after_key = true;
}

void json_text(struct hwy_json *json, const char *text, size_t length)
{
	lead(json);
	json_escape(json->out, text, length);
}

void json_textz(struct hwy_json *json, const char *text)
{
	if (text)
		json_text(json, text, strlen(text));
	else
		json_null(json);
}

void json_int(struct hwy_json *json, int64_t value)
{
	lead(json);
	fprintf(json->out, "%" PRId64, value);
}

void json_real(struct hwy_json *json, double value, int decimals)
{
	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	lead(json);
	fprintf(json->out, "%.*f", decimals, value);
}

void json_number(struct hwy_json *json, const char *digits)
{
	lead(json);
	fputs(digits, json->out);
}

void json_bool(struct hwy_json *json, bool value)
{
	lead(json);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct hwy_json *json)
{
	lead(json);
	fputs("null", json->out);
}

void json_put_int(struct hwy_json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_int(json, value);
}

void json_put_text(struct hwy_json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_textz(json, text);
}

void json_put_real(struct hwy_json *json, const char *key, double value, int decimals)
{
	json_key(json, key);
	json_real(json, value, decimals);
}

void json_put_bool(struct hwy_json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}
