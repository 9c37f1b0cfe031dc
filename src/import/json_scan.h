/* json_scan.h - walks over JSON text in place: keys and values are slices of it, nothing is copied.
 *
 *   if (scan_enter(&scan, '{'))
 *           while (scan_key(&scan, &key))
 *                   scan_value(&scan, &value);
 *   if (scan.status != SCAN_OK)
 *           return false;
 *
 * The text lies in a window (source.h): behind 'end' stand a '"' and at least 32 readable bytes. A walk that
 * meets the end stops with SCAN_MORE; the caller brings more bytes in and starts again from where it was.
 *
 * Accepted beyond RFC 8259, because recorders write it: any byte inside strings, a comma before a closing
 * bracket, and words such as NaN, inf or None as values (those values are marked 'odd').
 */
#ifndef HWY_IMPORT_JSON_SCAN_H
#define HWY_IMPORT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"

enum { SCAN_DEPTH_MOST = 60 }; /* of one value; 64 with what the reader is in */

enum scan_status {
	SCAN_OK,
	SCAN_MORE, /* the text ends here */
	SCAN_BAD,  /* 'at' is where it stops being JSON */
	SCAN_DEEP, /* 'at' is where it nests too deep */
};

struct scan {
	const char *at, *end;
	enum scan_status status;
	bool lenient; /* strings may hold bare quotes: they end where structure follows (json_scan.c) */
	bool guessed;  /* some string of the value read last did hold one */
	bool fresh;    /* nothing read yet in the object or array entered last */
	bool in_array; /* the value read next is an element */
};

enum scan_type { SCAN_NONE, SCAN_STRING, SCAN_NUMBER, SCAN_WORD, SCAN_OBJECT, SCAN_ARRAY };

struct scan_value {
	const char *at; /* strings: without the quotes */
	uint32_t length;
	uint8_t type; /* enum scan_type */
	bool escaped; /* a string with backslashes */
	bool odd;     /* not JSON by the book; do not hand on as it is */
};

static inline struct scan scan_over(const char *at, const char *end)
{
	return (struct scan){.at = at, .end = end};
}

/* The next byte that is not space; '"' at the end. */
char scan_peek(struct scan *scan);
/* Past an opening bracket. */
bool scan_enter(struct scan *scan, char bracket);
/* To the next member's value, or past the closing brace (false, SCAN_OK). */
bool scan_key(struct scan *scan, struct hwy_text *key);
/* To the next element, or past the closing bracket (false, SCAN_OK). */
bool scan_element(struct scan *scan);
/* Past a value of any type. */
bool scan_value(struct scan *scan, struct scan_value *value);

/* A decimal number times 10^shift, exact: further digits are rounded, halves away from zero; too large
 * numbers become INT64_MAX or INT64_MIN. False: no number. */
bool scan_decimal(const char *text, size_t length, int shift, int64_t *number);
/* The integer of a number, or of a string that holds one (decimal, or hexadecimal with 0x). */
bool scan_integer(const struct scan_value *value, int64_t *number);
/* Resolves the escapes of a string; 'out' has room for 'length' bytes. Yields the bytes written. */
size_t scan_unescape(const char *text, size_t length, char *out);

#endif
