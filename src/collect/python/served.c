/* SPDX-License-Identifier: Apache-2.0 */
/* served.c - see served.h. Nothing of the interpreter is called, and all of it is read through
 * the kernel: the state of a thread that has ended may be gone, and the frames of a thread that
 * runs change.
 */
#include "collect/python/served.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/process.h"
#include "collect/python/python.h"
#include "collect/sys.h"

static _Atomic bool has_xla;
static _Atomic uintptr_t noted; /* the state of the thread that was noted last; 0: none was */

void served_look_at_path(const char *path)
{
	static const char *const libraries[] = {"/xla_extension", "/libjax_common",
						"/xla_cuda_plugin", "/xla_rocm_plugin"};
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (strstr(path, libraries[i]))
			atomic_store_explicit(&has_xla, true, memory_order_relaxed);
}

static bool is_served(enum rec_why why)
{
	return (why == REC_WHY_WAIT || why == REC_WHY_LAUNCH) &&
	       atomic_load_explicit(&has_xla, memory_order_relaxed);
}

void served_note(enum rec_why why, uintptr_t state)
{
	if (is_served(why))
		atomic_store_explicit(&noted, state, memory_order_relaxed);
}

/* Whether the thread of this state is the only thread of its interpreter. A thread state begins
 * with the pointers to the states before and behind it (Python 3.10 to 3.14). */
static bool is_only_thread(uintptr_t state)
{
	uintptr_t beside[2];
	return sys_peek(process.pid, beside, (const void *)state, sizeof beside) ==
		       (long)sizeof beside &&
	       !beside[0] && !beside[1];
}

uint32_t served_stack(enum rec_why why, struct rec_frame frames[REC_MAX_FRAMES])
{
	uintptr_t state = atomic_load_explicit(&noted, memory_order_relaxed);
	if (!is_served(why) || !state || !is_only_thread(state))
		return 0;
	return python_read_others(state, frames);
}
