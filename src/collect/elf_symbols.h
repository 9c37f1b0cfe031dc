/* SPDX-License-Identifier: Apache-2.0 */
/* elf_symbols.h - addresses of the symbols that a loaded object exports, found without the
 * loader.
 */
#ifndef HWY_COLLECT_ELF_SYMBOLS_H
#define HWY_COLLECT_ELF_SYMBOLS_H

#include <link.h>

/* The address of a symbol that the object exports; NULL: the object exports no such symbol. Unlike
 * dlsym this takes no lock: the lock of dlsym is held while constructors run, and a constructor may
 * wait for the thread that called us. It also finds symbols of objects opened with RTLD_LOCAL. Only
 * for callbacks of dl_iterate_phdr, during which the object cannot go away. */
void *elf_symbols_find(const struct dl_phdr_info *object, const char *name);

#endif
