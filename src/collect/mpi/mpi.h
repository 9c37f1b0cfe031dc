/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - what the replacements of MPI's functions share.
 *
 * One library serves Open MPI and MPICH (whose ABI Intel MPI and MVAPICH have too). It knows no
 * type of theirs: every argument is a word of the machine, which is passed on as it came. A
 * handle is a pointer in Open MPI and an int in MPICH; both travel in the same registers, or in
 * the same 8 bytes of the stack (x86-64, and AArch64 on Linux). An int in such a word may have
 * anything in its upper half, so mpi_handle cuts it.
 *
 * MPI_X and PMPI_X are both replaced, each by a function that calls the next one of its name: so
 * tools that replace MPI_X themselves still work, and Open MPI's Fortran bindings, which call
 * PMPI_X, are seen. A call inside another one (of a tool, or of the library) is passed on and
 * not recorded.
 *
 * A program may ask (by a weak symbol, by dlsym) whether a function exists, and finds ours. So a
 * function is replaced only if every library since MPI 3.1 has it, or if ours can do its work
 * without it: MPI_X_c of a library that has no such function calls MPI_X (mpi_narrow). Other
 * functions of MPI 4 are left alone, whatever they exchange.
 *
 * A handle is looked at only after the call that the program passed it to has succeeded: a wrong
 * one would have been refused.
 */
#ifndef HWY_COLLECT_MPI_MPI_H
#define HWY_COLLECT_MPI_MPI_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "collect/share.h"
#include "spool/record_mpi.h"

#define MPI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- calls ---- */

typedef uintptr_t mpi_word;
enum { MPI_MOST_WORDS = 13 };

struct mpi_call {
	const char *name; /* "MPI_Send" */
	/* The replaced functions, MPI_X and PMPI_X; NULL until they are found. */
	void *_Atomic real[2];
	/* Process generation (counted by forks) << 32 | text id of 'name' in that generation. */
	_Atomic uint64_t text;
	uint8_t words; /* how many arguments it takes */
	uint8_t op;    /* enum rec_mpi_op */
	uint8_t flags; /* MPI_… below */
	/* Which argument is the communicator, and which is the address of a new one; MPI_NONE:
	 * there is none. */
	uint8_t communicator_at, made_at;
	/* Of a function MPI_X_c: MPI_X, which arguments are counts (a bit each), and where
	 * (MPI_X_c 1, PMPI_X_c 2) the library lacks the function. */
	struct mpi_call *plain;
	uint16_t counts;
	_Atomic uint8_t absent;
};
enum { MPI_NONE = 255 };
enum {
	MPI_LARGE = 1,      /* counts have 64 bits (the functions MPI_X_c) */
	MPI_REQUEST = 2,    /* the last argument is the address of a request */
	MPI_PERSISTENT = 4, /* so it is, and the call only prepares the exchange */
};

/* A call that is being made. It lies on the stack of the thread that makes it. */
struct mpi_scope {
	struct mpi_call *call;
	int which;              /* 0: MPI_X, 1: PMPI_X */
	const void *caller;     /* where the program called the function */
	int64_t start, end;     /* ns; start 0: the call is not recorded */
	struct mpi_scope *self; /* tells a scope from what was left on the stack (mpi_begin) */
};

/* Passes a call on, and notes when it ended. */
int mpi_forward(struct mpi_scope *scope, const mpi_word *words);

/* Makes of a call of MPI_X_c one of MPI_X, where the library has no MPI_X_c. */
void mpi_narrow(struct mpi_scope *scope, mpi_word *words);

/* Begins a call; false: the call is inside another one, or nothing is to be known about it. */
bool mpi_begin(struct mpi_scope *scope);
void mpi_end(struct mpi_scope *scope);

/* Records a call: with two parts at most, or with requests. They preserve errno. */
void mpi_keep(const struct mpi_scope *scope, int result, uint32_t communicator,
	      const struct rec_mpi_part *parts, unsigned n);
void mpi_keep_done(const struct mpi_scope *scope, int result, uint32_t communicator, uint8_t flags,
		   const struct rec_mpi_done *done, unsigned n);

/* The replacements of one function: 'body' gets the call and its arguments. */
#define MPI_EXPORT __attribute__((visibility("default")))
#define MPI_P0 void
#define MPI_P1 mpi_word a0
#define MPI_P2 MPI_P1, mpi_word a1
#define MPI_P3 MPI_P2, mpi_word a2
#define MPI_P4 MPI_P3, mpi_word a3
#define MPI_P5 MPI_P4, mpi_word a4
#define MPI_P6 MPI_P5, mpi_word a5
#define MPI_P7 MPI_P6, mpi_word a6
#define MPI_P8 MPI_P7, mpi_word a7
#define MPI_P9 MPI_P8, mpi_word a8
#define MPI_P10 MPI_P9, mpi_word a9
#define MPI_P11 MPI_P10, mpi_word a10
#define MPI_P12 MPI_P11, mpi_word a11
#define MPI_P13 MPI_P12, mpi_word a12
#define MPI_A0 0
#define MPI_A1 a0
#define MPI_A2 MPI_A1, a1
#define MPI_A3 MPI_A2, a2
#define MPI_A4 MPI_A3, a3
#define MPI_A5 MPI_A4, a4
#define MPI_A6 MPI_A5, a5
#define MPI_A7 MPI_A6, a6
#define MPI_A8 MPI_A7, a7
#define MPI_A9 MPI_A8, a8
#define MPI_A10 MPI_A9, a9
#define MPI_A11 MPI_A10, a10
#define MPI_A12 MPI_A11, a11
#define MPI_A13 MPI_A12, a12

#define MPI_WRAP_AS(function, position, id, n, prepare, body)                                      \
	MPI_EXPORT int function(MPI_P##n);                                                         \
	MPI_EXPORT int function(MPI_P##n)                                                          \
	{                                                                                          \
		mpi_word words[(n) <= 6 ? 6 : MPI_MOST_WORDS] = {MPI_A##n};                        \
		struct mpi_scope scope = {.call = &call_##id,                                      \
					  .which = position,                                       \
					  .caller = __builtin_return_address(0)};                  \
		prepare(&scope, words);                                                            \
		return body(&scope, words);                                                        \
	}
#define MPI_AS_IT_IS(scope, words) ((void)0)
#define MPI_WRAP(id, n, body, ...)                                                                 \
	static struct mpi_call call_##id = {.name = "MPI_" #id, .words = n, __VA_ARGS__};          \
	MPI_WRAP_AS(MPI_##id, 0, id, n, MPI_AS_IT_IS, body)                                        \
	MPI_WRAP_AS(PMPI_##id, 1, id, n, MPI_AS_IT_IS, body)
/* MPI_X, and MPI_X_c with counts of 64 bits; 'which': the arguments that are counts, a bit each.
 * Where counts come in an array there is no way from MPI_X_c to MPI_X: an operation that goes on
 * after the call needs the array until it ends. */
#define MPI_WRAP_BOTH(id, n, body, flag, which, ...)                                               \
	MPI_WRAP(id, n, body, .flags = flag, __VA_ARGS__)                                          \
	static struct mpi_call call_##id##_c = {.name = "MPI_" #id "_c",                           \
						.words = n,                                        \
						.flags = (flag) | MPI_LARGE,                       \
						.plain = &call_##id,                               \
						.counts = which,                                   \
						__VA_ARGS__};                                      \
	MPI_WRAP_AS(MPI_##id##_c, 0, id##_c, n, mpi_narrow, body)                                  \
	MPI_WRAP_AS(PMPI_##id##_c, 1, id##_c, n, mpi_narrow, body)
#define MPI_COUNT_AT(i) (1 << (i))

/* ---- mpi_library.c: the library that the program uses ---- */

/* What differs between libraries. */
struct mpi_library {
	bool is_known;        /* false: only names and times of calls are recorded */
	bool is_met;          /* the fields are filled in */
	uint8_t handle_bytes; /* 4 (MPICH) or 8 */
	/* Offsets of int fields in a status. */
	uint8_t status_bytes, source_at, tag_at;
	int32_t proc_null, any_source, root;
	int32_t combiner_named;
	int32_t topology_graph, topology_cart, topology_dist_graph;
	mpi_word status_ignore, in_place;
	mpi_word world, self, comm_null, request_null, message_no_proc; /* handles */
	const void *at; /* an address in the library */
	mpi_word op_no_op, byte;
	int (*type_size)(mpi_word, int *);
	int (*type_name)(mpi_word, char *, int *);
	int (*type_envelope)(mpi_word, int *, int *, int *, int *);
};
/* Filled in by mpi_library_meet; read only afterwards. */
extern struct mpi_library mpi_library;

/* Looks at the library that has the address 'in', once. */
void mpi_library_meet(const void *in);
/* The function of this name behind ours, as 'caller' would find it; NULL: there is none. */
void *mpi_library_function(const char *name, const void *caller);
/* A function of the library that was met; NULL: there is none. */
void *mpi_library_helper(const char *name);

static inline mpi_word mpi_handle(mpi_word word)
{
	return mpi_library.handle_bytes == 4 ? (uint32_t)word : word;
}
/* Handle number i of an array of handles. */
static inline mpi_word mpi_handle_at(mpi_word array, size_t i)
{
	return mpi_library.handle_bytes == 4 ? ((const uint32_t *)array)[i]
					     : ((const uintptr_t *)array)[i];
}
/* Number i of an array of counts. */
static inline int64_t mpi_count_at(mpi_word array, size_t i)
{
	return ((const int *)array)[i];
}
static inline int64_t mpi_count(const struct mpi_call *call, mpi_word word)
{
	return call->flags & MPI_LARGE ? (int64_t)word : (int32_t)word;
}

struct mpi_type {
	uint64_t bytes; /* of one element; REC_MPI_UNKNOWN: not known */
	uint32_t name;  /* string id; 0: it has none */
};
struct mpi_type mpi_type_of(mpi_word handle);
/* Bytes of so many elements. */
static inline uint64_t mpi_bytes(const struct mpi_type *type, uint64_t count)
{
	return type->bytes == REC_MPI_UNKNOWN ? REC_MPI_UNKNOWN : type->bytes * count;
}

/* What a status says. */
uint64_t mpi_status_bytes(const void *status);
bool mpi_status_is_cancelled(const void *status);
static inline int32_t mpi_status_source(const void *status)
{
	return *(const int32_t *)((const char *)status + mpi_library.source_at);
}
static inline int32_t mpi_status_tag(const void *status)
{
	return *(const int32_t *)((const char *)status + mpi_library.tag_at);
}

/* ---- mpi_communicators.c ---- */

struct mpi_communicator {
	_Atomic mpi_word handle; /* 0: the place is free */
	uint64_t identity;
	uint32_t number; /* by which records name it */
	int32_t rank;
	int32_t size, remote_size;    /* remote_size 0: no intercommunicator */
	_Atomic uint32_t collectives; /* how many were begun */
	_Atomic bool has_neighbors;   /* the three fields below are known */
	int32_t sources, destinations;
	uint64_t absent; /* neighbours of a Cartesian grid that do not exist, a bit each */
};
/* The communicator of a handle, which was valid a moment ago; NULL: too many, or no room. */
struct mpi_communicator *mpi_communicator_of(mpi_word handle);
static inline uint32_t mpi_communicator_number(mpi_word handle)
{
	const struct mpi_communicator *found =
		mpi_library.is_known ? mpi_communicator_of(handle) : NULL;
	return found ? found->number : 0;
}
/* A communicator was made from another one (NULL: from none that is known). */
void mpi_communicator_made(mpi_word handle, const struct mpi_communicator *parent);
/* A communicator is about to be freed; yields its number, 0: it has none. */
uint32_t mpi_communicator_gone(mpi_word handle);
void mpi_communicator_named(mpi_word handle, const char *name);
/* Fills in what is known about the neighbours of a topology. */
void mpi_communicator_neighbors(struct mpi_communicator *communicator);
void mpi_communicators_end(void); /* before MPI_Finalize: gives back what is held */
void mpi_communicators_after_fork(void);

/* ---- mpi_clocks.c ---- */

/* Where every rank is recorded, ranks compare their clocks: after MPI_Init and before
 * MPI_Finalize. */
void mpi_clocks_begin(void);
void mpi_clocks_end(void);

/* ---- for the bodies ---- */

extern _Atomic bool mpi_is_paused; /* the program switched recording off (MPI_Pcontrol) */
/* Whether calls are recorded now. */
static inline bool mpi_is_on(void)
{
	struct rec_control *control = collect_control;
	return control &&
	       atomic_load_explicit((_Atomic uint32_t *)&control->recording,
				    memory_order_relaxed) &&
	       !atomic_load_explicit((_Atomic uint32_t *)&control->finished,
				     memory_order_relaxed) &&
	       !atomic_load_explicit(&mpi_is_paused, memory_order_relaxed) &&
	       !*(const volatile bool *)sibling_is_sealed;
}
/* How often this process was forked. Text ids of another generation are void. */
extern _Atomic uint32_t mpi_generation;

int mpi_plain(struct mpi_scope *scope, mpi_word *words);           /* only name and time */
int mpi_on_communicator(struct mpi_scope *scope, mpi_word *words); /* the communicator too */

/* The request that a call has left at its last argument. */
static inline uint64_t mpi_request_made(const struct mpi_call *call, const mpi_word *words)
{
	return mpi_handle_at(words[call->words - 1], 0);
}
/* Adds to a part the request of a call that has one. */
static inline void mpi_part_request(struct rec_mpi_part *part, const struct mpi_call *call,
				    const mpi_word *words)
{
	if (call->flags & (MPI_REQUEST | MPI_PERSISTENT)) {
		part->request = mpi_request_made(call, words);
		part->flags = call->flags & MPI_PERSISTENT ? REC_MPI_PERSISTENT : REC_MPI_REQUESTED;
	}
}

enum { MPI_MOST_STATUS = 64 }; /* more bytes than a status has */
/* Where a status is to be ignored, gives the call one to fill all the same. Yields the status. */
static inline const void *mpi_status_at(mpi_word *word, void *own)
{
	if (*word == mpi_library.status_ignore)
		*word = (mpi_word)own;
	return (const void *)*word;
}

#endif
