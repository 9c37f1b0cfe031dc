/* osrt.c - the calls of a process: finding the real ones, keeping records, threads and forks.
 *
 * Before the constructor, and where the collect library is not there or records nothing, every stand-in only
 * passes on. At the end of the process the calls that threads are still in are told of as unfinished, and at
 * the end of a thread the one that it ended in.
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
static _Atomic uint32_t generation = 1; /* ids of texts are of one */
static pthread_key_t key;
static bool key_made;

_Thread_local struct os_slot *os_own;
_Thread_local uint8_t os_vforked;
/* The frame of os_keep that this thread is in; 0: none. */
static _Thread_local uintptr_t inside;

/* Threads that are ending, or too many: nobody looks at what they write here. */
static struct os_slot nobody = {.tid = UINT32_MAX};

/* ---- the real functions ------------------------------------------------------------------------- */

static const void *object_with(void *address)
{
	Dl_info about;
	return address && dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* Whoever comes next: libc, or another that stands in for it (a sanitizer, say), which has no versions. Where
 * there is nobody, nobody can have called it. */
void os_resolve(struct os_call *call)
{
	void *found = dlsym(RTLD_NEXT, call->symbol);
	void *meant = call->version ? dlvsym(RTLD_NEXT, call->symbol, call->version) : NULL;
	*call->real = meant && object_with(meant) == object_with(found) ? meant : found;
}

/* ---- threads ------------------------------------------------------------------------------------ */

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
	/* Ours is one of a process's first keys: glibc has their room ready and allocates nothing. */
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
	if (atomic_load_explicit(&slot->tid, memory_order_relaxed) == 0)
		return; /* a forked child's, that never used it */
	int64_t since = atomic_load_explicit(&slot->since, memory_order_relaxed), now = os_now();
	uint64_t object = atomic_load_explicit(&slot->waits, memory_order_relaxed);
	if (since && now - since >= os_threshold && os_is_on())
		os_keep(atomic_load_explicit(&slot->call, memory_order_relaxed), since, now, object,
			REC_OS_UNFINISHED);
	if (object) /* cancelled in it */
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
		collect_publish();
	}
	errno = saved;
}

/* ---- records ------------------------------------------------------------------------------------ */

static uint32_t text_of(struct os_call *call)
{
	uint64_t of = atomic_load_explicit(&generation, memory_order_relaxed);
	uint64_t known = atomic_load_explicit(&call->text, memory_order_relaxed);
	if (known >> 32 == of && (uint32_t)known)
		return (uint32_t)known;
	uint32_t text = collect_string_z(call->name);
	atomic_store_explicit(&call->text, of << 32 | text, memory_order_relaxed);
	return text;
}

/* tid: whose call it is if not the calling thread's, else 0. */
static void osrt_put(struct os_call *call, int64_t start, int64_t end, uint64_t object,
		     uint8_t flags, uint32_t tid)
{
	uint32_t text = text_of(call);
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
	collect_publish();
}

/* A child of fork: texts must be defined anew, and before the first the collect library must know too, which
 * it finds out at a record. */
static void after_fork(void)
{
	atomic_fetch_add(&generation, 1);
	if (collect_reserve(REC_NONE, 1))
		collect_publish();
	atomic_store(&os_state->pid, sys_pid());
}

static bool is_forked(void)
{
	return atomic_load_explicit(&os_state->pid, memory_order_relaxed) == 0;
}

/* A signal handler's own stack may be too small for taking one. */
static bool is_on_signal_stack(void)
{
	stack_t alternate = {.ss_flags = 0};
	return syscall(SYS_sigaltstack, NULL, &alternate) == 0 && (alternate.ss_flags & SS_ONSTACK);
}

static void osrt_take_stack(const struct os_call *call, int64_t start)
{
	if (call->is_idle)
		sibling_scan_modules();
	collect_stack(REC_WHY_OS, start, 0);
}

void os_keep(struct os_call *call, int64_t start, int64_t end, uint64_t object, uint8_t flags)
{
	/* A frame above the one that was noted: that one was left by longjmp. */
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	if ((inside && frame < inside) || sibling_is_inside() || sibling_has(object) || !os_is_on())
		return;
	int saved = errno;
	if (OS_UNLIKELY(inside != 0) && !is_on_signal_stack())
		sibling_abandon();
	inside = frame;
	atomic_signal_fence(memory_order_seq_cst);
	if (OS_UNLIKELY(is_forked()))
		after_fork();
	if (stack_threshold >= 0 && end - start >= stack_threshold &&
	    !(flags & REC_OS_UNFINISHED) && !is_on_signal_stack())
		osrt_take_stack(call, start);
	osrt_put(call, start, end, object, flags, 0);
	atomic_signal_fence(memory_order_seq_cst);
	inside = 0;
	errno = saved;
}

/* ---- the end ------------------------------------------------------------------------------------ */

/* Threads may still run: what is read of them is as good as any moment's. */
static void tell_unfinished(void)
{
	if (!os_is_on() || inside)
		return;
	/* Not twice, not by a forked child that recorded nothing, not by a child in our memory. */
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
	tell_unfinished();
	for (;;)
		OS_REAL(_exit)(status);
}

OS_CALL(_Exit, void, (int));
OS_EXPORT void _Exit(int status)
{
	tell_unfinished();
	for (;;)
		OS_REAL(_Exit)(status);
}

/* ---- the beginning ------------------------------------------------------------------------------ */

/* Sanitizers judge every access to memory that threads share, and do not know ours. */
static bool has_sanitizer(void)
{
	static const char *const runtimes[] = {"__tsan_init", "__asan_init", "__msan_init",
					       "__hwasan_init"};
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
		if (dlsym(RTLD_DEFAULT, runtimes[i]))
			return true;
	return false;
}

/* Modules are looked at under a lock of the loader's under which it also frees memory: an allocator that calls us
 * while it holds its own lock (tcmalloc at mmap) must not wait for that one. So only these calls do, which are not
 * an allocator's and yet made by most programs now and then. */
static bool is_idle(const char *name)
{
	static const char *const idle[] = {
		"accept",      "accept4",       "connect",       "epoll_wait",
		"epoll_pwait", "fread",         "getaddrinfo",   "poll",
		"ppoll",       "pselect",       "pthread_join",  "pthread_cond_timedwait",
		"read",        "recv",          "recvfrom",      "pthread_cond_clockwait",
		"recvmsg",     "select",        "sem_wait",      "pthread_cond_wait",
		"pause",       "sem_clockwait", "sem_timedwait", "pthread_barrier_wait",
		"sleep",       "wait4",         "waitpid",       "system"};
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (strcmp(name, idle[i]) == 0)
			return true;
	return false;
}

static void wipe(void)
{
	if (!is_forked())
		memset(os_state, 0, sizeof *os_state);
}

static __attribute__((constructor)) void os_init(void)
{
	int saved = errno;
	for (struct os_call *call = __start_os_calls; call < __stop_os_calls; call++) {
		call->is_idle = is_idle(call->name);
		if (!*call->real)
			os_resolve(call);
	}
	os_state = sys_memory(sizeof *os_state);
	key_made = pthread_key_create(&key, thread_ends) == 0;
	bool connected = os_state && sibling_connect();
	if (connected && has_sanitizer()) {
		collect_note(2,
			     "OS calls of process %u are not recorded: it is built with a "
			     "sanitizer",
			     sys_pid());
		connected = false;
	}
	if (connected) {
		sys_advise(os_state, sizeof *os_state, MADV_WIPEONFORK);
		atomic_store(&os_state->pid, sys_pid());
		pthread_atfork(NULL, NULL, wipe);
		atexit(tell_unfinished);
		at_quick_exit(tell_unfinished);
		stack_threshold = collect_control->os_stack_threshold;
		os_threshold = collect_control->os_threshold;
	} else {
		collect_control = NULL;
	}
	errno = saved;
}
