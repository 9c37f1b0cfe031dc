/* SPDX-License-Identifier: Apache-2.0 */
/* lead_test.c - headway and waits on traces small enough to check by hand, and headway against a slow count on
 * random programs.
 */
#include "make_trace.h"

#include "analyze/lead.h"
#include "analyze/waits.h"

static int64_t corr;

static void launch(struct small *small, uint32_t stream, int64_t from, int64_t to, int64_t start,
		   int64_t end)
{
	corr++;
	small_call(small, from, to, corr, "cudaLaunchKernel");
	small_span(small, stream, HWY_KERNEL, start, end, corr, "k");
}

static struct hwy_flow open_flow(struct small *small)
{
	struct hwy_flow flow;
	struct hwy_err err;
	assert_true(flow_open(&flow, small_finish(small), &err));
	return flow;
}

static void done(struct hwy_flow *flow)
{
	struct hwy_trace *trace = flow->trace;
	flow_close(flow);
	hwy_trace_free(trace);
}

static struct hwy_lead measure(const struct hwy_flow *flow, const struct hwy_phase *phase,
			       uint32_t cells)
{
	static struct hwy_lead leads[16];
	lead_measure(flow, phase, cells, leads);
	return leads[0];
}

/* ---- headway ------------------------------------------------------------------------------------- */

/* Enqueued at 10, 20 and 30; they run from 20 to 120, 120 to 220 and 220 to 320. */
static struct hwy_flow three_in_a_row(struct small *small)
{
	uint32_t stream = small_stream(small, small_device(small, 0), 7);
	launch(small, stream, 0, 10, 20, 120);
	launch(small, stream, 11, 20, 120, 220);
	launch(small, stream, 21, 30, 220, 320);
	return open_flow(small);
}

static void headway_is_what_is_enqueued_and_not_finished(void **state)
{
	struct small small = small_new();
	struct hwy_flow flow = three_in_a_row(&small);
	struct hwy_phase phase = {.window = {0, 420}};
	struct hwy_lead lead = measure(&flow, &phase, 0);
	assert_int_equal(lead.max_count, 3);
	assert_int_equal(lead.max_work, 290); /* at 30: 90 left of the first, and two whole ones */
	assert_int_equal(lead.empty, 110);
	assert_int_equal(lead.n_zero, 1);
	assert_true(lead.mean_count > 1.4285 &&
		    lead.mean_count < 1.4287); /* 110 + 200 + 290 in 420 */
	/* Each: until it begins its length, then half of it. 100 * 10 + 5000, 10000 + 5000, 19000 + 5000 */
	assert_int_equal(lead.mean_work, 45000 / 420);
	lead_free(&lead);
	done(&flow);
}

static void a_window_in_the_middle_sees_what_was_enqueued_before_it(void **state)
{
	struct small small = small_new();
	struct hwy_flow flow = three_in_a_row(&small);
	struct hwy_phase phase = {.window = {70, 270}};
	struct hwy_lead lead = measure(&flow, &phase, 2);
	assert_int_equal(lead.max_count, 3);
	assert_int_equal(lead.max_work, 250);
	assert_int_equal(lead.empty, 0);
	assert_int_equal(lead.n_zero, 0);
	assert_int_equal(lead.n_series, 2);
	assert_int_equal(lead.series[0].time, 70);
	assert_int_equal(lead.series[0].count, 3);
	assert_int_equal(lead.series[0].work, 250);
	assert_int_equal(lead.series[1].time, 170);
	assert_int_equal(lead.series[1].count, 2);
	assert_int_equal(lead.series[1].work, 150);
	lead_free(&lead);
	done(&flow);
}

static void headway_falls_to_zero_with_every_wait(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	for (int64_t i = 0; i < 3; i++) {
		launch(&small, stream, i * 1000, i * 1000 + 10, i * 1000 + 20, i * 1000 + 520);
		small_call(&small, i * 1000 + 20, i * 1000 + 530, 0, "cudaDeviceSynchronize");
	}
	launch(&small, stream, 3000, 3010, 3020, 3520);
	struct hwy_flow flow = open_flow(&small);
	struct hwy_phase phase = {.window = {20, 3520}};
	struct hwy_lead lead = measure(&flow, &phase, 0);
	assert_int_equal(lead.n_zero, 3);
	lead_free(&lead);
	done(&flow);
}

static void the_lead_is_told_in_steps(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	struct phase_step steps[6] = {0};
	for (int64_t i = 0; i < 6; i++) { /* the CPU takes 10 for a step, the device 100 */
		launch(&small, stream, i * 10 + 1, i * 10 + 8, 50 + i * 100, 150 + i * 100);
		steps[i].cpu = (struct hwy_interval){i * 10, i * 10 + 10};
		steps[i].device = (struct hwy_interval){50 + i * 100, 150 + i * 100};
		steps[i].first_call = (uint32_t)i;
		steps[i].n_calls = 1;
	}
	struct hwy_flow flow = open_flow(&small);
	struct hwy_phase phase = {.steps = steps,
				  .n_steps = 6,
				  .first_steady = 0,
				  .n_steady = 2,
				  .window = {50, 650}};
	struct hwy_lead lead = measure(&flow, &phase, 0);
	/* At 50 the CPU begins its sixth step, at 150 it is through: 5 and 5 ahead. */
	assert_true(lead.steps > 4.99 && lead.steps < 5.01);
	lead_free(&lead);
	done(&flow);
}

/* ---- against a slow count ------------------------------------------------------------------------ */

static int64_t enqueued(const struct hwy_flow *flow, const struct flow_op *op)
{
	int64_t end = op->call == FLOW_NONE ? op->start : flow->calls[op->call].end;
	return end < op->start ? end : op->start;
}

static void compare(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	struct hwy_lead leads[16];
	lead_measure(flow, phase, 7, leads);
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		int64_t empty = 0, sum = 0;
		uint32_t max_count = 0;
		int64_t max_work = 0;
		for (int64_t t = phase->window.from; t < phase->window.to; t++) {
			uint32_t count = 0;
			int64_t work = 0;
			for (uint32_t i = 0; i < flow->n_ops; i++) {
				const struct flow_op *op = &flow->ops[i];
				if (op->device != d || enqueued(flow, op) > t || op->end <= t)
					continue;
				count++;
				work += op->end - (op->start > t ? op->start : t);
			}
			sum += count;
			empty += count == 0;
			max_count = count > max_count ? count : max_count;
			max_work = work > max_work ? work : max_work;
		}
		double mean = (double)sum / (double)(phase->window.to - phase->window.from);
		assert_int_equal(leads[d].empty, empty);
		assert_int_equal(leads[d].max_count, max_count);
		assert_int_equal(leads[d].max_work, max_work);
		assert_true(leads[d].mean_count > mean - 1e-6 && leads[d].mean_count < mean + 1e-6);
		lead_free(&leads[d]);
	}
}

static void headway_is_that_of_a_slow_count_in_random_programs(void **state)
{
	struct dice dice = {11};
	for (int round = 0; round < 60; round++) {
		struct small small = small_new();
		uint32_t streams[4], n = 1 + (uint32_t)roll_below(&dice, 4);
		int64_t busy[4] = {0}, now = 0;
		for (uint32_t i = 0; i < n; i++)
			streams[i] = i % 2 == 0 ? small_stream(&small, small_device(&small, i), i)
						: small_stream(&small, 0, i);
		for (int i = 0; i < 60; i++) {
			uint32_t s = (uint32_t)roll_below(&dice, n);
			int64_t length = roll_below(&dice, 6);
			now += roll_below(&dice, 20);
			int64_t start = now + roll_below(&dice, 12);
			start = start > busy[s] ? start : busy[s];
			busy[s] = start + 1 + roll_below(&dice, 40);
			launch(&small, streams[s], now, now + length, start, busy[s]);
			now += length;
		}
		struct hwy_flow flow = open_flow(&small);
		int64_t from = roll_below(&dice, 300);
		struct hwy_phase phase = {.window = {from, from + 1 + roll_below(&dice, 900)}};
		compare(&flow, &phase);
		done(&flow);
	}
}

/* ---- waits --------------------------------------------------------------------------------------- */

static struct hwy_waits find_waits(const struct hwy_flow *flow, int64_t from, int64_t to)
{
	struct hwy_phase phase = {.window = {from, to}};
	struct hwy_waits waits;
	struct hwy_err err;
	assert_true(waits_find(flow, &phase, &waits, &err));
	return waits;
}

static void a_wait_knows_what_it_had_to_wait_for(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	launch(&small, stream, 0, 5, 10, 60);
	launch(&small, stream, 6, 10, 60, 110);
	small_call(&small, 30, 120, 0, "cudaDeviceSynchronize");
	small_call(&small, 130, 134, 0, "cudaStreamSynchronize");
	launch(&small, stream, 140, 145, 150, 160);
	struct hwy_flow flow = open_flow(&small);
	struct hwy_waits waits = find_waits(&flow, 0, 160);
	assert_int_equal(waits.n, 2);
	assert_int_equal(waits.waits[0].length, 90);
	assert_int_equal(waits.waits[0].waited, 80);
	assert_int_equal(flow.ops[waits.waits[0].op].end, 110);
	assert_int_equal(waits.waits[1].op, FLOW_NONE); /* nothing was pending */
	assert_int_equal(waits.waits[1].waited, 0);
	assert_false(waits.waits[0].is_copy);
	waits_free(&waits);
	done(&flow);
}

static void a_wait_for_a_stream_waits_for_no_other(void **state)
{
	struct small small = small_new();
	uint32_t device = small_device(&small, 0);
	uint32_t one = small_stream(&small, device, 7), two = small_stream(&small, device, 8);
	launch(&small, one, 0, 5, 10, 60);
	launch(&small, two, 6, 9, 20, 500);
	small_call(&small, 30, 70, 77, "cudaStreamSynchronize");
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_SYNC, small.process, HWY_NONE);
	lane.device = device;
	struct hwy_row row = {0};
	row.v[HWY_START] = 31;
	row.v[HWY_DUR] = 30;
	row.v[HWY_CORR] = 77;
	row.v[HWY_SYNC_TYPE] = HWY_SYNC_STREAM;
	row.v[HWY_WAITED] = 1; /* the first stream, plus one */
	hwy_add_span(small.builder, hwy_add_lane(small.builder, lane), HWY_SYNC, &row);
	struct hwy_flow flow = open_flow(&small);
	struct hwy_waits waits = find_waits(&flow, 0, 500);
	assert_int_equal(waits.n, 1);
	assert_int_equal(waits.waits[0].waited, 30);
	waits_free(&waits);
	done(&flow);
}

static void an_asynchronous_copy_of_pageable_memory_is_told(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 31000, 5, "cudaMemcpyAsync");
	struct hwy_row row = {0};
	row.v[HWY_START] = 1000;
	row.v[HWY_DUR] = 29000;
	row.v[HWY_CORR] = 5;
	row.v[HWY_DIRECTION] = HWY_H2D;
	row.v[HWY_SRC_MEMORY] = HWY_MEM_PAGEABLE;
	row.v[HWY_DST_MEMORY] = HWY_MEM_DEVICE;
	hwy_add_span(small.builder, stream, HWY_COPY, &row);
	struct hwy_flow flow = open_flow(&small);
	struct hwy_waits waits = find_waits(&flow, 0, 31000);
	assert_int_equal(waits.n, 1);
	assert_true(waits.waits[0].is_copy);
	assert_true(waits.waits[0].is_pageable);
	assert_int_equal(waits.waits[0].waited, 30000);
	waits_free(&waits);
	done(&flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headway_is_what_is_enqueued_and_not_finished),
		cmocka_unit_test(a_window_in_the_middle_sees_what_was_enqueued_before_it),
		cmocka_unit_test(headway_falls_to_zero_with_every_wait),
		cmocka_unit_test(the_lead_is_told_in_steps),
		cmocka_unit_test(headway_is_that_of_a_slow_count_in_random_programs),
		cmocka_unit_test(a_wait_knows_what_it_had_to_wait_for),
		cmocka_unit_test(a_wait_for_a_stream_waits_for_no_other),
		cmocka_unit_test(an_asynchronous_copy_of_pageable_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
