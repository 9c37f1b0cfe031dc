/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h - turns one mapping of a file's code (struct rec_map) into a module of the process. */
#ifndef HWY_INGEST_MAPS_H
#define HWY_INGEST_MAPS_H

#include <elf.h>
#include <stdbool.h>

#include "spool/record.h"

/* The parts of an ELF file that a process maps (program headers of type PT_LOAD). */
struct maps_segments {
	Elf64_Phdr *list;
	uint32_t n;
	uint64_t low, high; /* the addresses of all segments, as the file has them: [low, high) */
};

/* Reads the segments of a file; the caller frees segments->list. False: the path is no regular file
 * now, or no 64-bit ELF file, or has no segment. */
bool maps_read(const char *path, struct maps_segments *segments);

/* The extent of the whole module follows from the segments of its file. False: the file has no code
 * at the mapping's offset, so that it is another file than the one that was mapped. */
bool maps_module(const struct rec_map *map, const struct maps_segments *segments,
		 struct rec_module *module);

#endif
