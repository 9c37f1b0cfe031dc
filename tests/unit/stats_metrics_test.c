/* SPDX-License-Identifier: Apache-2.0 */
/* stats_metrics_test.c - tables of GPU metrics on made-up traces, to the digit. */
#include "make_metrics.h"

#include "stats/stats.h"

struct seen {
	char text[4096];
	const struct stats_column *columns;
};

static void see_columns(void *self, const struct stats_column *columns, uint32_t n)
{
	((struct seen *)self)->columns = columns;
	(void)n;
}

static void see_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct seen *seen = self;
	for (uint32_t i = 0; i < n; i++) {
		char number[STATS_NUMBER_BYTES];
		stats_number(&seen->columns[i], &cells[i], STATS_NS, number);
		size_t used = strlen(seen->text);
		snprintf(seen->text + used, sizeof seen->text - used, "%s%s", i ? "|" : "",
			 seen->columns[i].type == STATS_TEXT ? cells[i].text.at : number);
	}
	strcat(seen->text, "\n");
}

static void expect_table(struct hwy_trace *trace, const char *report, const char *range,
			 const char *rows)
{
	struct seen seen = {0};
	struct stats_sink sink = {&seen, see_columns, see_row};
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX, .range = range};
	struct hwy_err err;
	assert_true(stats_run(trace, stats_find(report), &options, &sink, &err));
	assert_string_equal(seen.text, rows);
}

static void kernel_of(struct small *small, const char *name, double from, double to)
{
	small->corr++;
	small_span_us(small, small->api, HWY_API, from - 5, from - 1, small->corr,
		      "cudaLaunchKernel");
	small_span_us(small, small->stream, HWY_KERNEL, from, to, small->corr, name);
}

/* Samples of 100 us: 80 % while "long" runs from 1000 to 1600 us, 10 % afterwards, when "tiny" runs for 5 us in each. */
static struct hwy_trace *two_kernels(void)
{
	struct small small = small_machine();
	uint32_t range = small_lane(&small, HWY_LANE_RANGE);
	uint32_t lane =
		metric_lane_of(small.builder, 0, "SMs Active [Throughput %]", "%", HWY_PAYLOAD_I64);
	for (int i = 0; i < 20; i++)
		metric_sample(small.builder, lane, US(800 + 100 * i), i < 2 ? 0 : i < 8 ? 80 : 10);
	small_span_us(&small, range, HWY_RANGE, 990, 999.5, 0, "forward");
	kernel_of(&small, "long", 1000, 1600);
	for (int i = 0; i < 10; i++)
		kernel_of(&small, "tiny", 1620 + 100 * i, 1625 + 100 * i);
	return small_finish(&small);
}

static void a_device_has_a_mean_of_all_and_one_of_its_busy_time(void **state)
{
	struct hwy_trace *trace = two_kernels();
	/* (2 * 0 + 6 * 80 + 12 * 10) / 20 */
	expect_table(trace, "gpu_metrics_sum", NULL,
		     "0|20|30.0|6|80.0|0.0|80.0|%|SMs Active [Throughput %]\n");
	hwy_trace_free(trace);
}

static void a_kernel_that_no_sample_is_of_alone_gets_no_numbers(void **state)
{
	struct hwy_trace *trace = two_kernels();
	expect_table(trace, "gpu_metrics_kern_sum", NULL,
		     "92.3|600000|1|6|80.0||||||||||long\n"
		     "7.7|50000|10|0|||||||||||tiny\n");
	hwy_trace_free(trace);
}

static void a_range_has_the_metrics_of_the_work_that_it_launched(void **state)
{
	struct hwy_trace *trace = two_kernels();
	expect_table(trace, "gpu_metrics_nvtx_sum", NULL,
		     "100.0|600000|1|6|80.0||||||||||:forward\n");
	expect_table(trace, "gpu_metrics_kern_sum", "forward",
		     "100.0|600000|1|6|80.0||||||||||long\n");
	hwy_trace_free(trace);
}

static void without_metrics_there_are_no_rows(void **state)
{
	struct small small = small_machine();
	kernel_of(&small, "long", 1000, 1600);
	struct hwy_trace *trace = small_finish(&small);
	expect_table(trace, "gpu_metrics_sum", NULL, "");
	expect_table(trace, "gpu_metrics_kern_sum", NULL, "");
	expect_table(trace, "gpu_metrics_step_sum", NULL, "");
	expect_table(trace, "gpu_metrics_nvtx_sum", NULL, "");
	hwy_trace_free(trace);
}

static void a_step_has_all_samples_of_its_device_window(void **state)
{
	struct small small = small_machine();
	uint32_t range = small_lane(&small, HWY_LANE_RANGE);
	uint32_t lane = metric_lane_of(small.builder, 0, "DRAM Read Bandwidth [Throughput %]", "%",
				       HWY_PAYLOAD_I64);
	for (int step = 0; step < 4; step++) {
		char name[32];
		double from = 1000 + 1000 * step;
		snprintf(name, sizeof name, "step_%d", step);
		small_span_us(&small, range, HWY_RANGE, from - 20, from + 900, 0, name);
		kernel_of(&small, "k", from, from + 900);
		for (int i = 0; i < 10; i++)
			metric_sample(small.builder, lane, US(from + 100 * i),
				      i < 5 ? 10 * step : 10 * step + 2);
	}
	struct hwy_trace *trace = small_finish(&small);
	struct seen seen = {0};
	struct stats_sink sink = {&seen, see_columns, see_row};
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
	struct hwy_err err;
	assert_true(stats_run(trace, stats_find("gpu_metrics_step_sum"), &options, &sink, &err));
	assert_non_null(strstr(seen.text, "0|2000000|1000000|90.0|10|||||11.0||||||step_1\n"));
	assert_non_null(strstr(seen.text, "0|3000000|1000000|90.0|10|||||21.0||||||step_2\n"));
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_a_mean_of_all_and_one_of_its_busy_time),
		cmocka_unit_test(a_kernel_that_no_sample_is_of_alone_gets_no_numbers),
		cmocka_unit_test(a_range_has_the_metrics_of_the_work_that_it_launched),
		cmocka_unit_test(without_metrics_there_are_no_rows),
		cmocka_unit_test(a_step_has_all_samples_of_its_device_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
