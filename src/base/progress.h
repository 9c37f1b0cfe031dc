/* progress.h - how far a long piece of work is; NULL where nobody listens. */
#ifndef HWY_BASE_PROGRESS_H
#define HWY_BASE_PROGRESS_H

#include <stdint.h>

struct hwy_progress {
	void (*tell)(void *listener, const char *what, uint64_t done,
		     uint64_t total); /* total 0: unknown */
	void *listener;
};

static inline void hwy_tell(const struct hwy_progress *progress, const char *what, uint64_t done,
			    uint64_t total)
{
	if (progress)
		progress->tell(progress->listener, what, done, total);
}

#endif
