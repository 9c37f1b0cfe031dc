/* SPDX-License-Identifier: Apache-2.0 */
/* wrapped.h - for a sibling that replaces functions of a library which programs bring with them,
 * in any release.
 *
 * No type of the library is known: every argument is a word of the machine, which is passed on
 * as it came, so only functions fit that take no floating-point number and no struct by value.
 *
 * A program may use several releases of the library at once, each in a module of its own. So the
 * function that is called is the one that the calling module is linked with; it is looked for
 * once for each place that calls. Calls through a pointer that dlsym gave to the program are not
 * seen.
 *
 * One file of a sibling includes this.
 */
#ifndef HWY_COLLECT_SIBLING_WRAPPED_H
#define HWY_COLLECT_SIBLING_WRAPPED_H

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "collect/share.h"

typedef uintptr_t word;
enum { WRAPPED_WORDS = 24, WRAPPED_PLACES = 32 };

struct wrapped {
	const char *name;
	/* The places that call it, and what they call. A place is taken by writing 'real', and
	 * used once 'from' is written. */
	struct {
		_Atomic(const void *) from;
		_Atomic(void *) real;
	} places[WRAPPED_PLACES];
};

/* The function of the library that this thread is in; NULL: none. */
static _Thread_local void *wrapped_inside;

/* In a section of its own, so that a return address tells whether this function is the caller. */
static __attribute__((noinline, section("wrapped_calls"))) int wrapped_call(void *real,
									    const word *w)
{
	/* Functions with fewer arguments do not look at the others. */
	int (*call)(word, word, word, word, word, word, word, word, word, word, word, word, word,
		    word, word, word, word, word, word, word, word, word, word, word) =
		(int (*)(word, word, word, word, word, word, word, word, word, word, word, word,
			 word, word, word, word, word, word, word, word, word, word, word,
			 word))real;
	return call(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
		    w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23]);
}
extern const char __start_wrapped_calls[], __stop_wrapped_calls[];

static inline int wrapped_forward(void *real, const word *w)
{
	void *outer = wrapped_inside;
	wrapped_inside = outer ? outer : real;
	int result = wrapped_call(real, w);
	wrapped_inside = outer;
	return result;
}

static inline const void *wrapped_object(const void *address)
{
	Dl_info about;
	return address && dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* The function in what the calling module is linked with; NULL: the module is the program, which
 * is linked with this library, too. */
static inline void *wrapped_beside(const void *caller, const char *name)
{
	Dl_info about;
	if (!dladdr(caller, &about) || !about.dli_fname)
		return NULL;
	void *module = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *found = module ? dlsym(module, name) : NULL;
	if (module)
		dlclose(module);
	return wrapped_object(found) == wrapped_object(&wrapped_call) ? NULL : found;
}

static __attribute__((noinline)) void *wrapped_resolve(struct wrapped *function, const void *caller)
{
	int saved = errno;
	void *found = wrapped_beside(caller, function->name);
	Dl_info about;
	if (!found)
		found = dlsym(RTLD_NEXT, function->name);
	/* The library stays loaded: its functions are called from here on. */
	if (found && dladdr(found, &about) && about.dli_fname)
		dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	dlerror(); /* the program must not find an error that is not its own */
	for (int i = 0; found && i < WRAPPED_PLACES; i++) {
		void *none = NULL;
		if (!atomic_compare_exchange_strong(&function->places[i].real, &none, found))
			continue;
		atomic_store_explicit(&function->places[i].from, caller, memory_order_release);
		break;
	}
	errno = saved;
	return found;
}

/* The function that a place calls; NULL: there is none. */
static inline void *wrapped_real(struct wrapped *function, const void *caller)
{
	/* A function of the library that ends with a call of another one jumps there: the other
	 * one then returns to wrapped_call, and is of the library that the thread is in. */
	if (wrapped_inside && (const char *)caller >= __start_wrapped_calls &&
	    (const char *)caller <= __stop_wrapped_calls)
		caller = wrapped_inside;
	for (int i = 0; i < WRAPPED_PLACES; i++) {
		const void *from =
			atomic_load_explicit(&function->places[i].from, memory_order_acquire);
		if (from == caller)
			return atomic_load_explicit(&function->places[i].real,
						    memory_order_relaxed);
		if (!from)
			break;
	}
	return wrapped_resolve(function, caller);
}

/* Parameters and arguments of a replacement, by their number. */
#define WRAPPED_EXPORT __attribute__((visibility("default")))
#define WRAPPED_P1 word a0
#define WRAPPED_P2 WRAPPED_P1, word a1
#define WRAPPED_P3 WRAPPED_P2, word a2
#define WRAPPED_P4 WRAPPED_P3, word a3
#define WRAPPED_P5 WRAPPED_P4, word a4
#define WRAPPED_P6 WRAPPED_P5, word a5
#define WRAPPED_P7 WRAPPED_P6, word a6
#define WRAPPED_P8 WRAPPED_P7, word a7
#define WRAPPED_P9 WRAPPED_P8, word a8
#define WRAPPED_P10 WRAPPED_P9, word a9
#define WRAPPED_P11 WRAPPED_P10, word a10
#define WRAPPED_P12 WRAPPED_P11, word a11
#define WRAPPED_P13 WRAPPED_P12, word a12
#define WRAPPED_P14 WRAPPED_P13, word a13
#define WRAPPED_P15 WRAPPED_P14, word a14
#define WRAPPED_P16 WRAPPED_P15, word a15
#define WRAPPED_P17 WRAPPED_P16, word a16
#define WRAPPED_P18 WRAPPED_P17, word a17
#define WRAPPED_P19 WRAPPED_P18, word a18
#define WRAPPED_P20 WRAPPED_P19, word a19
#define WRAPPED_P21 WRAPPED_P20, word a20
#define WRAPPED_P22 WRAPPED_P21, word a21
#define WRAPPED_P23 WRAPPED_P22, word a22
#define WRAPPED_P24 WRAPPED_P23, word a23
#define WRAPPED_A1 a0
#define WRAPPED_A2 WRAPPED_A1, a1
#define WRAPPED_A3 WRAPPED_A2, a2
#define WRAPPED_A4 WRAPPED_A3, a3
#define WRAPPED_A5 WRAPPED_A4, a4
#define WRAPPED_A6 WRAPPED_A5, a5
#define WRAPPED_A7 WRAPPED_A6, a6
#define WRAPPED_A8 WRAPPED_A7, a7
#define WRAPPED_A9 WRAPPED_A8, a8
#define WRAPPED_A10 WRAPPED_A9, a9
#define WRAPPED_A11 WRAPPED_A10, a10
#define WRAPPED_A12 WRAPPED_A11, a11
#define WRAPPED_A13 WRAPPED_A12, a12
#define WRAPPED_A14 WRAPPED_A13, a13
#define WRAPPED_A15 WRAPPED_A14, a14
#define WRAPPED_A16 WRAPPED_A15, a15
#define WRAPPED_A17 WRAPPED_A16, a16
#define WRAPPED_A18 WRAPPED_A17, a17
#define WRAPPED_A19 WRAPPED_A18, a18
#define WRAPPED_A20 WRAPPED_A19, a19
#define WRAPPED_A21 WRAPPED_A20, a20
#define WRAPPED_A22 WRAPPED_A21, a21
#define WRAPPED_A23 WRAPPED_A22, a22
#define WRAPPED_A24 WRAPPED_A23, a23

#endif
