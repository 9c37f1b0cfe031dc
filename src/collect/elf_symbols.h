/* SPDX-License-Identifier: Apache-2.0 */
/* elf_symbols.h - addresses of the symbols that a loaded object exports, found without the
 * loader.
 */
#ifndef HWY_COLLECT_ELF_SYMBOLS_H
#define HWY_COLLECT_ELF_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A loaded object: its load bias, and a copy of its program headers. is_pinned: nobody can unload
 * the object now, so that its memory may be read directly. */
struct elf_object {
	uint64_t base;
	bool is_pinned;
	const ElfW(Phdr) * parts;
	unsigned part_count;
};

/* The address of a symbol that the object exports; 0: the object exports no such symbol. Unlike
 * dlsym this takes no lock: the lock of dlsym is held while constructors run, and a constructor may
 * wait for the thread that called us. It also finds symbols of objects opened with RTLD_LOCAL. The
 * memory of an object that is not pinned is read through the kernel: another thread may unload the
 * object at any moment. */
uint64_t elf_symbols_find(const struct elf_object *object, const char *name);
/* The same; *size becomes the size in bytes of what the symbol names. */
uint64_t elf_symbols_find_sized(const struct elf_object *object, const char *name, uint64_t *size);

#endif
