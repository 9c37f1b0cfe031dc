/* perf_elf.c - the values of a few symbols of an ELF file.
 *
 * The file is mapped and not trusted: every offset is checked against the file's size.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/perf/perf_internal.h"

struct file {
	const char *at;
	size_t size;
};

static const void *part(const struct file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset && offset % 8 == 0
		       ? file->at + offset
		       : NULL;
}

static void find_in_table(const struct file *file, const Elf64_Shdr *table, const Elf64_Shdr *names,
			  struct perf_symbol *symbols, uint32_t n)
{
	const Elf64_Sym *list = part(file, table->sh_offset, table->sh_size);
	if (!list || names->sh_offset > file->size ||
	    names->sh_size > file->size - names->sh_offset)
		return;
	const char *texts = file->at + names->sh_offset;
	for (uint64_t i = 0; i < table->sh_size / sizeof *list; i++)
		for (uint32_t s = 0; s < n; s++) {
			size_t length = strlen(symbols[s].name) + 1;
			if (list[i].st_shndx != SHN_UNDEF && list[i].st_name < names->sh_size &&
			    names->sh_size - list[i].st_name >= length &&
			    memcmp(texts + list[i].st_name, symbols[s].name, length) == 0)
				symbols[s].value = list[i].st_value;
		}
}

static bool find_symbols(const struct file *file, const Elf64_Ehdr *head,
			 struct perf_symbol *symbols, uint32_t n)
{
	const Elf64_Shdr *sections =
		part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
	if (!sections || head->e_shentsize != sizeof *sections)
		return false;
	/* Exported symbols are searched first: their table is shorter, and the first symbol is
	 * found there or in neither table. */
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	for (int type = 0; type < 2 && !symbols[0].value; type++)
		for (unsigned i = 0; i < head->e_shnum; i++)
			if (sections[i].sh_type == types[type] &&
			    sections[i].sh_link < head->e_shnum)
				find_in_table(file, &sections[i], &sections[sections[i].sh_link],
					      symbols, n);
	return true;
}

/* The address, in the file's own numbering, of the byte at 'offset' of the file. */
static bool code_address(const struct file *file, const Elf64_Ehdr *head, uint64_t offset,
			 uint64_t *address)
{
	const Elf64_Phdr *parts =
		part(file, head->e_phoff, (uint64_t)head->e_phnum * sizeof *parts);
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
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	void *at = MAP_FAILED;
	if (fd < 0)
		return false;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
		at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return false;
	struct file file = {at, (size_t)about.st_size};
	const Elf64_Ehdr *head = part(&file, 0, sizeof *head);
	bool found = head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
		     head->e_ident[EI_CLASS] == ELFCLASS64 &&
		     code_address(&file, head, offset, address) &&
		     find_symbols(&file, head, symbols, n);
	munmap(at, file.size);
	return found;
}
