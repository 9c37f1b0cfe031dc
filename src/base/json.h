/* json.h - writes JSON: commas, indentation and escapes are its business. Invalid UTF-8 becomes U+FFFD.
 *
 *   struct hwy_json json = {.out = stdout, .pretty = true};
 *   json_begin_object(&json);
 *   json_put_int(&json, "steps", 12);
 *   json_end_object(&json);
 *
 * A struct whose members are written one by one is better written by a table of them: json_fields.h.
 */
#ifndef HWY_BASE_JSON_H
#define HWY_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct hwy_json {
	FILE *out;
	bool pretty; /* newlines and two-space indentation */
	uint32_t depth;
	bool fresh; /* nothing written yet in this object or array */
	bool after_key;
	const void *context; /* the caller's: for the functions of a table (json_fields.h) */
};

void json_begin_object(struct hwy_json *json);
void json_end_object(struct hwy_json *json);
void json_begin_array(struct hwy_json *json);
void json_end_array(struct hwy_json *json);
void json_key(struct hwy_json *json, const char *key);
void json_text(struct hwy_json *json, const char *text, size_t length);
void json_textz(struct hwy_json *json, const char *text); /* NULL becomes null */
void json_int(struct hwy_json *json, int64_t value);
void json_real(struct hwy_json *json, double value,
	       int decimals);                                /* NaN and infinities become null */
void json_number(struct hwy_json *json, const char *digits); /* one that is text already */
void json_bool(struct hwy_json *json, bool value);
void json_null(struct hwy_json *json);
/* key and value in one */
void json_put_int(struct hwy_json *json, const char *key, int64_t value);
void json_put_text(struct hwy_json *json, const char *key, const char *text);
void json_put_real(struct hwy_json *json, const char *key, double value, int decimals);
void json_put_bool(struct hwy_json *json, const char *key, bool value);

/* Writes text as a JSON string, quotes included. */
void json_escape(FILE *out, const char *text, size_t length);

#endif
