/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - what a long piece of work tells its front end: how far it is, and what it would
 * leave behind if it were interrupted now. NULL where nobody listens.
 */
#ifndef HWY_BASE_PROGRESS_H
#define HWY_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Functions that a long task calls; each may be NULL. */
struct hwy_progress {
	/* Tells how far the task is; total 0: the total is not known. */
	void (*tell)(void *listener, const char *what, uint64_t done, uint64_t total);
	/* Tells that a temporary file or folder now exists, or is gone; both calls get the same
	 * pointer 'path'. */
	void (*temporary)(void *listener, const char *path, bool exists);
	void *listener;
};

static inline void hwy_tell(const struct hwy_progress *progress, const char *what, uint64_t done,
			    uint64_t total)
{
	if (progress && progress->tell)
		progress->tell(progress->listener, what, done, total);
}

static inline void hwy_temporary(const struct hwy_progress *progress, const char *path, bool exists)
{
	if (progress && progress->temporary)
		progress->temporary(progress->listener, path, exists);
}

#endif
