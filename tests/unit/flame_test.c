/* SPDX-License-Identifier: Apache-2.0 */
/* flame_test.c - flame graphs: everything is counted once, merging keeps the sums, windows and lanes cut what they say. */
#include "toy_model.h"

#include "analyze/flame.h"
#include "recordings.h"

static const struct flame_options whole = {.device = {HWY_NONE, HWY_NONE},
					   .cpu = {HWY_NONE, HWY_NONE}};

static struct hwy_flame make_flame(const struct hwy_flow *flow, struct flame_options options,
				   enum flame_kind kind)
{
	struct hwy_flame flame;
	struct hwy_err err;
	options.kind = kind;
	if (!flame_make(&flame, flow, &options, &err))
		fail_msg("%s", err.text);
	return flame;
}

static struct hwy_flow open_flow(struct hwy_trace *trace)
{
	struct hwy_flow flow;
	struct hwy_err err;
	if (!flow_open(&flow, trace, &err))
		fail_msg("%s", err.text);
	return flow;
}

/* Callers come first, totals are the sums of what is below, and nothing is negative. */
static void check_sums(const struct hwy_flame *flame)
{
	int64_t *below = calloc((size_t)flame->n * FLAME_WEIGHTS, sizeof *below);
	uint64_t *counts = calloc(flame->n, sizeof *counts);
	assert_non_null(below);
	assert_non_null(counts);
	for (uint32_t i = flame->n; i-- > 0;) {
		const struct flame_node *node = &flame->nodes[i];
		assert_true(i == 0 ? node->outer == 0 : node->outer < i);
		for (unsigned w = 0; w < flame->n_weights; w++) {
			assert_true(node->self[w] >= 0);
			assert_int_equal(node->total[w],
					 node->self[w] + below[i * FLAME_WEIGHTS + w]);
			below[node->outer * FLAME_WEIGHTS + w] += node->total[w];
		}
		assert_true(node->count >= counts[i]);
		counts[node->outer] += i ? node->count : 0;
	}
	free(below);
	free(counts);
}

static int64_t sum_of_selfs(const struct hwy_flame *flame, unsigned weight)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < flame->n; i++)
		sum += flame->nodes[i].self[weight];
	return sum;
}

/* The node at a path of names, joined by '/'; UINT32_MAX where there is none. */
static uint32_t node_at(const struct hwy_flame *flame, const char *path)
{
	uint32_t at = 0;
	while (*path) {
		size_t n = strcspn(path, "/");
		uint32_t found = UINT32_MAX;
		for (uint32_t i = 1; i < flame->n && found == UINT32_MAX; i++) {
			struct hwy_text name = flame->texts.texts[flame->nodes[i].name];
			if (flame->nodes[i].outer == at && name.length == n &&
			    memcmp(name.at, path, n) == 0)
				found = i;
		}
		if (found == UINT32_MAX)
			return found;
		at = found;
		path += n + (path[n] == '/');
	}
	return at;
}

static struct hwy_trace *toy_calls(void)
{
	static const char *const layers[] = {"Net Net", "Net.fc Linear", NULL};
	struct toy_model toy = toy_model_new();
	int64_t forward = toy_stack(&toy, 5, layers), outside = toy_stack(&toy, 9, NULL);
	toy_op(&toy, toy.op, 0, 20, "aten::linear", forward);
	toy_launch(&toy, toy.small.api, 2, 30, 40, "gemm", 0);
	toy_launch(&toy, toy.small.api, 6, 40, 45, "gemm", 0);
	toy_op(&toy, toy.op, 22, 28, "aten::relu", outside);
	toy_launch(&toy, toy.small.api, 23, 50, 53, "relu", 0);
	toy_launch(&toy, toy.small.api, 60, 70, 74, "alone", 0);
	return small_finish(&toy.small);
}

static void work_stands_under_the_stack_of_what_launched_it(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_calls();
	struct hwy_flow flow = open_flow(trace);
	struct hwy_flame flame = make_flame(&flow, whole, FLAME_STACKS);
	check_sums(&flame);
	uint32_t thread = 1;
	assert_int_equal(flame.nodes[thread].kind, FLAME_THREAD);
	char path[200];
	const char *name = flame.texts.texts[flame.nodes[thread].name].at;
	snprintf(path, sizeof path, "%s/step/Net/Net.fc/gemm", name);
	uint32_t gemm = node_at(&flame, path);
	assert_int_not_equal(gemm, UINT32_MAX);
	assert_int_equal(flame.nodes[gemm].self[0], US(15));
	assert_int_equal(flame.nodes[gemm].count, 2);
	assert_int_equal(flame.nodes[gemm].longest, US(10));
	/* Lines of one function are one node. */
	snprintf(path, sizeof path, "%s/step", name);
	assert_int_equal(flame.nodes[node_at(&flame, path)].total[0], US(18));
	snprintf(path, sizeof path, "%s/no stack was recorded/alone", name);
	assert_int_equal(flame.nodes[node_at(&flame, path)].self[0], US(4));
	assert_int_equal(flame.unknown, 1);
	assert_int_equal(flame.nodes[0].total[0], US(22));
	flame_free(&flame);
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void the_spans_of_a_frame_are_the_longest_in_order_of_time(void **state)
{
	(void)state;
	struct hwy_trace *trace = toy_calls();
	struct hwy_flow flow = open_flow(trace);
	struct flame_span found[2];
	struct flame_spans spans = {.v = found, .most = 2};
	struct flame_options options = whole;
	options.spans = &spans;
	options.of_node = 0;
	struct hwy_flame flame = make_flame(&flow, options, FLAME_STACKS);
	assert_int_equal(spans.all, 4);
	assert_int_equal(spans.n, 2);
	assert_int_equal(found[0].start, US(30));
	assert_int_equal(found[0].ns, US(10));
	assert_int_equal(found[1].start, US(40));
	assert_int_equal(found[1].ns, US(5));
	flame_free(&flame);
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void operators_have_the_sums_of_the_tree(void **state)
{
	(void)state;
	static const char *const names[] = {"operators/resnet.hwy", "operators/decode.hwy",
					    "operators/compiled.hwy", "gpu/mlp_sync.hwy"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct hwy_trace *trace = recording_open(names[i], ".");
		assert_non_null(trace);
		struct hwy_flow flow = open_flow(trace);
		struct tree_options how = {.by = TREE_BY_MODULE,
					   .merges_layers = true,
					   .device = {HWY_NONE, HWY_NONE},
					   .cpu = {HWY_NONE, HWY_NONE}};
		struct hwy_tree tree;
		struct hwy_err err;
		assert_true(tree_make(&tree, &flow, &how, &err));
		struct hwy_flame flame = make_flame(&flow, whole, FLAME_OPERATORS);
		check_sums(&flame);
		assert_int_equal(flame.n, tree.n);
		for (uint32_t n = 0; n < tree.n; n++) {
			assert_int_equal(flame.nodes[n].total[0], tree.nodes[n].gpu);
			assert_int_equal(flame.nodes[n].total[1], tree.nodes[n].cpu);
			assert_int_equal(flame.nodes[n].total[2], tree.nodes[n].idle);
			assert_int_equal(flame.nodes[n].count, tree.nodes[n].launches);
		}
		struct hwy_flame stacks = make_flame(&flow, whole, FLAME_STACKS);
		check_sums(&stacks);
		assert_int_equal(stacks.nodes[0].total[0], tree.nodes[0].gpu);
		assert_int_equal(stacks.nodes[0].count, tree.nodes[0].launches);
		flame_free(&stacks);
		flame_free(&flame);
		tree_free(&tree);
		flow_close(&flow);
		hwy_trace_free(trace);
	}
}

static void merging_keeps_the_sums_and_the_bound(void **state)
{
	(void)state;
	struct hwy_trace *trace = recording_open("operators/resnet.hwy", ".");
	assert_non_null(trace);
	struct hwy_flow flow = open_flow(trace);
	static const uint32_t bounds[] = {1, 2, 3, 10, 100, 100000};
	for (unsigned kind = FLAME_OPERATORS; kind < FLAME_KINDS; kind++)
		for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
			struct hwy_flame flame = make_flame(&flow, whole, (enum flame_kind)kind);
			uint32_t n = flame.n, count = flame.nodes[0].count, listed = 0, merged = 0;
			int64_t total = flame.nodes[0].total[0];
			flame_prune(&flame, bounds[i], 0);
			check_sums(&flame);
			assert_true(flame.n <= (bounds[i] > 2 ? bounds[i] : 2));
			assert_int_equal(flame.nodes[0].total[0], total);
			assert_int_equal(sum_of_selfs(&flame, 0), total);
			assert_int_equal(flame.nodes[0].count, count);
			for (uint32_t k = 0; k < flame.n; k++) {
				listed += flame.nodes[k].kind != FLAME_MERGED;
				merged += flame.nodes[k].merged;
				assert_int_not_equal(flame.nodes[k].merged, 1);
				assert_true((flame.before[k] == UINT32_MAX) ==
					    (flame.nodes[k].kind == FLAME_MERGED));
			}
			assert_int_equal(merged, flame.n_merged);
			assert_int_equal(listed + merged, n);
			flame_free(&flame);
		}
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void windows_that_share_a_border_add_up_to_the_whole(void **state)
{
	(void)state;
	struct hwy_trace *trace = recording_open("operators/decode.hwy", ".");
	assert_non_null(trace);
	struct hwy_flow flow = open_flow(trace);
	struct hwy_flame all = make_flame(&flow, whole, FLAME_STACKS);
	int64_t begin = flow.ops[0].start, sum = 0, window[] = {INT64_MIN + 1, 0, 0, INT64_MAX};
	window[1] = begin + US(20000) + 7;
	window[2] = begin + US(150000) + 1;
	for (int i = 0; i < 3; i++) {
		struct flame_options options = whole;
		options.device = options.cpu = (struct hwy_interval){window[i], window[i + 1]};
		struct hwy_flame part = make_flame(&flow, options, FLAME_STACKS);
		check_sums(&part);
		sum += part.nodes[0].total[0];
		flame_free(&part);
	}
	assert_int_equal(sum, all.nodes[0].total[0]);
	flame_free(&all);
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void chosen_lanes_split_the_work_and_a_thread_has_what_it_launched(void **state)
{
	(void)state;
	struct hwy_trace *trace = recording_open("operators/resnet.hwy", ".");
	assert_non_null(trace);
	struct hwy_flow flow = open_flow(trace);
	uint8_t *lanes = calloc(trace->n_lanes, 1), *threads = calloc(trace->n_threads, 1);
	assert_non_null(lanes);
	assert_non_null(threads);
	struct flame_options options = whole;
	options.lanes = (struct flame_lanes){lanes, threads};
	for (unsigned kind = FLAME_OPERATORS; kind < FLAME_KINDS; kind++) {
		struct hwy_flame all = make_flame(&flow, whole, (enum flame_kind)kind);
		int64_t by_lane = 0, by_thread = 0;
		for (uint32_t l = 0; l < trace->n_lanes; l++) {
			lanes[l] = 1;
			struct hwy_flame part = make_flame(&flow, options, (enum flame_kind)kind);
			by_lane += part.nodes[0].total[0];
			flame_free(&part);
			lanes[l] = 0;
		}
		for (uint32_t t = 0; t < trace->n_threads; t++) {
			threads[t] = 1;
			struct hwy_flame part = make_flame(&flow, options, (enum flame_kind)kind);
			by_thread += part.nodes[0].total[0];
			flame_free(&part);
			threads[t] = 0;
		}
		assert_int_equal(by_lane, all.nodes[0].total[0]);
		assert_int_equal(by_thread, all.nodes[0].total[0]);
		flame_free(&all);
	}
	free(lanes);
	free(threads);
	flow_close(&flow);
	hwy_trace_free(trace);
}

static void samples_are_counted_once_whichever_frames_are_listed(void **state)
{
	(void)state;
	char folder[] = "/tmp/headway-flame-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct hwy_trace *trace = recording_open("nsys/mlp_backtrace.sqlite.xz", folder);
	rmdir(folder);
	if (!trace)
		skip();
	struct hwy_flow flow = open_flow(trace);
	uint32_t samples = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		samples += trace->strips[s].kind == HWY_SAMPLE ? trace->strips[s].rows : 0;
	assert_true(samples > 0);
	for (int python = 0; python < 2; python++) {
		struct flame_options options = whole;
		options.only_python = python;
		struct hwy_flame flame = make_flame(&flow, options, FLAME_SAMPLES);
		check_sums(&flame);
		assert_int_equal(flame.nodes[0].total[0], samples);
		assert_int_equal(flame.nodes[0].count, samples);
		flame_free(&flame);
	}
	flow_close(&flow);
	hwy_trace_free(trace);
}

/* Random recordings hold every kind of span at any time, damaged references among them. */
static void random_recordings_add_up_however_they_are_cut_and_merged(void **state)
{
	(void)state;
	uint32_t n_checked = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct hwy_trace *trace = random_trace(seed, 12, 300);
		struct hwy_flow flow;
		struct hwy_err err;
		struct flame_options options = whole;
		options.kind = (enum flame_kind)(seed % FLAME_KINDS);
		options.only_python = seed % 2;
		if (seed % 5 == 0)
			options.device = options.cpu =
				(struct hwy_interval){(int64_t)seed * 100, (int64_t)seed * 5000};
		if (flow_open(&flow, trace, &err)) {
			struct hwy_flame flame;
			if (flame_make(&flame, &flow, &options, &err)) {
				int64_t total = flame.nodes[0].total[0];
				flame_prune(&flame, (uint32_t)(seed % 50) + 2,
					    (double)(seed % 7) / 100);
				assert_int_equal(flame.nodes[0].total[0], total);
				/* Damaged durations may end a sum at INT64_MAX. */
				if (total < INT64_MAX / 2) {
					assert_int_equal(sum_of_selfs(&flame, 0), total);
					n_checked++;
				}
				flame_free(&flame);
			}
			flow_close(&flow);
		}
		hwy_trace_free(trace);
	}
	assert_true(n_checked > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_stands_under_the_stack_of_what_launched_it),
		cmocka_unit_test(the_spans_of_a_frame_are_the_longest_in_order_of_time),
		cmocka_unit_test(operators_have_the_sums_of_the_tree),
		cmocka_unit_test(merging_keeps_the_sums_and_the_bound),
		cmocka_unit_test(windows_that_share_a_border_add_up_to_the_whole),
		cmocka_unit_test(chosen_lanes_split_the_work_and_a_thread_has_what_it_launched),
		cmocka_unit_test(samples_are_counted_once_whichever_frames_are_listed),
		cmocka_unit_test(random_recordings_add_up_however_they_are_cut_and_merged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
