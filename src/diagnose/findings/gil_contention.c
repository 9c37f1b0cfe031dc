/* SPDX-License-Identifier: Apache-2.0 */
/* gil_contention.c - the thread that launches waits for the lock that Python's threads share
 * (GIL), and the GPU runs out of work meanwhile.
 *
 * Cost: idle time during such waits of threads that launch, whatever else is said about the gap.
 * The edge from the call that ended a wait says which thread had the lock. In which function
 * that thread was, its samples during the wait tell, else the stack of that call, else the stack
 * of its own next wait for the lock: whoever is made to give the lock away waits for it again,
 * at the same line.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/ref.h"
#include "base/say.h"
#include "base/search.h"
#include "diagnose/findings/findings.h"
#include "diagnose/interpreter.h"

/* ns between the end of a wait and the begin of the holder's own wait: the holder gave the lock
 * away. */
#define HANDED_OVER_NS 1000000
/* A thread that had the lock for a smaller share of the waits is not named. */
#define NAMED_SHARE 0.3

enum { MOST_WAITS = 4096, MOST_SEATS = 32 };

static const struct advice fix = {
	.any = "Python runs one thread at a time. Move the other thread's work to a process, or into code that releases the lock (NumPy, "
	       "files, compression); or let the launching thread have its turn sooner.\n"
	       "  multiprocessing.Process(target=work)   # not: threading.Thread(target=work)\n"
	       "  sys.setswitchinterval(0.0005)          # a turn is 5 ms by default",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Python runs one thread at a time. Move the other thread's work to a process (loading, augmenting, logging), or into "
			 "code that releases the lock; or let the launching thread have its turn sooner.\n"
			 "  DataLoader(data, num_workers=4)   # not: threads of your own that decode in Python\n"
			 "  sys.setswitchinterval(0.0005)     # a turn is 5 ms by default"},
};

struct seat { /* where a thread had the lock */
	uint32_t thread;
	struct hwy_place place; /* its file and function are "" where they are not known */
	int64_t ns;             /* of waits meanwhile */
};

struct holders {
	struct hwy_case *c;
	const struct interpreter_spans *waits;
	/* maps the id of a span that was woken to the ref of the span that woke it */
	struct hwy_map wakers;
	struct seat seats[MOST_SEATS];
	uint32_t n;
	int64_t ns, known; /* ns of all waits, and of those whose holder is known */
};

/* Notes by whom the spans were woken. */
static void find_wakers(struct holders *holders)
{
	const struct hwy_trace *trace = holders->c->trace;
	for (uint32_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].kind == HWY_EDGE_WAKE && trace->edges[i].from >= 0 &&
		    trace->edges[i].from < (int64_t)trace->n_spans)
			*hwy_map_put(&holders->wakers, (uint64_t)trace->edges[i].to, NULL) =
				hwy_ref32((uint32_t)trace->edges[i].from);
}

/* The thread that ended the wait, which had the lock; FLOW_NONE: not recorded. *call becomes the
 * span of the call by which that thread gave the lock away. */
static uint32_t holder_of(const struct holders *holders, const struct interpreter_span *wait,
			  uint32_t *call)
{
	const struct hwy_trace *trace = holders->c->trace;
	const uint32_t *from = hwy_map_get(&holders->wakers, wait->stretch.span);
	uint32_t row;
	if (!from)
		return FLOW_NONE;
	*call = hwy_ref32_index(*from);
	int64_t thread = trace->lanes[hwy_strip_of(trace, *call, &row)->lane].thread;
	return thread >= 0 && thread < trace->n_threads ? (uint32_t)thread : FLOW_NONE;
}

static bool has_function(const struct holders *holders, uint32_t span)
{
	return *place_of(holders->c->analysis->places, span).function;
}

/* A sample of the thread in the middle of the wait; CLAIM_NOBODY: the thread was not sampled
 * then. */
static uint32_t sample_in(const struct holders *holders, uint32_t thread, struct hwy_interval at)
{
	const struct hwy_trace *trace = holders->c->trace;
	int64_t middle = at.from + (at.to - at.from) / 2;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_SAMPLE || trace->lanes[strip->lane].thread != thread)
			continue;
		uint32_t row =
			HWY_FIRST(i, 0u, strip->rows, hwy_get(strip, HWY_START, i) >= middle);
		if (row < strip->rows && hwy_get(strip, HWY_START, row) < at.to)
			return strip->first + row;
		if (row > 0 && hwy_get(strip, HWY_START, row - 1) >= at.from)
			return strip->first + row - 1;
	}
	return CLAIM_NOBODY;
}

/* The wait of the thread for the lock that it had just given away at a time, with a stack;
 * CLAIM_NOBODY: there is none. */
static uint32_t own_wait_at(const struct holders *holders, uint32_t thread, int64_t time)
{
	const struct interpreter_spans *waits = holders->waits;
	for (uint32_t i = HWY_FIRST(k, 0u, waits->n,
				    waits->list[k].stretch.at.from >= time - HANDED_OVER_NS);
	     i < waits->n && waits->list[i].stretch.at.from <= time + HANDED_OVER_NS; i++)
		if (waits->list[i].thread == thread &&
		    has_function(holders, waits->list[i].stretch.span))
			return waits->list[i].stretch.span;
	return CLAIM_NOBODY;
}

/* Adds a wait to the seat of the thread that had the lock. */
static void add_to_seat(struct holders *holders, uint32_t thread, const struct hwy_place *place,
			int64_t ns)
{
	for (uint32_t i = 0; i < holders->n; i++)
		if (holders->seats[i].thread == thread &&
		    place_equal(&holders->seats[i].place, place)) {
			holders->seats[i].ns += ns;
			return;
		}
	if (holders->n < MOST_SEATS)
		holders->seats[holders->n++] = (struct seat){thread, *place, ns};
}

static void look_at_wait(struct holders *holders, const struct interpreter_span *wait)
{
	int64_t ns = interpreter_length(holders->c, wait);
	uint32_t call, thread = holder_of(holders, wait, &call);
	holders->ns += ns;
	if (thread == FLOW_NONE)
		return;
	holders->known += ns;
	uint32_t span = sample_in(holders, thread, wait->stretch.at);
	if (span == CLAIM_NOBODY && has_function(holders, call))
		span = call;
	if (span == CLAIM_NOBODY)
		span = own_wait_at(holders, thread, wait->stretch.at.to);
	struct hwy_place place = {"", 0, "", "", "", ""};
	if (span != CLAIM_NOBODY) {
		place = place_of(holders->c->analysis->places, span);
		place.range = place.api = "";
	}
	add_to_seat(holders, thread, &place, ns);
}

/* The seat of the thread that had the lock longest, of its seats the longest whose place is
 * known; NULL: there is none. *ns becomes the time of all seats of the thread. */
static const struct seat *longest_seat(const struct holders *holders, int64_t *ns)
{
	const struct seat *top = NULL;
	*ns = 0;
	for (uint32_t i = 0; i < holders->n; i++) {
		const struct seat *best = NULL;
		int64_t sum = 0;
		for (uint32_t k = 0; k < holders->n; k++) {
			const struct seat *seat = &holders->seats[k];
			if (seat->thread != holders->seats[i].thread)
				continue;
			sum += seat->ns;
			bool is_known = *seat->place.function, was = best && *best->place.function;
			if (!best || is_known > was || (is_known == was && seat->ns > best->ns))
				best = seat;
		}
		if (sum > *ns) {
			*ns = sum;
			top = best;
		}
	}
	return top;
}

/* The sentence about who had the lock; "" where the recording does not tell. */
static const char *say_holder(const struct holders *holders)
{
	struct hwy_case *c = holders->c;
	int64_t ns;
	const struct seat *top = longest_seat(holders, &ns);
	if (!top || (double)ns < NAMED_SHARE * (double)holders->ns)
		return "";
	const struct hwy_thread *thread = &c->trace->threads[top->thread];
	const char *where = "";
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (*top->place.function && top->place.line > 0)
		where = hwy_arena_say(arena, ", in %.80s (%.200s:%lld)", top->place.function,
				      top->place.file, (long long)top->place.line);
	else if (*top->place.function)
		where = hwy_arena_say(arena, ", in %.80s", top->place.function);
	return hwy_arena_say(arena, " For %s of that time thread %lld%s%.40s%s had the lock%s.",
			     hwy_say_share((double)ns / (double)holders->ns).text,
			     (long long)thread->tid, thread->name ? " (" : "",
			     thread->name ? hwy_str(c->trace, thread->name) : "",
			     thread->name ? ")" : "", where);
}

static const char *find_holder(struct hwy_case *c, const struct interpreter_spans *waits)
{
	struct holders holders = {.c = c, .waits = waits};
	struct hwy_err err;
	if (!hwy_need(c->trace, HWY_KIND_BIT(HWY_SAMPLE),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_STACK), &err))
		return "";
	find_wakers(&holders);
	uint32_t every = 1 + waits->n / MOST_WAITS;
	for (uint32_t i = 0; i < waits->n; i += every)
		if (waits->list[i].launches)
			look_at_wait(&holders, &waits->list[i]);
	const char *says = say_holder(&holders);
	hwy_map_free(&holders.wakers);
	return says;
}

static void finding_gil_contention_look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct interpreter_spans waits = interpreter_lock_waits(c);
	uint64_t n = 0;
	int64_t ns = 0;
	interpreter_claim(c, &claim, &waits, true, CLAIM_CPU_CAUSES | CLAIM_CAUSE(GAP_INPUT));
	for (uint32_t i = 0; i < waits.n; i++)
		if (waits.list[i].launches) {
			n++;
			ns += interpreter_length(c, &waits.list[i]);
		}
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		interpreter_free(&waits);
		return;
	}
	const char *holder = find_holder(c, &waits);
	const char *says = hwy_arena_say(
		&c->diagnosis->arena,
		"The thread that launches waits for Python's lock (GIL) %s, %s in all%s, and the GPU has nothing to do for "
		"%s of it.%s",
		hwy_arena_say(&c->diagnosis->arena, case_is_loop(c) ? "%s a step" : "%s",
			      hwy_say_count_times(case_count_per_step(c, n)).text),
		hwy_say_time3(ns / (int64_t)c->phase->n_steady).text, case_a_step(c),
		hwy_say_time3(case_per_step(c, claim.total)).text, holder);
	interpreter_free(&waits);
	claim_accuse(c, &claim, *holder ? HWY_HIGH : HWY_MEDIUM, says, case_advice(c, &fix));
}

const struct hwy_finding_kind finding_gil_contention = {
	.id = "gil-contention",
	.title = "the launching thread waits for Python's lock",
	.look = finding_gil_contention_look,
};
