/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h - NVTX v3 as a program meets it: the tables that an injection library fills. Under our own
 * names.
 *
 * Only what the calibration helper needs; src/collect/abi/nvtx.h has the injection's side.
 */
#ifndef HWY_RUN_ABI_NVTX_H
#define HWY_RUN_ABI_NVTX_H

#include <stddef.h>
#include <stdint.h>

/* The number of NVTX's module with the basic functions. */
enum { ABI_NVTX_CORE = 1 };
/* Indexes of NVTX's functions in the module ABI_NVTX_CORE. */
enum { ABI_NVTX_PUSH_A = 9, ABI_NVTX_POP = 11, ABI_NVTX_CORE_SIZE = 16 };
/* The number of NVTX's export table. */
enum { ABI_NVTX_CALLBACKS = 1 };

typedef void (*abi_nvtx_function)(void);

struct abi_nvtx_callbacks {
	size_t struct_size;
	int (*module_table)(int module, abi_nvtx_function ***table, unsigned *size);
};
typedef const void *(*abi_nvtx_get_export)(uint32_t id);
typedef int (*abi_nvtx_initialize)(abi_nvtx_get_export get);

#endif
