/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - how a chunk of a column becomes bytes, and back.
 *
 * A chunk's offsets from its base, or the differences between neighbours (whichever packs smaller),
 * are written as byte planes: the lowest byte of every row, then the next byte of every row, and so
 * on; zstd follows. On real recordings planes came out 8 % smaller than varints (times are noise in
 * their low bytes and nearly constant in their high ones), and they decode without a branch per
 * value.
 */
#ifndef HWY_TRACE_CODEC_H
#define HWY_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "trace/column.h"

enum {
	CODEC_CONSTANT, /* no bytes are stored: every row has the value 'base' */
	CODEC_PLAIN,    /* stored are the differences of the values from 'base' */
	/* stored are zigzag'd differences to the previous row (first row: to 'base') */
	CODEC_DELTA,
	CODEC_RISE, /* stored are differences to the previous row; none is negative: no zigzag */
};
/* Levels of zstd. On recordings 5 is 4 % smaller than 3 for planes, and more gains under 1 %; texts
 * gain another tenth from 9. */
enum { CODEC_LEVEL = 5, CODEC_LEVEL_TEXT = 9 };

/* The buffers and zstd contexts of one writer or reader. */
struct codec;
struct codec *codec_new(void);
void codec_free(struct codec *codec);

struct codec_block {
	uint8_t coding; /* CODEC_… */
	uint8_t planes; /* bytes of one coded value */
	size_t length;
	const void *bytes; /* valid until the next call with this codec */
};

/* Encodes the rows of a loaded chunk: the result is its planes, compressed with zstd where
 * 'compress' is true. */
struct codec_block codec_encode(struct codec *codec, const struct hwy_chunk *chunk, uint32_t rows,
				bool compress);
/* Decodes planes (chunk->coding, chunk->planes; rows * planes bytes) into chunk->data. Yields
 * false, and leaves the chunk as it was, where a value does not fit chunk->width. */
bool codec_decode(struct codec *codec, struct hwy_chunk *chunk, uint32_t rows,
		  const uint8_t *planes);

/* Compresses bytes to one zstd frame with a content checksum. Yields NULL when out of memory. */
const void *codec_compress(struct codec *codec, int level, const void *bytes, size_t length,
			   size_t *stored);
/* Decompresses 'stored' bytes into exactly 'length' bytes. Yields NULL, or a reason of two or three
 * words. */
const char *codec_decompress(struct codec *codec, const void *from, size_t stored, void *to,
			     size_t length);
/* Yields room for n bytes, which belongs to the codec, for a caller that reads a block. */
void *codec_room(struct codec *codec, size_t n);
/* Yields room for the planes of one chunk. */
uint8_t *codec_planes(struct codec *codec);

/* Yields the largest difference from 'base' in a loaded chunk. */
uint64_t chunk_top(const struct hwy_chunk *chunk, uint32_t rows);

#endif
