/* codec.h - how a chunk of a column becomes bytes, and back.
 *
 * A chunk's offsets from its base, or the differences between neighbours (whichever packs smaller), are
 * written as byte planes: the lowest byte of every row, then the next byte of every row, and
 * so on; zstd follows. On real recordings planes came out 8 % smaller than varints (times are noise in
 * their low bytes and nearly constant in their high ones), and they decode without a branch per value.
 */
#ifndef HWY_TRACE_CODEC_H
#define HWY_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "trace/column.h"

enum {
	CODEC_CONSTANT, /* no bytes: every row is the base */
	CODEC_PLAIN,    /* offsets from the base */
	CODEC_DELTA,    /* zigzag'd differences to the row before (the first: to the base) */
	CODEC_RISE,     /* differences to the row before, none of which is negative: no zigzag */
};
/* Levels of zstd. On recordings 5 is 4 % smaller than 3 for planes, and more gains under 1 %; texts gain
 * another tenth from 9. */
enum { CODEC_LEVEL = 5, CODEC_LEVEL_TEXT = 9 };

/* Buffers and zstd contexts of one writer or reader. */
struct codec;
struct codec *codec_new(void);
void codec_free(struct codec *codec);

struct codec_block {
	uint8_t coding; /* CODEC_… */
	uint8_t planes; /* bytes of one coded value */
	size_t length;
	const void *bytes; /* valid until the next call with this codec */
};

/* The rows of a loaded chunk as bytes: planes compressed with zstd, or left as they are. */
struct codec_block codec_encode(struct codec *codec, const struct hwy_chunk *chunk, uint32_t rows,
				bool compress);
/* Planes (chunk->coding, chunk->planes; rows * planes bytes) -> chunk->data. False when a value does not
 * fit chunk->width; the chunk is then as it was. */
bool codec_decode(struct codec *codec, struct hwy_chunk *chunk, uint32_t rows,
		  const uint8_t *planes);

/* One zstd frame with a content checksum. Yields NULL when out of memory. */
const void *codec_compress(struct codec *codec, int level, const void *bytes, size_t length,
			   size_t *stored);
/* Decompresses a block of 'stored' bytes into exactly 'length'. Yields NULL, or what is wrong in two or three words. */
const char *codec_decompress(struct codec *codec, const void *from, size_t stored, void *to,
			     size_t length);
/* Room for n bytes that the codec keeps for its caller to read a block into. */
void *codec_room(struct codec *codec, size_t n);
/* Room for the planes of one chunk. */
uint8_t *codec_planes(struct codec *codec);

/* The largest offset of a loaded chunk. */
uint64_t chunk_top(const struct hwy_chunk *chunk, uint32_t rows);

#endif
