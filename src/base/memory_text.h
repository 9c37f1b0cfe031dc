/* SPDX-License-Identifier: Apache-2.0 */
/* memory_text.h - text that is written to memory before it is printed.
 *
 *   struct memory_text memory;
 *   FILE *out = memory_text_begin(&memory);
 *   fprintf(out, "%d steps", 12);
 *   char *text = memory_text_end(&memory);
 *   puts(text);
 *   free(text);
 */
#ifndef HWY_BASE_MEMORY_TEXT_H
#define HWY_BASE_MEMORY_TEXT_H

#include <stddef.h>
#include <stdio.h>

struct memory_text {
	FILE *out;
	char *text;
	size_t length; /* the text's length in bytes; set by memory_text_end */
};

/* Yields a stream that writes the text to memory. Lack of memory ends the process, as in
 * base/mem.h. */
FILE *memory_text_begin(struct memory_text *memory);
/* Yields the text, which the caller frees. Exits with 2 where there was no memory for the text. */
char *memory_text_end(struct memory_text *memory);

#endif
