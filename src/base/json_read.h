/* SPDX-License-Identifier: Apache-2.0 */
/* json_read.h - reads a small JSON document into memory: our own files, not traces
 * (import/json_scan.h is for those).
 *
 *   struct hwy_arena arena = {0};
 *   struct json_value *root = json_read(&arena, text, length, err);
 *   int64_t steps = json_get_int(root, "steps");
 *   const struct json_value *times = json_get(root, "times");
 *   for (const struct json_value *one = times ? times->first : NULL; one; one = one->next)
 *           sum += json_as_int(one, 0);
 *   hwy_arena_free(&arena);
 *
 * Values live as long as the arena. A struct whose members are read one by one is better read by a
 * table of them: json_fields.h. The reader is lenient: it takes numbers such as "+1" and "01", and
 * raw control characters in texts.
 */
#ifndef HWY_BASE_JSON_READ_H
#define HWY_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_TEXT,
	JSON_ARRAY,
	JSON_OBJECT
};

struct json_value {
	enum json_type type;
	const char *key;  /* the key, where the value is a member of an object */
	const char *text; /* JSON_TEXT: the text without quotes; JSON_NUMBER: the digits */
	struct json_value *first, *next; /* the first child, and the next sibling */
	struct json_value *last;         /* the last child */
	uint32_t n;                      /* number of children */
};

/* Parses a JSON text. Yields NULL and a sentence (line and reason) for text that is no JSON or
 * nests deeper than 64. */
struct json_value *json_read(struct hwy_arena *arena, const char *text, size_t length,
			     struct hwy_err *err);

/* Yields the first member with this key; NULL where there is none, and where 'object' is no object
 * or NULL. */
const struct json_value *json_get(const struct json_value *object, const char *key);
/* Yields a whole number; 'otherwise' where the value is NULL, no whole number ("1.5", "1e3") or too
 * large. */
int64_t json_as_int(const struct json_value *value, int64_t otherwise);
/* Yield the value of a member; 0, "" or false where the object has no member with this key and
 * type. */
int64_t json_get_int(const struct json_value *object, const char *key);
double json_get_real(const struct json_value *object, const char *key);
const char *json_get_text(const struct json_value *object, const char *key);
bool json_get_bool(const struct json_value *object, const char *key);

#endif
