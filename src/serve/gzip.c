/* gzip.c - answers made smaller for slow tunnels. */
#include <zlib.h>

#include "serve/server.h"

bool gzip(const void *bytes, size_t n, int level, struct packed *out)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)n};
	if (n > INT32_MAX ||
	    deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	size_t bound = deflateBound(&stream, (uLong)n);
	stream.next_out = packed_room(out, bound);
	stream.avail_out = (uInt)bound;
	bool ok = deflate(&stream, Z_FINISH) == Z_STREAM_END;
	out->n -= stream.avail_out;
	deflateEnd(&stream);
	return ok && stream.total_out < n - n / 10;
}
