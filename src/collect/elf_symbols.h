/* elf_symbols.h - symbols of a loaded object, without the loader. */
#ifndef HWY_COLLECT_ELF_SYMBOLS_H
#define HWY_COLLECT_ELF_SYMBOLS_H

#include <link.h>

/* The address of a symbol that the object exports, NULL: it does not. Unlike dlsym it takes no lock (the one
 * that dlsym takes is held while constructors run, which may wait for whoever called us) and sees what was
 * opened with RTLD_LOCAL. Only from a callback of dl_iterate_phdr, while the object cannot go away. */
void *symbols_find(const struct dl_phdr_info *object, const char *name);

#endif
