/* binaries.h - the functions and source lines of ELF files, each file looked into once for all processes. */
#ifndef HWY_INGEST_BINARIES_H
#define HWY_INGEST_BINARIES_H

#include <stdbool.h>
#include <stdint.h>

struct binaries;
struct binary;

struct binaries *binaries_open(void);
void binaries_close(struct binaries *binaries); /* NULL is fine */

/* By the path; it need not be there. */
struct binary *binaries_get(struct binaries *binaries, const char *path);
/* Addresses are as the file itself numbers them. Texts live as long as the binaries; NULL: not known. */
const char *binaries_function(struct binaries *binaries, struct binary *binary, uint64_t at);
/* Of the call, where a function of a foreign header, or with 'is_inlined' any function, is inlined at the address. */
const char *binaries_line(struct binaries *binaries, struct binary *binary, uint64_t at,
			  bool is_inlined, int *line);

#endif
