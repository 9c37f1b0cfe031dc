/* elf_functions.c - see elf_functions.h.
 *
 * The file is mapped and not believed: every offset is checked against its size. Both symbol tables are read,
 * the full one and the one for linking, since either may be missing.
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

struct function {
	uint64_t from, size;
	const char *name;
};

struct symbols {
	const char *file;
	size_t size;
	struct function *list; /* by 'from'; of equal ones the longest first */
	uint32_t n, cap;
};

static const void *part(const struct symbols *s, uint64_t offset, uint64_t size)
{
	return offset <= s->size && size <= s->size - offset ? s->file + offset : NULL;
}

/* A name that ends inside the file, or NULL. */
static const char *name_at(const char *names, uint64_t size, uint64_t at)
{
	return at < size && memchr(names + at, 0, size - at) ? names + at : NULL;
}

static void add_table(struct symbols *s, const Elf64_Shdr *table, const Elf64_Shdr *names)
{
	const Elf64_Sym *list = part(s, table->sh_offset, table->sh_size);
	const char *texts = part(s, names->sh_offset, names->sh_size);
	if (!list || !texts || table->sh_offset % 8)
		return;
	for (uint64_t i = 0; i < table->sh_size / sizeof *list; i++) {
		unsigned type = ELF64_ST_TYPE(list[i].st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || list[i].st_shndx == SHN_UNDEF ||
		    list[i].st_value == 0)
			continue;
		const char *name = name_at(texts, names->sh_size, list[i].st_name);
		if (!name || !*name)
			continue;
		HWY_GROW(s->list, s->n, s->cap);
		s->list[s->n++] = (struct function){list[i].st_value, list[i].st_size, name};
	}
}

static int elf_functions_by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

static void read_tables(struct symbols *s)
{
	const Elf64_Ehdr *head = part(s, 0, sizeof *head);
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr) ||
	    head->e_shoff % 8)
		return;
	const Elf64_Shdr *sections =
		part(s, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
	for (unsigned i = 0; sections && i < head->e_shnum; i++)
		if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
		    sections[i].sh_link < head->e_shnum)
			add_table(s, &sections[i], &sections[sections[i].sh_link]);
	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, elf_functions_by_address);
}

struct symbols *symbols_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	void *at = MAP_FAILED;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
		at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return NULL;
	struct symbols *s = hwy_zalloc(sizeof *s);
	s->file = at;
	s->size = (size_t)about.st_size;
	read_tables(s);
	return s;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	munmap((void *)(uintptr_t)symbols->file, symbols->size);
	free(symbols->list);
	free(symbols);
}

const char *symbols_at(const struct symbols *symbols, uint64_t address)
{
	uint32_t low = 0, high = symbols->n;
	while (low < high) { /* the first that begins after the address */
		uint32_t middle = low + (high - low) / 2;
		if (symbols->list[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct function *before = &symbols->list[low - 1];
	while (before > symbols->list && before[-1].from == before->from)
		before--;
	/* Hand-written assembly may have no size: it reaches to the next one. */
	return before->size == 0 || address - before->from < before->size ? before->name : NULL;
}
