/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.c - see encodings.h. */
#include "export/parquet/encodings.h"

#include <assert.h>

/* Parquet's own sizes: every reader knows them. */
enum { BLOCK = 128, MINI = 32, MINIS = BLOCK / MINI };
/* A run of one value that is at least this long is written as a run. zstd sees shorter ones,
 * too, and finds more in a list that is not cut into pieces. */
enum { LEAST_RUN = 64 };

unsigned encodings_width(uint64_t top)
{
	return top ? 64 - (unsigned)__builtin_clzll(top) : 0;
}

unsigned encodings_whole_bytes(unsigned width)
{
	return (width + 7) / 8 * 8;
}

void encodings_pack(struct hwy_bytes *out, const uint64_t *values, uint32_t n, unsigned width)
{
	size_t bytes = (size_t)n * width / 8;
	/* The loop stores eight bytes at a time, so it may write up to seven behind the last. */
	uint8_t *to = hwy_bytes_reserve(out, bytes + 8);
	uint64_t word = 0;
	unsigned used = 0;
	for (uint32_t i = 0; i < n && width; i++) {
		word |= values[i] << used;
		used += width;
		if (used < 64)
			continue;
		hwy_little_write(to, word, 8);
		to += 8;
		used -= 64;
		/* What did not fit; of a value that ended with the word nothing is left. */
		word = used ? values[i] >> (width - used) : 0;
	}
	if (used)
		hwy_little_write(to, word, 8);
	out->n += bytes;
}

/* ---- runs and packed bits -------------------------------------------------------------------- */

void encodings_run(struct hwy_bytes *out, uint32_t value, uint32_t n, unsigned width)
{
	hwy_bytes_put_varint(out, (uint64_t)n << 1);
	hwy_bytes_put_little(out, value, (width + 7) / 8);
}

/* Adds n values as groups of eight; the last group is filled up with zeros, which no reader asks
 * for. */
static void put_groups(struct hwy_bytes *out, const uint32_t *values, uint32_t n, unsigned width)
{
	enum { PART = 512 };
	uint64_t part[PART];
	hwy_bytes_put_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
	for (uint32_t first = 0; first < n; first += PART) {
		uint32_t count = n - first < PART ? n - first : PART, whole = (count + 7) / 8 * 8;
		for (uint32_t i = 0; i < whole; i++)
			part[i] = i < count ? values[first + i] : 0;
		encodings_pack(out, part, whole, width);
	}
}

static uint32_t run_at(const uint32_t *values, uint32_t n)
{
	uint32_t run = 1;
	while (run < n && values[run] == values[0])
		run++;
	return run;
}

void encodings_hybrid(struct hwy_bytes *out, const uint32_t *values, uint32_t n, unsigned width)
{
	assert(width <= 32);
	uint32_t first = 0; /* of the values that are not written yet */
	for (uint32_t at = 0; at < n;) {
		uint32_t run = run_at(values + at, n - at);
		/* Groups have eight values: what is missing to the last one is taken from the
		 * run. */
		uint32_t missing = (8 - (at - first) % 8) % 8;
		if (run < LEAST_RUN + missing && at + run < n) {
			at += run;
			continue;
		}
		if (run < LEAST_RUN + missing) {
			put_groups(out, values + first, n - first, width);
			return;
		}
		if (at > first)
			put_groups(out, values + first, at + missing - first, width);
		else
			missing = 0;
		encodings_run(out, values[at], run - missing, width);
		at += run;
		first = at;
	}
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Adds a block: at most BLOCK differences, of which the last MINI may be filled up. */
static void put_block(struct hwy_bytes *out, uint64_t *deltas, uint32_t n, bool whole_bytes)
{
	int64_t least = (int64_t)deltas[0];
	for (uint32_t i = 1; i < n; i++)
		least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
	hwy_bytes_put_zigzag(out, least);
	for (uint32_t i = 0; i < BLOCK; i++)
		deltas[i] = i < n ? deltas[i] - (uint64_t)least : 0;
	uint8_t widths[MINIS];
	for (uint32_t m = 0; m < MINIS; m++) {
		uint64_t all = 0;
		for (uint32_t i = m * MINI; i < (m + 1) * MINI; i++)
			all |= deltas[i];
		unsigned width = encodings_width(all);
		widths[m] = (uint8_t)(whole_bytes ? encodings_whole_bytes(width) : width);
	}
	hwy_bytes_put(out, widths, MINIS);
	for (uint32_t m = 0; m * MINI < n; m++)
		encodings_pack(out, deltas + m * MINI, MINI, widths[m]);
}

void encodings_delta(struct hwy_bytes *out, const int64_t *values, uint32_t n, bool whole_bytes)
{
	uint64_t deltas[BLOCK];
	hwy_bytes_put_varint(out, BLOCK);
	hwy_bytes_put_varint(out, MINIS);
	hwy_bytes_put_varint(out, n);
	hwy_bytes_put_zigzag(out, n ? values[0] : 0);
	for (uint32_t first = 1; first < n; first += BLOCK) {
		uint32_t count = n - first < BLOCK ? n - first : BLOCK;
		for (uint32_t i = 0; i < count; i++)
			deltas[i] = (uint64_t)values[first + i] - (uint64_t)values[first + i - 1];
		put_block(out, deltas, count, whole_bytes);
	}
}
