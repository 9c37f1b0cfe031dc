/* kernel_functions.c - see kernel_functions.h: /proc/kallsyms, whose addresses are all 0 for those who may not know them. */
#include "ingest/kernel_functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct function {
	uint64_t at;
	const char *name, *module;
};

struct kernel {
	struct function *list; /* by address */
	uint32_t n, cap;
	struct hwy_arena texts;
};

static const char itself[] = "[kernel]";

static int kernel_functions_by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

struct kernel *kernel_open(void)
{
	struct kernel *kernel = hwy_zalloc(sizeof *kernel);
	char line[1024], name[512], module[128];
	FILE *file = fopen("/proc/kallsyms", "re");
	while (file && fgets(line, sizeof line, file)) {
		uint64_t at;
		char type;
		int n = sscanf(line, "%" SCNx64 " %c %511s %127s", &at, &type, name, module);
		if (n < 3 || !at || !strchr("tTwW", type))
			continue;
		HWY_GROW(kernel->list, kernel->n, kernel->cap);
		kernel->list[kernel->n++] = (struct function){
			at, hwy_arena_text(&kernel->texts, name, strlen(name)),
			n == 4 ? hwy_arena_text(&kernel->texts, module, strlen(module)) : itself};
	}
	if (file)
		fclose(file);
	if (kernel->n)
		qsort(kernel->list, kernel->n, sizeof *kernel->list, kernel_functions_by_address);
	return kernel;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel->list);
	hwy_arena_free(&kernel->texts);
	free(kernel);
}

const char *kernel_at(const struct kernel *kernel, uint64_t address, const char **module)
{
	uint32_t low = 0, high = kernel ? kernel->n : 0;
	*module = itself;
	while (low < high) { /* the first that begins behind it */
		uint32_t middle = low + (high - low) / 2;
		if (kernel->list[middle].at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	*module = kernel->list[low - 1].module;
	return kernel->list[low - 1].name;
}
