/* SPDX-License-Identifier: Apache-2.0 */
/* column.h - a column of integers, kept small.
 *
 * Rows are held in chunks of HWY_CHUNK_ROWS; a chunk keeps its smallest value and the offsets from
 * it in the fewest bytes that hold them all (0, 1, 2, 4 or 8). A chunk of a report that was opened
 * from a file has no data until file_load_chunk brings it in.
 */
#ifndef HWY_TRACE_COLUMN_H
#define HWY_TRACE_COLUMN_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HWY_CHUNK_BITS = 14, HWY_CHUNK_ROWS = 1 << HWY_CHUNK_BITS };

struct hwy_chunk {
	int64_t base;  /* the smallest value */
	void *data;    /* offsets from base; NULL when width is 0 or the chunk is not loaded */
	uint8_t width; /* bytes of one offset */
	uint8_t loaded;
	uint8_t coding;  /* in the file: CODEC_… of codec.h */
	uint8_t planes;  /* in the file: bytes of one coded value */
	uint32_t stored; /* bytes in the file */
	uint64_t place;  /* offset in the file */
};

struct hwy_column {
	struct hwy_chunk *chunks;
	uint32_t n_chunks, cap_chunks;
	uint32_t rows; /* number of rows in the chunks and in the tail */
	int64_t *tail; /* while building: the rows after the last full chunk */
	uint32_t cap_tail;
	/* Of a column in a report: its strip and its enum hwy_col, for checks and messages. */
	uint32_t strip, id;
};

/* Sets a row at or after the end of the column; rows in between become 0. */
void column_append(struct hwy_column *column, uint32_t row, int64_t value);
/* Packs the tail and appends zeros until the column has 'rows' rows. */
void column_finish(struct hwy_column *column, uint32_t rows);
void column_free(struct hwy_column *column);
/* Packs n values as one more chunk. */
void column_pack(struct hwy_column *column, const int64_t *values, uint32_t n);
/* Adds 'shift' to every value of a finished column. */
void column_shift(struct hwy_column *column, int64_t shift);

static inline uint32_t chunks_of(uint32_t rows)
{
	return (uint32_t)(((uint64_t)rows + HWY_CHUNK_ROWS - 1) >> HWY_CHUNK_BITS);
}

static inline int64_t column_get(const struct hwy_column *column, uint32_t row)
{
	const struct hwy_chunk *chunk = &column->chunks[row >> HWY_CHUNK_BITS];
	uint32_t i = row & (HWY_CHUNK_ROWS - 1);
	uint64_t base = (uint64_t)chunk->base;
	assert(chunk->loaded);
	switch (chunk->width) {
	case 1: return (int64_t)(base + ((const uint8_t *)chunk->data)[i]);
	case 2: return (int64_t)(base + ((const uint16_t *)chunk->data)[i]);
	case 4: return (int64_t)(base + ((const uint32_t *)chunk->data)[i]);
	case 8: return (int64_t)(base + ((const uint64_t *)chunk->data)[i]);
	default: return chunk->base;
	}
}

/* Unpacks the rows first … first + n - 1, which must lie in one chunk. */
void column_read(const struct hwy_column *column, uint32_t first, uint32_t n, int64_t *values);

/* Reads a column row after row: COLUMN_READ rows are unpacked at a time, which is faster than one
 * by one. */
enum { COLUMN_READ = 32 }; /* rows; it divides HWY_CHUNK_ROWS: the rows lie in one chunk */
struct hwy_reader {
	const struct hwy_column *column; /* NULL: every value is 0 */
	uint32_t first;                  /* the row of values[0] */
	uint32_t n;                      /* COLUMN_READ; 0 before the first row is read */
	int64_t values[COLUMN_READ];
};

/* Unpacks the block of COLUMN_READ rows that contains the row. */
void reader_at(struct hwy_reader *reader, uint32_t row);

/* Unpacks nothing yet: only the chunks of rows that are asked for need to be loaded. */
static inline struct hwy_reader column_reader(const struct hwy_column *column)
{
	return (struct hwy_reader){.column = column};
}

static inline int64_t reader_get(struct hwy_reader *reader, uint32_t row)
{
	if (row - reader->first >= reader->n)
		reader_at(reader, row);
	return reader->values[row - reader->first];
}

#endif
