/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_bound_gap.c - the GPU waits while the CPU is busy with something else: named code, a file, a
 * lock.
 *
 * Cost: gaps with the causes 'cpu' and 'os'. The finding names the operator, range, sample or OS
 * call that takes most of these gaps; a wait for another thread is told as a wait. Where most of
 * the time is inside operators that launch, the advice is to make fewer of them: their work before
 * the launch cannot move elsewhere. Where the recording does not show what the CPU did, the advice
 * is to find out.
 */
#include <string.h>

#include "analyze/gaps/gaps_cause.h"
#include "base/lang.h"
#include "base/ref.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"
#include "diagnose/launchers.h"

/* A function that takes a smaller share of the gaps is not named: it does not hold the GPU up. */
#define NAMED_SHARE 0.2

static const struct advice fix = {
	.any = "Move this work off the loop's thread, or do it while the GPU is busy: launch the next step first.\n"
	       "  launch(step + 1); std::async(save, result);   // not: save(result); launch(step + 1);",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Move this work to the GPU, or off the loop's thread (a thread pool for files and logging), do it less often, or "
				"do it after the next step has been launched.\n"
				"  pool.submit(save, state)   # not: save(state)",
			[HWY_JAX] =
				"Dispatch the next step first, which does not wait, and do this work while it runs; save and log from a thread.\n"
				"  following = step(params, batch); pool.submit(save, params)   # not: save(params); step(params, batch)",
			[HWY_CUPY] =
				"Do this beside the computation: copy to pinned memory on its own stream, and save from a "
				"thread.\n"
				"  with copy_stream: x.get(out=pinned, blocking=False)\n"
				"  pool.submit(numpy.save, name, pinned)",
		},
};

static const struct advice fewer = {
	.any = "This is the framework's own work for each operator: use fewer and larger ones, or have them compiled.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "This is what PyTorch does for each operator before it launches: have the model compiled, use "
			 "fewer and larger operators; a larger batch costs no more of it.\n"
			 "  model = torch.compile(model)",
		 [HWY_JAX] =
			 "This is what JAX does for each operation outside of jit: put the whole step into one jitted function.\n"
			 "  step = jax.jit(step, donate_argnums=0)"},
	.compiled =
		"This is what PyTorch does for each operator before it launches, outside of what is compiled already: close graph "
		"breaks, and compile more of the step.\n"
		"  TORCH_LOGS=graph_breaks python3 …",
};

static const struct advice unknown = {
	.any = "What the CPU does there was not recorded: sample it, or mark its parts with ranges; then move it off the loop's "
	       "thread, or do it after the next step has been launched.\n"
	       "  headway profile -s process-tree ./program",
	.by_framework =
		{[HWY_PYTORCH] =
			 "What Python does there was not recorded: sample it, or let torch.profiler record stacks; then move "
			 "it off the loop's thread, or do it after the next step has been launched.\n"
			 "  headway profile -s process-tree python3 train.py   # or: torch.profiler.profile(with_stack=True)",
		 [HWY_JAX] =
			 "What Python does there was not recorded: sample it; then move it off the loop's thread, or do it after the next step "
			 "has been dispatched.\n"
			 "  headway profile -s process-tree python3 train.py"},
};

/* The advice where results are read right before, and the recording does not show what the CPU
 * does with them. */
static const struct advice with_results = {
	.any = "Right before, results are copied to the host. If the next step needs what the CPU makes of them, do that on the GPU, and "
	       "copy only what the host must see; if it does not, launch the next step first.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Right before, results are copied to the host. If the next step needs what the CPU makes of them (a sampled "
			 "token, a decision), do that on the GPU, and copy only what the host must see; if it does not, launch the "
			 "next step first.\n"
			 "  token = torch.multinomial(logits.topk(50).values.softmax(-1), 1)   # not: numpy on logits.cpu()",
		 [HWY_JAX] =
			 "Right before, results are copied to the host. If the next step needs what the CPU makes of them, do that inside the "
			 "jitted function; if it does not, dispatch the next step first.\n"
			 "  token = jax.random.categorical(key, logits)   # not: NumPy on np.asarray(logits)"},
};

/* The advice where the CPU was sampled, or its functions recorded, and no single one stands out. */
static const char scattered[] =
	"No single function takes most of that time: look at what the loop's thread does there, and move it off that thread, or "
	"do it after the next step has been launched.\n"
	"  headway view FILE";

/* The advice where nothing repeats. */
static const char once[] =
	"Nothing repeats in this recording, so this may be start-up: record several steps before changing the program.";

enum { OPERATOR, KNOWN, UNKNOWN, SORTS };

/* What names a gap: the operator that launches the work after the gap, something else (KNOWN), or
 * nothing. A range around that launch says where the CPU was, not what it did: such a gap is
 * UNKNOWN. */
static int sort_of(const struct hwy_case *c, const struct hwy_gap *gap)
{
	uint32_t row;
	if (!hwy_ref32_is_set(gap->span))
		return UNKNOWN;
	const struct hwy_strip *strip = hwy_strip_of(c->trace, hwy_ref32_index(gap->span), &row);
	if ((strip->kind != HWY_OP && strip->kind != HWY_RANGE) || gap->op == FLOW_NONE ||
	    c->flow->ops[gap->op].call == FLOW_NONE)
		return KNOWN;
	int64_t launch = c->flow->calls[c->flow->ops[gap->op].call].start;
	bool inside = hwy_get(strip, HWY_START, row) <= launch && launch <= hwy_end(strip, row);
	return !inside ? KNOWN : strip->kind == HWY_OP ? OPERATOR : UNKNOWN;
}

static const char *cpu_bound_gap_advice(const struct hwy_case *c, const struct claim *claim)
{
	int64_t ns[SORTS] = {0};
	for (uint32_t i = 0; i < claim->n; i++)
		ns[sort_of(c, &c->measures->gaps.gaps[claim->items[i].index])] +=
			claim->items[i].ns;
	const struct hwy_habits *habits = &c->diagnosis->habits;
	if (!case_is_loop(c))
		return once;
	if (ns[UNKNOWN] > claim->total / 2 && claim_follows_results(c, claim))
		return case_advice(c, &with_results);
	if (ns[UNKNOWN] > claim->total / 2)
		return habits->has_samples || habits->has_functions ? scattered
								    : case_advice(c, &unknown);
	return case_advice(c, ns[OPERATOR] > claim->total / 2 ? &fewer : &fix);
}

/* Whether the gaps of this name are waits for another thread, in a call of the OS. */
static bool is_wait_for_thread(const struct hwy_case *c, const struct claim *claim,
			       const char *name)
{
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[claim->items[i].index];
		uint32_t row;
		if (!hwy_ref32_is_set(gap->span) ||
		    strcmp(case_name(c, hwy_ref32_index(gap->span)), name) != 0)
			continue;
		return hwy_strip_of(c->trace, hwy_ref32_index(gap->span), &row)->kind == HWY_OS &&
		       gaps_cpu_waits_for_thread(name);
	}
	return false;
}

/* What the CPU does in the gaps: 'cpu' ns of them are its own work, the rest is in the OS. */
static const char *what_it_does(const struct claim *claim, int64_t cpu, bool waits)
{
	if (claim->total - cpu > cpu)
		return hwy_tr("is busy in the operating system: files, sockets, locks");
	return waits ? hwy_tr("is busy with work of its own, or waits for another thread")
		     : hwy_tr("is busy with work of its own");
}

/* The sentence that names the largest part of the gaps. */
static const char *largest_part(struct hwy_case *c, const struct claim *claim, const char *name,
				int64_t in_top, bool waits)
{
	const char *how_much = hwy_tr(in_top > claim->total / 2 ? "Most" : "The largest part");
	if (!*name)
		return "";
	return hwy_arena_say(&c->diagnosis->arena,
			     waits ? " %s of it, %s, is a wait for another thread, in %.80s."
				   : " %s of it, %s, is %.80s.",
			     how_much, hwy_say_time3(case_per_step(c, in_top)).text, name);
}

static void finding_cpu_bound_gap_look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct hwy_arena *arena = &c->diagnosis->arena;
	claim_cause(c, &claim, GAP_CPU);
	int64_t cpu = claim.total, in_top;
	claim_cause(c, &claim, GAP_OS);
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	const char *name = claim_top_name(c, &claim, &in_top);
	const char *mark = hwy_str(c->trace, c->phase->name);
	/* A name helps nobody where it is the mark of the step, or where it takes a small share
	 * of the gaps. */
	if ((*mark && strncmp(name, mark, strlen(mark)) == 0) ||
	    (double)in_top < NAMED_SHARE * (double)claim.total)
		name = "";
	bool waits = is_wait_for_thread(c, &claim, name);
	const char *advice = cpu_bound_gap_advice(c, &claim);
	/* Who launches matters where the advice is to launch less. */
	const char *who = advice == case_advice(c, &fewer) ? launchers_sentence(c) : "";
	const char *says =
		hwy_arena_say(arena, "The GPU has nothing to do for %s%s while the CPU %s.%s%s",
			      hwy_say_time3(case_per_step(c, claim.total)).text, case_a_step(c),
			      what_it_does(&claim, cpu, waits),
			      largest_part(c, &claim, name, in_top, waits), who);
	claim_accuse(c, &claim, *name ? HWY_HIGH : HWY_MEDIUM, says, advice);
}

const struct hwy_finding_kind finding_cpu_bound_gap = {
	.id = "cpu-bound-gap",
	.title = "the GPU waits for CPU code",
	.edit = "background",
	.look = finding_cpu_bound_gap_look,
};
