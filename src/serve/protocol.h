/* protocol.h - the numbers of docs/view-protocol.md: what the page and the server agree on.
 *
 * Append only: a page that is open speaks to the server that sent it, but self-contained pages live on.
 */
#ifndef HWY_SERVE_PROTOCOL_H
#define HWY_SERVE_PROTOCOL_H

#include <stdint.h>

enum {
	VIEW_PROTOCOL = 1,
	VIEW_TOKEN = 32,       /* hexadecimal digits */
	VIEW_BODY = 64 << 10,  /* bytes of a request, at most */
	VIEW_ORIGIN_BITS = 48, /* the origin is a multiple of 2^this */
	VIEW_LEVELS = 41,      /* 0 … 40 */
	VIEW_TILE_BITS = 8,    /* a tile has 2^this buckets */
	VIEW_BUCKETS = 1 << VIEW_TILE_BITS,
	VIEW_TILE_SPANS = 256,  /* a tile with more is a summary */
	VIEW_LONG = 8,          /* buckets: a span that long is told in a summary too */
	VIEW_TILES = 2048,      /* in one request */
	VIEW_TILE_REQUEST = 20, /* bytes */
	VIEW_TILE_HEAD = 24,    /* bytes */
	VIEW_NAMES = 16000,     /* in one request */
	VIEW_NAME = 4096,       /* bytes, at most */
	VIEW_PIECE = 24,        /* bytes */
	VIEW_PIXELS = 8192,
};
#define VIEW_HARDWARE UINT32_C(0x80000000) /* lane: the union of a device's streams */

enum view_form { VIEW_SUMMARY, VIEW_SPANS, VIEW_COUNTER, VIEW_NOTHING = 255 };
enum { VIEW_HAS_LOOKS = 0x40, VIEW_HAS_COUNTS = 0x80 };    /* mask of a summary */
enum { VIEW_UNFINISHED = 0x40, VIEW_MARK = 0x80 };         /* or'ed to a look */
enum { VIEW_WARM_UP = 1, VIEW_OUTLIER = 2, VIEW_CUT = 4 }; /* flags of a step */

enum view_look {
	LOOK_KERNEL,
	LOOK_COMM,
	LOOK_COPY,
	LOOK_FILL,
	LOOK_GRAPH,
	LOOK_API,
	LOOK_LAUNCH,
	LOOK_WAIT,
	LOOK_ALLOC,
	LOOK_API_COPY,
	LOOK_RANGE,
	LOOK_OP,
	LOOK_CALL,
	LOOK_OS,
	LOOK_RUNNING,
	LOOK_STOPPED,
	LOOK_MEMORY,
	LOOK_SAMPLE,
	LOOK_EVENT,
	LOOK_SYNC,
	LOOK_OVERHEAD,
	LOOK_COUNTER,
	LOOKS
};

#endif
