/* SPDX-License-Identifier: Apache-2.0 */
/* nested_rows.h - spreads spans that overlap over rows in which they nest, as viewers want them.
 *
 * Spans come in order of start, longer first. A span goes to the first row in which it does not end
 * after the span that is open there.
 */
#ifndef HWY_EXPORT_NESTED_ROWS_H
#define HWY_EXPORT_NESTED_ROWS_H

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct nested_row {
	int64_t *ends; /* ends of the spans that are open in the row, the innermost last */
	uint32_t n, cap;
};
struct nested_rows {
	struct nested_row *rows;
	uint32_t n, cap;
	/* Called when a span of a row ends; may be NULL. */
	void (*closed)(void *user, uint32_t row, int64_t end);
	void *user;
};

static inline void nested_rows_close(struct nested_rows *nest, uint32_t row, int64_t until)
{
	struct nested_row *at = &nest->rows[row];
	while (at->n && at->ends[at->n - 1] <= until) {
		at->n--;
		if (nest->closed)
			nest->closed(nest->user, row, at->ends[at->n]);
	}
}

/* Yields the row of a span, which is open in that row from now on. */
static inline uint32_t nested_rows_place(struct nested_rows *nest, int64_t start, int64_t end)
{
	uint32_t row = 0;
	for (; row < nest->n; row++) {
		struct nested_row *at = &nest->rows[row];
		nested_rows_close(nest, row, start);
		if (at->n == 0 || at->ends[at->n - 1] >= end)
			break;
	}
	if (row == nest->n) {
		HWY_GROW(nest->rows, nest->n, nest->cap);
		nest->rows[nest->n++] = (struct nested_row){0};
	}
	struct nested_row *at = &nest->rows[row];
	HWY_GROW(at->ends, at->n, at->cap);
	at->ends[at->n++] = end;
	return row;
}

/* Ends all spans that are open; the rows can be used again, also for earlier times. */
static inline void nested_rows_finish(struct nested_rows *nest)
{
	for (uint32_t row = 0; row < nest->n; row++)
		nested_rows_close(nest, row, INT64_MAX);
}

static inline void nested_rows_free(struct nested_rows *nest)
{
	for (uint32_t row = 0; row < nest->n; row++)
		free(nest->rows[row].ends);
	free(nest->rows);
	*nest = (struct nested_rows){0};
}

#endif
