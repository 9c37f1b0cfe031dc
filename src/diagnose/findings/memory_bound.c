/* SPDX-License-Identifier: Apache-2.0 */
/* memory_bound.c - elementwise kernels in a row that wait for the device's memory: one kernel
 * would read and write once.
 *
 * Conditions: chains of elementwise kernels (whatif/fusion.h) take WORTH_SHARE of the step or
 * more over what one kernel for each chain would take, and the memory is what they wait for:
 * counters show it at INSIDE_DRAM_LIMIT percent or more while they run; without counters, the
 * shapes of operators say "memory" for BOUND_SHARE of their time. Cost: what the replay gains
 * with the edit fuse.
 */
#include <stdlib.h>

#include "analyze/roofline.h"
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/evidence.h"
#include "diagnose/findings/findings.h"
#include "whatif/fusion.h"

#define WORTH_SHARE 0.05
#define BOUND_SHARE 0.5

static const struct advice fix = {
	.any = "Compute the chain in one kernel, so that values stay in registers between its steps; or use half precision, which "
	       "moves half of the bytes.\n"
	       "  out[i] = clamp(a * x[i] + b, lo, hi) * gate[i];   // one loop over i, not four kernels",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Let torch.compile fuse the elementwise operators into one kernel; half precision moves half of the "
				"bytes.\n"
				"  layer = torch.compile(layer)",
			[HWY_CUPY] = "Fuse the elementwise operations into one kernel.\n"
				     "  @cupy.fuse()\n"
				     "  def layer(x, gate): …",
			[HWY_JAX] = "Put the whole function under jit, so that XLA fuses it.\n"
				    "  step = jax.jit(step)",
		},
	.compiled =
		"These operators run outside of what torch.compile has compiled: compile the function around them, too, or look "
		"for graph breaks.\n"
		"  TORCH_LOGS=graph_breaks python3 …",
};

struct chains {
	struct hwy_case *c;
	struct claim claim;
	bool *is_part; /* for each op of the case from first_op on, whether it is part of a chain */
	uint64_t n, kernels;
	int64_t ns, fused;
};

static uint32_t step_of_kernel(void *self, uint32_t op)
{
	struct hwy_case *c = ((struct chains *)self)->c;
	if (!case_op_is_ours(c, op) || c->op_is_taken[op - c->first_op])
		return 0;
	return 1 + case_step_at(c, c->flow->ops[op].start);
}

static void take_chain(void *self, const struct fusion_chain *chain)
{
	struct chains *chains = self;
	struct hwy_case *c = chains->c;
	for (uint32_t i = 0; i < chain->n; i++)
		chains->is_part[chain->ops[i] - c->first_op] = true;
	chains->n++;
	chains->kernels += chain->n;
	chains->ns += chain->ns;
	chains->fused += chain->fused;
	claim_kernels(c, &chains->claim, chain->ns - chain->fused,
		      c->flow->ops[chain->ops[0]].span);
}

static bool is_in_chain(const struct hwy_case *c, uint32_t op, const void *chains)
{
	return op >= c->first_op && ((const struct chains *)chains)->is_part[op - c->first_op];
}

/* Whether the shapes of operators say that most of the chains' time is bound by memory. */
static bool shapes_say_memory(const struct hwy_case *c, const struct chains *chains)
{
	struct hwy_roofline roofline;
	struct roofline_options options = {
		.from = c->phase->window.from, .to = c->phase->window.to, .owners = c->owners};
	struct hwy_err err;
	if (!c->owners || !roofline_from_shapes(&roofline, c->trace, &options, &err))
		return false;
	int64_t bound = 0;
	for (uint32_t i = 0; i < roofline.n_points; i++)
		if (roofline.points[i].kind == ROOFLINE_KERNEL &&
		    roofline.points[i].bound == ROOFLINE_MEMORY &&
		    fusion_is_elementwise(roofline.points[i].name))
			bound += roofline.points[i].ns;
	roofline_free(&roofline);
	return (double)bound >= BOUND_SHARE * (double)chains->ns;
}

/* Yields how it is known that the chains wait for memory; NULL where it is not. */
static const char *how_known(struct hwy_case *c, const struct chains *chains,
			     enum hwy_confidence *confidence)
{
	struct evidence evidence;
	if (evidence_of_ops(c, is_in_chain, chains, &evidence)) {
		*confidence = HWY_HIGH;
		return evidence.levels.dram >= INSIDE_DRAM_LIMIT
			       ? hwy_arena_say(
					 &c->diagnosis->arena,
					 "the memory is at %.0f %% of its bandwidth "
					 "meanwhile (%s)",
					 evidence.levels.dram,
					 hwy_say_count_of(evidence.samples, "sample", "samples")
						 .text)
			       : NULL;
	}
	*confidence = HWY_MEDIUM;
	return shapes_say_memory(c, chains)
		       ? hwy_tr("by the shapes of the operators, memory is what holds them back")
		       : NULL;
}

static void finding_memory_bound_look(struct hwy_case *c)
{
	struct chains chains = {.c = c};
	enum hwy_confidence confidence;
	struct fusion_plan plan = {.flow = c->flow,
				   .first = c->first_op,
				   .end = c->end_op,
				   .step = step_of_kernel,
				   .take = take_chain,
				   .self = &chains};
	chains.is_part = hwy_zalloc(c->end_op - c->first_op + 1u);
	fusion_find(&plan);
	const char *known = NULL;
	if (chains.n && claim_share(c, &chains.claim) >= WORTH_SHARE)
		known = how_known(c, &chains, &confidence);
	if (known)
		claim_accuse(
			c, &chains.claim, confidence,
			hwy_arena_say(
				&c->diagnosis->arena,
				"%s%s, %s of it, in %s of elementwise kernels that follow each other: %s. One "
				"kernel for each chain would read and write once.",
				hwy_say_count_of(case_count_per_step(c, chains.kernels), "kernel",
						 "kernels")
					.text,
				case_a_step(c), hwy_say_time3(case_per_step(c, chains.ns)).text,
				hwy_say_count_of(case_count_per_step(c, chains.n), "chain",
						 "chains")
					.text,
				known),
			case_advice(c, &fix));
	claim_drop(c, &chains.claim);
	free(chains.is_part);
}

const struct hwy_finding_kind finding_memory_bound = {
	.id = "memory-bound",
	.title = "elementwise kernels in a row wait for memory",
	.look = finding_memory_bound_look,
	.is_inside = true,
	.edit = "fuse",
};
