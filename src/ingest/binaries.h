/* binaries.h - the functions and source lines of ELF files, each file looked into once for all processes. */
#ifndef HWY_INGEST_BINARIES_H
#define HWY_INGEST_BINARIES_H

#include <stdint.h>

struct binaries;
struct binary;

struct binaries *binaries_open(void);
void binaries_close(struct binaries *binaries); /* NULL is fine */

/* By the path; it need not be there. */
struct binary *binaries_get(struct binaries *binaries, const char *path);
/* Addresses are as the file itself numbers them. Texts live as long as the binaries; NULL: not known. */
const char *binaries_function(struct binaries *binaries, struct binary *binary, uint64_t at);
/* Where a function is inlined, its call may say more than its own line; looking for it takes ms where there is much
 * debug information, so after a second in all it is left. */
enum line_wanted {
	LINE_PLAIN,
	LINE_OWN,  /* the call, where the function is of a foreign header */
	LINE_CALL, /* the call, whatever the function */
};
const char *binaries_line(struct binaries *binaries, struct binary *binary, uint64_t at,
			  enum line_wanted wanted, int *line);

#endif
