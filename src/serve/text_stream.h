/* SPDX-License-Identifier: Apache-2.0 */
/* text_stream.h - text that is written to a FILE in memory.
 *
 * Lack of memory ends the process, as in base/mem.h: callers have nothing to check.
 */
#ifndef HWY_SERVE_TEXT_STREAM_H
#define HWY_SERVE_TEXT_STREAM_H

#include <stdio.h>

struct text_stream {
	FILE *out;  /* between open and close: the stream to write to */
	char *text; /* after close: the text that was written, with a 0 at its end; to be freed */
	size_t n;   /* bytes of 'text' without the 0 */
};

/* Opens a stream into memory. The struct must not be moved until text_stream_close. */
void text_stream_open(struct text_stream *memory);
void text_stream_close(struct text_stream *memory);

#endif
