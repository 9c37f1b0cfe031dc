/* SPDX-License-Identifier: Apache-2.0 */
/* gc_pauses.c - Python's garbage collector stops the program, and the GPU runs out of work
 * meanwhile.
 *
 * Cost: idle time during collections on a thread that launches, whatever else is said about the
 * gap; during collections on other threads only idle time whose cause is the collector or the
 * lock that it holds. Collections that take WORTH_TIME of the steps while the GPU has work are
 * acquitted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/interpreter.h"

/* Collections that take a smaller share of the steps than this are not even suspected. */
#define WORTH_TIME 0.02

static const struct advice fix = {
	.any = "Collect when it suits the program: once after warm-up put all that lives for good out of the collector's sight, "
	       "then switch the collector off and call it every thousand steps, or let it run less often.\n"
	       "  gc.collect(); gc.freeze(); gc.disable()   # after warm-up; in the loop: if step % 1000 == 0: gc.collect(1)\n"
	       "  gc.set_threshold(50_000, 20, 1000)        # or: less often",
};

/* The advice where a full collection runs exactly once in every step. */
static const char called[] =
	"A full collection in every single step is a call, not chance: look for gc.collect() at this place, or in a library "
	"that the step calls (with torch.cuda.empty_cache(), often), and leave it out or do it every thousand steps.\n"
	"  if step % 1000 == 0: gc.collect()";

struct collected {        /* sums over the collections of the phase */
	uint64_t n, full; /* how many, and how many of generation 2 */
	int64_t ns;
	int64_t longest;     /* ns */
	bool is_once_a_step; /* one full collection in each steady step */
};

static struct collected sum_up_collections(const struct hwy_case *c,
					   const struct interpreter_spans *spans)
{
	struct collected sum = {0};
	int64_t *times = hwy_array(spans->n, sizeof *times);
	uint32_t full = 0;
	for (uint32_t i = 0; i < spans->n; i++) {
		const struct interpreter_span *one = &spans->list[i];
		int64_t ns = interpreter_length(c, one);
		sum.n++;
		sum.ns += ns;
		sum.longest = ns > sum.longest ? ns : sum.longest;
		if (strcmp(hwy_str(c->trace, one->name), HWY_COLLECTION_NAME "2") == 0)
			times[full++] = one->stretch.at.from;
	}
	sum.full = full;
	/* The first and the last one may lie at the window's edge. */
	sum.is_once_a_step = case_is_loop(c) && full + 1 >= c->phase->n_steady &&
			     full <= c->phase->n_steady + 1 &&
			     case_steps_with(c, times, full) + 1 >= c->phase->n_steady;
	free(times);
	return sum;
}

static const char *gc_pauses_says(struct hwy_case *c, const struct claim *claim,
				  const struct collected *sum)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	double often = case_count_per_step(c, sum->n);
	const char *rate =
		!case_is_loop(c) || often <= 0
			? hwy_arena_say(arena, "%llu times", (unsigned long long)sum->n)
		: often >= 1 ? hwy_arena_say(arena, "%s a step", hwy_say_count_times(often).text)
			     : hwy_arena_say(arena, "every %s steps",
					     hwy_say_count_mean(1 / often).text);
	const char *full = "";
	if (sum->full == sum->n)
		full = hwy_tr(", all of them over all objects (generation 2)");
	else if (sum->full)
		full = hwy_arena_say(arena, ", %s of them over all objects (generation 2)",
				     hwy_say_count_grouped(sum->full).text);
	return hwy_arena_say(
		arena,
		"Python's garbage collector runs %s, %s collections in all%s; one takes %s on average and %s at most. "
		"The GPU has nothing to do for %s%s meanwhile.",
		rate, hwy_say_count_grouped(sum->n).text, full,
		hwy_say_time3(sum->ns / (int64_t)sum->n).text, hwy_say_time3(sum->longest).text,
		hwy_say_time3(case_per_step(c, claim->total)).text, case_a_step(c));
}

static void finding_gc_pauses_look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct interpreter_spans spans = interpreter_collections(c);
	if (spans.n == 0)
		return;
	struct collected sum = sum_up_collections(c, &spans);
	interpreter_claim(c, &claim, &spans, true, CLAIM_CPU_CAUSES | CLAIM_CAUSE(GAP_INPUT));
	interpreter_claim(c, &claim, &spans, false, CLAIM_CAUSE(GAP_GC) | CLAIM_CAUSE(GAP_GIL));
	interpreter_free(&spans);
	int64_t window = c->phase->window.to - c->phase->window.from;
	if (claim_is_worth(c, &claim))
		claim_accuse(c, &claim, HWY_HIGH, gc_pauses_says(c, &claim, &sum),
			     sum.is_once_a_step ? called : case_advice(c, &fix));
	else if ((double)sum.ns >= WORTH_TIME * (double)window)
		claim_acquit(c, &claim,
			     hwy_arena_say(&c->diagnosis->arena,
					   "Garbage collections take %s of the time, and the GPU "
					   "has work meanwhile.",
					   hwy_say_share((double)sum.ns / (double)window).text));
	else
		claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_gc_pauses = {
	.id = "gc-pauses",
	.title = "the GPU waits for Python's garbage collector",
	.suspect = "garbage collection",
	.look = finding_gc_pauses_look,
};
