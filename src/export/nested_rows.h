/* nested_rows.h - spreads spans that overlap over rows in which they nest, as viewers want them.
 *
 * Spans come in order of start, longer first. One that ends after the span it began in goes to the next row
 * where it does not.
 */
#ifndef HWY_EXPORT_NESTED_ROWS_H
#define HWY_EXPORT_NESTED_ROWS_H

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct nest_row {
	int64_t *ends; /* of the open spans, the innermost last */
	uint32_t n, cap;
};
struct nest {
	struct nest_row *rows;
	uint32_t n, cap;
	void (*closed)(void *user, uint32_t row, int64_t end); /* a span ends; may be NULL */
	void *user;
};

static inline void nest_close(struct nest *nest, uint32_t row, int64_t until)
{
	struct nest_row *at = &nest->rows[row];
	while (at->n && at->ends[at->n - 1] <= until) {
		at->n--;
		if (nest->closed)
			nest->closed(nest->user, row, at->ends[at->n]);
	}
}

/* The row of a span. */
static inline uint32_t nest_place(struct nest *nest, int64_t start, int64_t end)
{
	uint32_t row = 0;
	for (; row < nest->n; row++) {
		struct nest_row *at = &nest->rows[row];
		nest_close(nest, row, start);
		if (at->n == 0 || at->ends[at->n - 1] >= end)
			break;
	}
	if (row == nest->n) {
		HWY_GROW(nest->rows, nest->n, nest->cap);
		nest->rows[nest->n++] = (struct nest_row){0};
	}
	struct nest_row *at = &nest->rows[row];
	HWY_GROW(at->ends, at->n, at->cap);
	at->ends[at->n++] = end;
	return row;
}

/* Ends all spans that are open; the rows may be used again. */
static inline void nest_finish(struct nest *nest)
{
	for (uint32_t row = 0; row < nest->n; row++)
		nest_close(nest, row, INT64_MAX);
}

static inline void nest_free(struct nest *nest)
{
	for (uint32_t row = 0; row < nest->n; row++)
		free(nest->rows[row].ends);
	free(nest->rows);
	*nest = (struct nest){0};
}

#endif
