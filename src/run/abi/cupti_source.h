/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_source.h - the part of CUPTI that tells the source line of an instruction, under our own
 * names. Needs no GPU.
 *
 * tests/collect/abi_cupti.c compares this with NVIDIA's headers.
 */
#ifndef HWY_RUN_ABI_CUPTI_SOURCE_H
#define HWY_RUN_ABI_CUPTI_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct abi_cupti_cubin_crc { /* of cuptiGetCubinCrc */
	size_t size, cubin_bytes;
	const void *cubin;
	uint64_t crc;
};

struct abi_cupti_line { /* of cuptiGetSassToSourceCorrelation */
	size_t size;
	const void *cubin;
	const char *function;
	size_t cubin_bytes;
	uint32_t line;
	uint64_t pc;
	char *file, *folder; /* the caller frees them */
};

#endif
