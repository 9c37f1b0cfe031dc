/* symbol_names.h - what a symbol is called: demangled, and short. */
#ifndef HWY_INGEST_SYMBOL_NAMES_H
#define HWY_INGEST_SYMBOL_NAMES_H

#include "trace/builder.h"

/* The symbol of a kernel by its mangled name (a text id). */
uint32_t names_symbol(struct hwy_builder *b, uint32_t mangled);

/* Demangled by the C++ runtime where there is one; else NULL. To be freed. */
char *names_demangle(const char *mangled);

/* "vectorized_add" of "void at::native::vectorized_add<4, float>(int, float*)": no result, no scope, no
 * template arguments, no parameters. 'into' has room for the whole name. */
void names_shorten(const char *demangled, char *into);

#endif
