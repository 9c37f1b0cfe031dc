/* SPDX-License-Identifier: Apache-2.0 */
/* out.h - a buffer in front of a file, plain or gzip, with fast ways to write numbers and texts.
 *
 * The first error is kept, and whatever is written after it is dropped: callers check once, in
 * out_close.
 */
#ifndef HWY_EXPORT_OUT_H
#define HWY_EXPORT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

enum { OUT_BYTES = 1 << 18, OUT_NUMBER = 24 };

struct out {
	int fd;
	int error; /* errno of the first failure, or 0 */
	size_t n;
	char *at;     /* the buffer: OUT_BYTES, and OUT_NUMBER more so that a number always fits */
	void *gzip;   /* a z_stream, or NULL */
	char *packed; /* where 'gzip' puts compressed bytes */
};

/* Writes to the file's descriptor, not through the FILE: nobody may write to the FILE meanwhile. */
void out_open(struct out *out, FILE *file, bool gzip);
/* Writes the rest. Yields false, with a sentence in err, where anything failed since out_open. */
bool out_close(struct out *out, const char *target, struct hwy_err *err);
void out_flush(struct out *out);
void out_long(struct out *out, const char *text, size_t n);

/* Yields room for n bytes, at most OUT_BYTES; the caller adds to out->n the bytes that it wrote. */
static inline char *out_room(struct out *out, size_t n)
{
	if (out->n + n > OUT_BYTES)
		out_flush(out);
	return out->at + out->n;
}

static inline void out_bytes(struct out *out, const void *bytes, size_t n)
{
	if (n > OUT_BYTES / 2) {
		out_long(out, bytes, n);
		return;
	}
	memcpy(out_room(out, n), bytes, n);
	out->n += n;
}

#define out_literal(out, text) out_bytes(out, text, sizeof text - 1)
static inline void out_z(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}
static inline void out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->n++;
}
void out_int(struct out *out, int64_t value);
/* Writes microseconds with three decimals, without rounding. */
void out_us(struct out *out, int64_t ns);
void out_real(struct out *out, double value);
/* Writes a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void out_json(struct out *out, struct hwy_text text);
/* Writes a cell of CSV, in quotes where the text contains a comma, a quote or a newline. */
void out_csv(struct out *out, struct hwy_text text);

#endif
