/* SPDX-License-Identifier: Apache-2.0 */
/* tree_test.c - the GPU's time by module, operator and kernel: where work stands, and that everything adds up. */
#include "toy_model.h"

#include "analyze/tree.h"
#include "analyze/work.h"
#include "recordings.h"

static const struct tree_options everything = {.by = TREE_BY_MODULE,
					       .merges_layers = true,
					       .device = {HWY_NONE, HWY_NONE},
					       .cpu = {HWY_NONE, HWY_NONE}};

static const struct tree_options each_layer = {
	.by = TREE_BY_MODULE, .device = {HWY_NONE, HWY_NONE}, .cpu = {HWY_NONE, HWY_NONE}};

struct made {
	struct hwy_flow flow;
	struct hwy_tree tree;
};

static struct made make_tree(struct hwy_trace *trace, struct tree_options options)
{
	struct made made;
	struct hwy_err err;
	if (!flow_open(&made.flow, trace, &err) ||
	    !tree_make(&made.tree, &made.flow, &options, &err))
		fail_msg("%s", err.text);
	return made;
}

static void made_free(struct made *made)
{
	tree_free(&made->tree);
	flow_close(&made->flow);
}

/* The node at a path of names, "Net/layers/0"; NULL where there is none. */
static const struct tree_node *node_at(const struct hwy_tree *tree, const char *path)
{
	uint32_t node = 0;
	while (*path) {
		size_t n = strcspn(path, "/");
		uint32_t found = 0;
		for (uint32_t i = 1; i < tree->n && !found; i++) {
			const char *name = owners_text(&tree->owners, tree->nodes[i].name);
			if (tree->nodes[i].outer == node && strlen(name) == n &&
			    memcmp(name, path, n) == 0)
				found = i;
		}
		if (!found)
			return NULL;
		node = found;
		path += n + (path[n] == '/');
	}
	return &tree->nodes[node];
}

static int64_t gpu_at(const struct hwy_tree *tree, const char *path)
{
	const struct tree_node *node = node_at(tree, path);
	if (!node)
		fail_msg("no node %s", path);
	return node->gpu;
}

/* Checks that each node is the sum of its inner nodes, and the root the sum of all work, idle time and operators' time. */
static void check_sums(struct hwy_trace *trace, const struct made *made,
		       const struct tree_options *options)
{
	const struct hwy_tree *tree = &made->tree;
	struct hwy_work work;
	struct hwy_err err;
	struct hwy_interval at;
	struct hwy_scope scope = {options->device.from, options->device.to, HWY_NONE};
	int64_t gpu = 0;
	uint32_t launches = 0;
	assert_true(work_open(&work, trace, scope, &err));
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; work_is_on(&work, strip) && row < strip->rows; row++)
			if (work_counts(&work, strip, row, hwy_get(strip, HWY_START, row),
					hwy_end(strip, row), &at)) {
				gpu += at.to - at.from;
				launches++;
			}
	}
	work_close(&work);
	assert_int_equal(tree->nodes[0].gpu, gpu);
	assert_int_equal(tree->nodes[0].launches, launches);
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct tree_node *node = &tree->nodes[i];
		int64_t inner = 0;
		assert_true(node->cpu >= 0 && node->idle >= 0);
		for (uint32_t k = 0; k < node->n; k++) {
			const struct tree_node *one = &tree->nodes[tree->order[node->first + k]];
			assert_ptr_equal(&tree->nodes[one->outer], node);
			assert_true(k == 0 ||
				    one->gpu <= tree->nodes[tree->order[node->first + k - 1]].gpu);
			inner += one->gpu;
		}
		if (node->n)
			assert_int_equal(node->gpu, inner);
	}
}

static void work_stands_in_its_module_operator_and_kernel(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct made made = make_tree(trace, each_layer);
	const struct hwy_tree *tree = &made.tree;
	assert_int_equal(gpu_at(tree, "Net/layers/0/aten::linear/aten::addmm/gemm_0"), US(10));
	assert_int_equal(gpu_at(tree, "Net/layers/0/AddmmBackward0/gemm_back"), US(10));
	assert_int_equal(gpu_at(tree, "Net/layers/1"), US(16));
	/* Autograd's node around a backward operator is shown as that operator. */
	assert_int_equal(gpu_at(tree, "Net/layers/1/ReluBackward0"), US(11));
	assert_int_equal(gpu_at(tree, "Net/layers/1/ReluBackward0/sum_of_gradients"), US(1));
	assert_int_equal(gpu_at(tree, "Optimizer.step#SGD.step/aten::add_"), US(5));
	assert_int_equal(gpu_at(tree, "outside of modules/train.py:6 step()/aten::mse_loss/loss"),
			 US(5));
	assert_int_equal(gpu_at(tree, "outside of operators/mine"), US(5));
	assert_int_equal(tree->nodes[0].gpu - tree->with_operator, US(5));
	check_sums(trace, &made, &everything);
	made_free(&made);
	hwy_trace_free(trace);
}

static void cpu_time_is_counted_once_for_the_innermost_operator(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct made made = make_tree(trace, each_layer);
	assert_int_equal(node_at(&made.tree, "Net/layers/0/aten::linear")->cpu, US(10));
	assert_int_equal(node_at(&made.tree, "Net/layers/0/aten::linear/aten::addmm")->cpu, US(8));
	/* Calls are those of the operator itself; those of a module were not traced. */
	assert_int_equal(node_at(&made.tree, "Net/layers/0/aten::linear")->calls, 1);
	assert_int_equal(node_at(&made.tree, "Net/layers/0/aten::linear/aten::addmm")->calls, 1);
	assert_int_equal(node_at(&made.tree, "Net/layers/0/AddmmBackward0")->calls, 1);
	assert_int_equal(node_at(&made.tree, "Net")->calls, 0);
	assert_int_equal(made.tree.nodes[0].calls, 8);
	assert_int_equal(made.tree.nodes[0].cpu, US(10 + 10 + 5 + 10 + 10 + 10));
	made_free(&made);
	hwy_trace_free(trace);
}

static void calls_of_a_module_are_those_that_were_traced(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	for (int step = 0; step < 3; step++) {
		double at = 100 * step;
		small_span_us(&toy.small, toy.call, HWY_CALL, at + 1, at + 90, 0,
			      "nn.Module: Net_0");
		small_span_us(&toy.small, toy.call, HWY_CALL, at + 3, at + 40, 0,
			      "nn.Module: Conv_1");
		toy_op(&toy, toy.op, at + 10, at + 30, "aten::conv2d", 0);
		toy_op(&toy, toy.op, at + 12, at + 20, "aten::convolution", 0);
		toy_op(&toy, toy.op, at + 22, at + 26, "aten::convolution", 0);
		toy_op(&toy, toy.op, at + 50, at + 60, "aten::relu", 0);
	}
	struct hwy_trace *trace = small_finish(&toy.small);
	struct made made = make_tree(trace, each_layer);
	assert_int_equal(node_at(&made.tree, "Net_0")->calls, 3);
	assert_int_equal(node_at(&made.tree, "Net_0/Conv_1")->calls, 3);
	assert_int_equal(node_at(&made.tree, "Net_0/Conv_1/aten::conv2d")->calls, 3);
	assert_int_equal(node_at(&made.tree, "Net_0/Conv_1/aten::conv2d/aten::convolution")->calls,
			 6);
	assert_int_equal(made.tree.nodes[0].calls, 12);
	made_free(&made);
	hwy_trace_free(trace);
}

static void idle_time_is_charged_to_who_launched_late(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct made made = make_tree(trace, each_layer);
	/* From 30 to 195 µs the device works 51 µs. */
	assert_int_equal(made.tree.nodes[0].idle, US(195 - 30 - 51));
	assert_int_equal(node_at(&made.tree, "Net/layers/0/AddmmBackward0")->idle, US(4));
	made_free(&made);
	hwy_trace_free(trace);
}

static void the_upper_levels_are_what_was_asked_for(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct tree_options options = everything;
	options.by = TREE_BY_OPERATOR;
	struct made made = make_tree(trace, options);
	assert_int_equal(gpu_at(&made.tree, "AddmmBackward0"), US(10));
	assert_null(node_at(&made.tree, "Net"));
	made_free(&made);
	options.by = TREE_BY_LINE;
	made = make_tree(trace, options);
	assert_int_equal(gpu_at(&made.tree, "train.py:5 step()"), US(36));
	assert_int_equal(gpu_at(&made.tree, "train.py:8 step()/aten::add_"), US(5));
	made_free(&made);
	options.by = TREE_BY_SCOPE;
	made = make_tree(trace, options);
	assert_int_equal(gpu_at(&made.tree, "Optimizer.step#SGD.step/aten::add_"), US(5));
	made_free(&made);
	hwy_trace_free(trace);
}

/* A model of three blocks with an attention and two linear layers each, in our names and in Kineto's. */
static struct hwy_trace *blocks(bool kineto)
{
	struct toy_model toy = toy_model_new();
	for (int i = 0; i < 6; i++) {
		double at = 10 + 100 * i;
		char block[64], inner[64];
		if (kineto) {
			snprintf(block, sizeof block, "nn.Module: Block_%d", i / 2);
			snprintf(inner, sizeof inner, "nn.Module: Linear_%d", i);
			small_span_us(&toy.small, toy.call, HWY_CALL, at, at + 90, 0,
				      "nn.Module: Net_0");
			small_span_us(&toy.small, toy.call, HWY_CALL, at + 1, at + 80, 0, block);
			small_span_us(&toy.small, toy.call, HWY_CALL, at + 2, at + 70, 0, inner);
			toy_op(&toy, toy.op, at + 10, at + 20, "aten::mm", 0);
		} else {
			snprintf(block, sizeof block, "Net.blocks.%d Block", i / 2);
			snprintf(inner, sizeof inner, "Net.blocks.%d.%s Linear", i / 2,
				 i % 2 ? "up" : "down");
			const char *layers[] = {"Net Net", block, inner, NULL};
			toy_op(&toy, toy.op, at + 10, at + 20, "aten::mm",
			       toy_stack(&toy, 5, layers));
		}
		toy_launch(&toy, toy.small.api, at + 11, at + 30, at + 40 + i, "gemm", 0);
	}
	return small_finish(&toy.small);
}

static void numbered_layers_are_merged_unless_each_is_wanted(void **state)
{
	(void)state;
	struct hwy_trace *trace = blocks(false);
	struct made made = make_tree(trace, everything);
	assert_int_equal(gpu_at(&made.tree, "Net/blocks/*"), US(75));
	assert_int_equal(node_at(&made.tree, "Net/blocks/*")->count, 3);
	assert_int_equal(gpu_at(&made.tree, "Net/blocks/*/up"), US(11 + 13 + 15));
	check_sums(trace, &made, &everything);
	made_free(&made);
	made = make_tree(trace, each_layer);
	assert_int_equal(gpu_at(&made.tree, "Net/blocks/1/up"), US(13));
	made_free(&made);
	hwy_trace_free(trace);
}

static void a_list_of_one_class_is_merged_and_a_sequence_of_several_is_not(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct made made = make_tree(trace, everything);
	assert_int_equal(gpu_at(&made.tree, "Net/layers/*"), US(36));
	assert_int_equal(node_at(&made.tree, "Net/layers/*")->count, 2);
	made_free(&made);
	hwy_trace_free(trace);
	struct toy_model toy = toy_model_new();
	for (int i = 0; i < 3; i++) {
		char layer[64];
		snprintf(layer, sizeof layer, "Net.%d %s", i, i % 2 ? "ReLU" : "Linear");
		const char *layers[] = {"Net Sequential", layer, NULL};
		toy_op(&toy, toy.op, 100 * i + 1, 100 * i + 40, "aten::op",
		       toy_stack(&toy, 5, layers));
		toy_launch(&toy, toy.small.api, 100 * i + 2, 100 * i + 10, 100 * i + 20, "k", 0);
	}
	trace = small_finish(&toy.small);
	made = make_tree(trace, everything);
	assert_int_equal(gpu_at(&made.tree, "Net/2/aten::op/k"), US(10));
	made_free(&made);
	hwy_trace_free(trace);
}

static void kinetos_numbers_become_places_in_the_merged_block(void **state)
{
	(void)state;
	struct hwy_trace *trace = blocks(true);
	struct made made = make_tree(trace, everything);
	/* There is one Net only: it keeps its name. */
	assert_int_equal(gpu_at(&made.tree, "Net_0/Block"), US(75));
	assert_int_equal(node_at(&made.tree, "Net_0/Block")->count, 3);
	assert_int_equal(gpu_at(&made.tree, "Net_0/Block/Linear[0]"), US(10 + 12 + 14));
	assert_int_equal(gpu_at(&made.tree, "Net_0/Block/Linear[1]"), US(11 + 13 + 15));
	made_free(&made);
	hwy_trace_free(trace);
}

static void operators_around_a_module_are_not_shown_inside_of_it(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	const char *layers[] = {"Net Net", NULL};
	toy_op(&toy, toy.op, 10, 50, "Checkpoint", toy_stack(&toy, 4, NULL));
	toy_op(&toy, toy.op, 20, 30, "aten::linear", toy_stack(&toy, 5, layers));
	toy_op(&toy, toy.op, 21, 29, "aten::mm", 0);
	toy_launch(&toy, toy.small.api, 22, 30, 40, "gemm", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct made made = make_tree(trace, everything);
	assert_int_equal(gpu_at(&made.tree, "Net/aten::linear/aten::mm/gemm"), US(10));
	made_free(&made);
	struct tree_options options = everything;
	options.by = TREE_BY_OPERATOR;
	made = make_tree(trace, options);
	assert_int_equal(gpu_at(&made.tree, "Checkpoint/aten::linear/aten::mm/gemm"), US(10));
	made_free(&made);
	hwy_trace_free(trace);
}

static void a_window_cuts_work_and_idle_time(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_training();
	struct tree_options options = everything;
	options.device = options.cpu = (struct hwy_interval){US(35), US(65)};
	struct made made = make_tree(trace, options);
	assert_int_equal(made.tree.nodes[0].gpu, US(5 + 5 + 5 + 5));
	assert_int_equal(made.tree.nodes[0].idle, US(10));
	assert_int_equal(made.tree.nodes[0].cpu, US(10 + 5));
	check_sums(trace, &made, &options);
	made_free(&made);
	hwy_trace_free(trace);
}

static void recordings_add_up_whatever_the_levels(void **state)
{
	(void)state;
	static const char *const names[] = {"torch/mlp_sync.json.gz", "torch/starve_0.json.gz",
					    "gpu/graphs_launch.hwy", "gpu/decode_eager.hwy"};
	uint32_t n = 0;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		struct hwy_trace *trace = recording_open(names[i], NULL);
		if (!trace)
			continue;
		for (unsigned by = 0; by < TREE_BYS; by++) {
			struct tree_options options = everything;
			options.by = (enum tree_by)by;
			struct made made = make_tree(trace, options);
			check_sums(trace, &made, &options);
			made_free(&made);
			n++;
		}
		hwy_trace_free(trace);
	}
	if (n == 0)
		skip();
}

static void random_recordings_add_up(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct toy_model toy = toy_model_new();
		struct dice dice = {seed};
		const char *layers[] = {"Net Net", "Net.blocks.7 Block", "Net.blocks.7.fc Linear",
					NULL};
		int64_t stack = toy_stack(&toy, 3, layers);
		double at = 0, device = 0;
		for (int i = 0; i < 200; i++) {
			double length = (double)(1 + roll_below(&dice, 50));
			uint32_t op = roll_below(&dice, 2) ? toy.op : toy.engine_op;
			uint32_t api = op == toy.op ? toy.small.api : toy.engine_api;
			if (roll_below(&dice, 4))
				toy_op(&toy, op, at, at + length + 4, "outer",
				       roll_below(&dice, 2) ? stack : 0);
			if (roll_below(&dice, 3) == 0)
				toy_op(&toy, op, at + 1, at + length, "inner", 0);
			device = device > at + 3 ? device : at + 3;
			toy_launch(&toy, api, at + 1, device, device + length, "k",
				   roll_below(&dice, 9) ? 0 : 5);
			device += length + (double)roll_below(&dice, 3);
			at += length + (double)roll_below(&dice, 9);
		}
		struct hwy_trace *trace = small_finish(&toy.small);
		struct tree_options options = everything;
		if (seed % 2)
			options.device = (struct hwy_interval){US(500), US(2000)};
		struct made made = make_tree(trace, options);
		check_sums(trace, &made, &options);
		made_free(&made);
		hwy_trace_free(trace);
	}
}

static void scopes_that_differ_in_a_number_are_merged(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "layer_%d", i);
		small_span_us(&toy.small, toy.range, HWY_RANGE, 100 * i, 100 * i + 50, 0, name);
		toy_op(&toy, toy.op, 100 * i + 1, 100 * i + 40, "aten::mm", 0);
		toy_launch(&toy, toy.small.api, 100 * i + 2, 100 * i + 10, 100 * i + 20, "k", 0);
	}
	struct hwy_trace *trace = small_finish(&toy.small);
	struct made made = make_tree(trace, everything);
	assert_int_equal(gpu_at(&made.tree, "layer_*/aten::mm/k"), US(30));
	assert_int_equal(node_at(&made.tree, "layer_*")->count, 3);
	made_free(&made);
	made = make_tree(trace, each_layer);
	assert_int_equal(gpu_at(&made.tree, "layer_1/aten::mm/k"), US(10));
	made_free(&made);
	hwy_trace_free(trace);
}

static void any_recording_has_a_tree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct hwy_trace *trace = random_trace(seed, 12, 300);
		struct hwy_flow flow;
		struct hwy_tree tree;
		struct hwy_err err;
		struct tree_options options = everything;
		options.by = (enum tree_by)(seed % TREE_BYS);
		if (flow_open(&flow, trace, &err)) {
			if (tree_make(&tree, &flow, &options, &err))
				tree_free(&tree);
			flow_close(&flow);
		}
		hwy_trace_free(trace);
	}
}

static void a_trace_without_work_has_an_empty_tree(void **state)
{
	(void)state;
	struct toy_model toy = toy_model_new();
	toy_op(&toy, toy.op, 10, 20, "aten::mm", 0);
	struct hwy_trace *trace = small_finish(&toy.small);
	struct made made = make_tree(trace, everything);
	assert_int_equal(made.tree.nodes[0].gpu, 0);
	assert_int_equal(made.tree.nodes[0].cpu, US(10));
	made_free(&made);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_stands_in_its_module_operator_and_kernel),
		cmocka_unit_test(cpu_time_is_counted_once_for_the_innermost_operator),
		cmocka_unit_test(calls_of_a_module_are_those_that_were_traced),
		cmocka_unit_test(idle_time_is_charged_to_who_launched_late),
		cmocka_unit_test(the_upper_levels_are_what_was_asked_for),
		cmocka_unit_test(numbered_layers_are_merged_unless_each_is_wanted),
		cmocka_unit_test(a_list_of_one_class_is_merged_and_a_sequence_of_several_is_not),
		cmocka_unit_test(kinetos_numbers_become_places_in_the_merged_block),
		cmocka_unit_test(operators_around_a_module_are_not_shown_inside_of_it),
		cmocka_unit_test(a_window_cuts_work_and_idle_time),
		cmocka_unit_test(recordings_add_up_whatever_the_levels),
		cmocka_unit_test(random_recordings_add_up),
		cmocka_unit_test(scopes_that_differ_in_a_number_are_merged),
		cmocka_unit_test(any_recording_has_a_tree),
		cmocka_unit_test(a_trace_without_work_has_an_empty_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
