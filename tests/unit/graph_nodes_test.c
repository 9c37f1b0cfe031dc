/* SPDX-License-Identifier: Apache-2.0 */
/* graph_nodes_test.c - which node of a CUDA graph a kernel executes, and what runs before that node. */
#include "analyze/graph_nodes.h"
#include "make_trace.h"

static void add_node(struct small *small, int64_t process, int64_t node, int64_t time)
{
	uint32_t index = hwy_new_nodes(small->builder);
	hwy_builder_trace(small->builder)->nodes[index] = (struct hwy_node){.process = process,
									    .thread = small->thread,
									    .graph = 1,
									    .node = node,
									    .time = time};
}

static void add_node_edge(struct small *small, int64_t node, int64_t after)
{
	uint32_t index = hwy_new_node_edges(small->builder);
	hwy_builder_trace(small->builder)->node_edges[index] = (struct hwy_node_edge){
		.process = small->process, .graph = 1, .node = node, .after = after};
}

static void a_node_is_found_by_its_process_and_id(void **state)
{
	(void)state;
	struct small small = small_new();
	uint32_t other = hwy_new_processes(small.builder);
	add_node(&small, other, 7, 50);
	add_node(&small, small.process, 9, 30);
	add_node(&small, small.process, 7, 20);
	add_node(&small, small.process, 8, 10);
	struct hwy_trace *trace = hwy_builder_finish(small.builder, false);
	assert_int_equal(graph_nodes_find(trace, small.process, 7)->time, 20);
	assert_int_equal(graph_nodes_find(trace, small.process, 8)->time, 10);
	assert_int_equal(graph_nodes_find(trace, small.process, 9)->time, 30);
	assert_int_equal(graph_nodes_find(trace, other, 7)->time, 50);
	assert_null(graph_nodes_find(trace, other, 8));
	assert_null(graph_nodes_find(trace, small.process, 6));
	hwy_trace_free(trace);
}

static void a_kernel_leads_to_its_node_whose_time_moves_with_the_spans(void **state)
{
	(void)state;
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	struct hwy_row row = {0};
	row.v[HWY_START] = 1000;
	row.v[HWY_DUR] = 10;
	hwy_add_span(small.builder, stream, HWY_KERNEL, &row);
	row.v[HWY_START] = 2000;
	row.v[HWY_GRAPH_NODE] = 7;
	hwy_add_span(small.builder, stream, HWY_KERNEL, &row);
	row.v[HWY_GRAPH_NODE] = 8;
	hwy_add_span(small.builder, stream, HWY_KERNEL, &row);
	add_node(&small, small.process, 7, 1500);
	struct hwy_trace *trace = hwy_builder_finish(small.builder, true);
	const struct hwy_strip *strip = hwy_strip_on(trace, stream, HWY_KERNEL);
	assert_null(graph_nodes_of_work(trace, strip, 0));
	assert_int_equal(graph_nodes_of_work(trace, strip, 1)->time, 500);
	assert_null(graph_nodes_of_work(trace, strip, 2));
	hwy_trace_free(trace);
}

static void edges_of_a_node_stand_together(void **state)
{
	(void)state;
	struct small small = small_new();
	add_node_edge(&small, 4, 3);
	add_node_edge(&small, 2, 1);
	add_node_edge(&small, 4, 2);
	add_node_edge(&small, 3, 1);
	struct hwy_trace *trace = hwy_builder_finish(small.builder, false);
	uint32_t n;
	const struct hwy_node_edge *edges = graph_nodes_edges(trace, small.process, 4, &n);
	assert_int_equal(n, 2);
	assert_int_equal(edges[0].after, 2);
	assert_int_equal(edges[1].after, 3);
	assert_null(graph_nodes_edges(trace, small.process, 1, &n));
	assert_int_equal(n, 0);
	hwy_trace_free(trace);
}

/* A report with two nodes is refused for this reason. */
static void expect_refusal(const int64_t nodes[2], const int64_t times[2], const char *why)
{
	char path[] = "/tmp/graph_nodes_test_XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	struct small small = small_new();
	for (int i = 0; i < 2; i++)
		add_node(&small, small.process, nodes[i], times[i]);
	struct hwy_trace *trace = hwy_builder_finish(small.builder, false);
	struct hwy_err err = {0};
	assert_false(hwy_file_write(trace, path, true, NULL, &err));
	assert_non_null(strstr(err.text, why));
	hwy_trace_free(trace);
	unlink(path);
}

static void a_report_with_one_node_twice_is_refused(void **state)
{
	(void)state;
	expect_refusal((int64_t[]){7, 7}, (int64_t[]){1, 2}, "not in order");
}

static void a_report_with_a_node_beyond_all_times_is_refused(void **state)
{
	(void)state;
	expect_refusal((int64_t[]){7, 8}, (int64_t[]){1, INT64_MAX}, "'time' is out of range");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_found_by_its_process_and_id),
		cmocka_unit_test(a_kernel_leads_to_its_node_whose_time_moves_with_the_spans),
		cmocka_unit_test(edges_of_a_node_stand_together),
		cmocka_unit_test(a_report_with_one_node_twice_is_refused),
		cmocka_unit_test(a_report_with_a_node_beyond_all_times_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
