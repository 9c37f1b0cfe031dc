/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.h - the numbers of docs/view-protocol.md: what the page and the server agree on.
 *
 * Append only: a page that is open speaks to the server that sent it, but self-contained pages live
 * on.
 */
#ifndef HWY_SERVE_PROTOCOL_H
#define HWY_SERVE_PROTOCOL_H

#include <stdint.h>

enum {
	VIEW_PROTOCOL = 1,
	VIEW_TOKEN = 32,       /* hexadecimal digits of the secret in every address */
	VIEW_BODY = 64 << 10,  /* the longest body of a request, in bytes */
	VIEW_ORIGIN_BITS = 48, /* the origin is a multiple of 2^48 ns */
	VIEW_LEVELS = 41,   /* number of zoom levels, 0 … 40; a bucket of level L lasts 2^L ns */
	VIEW_TILE_BITS = 8, /* a tile has 2^8 buckets */
	VIEW_BUCKETS = 1 << VIEW_TILE_BITS,
	VIEW_TILE_SPANS = 256, /* a tile with more spans is sent as a summary */
	VIEW_PARTS = 16, /* the most rows that a summary tells apart; deeper ones are in the last */
	VIEW_PARTED = 16384,    /* a tile with more spans, on a lane with a pyramid, has no parts */
	VIEW_LONG = 8,          /* a summary lists the spans that last at least 8 of its buckets */
	VIEW_TILES = 2048,      /* the most tiles in one request */
	VIEW_TILE_REQUEST = 20, /* bytes in which a request names one tile */
	VIEW_TILE_HEAD = 24,    /* bytes before the content of a tile */
	VIEW_NAMES = 16000,     /* the most names in one request */
	VIEW_NAME = 4096,       /* the most bytes of a name; longer names are cut */
	VIEW_ANNOTATION = 24,   /* bytes of one gap, or of one piece of the critical path */
	VIEW_PIXELS = 8192,     /* the widest page that annotations are merged for */
};
#define VIEW_HARDWARE                                                                              \
	UINT32_C(0x80000000) /* bit of a lane's number: the union of a device's streams */

/* Bit of a lane's number: ranges projected onto a device. */
#define VIEW_PROJECTED UINT32_C(0x40000000)

enum view_form { VIEW_SUMMARY, VIEW_SPANS, VIEW_COUNTER, VIEW_NOTHING = 255 };
/* Offsets of the fields in the head of a tile. */
enum { VIEW_TILE_FORM_AT = 4, VIEW_TILE_COUNT_AT = 12 };
/* Bits in the mask of a summary; bits 0 … 3 are the classes of busy time that the summary has. */
enum { VIEW_HAS_COLORS = 0x40, VIEW_HAS_COUNTS = 0x80 };
/* The byte of a span's colour has enum span_color in its low bits, and these two flags. */
enum { VIEW_COLOR_MASK = 0x3f, VIEW_UNFINISHED = 0x40, VIEW_MARK = 0x80 };
enum { VIEW_WARM_UP = 1, VIEW_OUTLIER = 2, VIEW_CUT = 4 }; /* flags of a step */

/* How a span is drawn. The page, and the keys of answers, call this "look". */
enum span_color {
	COLOR_KERNEL,
	COLOR_COMM,
	COLOR_COPY,
	COLOR_FILL,
	COLOR_GRAPH,
	COLOR_API,
	COLOR_LAUNCH,
	COLOR_WAIT,
	COLOR_ALLOC,
	COLOR_API_COPY,
	COLOR_RANGE,
	COLOR_OP,
	COLOR_CALL,
	COLOR_OS,
	COLOR_RUNNING,
	COLOR_STOPPED,
	COLOR_MEMORY,
	COLOR_SAMPLE,
	COLOR_EVENT,
	COLOR_SYNC,
	COLOR_OVERHEAD,
	COLOR_COUNTER,
	COLORS
};

#endif
