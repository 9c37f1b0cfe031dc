/* SPDX-License-Identifier: Apache-2.0 */
/* osrt.h - what the replacements of calls into the operating system share.
 *
 * A replacement does what the replaced function does and nothing else, but notes when the call
 * began and ended. A call shorter than the threshold leaves no record, unless it wakes others; then
 * it is recorded with the id of the object through which it wakes them, so that a wait can be
 * joined to its waker.
 *
 * What every call has to pay is little: a test whether anything is recorded, the clock, two stores,
 * the call, the clock, one comparison. Nothing of that allocates, takes a lock or makes a system
 * call; all of it may happen in a signal handler, inside malloc, before constructors and in a vfork
 * child (which is left alone). A thread may be cancelled inside a call, or leave it by longjmp:
 * there is nothing to undo then, except for the mark of a waiter, which the end of its thread
 * removes.
 */
#ifndef HWY_COLLECT_OSRT_OSRT_H
#define HWY_COLLECT_OSRT_OSRT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "collect/share.h"

#define OS_EXPORT __attribute__((visibility("default")))
#define OS_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- calls ---- */

struct os_call {
	const char *name;   /* the name under which the call is recorded */
	const char *symbol; /* the name of the function's symbol */
	/* The version of the symbol, where libc has several; NULL: the default version. */
	const char *version;
	/* real: points to the pointer to the replaced function, which is NULL until the function
	 * is found. */
	void **real;
	/* Process generation (counted by forks) << 32 | text id of 'name' in that generation. */
	_Atomic uint64_t text;
};
void os_resolve(struct os_call *call);

/* Declares the typed pointer real_ID to the replaced function, and the call's entry call_ID in the
 * array of all calls, which the linker puts together from the section os_calls. */
#define OS_CALL_AS(id, recorded, type, parameters, symbol_version)                                 \
	static type(*real_##id) parameters;                                                        \
	static struct os_call call_##id __attribute__((section("os_calls"), used, aligned(8))) = { \
		.name = recorded,                                                                  \
		.symbol = #id,                                                                     \
		.version = symbol_version,                                                         \
		.real = (void **)&real_##id,                                                       \
	}
#define OS_CALL(id, type, parameters) OS_CALL_AS(id, #id, type, parameters, NULL)
#define OS_REAL(id) (OS_UNLIKELY(!real_##id) ? (os_resolve(&call_##id), real_##id) : real_##id)

/* Defines a replacement that has nothing special about it. 'object' is evaluated only when the call
 * is recorded. */
#define OS_WRAP_AS(id, recorded, type, parameters, arguments, object)                              \
	OS_CALL_AS(id, recorded, type, parameters, NULL);                                          \
	OS_EXPORT type id parameters                                                               \
	{                                                                                          \
		int64_t start = os_begin(&call_##id), end;                                         \
		type result = OS_REAL(id) arguments;                                               \
		if (os_lasted(start, &end))                                                        \
			os_keep(&call_##id, start, end, object, 0);                                \
		return result;                                                                     \
	}
#define OS_WRAP(id, type, parameters, arguments, object)                                           \
	OS_WRAP_AS(id, #id, type, parameters, arguments, object)

/* ---- threads ---- */

/* What a thread is doing. Only the thread itself writes it; a thread that ends the process reads
 * it. */
struct os_slot {
	/* since: time in ns when the present call began; 0: the thread is in no call. */
	_Atomic int64_t since;
	struct os_call *_Atomic call; /* the call that the thread is in, or was in last */
	/* The object that the thread waits for, counted in 'waiters'; 0: none. */
	_Atomic uint64_t waits;
	_Atomic uint32_t tid; /* the thread's id; 0: the slot is free */
	uint32_t spare;
};

enum { OS_SLOTS = 4096, OS_WAITERS = 1024 };
/* The state of a process. The kernel, or else the fork handler, wipes it in a forked child. */
struct os_state {
	/* pid: pid of the process; 0: this is a forked child that has recorded nothing yet. */
	_Atomic uint32_t pid;
	_Atomic uint32_t slots_used; /* slots from this index on were never used */
	/* waiters: how many threads wait for an object, by the object's hash: two objects with
	 * one hash cost superfluous records. */
	_Atomic uint32_t waiters[OS_WAITERS];
	struct os_slot slots[OS_SLOTS];
};
extern struct os_state *os_state;
extern int64_t os_threshold; /* ns; OS calls shorter than this are not recorded */

/* The calling thread's slot; NULL: the thread has taken no slot yet. */
extern _Thread_local struct os_slot *os_own;
/* Not 0 in a vfork child, which runs in its parent's memory. */
extern _Thread_local uint8_t os_vforked;

struct os_slot *os_slot_make(void);

/* ---- a call ---- */

/* True while one of the sources 'traces' is to be recorded. */
static inline bool os_is_traced(uint32_t traces)
{
	struct rec_control *control = collect_control;
	return control && (control->traces & traces) &&
	       atomic_load_explicit((_Atomic uint32_t *)&control->recording,
				    memory_order_relaxed) &&
	       !atomic_load_explicit((_Atomic uint32_t *)&control->finished,
				     memory_order_relaxed) &&
	       !os_vforked && !*(const volatile bool *)sibling_is_sealed;
}

static inline bool os_is_on(void)
{
	return os_is_traced(REC_TRACE_OSRT);
}

static inline int64_t os_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct os_slot *os_slot(void)
{
	struct os_slot *slot = os_own;
	if (OS_UNLIKELY(!slot || !atomic_load_explicit(&slot->tid, memory_order_relaxed)))
		slot = os_slot_make();
	return slot;
}

/* Notes that the thread is in a call of the sources 'traces'. Yields the time in ns; 0: the call
 * is not to be recorded. */
static inline int64_t os_begin_of(struct os_call *call, uint32_t traces)
{
	if (!os_is_traced(traces))
		return 0;
	struct os_slot *slot = os_slot();
	int64_t now = os_now();
	atomic_store_explicit(&slot->call, call, memory_order_relaxed);
	atomic_store_explicit(&slot->since, now, memory_order_relaxed);
	return now;
}

static inline int64_t os_begin(struct os_call *call)
{
	return os_begin_of(call, REC_TRACE_OSRT);
}

/* Notes that the thread's call has ended; true if the call was long enough to be recorded. */
static inline bool os_lasted(int64_t start, int64_t *end)
{
	*end = 0;
	if (!start)
		return false;
	*end = os_now();
	atomic_store_explicit(&os_own->since, 0, memory_order_relaxed);
	return *end - start >= os_threshold;
}

/* Records a call, and its stack where the call is long. flags: REC_OS_... Preserves errno. */
void os_keep(struct os_call *call, int64_t start, int64_t end, uint64_t object, uint8_t flags);
void os_thread_is_named(const char *name); /* records that the calling thread has a new name */

/* ---- who waits for what ---- */

static inline _Atomic uint32_t *os_waiters_of(uint64_t object)
{
	uint64_t mixed = object * UINT64_C(0x9e3779b97f4a7c15);
	return &os_state->waiters[mixed >> 54];
}
static_assert(OS_WAITERS == 1 << (64 - 54), "as many as there are hashes");

static inline int64_t os_begin_wait_of(struct os_call *call, uint64_t object, uint32_t traces)
{
	int64_t start = os_begin_of(call, traces);
	if (start) {
		atomic_store_explicit(&os_own->waits, object, memory_order_relaxed);
		atomic_fetch_add_explicit(os_waiters_of(object), 1, memory_order_relaxed);
	}
	return start;
}

static inline int64_t os_begin_wait(struct os_call *call, uint64_t object)
{
	return os_begin_wait_of(call, object, REC_TRACE_OSRT);
}

static inline bool os_waited(int64_t start, int64_t *end, uint64_t object)
{
	bool kept = os_lasted(start, end);
	if (!start)
		return false;
	atomic_store_explicit(&os_own->waits, 0, memory_order_relaxed);
	atomic_fetch_sub_explicit(os_waiters_of(object), 1, memory_order_relaxed);
	return kept;
}

static inline bool os_is_waited_for(uint64_t object, uint32_t traces)
{
	return os_is_traced(traces) &&
	       atomic_load_explicit(os_waiters_of(object), memory_order_relaxed) != 0;
}

/* ---- Python's lock ---- */

/* Whether a condition belongs to the lock that all threads of a Python interpreter share (GIL):
 * it lies in the interpreter's runtime, which has no other conditions (CPython 3.10 to 3.14). */
static inline bool os_is_gil(uint64_t condition)
{
	const _Atomic uint64_t *runtime = sibling_python_runtime;
	return runtime && condition < atomic_load_explicit(&runtime[1], memory_order_acquire) &&
	       condition >= atomic_load_explicit(&runtime[0], memory_order_relaxed);
}
/* The sources that a wait for a condition, or a call that ends such waits, belongs to. */
static inline uint32_t os_condition_traces(uint64_t condition)
{
	return os_is_gil(condition) ? REC_TRACE_OSRT | REC_TRACE_PYTHON : REC_TRACE_OSRT;
}

/* ---- objects ---- */

/* The kinds of objects, in the highest four bits of an object's id. Two processes share an id,
 * except for addresses and anonymous descriptors, which mean something in one process only. */
enum os_kind {
	OS_ADDRESS,
	OS_PIPE,
	OS_SOCKET,
	OS_FILE,
	OS_ANONYMOUS, /* an eventfd or the like: the object's number is the descriptor */
	OS_PROCESS,
	OS_SEMAPHORE, /* a semaphore that has a name */
};
static inline uint64_t os_object(enum os_kind kind, uint64_t number)
{
	return (uint64_t)kind << 60 | (number & (UINT64_MAX >> 4));
}
static inline uint64_t os_address(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/* Yields the id of the object behind a descriptor; 0: unknown. All os_fd functions preserve
 * errno. */
uint64_t os_fd(int fd);
bool os_fd_wakes(int fd); /* true if writing to the descriptor can wake a reader */
/* Yields the object's id as os_fd does, but makes no system call: 0 if the descriptor was not
 * looked at before. */
uint64_t os_fd_cached(int fd);
/* Forgets a descriptor's object, because the descriptor means, or may mean, another object from
 * now on. */
void os_fd_changes(int fd);
void os_fd_pair(const int fds[2]); /* gives the two ends of a socketpair one id */

#endif
