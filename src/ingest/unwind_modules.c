/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_modules.c - see unwind_modules.h. */
#include "ingest/unwind_modules.h"

#include <stdlib.h>

#include "base/mem.h"

bool unwind_modules_has(const struct unwind_modules *modules, const struct binary *binary)
{
	for (uint32_t i = 0; i < modules->n; i++)
		if (modules->list[i].binary == binary)
			return true;
	return false;
}

void unwind_modules_add(struct unwind_modules *modules, struct unwind_module module)
{
	for (uint32_t i = 0; i < modules->n && !modules->overlap; i++)
		modules->overlap =
			modules->list[i].low < module.high && module.low < modules->list[i].high;
	modules->low = modules->n == 0 || module.low < modules->low ? module.low : modules->low;
	modules->high = module.high > modules->high ? module.high : modules->high;
	HWY_GROW(modules->list, modules->n, modules->cap);
	modules->list[modules->n++] = module;
}

const struct unwind_module *unwind_modules_at(struct unwind_modules *modules, uint64_t address)
{
	if (address < modules->low || address >= modules->high)
		return NULL;
	const struct unwind_module *hit = &modules->list[modules->hit];
	if (!modules->overlap && address >= hit->low && address < hit->high)
		return hit;
	/* Of several modules at an address the one that was added last counts: the others were
	 * unloaded before. */
	for (uint32_t i = modules->n; i-- > 0;)
		if (address >= modules->list[i].low && address < modules->list[i].high) {
			modules->hit = i;
			return &modules->list[i];
		}
	return NULL;
}

void unwind_modules_free(struct unwind_modules *modules)
{
	free(modules->list);
}
