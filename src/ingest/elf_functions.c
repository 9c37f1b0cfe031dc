/* SPDX-License-Identifier: Apache-2.0 */
/* elf_functions.c - see elf_functions.h.
 *
 * Both symbol tables are read, the full one (.symtab) and the one for dynamic linking (.dynsym),
 * since either may be missing.
 */
#include "ingest/elf_functions.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "spool/elf_file.h"

struct function {
	uint64_t from, size;
	const char *name;
};

struct elf_functions {
	struct elf_file file;
	/* list: the file's functions, sorted by 'from'; of those with one 'from' the longest is
	 * first. */
	struct function *list;
	uint32_t n, cap;
};

static void add_table(struct elf_functions *elf, const struct elf_symbols *table)
{
	for (uint64_t i = 0; i < table->n; i++) {
		const Elf64_Sym *symbol = &table->list[i];
		unsigned type = ELF64_ST_TYPE(symbol->st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
		    symbol->st_value == 0)
			continue;
		const char *name = elf_file_symbol_name(table, symbol);
		if (!name || !*name)
			continue;
		HWY_GROW(elf->list, elf->n, elf->cap);
		elf->list[elf->n++] = (struct function){symbol->st_value, symbol->st_size, name};
	}
}

static int elf_functions_by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

struct elf_functions *elf_functions_open(const char *path)
{
	struct elf_file file;
	struct elf_symbols table;
	if (!elf_file_open(&file, path))
		return NULL;
	struct elf_functions *elf = hwy_zalloc(sizeof *elf);
	elf->file = file;
	for (unsigned i = 0; i < file.n_sections; i++)
		if (elf_file_symbols(&file, i, &table))
			add_table(elf, &table);
	if (elf->n)
		qsort(elf->list, elf->n, sizeof *elf->list, elf_functions_by_address);
	return elf;
}

void elf_functions_close(struct elf_functions *elf)
{
	if (!elf)
		return;
	elf_file_close(&elf->file);
	free(elf->list);
	free(elf);
}

const char *elf_functions_find(const struct elf_functions *elf, uint64_t address)
{
	uint32_t next = HWY_FIRST(i, 0u, elf->n, elf->list[i].from > address);
	if (next == 0)
		return NULL;
	const struct function *before = &elf->list[next - 1];
	while (before > elf->list && before[-1].from == before->from)
		before--;
	/* A function in hand-written assembly may have size 0: then it reaches to the next
	 * function. */
	return before->size == 0 || address - before->from < before->size ? before->name : NULL;
}
