/* SPDX-License-Identifier: Apache-2.0 */
/* replay_test.c - the dependency graph, its replay and the critical path, on random programs. */
#include "make_trace.h"

#include "whatif/path.h"
#include "whatif/replay.h"
#include "whatif/whatif.h"

static int64_t row_text(struct hwy_builder *b, const char *text)
{
	return hwy_text_id(b, text);
}

struct program {
	struct hwy_builder *b;
	struct dice dice;
	uint32_t api[3], stream[4];
	int64_t cpu[3], device[4]; /* clocks */
	int64_t correlation;
};

static void add(struct program *p, uint32_t lane, enum hwy_kind kind, const char *name,
		int64_t start, int64_t length, int64_t correlation)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = length;
	row.v[HWY_NAME] = row_text(p->b, name);
	row.v[HWY_CORR] = correlation;
	if (kind == HWY_COPY) {
		row.v[HWY_DIRECTION] = roll(&p->dice) % 2 ? HWY_H2D : HWY_D2H;
		row.v[HWY_SRC_MEMORY] = HWY_MEM_PAGEABLE;
		row.v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
	}
	hwy_add_span(p->b, lane, kind, &row);
}

/* A launch or a copy on some stream; in one of ten the clocks lie, and work begins before its call. */
static void enqueue(struct program *p, int thread, int stream)
{
	static const char *const names[] = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy"};
	unsigned which = (unsigned)(roll(&p->dice) % 3);
	int64_t start = p->cpu[thread] + roll_below(&p->dice, 5000);
	int64_t length = 1 + roll_below(&p->dice, 6000);
	int64_t begin = start + roll_below(&p->dice, 9000) - (roll(&p->dice) % 10 == 0 ? 9000 : 0);
	if (begin < p->device[stream] && roll(&p->dice) % 10)
		begin = p->device[stream];
	int64_t work = roll_below(&p->dice, 20000);
	if (which == 2 && begin + work > start + length)
		length = begin + work - start + roll_below(&p->dice, 3000);
	add(p, p->api[thread], HWY_API, names[which], start, length, ++p->correlation);
	add(p, p->stream[stream], which == 0 ? HWY_KERNEL : HWY_COPY, "work", begin, work,
	    p->correlation);
	p->cpu[thread] = start + length;
	p->device[stream] = begin + work;
}

static void synchronise(struct program *p, int thread)
{
	int64_t start = p->cpu[thread] + roll_below(&p->dice, 3000), end = start + 500;
	for (int i = 0; i < 4; i++)
		end = p->device[i] > end ? p->device[i] : end;
	end += roll_below(&p->dice, 5000);
	add(p, p->api[thread], HWY_API, "cudaDeviceSynchronize", start, end - start,
	    ++p->correlation);
	p->cpu[thread] = end;
}

/* Clocks begin at 'from'. */
static struct hwy_trace *late_program(uint64_t seed, uint32_t calls, int64_t from)
{
	struct program p = {.b = hwy_builder_new(),
			    .dice = {seed},
			    .cpu = {from, from, from},
			    .device = {from, from, from, from}};
	struct hwy_trace *trace = hwy_builder_trace(p.b);
	uint32_t process = hwy_new_processes(p.b), device = hwy_new_devices(p.b);
	(void)device;
	for (int i = 0; i < 3; i++) {
		uint32_t thread = hwy_new_threads(p.b);
		trace->threads[thread].process = process;
		p.api[i] = hwy_add_lane(p.b, hwy_lane_of(HWY_LANE_API, process, thread));
	}
	for (int i = 0; i < 4; i++) {
		uint32_t stream = hwy_new_streams(p.b);
		trace->streams[stream].process = process;
		trace->streams[stream].device = 0;
		trace->streams[stream].context = 1;
		trace->streams[stream].number = i;
		trace->streams[stream].flags = i == 0 ? 3 : 1 + i % 2;
		p.stream[i] = hwy_add_stream_lane(p.b, HWY_LANE_STREAM, stream);
	}
	for (uint32_t i = 0; i < calls; i++) {
		int thread = (int)(roll(&p.dice) % 3);
		if (roll(&p.dice) % 8 == 0)
			synchronise(&p, thread);
		else
			enqueue(&p, thread, (int)(roll(&p.dice) % 4));
	}
	return hwy_builder_finish(p.b, false);
}

static struct hwy_trace *random_program(uint64_t seed, uint32_t calls)
{
	return late_program(seed, calls, 0);
}

struct replayed {
	struct hwy_trace *trace;
	struct hwy_flow flow;
	struct hwy_graph graph;
	int64_t *ends;
};

/* In place: the graph points to the flow. */
static void replay(struct replayed *r, uint64_t seed, uint32_t calls)
{
	struct hwy_err err;
	r->trace = random_program(seed, calls);
	assert_true(flow_open(&r->flow, r->trace, &err));
	assert_true(graph_build(&r->graph, &r->flow, &err));
	r->ends = hwy_alloc((r->graph.n + 1) * sizeof *r->ends);
	replay_run(&r->graph, r->ends);
}

static void drop(struct replayed *r)
{
	free(r->ends);
	graph_free(&r->graph);
	flow_close(&r->flow);
	hwy_trace_free(r->trace);
}

static void replaying_the_unedited_graph_gives_back_every_begin_and_end(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct replayed r;
		replay(&r, seed, 1 + (uint32_t)(seed * 3));
		assert_int_equal(r.graph.n >= r.flow.n_calls + r.flow.n_ops, 1);
		for (uint32_t i = 0; i < r.graph.n; i++) {
			const struct graph_node *node = &r.graph.nodes[i];
			assert_int_equal(replay_begin(&r.graph, r.ends, i),
					 graph_measured(&r.graph, i));
			if (node->kind == GRAPH_OP)
				assert_int_equal(r.ends[i], r.flow.ops[node->flow_index].end);
			if (node->kind == GRAPH_RETURN)
				assert_int_equal(r.ends[i], r.flow.calls[node->flow_index].end);
		}
		drop(&r);
	}
}

static void every_edge_leads_from_an_earlier_node_to_a_later_one(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct replayed r;
		replay(&r, seed, 300);
		for (uint32_t i = 0; i < r.graph.n; i++)
			for (int place = 0; place < GRAPH_PLACES; place++)
				assert_true(r.graph.nodes[i].before[place] == GRAPH_NONE ||
					    r.graph.nodes[i].before[place] < i);
		for (uint32_t i = 0; i < r.graph.n_extras; i++) {
			assert_true(r.graph.extras[i].before < r.graph.extras[i].node);
			assert_true(i == 0 || r.graph.extras[i - 1].node <= r.graph.extras[i].node);
		}
		drop(&r);
	}
}

static void taking_something_away_never_makes_anything_later(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct replayed r;
		replay(&r, seed, 200);
		struct hwy_graph copy = graph_copy(&r.graph);
		struct dice dice = {seed};
		for (uint32_t i = 0; i < copy.n; i++) {
			struct graph_node *node = &copy.nodes[i];
			bool has_one = node->before[GRAPH_ORDER] != GRAPH_NONE;
			switch (roll(&dice) % 6) {
			case 0: node->length /= 2; break;
			case 1: node->delay = has_one ? 0 : node->delay; break;
			case 2:
				node->before[GRAPH_CAUSE] =
					has_one ? GRAPH_NONE : node->before[GRAPH_CAUSE];
				break;
			case 3: node->lag[GRAPH_OTHER] = 0; break;
			default: break;
			}
		}
		int64_t *ends = hwy_alloc((copy.n + 1) * sizeof *ends);
		replay_run(&copy, ends);
		for (uint32_t i = 0; i < copy.n; i++)
			assert_true(ends[i] <= r.ends[i]);
		free(ends);
		graph_free(&copy);
		drop(&r);
	}
}

/* The node that ends last. */
static uint32_t last_of(const struct replayed *r)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < r->graph.n; i++)
		last = r->ends[i] > r->ends[last] ? i : last;
	return last;
}

static void the_critical_path_tiles_the_window(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct replayed r;
		replay(&r, seed, 300);
		uint32_t last = last_of(&r);
		int64_t from = r.ends[0] + (r.ends[last] - r.ends[0]) / 3;
		struct hwy_path path;
		path_find(&path, &r.graph, r.ends, last, from);
		int64_t at = from, sum = 0;
		for (uint32_t i = 0; i < path.n; i++) {
			assert_int_equal(path.pieces[i].at.from, at);
			assert_true(path.pieces[i].at.to > at);
			at = path.pieces[i].at.to;
		}
		assert_int_equal(at, r.ends[last]);
		for (int c = 0; c < PATH_CLASSES; c++)
			sum += path.classes[c];
		assert_int_equal(sum, r.ends[last] - from);
		path_free(&path);
		drop(&r);
	}
}

static void a_node_may_end_later_by_its_slack_and_no_more(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct replayed r;
		replay(&r, seed, 60);
		uint32_t last = last_of(&r);
		int64_t *slack = hwy_alloc((r.graph.n + 1) * sizeof *slack);
		int64_t *ends = hwy_alloc((r.graph.n + 1) * sizeof *ends);
		path_slack(&r.graph, r.ends, last, slack);
		assert_int_equal(slack[last], 0);
		for (uint32_t i = 0; i < last; i++) {
			if (slack[i] == INT64_MAX)
				continue;
			assert_true(slack[i] >= 0);
			struct hwy_graph copy = graph_copy(&r.graph);
			copy.nodes[i].delay += slack[i];
			replay_run(&copy, ends);
			assert_int_equal(ends[last], r.ends[last]);
			copy.nodes[i].delay += 1;
			replay_run(&copy, ends);
			assert_int_equal(ends[last], r.ends[last] + 1);
			graph_free(&copy);
		}
		free(ends);
		free(slack);
		drop(&r);
	}
}

static void check_nodes_are_found(const struct hwy_graph *graph)
{
	for (uint32_t i = 0; i < graph->n; i++) {
		uint32_t of = graph->nodes[i].flow_index;
		switch (graph->nodes[i].kind) {
		case GRAPH_CALL: assert_int_equal(graph_call(graph, of), i); break;
		case GRAPH_RETURN: assert_int_equal(graph_return(graph, of), i); break;
		default: assert_int_equal(graph_op(graph, of), i);
		}
	}
}

static void nodes_are_found_by_what_they_stand_for(void **state)
{
	(void)state;
	struct replayed r;
	replay(&r, 7, 200);
	check_nodes_are_found(&r.graph);
	drop(&r);
}

/* All edits of a program whose times begin at 'from'; -1 for those that do not apply. */
static void predict_all(uint64_t seed, int64_t from, int64_t *steps)
{
	struct hwy_trace *trace = late_program(seed, 100, from);
	struct hwy_analysis analysis;
	struct hwy_err err;
	struct whatif w;
	assert_true(analysis_make(&analysis, trace, &(struct analysis_options){0}, &err));
	assert_true(whatif_open(&w, &analysis, analysis.phases.main, false, &err));
	assert_int_equal(w.quality.differ, 0);
	assert_true(w.quality.residual >= 0 && w.quality.residual <= 1);
	for (size_t i = 0; edit_kinds[i]; i++) {
		bool counts = strncmp(edit_kinds[i]->arguments, ":N", 2) == 0;
		bool is_faster = strcmp(edit_kinds[i]->id, "faster") == 0;
		struct whatif_edit edit = {edit_kinds[i], counts ? "3" : is_faster ? "cpu:50" : ""};
		struct whatif_prediction p;
		bool applies = whatif_predict(&w, &edit, 1, &p, &err);
		steps[i] = applies ? p.step : -1;
		assert_true(!applies || p.step > 0);
		if (applies && edit.kind->only_removes)
			assert_true(p.step <= w.base.step);
	}
	whatif_close(&w);
	analysis_free(&analysis);
	hwy_trace_free(trace);
}

static void a_prediction_does_not_depend_on_when_the_program_ran(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		int64_t early[32], late[32];
		predict_all(seed, 0, early);
		predict_all(seed, 1000000000000, late);
		for (size_t i = 0; edit_kinds[i]; i++)
			if (early[i] != late[i])
				fail_msg("seed %d, %s: %lld and %lld", (int)seed, edit_kinds[i]->id,
					 (long long)early[i], (long long)late[i]);
	}
}

/* Calls, waits and work that all begin and end at the same few moments. */
static void nodes_of_one_moment_are_found_as_well(void **state)
{
	(void)state;
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	for (int64_t i = 0; i < 60; i++) {
		int64_t from = i / 20 * 10, to = from + i % 3 * 10;
		small_call(&small, from, to, i % 2 ? i + 1 : 0,
			   i % 2 ? "cudaLaunchKernel" : "cudaDeviceSynchronize");
		if (i % 2)
			small_span(&small, stream, HWY_KERNEL, from, from + i % 4 * 10, i + 1, "k");
	}
	struct replayed r = {.trace = small_finish(&small)};
	struct hwy_err err;
	assert_true(flow_open(&r.flow, r.trace, &err));
	assert_true(graph_build(&r.graph, &r.flow, &err));
	check_nodes_are_found(&r.graph);
	drop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaying_the_unedited_graph_gives_back_every_begin_and_end),
		cmocka_unit_test(nodes_of_one_moment_are_found_as_well),
		cmocka_unit_test(every_edge_leads_from_an_earlier_node_to_a_later_one),
		cmocka_unit_test(taking_something_away_never_makes_anything_later),
		cmocka_unit_test(the_critical_path_tiles_the_window),
		cmocka_unit_test(a_node_may_end_later_by_its_slack_and_no_more),
		cmocka_unit_test(nodes_are_found_by_what_they_stand_for),
		cmocka_unit_test(a_prediction_does_not_depend_on_when_the_program_ran),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
