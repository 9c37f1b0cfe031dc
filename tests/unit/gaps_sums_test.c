/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_sums_test.c - what must hold of gaps and waits, on random programs and on all recordings at hand; and the shares
 * that a prototype of the rules found on the recordings.
 */
#include "found_gaps.h"

#include "analyze/waits.h"
#include "recordings.h"

static char *folder;

static void check_waits(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	struct hwy_waits waits;
	struct hwy_err err;
	assert_true(waits_find(flow, phase, &waits, &err));
	for (uint32_t i = 0; i < waits.n; i++) {
		const struct hwy_wait *wait = &waits.waits[i];
		assert_true(wait->waited >= 0 && wait->waited <= wait->length);
		assert_true(flow->calls[wait->call].blocks);
	}
	waits_free(&waits);
}

static void check_windows(struct hwy_trace *trace, struct dice *dice)
{
	struct hwy_flow flow;
	struct hwy_err err;
	assert_true(flow_open(&flow, trace, &err));
	for (int i = 0; flow.n_ops && i < 4; i++) {
		struct hwy_phase phase = {0};
		const struct flow_op *a = &flow.ops[roll_below(dice, flow.n_ops)];
		const struct flow_op *b = &flow.ops[roll_below(dice, flow.n_ops)];
		phase.window.from = a->start + (i % 2 ? 3 : 0);
		phase.window.to = b->end;
		if (phase.window.to <= phase.window.from)
			continue;
		struct hwy_gaps gaps;
		assert_true(gaps_find(&flow, &phase, &gaps, &err));
		check(&flow, &phase, &gaps);
		check_waits(&flow, &phase);
		gaps_free(&gaps);
	}
	flow_close(&flow);
}

/* Threads that launch, copy, wait, allocate and sleep on streams of some devices. */
static struct hwy_trace *random_program(struct dice *dice)
{
	static const char *const calls[] = {"cudaStreamSynchronize", "cudaMalloc", "cudaFree",
					    "cudaEventRecord", "cuModuleLoadData"};
	struct small small = small_machine();
	uint32_t streams[6], n_streams = 1 + (uint32_t)roll_below(dice, 6);
	for (uint32_t i = 0; i < n_streams; i++)
		streams[i] = small_stream(&small, i % 3 ? 0 : small_device(&small, 1 + i), 10 + i);
	int64_t busy[6] = {0}, now = 0;
	for (int i = 0; i < 200; i++) {
		uint32_t s = (uint32_t)roll_below(dice, n_streams);
		int64_t length = 1 + roll_below(dice, 20);
		now += roll_below(dice, roll(dice) % 20 ? 30 : 2000);
		if (roll(dice) % 4 == 0) {
			const char *name = calls[roll(dice) % 5];
			int64_t until = now + length;
			if (name == calls[0] && busy[s] > until)
				until = busy[s] + 3;
			small_call_us(&small, (double)now, (double)until, name);
			now = until;
			continue;
		}
		small.corr++;
		bool copies = roll(dice) % 3 == 0;
		small_span_us(&small, small.api, HWY_API, (double)now, (double)(now + length),
			      roll(dice) % 30 ? small.corr : 0,
			      copies ? "cudaMemcpyAsync" : "cudaLaunchKernel");
		int64_t start = now + 2 + roll_below(dice, 10);
		start = start > busy[s] ? start : busy[s] + roll_below(dice, 3);
		busy[s] = start + roll_below(dice, 200);
		static const enum hwy_kind kinds[] = {HWY_COPY, HWY_FILL, HWY_GRAPH};
		small_span_us(&small, streams[s], copies ? kinds[roll(dice) % 3] : HWY_KERNEL,
			      (double)start, (double)busy[s], small.corr,
			      roll(dice) % 5 ? "k" : "ncclKernel");
		now += length;
	}
	return small_finish(&small);
}

static void causes_add_up_to_idle_and_states_to_the_window_in_random_programs(void **state)
{
	struct dice dice = {5};
	for (int i = 0; i < 300; i++) {
		struct hwy_trace *trace = random_program(&dice);
		check_windows(trace, &dice);
		hwy_trace_free(trace);
	}
}

static void nothing_that_a_trace_may_hold_breaks_the_sums(void **state)
{
	struct dice dice = {6};
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct hwy_trace *trace = random_trace(seed, 30, 400);
		check_windows(trace, &dice);
		hwy_trace_free(trace);
	}
}

/* ---- recordings ---------------------------------------------------------------------------------- */

struct share {
	int cause; /* GAP_CAUSES: none */
	double least, most;
};
static const struct recording {
	const char *name;
	double idle_least, idle_most; /* percent of the second half of the ops */
	struct share shares[3];       /* percent of the idle time */
} recordings[] = {
	{"nsys/mlp_sync.sqlite.xz", 7, 10, {{GAP_BLOCKED, 82, 92}, {GAP_DEPENDENCY, 8, 18}}},
	{"nsys/mlp_async.sqlite.xz", 0.5, 2, {{GAP_DEPENDENCY, 99, 100}}},
	{"nsys/starve_0.sqlite.xz", 99, 100, {{GAP_INPUT, 95, 100}}},
	{"nsys/decode_eager.sqlite.xz", 90, 96, {{GAP_LAUNCH, 99, 100}}},
	{"nsys/graphs_launch.sqlite.xz", 82, 88, {{GAP_LAUNCH, 99, 100}}},
	{"nsys/itemloop_item.sqlite.xz", 86, 92, {{GAP_LAUNCH, 92, 100}, {GAP_BLOCKED, 0, 1}}},
	{"nsys/itemloop_async.sqlite.xz", 80, 90, {{GAP_LAUNCH, 98, 100}}},
	{"nsys/power_base.sqlite.xz", 90, 94, {{GAP_LAUNCH, 90, 96}, {GAP_OS, 4, 10}}},
	{"nsys/streams_pinned4.sqlite.xz", 0, 1, {{0}}},
	{"nsys/streams_metrics.sqlite.xz", 0, 1, {{0}}},
	{"nsys/streams_pageable1.sqlite.xz", 4, 10, {{GAP_BLOCKED, 90, 100}}},
	{"nsys/graphs_graph.sqlite.xz", 10, 25, {{GAP_BLOCKED, 95, 100}}},
	{"nsys/graphs_node.sqlite.xz", 40, 60, {{GAP_LAUNCH, 0, 1}}},
	{"nsys/decode_graph.sqlite.xz", 0, 100, {{0}}},
	{"nsys/mlp_backtrace.sqlite.xz", 0, 100, {{GAP_BLOCKED, 0, 1}}},
	{"nsys/mixed_nodes.sqlite.xz", 0, 100, {{0}}},
	{"nsys/two_processes.sqlite.xz", 0, 100, {{0}}},
	{"nsys/unified_memory.sqlite.xz", 0, 100, {{0}}},
	{"breakdown/two_gpus.json", 0, 100, {{0}}},
	{"public-nsys/h100_2gpu_1s.sqlite.xz", 0, 1, {{0}}},
	{"public-nsys/cuda_graph_3_24.sqlite.xz", 0, 100, {{0}}},
	{"public-nsys/power_iteration.sqlite.xz", 20, 50, {{GAP_BLOCKED, 90, 100}}},
	{"torch/mlp_sync.json.gz", 7, 10, {{GAP_BLOCKED, 82, 92}, {GAP_DEPENDENCY, 8, 18}}},
	{"torch/mlp_async.json.gz", 0.5, 2, {{GAP_DEPENDENCY, 99, 100}}},
	{"torch/starve_0.json.gz", 99, 100, {{GAP_INPUT, 93, 100}}},
	{"torch/decode_eager.json.gz", 90, 98, {{GAP_BLOCKED, 0, 1}}},
	{"torch/itemloop_item.json.gz", 86, 94, {{GAP_LAUNCH, 95, 100}, {GAP_BLOCKED, 0, 1}}},
	{"torch/decode_graph.json.gz", 0, 100, {{0}}},
	{"public-traces/kineto-tb_plugin/samples/resnet50_num_workers_0/"
	 "worker0.1623143089861.pt.trace.json.gz",
	 30,
	 40,
	 {{GAP_INPUT, 55, 80}}},
	{"public-traces/kineto-tb_plugin/samples/resnet50_num_workers_4/"
	 "worker0.1623212756351.pt.trace.json.gz",
	 20,
	 30,
	 {{GAP_INPUT, 0, 15}}},
	{"public-traces/TraceLens/b200/eager_trace.json.gz", 80, 90, {{GAP_LAUNCH, 80, 100}}},
	{"public-traces/TraceLens/inference/vllm_decode_full/graph_execution.json.gz", 0, 2, {{0}}},
	{"public-traces/TraceLens/mi300/resnet_act_checkpoint.json.gz", 0, 2, {{0}}},
	{"public-traces/HolisticTraceAnalysis/trace_filter/sampled_rank-0.json.gz", 0, 100, {{0}}},
	{"public-traces/HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz", 0, 100, {{0}}},
};

static bool is_within(const struct recording *recording, const struct gap_states *states)
{
	double idle = 100.0 * (double)states->idle / (double)states->window;
	bool good = idle >= recording->idle_least && idle <= recording->idle_most;
	print_message("%s: idle %.1f %%", recording->name, idle);
	for (int c = 0; c < GAP_CAUSES && states->idle; c++)
		if (states->causes[c])
			print_message(", %s %.1f %%", gap_cause_names[c],
				      100.0 * (double)states->causes[c] / (double)states->idle);
	for (int i = 0; i < 3 && recording->shares[i].most > 0; i++) {
		const struct share *share = &recording->shares[i];
		double is = 100.0 * (double)states->causes[share->cause] / (double)states->idle;
		good &= is >= share->least && is <= share->most;
	}
	print_message("%s\n", good ? "" : "  <- not as expected");
	return good;
}

static void recordings_idle_for_the_reasons_that_are_known_of_them(void **state)
{
	unsigned seen = 0, bad = 0;
	struct dice dice = {7};
	for (unsigned i = 0; i < sizeof recordings / sizeof *recordings; i++) {
		struct hwy_trace *trace = recording_open(recordings[i].name, folder);
		struct hwy_flow flow;
		struct hwy_gaps gaps;
		struct hwy_err err;
		if (!trace)
			continue;
		seen++;
		assert_true(flow_open(&flow, trace, &err));
		struct hwy_phase phase = {.window = {flow.ops[flow.n_ops / 2].start, INT64_MIN}};
		for (uint32_t op = 0; op < flow.n_ops; op++)
			if (flow.ops[op].end > phase.window.to)
				phase.window.to = flow.ops[op].end;
		assert_true(gaps_find(&flow, &phase, &gaps, &err));
		check(&flow, &phase, &gaps);
		check_waits(&flow, &phase);
		struct gap_states all = {0};
		for (uint32_t d = 0; d < flow.n_devices; d++)
			gap_states_add(&all, &gaps.devices[d]);
		bad += !is_within(&recordings[i], &all);
		gaps_free(&gaps);
		flow_close(&flow);
		check_windows(trace, &dice);
		hwy_trace_free(trace);
	}
	assert_true(seen >= 24); /* those of the repository */
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(causes_add_up_to_idle_and_states_to_the_window_in_random_programs),
		cmocka_unit_test(nothing_that_a_trace_may_hold_breaks_the_sums),
		cmocka_unit_test(recordings_idle_for_the_reasons_that_are_known_of_them),
	};
	folder = make_folder();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	drop_folder(folder);
	return failed;
}
