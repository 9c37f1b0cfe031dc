/* SPDX-License-Identifier: Apache-2.0 */
/* device_lead_test.c - the CPU's lead over a device at a moment and in a window, on traces small enough to check by hand. */
#include "make_trace.h"

#include "serve/device_lead.h"

enum { STREAMS = 10 };
static const int64_t year_2024 = INT64_C(1704067200000000000); /* ns after 1970 */

/* On each of the streams an op of 100 ns is enqueued at 10 and runs from 100 on, and one is enqueued at 20 and runs from 200 on. */
static struct view_trace open_streams(int64_t zero)
{
	struct small small = small_new();
	uint32_t device = small_device(&small, 0);
	uint32_t streams[STREAMS];
	for (int i = 0; i < STREAMS; i++)
		streams[i] = small_stream(&small, device, i);
	small.api = small_lane(&small, HWY_LANE_API);
	for (int i = 0; i < STREAMS * 2; i++) {
		int64_t begin = zero + 100 * (1 + i / STREAMS);
		int64_t call = zero + 10 * (i / STREAMS);
		small_call(&small, call, call + 10, i + 1, "cudaLaunchKernel");
		small_span(&small, streams[i % STREAMS], HWY_KERNEL, begin, begin + 100, i + 1,
			   "k");
	}
	struct view_trace view;
	struct hwy_err err;
	assert_true(view_open(&view, small_finish(&small), "streams", &err));
	return view;
}

/* The sums of times that are counted from 1970 overflow only where many ops run at once. The sanitizer sees that; without it
 * the sums wrap around twice, and are right. */
static void the_least_lead_of_many_streams_is_the_same_at_any_time(void **state)
{
	const int64_t zeros[] = {0, year_2024};
	for (int i = 0; i < 2; i++) {
		struct view_trace view = open_streams(zeros[i]);
		struct hwy_trace *trace = view.trace;
		struct device_lead lead;
		struct hwy_err err;
		bool is_known;
		assert_true(device_lead_least(&view, 0, zeros[i] + 110, zeros[i] + 250, &lead,
					      &is_known, &err));
		assert_true(is_known);
		assert_int_equal(lead.count, STREAMS);
		assert_int_equal(lead.work, STREAMS * 50);
		assert_true(device_lead_at(&view, 0, zeros[i] + 110, &lead, &err));
		assert_int_equal(lead.count, STREAMS * 2);
		assert_int_equal(lead.work, STREAMS * 190);
		view_close(&view);
		hwy_trace_free(trace);
	}
}

/* Part by part: what stands at its begin, and what is enqueued inside. */
static void each_part_of_a_window_has_its_largest_lead(void **state)
{
	enum { PARTS = 7 };
	struct view_trace view = open_streams(year_2024);
	struct hwy_trace *trace = view.trace;
	struct device_lead parts[PARTS], at;
	struct hwy_err err;
	bool is_known;
	assert_true(device_lead_parts(&view, 0, year_2024, year_2024 + 350, parts, PARTS, &is_known,
				      &err));
	assert_true(is_known);
	/* An op is enqueued at 10 and another one at 20. */
	assert_int_equal(parts[0].count, 2 * STREAMS);
	assert_int_equal(parts[0].work, 200 * STREAMS);
	assert_int_equal(parts[6].count, 0);
	assert_int_equal(parts[6].work, 0);
	for (uint32_t p = 0; p < PARTS; p++) {
		int64_t begin = device_lead_part(0, 350, p, PARTS);
		assert_true(device_lead_at(&view, 0, year_2024 + begin, &at, &err));
		assert_true(parts[p].count >= at.count && parts[p].work >= at.work);
	}
	/* Nothing is enqueued in 250 to 300: what is there at the begin is the most. */
	assert_int_equal(parts[5].count, STREAMS);
	assert_int_equal(parts[5].work, 50 * STREAMS);
	view_close(&view);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(the_least_lead_of_many_streams_is_the_same_at_any_time),
		cmocka_unit_test(each_part_of_a_window_has_its_largest_lead),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
