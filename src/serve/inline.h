/* inline.h - the self-contained page: the page of the viewer with its answers inside (docs/view-protocol.md).
 *
 * Lanes, diagnosis and summaries first, then tiles from far away to near, then what launched what, stacks and columns,
 * as long as they fit.
 */
#ifndef HWY_SERVE_INLINE_H
#define HWY_SERVE_INLINE_H

#include <stdio.h>

#include "serve/server.h"

enum { INLINE_LEFT_OUT = 8 };

struct inline_page {
	struct view_trace *traces;
	struct worker *workers; /* of worker_here */
	uint32_t n;
	uint64_t most; /* bytes */
	/* the answer: sentences */
	const char *left_out[INLINE_LEFT_OUT + 1];
	uint32_t n_left_out;
	struct hwy_arena arena;
};
bool inline_write(struct inline_page *page, FILE *out, struct hwy_err *err);
void inline_free(struct inline_page *page);

#endif
