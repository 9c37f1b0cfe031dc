/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.h - how Parquet writes a list of numbers: the hybrid of runs and packed bits (levels,
 * indexes into a dictionary) and packed differences (DELTA_BINARY_PACKED).
 *
 * The number of bits of a value may be larger than the values need. With whole bytes zstd, which
 * comes afterwards, sees patterns that packed bits hide; which is smaller depends on the values.
 */
#ifndef HWY_EXPORT_PARQUET_ENCODINGS_H
#define HWY_EXPORT_PARQUET_ENCODINGS_H

#include "base/bytes.h"

/* The number of bits that hold all values up to 'top'; 0 for 0. */
unsigned encodings_width(uint64_t top);
/* The width, rounded up to whole bytes. */
unsigned encodings_whole_bytes(unsigned width);

/* Adds n values of 'width' bits each, the first in the lowest bits; n * width must be a multiple
 * of 8. */
void encodings_pack(struct hwy_bytes *out, const uint64_t *values, uint32_t n, unsigned width);

/* Adds n values below 2^width (at most 32) as runs of one value and groups of packed bits. */
void encodings_hybrid(struct hwy_bytes *out, const uint32_t *values, uint32_t n, unsigned width);
/* Adds the same value n times. */
void encodings_run(struct hwy_bytes *out, uint32_t value, uint32_t n, unsigned width);

/* Adds n values as packed differences, with widths of whole bytes where 'whole_bytes' is true.
 * Differences are modulo 2^64, so every int64_t survives. */
void encodings_delta(struct hwy_bytes *out, const int64_t *values, uint32_t n, bool whole_bytes);

#endif
