/* SPDX-License-Identifier: Apache-2.0 */
/* graph_launches_test.c - the order of the work of CUDA graphs in a replay: by the edges between nodes. */
#include "make_trace.h"

#include "whatif/replay.h"

enum { FORK, LEFT, RIGHT, JOIN, KERNELS };

struct launched {
	struct small small;
	uint32_t stream;
	struct hwy_trace *trace;
	struct hwy_flow flow;
	struct hwy_graph graph;
};

static struct launched begin_launch(void)
{
	struct launched made = {.small = small_new()};
	made.stream = small_stream(&made.small, small_device(&made.small, 0), 7);
	small_span(&made.small, small_lane(&made.small, HWY_LANE_API), HWY_API, 0, US(10), 1,
		   "cudaGraphLaunch");
	return made;
}

/* An execution of a node, from 'start' to 'end' in us; node 0: a kernel outside of graphs, launched by the call 'corr'. */
static void put_kernel(struct launched *made, int64_t start, int64_t end, int64_t node,
		       int64_t corr)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = US(start);
	row.v[HWY_DUR] = US(end - start);
	row.v[HWY_CORR] = corr;
	row.v[HWY_GRAPH_NODE] = node;
	hwy_add_span(made->small.builder, made->stream, HWY_KERNEL, &row);
}

static void put_node(struct launched *made, int64_t node, int64_t graph)
{
	uint32_t index = hwy_new_nodes(made->small.builder);
	hwy_builder_trace(made->small.builder)->nodes[index] =
		(struct hwy_node){.process = made->small.process,
				  .thread = made->small.thread,
				  .graph = graph,
				  .node = node};
}

static void put_edge(struct launched *made, int64_t node, int64_t after)
{
	uint32_t index = hwy_new_node_edges(made->small.builder);
	hwy_builder_trace(made->small.builder)->node_edges[index] = (struct hwy_node_edge){
		.process = made->small.process, .graph = 2, .node = node, .after = after};
}

static void build(struct launched *made)
{
	struct hwy_err err;
	made->trace = small_finish(&made->small);
	assert_true(flow_open(&made->flow, made->trace, &err));
	assert_true(graph_build(&made->graph, &made->flow, &err));
}

/* When the op 'shown' begins, in us, if the op 'shortened' takes only so many us. */
static int64_t begin_if(struct launched *made, uint32_t shown, uint32_t shortened, int64_t us)
{
	struct hwy_graph edited = graph_copy(&made->graph);
	int64_t *ends = hwy_array(edited.n, sizeof *ends);
	edited.nodes[graph_op(&edited, shortened)].length = US(us);
	replay_run(&edited, ends);
	int64_t begin = replay_begin(&edited, ends, graph_op(&edited, shown));
	free(ends);
	graph_free(&edited);
	return begin / 1000;
}

static void done(struct launched *made)
{
	graph_free(&made->graph);
	flow_close(&made->flow);
	hwy_trace_free(made->trace);
}

/* A graph that forks and joins, or one that only forks. */
static void fork_join(struct launched *made, const int64_t times[KERNELS][2], bool joins)
{
	*made = begin_launch();
	for (int i = 0; i < KERNELS; i++) {
		bool is_node = i != JOIN || joins;
		put_kernel(made, times[i][0], times[i][1], is_node ? 10 + i : 0, is_node ? 1 : 2);
		if (is_node)
			put_node(made, 10 + i, 2);
	}
	put_edge(made, 10 + LEFT, 10 + FORK);
	put_edge(made, 10 + RIGHT, 10 + FORK);
	if (joins) {
		put_edge(made, 10 + JOIN, 10 + LEFT);
		put_edge(made, 10 + JOIN, 10 + RIGHT);
	} else {
		small_span(&made->small, small_lane(&made->small, HWY_LANE_API), HWY_API, US(20),
			   US(30), 2, "cudaLaunchKernel");
	}
	build(made);
}

static const int64_t overlapping[KERNELS][2] = {{100, 200}, {210, 500}, {220, 400}, {510, 600}};

static void a_join_waits_for_the_longer_branch(void **state)
{
	(void)state;
	struct launched made;
	fork_join(&made, overlapping, true);
	assert_int_equal(begin_if(&made, JOIN, FORK, 100), 510);
	/* Where the longer branch takes 10 us, the other one decides: 100 us earlier. */
	assert_int_equal(begin_if(&made, JOIN, LEFT, 10), 400 + 10);
	/* The shorter branch decides nothing. */
	assert_int_equal(begin_if(&made, JOIN, RIGHT, 10), 510);
	/* What both wait for moves all. */
	assert_int_equal(begin_if(&made, JOIN, FORK, 50), 460);
	done(&made);
}

static void branches_that_ran_one_after_the_other_do_not_add_up(void **state)
{
	(void)state;
	static const int64_t serial[KERNELS][2] = {{100, 200}, {210, 300}, {310, 500}, {510, 600}};
	struct launched made;
	fork_join(&made, serial, true);
	assert_int_equal(begin_if(&made, RIGHT, LEFT, 10), 310);
	assert_int_equal(begin_if(&made, JOIN, LEFT, 10), 510);
	done(&made);
}

static void what_follows_a_launch_waits_for_all_of_its_branches(void **state)
{
	(void)state;
	struct launched made;
	fork_join(&made, overlapping, false);
	assert_int_equal(begin_if(&made, JOIN, LEFT, 10), 400 + 10);
	assert_int_equal(begin_if(&made, JOIN, RIGHT, 10), 510);
	done(&made);
}

/* The body of a conditional node runs twice: nodes 21 and 22 of the graph 3. Nobody recorded what node 21 waits for. */
static void iterations_of_a_conditional_node_follow_each_other(void **state)
{
	(void)state;
	static const int64_t times[][2] = {
		{100, 200}, {210, 300}, {310, 400}, {410, 500}, {510, 600}};
	static const int64_t nodes[] = {10, 21, 22, 21, 22};
	struct launched made = begin_launch();
	for (int i = 0; i < 5; i++)
		put_kernel(&made, times[i][0], times[i][1], nodes[i], 1);
	put_node(&made, 10, 2);
	put_node(&made, 21, 3);
	put_node(&made, 22, 3);
	put_edge(&made, 22, 21);
	build(&made);
	assert_int_equal(made.flow.n_ops, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(made.flow.ops[i].call, 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(begin_if(&made, 4, i, 50), 510 - (i == 0 ? 50 : 40));
	done(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_waits_for_the_longer_branch),
		cmocka_unit_test(branches_that_ran_one_after_the_other_do_not_add_up),
		cmocka_unit_test(what_follows_a_launch_waits_for_all_of_its_branches),
		cmocka_unit_test(iterations_of_a_conditional_node_follow_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
