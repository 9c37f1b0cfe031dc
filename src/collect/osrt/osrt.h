/* osrt.h - what the stand-ins for calls into the operating system share.
 *
 * A stand-in does what it stands for and nothing else, but notes when it began and ended. A call shorter than
 * the threshold leaves no trace, unless it wakes others; then it is kept with the id of the object through which
 * it does, so that a wait can be joined to its waker.
 *
 * The way that every call goes is short: is anything recorded, the clock, two stores, the call, the clock, one
 * comparison. Nothing on it allocates, takes a lock or makes a system call; all of it may happen in a signal
 * handler, inside malloc, before constructors and in a vfork child (which is left alone). A thread may be
 * cancelled inside a call, or leave it by longjmp: there is nothing to undo, but for a waiter's mark, which its
 * thread's end takes away.
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
	const char *name;    /* as it is recorded */
	const char *symbol;  /* as the loader knows it */
	const char *version; /* of the symbol where there are several; NULL: the default one */
	void **real;  /* what it stands in for; NULL there: not looked for yet, or not there */
	bool is_idle; /* no allocator makes it while it holds a lock of its own (osrt.c) */
	_Atomic uint64_t text; /* generation << 32 | string id */
};
void os_resolve(struct os_call *call);

/* The typed pointer to the real function, and the call's entry in the list that the linker puts together. */
#define OS_CALL_AS(id, recorded, type, parameters, of_version)                                     \
	static type(*real_##id) parameters;                                                        \
	static struct os_call call_##id __attribute__((section("os_calls"), used, aligned(8))) = { \
		.name = recorded,                                                                  \
		.symbol = #id,                                                                     \
		.version = of_version,                                                             \
		.real = (void **)&real_##id,                                                       \
	}
#define OS_CALL(id, type, parameters) OS_CALL_AS(id, #id, type, parameters, NULL)
#define OS_REAL(id) (OS_UNLIKELY(!real_##id) ? (os_resolve(&call_##id), real_##id) : real_##id)

/* A stand-in that has nothing special about it. 'object' is looked at only when the call is kept. */
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

struct os_slot { /* what a thread is doing; written by it alone, read by whoever ends the process */
	_Atomic int64_t since;        /* 0: not in a call */
	struct os_call *_Atomic call; /* the one it is, or was last, in */
	_Atomic uint64_t waits;       /* for this object, counted in 'waiters'; 0: for none */
	_Atomic uint32_t tid;         /* 0: nobody's */
	uint32_t spare;
};

enum { OS_SLOTS = 4096, OS_WAITERS = 1024 };
struct os_state {             /* the kernel, or else our fork handler, wipes it in a forked child */
	_Atomic uint32_t pid; /* 0: just forked */
	_Atomic uint32_t slots_used;
	/* Threads that wait for an object, by its hash: two objects with one hash cost superfluous records. */
	_Atomic uint32_t waiters[OS_WAITERS];
	struct os_slot slots[OS_SLOTS];
};
extern struct os_state *os_state;
extern int64_t os_threshold;

extern _Thread_local struct os_slot *os_own;
extern _Thread_local uint8_t os_vforked; /* this is a vfork child, in its parent's memory */

struct os_slot *os_slot_make(void);

/* ---- a call ---- */

static inline bool os_is_on(void)
{
	struct rec_control *control = collect_control;
	return control && (control->traces & REC_TRACE_OSRT) &&
	       atomic_load_explicit((_Atomic uint32_t *)&control->recording,
				    memory_order_relaxed) &&
	       !atomic_load_explicit((_Atomic uint32_t *)&control->finished,
				     memory_order_relaxed) &&
	       !os_vforked && !*(const volatile bool *)sibling_is_sealed;
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

/* When the call begins; 0: it is not to be recorded. */
static inline int64_t os_begin(struct os_call *call)
{
	if (!os_is_on())
		return 0;
	struct os_slot *slot = os_slot();
	int64_t now = os_now();
	atomic_store_explicit(&slot->call, call, memory_order_relaxed);
	atomic_store_explicit(&slot->since, now, memory_order_relaxed);
	return now;
}

/* The call ended: whether it was long enough to be kept. */
static inline bool os_lasted(int64_t start, int64_t *end)
{
	*end = 0;
	if (!start)
		return false;
	*end = os_now();
	atomic_store_explicit(&os_own->since, 0, memory_order_relaxed);
	return *end - start >= os_threshold;
}

/* Records a call, and its stack where it is long; flags: REC_OS_…. Preserves errno. */
void os_keep(struct os_call *call, int64_t start, int64_t end, uint64_t object, uint8_t flags);
void os_thread_is_named(const char *name); /* the calling thread has a new name */

/* ---- who waits for what ---- */

static inline _Atomic uint32_t *os_waiters_of(uint64_t object)
{
	uint64_t mixed = object * UINT64_C(0x9e3779b97f4a7c15);
	return &os_state->waiters[mixed >> 54];
}
static_assert(OS_WAITERS == 1 << (64 - 54), "as many as there are hashes");

static inline int64_t os_begin_wait(struct os_call *call, uint64_t object)
{
	int64_t start = os_begin(call);
	if (start) {
		atomic_store_explicit(&os_own->waits, object, memory_order_relaxed);
		atomic_fetch_add_explicit(os_waiters_of(object), 1, memory_order_relaxed);
	}
	return start;
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

static inline bool os_is_waited_for(uint64_t object)
{
	return os_is_on() && atomic_load_explicit(os_waiters_of(object), memory_order_relaxed) != 0;
}

/* ---- objects ---- */

/* Ids say in their highest four bits what they are of. Without any: an address, of this process alone. */
enum os_kind {
	OS_ADDRESS,
	OS_PIPE,
	OS_SOCKET,
	OS_FILE,
	OS_ANONYMOUS, /* eventfd and the like: the descriptor, of this process alone */
	OS_PROCESS,
	OS_SEMAPHORE, /* one with a name */
};
static inline uint64_t os_object(enum os_kind kind, uint64_t number)
{
	return (uint64_t)kind << 60 | (number & (UINT64_MAX >> 4));
}
static inline uint64_t os_address(const volatile void *of)
{
	return (uint64_t)(uintptr_t)of;
}

/* What is behind a descriptor; 0: not known. All preserve errno. */
uint64_t os_fd(int fd);
bool os_fd_wakes(int fd);          /* whether writing to it can wake somebody */
uint64_t os_fd_known(int fd);      /* os_fd, as far as it is known already */
void os_fd_changes(int fd);        /* it is, or may be, another from now on */
void os_fd_pair(const int fds[2]); /* the two ends of a socketpair */

#endif
