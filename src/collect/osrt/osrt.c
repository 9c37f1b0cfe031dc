/* SPDX-License-Identifier: Apache-2.0 */
/* osrt.c - the OS calls of a process: finds the replaced functions, writes records, follows threads
 * and forks.
 *
 * Before the constructor has run, and where the collect library is missing or records nothing,
 * every replacement only calls the replaced function. At the end of the process the calls that
 * threads are still in are recorded as unfinished; at the end of a thread, the call that it ended
 * in.
 */
#include "collect/osrt/osrt.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sys.h"

extern struct os_call __start_os_calls[], __stop_os_calls[];

struct os_state *os_state;
int64_t os_threshold = INT64_MAX;
static int64_t stack_threshold = INT64_MAX;
/* Counts forks. Text ids of another generation (before a fork) are void. */
static _Atomic uint32_t generation = 1;
static pthread_key_t key;
static bool key_made;

_Thread_local struct os_slot *os_own;
_Thread_local uint8_t os_vforked;

/* The slot of threads that are ending, or that found no free slot: nobody reads what they write
 * here. */
static struct os_slot nobody = {.tid = UINT32_MAX};

/* ---- the real functions ---------------------------------------------------------------------- */

static const void *loaded_object(void *address)
{
	Dl_info about;
	return address && dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* Finds the replaced function: in libc, or in another library that replaces it too (a sanitizer's,
 * say), which has no symbol versions. Where there is no such function, the program cannot have
 * called it. */
void os_resolve(struct os_call *call)
{
	void *found = dlsym(RTLD_NEXT, call->symbol);
	void *meant = call->version ? dlvsym(RTLD_NEXT, call->symbol, call->version) : NULL;
	*call->real = meant && loaded_object(meant) == loaded_object(found) ? meant : found;
}

/* ---- threads --------------------------------------------------------------------------------- */

struct os_slot *os_slot_make(void)
{
	int saved = errno;
	struct os_slot *slot = &nobody;
	uint32_t tid = collect_tid();
	for (uint32_t i = 0; i < OS_SLOTS && slot == &nobody; i++) {
		uint32_t unused = 0;
		if (atomic_load_explicit(&os_state->slots[i].tid, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&os_state->slots[i].tid, &unused, tid)) {
			slot = &os_state->slots[i];
			uint32_t used = atomic_load(&os_state->slots_used);
			while (used <= i &&
			       !atomic_compare_exchange_weak(&os_state->slots_used, &used, i + 1))
				;
		}
	}
	os_own = slot;
	/* The key is one of a process's first: glibc has room for these in every thread, and
	 * allocates nothing. */
	if (slot != &nobody && key_made)
		pthread_setspecific(key, slot);
	errno = saved;
	return slot;
}

static void osrt_put(struct os_call *call, int64_t start, int64_t end, uint64_t object,
		     uint8_t flags, uint32_t tid);

static void thread_ends(void *value)
{
	struct os_slot *slot = value;
	os_own = &nobody;
	atomic_signal_fence(memory_order_seq_cst);
	/* The slot was wiped in a forked child that made no recorded call. */
	if (atomic_load_explicit(&slot->tid, memory_order_relaxed) == 0)
		return;
	int64_t since = atomic_load_explicit(&slot->since, memory_order_relaxed), now = os_now();
	uint64_t object = atomic_load_explicit(&slot->waits, memory_order_relaxed);
	if (since && now - since >= os_threshold && os_is_on())
		os_keep(atomic_load_explicit(&slot->call, memory_order_relaxed), since, now, object,
			REC_OS_UNFINISHED);
	if (object) /* the thread was cancelled inside a wait */
		atomic_fetch_sub_explicit(os_waiters_of(object), 1, memory_order_relaxed);
	atomic_store_explicit(&slot->since, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->waits, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->tid, 0, memory_order_release);
}

void os_thread_is_named(const char *name)
{
	if (!os_is_on() || sibling_is_inside())
		return;
	int saved = errno;
	uint32_t text = collect_string_z(name);
	struct rec_name *record = collect_reserve(REC_THREAD, 1);
	if (record) {
		record->head.value = collect_tid();
		record->name = text;
		collect_publish(record);
	}
	errno = saved;
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t call_text_id(struct os_call *call)
{
	uint64_t current = atomic_load_explicit(&generation, memory_order_relaxed);
	uint64_t cached = atomic_load_explicit(&call->text, memory_order_relaxed);
	if (cached >> 32 == current && (uint32_t)cached)
		return (uint32_t)cached;
	uint32_t text = collect_string_z(call->name);
	atomic_store_explicit(&call->text, current << 32 | text, memory_order_relaxed);
	return text;
}

/* Writes a REC_OS record. 'tid': the thread that made the call; 0: the calling thread. */
static void osrt_put(struct os_call *call, int64_t start, int64_t end, uint64_t object,
		     uint8_t flags, uint32_t tid)
{
	uint32_t text = call_text_id(call);
	struct rec_os *record = collect_reserve(REC_OS, tid ? 2 : 1);
	if (!record)
		return;
	record->head.flags = flags;
	record->head.value = text;
	record->start = start;
	record->duration = end - start;
	record->object = object;
	if (tid)
		((struct rec_os_of *)record)->tid = tid;
	collect_publish(record);
}

/* In a forked child: texts must be defined anew. The collect library has to notice the fork before
 * the first text is defined; any record makes it notice. */
static void after_fork(void)
{
	atomic_fetch_add(&generation, 1);
	void *record = collect_reserve(REC_NONE, 1);
	if (record)
		collect_publish(record);
	atomic_store(&os_state->pid, sys_pid());
}

static bool is_forked(void)
{
	return atomic_load_explicit(&os_state->pid, memory_order_relaxed) == 0;
}

/* Whether the thread is on a signal handler's own stack, which may be too small for
 * collect_stack. */
static bool is_on_signal_stack(void)
{
	stack_t alternate = {.ss_flags = 0};
	return syscall(SYS_sigaltstack, NULL, &alternate) == 0 && (alternate.ss_flags & SS_ONSTACK);
}

/* Whether the stack of a call is taken. Where a thread gives Python's lock away to one that
 * waits for it, its stack tells what held the other one up: with -t python one is taken a
 * millisecond, however short the call is. */
static bool wants_stack(int64_t start, int64_t end, uint8_t flags)
{
	static const int64_t PAUSE_NS = 1000 * 1000;
	static _Atomic int64_t next;
	if (stack_threshold < 0 || (flags & REC_OS_UNFINISHED))
		return false;
	if (end - start >= stack_threshold)
		return true;
	const uint8_t gives = REC_OS_GIL | REC_OS_WAKES;
	if ((flags & gives) != gives || !(collect_control->traces & REC_TRACE_PYTHON) ||
	    end < atomic_load_explicit(&next, memory_order_relaxed))
		return false;
	atomic_store_explicit(&next, end + PAUSE_NS, memory_order_relaxed);
	return true;
}

void os_keep(struct os_call *call, int64_t start, int64_t end, uint64_t object, uint8_t flags)
{
	if (sibling_is_inside() || sibling_has(object) ||
	    !os_is_traced(REC_TRACE_OSRT | REC_TRACE_PYTHON))
		return;
	int saved = errno;
	if (OS_UNLIKELY(is_forked()))
		after_fork();
	if (wants_stack(start, end, flags) && !is_on_signal_stack())
		collect_stack(REC_WHY_OS, start, 0);
	osrt_put(call, start, end, object, flags, 0);
	errno = saved;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Records the calls that threads are still in. The threads may still run: what is read here was
 * true at some moment. */
static void osrt_put_unfinished(void)
{
	if (!os_is_on())
		return;
	/* Not done twice, not by a forked child that recorded nothing, not by a vfork child in this
	 * memory. */
	int saved = errno;
	uint32_t pid = sys_pid();
	if (!atomic_compare_exchange_strong(&os_state->pid, &pid, UINT32_MAX))
		return;
	int64_t now = os_now();
	uint32_t own = collect_tid(), used = atomic_load(&os_state->slots_used);
	for (uint32_t i = 0; i < used; i++) {
		struct os_slot *slot = &os_state->slots[i];
		uint32_t tid = atomic_load_explicit(&slot->tid, memory_order_relaxed);
		int64_t since = atomic_load_explicit(&slot->since, memory_order_relaxed);
		struct os_call *call = atomic_load_explicit(&slot->call, memory_order_relaxed);
		if (tid && tid != own && since && call && now - since >= os_threshold)
			osrt_put(call, since, now,
				 atomic_load_explicit(&slot->waits, memory_order_relaxed),
				 REC_OS_UNFINISHED, tid);
	}
	errno = saved;
}

OS_CALL(_exit, void, (int));
OS_EXPORT void _exit(int status)
{
	osrt_put_unfinished();
	for (;;)
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): os_resolve sets it */
		OS_REAL(_exit)(status);
}

OS_CALL(_Exit, void, (int));
OS_EXPORT void _Exit(int status)
{
	osrt_put_unfinished();
	for (;;)
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): os_resolve sets it */
		OS_REAL(_Exit)(status);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Functions of sanitizers' runtimes; NULL in a program without that sanitizer. The loader looks for
 * them: a dlsym that fails would leave an error, and memory, behind. */
#define RUNTIME(name) extern void name(void) __attribute__((weak, visibility("default")))
RUNTIME(__tsan_init);
RUNTIME(__asan_init);
RUNTIME(__msan_init);
RUNTIME(__hwasan_init);

static bool runs_on_valgrind(void)
{
#if defined(__x86_64__)
	/* Valgrind's way to be asked: these rotations by 128 bits in all do nothing elsewhere. */
	enum { RUNNING_ON_VALGRIND = 0x1001 };
	volatile uint64_t question[6] = {RUNNING_ON_VALGRIND};
	uint64_t answer = 0;
	__asm__ volatile(
		"rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
		"xchgq %%rbx, %%rbx"
		: "+d"(answer)
		: "a"(&question[0])
		: "cc", "memory");
	return answer != 0;
#else
	return false;
#endif
}

/* Names who judges every access to memory that threads share, and does not know the collector's: a
 * sanitizer that the program is built with, or Valgrind; NULL: nobody does. */
static const char *judge_of_memory(void)
{
	if (__tsan_init || __asan_init || __msan_init || __hwasan_init)
		return "it is built with a sanitizer";
	return runs_on_valgrind() ? "it runs under Valgrind" : NULL;
}

/* Finds the replaced functions. An old libc lacks some of them: the program must not find an error
 * of dlsym that is not its own. */
static void resolve_all(void)
{
	bool is_missing = false;
	for (struct os_call *call = __start_os_calls; call < __stop_os_calls; call++) {
		if (!*call->real)
			os_resolve(call);
		is_missing |= !*call->real;
	}
	if (is_missing)
		dlerror();
}

static void osrt_wipe_in_child(void)
{
	if (!is_forked())
		memset(os_state, 0, sizeof *os_state);
}

static __attribute__((constructor)) void os_init(void)
{
	int saved = errno;
	resolve_all();
	os_state = sys_memory(sizeof *os_state);
	key_made = pthread_key_create(&key, thread_ends) == 0;
	bool connected = os_state && sibling_connect();
	const char *judge = connected ? judge_of_memory() : NULL;
	if (judge) {
		collect_note(2, "%s of process %u are not recorded: %s",
			     collect_control->traces & REC_TRACE_OSRT ? "OS calls"
								      : "waits for Python's GIL",
			     sys_pid(), judge);
		connected = false;
	}
	if (connected) {
		sys_advise(os_state, sizeof *os_state, MADV_WIPEONFORK);
		atomic_store(&os_state->pid, sys_pid());
		pthread_atfork(NULL, NULL, osrt_wipe_in_child);
		atexit(osrt_put_unfinished);
		at_quick_exit(osrt_put_unfinished);
		stack_threshold = collect_control->os_stack_threshold;
		os_threshold = collect_control->os_threshold;
	} else {
		collect_control = NULL;
	}
	errno = saved;
}
