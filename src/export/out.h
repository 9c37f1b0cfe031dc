/* out.h - bytes on their way into a file, plain or gzip, with the few ways of writing numbers and texts that
 * the formats need, fast. The first failure is kept; everything after it goes nowhere.
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
	char *at;     /* of OUT_BYTES and room for one number more */
	void *gzip;   /* a z_stream, or NULL */
	char *packed; /* what it makes */
};

/* Writes go past the FILE's own buffer: it must be empty, and stays so. */
void out_open(struct out *out, FILE *file, bool gzip);
/* False with a sentence when anything failed since out_open. */
bool out_close(struct out *out, const char *target, struct hwy_err *err);
void out_flush(struct out *out);
void out_long(struct out *out, const char *text, size_t n);

static inline char *out_room(struct out *out, size_t n) /* at most OUT_BYTES */
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
void out_us(struct out *out, int64_t ns); /* microseconds with three decimals, exactly */
void out_real(struct out *out, double value);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void out_json(struct out *out, struct hwy_text text);
void out_csv(struct out *out, struct hwy_text text); /* quoted where it must be */

#endif
