/* SPDX-License-Identifier: Apache-2.0 */
/* first_use.c - see first_use.h.
 *
 * Rule 2 of docs/gaps.md says what counts: slow calls, captures of graphs, ranges, operators and
 * functions by their names, and child processes by their programs.
 */
#include "analyze/first_use.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"

/* A launch takes microseconds: a call of the vendor's library that takes this long loads code. */
#define FIRST_USE_LEAST_NS 1000000
/* Allocating takes a few milliseconds at most: a call that allocates and takes this long makes
 * the library's context. */
#define ALLOCATION_LEAST_NS 100000000
/* A call that is slow in more than this share of its calls is always slow, not new: recording
 * each node of a graph costs that much. */
#define RARE_SHARE 0.25

/* ---- names ----------------------------------------------------------------------------------- */

/* The function's name in "path/file.py(12): function", as Python's functions are recorded; any
 * other name as it is. */
static const char *function_of(const char *name)
{
	const char *after = strstr(name, ".py(");
	const char *colon = after ? strstr(after, "): ") : NULL;
	return colon ? colon + 3 : name;
}

/* Whether a function of this name compiles: "compile", "compile_fx", "XlaCompile"; not
 * "CompiledFxGraph" or "compiled_fn", which run compiled code. */
static bool says_compile(const char *name)
{
	for (const char *found = name; (found = strcasestr(found, "compil")); found++) {
		char after[4] = "";
		strncpy(after, found + 6, sizeof after - 1);
		if (strncasecmp(after, "ed", 2) != 0 && strncasecmp(after, "er_", 3) != 0)
			return true;
	}
	return false;
}

bool first_use_is_named(const char *name)
{
	static const char *const words[] = {"XlaPass",           "autotun",       "(dynamo_timed)",
					    "cudagraphify",      "inductor",      "capture_graph",
					    "CUDAGraph.capture", "capture_model", "capture_begin"};
	const char *function = function_of(name);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(function, words[i]))
			return true;
	return says_compile(function);
}

bool first_use_is_compiler(const char *program)
{
	static const char *const programs[] = {"ptxas",    "nvlink",
					       "cicc",     "nvcc",
					       "cudafe++", "fatbinary",
					       "cc1",      "cc1plus",
					       "collect2", "lld",
					       "ld.lld",   "as",
					       "ld",       "gcc",
					       "g++",      "clang",
					       "clang++",  "hipcc",
					       "amdclang", "c++",
					       "cc",       "ptxas-blackwell"};
	const char *base = hwy_basename(program);
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(base, programs[i]) == 0)
			return true;
	return strncmp(base, "gcc-", 4) == 0 || strncmp(base, "g++-", 4) == 0 ||
	       strncmp(base, "clang-", 6) == 0;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static void add_use(struct first_uses *uses, int64_t from, int64_t to, uint32_t span,
		    uint32_t process)
{
	HWY_GROW(uses->uses, uses->n, uses->cap);
	uses->uses[uses->n++] = (struct first_use){{from, to}, span, process};
}

static uint32_t process_of_strip(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	int64_t process = trace->lanes[strip->lane].process;
	return process >= 0 && process < trace->n_processes ? (uint32_t)process : UINT32_MAX;
}

/* How long a call of this role must take to count as first use, in ns; INT64_MAX for roles that
 * may always take long. */
static int64_t least_ns_of_role(enum hwy_role role)
{
	switch (role) {
	case HWY_ROLE_ALLOC:
	case HWY_ROLE_FREE: return ALLOCATION_LEAST_NS;
	case HWY_ROLE_SYNC:
	case HWY_ROLE_STREAM_WAIT:
	case HWY_ROLE_EVENT_RECORD:
	case HWY_ROLE_COPY:
	case HWY_ROLE_PIN:
	case HWY_ROLE_COMM:
	case HWY_ROLE_HOST_CALLBACK: return INT64_MAX;
	default: return FIRST_USE_LEAST_NS;
	}
}

/* Whether a call starts or stops a profiler: that takes milliseconds too, and is not the
 * program's doing. */
static bool is_of_profiler(const char *name)
{
	return strcasestr(name, "profiler") != NULL;
}

struct call_counts { /* how many calls of one name there are, and how many of them are slow */
	uint32_t all, slow;
};

static bool is_slow(struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	int64_t length = hwy_get(strip, HWY_DUR, row);
	if (length < FIRST_USE_LEAST_NS)
		return false;
	int64_t name = hwy_get(strip, HWY_NAME, row);
	return length >= least_ns_of_role(HWY_ROLE_OF(hwy_role(trace, name))) &&
	       !is_of_profiler(hwy_str(trace, name));
}

static void count_calls(struct hwy_trace *trace, const struct hwy_strip *strip,
			struct call_counts *counts)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t name = hwy_get(strip, HWY_NAME, row);
		counts[name].all++;
		counts[name].slow += is_slow(trace, strip, row);
	}
}

/* Adds the captures of graphs on one thread, each from its begin to its end: launches in between
 * do not reach the device. */
static void add_captures(struct first_uses *uses, struct hwy_trace *trace,
			 const struct hwy_strip *strip)
{
	uint32_t process = process_of_strip(trace, strip), begin = UINT32_MAX;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t name = hwy_get(strip, HWY_NAME, row);
		if (HWY_ROLE_OF(hwy_role(trace, name)) != HWY_ROLE_GRAPH_BUILD)
			continue;
		if (strstr(hwy_str(trace, name), "BeginCapture")) {
			begin = begin == UINT32_MAX ? row : begin;
		} else if (begin != UINT32_MAX && strstr(hwy_str(trace, name), "EndCapture")) {
			add_use(uses, hwy_get(strip, HWY_START, begin), hwy_end(strip, row),
				strip->first + begin, process);
			begin = UINT32_MAX;
		}
	}
}

/* Adds the slow calls of one thread. */
static void add_calls(struct first_uses *uses, struct hwy_trace *trace,
		      const struct hwy_strip *strip, const struct call_counts *counts)
{
	uint32_t process = process_of_strip(trace, strip);
	for (uint32_t row = 0; row < strip->rows; row++) {
		if (!is_slow(trace, strip, row))
			continue;
		const struct call_counts *same = &counts[hwy_get(strip, HWY_NAME, row)];
		if (same->slow > 2 && same->slow > RARE_SHARE * same->all)
			continue;
		add_use(uses, hwy_get(strip, HWY_START, row), hwy_end(strip, row),
			strip->first + row, process);
	}
}

enum { NOT_ASKED, IS_NAMED, IS_NOT_NAMED };

/* Adds the long ranges, operators and functions whose names say that they compile, tune or
 * capture. 'answers' keeps what first_use_is_named said about each text. */
static void add_named(struct first_uses *uses, const struct hwy_trace *trace,
		      const struct hwy_strip *strip, uint8_t *answers)
{
	uint32_t process = process_of_strip(trace, strip);
	for (uint32_t row = 0; row < strip->rows; row++) {
		if (hwy_get(strip, HWY_DUR, row) < FIRST_USE_LEAST_NS)
			continue;
		int64_t name = hwy_get(strip, HWY_NAME, row);
		if (name <= 0 || name >= trace->strings.n)
			continue;
		if (answers[name] == NOT_ASKED)
			answers[name] =
				first_use_is_named(hwy_str(trace, name)) ? IS_NAMED : IS_NOT_NAMED;
		if (answers[name] == IS_NAMED)
			add_use(uses, hwy_get(strip, HWY_START, row), hwy_end(strip, row),
				strip->first + row, process);
	}
}

/* Adds the lifetimes of compilers that a process started: the process waits for a compiler, or
 * for what it makes. */
static void add_children(struct first_uses *uses, const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *child = &trace->processes[i];
		if (child->start == HWY_NONE || child->end == HWY_NONE ||
		    child->end <= child->start ||
		    !first_use_is_compiler(hwy_str(trace, child->name)))
			continue;
		/* A compiler's driver (nvcc, gcc) starts other compilers: the first ancestor
		 * that is no compiler waits. */
		int64_t parent = child->parent;
		for (int depth = 0;
		     depth < 8 && parent >= 0 && parent < trace->n_processes &&
		     first_use_is_compiler(hwy_str(trace, trace->processes[parent].name));
		     depth++)
			parent = trace->processes[parent].parent;
		if (parent >= 0 && parent < trace->n_processes)
			add_use(uses, child->start, child->end, UINT32_MAX, (uint32_t)parent);
	}
}

static int compare_uses(const void *left, const void *right)
{
	const struct first_use *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->time.from > b->time.from) - (a->time.from < b->time.from);
}

bool first_uses_find(struct first_uses *uses, struct hwy_trace *trace, struct hwy_err *err)
{
	const uint32_t named =
		HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL);
	*uses = (struct first_uses){0};
	if (!hwy_need(trace, named | HWY_KIND_BIT(HWY_API),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME), err))
		return false;
	uint8_t *answers = hwy_zalloc(trace->strings.n + 1u);
	struct call_counts *counts = hwy_zarray(trace->strings.n, sizeof *counts);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_API)
			count_calls(trace, &trace->strips[s], counts);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind == HWY_API) {
			add_captures(uses, trace, strip);
			add_calls(uses, trace, strip, counts);
		} else if (named & HWY_KIND_BIT(strip->kind) &&
			   trace->lanes[strip->lane].type != HWY_LANE_DEVICE_RANGE &&
			   !hwy_lane_is_library(trace, strip->lane)) {
			add_named(uses, trace, strip, answers);
		}
	}
	add_children(uses, trace);
	if (uses->n)
		qsort(uses->uses, uses->n, sizeof *uses->uses, compare_uses);
	free(answers);
	free(counts);
	return true;
}

void first_uses_free(struct first_uses *uses)
{
	free(uses->uses);
	*uses = (struct first_uses){0};
}

/* ---- asking ---------------------------------------------------------------------------------- */

int64_t first_uses_in(const struct first_uses *uses, uint32_t process, struct hwy_interval window,
		      const struct first_use **longest)
{
	struct hwy_cover cover = {0};
	int64_t most = 0;
	*longest = NULL;
	for (uint32_t i = 0; i < uses->n; i++) {
		const struct first_use *use = &uses->uses[i];
		if (use->process != process || use->time.from >= window.to ||
		    use->time.to <= window.from)
			continue;
		int64_t from = use->time.from > window.from ? use->time.from : window.from;
		int64_t to = use->time.to < window.to ? use->time.to : window.to;
		struct hwy_interval fresh;
		cover_add(&cover, from, to, &fresh);
		/* Of nested first uses the innermost names the reason best; it starts last, so it
		 * is the last that the search finds. */
		if (to - from >= most) {
			most = to - from;
			*longest = use;
		}
	}
	return cover.total;
}
