/* unwind.h - from registers and a copy of the stack to frames with names. */
#ifndef HWY_INGEST_UNWIND_H
#define HWY_INGEST_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/record.h"

enum { UNWIND_FRAMES = 64 };

struct unwind_place {         /* what is at an address; texts live as long as the unwinder */
	const char *function; /* demangled; NULL: not known */
	const char *module;   /* path; NULL: in none */
	const char *file;     /* source; NULL: not known, or not asked for (unwind_line) */
	int line;
	bool lined;
	uint64_t offset;  /* of the address in the module */
	bool interpreter; /* the loop of CPython */
};

struct unwinder; /* of one process */

struct binaries;
struct unwinder *unwind_open(struct binaries *binaries); /* which outlive it */
void unwind_close(struct unwinder *unwinder);            /* NULL is fine */
/* True when a module of this path was told already. */
bool unwind_has_module(const struct unwinder *unwinder, const char *path);
void unwind_add_module(struct unwinder *unwinder, const struct rec_module *module,
		       const char *path);

struct unwind_copy {               /* what a stack is unwound from */
	const uint64_t *registers; /* rip, rsp, rbp, rbx, r12 to r15 */
	const uint8_t *bytes;      /* from rsp on */
	uint32_t count;
};

/* Addresses from the innermost on (return addresses, but for the first); at most UNWIND_FRAMES. */
uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_copy *copy,
		      uint64_t addresses[UNWIND_FRAMES]);
/* 'caller': the address is a return address, the call is before it. */
struct unwind_place *unwind_place(struct unwinder *unwinder, uint64_t address, bool caller);
/* Fills in file and line, which may take long. 'callee', or NULL, is what is called there; 'is_sample': there are
 * too many to look closely. */
void unwind_line(struct unwinder *unwinder, struct unwind_place *place,
		 const struct unwind_place *callee, bool is_sample);

#endif
