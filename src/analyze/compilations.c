/* SPDX-License-Identifier: Apache-2.0 */
/* compilations.c - see compilations.h. First uses (first_use.h) say when; ranges and processes
 * say what. */
#include "analyze/compilations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/xla.h"
#include "base/hash.h"
#include "base/lang.h"

/* The part of a use inside a window; an empty interval where there is none. */
static struct hwy_interval part_in(struct hwy_interval time, struct hwy_interval window)
{
	struct hwy_interval part = {time.from > window.from ? time.from : window.from,
				    time.to < window.to ? time.to : window.to};
	part.to = part.to > part.from ? part.to : part.from;
	return part;
}

/* Whether a first use is compiling, tuning or capturing by its name, not a call that loads code. */
static bool is_compiling(const struct hwy_trace *trace, const struct first_use *use)
{
	uint32_t row;
	return use->span == UINT32_MAX || (use->span < trace->n_spans &&
					   hwy_strip_of(trace, use->span, &row)->kind != HWY_API);
}

/* What XLA compiles in this first use; of the kind XLA_NONE where the use is no compilation of
 * XLA. */
static struct xla_range compilation_of(const struct hwy_trace *trace, const struct first_use *use)
{
	uint32_t row;
	struct xla_range none = {.kind = XLA_NONE};
	if (use->span >= trace->n_spans)
		return none;
	const struct hwy_strip *strip = hwy_strip_of(trace, use->span, &row);
	if (strip->kind != HWY_RANGE)
		return none;
	struct xla_range range = xla_parse(hwy_text(trace, hwy_get(strip, HWY_NAME, row)));
	return range.kind == XLA_COMPILE ? range : none;
}

/* a + b, or INT64_MAX where the sum is larger: broken recordings hold times of any length. */
static int64_t plus_saturated(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t length_of_use(const struct first_use *use)
{
	int64_t length;
	return __builtin_sub_overflow(use->time.to, use->time.from, &length) ? INT64_MAX : length;
}

static bool begins_in(int64_t start, struct hwy_interval window)
{
	return start >= window.from && start < window.to;
}

/* ---- processes ------------------------------------------------------------------------------- */

enum { MOST_PROGRAMS = 8 };

struct program_count {
	int64_t name; /* text of the process's name */
	uint32_t n;
};

static int by_count(const void *left, const void *right)
{
	const struct program_count *a = left, *b = right;
	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Counts the compilers that were started inside the window, and writes their names. */
static void name_compilers(const struct hwy_trace *trace, struct hwy_interval window,
			   struct compilations *sum)
{
	struct program_count counts[MOST_PROGRAMS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *process = &trace->processes[i];
		if (process->start == HWY_NONE || !begins_in(process->start, window) ||
		    !first_use_is_compiler(hwy_str(trace, process->name)))
			continue;
		sum->n_processes++;
		uint32_t known = 0;
		while (known < n && counts[known].name != process->name)
			known++;
		if (known == n && n < MOST_PROGRAMS)
			counts[n++] = (struct program_count){process->name, 0};
		if (known < n)
			counts[known].n++;
	}
	qsort(counts, n, sizeof *counts, by_count);
	size_t used = 0;
	for (uint32_t i = 0; i < n && i < 3 && used < sizeof sum->programs; i++)
		used += (size_t)snprintf(sum->programs + used, sizeof sum->programs - used, "%s%s",
					 i ? hwy_tr(", ") : "", hwy_str(trace, counts[i].name));
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int by_start(const void *left, const void *right)
{
	const struct hwy_interval *a = left, *b = right;
	return (a->from > b->from) - (a->from < b->from);
}

/* How much time the intervals cover together. Sorts them. */
static int64_t covered(struct hwy_interval *times, uint32_t n)
{
	struct hwy_cover cover = {0};
	struct hwy_interval fresh;
	if (n)
		qsort(times, n, sizeof *times, by_start);
	for (uint32_t i = 0; i < n; i++)
		cover_add(&cover, times[i].from, times[i].to, &fresh);
	return cover.total;
}

static void note_compilation(const struct hwy_trace *trace, const struct first_use *use,
			     struct hwy_interval part, struct hwy_interval window,
			     struct compilations *sum)
{
	struct xla_range range = compilation_of(trace, use);
	if (range.kind == XLA_NONE)
		return;
	sum->n += begins_in(use->time.from, window);
	if (part.to - part.from <= sum->longest_ns)
		return;
	sum->longest_ns = part.to - part.from;
	xla_function(range.module, sum->longest, sizeof sum->longest);
}

struct compilations compilations_in(const struct hwy_flow *flow, uint32_t process,
				    struct hwy_interval window)
{
	const struct first_uses *uses = &flow->first_uses;
	struct compilations sum = {0};
	struct hwy_interval *all = hwy_array(uses->n, sizeof *all);
	struct hwy_interval *children = hwy_array(uses->n, sizeof *children);
	uint32_t n = 0, n_children = 0;
	for (uint32_t i = 0; i < uses->n; i++) {
		const struct first_use *use = &uses->uses[i];
		struct hwy_interval part = part_in(use->time, window);
		if (use->process != process || part.to <= part.from ||
		    !is_compiling(flow->trace, use))
			continue;
		all[n++] = part;
		if (use->span == UINT32_MAX)
			children[n_children++] = part;
		else
			note_compilation(flow->trace, use, part, window, &sum);
	}
	sum.total = covered(all, n);
	sum.in_processes = covered(children, n_children);
	if (n_children)
		name_compilers(flow->trace, window, &sum);
	free(all);
	free(children);
	return sum;
}

/* ---- one function again ---------------------------------------------------------------------- */

/* the compilations of one function; 'times' and 'ns' are of those that begin inside the window */
struct function_sum {
	struct hwy_text module;
	uint32_t times;
	int64_t ns;
	bool is_again; /* a compilation began before the window */
};

struct recompiled recompiled_in(const struct hwy_flow *flow, uint32_t process,
				struct hwy_interval window)
{
	const struct first_uses *uses = &flow->first_uses;
	struct recompiled most = {.function = ""};
	struct function_sum *sums = hwy_zarray(uses->n, sizeof *sums), *longest = NULL;
	struct hwy_map by_module = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < uses->n; i++) {
		const struct first_use *use = &uses->uses[i];
		struct xla_range range = compilation_of(flow->trace, use);
		bool fresh;
		if (use->process != process || range.kind == XLA_NONE)
			continue;
		uint32_t *index = hwy_map_put(
			&by_module, hwy_hash(range.module.at, range.module.length), &fresh);
		if (fresh)
			*index = n++;
		struct function_sum *sum = &sums[*index];
		sum->module = range.module;
		sum->is_again |= use->time.from < window.from;
		if (!begins_in(use->time.from, window))
			continue;
		sum->times++;
		sum->ns = plus_saturated(sum->ns, length_of_use(use));
		most.all_ns = plus_saturated(most.all_ns, length_of_use(use));
	}
	for (uint32_t i = 0; i < n; i++)
		if (sums[i].times && (!longest || sums[i].ns > longest->ns))
			longest = &sums[i];
	if (longest) {
		xla_function(longest->module, most.function, sizeof most.function);
		most.times = longest->times;
		most.ns = longest->ns;
		most.is_again = longest->is_again || longest->times > 1;
	}
	hwy_map_free(&by_module);
	free(sums);
	return most;
}
