/* SPDX-License-Identifier: Apache-2.0 */
/* inline.h - the self-contained page: the page of the viewer with its answers inside
 * (docs/view-protocol.md).
 *
 * The page may have a size limit. What the page cannot start without is always in it; where that is
 * larger than the limit, inline_write fails. What everybody sees goes in first: lanes, diagnosis,
 * tiles from the whole recording to short parts of it. Then come names, which call launched which
 * work, stacks and the columns of spans.
 */
#ifndef HWY_SERVE_INLINE_H
#define HWY_SERVE_INLINE_H

#include <stdio.h>

#include "serve/server.h"

enum { INLINE_LEFT_OUT = 8 };

struct inline_page {
	struct view_trace *traces;
	struct worker *workers; /* the finished worker of each trace, made by worker_here */
	uint32_t n;
	const char *compare; /* JSON: what changed between two traces; NULL: not known */
	uint64_t most;       /* the largest size of the page in bytes */
	/* Set by inline_write: a sentence for each thing that did not fit, then NULL. */
	const char *left_out[INLINE_LEFT_OUT + 1];
	uint32_t n_left_out;
	struct hwy_arena arena;
};
bool inline_write(struct inline_page *page, FILE *out, struct hwy_err *err);
void inline_free(struct inline_page *page);

#endif
