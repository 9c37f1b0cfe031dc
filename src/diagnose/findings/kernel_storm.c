/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_storm.c - many tiny kernels, one after the other: the GPU's pauses between them add up.
 *
 * Cost: the short pauses ('dependency' gaps below PAUSE_NS) in front of short kernels that were
 * launched one by one. Kernels inside a graph are not counted: a graph is the fix already. Where
 * the CPU is too slow to launch the kernels in time, launch-bound has claimed the idle time; many
 * kernels whose pauses cost nothing are acquitted.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"
#include "diagnose/launchers.h"

/* From the end of a kernel to the begin of the next one in the same stream current GPUs take 1 to 2
 * us; a longer gap is a wait for something else. */
#define PAUSE_NS 10000
#define MANY_KERNELS_PER_STEP 100.0 /* at this number of kernels people begin to worry */
#define FEW_KERNELS_PER_STEP 20.0   /* fewer kernels a step are no storm */

static const struct advice fix = {
	.any = "Do the same in fewer kernels: fuse neighbours into one, process several items in one launch, or put the "
	       "sequence into a CUDA graph, which shortens the pauses.\n"
	       "  step<<<blocks, threads, 0, s>>>(a, b, c);   // one kernel that does what the small ones did",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Let the compiler fuse them, and use the fused optimizers.\n"
				"  model = torch.compile(model); torch.optim.AdamW(parameters, fused=True)",
			[HWY_CUPY] = "Fuse element-wise expressions into one kernel.\n"
				     "  @cupy.fuse()\n  def update(x, y, a): return a * x + y",
			[HWY_JAX] =
				"Let XLA fuse them: put the whole step into one jitted function.\n"
				"  step = jax.jit(step, donate_argnums=0)",
			[HWY_OPENCL_C] =
				"Do the same in fewer kernels: fuse neighbours, or process several items in one launch.",
		},
	.compiled =
		"The program is compiled already: let the compiler see more at once. Close graph breaks, compile the optimizer's "
		"step too, or use a fused one.\n"
		"  TORCH_LOGS=graph_breaks python3 …; torch.optim.AdamW(parameters, fused=True)",
	.inference =
		"Let the compiler fuse them, or use fused layers.\n  model = torch.compile(model)",
};

static void acquit_kernels(struct hwy_case *c, struct claim *claim, double each)
{
	const char *says = hwy_arena_say(
		&c->diagnosis->arena,
		"%s kernels a step, each %s long (median): the pauses between them cost %s of the step.",
		hwy_say_count_mean(each).text, hwy_say_time3(c->counts.kernel_median).text,
		hwy_say_share(claim_share(c, claim)).text);
	claim_acquit(c, claim, says);
}

static void finding_kernel_storm_look(struct hwy_case *c)
{
	struct claim claim = {0};
	uint64_t single = c->counts.kernels - c->counts.graph_kernels;
	double each = case_count_per_step(c, single);
	if (each < FEW_KERNELS_PER_STEP)
		return;
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->cause != GAP_DEPENDENCY || gap->op == FLOW_NONE ||
		    gap->at.to - gap->at.from > PAUSE_NS)
			continue;
		const struct flow_op *op = &c->flow->ops[gap->op];
		bool single_kernel = op->kind == HWY_KERNEL && op->call != FLOW_NONE &&
				     c->flow->calls[op->call].role != HWY_ROLE_GRAPH_LAUNCH;
		if (single_kernel && op->end - op->start < CASE_SHORT_KERNEL_NS)
			claim_gap(c, &claim, g, CLAIM_ALL, op->span);
	}
	int64_t launch_idle = case_states(c).causes[GAP_LAUNCH];
	if (claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, HWY_MEDIUM,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s kernels a step, %s each in the middle; the GPU pauses %s a step between "
				"them, though they were launched in time.%s",
				hwy_say_count_mean(each).text,
				hwy_say_time3(c->counts.kernel_median).text,
				hwy_say_time3(case_per_step(c, claim.total)).text,
				launchers_sentence(c)),
			case_advice(c, &fix));
	else if (each >= MANY_KERNELS_PER_STEP && case_share(c, launch_idle) < HWY_WORTH_SHARE)
		acquit_kernels(c, &claim, each);
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_kernel_storm = {
	.id = "kernel-storm",
	.title = "many tiny kernels",
	.suspect = "many kernels",
	.edit = "graph",
	.look = finding_kernel_storm_look,
};
