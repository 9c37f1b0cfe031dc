/* SPDX-License-Identifier: Apache-2.0 */
/* binaries.h - the functions, segments and source lines of ELF files; each file is read once for
 * all processes, also where several paths lead to it. */
#ifndef HWY_INGEST_BINARIES_H
#define HWY_INGEST_BINARIES_H

#include <stdbool.h>
#include <stdint.h>

struct binaries;
struct binary; /* a path that modules of processes have */
struct maps_segments;

struct dw;
/* 'dw' is libdw; NULL: there are no source lines, and no functions but those of symbol tables. */
struct binaries *binaries_open(const struct dw *dw);
void binaries_close(struct binaries *binaries); /* 'binaries' may be NULL */

/* Yields the binary of a path; the file need not exist. */
struct binary *binaries_get(struct binaries *binaries, const char *path);
const char *binaries_path(const struct binary *binary);
/* Yields the number of the binary's file: 0, 1, 2 …. Paths that lead to one file have one
 * number. */
uint32_t binaries_file(const struct binary *binary);
/* Yields what a process maps of the file; NULL: the path is no ELF file now. */
const struct maps_segments *binaries_segments(struct binary *binary);
/* Addresses are those in the file, not those in a process. Texts live as long as the binaries;
 * NULL: not known. */
const char *binaries_function(struct binaries *binaries, struct binary *binary, uint64_t address);
/* Which line is wanted of an address in an inlined function. Finding the line of the call takes
 * milliseconds where there is much debug information; after a second in all, the function's own
 * line is given instead. */
enum line_wanted {
	LINE_PLAIN, /* the line in the inlined function */
	/* LINE_OWN: the line in the inlined function; but if that line is in a header of a
	 * compiler or toolkit, the line of the call. */
	LINE_OWN,
	LINE_CALL, /* always the line of the call of the inlined function */
};
/* Yields the path of the source file that an address comes from, and the line number in *line. */
const char *binaries_line(struct binaries *binaries, struct binary *binary, uint64_t address,
			  enum line_wanted wanted, int *line);

#endif
