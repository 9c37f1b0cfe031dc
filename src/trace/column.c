/* SPDX-License-Identifier: Apache-2.0 */
/* column.c - see column.h. */
#include "trace/column.h"

#include <stdlib.h>

#include "base/mem.h"

static uint8_t width_for(uint64_t span)
{
	return span == 0            ? 0
	       : span <= UINT8_MAX  ? 1
	       : span <= UINT16_MAX ? 2
	       : span <= UINT32_MAX ? 4
				    : 8;
}

void column_pack(struct hwy_column *column, const int64_t *values, uint32_t n)
{
	assert(n > 0 && n <= HWY_CHUNK_ROWS);
	int64_t low = values[0], high = values[0];
	for (uint32_t i = 1; i < n; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	/* Unsigned, because high - low may not fit an int64_t. */
	struct hwy_chunk chunk = {.base = low, .loaded = 1};
	chunk.width = width_for((uint64_t)high - (uint64_t)low);
	if (chunk.width)
		chunk.data = hwy_array(n, chunk.width);
	for (uint32_t i = 0; chunk.width && i < n; i++) {
		uint64_t offset = (uint64_t)values[i] - (uint64_t)low;
		switch (chunk.width) {
		case 1: ((uint8_t *)chunk.data)[i] = (uint8_t)offset; break;
		case 2: ((uint16_t *)chunk.data)[i] = (uint16_t)offset; break;
		case 4: ((uint32_t *)chunk.data)[i] = (uint32_t)offset; break;
		default: ((uint64_t *)chunk.data)[i] = offset;
		}
	}
	HWY_GROW(column->chunks, column->n_chunks, column->cap_chunks);
	column->chunks[column->n_chunks++] = chunk;
}

static void column_push(struct hwy_column *column, int64_t value)
{
	uint32_t at = column->rows & (HWY_CHUNK_ROWS - 1);
	HWY_GROW(column->tail, at, column->cap_tail);
	column->tail[at] = value;
	column->rows++;
	if (at + 1 == HWY_CHUNK_ROWS)
		column_pack(column, column->tail, HWY_CHUNK_ROWS);
}

void column_append(struct hwy_column *column, uint32_t row, int64_t value)
{
	assert(row >= column->rows);
	while (column->rows < row)
		column_push(column, 0);
	column_push(column, value);
}

void column_finish(struct hwy_column *column, uint32_t rows)
{
	while (column->rows < rows)
		column_push(column, 0);
	uint32_t rest = column->rows & (HWY_CHUNK_ROWS - 1);
	if (rest)
		column_pack(column, column->tail, rest);
	free(column->tail);
	column->tail = NULL;
	column->cap_tail = 0;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): 'type' is a type. */
#define UNPACK(type)                                                                               \
	do {                                                                                       \
		const type *from = (const type *)chunk->data + at;                                 \
		for (uint32_t i = 0; i < n; i++)                                                   \
			values[i] = (int64_t)(base + from[i]);                                     \
	} while (0)

void column_read(const struct hwy_column *column, uint32_t first, uint32_t n, int64_t *values)
{
	const struct hwy_chunk *chunk = &column->chunks[first >> HWY_CHUNK_BITS];
	uint32_t at = first & (HWY_CHUNK_ROWS - 1);
	uint64_t base = (uint64_t)chunk->base;
	assert(chunk->loaded && at + n <= HWY_CHUNK_ROWS);
	switch (chunk->width) {
	case 1: UNPACK(uint8_t); break;
	case 2: UNPACK(uint16_t); break;
	case 4: UNPACK(uint32_t); break;
	case 8: UNPACK(uint64_t); break;
	default:
		for (uint32_t i = 0; i < n; i++)
			values[i] = chunk->base;
	}
}
/* NOLINTEND(bugprone-macro-parentheses) */

void reader_at(struct hwy_reader *reader, uint32_t row)
{
	const struct hwy_column *column = reader->column;
	reader->first = row & ~(uint32_t)(COLUMN_READ - 1);
	reader->n = COLUMN_READ;
	if (!column || reader->first >= column->rows)
		return;
	uint32_t n = column->rows - reader->first;
	column_read(column, reader->first, n < COLUMN_READ ? n : COLUMN_READ, reader->values);
}

void column_free(struct hwy_column *column)
{
	if (!column)
		return;
	for (uint32_t i = 0; i < column->n_chunks; i++)
		free(column->chunks[i].data);
	free(column->chunks);
	free(column->tail);
	free(column);
}

void column_shift(struct hwy_column *column, int64_t shift)
{
	for (uint32_t i = 0; i < column->n_chunks; i++)
		column->chunks[i].base =
			(int64_t)((uint64_t)column->chunks[i].base + (uint64_t)shift);
}
