/* SPDX-License-Identifier: Apache-2.0 */
/* mhd.c - see mhd.h. */
#include "serve/mhd.h"

#include <dlfcn.h>
#include <stdbool.h>

const struct mhd *mhd_open(void)
{
	static struct mhd mhd;
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool found = library != NULL;
#define X(result, name, arguments)                                                                 \
	if (found)                                                                                 \
		*(void **)&mhd.name = dlsym(library, "MHD_" #name);                                \
	found = found && mhd.name;
	MHD_FUNCTIONS(X)
#undef X
	return found ? &mhd : NULL;
}
