/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_nodes_test.c - nodes of CUDA graphs, from the records of a run to the tables of a trace. */
#include "ingest_records.h"

#include "analyze/graph_nodes.h"
#include "spool/record_frameworks.h"

enum { PID = 40, CAPTURER = 41, LAUNCHER = 42 };

static uint64_t id_of(uint32_t graph, uint32_t index)
{
	return (uint64_t)graph << 32 | index;
}

static void put_node(struct made_spool *spool, enum rec_node_event event, uint64_t node,
		     uint64_t other, int64_t time)
{
	struct rec_node *record =
		put_record(spool, REC_NODE, (uint8_t)event, 0, sizeof(struct rec_node));
	record->time = epoch + time;
	record->node = node;
	record->other = other;
	record->graph = (uint32_t)(node >> 32);
	record->other_graph = (uint32_t)(other >> 32);
}

static void put_kernel_of(struct made_spool *spool, uint64_t node, int64_t start)
{
	struct rec_work *work = put_work(spool, REC_KERNEL, 1, start, 9, 13);
	work->node = node;
	work->graph = (uint32_t)(node >> 32);
}

static const struct hwy_node *node_of(const struct hwy_trace *trace, uint64_t id)
{
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (trace->processes[p].pid == PID)
			return graph_nodes_find(trace, p, (int64_t)id);
	return NULL;
}

static bool is_after(const struct hwy_trace *trace, uint64_t node, uint64_t before)
{
	for (uint32_t i = 0; i < trace->n_node_edges; i++)
		if (trace->node_edges[i].node == (int64_t)node &&
		    trace->node_edges[i].after == (int64_t)before)
			return true;
	return false;
}

struct two_threads {
	struct made_run run;
	struct made_spool capturer, launcher;
};

static struct two_threads begin(void)
{
	struct two_threads made = {.run = make_run()};
	made.capturer = make_spool(&made.run, PID, CAPTURER, 0);
	made.launcher = make_spool(&made.run, PID, LAUNCHER, 1);
	made.launcher.process = made.capturer.process;
	put_process(&made.capturer, 1, 5);
	put_cuda(&made.capturer);
	return made;
}

static struct hwy_trace *end(struct two_threads *made)
{
	end_spool(&made->capturer);
	end_spool(&made->launcher);
	return ingest(&made->run);
}

static void a_copy_of_a_copy_has_the_thread_and_time_of_the_first_original(void **state)
{
	(void)state;
	struct two_threads made = begin();
	put_node(&made.capturer, REC_NODE_CREATED, id_of(1, 0), 0, 100);
	put_node(&made.launcher, REC_NODE_CREATED, id_of(2, 0), 0, 200);
	put_node(&made.launcher, REC_NODE_CLONED, id_of(2, 0), id_of(1, 0), 201);
	put_node(&made.launcher, REC_NODE_CREATED, id_of(3, 0), 0, 300);
	put_node(&made.launcher, REC_NODE_CLONED, id_of(3, 0), id_of(2, 0), 301);
	put_kernel_of(&made.launcher, id_of(3, 0), 500);
	struct hwy_trace *trace = end(&made);
	const struct hwy_node *node = node_of(trace, id_of(3, 0));
	assert_non_null(node);
	assert_int_equal(node->time, 100);
	assert_int_equal(node->graph, 3);
	assert_int_equal(trace->threads[node->thread].tid, CAPTURER);
	assert_int_equal(trace->n_nodes, 1);
	hwy_trace_free(trace);
}

static void a_copy_whose_original_was_not_recorded_is_left_out(void **state)
{
	(void)state;
	struct two_threads made = begin();
	put_node(&made.launcher, REC_NODE_CREATED, id_of(2, 0), 0, 200);
	put_node(&made.launcher, REC_NODE_CLONED, id_of(2, 0), id_of(1, 0), 201);
	put_node(&made.launcher, REC_NODE_CLONED, id_of(4, 0), id_of(5, 0), 202);
	put_node(&made.launcher, REC_NODE_CLONED, id_of(5, 0), id_of(4, 0), 203);
	put_kernel_of(&made.launcher, id_of(2, 0), 500);
	put_kernel_of(&made.launcher, id_of(4, 0), 600);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(count(trace, HWY_KERNEL), 2);
	assert_int_equal(trace->n_nodes, 0);
	hwy_trace_free(trace);
}

/* Captures 0, then 1 and 2, then 5, which waits for both through the empty node 4; instantiates and launches.
 * is_reversed: the records of edges name the node that runs first where others name the one that runs after it. */
static struct hwy_trace *fork_and_join(bool is_reversed)
{
	static const uint32_t edges[][2] = {{1, 0}, {2, 0}, {4, 1}, {4, 2}, {5, 4}};
	struct two_threads made = begin();
	for (uint32_t i = 0; i < 6; i++)
		put_node(&made.capturer, REC_NODE_CREATED, id_of(1, i), 0, 100 + i);
	for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++)
		put_node(&made.capturer, REC_NODE_AFTER, id_of(1, edges[i][is_reversed]),
			 id_of(1, edges[i][!is_reversed]), 150);
	for (uint32_t i = 0; i < 6; i++)
		put_node(&made.launcher, REC_NODE_CLONED, id_of(2, i), id_of(1, i), 200);
	static const uint32_t kernels[] = {0, 1, 2, 5};
	for (unsigned i = 0; i < 4; i++)
		put_kernel_of(&made.launcher, id_of(2, kernels[i]), 500 + 100 * i);
	return end(&made);
}

static void edges_hold_for_copies_and_lead_past_nodes_without_work(void **state)
{
	(void)state;
	struct hwy_trace *trace = fork_and_join(false);
	assert_int_equal(trace->n_nodes, 4);
	assert_int_equal(trace->n_node_edges, 4);
	assert_true(is_after(trace, id_of(2, 1), id_of(2, 0)));
	assert_true(is_after(trace, id_of(2, 2), id_of(2, 0)));
	assert_true(is_after(trace, id_of(2, 5), id_of(2, 1)));
	assert_true(is_after(trace, id_of(2, 5), id_of(2, 2)));
	hwy_trace_free(trace);
}

static void edges_are_the_same_whichever_node_their_records_name_first(void **state)
{
	(void)state;
	struct hwy_trace *trace = fork_and_join(true);
	assert_int_equal(trace->n_node_edges, 4);
	assert_true(is_after(trace, id_of(2, 1), id_of(2, 0)));
	assert_true(is_after(trace, id_of(2, 5), id_of(2, 2)));
	hwy_trace_free(trace);
}

static void only_nodes_that_work_refers_to_are_kept(void **state)
{
	(void)state;
	struct two_threads made = begin();
	for (uint32_t i = 0; i < 3; i++)
		put_node(&made.capturer, REC_NODE_CREATED, id_of(1, i), 0, 100 + i);
	put_node(&made.capturer, REC_NODE_AFTER, id_of(1, 2), id_of(1, 1), 110);
	put_kernel_of(&made.launcher, id_of(1, 1), 500);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_nodes, 1);
	assert_int_equal(trace->nodes[0].time, 101);
	assert_int_equal(trace->n_node_edges, 0);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_of_a_copy_has_the_thread_and_time_of_the_first_original),
		cmocka_unit_test(a_copy_whose_original_was_not_recorded_is_left_out),
		cmocka_unit_test(edges_hold_for_copies_and_lead_past_nodes_without_work),
		cmocka_unit_test(edges_are_the_same_whichever_node_their_records_name_first),
		cmocka_unit_test(only_nodes_that_work_refers_to_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
