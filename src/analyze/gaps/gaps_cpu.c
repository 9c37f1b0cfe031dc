/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_cpu.c - what a thread did while it should have launched: input, the OS, exchanges with
 * other ranks, or its own work.
 *
 * These are the rules under 6 in docs/gaps.md. A state in which a thread did not run counts like
 * an OS call. Where a thread waited for another thread, the other thread's time is looked at
 * instead: the thread that woke it where the recording tells that, else the thread of the
 * process that called last (PyTorch's backward pass has a thread of its own).
 */
#include "analyze/gaps/gaps_cause.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ref.h"

#define KINDS                                                                                      \
	(HWY_KIND_BIT(HWY_OS) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_RANGE) |                   \
	 HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_SAMPLE) | HWY_KIND_BIT(HWY_STATE))
#define BIT(col) HWY_COL_BIT(HWY_##col)

static void find_loaded(struct gaps_cpu *cpu);

/* Loads the spans of all threads when a gap first needs them. Yields false where the spans could
 * not be read. */
static bool open_lanes(struct gaps_cpu *cpu)
{
	if (cpu->is_open || cpu->is_bad)
		return cpu->is_open;
	struct hwy_trace *trace = cpu->flow->trace;
	if (!hwy_need(trace, KINDS, BIT(START) | BIT(DUR) | BIT(NAME), cpu->err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_SAMPLE) | HWY_KIND_BIT(HWY_API), BIT(STACK),
		      cpu->err)) {
		cpu->is_bad = true;
		return false;
	}
	nests_open(&cpu->nests, trace, KINDS);
	for (uint32_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].kind == HWY_EDGE_WAKE)
			*hwy_map_put(&cpu->wakers, (uint64_t)trace->edges[i].to, NULL) =
				hwy_ref32((uint32_t)trace->edges[i].from);
	cpu->loads = hwy_alloc(trace->strings.n + 1u);
	memset(cpu->loads, 0xff, trace->strings.n + 1u);
	exchange_calls_list(&cpu->exchanges, trace, HWY_KIND_BIT(HWY_CALL));
	cpu->is_open = true;
	find_loaded(cpu);
	return true;
}

void gaps_cpu_close(struct gaps_cpu *cpu)
{
	if (cpu->is_open)
		nests_close(&cpu->nests);
	hwy_map_free(&cpu->wakers);
	hwy_map_free(&cpu->loaded);
	free(cpu->loads);
	exchange_calls_free(&cpu->exchanges);
	cpu->loads = NULL;
	cpu->is_open = false;
}

/* ---- names of loaders ------------------------------------------------------------------------ */

/* Whether the name holds the word as a word of its own: "dataLoader", "data_loader" and "data
 * loader" all hold "loader". */
static bool gaps_cpu_has_word(const char *name, const char *word)
{
	size_t length = strlen(word);
	for (const char *found = name; (found = strcasestr(found, word)); found++) {
		bool begins = found == name || !isalpha((unsigned char)found[-1]) ||
			      (isupper((unsigned char)*found) && islower((unsigned char)found[-1]));
		char after = found[length];
		bool ends = !isalpha((unsigned char)after) ||
			    (isupper((unsigned char)after) &&
			     islower((unsigned char)found[length - 1]));
		if (begins && ends)
			return true;
	}
	return false;
}

static bool gaps_cpu_has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (gaps_cpu_has_word(name, *words))
			return true;
	return false;
}

bool gaps_cpu_is_loader(const char *name)
{
	static const char *const things[] = {"batch",  "batches", "data",  "dataset",
					     "sample", "samples", "image", "images",
					     "input",  "inputs",  "next",  NULL};
	static const char *const acts[] = {"load",     "loading", "fetch",   "fetching",
					   "get",      "read",    "reading", "next",
					   "prefetch", "wait",    NULL};
	if (strcasestr(name, "dataloader") || strcasestr(name, "data_loader") ||
	    gaps_cpu_has_word(name, "loader") || gaps_cpu_has_word(name, "dataload"))
		return true;
	/* The words load, loading, data and input name a loader only where they are the whole
	 * name. */
	if (strcasecmp(name, "load") == 0 || strcasecmp(name, "loading") == 0 ||
	    strcasecmp(name, "data") == 0 || strcasecmp(name, "input") == 0)
		return true;
	return gaps_cpu_has_any(name, things) && gaps_cpu_has_any(name, acts) &&
	       !gaps_cpu_has_word(name, "item");
}

/* Whether the text with this id names a loader of input; the answer is kept for each text. */
static bool is_loader(struct gaps_cpu *cpu, int64_t name)
{
	const struct hwy_trace *trace = cpu->flow->trace;
	if (name <= 0 || name >= trace->strings.n)
		return false;
	if (cpu->loads[name] == 0xff)
		cpu->loads[name] = gaps_cpu_is_loader(hwy_str(trace, name));
	return cpu->loads[name];
}

static bool stack_has_loader(struct gaps_cpu *cpu, const struct flow_call *call)
{
	const struct hwy_trace *trace = cpu->flow->trace;
	uint32_t row, stack;
	const struct hwy_strip *strip = hwy_strip_of(trace, call->span, &row);
	bool has_stack = hwy_ref_to_index(hwy_get(strip, HWY_STACK, row), &stack);
	/* The loop ends because, in the trie of stacks, a caller's entry stands before the
	 * entries of its callees. */
	while (has_stack && stack < trace->n_stacks) {
		if (is_loader(cpu, trace->frames[trace->stacks[stack].frame].function))
			return true;
		has_stack = hwy_ref_to_index(trace->stacks[stack].parent, &stack);
	}
	return false;
}

/* How many bytes a call copies to the device; 0 where it copies nothing to the device. */
static int64_t bytes_to_device(const struct hwy_flow *flow, const struct flow_call *call)
{
	uint32_t row;
	if (call->op == FLOW_NONE || flow->ops[call->op].kind != HWY_COPY)
		return 0;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[call->op].span, &row);
	return hwy_get(strip, HWY_DIRECTION, row) == HWY_H2D ? hwy_get(strip, HWY_BYTES, row) : 0;
}

/* Notes the sizes of the copies to the device that were made inside a loader. */
static void find_loaded(struct gaps_cpu *cpu)
{
	const struct hwy_flow *flow = cpu->flow;
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		int64_t bytes = bytes_to_device(flow, &flow->calls[i]);
		if (bytes > 0 && stack_has_loader(cpu, &flow->calls[i]))
			hwy_map_put(&cpu->loaded, (uint64_t)bytes, NULL);
	}
}

bool gaps_cpu_calls_from_loader(struct gaps_cpu *cpu, const struct flow_call *call)
{
	if (!open_lanes(cpu))
		return false;
	int64_t bytes = bytes_to_device(cpu->flow, call);
	return stack_has_loader(cpu, call) ||
	       (bytes > 0 && hwy_map_get(&cpu->loaded, (uint64_t)bytes));
}

/* ---- what fills an interval ------------------------------------------------------------------ */

/* what fills a stretch of a thread's time; lengths in ns, spans as references (base/ref.h) */
struct filling {
	struct hwy_interval at;
	/* The time that one lane's OS calls and states off the CPU cover, and the time that its
	 * loaders, its garbage collections and its waits for Python's lock cover. */
	struct hwy_cover os, loader, gc, gil;
	/* The same times, each of the lane that has most. */
	int64_t os_ns, loader_ns, gc_ns, gil_ns;
	uint32_t longest_gc, longest_gil;
	int64_t longest_gc_length, longest_gil_length;
	uint32_t longest_os, longest_state;
	int64_t longest_os_length, longest_state_length;
	uint32_t loader_span; /* reference to the first span that is a loader of input */
	/* The shortest operator or function, and the shortest range, that fill half of the
	 * stretch. */
	uint32_t named, range;
	int64_t named_length, range_length;
	uint32_t sample; /* reference to a CPU sample with the most common stack */
};

static void keep_longest_span(int64_t length, uint32_t reference, int64_t *longest,
			      uint32_t *longest_reference)
{
	if (length <= *longest)
		return;
	*longest = length;
	*longest_reference = reference;
}

/* Adds a garbage collection or a wait for Python's lock; false for other spans. A wait for the
 * lock is a call into the operating system as well. */
static bool gaps_cpu_add_python(const struct gaps_cpu *cpu, struct filling *filling,
				const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_trace *trace = cpu->flow->trace;
	bool is_gc = strip->kind == HWY_RANGE &&
		     strcmp(hwy_str(trace, trace->lanes[strip->lane].name), HWY_DOMAIN_PYTHON) == 0;
	bool is_gil = strip->kind == HWY_OS &&
		      strcmp(hwy_str(trace, hwy_get(strip, HWY_NAME, row)), HWY_GIL_NAME) == 0;
	int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
	int64_t from = start > filling->at.from ? start : filling->at.from;
	int64_t to = end < filling->at.to ? end : filling->at.to;
	uint32_t reference = hwy_ref32(strip->first + row);
	struct hwy_interval fresh;
	if (is_gc) {
		cover_add(&filling->gc, from, to, &fresh);
		keep_longest_span(to - from, reference, &filling->longest_gc_length,
				  &filling->longest_gc);
	} else if (is_gil) {
		cover_add(&filling->gil, from, to, &fresh);
		keep_longest_span(to - from, reference, &filling->longest_gil_length,
				  &filling->longest_gil);
	}
	return is_gc;
}

/* Adds the part of a thread's span that lies inside the stretch to what fills the stretch. */
static void gaps_cpu_add_span(struct gaps_cpu *cpu, struct filling *filling,
			      const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
	int64_t from = start > filling->at.from ? start : filling->at.from;
	int64_t to = end < filling->at.to ? end : filling->at.to;
	struct hwy_interval fresh;
	if (to <= from)
		return;
	uint32_t reference = hwy_ref32(strip->first + row);
	if (gaps_cpu_add_python(cpu, filling, strip, row))
		return;
	if (strip->kind == HWY_OS) {
		cover_add(&filling->os, from, to, &fresh);
		keep_longest_span(to - from, reference, &filling->longest_os_length,
				  &filling->longest_os);
		return;
	}
	if (strip->kind == HWY_STATE) {
		const char *name = hwy_str(cpu->flow->trace, hwy_get(strip, HWY_NAME, row));
		if (strcmp(name, "running") == 0 || strcmp(name, "runnable") == 0)
			return;
		cover_add(&filling->os, from, to, &fresh);
		keep_longest_span(to - from, reference, &filling->longest_state_length,
				  &filling->longest_state);
		return;
	}
	if (is_loader(cpu, hwy_get(strip, HWY_NAME, row)) &&
	    cover_add(&filling->loader, from, to, &fresh) && !filling->loader_span)
		filling->loader_span = reference;
	if (to - from < (filling->at.to - filling->at.from) / 2)
		return;
	bool range = strip->kind == HWY_RANGE;
	uint32_t *best = range ? &filling->range : &filling->named;
	int64_t *length = range ? &filling->range_length : &filling->named_length;
	if (!*best || end - start <= *length) {
		*best = reference;
		*length = end - start;
	}
}

/* Finds a sample with the most common stack of the stretch, by majority vote. */
static void vote(struct filling *filling, const struct hwy_nest *nest)
{
	const struct hwy_strip *strip = nest->strip;
	int64_t stack = 0;
	uint32_t votes = 0;
	for (uint32_t row = nest_at(nest, filling->at.from);
	     row < strip->rows && hwy_get(strip, HWY_START, row) < filling->at.to; row++) {
		int64_t one = hwy_get(strip, HWY_STACK, row);
		if (votes == 0) {
			stack = one;
			filling->sample = hwy_ref32(strip->first + row);
		}
		votes = one == stack ? votes + 1 : votes - 1;
	}
}

/* Adds all spans of one lane that overlap the stretch. */
static void gaps_cpu_fill(struct gaps_cpu *cpu, struct hwy_nest *nest, struct filling *filling)
{
	const struct hwy_strip *strip = nest->strip;
	/* Add the spans that began before the stretch, the outermost first, because cover_add takes
	 * intervals in order of start. */
	uint32_t chain[64], n = 0;
	for (uint32_t row = nest_around(nest, filling->at.from - 1, filling->at.from);
	     row != NEST_NONE && n < 64; row = nest_parent(nest, row))
		chain[n++] = row;
	while (n-- > 0)
		gaps_cpu_add_span(cpu, filling, strip, chain[n]);
	for (uint32_t row = nest_at(nest, filling->at.from);
	     row < strip->rows && hwy_get(strip, HWY_START, row) < filling->at.to; row++)
		gaps_cpu_add_span(cpu, filling, strip, row);
}

struct activity { /* what a thread did in a stretch of time */
	enum gap_cause cause;
	uint32_t span;  /* a reference to the span that names what the thread did */
	uint32_t waker; /* the thread that ended the wait, or FLOW_NONE */
	bool waits;     /* the thread seems to have waited for another thread */
};

bool gaps_cpu_waits_for_thread(const char *name)
{
	/* "lock" alone is in clock_nanosleep and flock, too. */
	static const char *const words[] = {"cond_", "futex",  "sem_",      "mutex",
					    "join",  "rwlock", "spin_lock", "barrier"};
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* Whether a span of waiting may have been a wait for another thread: the name of an OS call
 * tells, and any state may be one. */
static bool waits_for_a_thread(const struct gaps_cpu *cpu, uint32_t id)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(cpu->flow->trace, id, &row);
	return strip->kind == HWY_STATE ||
	       gaps_cpu_waits_for_thread(hwy_str(cpu->flow->trace, hwy_get(strip, HWY_NAME, row)));
}

/* The thread that ended a wait, or FLOW_NONE. 'call' and 'state' are references to the OS call
 * and to the state of waiting. The edge from the waker leads to the OS call, or to one of the
 * two states that follow the state of waiting. */
static uint32_t waker_of(const struct gaps_cpu *cpu, uint32_t call, uint32_t state)
{
	const struct hwy_trace *trace = cpu->flow->trace;
	uint32_t ids[3], n = 0, row;
	if (hwy_ref32_is_set(call))
		ids[n++] = hwy_ref32_index(call);
	if (hwy_ref32_is_set(state)) {
		ids[n++] = hwy_ref32_index(state) + 1;
		ids[n++] = hwy_ref32_index(state) + 2;
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *from = hwy_map_get(&cpu->wakers, ids[i]);
		if (!from || !hwy_ref32_is_set(*from) || *from > trace->n_spans)
			continue;
		int64_t thread =
			trace->lanes[hwy_strip_of(trace, hwy_ref32_index(*from), &row)->lane]
				.thread;
		if (thread >= 0 && thread < trace->n_threads)
			return (uint32_t)thread;
	}
	return FLOW_NONE;
}

static void keep_most(const struct hwy_cover *cover, int64_t *most)
{
	if (cover->total > *most)
		*most = cover->total;
}

/* Finds what fills a stretch of a thread's time. */
static struct filling fill_all(struct gaps_cpu *cpu, uint32_t thread, struct hwy_interval at)
{
	struct filling filling = {.at = at};
	for (uint32_t i = cpu->nests.first[thread]; i < cpu->nests.first[thread + 1]; i++) {
		struct hwy_nest *nest = &cpu->nests.nests[i];
		unsigned kind = nest->strip->kind;
		if (kind == HWY_SAMPLE) {
			vote(&filling, nest);
			continue;
		}
		/* A cover takes spans in order of start. The spans of one lane are in order,
		 * those of two lanes are not. */
		filling.os = filling.loader = filling.gc = filling.gil = (struct hwy_cover){0};
		gaps_cpu_fill(cpu, nest, &filling);
		keep_most(&filling.loader, &filling.loader_ns);
		keep_most(&filling.os, &filling.os_ns);
		keep_most(&filling.gc, &filling.gc_ns);
		keep_most(&filling.gil, &filling.gil_ns);
	}
	return filling;
}

static struct activity activity_of_thread(struct gaps_cpu *cpu, uint32_t thread,
					  const struct gaps_absence *absence)
{
	int64_t half = (absence->at.to - absence->at.from) / 2;
	struct filling filling = fill_all(cpu, thread, absence->at);
	int64_t os = filling.os_ns, loader = filling.loader_ns;
	uint32_t wait = filling.longest_os ? filling.longest_os : filling.longest_state;
	uint32_t exchange = HWY_REF_NONE;
	struct activity activity = {.cause = GAP_CPU, .waker = FLOW_NONE};
	if (filling.gc_ns > half) {
		activity.cause = GAP_GC;
		activity.span = filling.longest_gc;
	} else if (filling.gil_ns > half) {
		activity.cause = GAP_GIL;
		activity.span = filling.longest_gil;
		activity.waker = waker_of(cpu, filling.longest_gil, 0);
	} else if (exchange_calls_in(&cpu->exchanges, thread, absence->at, &exchange) > half) {
		activity.cause = GAP_COMM;
		activity.span = exchange;
	} else if (absence->copy_follows && (loader > half || os > half)) {
		activity.cause = GAP_INPUT;
		activity.span = loader > half ? filling.loader_span : wait;
	} else if (os > half) {
		activity.cause = GAP_OS;
		activity.span = wait;
		activity.waker = waker_of(cpu, filling.longest_os, filling.longest_state);
		activity.waits = activity.waker != FLOW_NONE ||
				 waits_for_a_thread(cpu, hwy_ref32_index(wait));
	} else {
		activity.span = filling.named    ? filling.named
				: filling.sample ? filling.sample
						 : filling.range;
	}
	return activity;
}

enum gap_cause gaps_cpu_cause(struct gaps_cpu *cpu, const struct gaps_absence *absence,
			      uint32_t *span)
{
	uint32_t n = cpu->flow->trace->n_threads;
	if (absence->thread >= n || !open_lanes(cpu))
		return absence->brings_data ? GAP_INPUT : GAP_CPU;
	struct activity own = activity_of_thread(cpu, absence->thread, absence);
	uint32_t other = own.waker != FLOW_NONE ? own.waker : absence->other;
	if (other < n && other != absence->thread &&
	    (own.waits || own.span == 0 || own.cause == GAP_GIL)) {
		/* Where the thread waited for the other thread, or no span names what it did, the
		 * other thread's time decides. */
		struct activity others = activity_of_thread(cpu, other, absence);
		/* The garbage collector of the other thread had the lock. */
		bool collects = own.cause == GAP_GIL && others.cause == GAP_GC;
		if (collects || (own.waits && !others.waits && others.span))
			own = others;
		else if (!own.waits && own.cause != GAP_GIL && others.cause == GAP_CPU)
			own.span = others.span;
	}
	if (own.cause == GAP_CPU && absence->brings_data)
		own.cause = GAP_INPUT;
	*span = own.span;
	return own.cause;
}

uint32_t gaps_cpu_work(struct gaps_cpu *cpu, uint32_t thread, struct hwy_interval at)
{
	uint32_t row;
	if (thread >= cpu->flow->trace->n_threads || !open_lanes(cpu))
		return HWY_REF_NONE;
	struct filling filling = fill_all(cpu, thread, at);
	const uint32_t names[] = {filling.named, filling.range};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!hwy_ref32_is_set(names[i]))
			continue;
		const struct hwy_strip *strip =
			hwy_strip_of(cpu->flow->trace, hwy_ref32_index(names[i]), &row);
		if (hwy_end(strip, row) <= at.to)
			return names[i];
	}
	if (filling.os_ns > (at.to - at.from) / 2)
		return filling.longest_os ? filling.longest_os : filling.longest_state;
	return filling.sample;
}
