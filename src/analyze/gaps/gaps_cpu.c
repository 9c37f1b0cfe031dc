/* gaps_cpu.c - what a thread did while it should have launched: input, the OS, or its own work.
 *
 * A thread waited in the OS, or in a loader, when that took more than half of the time; a state in which it did
 * not run is as good as a call. A thread that waited for another one did what that one did: the one that woke it
 * where that is known, else, for PyTorch's backward thread, the one that runs the program. What names the rest is
 * the innermost operator or function that took half of it, else the samples' most common stack, else such a
 * range. Where neither OS calls nor states nor samples of the thread were recorded and nothing names it, new data
 * for the device as the first thing afterwards still tells that it was input.
 */
#include "analyze/gaps/gaps_cause.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KINDS                                                                                      \
	(HWY_KIND_BIT(HWY_OS) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_RANGE) |                   \
	 HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_SAMPLE) | HWY_KIND_BIT(HWY_STATE))
#define BIT(col) HWY_COL_BIT(HWY_##col)

static bool open_lanes(struct gaps_cpu *cpu)
{
	if (cpu->is_open || cpu->is_bad)
		return cpu->is_open;
	struct hwy_trace *trace = cpu->flow->trace;
	if (!hwy_need(trace, KINDS, BIT(START) | BIT(DUR) | BIT(NAME), cpu->err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_SAMPLE), BIT(STACK), cpu->err)) {
		cpu->is_bad = true;
		return false;
	}
	nests_open(&cpu->nests, trace, KINDS);
	for (uint32_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].kind == HWY_EDGE_WAKE)
			*hwy_map_put(&cpu->wakers, (uint64_t)trace->edges[i].to, NULL) =
				(uint32_t)trace->edges[i].from + 1;
	cpu->loads = hwy_alloc(trace->strings.n + 1u);
	memset(cpu->loads, 0xff, trace->strings.n + 1u);
	cpu->is_open = true;
	return true;
}

void gaps_cpu_close(struct gaps_cpu *cpu)
{
	if (cpu->is_open)
		nests_close(&cpu->nests);
	hwy_map_free(&cpu->wakers);
	free(cpu->loads);
	cpu->loads = NULL;
	cpu->is_open = false;
}

/* ---- names of loaders ---------------------------------------------------------------------------- */

/* Whether a word stands in the name; "dataLoader", "data_loader" and "data loader" all have "loader". */
static bool has_word(const char *name, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = name; (at = strcasestr(at, word)); at++) {
		bool begins = at == name || !isalpha((unsigned char)at[-1]) ||
			      (isupper((unsigned char)*at) && islower((unsigned char)at[-1]));
		char after = at[length];
		bool ends =
			!isalpha((unsigned char)after) ||
			(isupper((unsigned char)after) && islower((unsigned char)at[length - 1]));
		if (begins && ends)
			return true;
	}
	return false;
}

static bool has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (has_word(name, *words))
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
	    has_word(name, "loader") || has_word(name, "dataload"))
		return true;
	/* A range that is called just so. */
	if (strcasecmp(name, "load") == 0 || strcasecmp(name, "loading") == 0 ||
	    strcasecmp(name, "data") == 0 || strcasecmp(name, "input") == 0)
		return true;
	return has_any(name, things) && has_any(name, acts) && !has_word(name, "item");
}

static bool is_loader(struct gaps_cpu *cpu, int64_t name)
{
	const struct hwy_trace *trace = cpu->flow->trace;
	if (name <= 0 || name >= trace->strings.n)
		return false;
	if (cpu->loads[name] == 0xff)
		cpu->loads[name] = gaps_cpu_is_loader(hwy_str(trace, name));
	return cpu->loads[name];
}

/* ---- what fills an interval ---------------------------------------------------------------------- */

struct filling {
	struct hwy_interval at;
	struct hwy_cover os, loader;
	uint32_t longest_os, longest_state, loader_span; /* plus one */
	int64_t longest, longest_stretch;
	bool is_watched; /* OS calls, states or samples of the thread were recorded */
	uint32_t named,
		range; /* the shortest op or function, and range, that fill half; plus one */
	int64_t named_length, range_length;
	uint32_t sample; /* plus one */
};

static void keep_longest(int64_t length, uint32_t id, int64_t *longest, uint32_t *of)
{
	if (length <= *longest)
		return;
	*longest = length;
	*of = id;
}

static void gaps_cpu_add_span(struct gaps_cpu *cpu, struct filling *filling,
			      const struct hwy_strip *strip, uint32_t row)
{
	int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
	int64_t from = start > filling->at.from ? start : filling->at.from;
	int64_t to = end < filling->at.to ? end : filling->at.to;
	struct hwy_interval fresh;
	if (to <= from)
		return;
	uint32_t id = strip->first + row + 1;
	if (strip->kind == HWY_OS) {
		cover_add(&filling->os, from, to, &fresh);
		keep_longest(to - from, id, &filling->longest, &filling->longest_os);
		return;
	}
	if (strip->kind == HWY_STATE) {
		const char *name = hwy_str(cpu->flow->trace, hwy_get(strip, HWY_NAME, row));
		if (strcmp(name, "running") == 0 || strcmp(name, "runnable") == 0)
			return;
		cover_add(&filling->os, from, to, &fresh);
		keep_longest(to - from, id, &filling->longest_stretch, &filling->longest_state);
		return;
	}
	if (is_loader(cpu, hwy_get(strip, HWY_NAME, row)) &&
	    cover_add(&filling->loader, from, to, &fresh) && !filling->loader_span)
		filling->loader_span = id;
	if (to - from < (filling->at.to - filling->at.from) / 2)
		return;
	bool range = strip->kind == HWY_RANGE;
	uint32_t *best = range ? &filling->range : &filling->named;
	int64_t *length = range ? &filling->range_length : &filling->named_length;
	if (!*best || end - start <= *length) {
		*best = id;
		*length = end - start;
	}
}

/* The most common stack of the samples, by vote; one of those samples stands for it. */
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
			filling->sample = strip->first + row + 1;
		}
		votes = one == stack ? votes + 1 : votes - 1;
	}
}

static void gaps_cpu_fill(struct gaps_cpu *cpu, struct hwy_nest *nest, struct filling *filling)
{
	const struct hwy_strip *strip = nest->strip;
	/* Spans that began before, from the outside in: a union takes them in order of start. */
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

struct seen { /* what a thread did */
	enum gap_cause cause;
	uint32_t span;  /* that names it, plus one */
	uint32_t waker; /* thread, or FLOW_NONE */
	bool waits;     /* for another thread, as far as can be told */
	bool is_watched;
	bool is_named; /* by something more than a range */
};

/* Whether it may have been another thread that was waited for: by the call's name; of a mere state nobody knows. */
static bool waits_for_a_thread(const struct gaps_cpu *cpu, uint32_t id)
{
	static const char *const words[] = {"cond_", "futex", "sem_", "mutex", "lock", "join"};
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(cpu->flow->trace, id, &row);
	const char *name = hwy_str(cpu->flow->trace, hwy_get(strip, HWY_NAME, row));
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i]))
			return true;
	return strip->kind == HWY_STATE;
}

/* The thread that ended a wait. A stretch of waiting is followed, at the second place at most, by the one that was
 * woken. */
static uint32_t waker_of(const struct gaps_cpu *cpu, uint32_t call, uint32_t stretch)
{
	const struct hwy_trace *trace = cpu->flow->trace;
	uint32_t ids[] = {call - 1, stretch, stretch + 1}, row;
	for (unsigned i = call ? 0 : 1; i < (stretch ? 3u : 1u); i++) {
		const uint32_t *from = hwy_map_get(&cpu->wakers, ids[i]);
		if (!from || *from == 0 || *from > trace->n_spans)
			continue;
		int64_t thread = trace->lanes[hwy_strip_of(trace, *from - 1, &row)->lane].thread;
		if (thread >= 0 && thread < trace->n_threads)
			return (uint32_t)thread;
	}
	return FLOW_NONE;
}

static struct filling fill_all(struct gaps_cpu *cpu, uint32_t thread, struct hwy_interval at,
			       int64_t *os, int64_t *loader)
{
	struct filling filling = {.at = at};
	for (uint32_t i = cpu->nests.first[thread]; i < cpu->nests.first[thread + 1]; i++) {
		struct hwy_nest *nest = &cpu->nests.nests[i];
		unsigned kind = nest->strip->kind;
		filling.is_watched |= kind == HWY_SAMPLE || kind == HWY_OS || kind == HWY_STATE;
		if (kind == HWY_SAMPLE) {
			vote(&filling, nest);
			continue;
		}
		/* Each lane is a union of its own. */
		filling.os = filling.loader = (struct hwy_cover){0};
		gaps_cpu_fill(cpu, nest, &filling);
		*loader = filling.loader.total > *loader ? filling.loader.total : *loader;
		*os = filling.os.total > *os ? filling.os.total : *os;
	}
	return filling;
}

static struct seen gaps_cpu_look_at(struct gaps_cpu *cpu, uint32_t thread,
				    const struct gaps_absence *absence)
{
	int64_t os = 0, loader = 0, half = (absence->at.to - absence->at.from) / 2;
	struct filling filling = fill_all(cpu, thread, absence->at, &os, &loader);
	uint32_t wait = filling.longest_os ? filling.longest_os : filling.longest_state;
	struct seen seen = {.cause = GAP_CPU, .waker = FLOW_NONE, .is_watched = filling.is_watched};
	if (absence->copy_follows && (loader > half || os > half)) {
		seen.cause = GAP_INPUT;
		seen.span = loader > half ? filling.loader_span : wait;
	} else if (os > half) {
		seen.cause = GAP_OS;
		seen.span = wait;
		seen.waker = waker_of(cpu, filling.longest_os, filling.longest_state);
		seen.waits = seen.waker != FLOW_NONE || waits_for_a_thread(cpu, wait - 1);
	} else {
		seen.is_named = filling.named || filling.sample;
		seen.span = filling.named    ? filling.named
			    : filling.sample ? filling.sample
					     : filling.range;
	}
	return seen;
}

enum gap_cause gaps_cpu_cause(struct gaps_cpu *cpu, const struct gaps_absence *absence,
			      uint32_t *span)
{
	uint32_t n = cpu->flow->trace->n_threads;
	if (absence->thread >= n || !open_lanes(cpu))
		return absence->brings_data ? GAP_INPUT : GAP_CPU;
	struct seen seen = gaps_cpu_look_at(cpu, absence->thread, absence);
	uint32_t other = seen.waker != FLOW_NONE ? seen.waker : absence->other;
	if (other < n && other != absence->thread && (seen.waits || seen.span == 0)) {
		/* It waited for the other, or nothing is known of it: what did the other do? */
		struct seen others = gaps_cpu_look_at(cpu, other, absence);
		if (seen.waits && !others.waits && others.span)
			seen = others;
		else if (!seen.waits && others.cause == GAP_CPU)
			seen.span = others.span;
	}
	if (seen.cause == GAP_CPU && !seen.is_watched && !seen.is_named && absence->brings_data)
		seen.cause = GAP_INPUT;
	*span = seen.span;
	return seen.cause;
}
