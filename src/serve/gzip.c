/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c - makes answers smaller: a viewer is often used through a slow tunnel. */
#include <zlib.h>

#include "serve/server.h"

bool gzip(const void *bytes, size_t n, int level, struct hwy_bytes *out)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)n};
	if (n > INT32_MAX ||
	    deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	size_t bound = deflateBound(&stream, (uLong)n);
	stream.next_out = hwy_bytes_add(out, bound);
	stream.avail_out = (uInt)bound;
	bool ok = deflate(&stream, Z_FINISH) == Z_STREAM_END;
	out->n -= stream.avail_out;
	deflateEnd(&stream);
	return ok && stream.total_out < n - n / 10;
}
