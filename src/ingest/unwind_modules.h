/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_modules.h - the programs and libraries that one process had loaded, by address. */
#ifndef HWY_INGEST_UNWIND_MODULES_H
#define HWY_INGEST_UNWIND_MODULES_H

#include <stdbool.h>
#include <stdint.h>

struct binary;

struct unwind_module {
	uint64_t bias;      /* an address in the process minus the same address in the file */
	uint64_t low, high; /* the module's addresses in the process: [low, high) */
	struct binary *binary;
};

struct unwind_modules { /* zeroed memory has no modules */
	struct unwind_module *list;
	uint32_t n, cap;
	uint32_t hit;       /* index of the module that was found last */
	bool overlap;       /* two modules were at one address, one after the other */
	uint32_t reported;  /* how many modules unwind_dwarf.c knows */
	uint64_t low, high; /* all modules lie in [low, high) */
};

bool unwind_modules_has(const struct unwind_modules *modules, const struct binary *binary);
void unwind_modules_add(struct unwind_modules *modules, struct unwind_module module);
/* Yields the module at an address of the process; NULL: there is none. */
const struct unwind_module *unwind_modules_at(struct unwind_modules *modules, uint64_t address);
void unwind_modules_free(struct unwind_modules *modules);

#endif
