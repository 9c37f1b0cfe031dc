/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_functions.c - see kernel_functions.h.
 *
 * Where the sysctl kernel.kptr_restrict hides kernel addresses from this user, all addresses in
 * /proc/kallsyms are 0: such lines are skipped.
 */
#include "ingest/kernel_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

struct function {
	uint64_t address;
	const char *name, *module;
};

struct kernel_functions {
	struct function *list; /* the kernel's functions, sorted by address */
	uint32_t n, cap;
	struct hwy_arena texts;
};

static const char kernel_itself[] = "[kernel]";

static int kernel_functions_by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

struct kernel_functions *kernel_functions_open(void)
{
	struct kernel_functions *kernel = hwy_zalloc(sizeof *kernel);
	char line[1024], name[512], module[128];
	FILE *file = fopen("/proc/kallsyms", "re");
	while (file && fgets(line, sizeof line, file)) {
		uint64_t address;
		char type;
		int n = sscanf(line, "%" SCNx64 " %c %511s %127s", &address, &type, name, module);
		if (n < 3 || !address || !strchr("tTwW", type))
			continue;
		HWY_GROW(kernel->list, kernel->n, kernel->cap);
		kernel->list[kernel->n++] = (struct function){
			address, hwy_arena_text(&kernel->texts, name, strlen(name)),
			n == 4 ? hwy_arena_text(&kernel->texts, module, strlen(module))
			       : kernel_itself};
	}
	if (file)
		fclose(file);
	if (kernel->n)
		qsort(kernel->list, kernel->n, sizeof *kernel->list, kernel_functions_by_address);
	return kernel;
}

void kernel_functions_close(struct kernel_functions *kernel)
{
	if (!kernel)
		return;
	free(kernel->list);
	hwy_arena_free(&kernel->texts);
	free(kernel);
}

const char *kernel_functions_find(const struct kernel_functions *kernel, uint64_t address,
				  const char **module)
{
	uint32_t n = kernel ? kernel->n : 0;
	uint32_t next = HWY_FIRST(i, 0u, n, kernel->list[i].address > address);
	*module = kernel_itself;
	if (next == 0)
		return NULL;
	*module = kernel->list[next - 1].module;
	return kernel->list[next - 1].name;
}
