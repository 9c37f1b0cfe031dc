/* SPDX-License-Identifier: Apache-2.0 */
/* trust_test.c - what a trace lacks is counted, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "analyze/trust.h"
#include "make_trace.h"

static struct hwy_trust measure(struct small *small)
{
	struct hwy_trace *trace = small_finish(small);
	struct hwy_trust trust;
	struct hwy_err err;
	assert_true(trust_measure(trace, &trust, &err));
	hwy_trace_free(trace);
	return trust;
}

static void check(const struct hwy_trust *trust, enum hwy_lack_id id, uint64_t count, uint64_t of,
		  enum hwy_effect effect)
{
	const struct hwy_lack *lack = &trust->lacks[id];
	assert_int_equal(lack->count, count);
	assert_int_equal(lack->total, of);
	assert_int_equal(lack->effect, effect);
	assert_true(!*lack->says == (count == 0));
	assert_true(*lack->name && *lack->what && *lack->measures);
}

static void a_whole_trace_lacks_nothing(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 10, 1, "cudaLaunchKernel");
	small_span(&small, stream, HWY_KERNEL, 20, 30, 1, "k");
	small_call(&small, 10, 40, 2, "cudaStreamSynchronize");
	small_span(&small, small_lane(&small, HWY_LANE_SYNC), HWY_SYNC, 12, 39, 2, "");
	struct hwy_trust trust = measure(&small);
	for (unsigned i = 0; i < HWY_LACKS; i++) {
		assert_int_equal(trust.lacks[i].count, 0);
		assert_int_equal(trust.lacks[i].effect, HWY_EFFECT_NONE);
	}
	assert_int_equal(trust.lacks[HWY_LACK_WORK].total, 1);
	assert_int_equal(trust.lacks[HWY_LACK_SYNC].total, 1);
}

static void an_empty_trace_can_lack_nothing(void **state)
{
	struct small small = small_new();
	struct hwy_trust trust = measure(&small);
	for (unsigned i = 0; i < HWY_LACKS; i++)
		assert_int_equal(trust.lacks[i].count, 0);
}

static void launches_and_work_without_each_other_are_counted(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 10, 1, "cudaLaunchKernel");
	small_call(&small, 20, 30, 2, "cudaMemcpyAsync");
	small_call(&small, 40, 50, 3, "cudaEventRecord");
	small_span(&small, stream, HWY_KERNEL, 20, 30, 1, "k");
	small_span(&small, stream, HWY_KERNEL, 30, 40, 99, "k");
	small_span(&small, stream, HWY_FILL, 50, 60, 0, "f");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_WORK, 1, 2, HWY_EFFECT_WEAKENS);
	check(&trust, HWY_LACK_LAUNCH, 2, 3, HWY_EFFECT_WEAKENS);
}

static void work_without_any_launch_forbids_causes(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_span(&small, stream, HWY_KERNEL, 20, 30, 1, "k");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_LAUNCH, 1, 1, HWY_EFFECT_FORBIDS);
}

static void a_driver_call_inside_a_runtime_call_is_one_launch(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 10, 1, "cudaLaunchKernel");
	small_call(&small, 2, 8, 2, "cuLaunchKernel");
	small_span(&small, stream, HWY_KERNEL, 20, 30, 2, "k");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_WORK, 0, 1, HWY_EFFECT_NONE);
}

static void captured_and_failed_launches_promise_no_work(void **state)
{
	struct small small = small_new();
	small_call(&small, 0, 1, 1, "cudaStreamBeginCapture_v10000");
	small_call(&small, 2, 3, 2, "cudaLaunchKernel");
	small_call(&small, 4, 5, 3, "cudaStreamEndCapture_v10000");
	struct hwy_row row = {0};
	row.v[HWY_START] = 6;
	row.v[HWY_DUR] = 1;
	row.v[HWY_RESULT] = 9;
	row.v[HWY_NAME] = hwy_text_id(small.builder, "cudaLaunchKernel");
	hwy_add_span(small.builder, small_lane(&small, HWY_LANE_API), HWY_API, &row);
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_WORK, 0, 0, HWY_EFFECT_NONE);
}

static void graphs_without_nodes_are_opaque(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	small_call(&small, 0, 1, 1, "cudaGraphLaunch");
	small_call(&small, 2, 3, 2, "cudaGraphLaunch");
	small_span(&small, stream, HWY_GRAPH, 10, 20, 1, "");
	small_span(&small, stream, HWY_KERNEL, 30, 40, 2, "node");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_NODES, 1, 2, HWY_EFFECT_WEAKENS);
}

static void blocking_calls_without_any_sync_record_are_counted(void **state)
{
	struct small small = small_new();
	small_call(&small, 0, 10, 1, "cudaStreamSynchronize");
	small_call(&small, 20, 30, 2, "cudaDeviceSynchronize");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_SYNC, 2, 2, HWY_EFFECT_WEAKENS);
}

static void drops_open_ranges_and_backward_links_are_counted(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	uint32_t drop = hwy_new_drops(small.builder);
	hwy_builder_trace(small.builder)->drops[drop].count = 5;
	small_call(&small, 100, 110, 1, "cudaLaunchKernel");
	small_span(&small, stream, HWY_KERNEL, 99, 120, 1, "k");
	uint32_t ranges = small_lane(&small, HWY_LANE_RANGE);
	small_span(&small, ranges, HWY_RANGE, 0, 10, 0, "closed");
	struct hwy_row row = {0};
	row.v[HWY_DUR] = 10;
	row.v[HWY_FLAGS] = HWY_FLAG_UNFINISHED;
	hwy_add_span(small.builder, ranges, HWY_RANGE, &row);
	row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	hwy_add_span(small.builder, ranges, HWY_RANGE, &row);
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_DROPS, 5, 10, HWY_EFFECT_WEAKENS);
	check(&trust, HWY_LACK_ENDS, 1, 2, HWY_EFFECT_WEAKENS);
	check(&trust, HWY_LACK_CLOCK, 1, 1, HWY_EFFECT_FORBIDS);
}

static void programs_that_recorded_nothing_are_counted(void **state)
{
	struct small small = small_new();
	hwy_add_property(small.builder, "unrecorded.programs", "3");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_PROGRAMS, 3, 4, HWY_EFFECT_WEAKENS);
}

static void clocks_that_sampling_changed_forbid_predictions(void **state)
{
	struct small small = small_new();
	hwy_add_property(small.builder, "gpu_metrics.clocks", "1980 MHz, then 1485 MHz");
	struct hwy_trust trust = measure(&small);
	check(&trust, HWY_LACK_CLOCKS, 1, 1, HWY_EFFECT_FORBIDS);
	assert_non_null(strstr(trust.lacks[HWY_LACK_CLOCKS].measures, "predictions"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_trace_lacks_nothing),
		cmocka_unit_test(an_empty_trace_can_lack_nothing),
		cmocka_unit_test(launches_and_work_without_each_other_are_counted),
		cmocka_unit_test(work_without_any_launch_forbids_causes),
		cmocka_unit_test(a_driver_call_inside_a_runtime_call_is_one_launch),
		cmocka_unit_test(captured_and_failed_launches_promise_no_work),
		cmocka_unit_test(graphs_without_nodes_are_opaque),
		cmocka_unit_test(blocking_calls_without_any_sync_record_are_counted),
		cmocka_unit_test(drops_open_ranges_and_backward_links_are_counted),
		cmocka_unit_test(programs_that_recorded_nothing_are_counted),
		cmocka_unit_test(clocks_that_sampling_changed_forbid_predictions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
