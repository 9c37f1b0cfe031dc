/* SPDX-License-Identifier: Apache-2.0 */
/* elf_file.c - see elf_file.h. */
#include "spool/elf_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const void *elf_file_part(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset && offset % 8 == 0
		       ? file->bytes + offset
		       : NULL;
}

bool elf_file_open(struct elf_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	void *bytes = MAP_FAILED;
	if (fd < 0)
		return false;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
		bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*file = (struct elf_file){.bytes = bytes, .size = (size_t)about.st_size};
	const Elf64_Ehdr *head = elf_file_part(file, 0, sizeof *head);
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64)
		return true;
	file->head = head;
	if (head->e_shentsize == sizeof *file->sections)
		file->sections = elf_file_part(file, head->e_shoff,
					       (uint64_t)head->e_shnum * sizeof *file->sections);
	file->n_sections = file->sections ? head->e_shnum : 0;
	return true;
}

void elf_file_close(struct elf_file *file)
{
	munmap((void *)(uintptr_t)file->bytes, file->size);
}

bool elf_file_symbols(const struct elf_file *file, unsigned section, struct elf_symbols *symbols)
{
	const Elf64_Shdr *table = &file->sections[section];
	if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) ||
	    table->sh_link >= file->n_sections)
		return false;
	const Elf64_Shdr *names = &file->sections[table->sh_link];
	if (names->sh_offset > file->size || names->sh_size > file->size - names->sh_offset)
		return false;
	*symbols = (struct elf_symbols){
		.type = table->sh_type,
		.list = elf_file_part(file, table->sh_offset, table->sh_size),
		.n = table->sh_size / sizeof *symbols->list,
		.names = file->bytes + names->sh_offset,
		.names_size = names->sh_size,
	};
	return symbols->list != NULL;
}

const char *elf_file_symbol_name(const struct elf_symbols *symbols, const Elf64_Sym *symbol)
{
	uint64_t offset = symbol->st_name;
	if (offset >= symbols->names_size ||
	    !memchr(symbols->names + offset, 0, symbols->names_size - offset))
		return NULL;
	return symbols->names + offset;
}
