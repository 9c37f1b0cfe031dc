/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.h - walks over JSON text in place: keys and values are slices of the text, nothing is
 * copied.
 *
 *   if (scan_enter(&scan, '{'))
 *           while (scan_key(&scan, &key))
 *                   scan_value(&scan, &value);
 *   if (scan.status != SCAN_OK)
 *           return false;
 *
 * The text lies in a window (source.h): behind 'end' stand a '"' and at least 32 readable bytes. A
 * walk that comes to the end of the window stops with SCAN_MORE; the caller reads more bytes
 * (source_more) and begins the same walk again.
 *
 * Accepted beyond RFC 8259, because recorders write it: any byte inside strings, a comma before a
 * closing bracket, and words such as NaN, inf or None as values (such values are marked 'odd').
 */
#ifndef HWY_IMPORT_JSON_SCAN_H
#define HWY_IMPORT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"

/* How many levels one value may nest; the value's reader may be 4 levels deep already. */
enum { SCAN_DEPTH_MOST = 60 };

enum scan_status {
	SCAN_OK,
	SCAN_MORE, /* the scan came to the end of the window: more text is needed */
	SCAN_BAD,  /* the text at 'cursor' is no JSON */
	SCAN_DEEP, /* the value that opens at 'cursor' nests too deep */
};

struct scan {
	const char *cursor, *end;
	enum scan_status status;
	bool lenient;  /* strings may hold bare quotes, so their ends are guessed (json_scan.c) */
	bool guessed;  /* the value read last has a string with a bare quote */
	bool fresh;    /* no member or element of the current object or array was read yet */
	bool in_array; /* the next value is an element of an array, not a member */
};

enum scan_type { SCAN_NONE, SCAN_STRING, SCAN_NUMBER, SCAN_WORD, SCAN_OBJECT, SCAN_ARRAY };

struct scan_value {
	const char *text; /* the text of the value; of a string, without the quotes */
	uint32_t length;
	uint8_t type; /* a number of enum scan_type */
	bool escaped; /* the string has backslashes */
	bool odd;     /* the value is not valid JSON: do not copy it into JSON as it is */
};

static inline struct scan scan_over(const char *cursor, const char *end)
{
	return (struct scan){.cursor = cursor, .end = end};
}

/* Skips spaces and yields the byte behind the spaces, without reading it; '"' at the end of the
 * window. */
char scan_peek(struct scan *scan);
/* Reads an opening bracket, '{' or '['. */
bool scan_enter(struct scan *scan, char bracket);
/* Reads the key of the next member and its colon. False with SCAN_OK: it read the closing brace
 * instead. */
bool scan_key(struct scan *scan, struct hwy_text *key);
/* Goes to the next element of an array. False with status SCAN_OK: the closing bracket was read
 * instead. */
bool scan_element(struct scan *scan);
/* Reads a value of any type, with everything inside it. */
bool scan_value(struct scan *scan, struct scan_value *value);

/* A decimal number times 10^shift as an integer. Digits behind the point that are left are rounded,
 * halves away from zero; numbers that do not fit become INT64_MAX or INT64_MIN. False: the text is
 * no number. */
bool scan_decimal(const char *text, size_t length, int shift, int64_t *number);
/* Reads the integer of a number, or of a string that holds a number (decimal, or hexadecimal
 * with 0x). */
bool scan_integer(const struct scan_value *value, int64_t *number);
/* Writes a string with its escapes resolved; 'out' has room for 'length' bytes. Yields the number
 * of bytes written. */
size_t scan_unescape(const char *text, size_t length, char *out);

#endif
