/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c - see codec.h. All arithmetic is modulo 2^64, so that every int64_t survives. */
#include "trace/codec.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/mem.h"

enum { PLANE_BYTES = HWY_CHUNK_ROWS * 8 };

struct codec {
	ZSTD_CCtx *compressor;
	ZSTD_DCtx *decompressor;
	uint64_t offsets[HWY_CHUNK_ROWS];
	uint64_t deltas[HWY_CHUNK_ROWS];
	uint8_t planes[PLANE_BYTES];
	uint8_t *packed; /* memory for the result of codec_compress */
	size_t cap_packed;
	uint8_t *room;
	size_t cap_room;
};

struct codec *codec_new(void)
{
	return hwy_zalloc(sizeof(struct codec));
}

void codec_free(struct codec *codec)
{
	if (!codec)
		return;
	ZSTD_freeCCtx(codec->compressor);
	ZSTD_freeDCtx(codec->decompressor);
	free(codec->packed);
	free(codec->room);
	free(codec);
}

void *codec_room(struct codec *codec, size_t n)
{
	if (n > codec->cap_room) {
		free(codec->room);
		codec->room = hwy_alloc(n);
		codec->cap_room = n;
	}
	return codec->room;
}

uint8_t *codec_planes(struct codec *codec)
{
	return codec->planes;
}

/* ---- zstd ------------------------------------------------------------------------------------ */

const void *codec_compress(struct codec *codec, int level, const void *bytes, size_t length,
			   size_t *stored)
{
	if (!codec->compressor) {
		codec->compressor = ZSTD_createCCtx();
		if (!codec->compressor)
			return NULL;
		ZSTD_CCtx_setParameter(codec->compressor, ZSTD_c_checksumFlag, 1);
	}
	ZSTD_CCtx_setParameter(codec->compressor, ZSTD_c_compressionLevel, level);
	size_t bound = ZSTD_compressBound(length);
	if (bound > codec->cap_packed) {
		free(codec->packed);
		codec->packed = hwy_alloc(bound);
		codec->cap_packed = bound;
	}
	size_t n =
		ZSTD_compress2(codec->compressor, codec->packed, codec->cap_packed, bytes, length);
	if (ZSTD_isError(n))
		return NULL;
	*stored = n;
	return codec->packed;
}

const char *codec_decompress(struct codec *codec, const void *from, size_t stored, void *to,
			     size_t length)
{
	if (!codec->decompressor)
		codec->decompressor = ZSTD_createDCtx();
	if (!codec->decompressor)
		return "out of memory";
	size_t n = ZSTD_decompressDCtx(codec->decompressor, to, length, from, stored);
	if (ZSTD_isError(n))
		return ZSTD_getErrorName(n);
	return n == length ? NULL : "too short";
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void unpack(const struct hwy_chunk *chunk, uint32_t rows, uint64_t *offsets)
{
	switch (chunk->width) {
	case 1:
		for (uint32_t i = 0; i < rows; i++)
			offsets[i] = ((const uint8_t *)chunk->data)[i];
		break;
	case 2:
		for (uint32_t i = 0; i < rows; i++)
			offsets[i] = ((const uint16_t *)chunk->data)[i];
		break;
	case 4:
		for (uint32_t i = 0; i < rows; i++)
			offsets[i] = ((const uint32_t *)chunk->data)[i];
		break;
	case 8: memcpy(offsets, chunk->data, (size_t)rows * 8); break;
	default: memset(offsets, 0, (size_t)rows * 8);
	}
}

static void write_planes(const uint64_t *values, uint32_t rows, uint8_t planes, uint8_t *out)
{
	for (unsigned p = 0; p < planes; p++)
		for (uint32_t i = 0; i < rows; i++)
			out[(size_t)p * rows + i] = (uint8_t)(values[i] >> (8 * p));
}

/* About how many bytes an entropy coder makes of the planes: their order-0 entropy. It does not see
 * runs and repeats, but both codings have these, or neither has. */
static uint64_t planes_cost(const uint64_t *values, uint32_t rows, uint8_t planes)
{
	uint64_t cost = 0;
	for (unsigned p = 0; p < planes; p++) {
		uint32_t count[256] = {0};
		for (uint32_t i = 0; i < rows; i++)
			count[(uint8_t)(values[i] >> (8 * p))]++;
		for (unsigned v = 0; v < 256; v++) {
			/* log2(rows / count) in units of 1/256, linear between powers of two */
			if (count[v] == 0 || count[v] == rows)
				continue;
			uint64_t ratio = ((uint64_t)rows << 16) / count[v];
			unsigned whole = 63u - (unsigned)__builtin_clzll(ratio);
			uint64_t part = (ratio << 8 >> whole) & 0xff;
			cost += count[v] * (((uint64_t)(whole - 16) << 8) + part);
		}
	}
	return cost;
}

/* Computes the differences between neighbouring rows. Yields CODEC_RISE where none is negative,
 * else CODEC_DELTA. */
static uint8_t differences(const uint64_t *offsets, uint32_t rows, uint64_t *out)
{
	uint64_t falls = 0, before = 0;
	for (uint32_t i = 0; i < rows; i++) {
		falls |= offsets[i] < before;
		out[i] = offsets[i] - before;
		before = offsets[i];
	}
	for (uint32_t i = 0; falls && i < rows; i++)
		out[i] = hwy_zigzag((int64_t)out[i]);
	return falls ? CODEC_DELTA : CODEC_RISE;
}

static uint8_t planes_of(const uint64_t *values, uint32_t rows)
{
	uint64_t bits = 0;
	for (uint32_t i = 0; i < rows; i++)
		bits |= values[i];
	uint8_t planes = 0;
	for (; bits; bits >>= 8)
		planes++;
	return planes;
}

struct codec_block codec_encode(struct codec *codec, const struct hwy_chunk *chunk, uint32_t rows,
				bool compress)
{
	assert(rows > 0 && rows <= HWY_CHUNK_ROWS && chunk->loaded);
	unpack(chunk, rows, codec->offsets);
	struct codec_block block = {.coding = CODEC_PLAIN,
				    .planes = planes_of(codec->offsets, rows)};
	if (block.planes == 0)
		return (struct codec_block){.coding = CODEC_CONSTANT};
	const uint64_t *values = codec->offsets;
	uint8_t coding = differences(codec->offsets, rows, codec->deltas);
	uint8_t planes = planes_of(codec->deltas, rows);
	if (compress ? planes_cost(codec->deltas, rows, planes) <
			       planes_cost(codec->offsets, rows, block.planes)
		     : planes < block.planes) {
		values = codec->deltas;
		block.coding = coding;
		block.planes = planes;
	}
	write_planes(values, rows, block.planes, codec->planes);
	block.bytes = codec->planes;
	block.length = (size_t)rows * block.planes;
	if (compress)
		block.bytes = codec_compress(codec, CODEC_LEVEL, codec->planes, block.length,
					     &block.length);
	return block;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): 'type' is a type. */
/* Defines a function that assembles planes to offsets of one width. */
#define JOIN_PLANES(type)                                                                          \
	do {                                                                                       \
		type *out = to;                                                                    \
		for (uint32_t i = 0; i < rows; i++)                                                \
			out[i] = (type)from[i];                                                    \
		for (unsigned p = 1; p < planes; p++)                                              \
			for (uint32_t i = 0; i < rows; i++)                                        \
				out[i] = (type)(out[i] | (type)((type)from[(size_t)p * rows + i]   \
								<< (8 * p)));                      \
	} while (0)

static void join_planes(const uint8_t *from, uint32_t rows, uint8_t planes, uint8_t width, void *to)
{
	switch (width) {
	case 1: memcpy(to, from, rows); break;
	case 2: JOIN_PLANES(uint16_t); break;
	case 4: JOIN_PLANES(uint32_t); break;
	default: JOIN_PLANES(uint64_t);
	}
}

/* Defines a function that sums differences to offsets of one width, and yields false where one does
 * not fit. */
#define SUM_DELTAS(type)                                                                           \
	do {                                                                                       \
		type *out = to;                                                                    \
		for (uint32_t i = 0; i < rows; i++) {                                              \
			sum += deltas[i];                                                          \
			out[i] = (type)sum;                                                        \
			bits |= sum;                                                               \
		}                                                                                  \
	} while (0)

static bool sum_deltas(const uint64_t *deltas, uint32_t rows, uint8_t width, void *to)
{
	uint64_t sum = 0, bits = 0;
	switch (width) {
	case 1: SUM_DELTAS(uint8_t); break;
	case 2: SUM_DELTAS(uint16_t); break;
	case 4: SUM_DELTAS(uint32_t); break;
	default: SUM_DELTAS(uint64_t); return true;
	}
	return bits >> (8 * width) == 0;
}

bool codec_decode(struct codec *codec, struct hwy_chunk *chunk, uint32_t rows,
		  const uint8_t *planes)
{
	assert(rows > 0 && rows <= HWY_CHUNK_ROWS && chunk->planes > 0 && chunk->planes <= 8);
	if (chunk->width == 0 || (chunk->coding == CODEC_PLAIN && chunk->planes > chunk->width))
		return false;
	void *data = hwy_array(rows, chunk->width);
	if (chunk->coding == CODEC_PLAIN) {
		join_planes(planes, rows, chunk->planes, chunk->width, data);
	} else {
		join_planes(planes, rows, chunk->planes, 8, codec->deltas);
		for (uint32_t i = 0; chunk->coding == CODEC_DELTA && i < rows; i++)
			codec->deltas[i] = (uint64_t)hwy_unzigzag(codec->deltas[i]);
		if (!sum_deltas(codec->deltas, rows, chunk->width, data)) {
			free(data);
			return false;
		}
	}
	chunk->data = data;
	chunk->loaded = 1;
	return true;
}

#define TOP(type)                                                                                  \
	do {                                                                                       \
		const type *offsets = chunk->data;                                                 \
		type top = 0;                                                                      \
		for (uint32_t i = 0; i < rows; i++)                                                \
			top = offsets[i] > top ? offsets[i] : top;                                 \
		return top;                                                                        \
	} while (0)

uint64_t chunk_top(const struct hwy_chunk *chunk, uint32_t rows)
{
	switch (chunk->width) {
	case 1: TOP(uint8_t);
	case 2: TOP(uint16_t);
	case 4: TOP(uint32_t);
	case 8: TOP(uint64_t);
	default: return 0;
	}
}
/* NOLINTEND(bugprone-macro-parentheses) */
