/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_shim.h - as much of an NVTX client as targets need to have something recorded, without NVIDIA's headers.
 *
 * Does what the real headers do on the first call: loads NVTX_INJECTION64_PATH and hands it a table.
 */
#ifndef TESTS_COLLECT_NVTX_SHIM_H
#define TESTS_COLLECT_NVTX_SHIM_H

#include <dlfcn.h>
#include <stdlib.h>

#include "collect/abi/nvtx.h"
#include "collect/abi/nvtx_extensions.h"

enum { SHIM_SIZE = 16 };
static abi_nvtx_function shim_functions[SHIM_SIZE];

static int shim_table(int module, abi_nvtx_function ***table, unsigned *size)
{
	static abi_nvtx_function *places[SHIM_SIZE];
	for (int i = 0; i < SHIM_SIZE; i++)
		places[i] = &shim_functions[i];
	*table = places;
	*size = SHIM_SIZE;
	return module == ABI_NVTX_CORE;
}

static const void *shim_export(uint32_t id)
{
	static const struct abi_nvtx_callbacks callbacks = {sizeof callbacks, shim_table};
	return id == ABI_NVTX_CALLBACKS ? &callbacks : NULL;
}

static inline int shim_begin(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(abi_nvtx_get_export);
	*(void **)&begin = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
	return begin && begin(shim_export);
}

/* Lets the tool fill the 63 slots of an extension (enum abi_nvtx_extension); 0: the tool does not have the function. */
static inline void shim_begin_extension(uint16_t module, intptr_t *slots)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(struct abi_nvtx_extension_info *);
	*(void **)&begin = library ? dlsym(library, "InitializeInjectionNvtxExtension") : NULL;
	struct abi_nvtx_segment segment = {0, 63, slots};
	struct abi_nvtx_extension_info info = {
		.version = 3,
		.struct_size = sizeof info,
		.module = module,
		.segment_count = 1,
		.segments = &segment,
	};
	if (begin)
		begin(&info);
}

static inline int shim_push(const char *text)
{
	int (*push)(const char *) = (int (*)(const char *))shim_functions[ABI_NVTX_RANGE_PUSH_A];
	return push ? push(text) : -2;
}

static inline int shim_pop(void)
{
	int (*pop)(void) = (int (*)(void))shim_functions[ABI_NVTX_RANGE_POP];
	return pop ? pop() : -2;
}

static inline void shim_mark(const char *text)
{
	void (*mark)(const char *) = (void (*)(const char *))shim_functions[ABI_NVTX_MARK_A];
	if (mark)
		mark(text);
}

#endif
