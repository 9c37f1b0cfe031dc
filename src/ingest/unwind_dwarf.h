/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_dwarf.h - finds call stacks by the call frame information of ELF files, with libdw. */
#ifndef HWY_INGEST_UNWIND_DWARF_H
#define HWY_INGEST_UNWIND_DWARF_H

#include <stdint.h>

#include "ingest/unwind.h"

struct unwind_modules;
struct unwind_dwarf; /* serves all processes of a run */

struct dw;
struct unwind_dwarf *unwind_dwarf_open(const struct dw *dw); /* 'dw' may be NULL */
void unwind_dwarf_close(struct unwind_dwarf *dwarf);         /* 'dwarf' may be NULL */

/* Writes the addresses of the stack, innermost first; yields their number, 0 where there is no
 * libdw. */
uint32_t unwind_dwarf_stack(struct unwind_dwarf *dwarf, struct unwind_modules *modules,
			    const struct unwind_copy *copy, uint64_t addresses[UNWIND_FRAMES]);

#endif
