/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_ranges.c - what a range of NVTX costs: a push and a pop, as a program makes them.
 *
 * Does what NVTX's own header does: the library that NVTX_INJECTION64_PATH names fills a table of
 * functions; where there is no such library, a call is a test for NULL.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "run/abi/nvtx.h"
#include "run/calibrate/calibrate_helper.h"

static abi_nvtx_function functions[ABI_NVTX_CORE_SIZE];

static int module_table(int module, abi_nvtx_function ***table, unsigned *size)
{
	static abi_nvtx_function *places[ABI_NVTX_CORE_SIZE];
	if (module != ABI_NVTX_CORE)
		return 0;
	for (int i = 0; i < ABI_NVTX_CORE_SIZE; i++)
		places[i] = &functions[i];
	*table = places;
	*size = ABI_NVTX_CORE_SIZE;
	return 1;
}

static const void *get_export(uint32_t id)
{
	static const struct abi_nvtx_callbacks callbacks = {
		.struct_size = sizeof callbacks,
		.module_table = module_table,
	};
	return id == ABI_NVTX_CALLBACKS ? &callbacks : NULL;
}

void helper_open_ranges(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	abi_nvtx_initialize initialize = NULL;
	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	if (initialize)
		initialize(get_export);
}

static void range_push(void)
{
	abi_nvtx_function function = *(volatile abi_nvtx_function *)&functions[ABI_NVTX_PUSH_A];
	if (function)
		((int (*)(const char *))function)("calibration");
}

static void range_pop(void)
{
	abi_nvtx_function function = *(volatile abi_nvtx_function *)&functions[ABI_NVTX_POP];
	if (function)
		((int (*)(void))function)();
}

void helper_push_and_pop(struct helper *helper)
{
	(void)helper;
	range_push();
	range_pop();
}
