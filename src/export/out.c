/* SPDX-License-Identifier: Apache-2.0 */
/* out.c - see out.h. */
#include "export/out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/utf8.h"

static void out_put(struct out *out, const char *at, size_t n)
{
	while (n && !out->error) {
		ssize_t done = write(out->fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			out->error = errno;
			return;
		}
		at += done;
		n -= (size_t)done;
	}
}

static void pack(struct out *out, const char *at, size_t n, int how)
{
	z_stream *z = out->gzip;
	z->next_in = (Bytef *)(uintptr_t)at;
	z->avail_in = (uInt)n;
	do {
		z->next_out = (Bytef *)out->packed;
		z->avail_out = OUT_BYTES;
		deflate(z, how);
		out_put(out, out->packed, OUT_BYTES - z->avail_out);
	} while (z->avail_out == 0 && !out->error);
}

void out_open(struct out *out, FILE *file, bool gzip)
{
	*out = (struct out){.fd = fileno(file)};
	fflush(file);
	out->at = hwy_alloc(OUT_BYTES + OUT_NUMBER);
	if (!gzip)
		return;
	z_stream *z = hwy_zalloc(sizeof *z);
	/* Level 1 is the fastest. Traces repeat themselves so much that higher levels gain
	 * little. */
	if (deflateInit2(z, 1, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		out->error = ENOMEM;
	out->gzip = z;
	out->packed = hwy_alloc(OUT_BYTES);
}

void out_flush(struct out *out)
{
	if (out->gzip)
		pack(out, out->at, out->n, Z_NO_FLUSH);
	else
		out_put(out, out->at, out->n);
	out->n = 0;
}

void out_long(struct out *out, const char *text, size_t n)
{
	while (n) {
		size_t part = n < OUT_BYTES / 2 ? n : OUT_BYTES / 2;
		out_bytes(out, text, part);
		text += part;
		n -= part;
	}
}

bool out_close(struct out *out, const char *target, struct hwy_err *err)
{
	out_flush(out);
	if (out->gzip) {
		pack(out, NULL, 0, Z_FINISH);
		deflateEnd(out->gzip);
	}
	free(out->gzip);
	free(out->packed);
	free(out->at);
	return out->error == 0 || hwy_fail(err, "%s: %s", target, hwy_strerror(out->error));
}

/* ---- numbers --------------------------------------------------------------------------------- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
			    "34353637383940414243444546474849505152535455565758596061626364656667"
			    "6869707172737475767778798081828384858687888990919293949596979899";

/* Writes the digits of a number so that they end before 'end'; yields the place of the first
 * digit. */
static char *digits_before(char *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value < 10) {
		*--end = (char)('0' + value);
		return end;
	}
	end -= 2;
	memcpy(end, pairs + value * 2, 2);
	return end;
}

void out_int(struct out *out, int64_t value)
{
	char text[OUT_NUMBER], *end = text + sizeof text;
	uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char *at = digits_before(end, magnitude);
	if (value < 0)
		*--at = '-';
	out_bytes(out, at, (size_t)(end - at));
}

void out_us(struct out *out, int64_t ns)
{
	char text[OUT_NUMBER + 4], *end = text + sizeof text, *at = end - 4;
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, part = magnitude % 1000;
	at[0] = '.';
	at[1] = (char)('0' + part / 100);
	memcpy(at + 2, pairs + part % 100 * 2, 2);
	at = digits_before(at, magnitude / 1000);
	if (ns < 0)
		*--at = '-';
	out_bytes(out, at, (size_t)(end - at));
}

void out_real(struct out *out, double value)
{
	char text[64];
	if (isfinite(value))
		out_bytes(out, text, (size_t)snprintf(text, sizeof text, "%.17g", value));
	else
		out_literal(out, "null");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Writes a character that JSON must escape or that is not ASCII; yields how many bytes of the
 * text it takes. */
static size_t escape(struct out *out, const unsigned char *at, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	size_t length = hwy_utf8_length((const char *)at, n);
	char code[] = {'\\', 'u', '0', '0', hex[*at >> 4], hex[*at & 15]};
	if (length == 0) {
		out_literal(out, "\\ufffd");
		return 1;
	}
	if (length > 1)
		out_bytes(out, at, length);
	else if (*at == '"' || *at == '\\')
		out_bytes(out, (const char[]){'\\', (char)*at}, 2);
	else if (*at == '\n')
		out_literal(out, "\\n");
	else
		out_bytes(out, code, sizeof code);
	return length;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void out_json(struct out *out, struct hwy_text text)
{
	const unsigned char *at = (const unsigned char *)text.at, *end = at + text.length;
	out_char(out, '"');
	while (at < end) {
		const unsigned char *from = at;
		while (at < end && is_plain(*at))
			at++;
		out_bytes(out, from, (size_t)(at - from));
		if (at < end)
			at += escape(out, at, (size_t)(end - at));
	}
	out_char(out, '"');
}

void out_csv(struct out *out, struct hwy_text text)
{
	bool quote = false;
	for (uint32_t i = 0; i < text.length; i++)
		quote |= text.at[i] == ',' || text.at[i] == '"' || text.at[i] == '\n' ||
			 text.at[i] == '\r';
	if (!quote) {
		out_bytes(out, text.at, text.length);
		return;
	}
	out_char(out, '"');
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.at[i] == '"')
			out_char(out, '"');
		out_char(out, text.at[i]);
	}
	out_char(out, '"');
}
