/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - see tree.h. Adds up device work, CPU time and idle gaps by owner, then by the owners'
 * nodes. */
#include "analyze/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree_internal.h"
#include "analyze/work.h"
#include "base/lang.h"
#include "base/ref.h"
#include "base/saturating.h"

const char *const tree_by_names[TREE_BYS + 1] = {
	[TREE_BY_MODULE] = "module",
	[TREE_BY_OPERATOR] = "operator",
	[TREE_BY_LINE] = "line",
	[TREE_BY_SCOPE] = "scope",
};

const char *const tree_kind_names[TREE_KINDS] = {
	[TREE_ROOT] = "root",         [TREE_MODULE] = "module",     [TREE_SCOPE] = "scope",
	[TREE_LINE] = "line",         [TREE_OPERATOR] = "operator", [TREE_KERNEL] = "kernel",
	[TREE_COPY] = "copy",         [TREE_FILL] = "fill",         [TREE_GRAPH] = "graph",
	[TREE_NOTHING] = "not-known",
};

struct tree_filling {
	struct hwy_tree *tree;
	const struct hwy_flow *flow;
	const struct tree_options *options;
	struct tree_paths paths;
	uint32_t *node_of_owner; /* by owner: a reference to its node, 0 until asked for */
	struct hwy_map
		leaves; /* from node << 32 | name, or code of a copy, to a reference to a leaf */
};

/* ---- nodes ----------------------------------------------------------------------------------- */

uint32_t tree_put(struct hwy_tree *tree, uint32_t outer, enum tree_kind kind, uint32_t name,
		  uint32_t type)
{
	uint32_t key[4] = {outer, kind, name, type};
	bool fresh;
	uint32_t *number = hwy_index_put(&tree->by_key, key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(tree->nodes, tree->n, tree->cap);
		*number = tree->n;
		tree->nodes[tree->n++] = (struct tree_node){
			.outer = outer, .kind = kind, .name = name, .type = type, .count = 1};
	}
	return *number;
}

static uint32_t node_of_owner(struct tree_filling *filling, uint32_t owner)
{
	uint32_t *node = &filling->node_of_owner[owner];
	if (!hwy_ref32_is_set(*node))
		*node = hwy_ref32(tree_path(&filling->paths, &filling->tree->owners.owners[owner]));
	return hwy_ref32_index(*node);
}

uint32_t tree_leaf_code(const struct hwy_strip *strip, uint32_t row)
{
	/* Copies and fills are told apart by what they do: numbers above all texts. */
	if (strip->kind == HWY_KERNEL)
		return (uint32_t)hwy_get(strip, HWY_NAME, row);
	if (strip->kind == HWY_COPY)
		return UINT32_MAX - HWY_KINDS - (uint32_t)hwy_get(strip, HWY_DIRECTION, row);
	return UINT32_MAX - strip->kind;
}

enum tree_kind tree_leaf(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row,
			 char *text, size_t size, const char **name)
{
	static const enum tree_kind kinds[HWY_KINDS] = {[HWY_KERNEL] = TREE_KERNEL,
							[HWY_COPY] = TREE_COPY,
							[HWY_FILL] = TREE_FILL,
							[HWY_GRAPH] = TREE_GRAPH};
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	bool is_told = direction > 0 && direction < HWY_DIRECTIONS;
	snprintf(text, size, "copy%s%s", is_told ? " " : "",
		 is_told ? hwy_direction_names[direction] : "");
	*name = strip->kind == HWY_KERNEL ? hwy_str(trace, hwy_get(strip, HWY_NAME, row))
		: strip->kind == HWY_COPY ? text
		: strip->kind == HWY_FILL ? "fill"
					  : "graph";
	return kinds[strip->kind];
}

/* The leaf for device work of one name in a node. */
static uint32_t leaf_of(struct tree_filling *filling, uint32_t node, const struct hwy_strip *strip,
			uint32_t row)
{
	const struct hwy_trace *trace = filling->flow->trace;
	struct hwy_owners *o = &filling->tree->owners;
	uint32_t code = tree_leaf_code(strip, row);
	uint32_t *leaf = hwy_map_put(&filling->leaves, (uint64_t)node << 32 | code, NULL);
	if (hwy_ref32_is_set(*leaf))
		return hwy_ref32_index(*leaf);
	char text[64];
	const char *name;
	enum tree_kind kind = tree_leaf(trace, strip, row, text, sizeof text, &name);
	*leaf = hwy_ref32(tree_put(filling->tree, node, kind, hwy_intern_z(&o->texts, name), 0));
	return hwy_ref32_index(*leaf);
}

static bool is_chosen_thread(const struct tree_filling *filling, uint32_t thread)
{
	return thread < filling->flow->trace->n_threads && filling->options->threads[thread];
}

/* Whether work on a lane, launched by a thread, counts. */
static bool tree_wants(const struct tree_filling *filling, uint32_t lane, uint32_t thread)
{
	const struct tree_options *options = filling->options;
	return !options->lanes || options->lanes[lane] || is_chosen_thread(filling, thread);
}

static void tree_see(const struct tree_filling *filling, uint32_t node, uint32_t span,
		     int64_t start, int64_t ns)
{
	if (filling->options->see)
		filling->options->see(filling->options->self, filling->tree, node, span, start, ns);
}

/* ---- device work and CPU time ---------------------------------------------------------------- */

static void add_work_of_strip(struct tree_filling *filling, const struct hwy_work *work,
			      const struct hwy_strip *strip)
{
	struct hwy_tree *tree = filling->tree;
	const uint32_t *owner_of = tree->owners.owner_of[strip - filling->flow->trace->strips];
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct hwy_interval at;
		int64_t start = hwy_get(strip, HWY_START, row);
		if (!work_counts(work, strip, row, start, hwy_end(strip, row), &at))
			continue;
		const struct hwy_owner *owner = &tree->owners.owners[owner_of[row]];
		if (!tree_wants(filling, strip->lane, owner->thread))
			continue;
		uint32_t node = node_of_owner(filling, owner_of[row]);
		uint32_t index = leaf_of(filling, node, strip, row); /* may move the nodes */
		struct tree_node *leaf = &tree->nodes[index];
		tree_see(filling, index, strip->first + row, start, at.to - at.from);
		hwy_add_saturating(&leaf->gpu, at.to - at.from);
		leaf->launches++;
		hwy_add_saturating(&tree->with_operator, owner->op ? at.to - at.from : 0);
		hwy_add_saturating(&tree->with_place,
				   owner->module || owner->line ? at.to - at.from : 0);
	}
}

static bool add_work(struct tree_filling *filling, struct hwy_err *err)
{
	struct hwy_trace *trace = filling->flow->trace;
	struct hwy_work work;
	struct hwy_scope scope = {filling->options->device.from, filling->options->device.to,
				  HWY_NONE};
	if (!work_open(&work, trace, scope, err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_COPY), HWY_COL_BIT(HWY_DIRECTION), err)) {
		work_close(&work);
		return false;
	}
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(&work, &trace->strips[s]))
			add_work_of_strip(filling, &work, &trace->strips[s]);
	work_close(&work);
	return true;
}

/* The length of [from, to) inside the window of CPU time. */
static int64_t length_in_window(const struct tree_options *options, int64_t from, int64_t to)
{
	if (options->cpu.from != HWY_NONE && from < options->cpu.from)
		from = options->cpu.from;
	if (options->cpu.to != HWY_NONE && to > options->cpu.to)
		to = options->cpu.to;
	return to > from ? to - from : 0;
}

/* Whether the next row is the operator that autograd's node in this row only runs: both stand in
 * one node of the tree, and are one call. */
static bool is_around_its_like(struct tree_filling *filling, const struct hwy_strip *strip,
			       uint32_t row, uint32_t node)
{
	const uint32_t *owner_of =
		filling->tree->owners.owner_of[strip - filling->flow->trace->strips];
	return row + 1 < strip->rows && hwy_get(strip, HWY_START, row + 1) < hwy_end(strip, row) &&
	       node_of_owner(filling, owner_of[row + 1]) == node &&
	       filling->tree->owners.owners[owner_of[row + 1]].op !=
		       filling->tree->owners.owners[owner_of[row]].op;
}

/* Counts a call of an operator that begins at 'start' for its node and for the root. */
static void count_call_of_operator(struct tree_filling *filling, const struct hwy_strip *strip,
				   uint32_t row, uint32_t node, int64_t start)
{
	if (length_in_window(filling->options, start, start + 1) <= 0 ||
	    is_around_its_like(filling, strip, row, node))
		return;
	filling->tree->nodes[0].calls++;
	if (node != 0)
		filling->tree->nodes[node].calls++;
}

static void count_calls_of_modules(struct tree_filling *filling)
{
	const struct hwy_owners *o = &filling->tree->owners;
	for (uint32_t i = 0; i < o->n_module_calls; i++) {
		const struct owner_module_call *call = &o->module_calls[i];
		uint32_t node = tree_path_of_module(&filling->paths, call->module);
		if (node == 0 ||
		    (filling->options->lanes && !is_chosen_thread(filling, call->thread)))
			continue;
		filling->tree->nodes[node].calls +=
			length_in_window(filling->options, call->start, call->start + 1) > 0;
	}
}

/* Adds each operator's time to its own node, and takes it from the operator around it. */
static void add_cpu_of_strip(struct tree_filling *filling, const struct hwy_strip *strip)
{
	struct hwy_tree *tree = filling->tree;
	const struct hwy_owners *o = &tree->owners;
	size_t s = (size_t)(strip - filling->flow->trace->strips);
	for (uint32_t row = 0; row < strip->rows; row++) {
		const struct hwy_owner *owner = &o->owners[o->owner_of[s][row]];
		/* Scopes are no operators, whatever recorded them. */
		if (!owner->chain || owner->chain != owner->op)
			continue;
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		int64_t length = length_in_window(filling->options, start, end);
		uint32_t node = node_of_owner(filling, o->owner_of[s][row]);
		if (length > 0)
			tree_see(filling, node, strip->first + row, start, length);
		hwy_add_saturating(&tree->nodes[node].cpu, length);
		count_call_of_operator(filling, strip, row, node, start);
		uint32_t outer = o->op_of[s][row];
		if (!hwy_ref32_is_set(outer) || hwy_ref32_index(outer) < strip->first ||
		    hwy_ref32_index(outer) - strip->first >= strip->rows)
			continue;
		uint32_t outer_row = hwy_ref32_index(outer) - strip->first;
		int64_t outer_end = hwy_end(strip, outer_row);
		length = length_in_window(filling->options, start,
					  end < outer_end ? end : outer_end);
		node = node_of_owner(filling, o->owner_of[s][outer_row]);
		hwy_add_saturating(&tree->nodes[node].cpu, -length);
	}
}

/* ---- idle gaps ------------------------------------------------------------------------------- */

/* The window as a phase of one step, for gaps_find. */
static struct hwy_phase window_as_phase(const struct hwy_flow *flow,
					const struct tree_options *options, struct phase_step *step)
{
	struct hwy_interval window = options->device;
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint32_t launches = 0, process = FLOW_NO_PROCESS;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		first = flow->ops[i].start < first ? flow->ops[i].start : first;
		last = flow->ops[i].end > last ? flow->ops[i].end : last;
		if (process == FLOW_NO_PROCESS && flow->ops[i].call != FLOW_NONE)
			process = flow->calls[flow->ops[i].call].process;
	}
	if (window.from == HWY_NONE || window.from < first)
		window.from = first;
	if (window.to == HWY_NONE || window.to > last)
		window.to = last;
	if (window.to < window.from)
		window.to = window.from;
	for (uint32_t i = 0; i < flow->n_calls; i++)
		launches += flow->calls[i].op != FLOW_NONE && flow->calls[i].start >= window.from &&
			    flow->calls[i].start < window.to;
	*step = (struct phase_step){
		.cpu = window, .device = window, .n_calls = flow->n_calls, .name = HWY_NONE};
	return (struct hwy_phase){.source = PHASE_ONE,
				  .name = HWY_NONE,
				  .process = process,
				  .steps = step,
				  .n_steps = 1,
				  .n_steady = 1,
				  .window = window,
				  .mean = window.to - window.from,
				  .median = window.to - window.from,
				  .launches_per_step = launches};
}

/* The moment that tells whose a gap is, where the CPU was in something that is no operator and
 * no call: the middle of what the gap and that something have in common. */
static struct owner_moment moment_of_gap(const struct hwy_trace *trace, const struct hwy_gap *gap)
{
	struct owner_moment moment = {.thread = OWNERS_NO_THREAD};
	uint32_t row;
	if (!hwy_ref32_is_set(gap->span))
		return moment;
	const struct hwy_strip *strip = hwy_strip_of(trace, hwy_ref32_index(gap->span), &row);
	int64_t thread = trace->lanes[strip->lane].thread;
	int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row);
	from = from > gap->at.from ? from : gap->at.from;
	to = to < gap->at.to ? to : gap->at.to;
	if (thread < 0 || thread >= trace->n_threads || strip->kind == HWY_OP)
		return moment;
	moment.thread = (uint32_t)thread;
	moment.time = to > from ? from + (to - from) / 2 : from;
	return moment;
}

/* Who the CPU was with during a gap, as an owner; UINT32_MAX where nobody is known. */
static uint32_t owner_of_gap(const struct tree_filling *filling, const struct hwy_gap *gap,
			     const struct owner_moment *moment)
{
	const struct hwy_owners *o = &filling->tree->owners;
	const struct hwy_trace *trace = filling->flow->trace;
	uint32_t row, span;
	if (moment->thread != OWNERS_NO_THREAD)
		return moment->owner;
	else if (hwy_ref32_is_set(gap->span))
		span = hwy_ref32_index(gap->span);
	else if (gap->culprit != FLOW_NONE)
		span = filling->flow->calls[gap->culprit].span;
	else if (gap->op != FLOW_NONE)
		span = filling->flow->ops[gap->op].span;
	else
		return UINT32_MAX;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	const uint32_t *of = o->owner_of[strip - trace->strips];
	return of ? of[row] : UINT32_MAX;
}

static void add_idle(struct tree_filling *filling, const struct hwy_gaps *gaps,
		     const struct owner_moment *moments)
{
	struct hwy_tree *tree = filling->tree;
	for (uint32_t i = 0; i < gaps->n; i++) {
		uint32_t owner = owner_of_gap(filling, &gaps->gaps[i], &moments[i]);
		if (filling->options->lanes &&
		    (owner == UINT32_MAX ||
		     !is_chosen_thread(filling, tree->owners.owners[owner].thread)))
			continue;
		uint32_t node =
			owner == UINT32_MAX
				? tree_put(tree, 0, TREE_NOTHING,
					   hwy_intern_z(
						   &tree->owners.texts,
						   HWY_KEY("idle that nobody is known to cause")),
					   0)
				: node_of_owner(filling, owner);
		hwy_add_saturating(&tree->nodes[node].idle,
				   gaps->gaps[i].at.to - gaps->gaps[i].at.from);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_outer_and_size(const void *left, const void *right, void *self)
{
	const struct hwy_tree *tree = self;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct tree_node *a = &tree->nodes[i], *b = &tree->nodes[j];
	if (a->outer != b->outer)
		return a->outer < b->outer ? -1 : 1;
	if (a->gpu != b->gpu)
		return a->gpu > b->gpu ? -1 : 1;
	if (a->idle != b->idle)
		return a->idle > b->idle ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu > b->cpu ? -1 : 1;
	int order =
		strcmp(owners_text(&tree->owners, a->name), owners_text(&tree->owners, b->name));
	return order ? order : (i > j) - (i < j);
}

/* Adds each node to the one around it, whose index is smaller, and puts inner nodes in order. */
static void tree_add_up(struct hwy_tree *tree)
{
	tree->order = hwy_array(tree->n, sizeof *tree->order);
	for (uint32_t i = tree->n - 1; i > 0; i--) {
		struct tree_node *node = &tree->nodes[i], *outer = &tree->nodes[node->outer];
		hwy_add_saturating(&outer->gpu, node->gpu);
		hwy_add_saturating(&outer->cpu, node->cpu);
		hwy_add_saturating(&outer->idle, node->idle);
		outer->launches += node->launches;
	}
	for (uint32_t i = 1; i < tree->n; i++)
		tree->order[i - 1] = i;
	if (tree->n > 1)
		qsort_r(tree->order, tree->n - 1, sizeof *tree->order, by_outer_and_size, tree);
	for (uint32_t i = 0; i + 1 < tree->n; i++) {
		struct tree_node *outer = &tree->nodes[tree->nodes[tree->order[i]].outer];
		if (outer->n++ == 0)
			outer->first = i;
	}
}

static bool fill_tree(struct tree_filling *filling, const struct hwy_gaps *gaps,
		      struct owner_moment *moments, struct hwy_err *err)
{
	struct hwy_tree *tree = filling->tree;
	const struct hwy_trace *trace = filling->flow->trace;
	if (!owners_open(&tree->owners, filling->flow->trace, moments, gaps->n, err))
		return false;
	tree->has_modules = tree->owners.n_modules > 1;
	for (uint32_t i = 0; i < tree->owners.n_chain; i++)
		tree->has_operators |= tree->owners.chain[i].is_operator != 0;
	tree_put(tree, 0, TREE_ROOT, 0, 0);
	tree_paths_open(&filling->paths, tree, filling->options);
	filling->node_of_owner = hwy_zarray(tree->owners.n_owners, sizeof *filling->node_of_owner);
	bool done = add_work(filling, err);
	for (uint32_t s = 0; done && s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_OP &&
		    tree_wants(filling, trace->strips[s].lane,
			       (uint32_t)trace->lanes[trace->strips[s].lane].thread))
			add_cpu_of_strip(filling, &trace->strips[s]);
	if (done) {
		count_calls_of_modules(filling);
		add_idle(filling, gaps, moments);
	}
	tree_paths_close(&filling->paths);
	if (done)
		tree_add_up(tree);
	free(filling->node_of_owner);
	hwy_map_free(&filling->leaves);
	return done;
}

bool tree_make(struct hwy_tree *tree, const struct hwy_flow *flow,
	       const struct tree_options *options, struct hwy_err *err)
{
	struct tree_filling filling = {.tree = tree, .flow = flow, .options = options};
	struct phase_step step;
	struct hwy_gaps gaps = {0};
	*tree = (struct hwy_tree){0};
	struct hwy_phase phase = window_as_phase(flow, options, &step);
	if (flow->n_ops && !gaps_find(flow, &phase, &gaps, err))
		return false;
	struct owner_moment *moments = hwy_array(gaps.n, sizeof *moments);
	for (uint32_t i = 0; i < gaps.n; i++)
		moments[i] = moment_of_gap(flow->trace, &gaps.gaps[i]);
	bool done = fill_tree(&filling, &gaps, moments, err);
	free(moments);
	if (flow->n_ops)
		gaps_free(&gaps);
	if (!done)
		tree_free(tree);
	return done;
}

void tree_free(struct hwy_tree *tree)
{
	free(tree->nodes);
	free(tree->order);
	hwy_index_free(&tree->by_key);
	if (tree->owners.trace)
		owners_close(&tree->owners);
	*tree = (struct hwy_tree){0};
}
