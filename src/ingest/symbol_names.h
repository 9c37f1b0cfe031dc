/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_names.h - the names of a C++ symbol: demangled, and short. */
#ifndef HWY_INGEST_SYMBOL_NAMES_H
#define HWY_INGEST_SYMBOL_NAMES_H

#include "trace/builder.h"

/* Adds the symbol of a kernel to the trace, or finds it, by its mangled name (a text of the trace);
 * yields its index. */
uint32_t symbol_names_add(struct hwy_builder *b, uint32_t mangled);

/* The demangled name, which the caller frees; NULL: the name is not mangled, or there is no C++
 * runtime. */
char *symbol_names_demangle(const char *mangled);

/* Writes the name without result, scope, template arguments and parameters: "vectorized_add" for
 * "void at::native::vectorized_add<4, float>(int, float*)". 'into' has room for the whole name. */
void symbol_names_shorten(const char *demangled, char *into);

#endif
