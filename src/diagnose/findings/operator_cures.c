/* SPDX-License-Identifier: Apache-2.0 */
/* operator_cures.c - findings about what single operators of PyTorch do needlessly, as a table:
 * zero-grad-fills, layout-changes, cast-repeated and cache-grows.
 *
 * Each row says which kernels are meant, how many a step there must be at least, which share of
 * the step they must cost, and what to say and to advise. Cost: the time of these kernels and,
 * where the row says so, the gaps between them. A kernel that an earlier finding of this kind
 * has claimed is left out. docs/findings/ has the page of each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/launchers.h"

/* The longest pause, and the longest gap, between two kernels of one operator or scope that
 * counts: see optimizer_unfused.c. */
#define PAUSE_NS 10000
#define MOST_GAP_NS 200000
/* A cache grows where what is put together takes so many times longer in the last quarter of the
 * steps than in the first. */
#define GROWTH 1.2
#define FEWEST_STEPS 8
/* The fewest kernels a step that fill gradients, and that put tensors together, a few of which
 * every program has. */
#define FEWEST_FILLS 8
#define FEWEST_CATS 4
/* Kernels that cost a smaller share of the step are not worth a change of the model. */
#define KERNELS_WORTH_SHARE 0.05

struct cured { /* the kernels that a row of the table means */
	const struct cure *cure;
	struct claim claim;
	uint64_t n;
	int64_t ns;
	/* of casts: ns of those that autocast makes inside of other operators */
	int64_t ns_by_autocast;
	const char *scope; /* the name of the scope of the last kernel, or "" */
};

struct cure {
	const struct hwy_finding_kind *kind;
	/* Which kernels are meant: by their operators, which must be recorded, or by their
	 * names. */
	bool (*is_it)(const struct hwy_case *c, uint32_t op);
	bool (*is_name)(const char *name);
	bool counts_gaps; /* the gaps between these kernels are part of the cost */
	double fewest;    /* kernels a step */
	double worth;     /* share of the step */
	/* Further conditions; NULL: none. */
	bool (*holds)(struct hwy_case *c, const struct cured *it);
	const char *(*says)(struct hwy_case *c, const struct cured *it);
	const char *(*advice)(struct hwy_case *c, const struct cured *it);
};

static const struct hwy_owner *owner_of_kernel(const struct hwy_case *c, uint32_t op)
{
	return case_owner(c, c->flow->ops[op].span);
}

static const char *times_a_step(struct hwy_case *c, const struct cured *it)
{
	return hwy_arena_say(
		&c->diagnosis->arena, "%s%s take %s, %s of the time",
		hwy_say_count_of(case_count_per_step(c, it->n), "kernel", "kernels").text,
		case_a_step(c), hwy_say_time3(case_per_step(c, it->claim.total)).text,
		hwy_say_share(claim_share(c, &it->claim)).text);
}

/* ---- zero-grad-fills: gradients are filled with zeros ---------------------------------------- */

static bool is_zero_grad(const struct hwy_case *c, uint32_t op)
{
	return launchers_is_single(c, op) &&
	       launchers_link(c->owners, owner_of_kernel(c, op)->chain, "Optimizer.zero_grad#");
}

static const char *zero_grad_says(struct hwy_case *c, const struct cured *it)
{
	return hwy_arena_say(
		&c->diagnosis->arena,
		"%.80s fills the gradients with zeros: %s, with the pauses between them.",
		it->scope, times_a_step(c, it));
}

static const char *zero_grad_advice(struct hwy_case *c, const struct cured *it)
{
	(void)c, (void)it;
	return "Drop the gradients instead: the backward pass then writes them anew, and does not have to add.\n"
	       "  optimizer.zero_grad(set_to_none=True)     # the default from torch 2.0 on";
}

/* ---- layout-changes: convolutions change the layout of their data ---------------------------- */

/* cuDNN's kernels, which it runs around a convolution that wants another layout. */
static bool is_layout_change(const char *name)
{
	return strstr(name, "nchwToNhwc") || strstr(name, "nhwcToNchw");
}

static const char *layout_says(struct hwy_case *c, const struct cured *it)
{
	return hwy_arena_say(
		&c->diagnosis->arena,
		"Convolutions compute in the layout NHWC, and their data is NCHW: %s only to change it there and back.",
		times_a_step(c, it));
}

static const char *layout_advice(struct hwy_case *c, const struct cured *it)
{
	static const struct advice fix = {
		.any = "Keep the tensors in the layout NHWC from layer to layer: describe them as CUDNN_TENSOR_NHWC.",
		.by_framework =
			{[HWY_PYTORCH] =
				 "Keep the tensors in that layout from layer to layer.\n"
				 "  model = model.to(memory_format=torch.channels_last)\n"
				 "  images = images.to(device, memory_format=torch.channels_last, non_blocking=True)"},
	};
	(void)it;
	return case_advice(c, &fix);
}

/* ---- cast-repeated: the same conversion in every step ---------------------------------------- */

/* The link of the conversion in a chain: aten::to or aten::_to_copy, the outermost of them; 0
 * where there is none. */
static uint32_t link_of_cast(const struct hwy_owners *o, uint32_t chain)
{
	uint32_t found = 0;
	for (; chain; chain = o->chain[chain].outer) {
		const char *name = owners_text(o, o->chain[chain].name);
		if (strcmp(name, "aten::_to_copy") == 0 || strcmp(name, "aten::to") == 0)
			found = chain;
	}
	return found;
}

static bool is_cast(const struct hwy_case *c, uint32_t op)
{
	const struct hwy_owner *owner = owner_of_kernel(c, op);
	const struct hwy_owners *o = c->owners;
	return !owner->is_backward && owner->op &&
	       strcmp(owners_text(o, o->chain[owner->op].name), "aten::copy_") == 0 &&
	       link_of_cast(o, owner->chain);
}

/* Whether autocast made the conversion: it lies inside of an operator that computes, such as
 * aten::linear. */
static bool is_by_autocast(const struct hwy_owners *o, const struct hwy_owner *owner)
{
	uint32_t cast = link_of_cast(o, owner->chain), outer = cast ? o->chain[cast].outer : 0;
	return outer && o->chain[outer].is_operator &&
	       strncmp(owners_text(o, o->chain[outer].name), "aten::", 6) == 0 &&
	       strcmp(owners_text(o, o->chain[outer].name), "aten::type_as") != 0;
}

static const char *cast_says(struct hwy_case *c, const struct cured *it)
{
	return hwy_arena_say(
		&c->diagnosis->arena, "Tensors are converted to another type in every step%s: %s.",
		hwy_tr(it->ns_by_autocast * 2 > it->ns ? ", by autocast inside of other operators"
						       : ""),
		times_a_step(c, it));
}

static const char *cast_advice(struct hwy_case *c, const struct cured *it)
{
	bool is_by_hand = it->ns_by_autocast * 2 <= it->ns;
	if (is_by_hand && c->diagnosis->infers)
		return "Whether it is the same tensor every time is not recorded. If it is (a weight, a table, a mask), convert it once, "
		       "before the loop; if it is new in every step, compute it in the right type.\n"
		       "  model = model.to(torch.bfloat16)     # not in forward(): self.weight.to(torch.bfloat16)";
	if (is_by_hand)
		return "Whether it is the same tensor every time is not recorded. If it is and does not learn (a table, a mask), convert it "
		       "once, before the loop; if it is new in every step, compute it in the right type.\n"
		       "  self.register_buffer(\"table\", table.to(torch.bfloat16))     # not in forward(): table.to(…)";
	if (c->diagnosis->infers)
		return "Keep the weights in the type that they are used in: autocast converts them again in every step.\n"
		       "  model = model.to(torch.bfloat16)     # and no autocast";
	return "Autocast converts the weights once a step, and inputs that are not in its type. Hand such inputs over in its type, "
	       "and leave whole blocks inside one autocast region; keeping the weights themselves in bfloat16 saves the rest, and "
	       "changes the results.\n"
	       "  model = model.to(torch.bfloat16)     # with an optimizer that keeps float32 copies";
}

/* ---- cache-grows: keys and values are put together anew for each token ----------------------- */

static bool is_cat(const struct hwy_case *c, uint32_t op)
{
	const struct hwy_owner *owner = owner_of_kernel(c, op);
	return launchers_is_single(c, op) && owner->op &&
	       strcmp(owners_text(c->owners, c->owners->chain[owner->op].name), "aten::cat") == 0;
}

/* Whether the kernels take longer in later steps: the sums of the first and the last quarter of
 * the steps tell. */
static bool cats_grow(struct hwy_case *c)
{
	uint32_t n = c->phase->n_steady, quarter = n / 4;
	int64_t first = 0, last = 0;
	if (n < FEWEST_STEPS)
		return false;
	for (uint32_t op = c->first_op; op < c->end_op; op++) {
		const struct flow_op *one = &c->flow->ops[op];
		if (one->kind != HWY_KERNEL || !case_op_is_ours(c, op) || !is_cat(c, op))
			continue;
		uint32_t step = case_step_at(c, one->start) - c->phase->first_steady;
		first += step < quarter ? one->end - one->start : 0;
		last += step >= n - quarter && step < n ? one->end - one->start : 0;
	}
	return first > 0 && (double)last >= GROWTH * (double)first;
}

static bool cache_holds(struct hwy_case *c, const struct cured *it)
{
	(void)it;
	return c->diagnosis->infers && cats_grow(c);
}

bool operator_cures_cache_grows(struct hwy_case *c)
{
	uint64_t n = 0;
	for (uint32_t op = c->first_op; c->owners && c->diagnosis->infers && op < c->end_op; op++)
		n += c->flow->ops[op].kind == HWY_KERNEL && case_op_is_ours(c, op) && is_cat(c, op);
	return n > 0 && case_count_per_step(c, n) >= FEWEST_CATS && cats_grow(c);
}

static const char *cache_says(struct hwy_case *c, const struct cured *it)
{
	return hwy_arena_say(
		&c->diagnosis->arena,
		"What aten::cat puts together grows from step to step, as a cache of keys and values does: %s.",
		times_a_step(c, it));
}

static const char *cache_advice(struct hwy_case *c, const struct cured *it)
{
	(void)c, (void)it;
	return "Write each token's keys and values into a buffer of full length; shapes then stay the same, and the step can be compiled "
	       "and captured.\n"
	       "  model.generation_config.cache_implementation = \"static\"     # Hugging Face's generate()\n"
	       "  cache[:, :, position] = key     # not: cache = torch.cat([cache, key], dim=2)";
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct cure operator_cures[] = {
	{.kind = &finding_zero_grad_fills,
	 .is_it = is_zero_grad,
	 .counts_gaps = true,
	 .fewest = FEWEST_FILLS,
	 .worth = HWY_WORTH_SHARE,
	 .says = zero_grad_says,
	 .advice = zero_grad_advice},
	{.kind = &finding_layout_changes,
	 .is_name = is_layout_change,
	 .fewest = 1,
	 .worth = KERNELS_WORTH_SHARE,
	 .says = layout_says,
	 .advice = layout_advice},
	{.kind = &finding_cache_grows,
	 .is_it = is_cat,
	 .fewest = FEWEST_CATS,
	 .worth = KERNELS_WORTH_SHARE,
	 .holds = cache_holds,
	 .says = cache_says,
	 .advice = cache_advice},
	{.kind = &finding_cast_repeated,
	 .is_it = is_cast,
	 .fewest = 1,
	 .worth = KERNELS_WORTH_SHARE,
	 .says = cast_says,
	 .advice = cast_advice},
};

static void claim_kernels_of_cure(struct hwy_case *c, struct cured *it)
{
	const struct cure *cure = it->cure;
	struct hwy_map names = {0};
	if (cure->is_name)
		names = case_kernel_names(c, cure->is_name);
	for (uint32_t op = c->first_op; (cure->is_it || names.count) && op < c->end_op; op++) {
		const struct flow_op *one = &c->flow->ops[op];
		if (one->kind != HWY_KERNEL || !case_op_is_ours(c, op) ||
		    c->op_is_taken[op - c->first_op] ||
		    !(cure->is_it ? cure->is_it(c, op)
				  : hwy_map_get(&names, (uint64_t)case_get(c, one->span,
									   HWY_NAME)) != NULL))
			continue;
		it->n++;
		it->ns += one->end - one->start;
		claim_op(c, &it->claim, op, one->span);
		if (!cure->is_it)
			continue;
		const struct hwy_owner *owner = owner_of_kernel(c, op);
		uint32_t scope = launchers_link(c->owners, owner->chain, "Optimizer.");
		it->scope = owners_text(c->owners, c->owners->chain[scope].name);
		it->ns_by_autocast += is_by_autocast(c->owners, owner) ? one->end - one->start : 0;
	}
	hwy_map_free(&names);
	if (it->n && cure->counts_gaps)
		claim_between(c, &it->claim, CLAIM_CAUSE(GAP_LAUNCH) | CLAIM_CAUSE(GAP_CPU),
			      PAUSE_NS, MOST_GAP_NS, cure->is_it);
}

static void operator_cures_look(struct hwy_case *c)
{
	struct cured it = {.cure = operator_cures, .scope = ""};
	while (it.cure->kind != c->kind)
		it.cure++;
	const struct cure *cure = it.cure;
	if (cure->is_it && !c->owners)
		return;
	claim_kernels_of_cure(c, &it);
	if (case_count_per_step(c, it.n) < cure->fewest ||
	    claim_share(c, &it.claim) < cure->worth || !case_is_loop(c) ||
	    (cure->holds && !cure->holds(c, &it))) {
		claim_drop(c, &it.claim);
		return;
	}
	const char *says = cure->says(c, &it), *advice = cure->advice(c, &it);
	claim_accuse(c, &it.claim, HWY_MEDIUM, says, advice);
}

const struct hwy_finding_kind finding_zero_grad_fills = {
	.id = "zero-grad-fills",
	.title = "gradients are filled with zeros",
	.look = operator_cures_look,
};

const struct hwy_finding_kind finding_layout_changes = {
	.id = "layout-changes",
	.title = "convolutions change the layout of their data",
	.look = operator_cures_look,
	.is_inside = true,
};

const struct hwy_finding_kind finding_cache_grows = {
	.id = "cache-grows",
	.title = "a cache is put together anew in every step",
	.look = operator_cures_look,
	.is_inside = true,
};

const struct hwy_finding_kind finding_cast_repeated = {
	.id = "cast-repeated",
	.title = "tensors are converted in every step",
	.look = operator_cures_look,
	.is_inside = true,
};
