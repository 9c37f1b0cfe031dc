/* SPDX-License-Identifier: Apache-2.0 */
/* late.c - finds moments at which the collector may call functions of the interpreter and of
 * frameworks; see late.h.
 *
 * Replaces opendir: it is not safe in signal handlers, so that nobody calls it there, and
 * Python's import system calls it while packages are imported, that is: soon after the
 * interpreter or libtorch was loaded. The replaced function gets exactly what the program
 * passed, and errno is what it leaves. Where neither Python nor PyTorch is traced, and once
 * everything has begun, the replacement costs one load.
 */
#include "collect/late.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "collect/collect.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/python/inside.h"
#include "collect/sys.h"
#include "collect/torch/torch.h"

#define EXPORT __attribute__((visibility("default")))

/* Tests build the collector without the files of torch/. */
#pragma weak torch_begin

/* How long nothing is looked for after a look, in ns, in a program without Python: it may open
 * thousands of folders a second. One with Python may open only a few after the one that matters. */
static const int64_t PAUSE_NS = 1000 * 1000;

/* How long nothing of an object is called after the loader told where the object is, in ns:
 * thread-local variables become known some instructions later, but the thread that loads may be
 * made to wait in between. */
static const int64_t SETTLING_NS = 20 * 1000 * 1000;
/* The same after the object was listed, where the loader does not tell (glibc before 2.35). */
static const int64_t LOADING_NS = 1000 * 1000 * 1000;

/* _dl_find_object of glibc 2.35: takes no lock, and knows an object once it is relocated. */
enum { FOUND_WORDS = 16 }; /* more than struct dl_find_object has */
static int (*find_object)(void *address, uint64_t result[FOUND_WORDS]);
static DIR *(*real_opendir)(const char *);
static _Atomic bool is_awaited; /* something that is traced has not begun yet */
static _Atomic int64_t next_look;
/* Held while the steps run: a step may open a folder itself. */
static struct lock looking;

void late_init(void)
{
	*(void **)&real_opendir = dlsym(RTLD_NEXT, "opendir");
	*(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
}

void late_join(void)
{
	if (collect_control->traces & (REC_TRACE_PYTORCH | REC_TRACE_PYTHON | REC_TRACE_NCCL))
		atomic_store_explicit(&is_awaited, true, memory_order_relaxed);
}

void late_after_fork(void)
{
	lock_give(&looking);
}

bool late_may_call(struct late_object *object)
{
	uint64_t unused[FOUND_WORDS];
	if (!object->found)
		return true;
	int64_t now = collect_now();
	if (!find_object)
		return now - object->found >= LOADING_NS;
	if (find_object((void *)object->address, unused) != 0)
		object->finished = 0;
	else if (!object->finished)
		object->finished = now;
	return object->finished && now - object->finished >= SETTLING_NS;
}

static bool late_steps(void)
{
	uint64_t signals = sys_hold_signals();
	modules_scan();
	sys_restore_signals(signals);
	/* Both steps are called each time: neither waits for the other. */
	bool done = inside_begin();
	return (!torch_begin || torch_begin()) && done;
}

void late_look(void)
{
	if (!atomic_load_explicit(&is_awaited, memory_order_relaxed) || !process.joined ||
	    process.sealed)
		return;
	int64_t now = collect_now();
	if (now < atomic_load_explicit(&next_look, memory_order_relaxed) || process_is_mute() ||
	    !lock_try(&looking))
		return;
	int saved = errno;
	bool was_ours = collect_is_ours;
	collect_is_ours = true;
	if (late_steps())
		atomic_store_explicit(&is_awaited, false, memory_order_relaxed);
	atomic_store_explicit(&next_look, inside_api() ? now : now + PAUSE_NS,
			      memory_order_relaxed);
	collect_is_ours = was_ours;
	lock_give(&looking);
	errno = saved;
}

void late_look_patiently(void)
{
	struct timespec settling = {.tv_nsec = SETTLING_NS + SETTLING_NS / 4};
	late_look();
	if (!(collect_control->traces & REC_TRACE_PYTORCH) || !atomic_load(&is_awaited))
		return;
	syscall(SYS_nanosleep, &settling, NULL);
	late_look();
}

EXPORT DIR *opendir(const char *path)
{
	if (atomic_load_explicit(&is_awaited, memory_order_relaxed))
		late_look();
	if (!real_opendir)
		late_init(); /* called before the constructor of this library */
	if (!real_opendir) {
		errno = ENOSYS;
		return NULL;
	}
	return real_opendir(path);
}
