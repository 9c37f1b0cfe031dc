/* SPDX-License-Identifier: Apache-2.0 */
/* binaries.h - the functions and source lines of ELF files; each file is read once for all
 * processes. */
#ifndef HWY_INGEST_BINARIES_H
#define HWY_INGEST_BINARIES_H

#include <stdbool.h>
#include <stdint.h>

struct binaries;
struct binary;

struct binaries *binaries_open(void);
void binaries_close(struct binaries *binaries); /* 'binaries' may be NULL */

/* Whether a path that a spool names is a regular file now: libdw would wait for the writer of a
 * pipe. */
bool binaries_is_file(const char *path);
/* Yields the binary of a path; the file need not exist. */
struct binary *binaries_get(struct binaries *binaries, const char *path);
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
