/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h - finds the call stack of a thread from its registers and a copy of its stack memory,
 * and names its frames. */
#ifndef HWY_INGEST_UNWIND_H
#define HWY_INGEST_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

enum { UNWIND_FRAMES = 64 };

struct unwind_place {         /* the code at an address; its texts live as long as the unwinder */
	const char *function; /* the function's name, demangled; NULL: not known */
	const char *module;   /* path of the binary; NULL: the address is in no module */
	/* Path of the source file; NULL: not known, or unwind_line was not called. */
	const char *file;
	int line;
	bool lined;       /* unwind_line was called */
	uint64_t offset;  /* offset of the address in the module */
	bool interpreter; /* the function is CPython's interpreter loop */
};

struct unwinder; /* an unwinder belongs to one process */

struct binaries;
/* The binaries must outlive the unwinder. */
struct unwinder *unwind_open(struct binaries *binaries);
void unwind_close(struct unwinder *unwinder); /* 'unwinder' may be NULL */
/* Whether a module with this path was added already. */
bool unwind_has_module(const struct unwinder *unwinder, const char *path);
void unwind_add_module(struct unwinder *unwinder, const struct rec_module *module,
		       const char *path);

struct unwind_copy {               /* the part of a thread's state that a recording keeps */
	const uint64_t *registers; /* the values of rip, rsp, rbp, rbx, r12, r13, r14, r15 */
	const uint8_t *bytes;      /* stack memory from rsp on */
	uint32_t count;            /* number of bytes in 'bytes' */
};

/* Writes the addresses of the stack, innermost first; all but the first are return addresses.
 * Yields their number. */
uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_copy *copy,
		      uint64_t addresses[UNWIND_FRAMES]);
/* Yields the place of an address. 'is_return': the address is a return address, so that the
 * place is that of the call before it. */
struct unwind_place *unwind_place(struct unwinder *unwinder, uint64_t address, bool is_return);
/* Fills in file and line, which may take milliseconds. 'callee', or NULL, is the place of the
 * function that is called there. 'is_sample': the place is of a CPU sample, of which there are too
 * many to search for inlined calls. */
void unwind_line(struct unwinder *unwinder, struct unwind_place *place,
		 const struct unwind_place *callee, bool is_sample);

#endif
