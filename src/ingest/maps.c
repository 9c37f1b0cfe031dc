/* maps.c - see maps.h. The file may be anything by now: nothing in it is believed. */
#include "ingest/maps.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PARTS = 64 };

static const uint64_t page = 4096;

static bool read_parts(int fd, Elf64_Phdr *parts, unsigned *n)
{
	Elf64_Ehdr head;
	if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof *parts || head.e_phnum > MOST_PARTS ||
	    head.e_phoff > INT64_MAX / 2)
		return false;
	*n = head.e_phnum;
	size_t bytes = head.e_phnum * sizeof *parts;
	return pread(fd, parts, bytes, (off_t)head.e_phoff) == (ssize_t)bytes;
}

static bool maps_fill(const struct rec_map *map, const Elf64_Phdr *parts, unsigned n,
		      struct rec_module *module)
{
	uint64_t low = UINT64_MAX, high = 0, bias = 0;
	bool found = false;
	for (unsigned i = 0; i < n; i++) {
		const Elf64_Phdr *part = &parts[i];
		if (part->p_type != PT_LOAD || part->p_memsz > UINT64_MAX - part->p_vaddr)
			continue;
		low = part->p_vaddr < low ? part->p_vaddr : low;
		high = part->p_vaddr + part->p_memsz > high ? part->p_vaddr + part->p_memsz : high;
		uint64_t begin = part->p_offset & ~(page - 1);
		if ((part->p_flags & PF_X) && map->offset >= begin &&
		    map->offset - begin < part->p_filesz + page) {
			bias = map->start - (part->p_vaddr - part->p_offset + map->offset);
			found = true;
		}
	}
	*module = (struct rec_module){.base = bias, .size = high, .low = bias + low};
	return found;
}

bool maps_module(const struct rec_map *map, const char *path, struct rec_module *module)
{
	Elf64_Phdr parts[MOST_PARTS];
	struct stat about;
	unsigned n;
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool good = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
		    read_parts(fd, parts, &n) && maps_fill(map, parts, n, module);
	if (fd >= 0)
		close(fd);
	return good;
}
