/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - writes JSON: commas, indentation and escapes are its business. Invalid UTF-8 becomes
 * U+FFFD.
 *
 *   struct hwy_json json = {.out = stdout, .pretty = true};
 *   json_begin_object(&json);
 *   json_put_int(&json, "steps", 12);
 *   json_end_object(&json);
 *
 * A struct whose members are written one by one is better written by a table of them:
 * json_fields.h.
 */
#ifndef HWY_BASE_JSON_H
#define HWY_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct hwy_json {
	FILE *out;
	bool pretty; /* write newlines and indent by two spaces */
	uint32_t depth;
	bool fresh; /* the innermost open object or array is still empty */
	bool after_key;
	const void *context; /* the caller's: for the functions of a table (json_fields.h) */
};

void json_begin_object(struct hwy_json *json);
void json_end_object(struct hwy_json *json);
void json_begin_array(struct hwy_json *json);
void json_end_array(struct hwy_json *json);
void json_key(struct hwy_json *json, const char *key);
void json_text(struct hwy_json *json, const char *text, size_t length);
/* Writes a text that ends with a 0; NULL is written as null. */
void json_textz(struct hwy_json *json, const char *text);
/* Writes a number with so many decimals; NaN and infinities are written as null. */
void json_int(struct hwy_json *json, int64_t value);
void json_real(struct hwy_json *json, double value, int decimals);
/* Writes a number whose digits the caller gives as text. */
void json_number(struct hwy_json *json, const char *digits);
void json_bool(struct hwy_json *json, bool value);
void json_null(struct hwy_json *json);
/* Write a key and its value in one call. */
void json_put_int(struct hwy_json *json, const char *key, int64_t value);
void json_put_text(struct hwy_json *json, const char *key, const char *text);
void json_put_real(struct hwy_json *json, const char *key, double value, int decimals);
void json_put_bool(struct hwy_json *json, const char *key, bool value);

/* Writes a text as a JSON string, with its quotes. */
void json_escape(FILE *out, const char *text, size_t length);

#endif
