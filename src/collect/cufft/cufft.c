/* SPDX-License-Identifier: Apache-2.0 */
/* cufft.c - records the calls of cuFFT, which does not tell of them itself, with the size of
 * their transforms.
 *
 * Every function of the library is replaced by one that notes the time and calls it
 * (sibling/wrapped.h). A plan's size is kept when the plan is made, and goes with the calls that
 * execute it.
 */
#include <stdio.h>
#include <string.h>

#include "collect/lock.h"
#include "collect/sibling/wrapped.h"

enum { MOST_PLANS = 512, MOST_TEXT = 120 };
enum { INTERNAL_ERROR = 5 }; /* what cuFFT returns where it cannot go on */

/* What the arguments of a function tell. Argument 0 is the plan, or the address of a new one
 * (READS_MADE). */
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
	struct wrapped wrapped;
	uint8_t reads;
};

/* ---- plans ----------------------------------------------------------------------------------- */

/* The sizes of plans as JSON, without its last brace; guarded by the lock. A plan takes the
 * place of another one that has the same remainder. */
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

static const char *transform_type(word type)
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

/* Writes what the arguments of a call that made a plan tell, after it succeeded: its pointers
 * are good. */
static bool describe_plan(enum reads reads, const word *w, char text[MOST_TEXT])
{
	int sizes[3] = {(int)w[1], (int)w[2], (int)w[3]}, n;
	bool is_wide = reads == READS_MANY64 || reads == READS_XT_MANY;
	long long batch = 1;
	const char *type = NULL;
	switch (reads) {
	case READS_1D:
		type = transform_type(w[2]);
		batch = (int)w[3];
		n = put_sizes(text, MOST_TEXT, 1, sizes, false);
		break;
	case READS_2D:
	case READS_3D:
		type = transform_type(w[reads == READS_2D ? 3 : 4]);
		n = put_sizes(text, MOST_TEXT, reads == READS_2D ? 2 : 3, sizes, false);
		break;
	case READS_MANY:
	case READS_MANY64:
	case READS_XT_MANY:
		if ((int)w[1] < 1 || (int)w[1] > 3 || !w[2])
			return false;
		type = reads == READS_XT_MANY ? NULL : transform_type(w[9]);
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

/* ---- calls ----------------------------------------------------------------------------------- */

static void cufft_record(const struct function *function, const word *w, int result, int64_t start,
			 int64_t end)
{
	int saved = errno;
	uint32_t args = result == 0 ? cufft_describe(function, w) : 0;
	uint32_t name = collect_string_z(function->wrapped.name),
		 library = collect_string_z("cuFFT");
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

static int cufft_call(struct function *function, const word *w, const void *caller)
{
	void *real = wrapped_real(&function->wrapped, caller);
	if (!real)
		return INTERNAL_ERROR;
	/* What the library calls itself is a part of the program's call. */
	bool records = !wrapped_inside && collect_is_on(REC_TRACE_CUFFT) && !*sibling_is_sealed;
	int64_t start = records ? collect_now() : 0;
	int result = wrapped_forward(real, w);
	if (records)
		cufft_record(function, w, result, start, collect_now());
	return result;
}

#define FUNCTION(id, n, what)                                                                      \
	WRAPPED_EXPORT int id(WRAPPED_P##n);                                                       \
	WRAPPED_EXPORT int id(WRAPPED_P##n)                                                        \
	{                                                                                          \
		static struct function function = {.wrapped.name = #id, .reads = what};            \
		word w[WRAPPED_WORDS] = {WRAPPED_A##n};                                            \
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
