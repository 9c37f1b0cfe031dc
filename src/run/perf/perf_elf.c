/* SPDX-License-Identifier: Apache-2.0 */
/* perf_elf.c - the values of a few symbols of an ELF file. */
#include <string.h>
#include <unistd.h>

#include "run/perf/perf_internal.h"
#include "spool/elf_file.h"

static void find_in_table(const struct elf_symbols *table, struct perf_symbol *symbols, uint32_t n)
{
	for (uint64_t i = 0; i < table->n; i++) {
		const Elf64_Sym *symbol = &table->list[i];
		const char *name =
			symbol->st_shndx == SHN_UNDEF ? NULL : elf_file_symbol_name(table, symbol);
		for (uint32_t s = 0; name && s < n; s++)
			if (strcmp(name, symbols[s].name) == 0)
				symbols[s].value = symbol->st_value;
	}
}

/* Exported symbols are searched first: their table is shorter, and the first symbol is found there
 * or in neither table. */
static void find_symbols(const struct elf_file *file, struct perf_symbol *symbols, uint32_t n)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct elf_symbols table;
	for (int type = 0; type < 2 && !symbols[0].value; type++)
		for (unsigned i = 0; i < file->n_sections; i++)
			if (elf_file_symbols(file, i, &table) && table.type == types[type])
				find_in_table(&table, symbols, n);
}

/* Yields the address, in the file's own numbering, of the byte at 'offset' of the file. */
static bool code_address(const struct elf_file *file, uint64_t offset, uint64_t *address)
{
	const Elf64_Ehdr *head = file->head;
	const Elf64_Phdr *parts =
		elf_file_part(file, head->e_phoff, (uint64_t)head->e_phnum * sizeof *parts);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; parts && i < head->e_phnum; i++)
		if (parts[i].p_type == PT_LOAD && (parts[i].p_flags & PF_X) &&
		    offset >= (parts[i].p_offset & ~(page - 1)) &&
		    offset < parts[i].p_offset + parts[i].p_filesz) {
			*address = parts[i].p_vaddr - parts[i].p_offset + offset;
			return true;
		}
	return false;
}

bool perf_elf_find(const char *path, uint64_t offset, struct perf_symbol *symbols, uint32_t n,
		   uint64_t *address)
{
	struct elf_file file;
	if (!elf_file_open(&file, path))
		return false;
	bool found = file.head && file.sections && code_address(&file, offset, address);
	if (found)
		find_symbols(&file, symbols, n);
	elf_file_close(&file);
	return found;
}
