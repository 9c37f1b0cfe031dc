/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_choice.c - see kernel_choice.h.
 *
 * Of several processes the one with the most kernel time in steady steps is looked at: ranks do
 * the same, and ordinals hold for every process of the next run. Ordinals count all launches of
 * the process, steady or not, in the order of their calls.
 */
#include "whatif/kernel_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "whatif/path_cache.h"

/* Kernels below this share of the time of all, and of the path, are not worth a measurement. */
#define LEAST_SHARE 0.002
enum { MOST_OTHER = 256 };
/* A single launch of so many ns, and of such a share of the kernels' time, may be a kernel that
 * never ends by itself. */
#define ENDLESS_NS INT64_C(50000000)
#define ENDLESS_SHARE 0.5

struct kernel_key { /* what a launch shows; no padding */
	int64_t name;
	int64_t grid[3], block[3], shared;
};

struct kernel_group {
	struct kernel_key key; /* first: groups are found by it */
	struct kernel_choice choice;
	uint64_t seen;    /* how many launches of the process came so far */
	uint64_t *steady; /* ordinals of launches in steady steps */
	uint32_t n_steady, cap_steady;
	uint64_t *other; /* ordinals of launches outside of them, of the first MOST_OTHER */
	uint32_t n_other, cap_other;
	int64_t graph_ns; /* time of steady launches by graphs */
};

struct choosing {
	struct hwy_flow flow;
	struct hwy_phases phases;
	uint16_t process;
	struct kernel_group *groups;
	uint32_t n, cap;
	struct hwy_index by_key;
	uint32_t *order; /* ops of kernels, in the order of their calls */
	uint32_t n_order;
	struct kernel_choices *choices;
};

static uint16_t process_of(const struct choosing *c, const struct flow_op *op)
{
	return op->call == FLOW_NONE ? FLOW_NO_PROCESS : c->flow.calls[op->call].process;
}

static bool op_is_steady(const struct choosing *c, const struct flow_op *op)
{
	for (uint32_t i = 0; i < c->phases.n; i++) {
		const struct hwy_interval *window = &c->phases.phases[i].window;
		if (op->start >= window->from && op->start < window->to)
			return true;
	}
	return c->phases.n == 0;
}

/* Launches of graphs run many kernels, none of which the call shows. */
static bool is_of_graph(const struct choosing *c, const struct flow_op *op)
{
	return op->call != FLOW_NONE && c->flow.calls[op->call].role == HWY_ROLE_GRAPH_LAUNCH;
}

/* The process whose kernels take the most time. */
static uint16_t busiest_process(const struct choosing *c)
{
	uint32_t n = c->flow.trace->n_processes;
	uint64_t *ns = hwy_zarray(n, sizeof *ns);
	uint16_t best = FLOW_NO_PROCESS;
	for (uint32_t i = 0; i < c->flow.n_ops; i++) {
		const struct flow_op *op = &c->flow.ops[i];
		uint16_t process = process_of(c, op);
		if (op->kind != HWY_KERNEL || process >= n)
			continue;
		ns[process] += op_is_steady(c, op) ? (uint64_t)(op->end - op->start) : 0;
		if (best == FLOW_NO_PROCESS || ns[process] > ns[best])
			best = process;
	}
	free(ns);
	return best;
}

/* Whether a kernel uses no tensor cores for certain, by its name. To be wrong costs the count of
 * their operations. */
static bool uses_no_tensors(const char *name)
{
	static const char *const parts[] = {
		"elementwise",     "softmax",   "SoftMax",     "layer_norm",         "LayerNorm",
		"reduce_kernel",   "embedding", "Embedding",   "multi_tensor_apply", "CatArray",
		"DeviceRadixSort", "dropout",   "indexSelect", "DeviceScan",         "FillFunctor",
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static struct kernel_group *group_of(struct choosing *c, uint32_t span)
{
	struct hwy_trace *trace = c->flow.trace;
	uint32_t row, shape_index;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	if (strip->kind != HWY_KERNEL || !hwy_get_index(strip, HWY_SHAPE, row, &shape_index))
		return NULL;
	const struct hwy_shape *shape = &trace->shapes[shape_index];
	struct kernel_group new = {
		.key = {.name = hwy_get(strip, HWY_NAME, row),
			.grid = {shape->grid_x, shape->grid_y, shape->grid_z},
			.block = {shape->block_x, shape->block_y, shape->block_z},
			.shared = shape->dynamic_shared},
	};
	bool fresh;
	uint32_t *number = hwy_index_put_element(&c->by_key, c->groups, sizeof *c->groups, &new.key,
						 sizeof new.key, &fresh);
	if (!fresh)
		return &c->groups[*number];
	const struct hwy_symbol *symbol = hwy_get_symbol(trace, strip, row);
	const char *mangled = symbol && symbol->mangled > 0 ? hwy_str(trace, symbol->mangled) : "";
	new.choice = (struct kernel_choice){
		.name = new.key.name,
		.shape = shape_index,
		.device = trace->lanes[strip->lane].device,
		.symbol = *mangled ? mangled : hwy_str(trace, new.key.name),
		.talks = hwy_class(trace, HWY_KERNEL, new.key.name) == HWY_COMM,
		.plain = uses_no_tensors(hwy_str(trace, new.key.name)),
	};
	HWY_GROW(c->groups, c->n, c->cap);
	*number = c->n;
	c->groups[c->n] = new;
	return &c->groups[c->n++];
}

static void count_launch(struct choosing *c, const struct flow_op *op)
{
	struct kernel_group *group = group_of(c, op->span);
	if (!group)
		return;
	uint64_t ordinal = group->seen++;
	if (!op_is_steady(c, op)) {
		if (group->n_other == MOST_OTHER)
			return;
		HWY_GROW(group->other, group->n_other, group->cap_other);
		group->other[group->n_other++] = ordinal;
		return;
	}
	HWY_GROW(group->steady, group->n_steady, group->cap_steady);
	group->steady[group->n_steady++] = ordinal;
	group->choice.launches++;
	group->choice.ns += op->end - op->start;
}

/* A kernel that a graph launched takes its time, but the launch of the graph does not show it. */
static void count_in_graph(struct choosing *c, const struct flow_op *op)
{
	struct kernel_group *group = op_is_steady(c, op) ? group_of(c, op->span) : NULL;
	if (!group)
		return;
	group->choice.launches++;
	group->choice.ns += op->end - op->start;
	group->graph_ns += op->end - op->start;
}

static int compare_calls(const void *left, const void *right, void *user)
{
	const struct flow_op *ops = user;
	uint32_t a = ops[*(const uint32_t *)left].call, b = ops[*(const uint32_t *)right].call;
	return (a > b) - (a < b);
}

/* Counts the launches of the process in the order of their calls. */
static void count_launches(struct choosing *c)
{
	c->order = hwy_array(c->flow.n_ops, sizeof *c->order);
	for (uint32_t i = 0; i < c->flow.n_ops; i++) {
		const struct flow_op *op = &c->flow.ops[i];
		if (op->kind != HWY_KERNEL || process_of(c, op) != c->process)
			continue;
		c->choices->ns += op_is_steady(c, op) ? op->end - op->start : 0;
		if (is_of_graph(c, op))
			count_in_graph(c, op);
		else
			c->order[c->n_order++] = i;
	}
	qsort_r(c->order, c->n_order, sizeof *c->order, compare_calls, c->flow.ops);
	for (uint32_t i = 0; i < c->n_order; i++)
		count_launch(c, &c->flow.ops[c->order[i]]);
}

static void choice_add_piece(void *user, const struct cached_piece *piece)
{
	struct choosing *c = user;
	uint32_t row;
	if (piece->span >= c->flow.trace->n_spans ||
	    hwy_strip_of(c->flow.trace, piece->span, &row)->kind != HWY_KERNEL)
		return;
	struct kernel_group *group = group_of(c, piece->span);
	if (group)
		group->choice.path_ns += piece->at.to - piece->at.from;
}

static int64_t weight(const struct kernel_group *group)
{
	return group->choice.ns > group->choice.path_ns ? group->choice.ns : group->choice.path_ns;
}

static int compare_weights(const void *left, const void *right)
{
	const struct kernel_group *a = left, *b = right;
	if (weight(a) != weight(b))
		return weight(a) < weight(b) ? 1 : -1;
	return (a->choice.shape > b->choice.shape) - (a->choice.shape < b->choice.shape);
}

/* Takes so many of the launches, spread evenly over the third that is the kernel's, or over all
 * where the third has too few. Launches outside of the steady steps serve where a graph launches
 * the kernel there: the warm-up before a graph is captured runs the same kernels. */
static void spread_ordinals(struct kernel_group *group, uint32_t most)
{
	struct kernel_choice *choice = &group->choice;
	const uint64_t *from = group->n_steady ? group->steady : group->other;
	uint32_t among = group->n_steady ? group->n_steady : group->n_other;
	uint32_t third = choice->talks ? 2 : choice->plain ? 0 : 1;
	if (among / 3 >= most) {
		from += (uint64_t)third * among / 3;
		among /= 3;
	}
	uint32_t n = among < most ? among : most;
	choice->ordinals = hwy_array(n, sizeof *choice->ordinals);
	choice->n_ordinals = n;
	for (uint32_t i = 0; i < n; i++)
		choice->ordinals[i] = from[(uint64_t)(2 * i + 1) * among / (2 * (uint64_t)n)];
}

static bool is_endless(const struct choosing *c, const struct kernel_group *group)
{
	return group->seen == 1 && group->choice.ns >= ENDLESS_NS &&
	       (double)group->choice.ns >= ENDLESS_SHARE * (double)c->choices->ns;
}

static void take_groups(struct choosing *c, const struct kernel_choice_options *options)
{
	struct kernel_choices *choices = c->choices;
	if (c->n)
		qsort(c->groups, c->n, sizeof *c->groups, compare_weights);
	choices->list = hwy_zarray(options->most, sizeof *choices->list);
	for (uint32_t i = 0; i < c->n; i++) {
		struct kernel_group *group = &c->groups[i];
		const char *name = hwy_str(c->flow.trace, group->choice.name);
		bool matters = options->name
				       ? strstr(name, options->name) != NULL
				       : (double)weight(group) >= LEAST_SHARE * (double)choices->ns;
		bool is_seen =
			group->n_steady || (group->n_other && (group->graph_ns || options->name));
		if (!is_seen)
			choices->graph_ns += group->graph_ns;
		if (!matters || !is_seen || choices->n == options->most)
			continue;
		if (!options->name && is_endless(c, group)) {
			choices->endless = group->choice.name;
			continue;
		}
		spread_ordinals(group,
				group->choice.talks ? options->launches_apart : options->launches);
		choices->list[choices->n++] = group->choice;
	}
}

bool kernel_choice_make(struct kernel_choices *choices, struct hwy_trace *trace,
			const struct kernel_choice_options *options, struct hwy_err *err)
{
	*choices = (struct kernel_choices){.endless = HWY_NONE};
	struct choosing c = {.choices = choices};
	struct phases_options steps = {.step = options->step};
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_KERNEL),
		      HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_SHAPE) | HWY_COL_BIT(HWY_SYMBOL),
		      err))
		return false;
	if (!flow_open(&c.flow, trace, err))
		return false;
	bool made = phases_find(&c.flow, &steps, &c.phases, err);
	if (made) {
		c.process = busiest_process(&c);
		count_launches(&c);
		for (uint32_t i = 0; made && i < c.phases.n; i++)
			made = path_cache_visit(&c.flow, &c.phases, i, choice_add_piece, &c, err);
	}
	if (made)
		take_groups(&c, options);
	for (uint32_t i = 0; i < c.n; i++) {
		free(c.groups[i].steady);
		free(c.groups[i].other);
	}
	free(c.groups);
	free(c.order);
	hwy_index_free(&c.by_key);
	phases_free(&c.phases);
	flow_close(&c.flow);
	return made;
}

void kernel_choice_free(struct kernel_choices *choices)
{
	for (uint32_t i = 0; i < choices->n; i++)
		free(choices->list[i].ordinals);
	free(choices->list);
	*choices = (struct kernel_choices){0};
}
