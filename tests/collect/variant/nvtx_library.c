/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_library.c - a shared library with its own copy of NVTX: a second linkage unit, and Python's way in. */
#include <nvtx3/nvToolsExt.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int library_push(const char *text);
EXPORT int library_pop(void);

int library_push(const char *text)
{
	return nvtxRangePushA(text);
}

int library_pop(void)
{
	return nvtxRangePop();
}
