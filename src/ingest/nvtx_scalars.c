/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_scalars.c - reads numbers of NVTX's own types from bytes; see nvtx_schemas.h.
 *
 * Types are those of 64-bit Linux. 128-bit numbers are not read.
 */
#include <math.h>
#include <string.h>

#include "ingest/nvtx_schemas.h"

static double real_of_half(uint16_t half)
{
	int exponent = half >> 10 & 31;
	double mantissa = half & 1023;
	double value = exponent == 31  ? (mantissa != 0 ? (double)NAN : (double)INFINITY)
		       : exponent == 0 ? ldexp(mantissa, -24)
				       : ldexp(mantissa + 1024, exponent - 25);
	return half & 0x8000 ? -value : value;
}

static double real_of_bits(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return (double)value;
}

static struct nvtx_scalar scalar_real(uint64_t type, const uint8_t *bytes)
{
	enum {
		FLOAT = 19,
		DOUBLE = 20,
		LONG_DOUBLE = 21,
		HALF = 42,
		FLOAT32 = 43,
		FLOAT64 = 44,
		BF16 = 50,
		TF32 = 52
	};
	struct nvtx_scalar scalar = {.is = NVTX_REAL};
	uint32_t word;
	uint16_t half;
	long double longest = 0;
	switch (type) {
	case FLOAT:
	case FLOAT32:
	case TF32:
		memcpy(&word, bytes, sizeof word);
		scalar.real = real_of_bits(word);
		break;
	case DOUBLE:
	case FLOAT64: memcpy(&scalar.real, bytes, sizeof scalar.real); break;
	case LONG_DOUBLE:
		memcpy(&longest, bytes, sizeof longest);
		scalar.real = (double)longest;
		break;
	case HALF:
	case BF16:
		memcpy(&half, bytes, sizeof half);
		scalar.real =
			type == HALF ? real_of_half(half) : real_of_bits((uint32_t)half << 16);
		break;
	default: scalar.is = NVTX_NOT_SCALAR;
	}
	return scalar;
}

static bool is_signed(uint64_t type)
{
	/* char, short, int, long, long long; int8_t to int64_t */
	static const uint64_t types =
		1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 9 | 1 << 11 | 1 << 13 | 1 << 15 | 1 << 17;
	return type < 32 && (types >> type & 1);
}

struct nvtx_scalar nvtx_scalar(uint64_t type, const uint8_t *bytes)
{
	uint32_t size = rec_nvtx_type_size(type);
	if ((type >= 19 && type <= 21) || (type >= 42 && type <= 52))
		return scalar_real(type, bytes);
	if (size == 0 || size > 8)
		return (struct nvtx_scalar){.is = NVTX_NOT_SCALAR};
	uint64_t value = 0;
	memcpy(&value, bytes, size);
	struct nvtx_scalar scalar = {.is = NVTX_UNSIGNED, .whole = (int64_t)value};
	if (!is_signed(type))
		return scalar;
	unsigned unused = 64 - 8 * size;
	scalar.is = NVTX_SIGNED;
	scalar.whole = (int64_t)(value << unused) >> unused;
	return scalar;
}
