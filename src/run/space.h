/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - how much of a disk a recording may take, and who looks that it takes no more.
 *
 * A file system keeps a reserve of 1 GiB, or of 5 % where that is less. Nothing of a recording
 * grows once less than the reserve and a margin is free: collectors ask before each chunk
 * (spool_file.c), the parent's own spools ask here. The parent looks at the disk while it waits
 * for the program. It stops the spools at the run's bound (--max-size), and where the program
 * itself writes what the recording left free, it gives old events of the recording back
 * (give_back.h).
 */
#ifndef HWY_RUN_SPACE_H
#define HWY_RUN_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/control.h"
#include "spool/record.h"

struct space_place {      /* a folder's file system; all sizes in bytes */
	uint64_t size;    /* of the whole file system */
	uint64_t free;    /* what is free for this user; in memory, at most what memory is free */
	uint64_t reserve; /* what a recording never touches */
	/* Spools grow only where so much stays free: the reserve, and a margin for what the program
	 * writes between two looks at the disk. */
	uint64_t keep_free;
	bool in_memory; /* what is written there takes memory (tmpfs, ramfs) */
};

/* Looks at the file system of a folder, or of an open file; false when it cannot be looked at. */
bool space_look(const char *folder, struct space_place *place);
bool space_look_at_file(int fd, struct space_place *place);

/* The bound on a run's spools where the user gives none: 16 GiB or half of the room above
 * 'keep_free', whichever is less; in memory 512 MiB or an eighth of the room. Rings
 * (--keep-last) get no more than the reserve: they hardly give anything back (give_back.h), and
 * then need not. */
uint64_t space_default_bound(const struct space_place *place, bool is_ring);

/* Yields why a spool in this open file may not grow by 'more' bytes; REC_FULL_NO: it may. */
enum rec_full space_refusal(int fd, const struct rec_control *control, uint64_t more);

/* Watches over the run directory, which holds the open file 'fd'. NULL when it cannot be opened. */
struct journal;
struct space *space_open(const char *directory, int fd, struct rec_control *control,
			 struct journal *journal);
/* Looks at the disk, if that is due; yields when to look again, in ns. 'space' may be NULL. */
int64_t space_watch(struct space *space, int64_t now);
void space_close(struct space *space);

#endif
