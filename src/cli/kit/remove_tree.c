/* SPDX-License-Identifier: Apache-2.0 */
/* remove_tree.c - removes a folder with all that is in it, also from a signal handler.
 *
 * opendir allocates, so the folder is read by the system call itself. Folders deeper than an
 * export makes them are left. Symbolic links are removed, never followed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/kit/cli.h"

enum { MOST_DEPTH = 6, LISTING = 2048 };

/* An entry as getdents64 gives it (getdents(2)). */
struct listed {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static void remove_in(int folder, const char *name, int depth);

/* Removes what one call of getdents64 lists; yields its result. */
static long remove_listed(int folder, int depth)
{
	_Alignas(struct listed) char entries[LISTING];
	long n = syscall(SYS_getdents64, folder, entries, sizeof entries);
	for (long at = 0; at < n;) {
		const struct listed *entry = (const struct listed *)(const void *)(entries + at);
		if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
			remove_in(folder, entry->name, depth);
		at += entry->length;
	}
	return n;
}

static void remove_in(int folder, const char *name, int depth)
{
	if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return;
	if (depth == MOST_DEPTH)
		return;
	int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner < 0)
		return;
	while (remove_listed(inner, depth + 1) > 0)
		;
	close(inner);
	unlinkat(folder, name, AT_REMOVEDIR);
}

void cli_remove_tree(const char *path)
{
	remove_in(AT_FDCWD, path, 0);
}
