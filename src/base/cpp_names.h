/* SPDX-License-Identifier: Apache-2.0 */
/* cpp_names.h - the parts of a demangled C++ name: which brackets are open, and where the
 * function's own name begins. */
#ifndef HWY_BASE_CPP_NAMES_H
#define HWY_BASE_CPP_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* The brackets that are open at a place of a name. In "f<(8>0), int>" the first '>' compares: a
 * '>' closes a '<' only where no other bracket was opened after that '<'. All members are 0 at
 * the begin of a name. */
struct hwy_brackets {
	/* a bit for each open bracket, the innermost in bit 0: 1 where the bracket is '<' */
	uint64_t angles;
	unsigned depth; /* how many brackets are open */
};

void hwy_brackets_see(struct hwy_brackets *open, char c);

/* Where the function's own name, with its namespaces, begins in a demangled name: behind the
 * return type, which demanglers write for functions of templates. Yields 'name' itself where the
 * name has no return type, or no parameters by which the two could be told apart; a leading
 * "void " is always skipped. */
const char *hwy_skip_return_type(const char *name);

#endif
