/* SPDX-License-Identifier: Apache-2.0 */
/* cufft.c - records the calls of cuFFT, which does not tell of them itself, with the size of their transforms.
 *
 * Every function of the library is replaced by one that notes the time and calls it. No type of cuFFT is known here: every
 * argument is a word of the machine (cuFFT has no function that takes a floating-point number), which is passed on as it
 * came. A plan's size is kept when the plan is made, and goes with the calls that execute it.
 *
 * A program may use several releases of the library at once, each in a module of its own. So the function that is called is the
 * one that the calling module is linked with; it is looked for once for each place that calls. Calls through a pointer that dlsym
 * gave to the program are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "collect/lock.h"
#include "collect/share.h"

#define EXPORT __attribute__((visibility("default")))

typedef uintptr_t word;
enum { MOST_WORDS = 14, MOST_PLACES = 64, MOST_PLANS = 512, MOST_TEXT = 120 };
enum { INTERNAL_ERROR = 5 }; /* what cuFFT returns where it cannot go on */

/* What the arguments of a function tell. Argument 0 is the plan, or the address of a new one (READS_MADE). */
enum reads {
	READS_NOTHING,
	READS_PLAN,      /* executes a plan */
	READS_DIRECTION, /* executes a plan, in the direction that the last argument tells */
	/* make a plan, of: */
	READS_1D,      /* nx, type, batch */
	READS_2D,      /* nx, ny, type */
	READS_3D,      /* nx, ny, nz, type */
	READS_MANY,    /* rank, n[], …, type (argument 9), batch (10) */
	READS_MANY64,  /* the same, with n[] and batch of 64 bits */
	READS_XT_MANY, /* rank, n[] of 64 bits, …, batch (11) */
	READS_DESTROY,
	READS_MADE = 16, /* a bit that is added */
};

struct function {
	const char *name;
	uint8_t words, reads;
	/* The places that call it, and what they call. A place is taken by writing 'real', and used once 'from' is written. */
	struct {
		_Atomic(const void *) from;
		_Atomic(void *) real;
	} places[MOST_PLACES];
};

/* The function of the library that this thread is in; NULL: none. */
static _Thread_local void *inside;

/* In a section of its own, so that a return address tells whether this function is the caller. */
static __attribute__((noinline, section("cufft_calls"))) int call_real(void *real, const word *w)
{
	/* Functions with fewer arguments do not look at the others. */
	int (*call)(word, word, word, word, word, word, word, word, word, word, word, word, word,
		    word) = (int (*)(word, word, word, word, word, word, word, word, word, word,
				     word, word, word, word))real;
	return call(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
		    w[13]);
}

extern const char __start_cufft_calls[], __stop_cufft_calls[];

/* ---- the real functions ------------------------------------------------------------------------- */

static const void *object_at(const void *address)
{
	Dl_info about;
	return address && dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* The function in what the calling module is linked with; NULL: the module is the program, which is linked with this library,
 * too. */
static void *find_beside(const void *caller, const char *name)
{
	Dl_info about;
	if (!dladdr(caller, &about) || !about.dli_fname)
		return NULL;
	void *module = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *found = module ? dlsym(module, name) : NULL;
	if (module)
		dlclose(module);
	return object_at(found) == object_at(&object_at) ? NULL : found;
}

static __attribute__((noinline)) void *cufft_resolve(struct function *function, const void *caller)
{
	int saved = errno;
	void *found = find_beside(caller, function->name);
	Dl_info about;
	if (!found)
		found = dlsym(RTLD_NEXT, function->name);
	/* The library stays loaded: its functions are called from here on. */
	if (found && dladdr(found, &about) && about.dli_fname)
		dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	dlerror(); /* the program must not find an error that is not its own */
	for (int i = 0; found && i < MOST_PLACES; i++) {
		void *none = NULL;
		if (!atomic_compare_exchange_strong(&function->places[i].real, &none, found))
			continue;
		atomic_store_explicit(&function->places[i].from, caller, memory_order_release);
		break;
	}
	errno = saved;
	return found;
}

static void *cufft_real(struct function *function, const void *caller)
{
	for (int i = 0; i < MOST_PLACES; i++) {
		const void *from =
			atomic_load_explicit(&function->places[i].from, memory_order_acquire);
		if (from == caller)
			return atomic_load_explicit(&function->places[i].real,
						    memory_order_relaxed);
		if (!from)
			break;
	}
	return cufft_resolve(function, caller);
}

/* ---- plans -------------------------------------------------------------------------------------- */

/* The sizes of plans as JSON, without its last brace; guarded by the lock. A plan takes the place of another one that has
 * the same remainder. */
static struct {
	int32_t plan; /* 0: free */
	char text[MOST_TEXT];
} plans[MOST_PLANS];
static struct lock lock;

static void plan_keep(int32_t plan, const char *text)
{
	uint32_t at = (uint32_t)plan % MOST_PLANS;
	if (!lock_take(&lock))
		return;
	plans[at].plan = text ? plan : 0;
	if (text)
		strcpy(plans[at].text, text);
	lock_give(&lock);
}

static bool plan_find(int32_t plan, char text[MOST_TEXT])
{
	uint32_t at = (uint32_t)plan % MOST_PLANS;
	bool is_known = false;
	if (!lock_take(&lock))
		return false;
	if (plans[at].plan == plan && plan) {
		strcpy(text, plans[at].text);
		is_known = true;
	}
	lock_give(&lock);
	return is_known;
}

static const char *type_name(word type)
{
	static const struct {
		int number;
		const char *name;
	} types[] = {{0x2a, "R2C"}, {0x2c, "C2R"}, {0x29, "C2C"},
		     {0x6a, "D2Z"}, {0x6c, "Z2D"}, {0x69, "Z2Z"}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].number == (int)type)
			return types[i].name;
	return "?";
}

/* The sizes of a transform of any rank. */
static int put_sizes(char *text, size_t room, int rank, const void *sizes, bool is_wide)
{
	int n = snprintf(text, room, "{\"n\":[");
	for (int i = 0; i < rank && i < 3; i++) {
		long long size = is_wide ? ((const long long *)sizes)[i] : ((const int *)sizes)[i];
		n += snprintf(text + n, room - (size_t)n, i ? ",%lld" : "%lld", size);
	}
	return n + snprintf(text + n, room - (size_t)n, "]");
}

/* Writes what the arguments of a call that made a plan tell, after it succeeded: its pointers are good. */
static bool describe_plan(enum reads reads, const word *w, char text[MOST_TEXT])
{
	int sizes[3] = {(int)w[1], (int)w[2], (int)w[3]}, n;
	bool is_wide = reads == READS_MANY64 || reads == READS_XT_MANY;
	long long batch = 1;
	const char *type = NULL;
	switch (reads) {
	case READS_1D:
		type = type_name(w[2]);
		batch = (int)w[3];
		n = put_sizes(text, MOST_TEXT, 1, sizes, false);
		break;
	case READS_2D:
	case READS_3D:
		type = type_name(w[reads == READS_2D ? 3 : 4]);
		n = put_sizes(text, MOST_TEXT, reads == READS_2D ? 2 : 3, sizes, false);
		break;
	case READS_MANY:
	case READS_MANY64:
	case READS_XT_MANY:
		if ((int)w[1] < 1 || (int)w[1] > 3 || !w[2])
			return false;
		type = reads == READS_XT_MANY ? NULL : type_name(w[9]);
		batch = reads == READS_MANY ? (int)w[10]
					    : (long long)w[reads == READS_MANY64 ? 10 : 11];
		n = put_sizes(text, MOST_TEXT, (int)w[1], (const void *)w[2], is_wide);
		break;
	default: return false;
	}
	if (type)
		n += snprintf(text + n, MOST_TEXT - (size_t)n, ",\"type\":\"%s\"", type);
	snprintf(text + n, MOST_TEXT - (size_t)n, ",\"batch\":%lld", batch);
	return true;
}

/* Yields the string id of the call's arguments; 0: nothing is known. */
static uint32_t cufft_describe(const struct function *function, const word *w)
{
	enum { FORWARD = -1 };
	enum reads reads = function->reads & (READS_MADE - 1);
	char text[MOST_TEXT + 32];
	bool is_made = function->reads & READS_MADE;
	int32_t plan = is_made && w[0] ? *(const int32_t *)w[0] : (int32_t)w[0];
	bool is_known = false;
	if (reads == READS_PLAN || reads == READS_DIRECTION)
		is_known = plan_find(plan, text);
	else if (reads == READS_DESTROY)
		plan_keep(plan, NULL);
	else if ((is_known = describe_plan(reads, w, text)))
		plan_keep(plan, text);
	if (!is_known)
		return 0;
	const char *way = "";
	if (reads == READS_DIRECTION)
		way = (int)w[3] == FORWARD ? ",\"direction\":\"forward\""
					   : ",\"direction\":\"inverse\"";
	size_t length = strlen(text);
	snprintf(text + length, sizeof text - length, "%s}", way);
	return collect_string_z(text);
}

/* ---- calls -------------------------------------------------------------------------------------- */

static void cufft_record(const struct function *function, const word *w, int result, int64_t start,
			 int64_t end)
{
	int saved = errno;
	uint32_t args = result == 0 ? cufft_describe(function, w) : 0;
	uint32_t name = collect_string_z(function->name), library = collect_string_z("cuFFT");
	struct rec_call *record = collect_reserve(REC_CALL, 1);
	if (record) {
		record->head.value = name;
		record->start = start;
		record->duration = end - start;
		record->library = library;
		record->args = args;
		collect_publish(record);
	}
	errno = saved;
}

/* A function of the library that ends with a call of another one jumps there: the other one then returns to call_real. */
static bool is_our_call(const void *caller)
{
	return (const char *)caller >= __start_cufft_calls &&
	       (const char *)caller <= __stop_cufft_calls;
}

static int cufft_call(struct function *function, const word *w, const void *caller)
{
	void *outer = inside;
	void *real = cufft_real(function, outer && is_our_call(caller) ? outer : caller);
	if (!real)
		return INTERNAL_ERROR;
	/* What the library calls itself is a part of the program's call. */
	bool records = !outer && collect_is_on(REC_TRACE_CUFFT) && !*sibling_is_sealed;
	int64_t start = records ? collect_now() : 0;
	inside = outer ? outer : real;
	int result = call_real(real, w);
	inside = outer;
	if (records)
		cufft_record(function, w, result, start, collect_now());
	return result;
}

#define P1 word a0
#define P2 P1, word a1
#define P3 P2, word a2
#define P4 P3, word a3
#define P5 P4, word a4
#define P6 P5, word a5
#define P7 P6, word a6
#define P11 P7, word a7, word a8, word a9, word a10
#define P12 P11, word a11
#define P14 P12, word a12, word a13
#define A1 a0
#define A2 A1, a1
#define A3 A2, a2
#define A4 A3, a3
#define A5 A4, a4
#define A6 A5, a5
#define A7 A6, a6
#define A11 A7, a7, a8, a9, a10
#define A12 A11, a11
#define A14 A12, a12, a13

#define FUNCTION(id, n, what)                                                                      \
	EXPORT int id(P##n);                                                                       \
	EXPORT int id(P##n)                                                                        \
	{                                                                                          \
		static struct function function = {.name = #id, .words = n, .reads = what};        \
		word w[MOST_WORDS] = {A##n};                                                       \
		return cufft_call(&function, w, __builtin_return_address(0));                      \
	}

/* All functions of cuFFT 12 (CUDA 13.0), but those that tell the version. */
FUNCTION(cufftPlan1d, 4, READS_MADE | READS_1D)
FUNCTION(cufftPlan2d, 4, READS_MADE | READS_2D)
FUNCTION(cufftPlan3d, 5, READS_MADE | READS_3D)
FUNCTION(cufftPlanMany, 11, READS_MADE | READS_MANY)
FUNCTION(cufftMakePlan1d, 5, READS_1D)
FUNCTION(cufftMakePlan2d, 5, READS_2D)
FUNCTION(cufftMakePlan3d, 6, READS_3D)
FUNCTION(cufftMakePlanMany, 12, READS_MANY)
FUNCTION(cufftMakePlanMany64, 12, READS_MANY64)
FUNCTION(cufftXtMakePlanMany, 14, READS_XT_MANY)
FUNCTION(cufftCreate, 1, READS_NOTHING)
FUNCTION(cufftDestroy, 1, READS_DESTROY)
FUNCTION(cufftEstimate1d, 4, READS_NOTHING)
FUNCTION(cufftEstimate2d, 4, READS_NOTHING)
FUNCTION(cufftEstimate3d, 5, READS_NOTHING)
FUNCTION(cufftEstimateMany, 11, READS_NOTHING)
FUNCTION(cufftGetSize, 2, READS_NOTHING)
FUNCTION(cufftGetSize1d, 5, READS_NOTHING)
FUNCTION(cufftGetSize2d, 5, READS_NOTHING)
FUNCTION(cufftGetSize3d, 6, READS_NOTHING)
FUNCTION(cufftGetSizeMany, 12, READS_NOTHING)
FUNCTION(cufftGetSizeMany64, 12, READS_NOTHING)
FUNCTION(cufftXtGetSizeMany, 14, READS_NOTHING)
FUNCTION(cufftSetWorkArea, 2, READS_NOTHING)
FUNCTION(cufftSetAutoAllocation, 2, READS_NOTHING)
FUNCTION(cufftSetStream, 2, READS_NOTHING)
FUNCTION(cufftSetPlanPropertyInt64, 3, READS_NOTHING)
FUNCTION(cufftGetPlanPropertyInt64, 3, READS_NOTHING)
FUNCTION(cufftResetPlanProperty, 2, READS_NOTHING)
FUNCTION(cufftExecC2C, 4, READS_DIRECTION)
FUNCTION(cufftExecR2C, 3, READS_PLAN)
FUNCTION(cufftExecC2R, 3, READS_PLAN)
FUNCTION(cufftExecZ2Z, 4, READS_DIRECTION)
FUNCTION(cufftExecD2Z, 3, READS_PLAN)
FUNCTION(cufftExecZ2D, 3, READS_PLAN)
FUNCTION(cufftXtExec, 4, READS_DIRECTION)
FUNCTION(cufftXtExecDescriptor, 4, READS_DIRECTION)
FUNCTION(cufftXtExecDescriptorC2C, 4, READS_DIRECTION)
FUNCTION(cufftXtExecDescriptorR2C, 3, READS_PLAN)
FUNCTION(cufftXtExecDescriptorC2R, 3, READS_PLAN)
FUNCTION(cufftXtExecDescriptorZ2Z, 4, READS_DIRECTION)
FUNCTION(cufftXtExecDescriptorD2Z, 3, READS_PLAN)
FUNCTION(cufftXtExecDescriptorZ2D, 3, READS_PLAN)
FUNCTION(cufftXtSetGPUs, 3, READS_NOTHING)
FUNCTION(cufftXtMalloc, 3, READS_NOTHING)
FUNCTION(cufftXtMemcpy, 4, READS_NOTHING)
FUNCTION(cufftXtFree, 1, READS_NOTHING)
FUNCTION(cufftXtQueryPlan, 3, READS_NOTHING)
FUNCTION(cufftXtSetWorkArea, 2, READS_NOTHING)
FUNCTION(cufftXtSetWorkAreaPolicy, 3, READS_NOTHING)
FUNCTION(cufftXtSetCallback, 4, READS_NOTHING)
FUNCTION(cufftXtClearCallback, 2, READS_NOTHING)
FUNCTION(cufftXtSetCallbackSharedSize, 3, READS_NOTHING)
FUNCTION(cufftXtSetJITCallback, 6, READS_NOTHING)

static __attribute__((constructor)) void cufft_begin(void)
{
	sibling_connect();
}
