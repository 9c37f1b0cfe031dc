/* SPDX-License-Identifier: Apache-2.0 */
/* fusion.c - see fusion.h. */
#include "whatif/fusion.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Shorter kernels are done before memory is busy: launching them is what costs. */
#define FUSION_SHORT_NS 5000
/* A chain ends after so many kernels: nobody writes a longer one into one kernel. */
#define FUSION_LONGEST 64
/* Kernels of one chain take at most so many times as long as each other: they work on arrays of
 * one size. */
#define FUSION_MOST_RATIO 2.5

bool fusion_is_elementwise(const char *name)
{
	static const char *const yes[] = {"elementwise_kernel", "triton_poi_", "cupy_", "loop_",
					  "wrapped_",           "pointwise",   NULL};
	static const char *const no[] = {"reduce", "cupy_sum", "cupy_max",     "cupy_min", "sort",
					 "index",  "gather",   "scatter",      "softmax",  "norm",
					 "scan",   "cumsum",   "distribution", "argmax",   NULL};
	bool is_it = false;
	for (const char *const *part = yes; *part && !is_it; part++)
		is_it = strstr(name, *part) != NULL;
	for (const char *const *part = no; *part && is_it; part++)
		is_it = strcasestr(name, *part) == NULL;
	return is_it;
}

int64_t fusion_time(const int64_t *lengths, uint32_t n)
{
	int64_t least = n ? lengths[0] : 0, time = least;
	for (uint32_t i = 1; i < n; i++)
		least = lengths[i] < least ? lengths[i] : least;
	for (uint32_t i = 1; i < n; i++)
		time += lengths[i] - least;
	return time;
}

/* A chain while it grows. */
struct growing {
	uint32_t ops[FUSION_LONGEST];
	int64_t lengths[FUSION_LONGEST], names[FUSION_LONGEST];
	uint32_t n;
	int64_t least, most, ns;
	uint32_t step;
};

static void finish_chain(const struct fusion_plan *plan, struct growing *chain)
{
	if (chain->n >= 2)
		plan->take(plan->self,
			   &(struct fusion_chain){chain->ops, chain->n, chain->ns,
						  fusion_time(chain->lengths, chain->n)});
	chain->n = 0;
	chain->ns = 0;
}

static bool fits_chain(const struct growing *chain, int64_t ns, uint32_t step)
{
	return step == chain->step && (double)ns <= FUSION_MOST_RATIO * (double)chain->least &&
	       (double)chain->most <= FUSION_MOST_RATIO * (double)ns;
}

static void extend_chain(struct growing *chain, uint32_t op, int64_t ns, int64_t name,
			 uint32_t step)
{
	uint32_t n = chain->n++;
	chain->ops[n] = op;
	chain->lengths[n] = ns;
	chain->names[n] = name;
	chain->ns += ns;
	chain->step = step;
	chain->least = n == 0 || ns < chain->least ? ns : chain->least;
	chain->most = n == 0 || ns > chain->most ? ns : chain->most;
}

/* Ends the chain where the program begins the same on other data: the kernel is the one before
 * it again, or it and the one before it stand in the chain already, as those of an optimizer
 * that goes from parameter to parameter. */
static void cut_repetition(const struct fusion_plan *plan, struct growing *chain, int64_t name)
{
	uint32_t last = chain->n - 1;
	if (chain->names[last] == name || chain->n == FUSION_LONGEST) {
		finish_chain(plan, chain);
		return;
	}
	for (uint32_t i = 1; i < chain->n; i++) {
		if (chain->names[i - 1] != chain->names[last] || chain->names[i] != name)
			continue;
		uint32_t op = chain->ops[last], step = chain->step;
		int64_t ns = chain->lengths[last], before = chain->names[last];
		chain->n = last;
		chain->ns -= ns;
		finish_chain(plan, chain);
		extend_chain(chain, op, ns, before, step);
		return;
	}
}

enum { NOT_ASKED, ELEMENTWISE, MADE_BY_COMPILER, OTHER };

/* Whether Inductor or XLA has made the kernel. Two of these in a row are what the compiler could
 * not make one kernel of. */
static bool is_of_compiler(const char *name)
{
	return strstr(name, "triton_poi_") || strstr(name, "loop_") || strstr(name, "wrapped_");
}

/* What the kernel of an op is, by its name, which is stored in *name. */
static uint8_t kind_of_op(const struct hwy_flow *flow, uint8_t *known, const struct flow_op *op,
			  int64_t *name)
{
	uint32_t row;
	if (op->kind != HWY_KERNEL)
		return OTHER;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, op->span, &row);
	*name = hwy_get(strip, HWY_NAME, row);
	if (*name <= 0 || *name >= flow->trace->strings.n)
		return OTHER;
	const char *text = hwy_str(flow->trace, *name);
	if (known[*name] == NOT_ASKED)
		known[*name] = !fusion_is_elementwise(text) ? OTHER
			       : is_of_compiler(text)       ? MADE_BY_COMPILER
							    : ELEMENTWISE;
	return known[*name];
}

/* The chain that grows on a lane, in *chains, which 'slots' maps lanes to. */
struct streams {
	struct growing *chains;
	uint32_t n, cap;
	struct hwy_map slots;
};

static struct growing *chain_of_lane(struct streams *streams, uint32_t lane)
{
	bool fresh;
	uint32_t *slot = hwy_map_put(&streams->slots, lane, &fresh);
	if (fresh) {
		HWY_GROW(streams->chains, streams->n, streams->cap);
		streams->chains[streams->n] = (struct growing){0};
		*slot = streams->n++;
	}
	return &streams->chains[*slot];
}

/* Goes through the ops in order of start; flow.by_lane is not there in an excerpt. */
void fusion_find(const struct fusion_plan *plan)
{
	const struct hwy_flow *flow = plan->flow;
	uint8_t *known = hwy_zalloc(flow->trace->strings.n + 1u);
	struct streams streams = {0};
	for (uint32_t i = plan->first; i < plan->end; i++) {
		const struct flow_op *op = &flow->ops[i];
		struct growing *chain = chain_of_lane(&streams, op->lane);
		int64_t ns = op->end - op->start;
		int64_t name = HWY_NONE;
		uint32_t step = plan->step(plan->self, i);
		uint8_t kind =
			step && ns >= FUSION_SHORT_NS ? kind_of_op(flow, known, op, &name) : OTHER;
		bool follows = chain->n && kind == MADE_BY_COMPILER &&
			       known[chain->names[chain->n - 1]] == MADE_BY_COMPILER;
		if (chain->n && (kind == OTHER || follows || !fits_chain(chain, ns, step)))
			finish_chain(plan, chain);
		if (chain->n)
			cut_repetition(plan, chain, name);
		if (kind != OTHER)
			extend_chain(chain, i, ns, name, step);
	}
	for (uint32_t i = 0; i < streams.n; i++)
		finish_chain(plan, &streams.chains[i]);
	free(streams.chains);
	hwy_map_free(&streams.slots);
	free(known);
}
