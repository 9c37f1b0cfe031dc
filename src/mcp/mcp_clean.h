/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_clean.h - texts out of recordings, made harmless for an assistant that reads them.
 *
 * Whoever names a kernel or an NVTX range writes into the answer that an assistant reads. A name
 * stays readable, but cannot hide anything, end a quotation or fill the answer:
 *
 * - control characters, characters that are not seen (zero width, tags, variation selectors) and
 *   those that turn the direction of writing become U+FFFD,
 * - three or more ` or ~ in a row, which begin and end code in Markdown, become as many ',
 * - of a long text the beginning and the end stay, with the number of bytes between them.
 */
#ifndef HWY_MCP_MCP_CLEAN_H
#define HWY_MCP_MCP_CLEAN_H

#include <stddef.h>

#include "base/mem.h"

enum {
	MCP_LONGEST_NAME = 240,  /* bytes of a name */
	MCP_LONGEST_TEXT = 2000, /* bytes of a sentence or an advice */
};

/* Yields the clean text in the arena; the control characters in 'kept' stay: the newlines of an
 * advice, the tabs of a source line. */
const char *mcp_clean(struct hwy_arena *arena, const char *text, size_t longest, const char *kept);

#endif
