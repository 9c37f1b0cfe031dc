/* SPDX-License-Identifier: Apache-2.0 */
/* elf_functions.h - the functions of an ELF file, by address. */
#ifndef HWY_INGEST_ELF_FUNCTIONS_H
#define HWY_INGEST_ELF_FUNCTIONS_H

#include <stdint.h>

struct elf_functions;

/* NULL when the file does not exist or cannot be read; without any function when it is no 64-bit
 * ELF file. */
struct elf_functions *elf_functions_open(const char *path);
void elf_functions_close(struct elf_functions *elf); /* 'elf' may be NULL */
/* The name of the function at an address as the file numbers them; NULL: none. Lives as long as
 * 'elf'. */
const char *elf_functions_find(const struct elf_functions *elf, uint64_t address);

#endif
