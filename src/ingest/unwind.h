/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h - finds the call stack of a thread from its registers and a copy of its stack memory,
 * and names its frames. */
#ifndef HWY_INGEST_UNWIND_H
#define HWY_INGEST_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/code_places.h"
#include "spool/record.h"

enum { UNWIND_FRAMES = 64 };

/* what all processes of a run share: files, their functions, libdw's session */
struct unwind_files;
struct unwinder; /* belongs to one process, and is small: there may be 100,000 of them */

/* 'with_libdw': uses libdw, where it is installed, for stacks and source lines. */
struct unwind_files *unwind_files_open(bool with_libdw);
void unwind_files_close(struct unwind_files *files); /* 'files' may be NULL */

/* The files must outlive the unwinder. */
struct unwinder *unwind_open(struct unwind_files *files);
void unwind_close(struct unwinder *unwinder); /* 'unwinder' may be NULL */
void unwind_add_module(struct unwinder *unwinder, const struct rec_module *module,
		       const char *path);
/* Adds the module that the kernel saw mapped; does nothing where a module with this path was added
 * already. */
void unwind_add_map(struct unwinder *unwinder, const struct rec_map *map, const char *path);

/* Indexes into unwind_copy.registers. */
enum {
	UNWIND_RIP,
	UNWIND_RSP,
	UNWIND_RBP,
	UNWIND_RBX,
	UNWIND_R12,
	UNWIND_R13,
	UNWIND_R14,
	UNWIND_R15
};
struct unwind_copy {               /* the part of a thread's state that a recording keeps */
	const uint64_t *registers; /* their values when the copy was made */
	const uint8_t *bytes;      /* stack memory from rsp on */
	uint32_t count;            /* number of bytes in 'bytes' */
};
/* Reads 8 bytes at an address of the thread; false: the copy does not have them. */
bool unwind_copy_word(const struct unwind_copy *copy, uint64_t address, uint64_t *word);

/* Writes the addresses of the stack, innermost first; all but the first are return addresses.
 * Yields their number. */
uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_copy *copy,
		      uint64_t addresses[UNWIND_FRAMES]);
/* Yields the place of an address. 'is_return': the address is a return address, so that the
 * place is that of the call before it. */
struct code_place *unwind_place(struct unwinder *unwinder, uint64_t address, bool is_return);
/* Yields file and line of a place, see code_places_line. */
const struct code_line *unwind_line(struct unwinder *unwinder, struct code_place *place,
				    const struct code_place *callee, bool is_sample);

#endif
