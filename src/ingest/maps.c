/* SPDX-License-Identifier: Apache-2.0 */
/* maps.c - see maps.h.
 *
 * The file may have been replaced since it was mapped: every number in it is checked.
 */
#include "ingest/maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { MOST_SEGMENTS = 64 };

static const uint64_t PAGE_BYTES = 4096;

static bool read_headers(int fd, Elf64_Phdr *headers, uint32_t *n)
{
	Elf64_Ehdr head;
	if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof *headers || head.e_phnum > MOST_SEGMENTS ||
	    head.e_phoff > INT64_MAX / 2)
		return false;
	*n = head.e_phnum;
	size_t bytes = head.e_phnum * sizeof *headers;
	return pread(fd, headers, bytes, (off_t)head.e_phoff) == (ssize_t)bytes;
}

/* Keeps those program headers that a process maps; yields their number. */
static uint32_t keep_segments(Elf64_Phdr *headers, uint32_t n)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++)
		if (headers[i].p_type == PT_LOAD &&
		    headers[i].p_memsz <= UINT64_MAX - headers[i].p_vaddr)
			headers[kept++] = headers[i];
	return kept;
}

bool maps_read(const char *path, struct maps_segments *segments)
{
	Elf64_Phdr headers[MOST_SEGMENTS];
	struct stat about;
	uint32_t n = 0;
	/* O_NONBLOCK: opening a pipe of that name would wait for a writer. */
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool good = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
		    read_headers(fd, headers, &n);
	if (fd >= 0)
		close(fd);
	n = good ? keep_segments(headers, n) : 0;
	if (n == 0)
		return false;
	*segments = (struct maps_segments){.n = n, .low = UINT64_MAX};
	segments->list = hwy_copy_array(headers, n, sizeof *headers);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t low = headers[i].p_vaddr, high = low + headers[i].p_memsz;
		segments->low = low < segments->low ? low : segments->low;
		segments->high = high > segments->high ? high : segments->high;
	}
	return true;
}

bool maps_module(const struct rec_map *map, const struct maps_segments *segments,
		 struct rec_module *module)
{
	uint64_t bias = 0;
	bool found = false;
	for (uint32_t i = 0; i < segments->n; i++) {
		const Elf64_Phdr *segment = &segments->list[i];
		uint64_t begin = segment->p_offset & ~(PAGE_BYTES - 1);
		if ((segment->p_flags & PF_X) && map->offset >= begin &&
		    map->offset - begin < segment->p_filesz + PAGE_BYTES) {
			bias = map->start - (segment->p_vaddr - segment->p_offset + map->offset);
			found = true;
		}
	}
	*module = (struct rec_module){
		.base = bias, .size = segments->high, .low = bias + segments->low};
	return found;
}
