/* elf_functions.h - the functions of an ELF file, by address. */
#ifndef HWY_INGEST_ELF_FUNCTIONS_H
#define HWY_INGEST_ELF_FUNCTIONS_H

#include <stdint.h>

struct symbols;

/* NULL when the file is not there or is no ELF file of this machine. */
struct symbols *symbols_open(const char *path);
void symbols_close(struct symbols *symbols); /* NULL is fine */
/* The function at an address of the file (as the file itself numbers them), or NULL. Lives as long. */
const char *symbols_at(const struct symbols *symbols, uint64_t address);

#endif
