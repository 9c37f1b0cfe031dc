/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_unfused.c - the optimizer launches many small kernels, for each parameter or list of
 * parameters several, and the GPU idles meanwhile.
 *
 * Conditions: PyTorch's operators are recorded; inside of Optimizer.step#X, without kernels of
 * graphs, FEWEST_LAUNCHES or more kernels are launched a step; and the gaps between these
 * kernels (causes 'launch' and 'cpu', and pauses up to PAUSE_NS) are worth a finding. The gap
 * before the first kernel of the optimizer is not counted: what the CPU did in it is not the
 * optimizer's. The optimizer goes parameter by parameter where one operator that is no list
 * operator (_foreach_) launches FEWEST_REPEATS or more times a step, and most kernels are not
 * launched by list operators. An optimizer whose kernels are fused is left alone. Cost: the
 * gaps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "diagnose/launchers.h"

#define FEWEST_LAUNCHES 20.0
#define FEWEST_REPEATS 8.0
#define PAUSE_NS 10000
/* In a longer gap the CPU does not launch: it computes, or waits. (PyTorch takes 5 to 60 us for
 * an operator, profiled.) */
#define MOST_GAP_NS 200000

#define SCOPE "Optimizer.step#"

struct optimizer {
	const char *scope; /* "Optimizer.step#Adam.step": the optimizer that launches most */
	const char *top;   /* the operator in it that launches most */
	uint64_t in_scope, in_top;
	uint64_t n, lists, fused; /* kernels of all optimizers; by list and by fused operators */
};

static bool is_of_optimizer(const struct hwy_case *c, uint32_t op)
{
	if (!launchers_is_single(c, op))
		return false;
	const struct hwy_owner *owner = case_owner(c, c->flow->ops[op].span);
	return launchers_link(c->owners, owner->chain, SCOPE) != 0;
}

/* Adds up the kernels of the owners by a number that each owner has, and yields the number with
 * most of them, and how many these are. Owners whose number is 0 are left out. */
static uint32_t most_launches(const struct launchers *found, const uint32_t *number_of,
			      uint32_t n_owners, uint32_t n_numbers, uint64_t *most)
{
	uint64_t *counts = hwy_zarray(n_numbers, sizeof *counts);
	uint32_t best = 0;
	for (uint32_t i = 0; i < n_owners; i++) {
		uint32_t number = number_of[i];
		counts[number] += number ? found->by_owner[i].n : 0;
		best = counts[number] > counts[best] ? number : best;
	}
	*most = counts[best];
	free(counts);
	return best;
}

static struct optimizer find_optimizer(const struct hwy_case *c, const struct launchers *found)
{
	const struct hwy_owners *o = c->owners;
	struct optimizer it = {.scope = "", .top = ""};
	uint32_t *scope_of = hwy_zarray(o->n_owners, sizeof *scope_of);
	uint32_t *operator_of = hwy_zarray(o->n_owners, sizeof *operator_of);
	for (uint32_t i = 0; i < o->n_owners; i++) {
		const struct hwy_owner *owner = &o->owners[i];
		uint32_t link = launchers_link(o, owner->chain, SCOPE);
		uint64_t n = found->by_owner[i].n;
		if (!link || n == 0)
			continue;
		bool is_foreach = launchers_link(o, owner->chain, "aten::_foreach_");
		scope_of[i] = o->chain[link].name;
		operator_of[i] = is_foreach ? 0 : o->chain[owner->op].name;
		it.n += n;
		it.lists += is_foreach ? n : 0;
		it.fused += launchers_link(o, owner->chain, "aten::_fused_") ? n : 0;
	}
	it.scope = owners_text(
		o, most_launches(found, scope_of, o->n_owners, o->texts.n, &it.in_scope));
	it.top = owners_text(
		o, most_launches(found, operator_of, o->n_owners, o->texts.n, &it.in_top));
	free(scope_of);
	free(operator_of);
	return it;
}

/* Which optimizers of torch.optim have an implementation that is fused into few kernels on CUDA
 * devices, and which have one over lists of parameters (torch 2.3; older ones have fewer). */
static const char *const with_fused[] = {"Adam", "AdamW", "SGD", NULL};
static const char *const with_foreach[] = {"Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam",
					   "RAdam",    "RMSprop", "Rprop",  NULL};

static bool is_listed(const char *const *list, const char *name, size_t length)
{
	for (; *list; list++)
		if (strlen(*list) == length && strncmp(*list, name, length) == 0)
			return true;
	return false;
}

/* Yields the advice; NULL where the optimizer does already what can be advised. */
static const char *optimizer_advice(const struct hwy_case *c, const struct optimizer *it,
				    bool by_parameter)
{
	const char *name = it->scope + strlen(SCOPE);
	size_t length = strcspn(name, ".");
	if (is_listed(with_fused, name, length))
		return hwy_arena_say(
			&c->diagnosis->arena,
			"Let one kernel update many parameters.\n"
			"  optimizer = torch.optim.%.*s(parameters, …, fused=True)%s",
			(int)length, name,
			hwy_tr(by_parameter ? "     # or foreach=True: a kernel for each operation"
					    : ""));
	if (!by_parameter)
		return NULL;
	if (is_listed(with_foreach, name, length))
		return hwy_arena_say(
			&c->diagnosis->arena,
			"Let it go over lists of parameters: a kernel for each operation, not for each parameter.\n"
			"  optimizer = torch.optim.%.*s(parameters, …, foreach=True)",
			(int)length, name);
	return "Write the update with torch._foreach_ operators, or have the step compiled. Of torch.optim Adam, AdamW and SGD have "
	       "a fused form (fused=True), most others foreach=True.\n"
	       "  step = torch.compile(optimizer.step)";
}

static void finding_optimizer_unfused_look(struct hwy_case *c)
{
	const struct launchers *found = launchers_find(c);
	struct claim claim = {0};
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (!found)
		return;
	struct optimizer it = find_optimizer(c, found);
	if (case_count_per_step(c, it.n) < FEWEST_LAUNCHES || it.fused * 2 > it.n)
		return;
	double repeats = case_count_per_step(c, it.in_top);
	bool by_parameter = it.lists * 2 < it.n && repeats >= FEWEST_REPEATS;
	const char *advice = optimizer_advice(c, &it, by_parameter);
	if (advice)
		claim_between(c, &claim, CLAIM_CAUSE(GAP_LAUNCH) | CLAIM_CAUSE(GAP_CPU), PAUSE_NS,
			      MOST_GAP_NS, is_of_optimizer);
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	const char *how = hwy_tr(it.lists * 2 < it.n ? "" : ", list by list");
	if (by_parameter)
		how = hwy_arena_say(arena, ", parameter by parameter (%.60s alone %s)", it.top,
				    hwy_say_count_times(repeats).text);
	const char *says = hwy_arena_say(
		arena, "%.80s%s launches %s of %s kernels%s%s; the GPU idles %s between them.",
		it.scope, hwy_tr(it.in_scope < it.n ? " and the other optimizers" : ""),
		hwy_say_count_mean(case_count_per_step(c, it.n)).text,
		hwy_say_count_mean(case_count_per_step(c, found->n)).text, case_a_step(c), how,
		hwy_say_time3(case_per_step(c, claim.total)).text);
	claim_accuse(c, &claim, HWY_HIGH, says, advice);
}

const struct hwy_finding_kind finding_optimizer_unfused = {
	.id = "optimizer-unfused",
	.title = "the optimizer launches kernel by kernel",
	.look = finding_optimizer_unfused_look,
};
