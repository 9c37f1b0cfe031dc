/* SPDX-License-Identifier: Apache-2.0 */
/* maps.c - see maps.h.
 *
 * The file may have been replaced since it was mapped: every number in it is checked.
 */
#include "ingest/maps.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 64 };

static const uint64_t PAGE_BYTES = 4096;

static bool read_segments(int fd, Elf64_Phdr *segments, unsigned *n)
{
	Elf64_Ehdr head;
	if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof *segments || head.e_phnum > MOST_SEGMENTS ||
	    head.e_phoff > INT64_MAX / 2)
		return false;
	*n = head.e_phnum;
	size_t bytes = head.e_phnum * sizeof *segments;
	return pread(fd, segments, bytes, (off_t)head.e_phoff) == (ssize_t)bytes;
}

static bool maps_fill(const struct rec_map *map, const Elf64_Phdr *segments, unsigned n,
		      struct rec_module *module)
{
	uint64_t low = UINT64_MAX, high = 0, bias = 0;
	bool found = false;
	for (unsigned i = 0; i < n; i++) {
		const Elf64_Phdr *segment = &segments[i];
		if (segment->p_type != PT_LOAD || segment->p_memsz > UINT64_MAX - segment->p_vaddr)
			continue;
		low = segment->p_vaddr < low ? segment->p_vaddr : low;
		high = segment->p_vaddr + segment->p_memsz > high
			       ? segment->p_vaddr + segment->p_memsz
			       : high;
		uint64_t begin = segment->p_offset & ~(PAGE_BYTES - 1);
		if ((segment->p_flags & PF_X) && map->offset >= begin &&
		    map->offset - begin < segment->p_filesz + PAGE_BYTES) {
			bias = map->start - (segment->p_vaddr - segment->p_offset + map->offset);
			found = true;
		}
	}
	*module = (struct rec_module){.base = bias, .size = high, .low = bias + low};
	return found;
}

bool maps_module(const struct rec_map *map, const char *path, struct rec_module *module)
{
	Elf64_Phdr segments[MOST_SEGMENTS];
	struct stat about;
	unsigned n;
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool good = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
		    read_segments(fd, segments, &n) && maps_fill(map, segments, n, module);
	if (fd >= 0)
		close(fd);
	return good;
}
