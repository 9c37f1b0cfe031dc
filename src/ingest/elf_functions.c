/* elf_functions.c - see elf_functions.h.
 *
 * The file may be damaged: every offset in it is checked against the file's size. Both symbol
 * tables are read, the full one (.symtab) and the one for dynamic linking (.dynsym), since either
 * may be missing.
 */
#include "ingest/elf_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/search.h"

struct function {
	uint64_t from, size;
	const char *name;
};

struct elf_functions {
	const char *file;
	size_t size;
	struct function *list; /* sorted by 'from', then the longest first */
	uint32_t n, cap;
};

/* A range of the file's bytes; NULL where it does not lie inside the file. */
static const void *file_part(const struct elf_functions *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->size && size <= elf->size - offset ? elf->file + offset : NULL;
}

/* The name at an offset of a table of names; NULL where the name does not end inside the table. */
static const char *name_in(const char *names, uint64_t size, uint64_t offset)
{
	return offset < size && memchr(names + offset, 0, size - offset) ? names + offset : NULL;
}

static void add_table(struct elf_functions *elf, const Elf64_Shdr *table, const Elf64_Shdr *names)
{
	const Elf64_Sym *list = file_part(elf, table->sh_offset, table->sh_size);
	const char *texts = file_part(elf, names->sh_offset, names->sh_size);
	if (!list || !texts || table->sh_offset % 8)
		return;
	for (uint64_t i = 0; i < table->sh_size / sizeof *list; i++) {
		unsigned type = ELF64_ST_TYPE(list[i].st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || list[i].st_shndx == SHN_UNDEF ||
		    list[i].st_value == 0)
			continue;
		const char *name = name_in(texts, names->sh_size, list[i].st_name);
		if (!name || !*name)
			continue;
		HWY_GROW(elf->list, elf->n, elf->cap);
		elf->list[elf->n++] = (struct function){list[i].st_value, list[i].st_size, name};
	}
}

static int elf_functions_by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

static void read_tables(struct elf_functions *elf)
{
	const Elf64_Ehdr *head = file_part(elf, 0, sizeof *head);
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr) ||
	    head->e_shoff % 8)
		return;
	const Elf64_Shdr *sections =
		file_part(elf, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
	for (unsigned i = 0; sections && i < head->e_shnum; i++)
		if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
		    sections[i].sh_link < head->e_shnum)
			add_table(elf, &sections[i], &sections[sections[i].sh_link]);
	if (elf->n)
		qsort(elf->list, elf->n, sizeof *elf->list, elf_functions_by_address);
}

struct elf_functions *elf_functions_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	void *file = MAP_FAILED;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
		file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return NULL;
	struct elf_functions *elf = hwy_zalloc(sizeof *elf);
	elf->file = file;
	elf->size = (size_t)about.st_size;
	read_tables(elf);
	return elf;
}

void elf_functions_close(struct elf_functions *elf)
{
	if (!elf)
		return;
	munmap((void *)(uintptr_t)elf->file, elf->size);
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
	/* A function in hand-written assembly may have size 0: it reaches to the next function. */
	return before->size == 0 || address - before->from < before->size ? before->name : NULL;
}
