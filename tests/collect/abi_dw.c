/* SPDX-License-Identifier: Apache-2.0 */
/* abi_dw.c - holds src/ingest/dw.h against the headers of elfutils (libdw-dev): compiling it is the test. Without
 * these headers it exits with 77. */
#include <stdio.h>

#if __has_include(<elfutils/libdwfl.h>)
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <assert.h>
#include <stddef.h>

#include "ingest/dw.h"

static_assert((int)DW_INLINED == (int)DW_TAG_inlined_subroutine, "DW_INLINED");
static_assert((int)DW_CALL_FILE == (int)DW_AT_call_file, "DW_CALL_FILE");
static_assert((int)DW_CALL_LINE == (int)DW_AT_call_line, "DW_CALL_LINE");

#define SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define FIELD(ours, our_field, theirs, their_field)                                                \
	static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) &&                \
			      sizeof(((ours *)0)->our_field) ==                                    \
				      sizeof(((theirs *)0)->their_field),                          \
		      #theirs "." #their_field)

SIZE(struct dw_die, Dwarf_Die);
FIELD(struct dw_die, address, Dwarf_Die, addr);
FIELD(struct dw_die, unit, Dwarf_Die, cu);
FIELD(struct dw_die, abbreviation, Dwarf_Die, abbrev);

SIZE(struct dw_attribute, Dwarf_Attribute);
FIELD(struct dw_attribute, code, Dwarf_Attribute, code);
FIELD(struct dw_attribute, form, Dwarf_Attribute, form);
FIELD(struct dw_attribute, value, Dwarf_Attribute, valp);
FIELD(struct dw_attribute, unit, Dwarf_Attribute, cu);

SIZE(struct dw_callbacks, Dwfl_Callbacks);
FIELD(struct dw_callbacks, find_elf, Dwfl_Callbacks, find_elf);
FIELD(struct dw_callbacks, find_debuginfo, Dwfl_Callbacks, find_debuginfo);
FIELD(struct dw_callbacks, section_address, Dwfl_Callbacks, section_address);
FIELD(struct dw_callbacks, debuginfo_path, Dwfl_Callbacks, debuginfo_path);

#define CALLBACK(name)                                                                             \
	FIELD(struct dw_thread_callbacks, name, Dwfl_Thread_Callbacks, name);                      \
	static_assert(                                                                             \
		__builtin_types_compatible_p(__typeof__(((struct dw_thread_callbacks *)0)->name),  \
					     __typeof__(((Dwfl_Thread_Callbacks *)0)->name)),      \
		#name)

SIZE(struct dw_thread_callbacks, Dwfl_Thread_Callbacks);
CALLBACK(next_thread);
CALLBACK(get_thread);
CALLBACK(memory_read);
CALLBACK(set_initial_registers);
CALLBACK(detach);
CALLBACK(thread_detach);

/* In our prototypes the structs have names of our own. Here these names stand for the types of elfutils, so that a
 * prototype of ours must be the same type as the function in the header. */
#define struct
#define dw_die Dwarf_Die
#define dw_attribute Dwarf_Attribute
#define dw_callbacks Dwfl_Callbacks
#define dw_thread_callbacks Dwfl_Thread_Callbacks
#define X(result, name, arguments)                                                                 \
	static_assert(__builtin_types_compatible_p(__typeof__(name), result arguments), #name);
DW_FUNCTIONS(X)

int main(void)
{
	puts("same as in elfutils");
	return 0;
}
#else
int main(void)
{
	puts("no elfutils/libdwfl.h (libdw-dev)");
	return 77;
}
#endif
