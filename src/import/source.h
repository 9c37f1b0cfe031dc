/* source.h - the bytes of a file, plain or gzip, through a window that slides.
 *
 * A reader looks at [source->at, source->end), moves 'at' forward as it is done with bytes, and calls
 * source_more when it needs more than is there: what lies before 'at' is given up, the rest moves to the
 * front of the window, and the window grows only when it holds nothing that could be given up.
 *
 * Behind 'end' stand SOURCE_PAD bytes that may be read: the first is '"', the others are 0. So a scan for
 * the end of a string, and a 16-byte load, need no bound of their own.
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
	SOURCE_WINDOW = 1 << 20,       /* to start with */
	SOURCE_WINDOW_MOST = 64 << 20, /* one piece of a file must fit */
};

struct source_stream; /* the file and its decompressor */

struct source {
	const char *at, *end;
	char *window;
	size_t size;     /* of the window, without the padding */
	uint64_t before; /* bytes of text that lie before the window */
	bool finished;   /* no more bytes come */
	bool garbage;    /* bytes that are not gzip follow the gzip data; they were ignored */
	struct source_stream *stream;
};

/* 'window' is the size to start with (SOURCE_WINDOW, or a tiny one to test what happens at its end). */
bool source_open(struct source *source, const char *path, size_t window, struct hwy_err *err);
/* Adds at least one byte behind 'end', or sets 'finished'. False: reading failed, or the window is full. */
bool source_more(struct source *source, const struct hwy_progress *progress, struct hwy_err *err);
/* Where 'at' is in the text: the offset that messages name. */
uint64_t source_offset(const struct source *source);
const char *source_path(const struct source *source);
void source_close(struct source *source);

#endif
