/* SPDX-License-Identifier: Apache-2.0 */
/* input_starved.c - the GPU waits for the next batch: the loader is slower than the step.
 *
 * Cost: gaps with the cause 'input'. The advice depends on the worker processes: where these are
 * started again and again, more of them would make it worse; too-many-workers looks before this
 * finding.
 */
#include <string.h>

#include "analyze/gaps/gaps_cause.h"
#include "base/lang.h"
#include "base/path.h"
#include "base/ref.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/workers.h"

#define FEWEST_WORKERS 2

static const struct advice few = {
	.any = "Make what prepares a batch faster (whole arrays at once instead of a loop over their elements), or prepare batches ahead of "
	       "time in other threads or processes, so that the next one is ready when the GPU asks; pin the memory that they are copied "
	       "from.",
	.by_framework =
		{[HWY_OPENCL_C] =
			 "Make what prepares a batch faster (whole arrays at once instead of a loop over their elements), or prepare batches "
			 "ahead of time in other threads or processes, so that the next one is ready when the device asks.",
		 [HWY_PYTORCH] =
			 "Load batches in worker processes, ahead of time: raise num_workers step by step while this cost "
			 "falls, up to the number of cores.\n"
			 "  DataLoader(data, batch_size=…, num_workers=8, pin_memory=True, persistent_workers=True, "
			 "prefetch_factor=4)\n"
			 "If it stays, move what prepares it (decoding, augmentation, lookups) to the GPU, or store the data preprocessed.",
		 [HWY_JAX] =
			 "Prepare batches ahead of time in other processes (grain, tf.data), or on the device: send raw data, and let the "
			 "jitted step decode, crop and normalise it.\n"
			 "  step = jax.jit(lambda params, raw: update(params, augment(raw)))"},
	.inference =
		"Prepare the next request's input while the GPU works on this one: preprocess in other threads or "
		"processes, ahead of time, or on the GPU.\n"
		"  DataLoader(data, batch_size=…, num_workers=8, pin_memory=True)    # pipeline(…, num_workers=8)\n"
		"  following = pool.submit(preprocess, request)                      # then model(current)",
};
static const struct advice again = {
	.any = "Worker processes are started again and again: start them once and keep them.",
	.by_framework = {[HWY_PYTORCH] =
				 "The workers are started anew for every epoch: keep them.\n"
				 "  DataLoader(…, num_workers=8, persistent_workers=True)"},
};

/* The advice where one thread of the loop's process prepares the batches. */
static const struct advice threads = {
	.any = "Let several threads prepare batches by turns (in Python processes, since threads share the GIL), or make faster what "
	       "one batch takes; a longer queue alone does not help a thread that is slower than the step.",
};

/* The advice for loops that read results right before they prepare the next batch. */
static const struct advice depends = {
	.any = "If the next batch needs these results (a simulation, sampling), it cannot be prepared ahead: make that part faster, move "
	       "it to the GPU, or work on two groups by turns, so that the CPU prepares one while the GPU computes the other. If it "
	       "does not, prepare batches ahead of time in other threads or processes.",
};

/* Yields a sentence about who prepares the batches, with a space before it; "" where the
 * recording does not tell. */
static const char *who_prepares(struct hwy_case *c, const struct workers *workers, const char *name,
				bool is_thread)
{
	static const char own[] = " The batch is prepared in the loop's own process.";
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (strstr(name, "SingleProcessDataLoader"))
		return hwy_tr(own);
	if (!workers->is_known)
		return "";
	if (is_thread)
		return hwy_tr(" Another thread prepares the batches, and comes late.");
	if (workers->n == 0)
		return hwy_tr(
			" No worker processes were seen: the batch is prepared in the loop's own process.");
	if (workers->generations > 1)
		return hwy_arena_say(arena, " Its %u workers were started at %u different times.",
				     workers->n, workers->generations);
	return hwy_arena_say(
		arena, " %s prepare%s batches.",
		hwy_say_count_of(workers->n, "worker process", "worker processes").text,
		workers->n == 1 ? "s" : "");
}

/* The name of what takes most of the wait; "" where that is a call of the vendor's library: such
 * a call ends the wait, and is not what the CPU does in it. */
static const char *name_of_loader(struct hwy_case *c, const struct claim *claim)
{
	int64_t in_top;
	const char *name = claim_top_name(c, claim, &in_top);
	bool is_call = HWY_ROLE_OF(hwy_role_of_name(name)) != HWY_ROLE_OTHER;
	return in_top > claim->total / 2 && !is_call ? name : "";
}

/* Names the code inside of the loader in which most of the wait passes; "" where nothing tells
 * more than the loader's name. */
static const char *inside_of_loader(struct hwy_case *c, const struct claim *claim,
				    const char *loader)
{
	int64_t in_top;
	uint32_t span;
	const char *name = claim_top_work(c, claim, &in_top, &span);
	if (!*name || in_top <= claim->total / 2 || strcmp(name, loader) == 0)
		return "";
	struct hwy_place place = place_of(c->analysis->places, span);
	const char *at = !*place.file
				 ? ""
				 : hwy_arena_say(&c->diagnosis->arena, " at %s:%lld",
						 hwy_basename(place.file), (long long)place.line);
	return hwy_arena_say(&c->diagnosis->arena, " Most of it, %s, is in %.80s%s.",
			     hwy_say_time3(case_per_step(c, in_top)).text, name, at);
}

/* Whether spans of the program, and not only the copies that end it, tell what most of the wait
 * is. */
static bool is_named(const struct hwy_case *c, const struct claim *claim)
{
	int64_t named = 0;
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct claim_item *item = &claim->items[i];
		uint32_t row, span = item->purse == CLAIM_GAP
					     ? c->measures->gaps.gaps[item->index].span
					     : HWY_REF_NONE;
		if (hwy_ref32_is_set(span) &&
		    hwy_strip_of(c->trace, hwy_ref32_index(span), &row)->kind != HWY_API)
			named += item->ns;
	}
	return named > claim->total / 2;
}

static void finding_input_starved_look(struct hwy_case *c)
{
	struct claim claim = {0};
	claim_cause(c, &claim, GAP_INPUT);
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	struct hwy_arena *arena = &c->diagnosis->arena;
	struct workers workers = workers_find(c);
	const char *name = name_of_loader(c, &claim);
	bool is_thread = workers.is_known && workers.n == 0 && gaps_cpu_waits_for_thread(name);
	const char *who = who_prepares(c, &workers, name, is_thread);
	bool is_again = workers.n >= FEWEST_WORKERS && workers.generations > 1;
	const char *where = "", *inside = inside_of_loader(c, &claim, name);
	bool depends_on_results = !gaps_cpu_is_loader(name) && !is_thread && workers.n == 0 &&
				  claim_follows_results(c, &claim);
	if (*name)
		name = hwy_arena_say(arena, ", mostly in %.80s", name);
	else if (case_is_loop(c) && !is_named(c, &claim))
		where = HWY_KEY(
			" The place is where the batch is copied; what the loop does right before prepares it.");
	if (depends_on_results)
		who = hwy_tr(" Right before, results are copied to the host.");
	const char *says = hwy_arena_say(
		arena, "The GPU waits %s%s, %s of the time, for the next batch%s.%s%s%s",
		hwy_say_time3(case_per_step(c, claim.total)).text, case_a_step(c),
		hwy_say_share(claim_share(c, &claim)).text, name, inside, who, hwy_tr(where));
	claim_accuse(c, &claim, HWY_HIGH, says,
		     case_advice(c, depends_on_results ? &depends
				    : is_again         ? &again
				    : is_thread        ? &threads
						       : &few));
}

const struct hwy_finding_kind finding_input_starved = {
	.id = "input-starved",
	.title = "the GPU waits for input",
	.edit = "perfect-input",
	.look = finding_input_starved_look,
};
