/* SPDX-License-Identifier: Apache-2.0 */
/* elf_file.h - a 64-bit ELF file, mapped for reading.
 *
 *   struct elf_file file;
 *   struct elf_symbols symbols;
 *   if (!elf_file_open(&file, "/usr/lib/libc.so.6"))
 *           return false;
 *   for (unsigned i = 0; i < file.n_sections; i++)
 *           if (elf_file_symbols(&file, i, &symbols))
 *                   printf("%llu symbols\n", (unsigned long long)symbols.n);
 *   elf_file_close(&file);
 *
 * The file is not trusted: every offset in it is checked against the file's size. Not for the
 * collect library, which must not map files of the program (cmake/collect.cmake leaves
 * elf_file.c out).
 */
#ifndef HWY_SPOOL_ELF_FILE_H
#define HWY_SPOOL_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	const char *bytes;
	size_t size;
	const Elf64_Ehdr *head;     /* NULL: the file is no 64-bit ELF file */
	const Elf64_Shdr *sections; /* NULL: the file has no readable table of sections */
	unsigned n_sections;
};

struct elf_symbols {
	uint32_t type; /* SHT_SYMTAB or SHT_DYNSYM */
	const Elf64_Sym *list;
	uint64_t n;
	const char *names;
	uint64_t names_size; /* length of the table of names in bytes */
};

/* Reads an ELF file; false when the file cannot be read. 'head' is NULL when the file is
 * readable but no ELF file. */
bool elf_file_open(struct elf_file *file, const char *path);
void elf_file_close(struct elf_file *file);

/* Yields a range of the file's bytes that begins at a multiple of 8; NULL where the file has no
 * such range. */
const void *elf_file_part(const struct elf_file *file, uint64_t offset, uint64_t size);

/* The symbols of a section; false where the section is no symbol table. */
bool elf_file_symbols(const struct elf_file *file, unsigned section, struct elf_symbols *symbols);

/* The name of a symbol; NULL where the name does not end inside the table of names. */
const char *elf_file_symbol_name(const struct elf_symbols *symbols, const Elf64_Sym *symbol);

#endif
