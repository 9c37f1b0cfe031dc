/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - reads the text of a file, plain or gzip, through a window that slides over it.
 *
 * A reader looks at the bytes [source->cursor, source->end), moves 'cursor' over the bytes that it
 * has read, and calls source_more when it needs more bytes: then the bytes before 'cursor' are
 * dropped, the rest moves to the front of the window, and new bytes are added. The window grows
 * where dropping bytes makes too little room.
 *
 * Behind 'end' stand SOURCE_PAD bytes that may be read: the first is '"', the others are 0. So a
 * search for the end of a string, and a load of 16 bytes, need no check for the end of the window.
 */
#ifndef HWY_IMPORT_SOURCE_H
#define HWY_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"

enum {
	SOURCE_PAD = 64,
	SOURCE_WINDOW = 1 << 20, /* bytes of a new window */
	/* SOURCE_WINDOW_MOST: the bytes of the largest window, into which every event must fit. */
	SOURCE_WINDOW_MOST = 64 << 20,
};

struct source_stream; /* the file and its decompressor */

struct source {
	const char *cursor, *end;
	char *window;
	size_t size;     /* size of the window in bytes, without the padding */
	uint64_t before; /* how many bytes of the text lie before the window, and were dropped */
	bool finished;   /* the window holds the end of the text */
	bool garbage;    /* bytes that are no gzip follow the gzip data, and were ignored */
	struct source_stream *stream;
};

/* Opens a file. 'window' is the window's size at first: SOURCE_WINDOW, or a few bytes in tests. */
bool source_open(struct source *source, const char *path, size_t window, struct hwy_err *err);
/* Adds at least one byte at 'end', or sets 'finished'. False: reading failed, or the largest window
 * is full. */
bool source_more(struct source *source, const struct hwy_progress *progress, struct hwy_err *err);
/* Yields the offset of 'cursor' in the text (in the unpacked text of a gzip file), for messages. */
uint64_t source_offset(const struct source *source);
const char *source_path(const struct source *source);
void source_close(struct source *source);

#endif
