/* SPDX-License-Identifier: Apache-2.0 */
/* device_metrics_test.c - counters of a device over time: names, holes, means over intervals, what a short kernel may be told. */
#include <math.h>

#include "make_metrics.h"

#include "analyze/device_metrics.h"

/* A trace with one metric, sampled every 100 ns from 1000 on. */
static struct hwy_trace *trace_of_values(const double *values, uint32_t n)
{
	struct small small = small_machine();
	uint32_t lane = metric_lane_of(small.builder, 0, "SMs Active [Throughput %]", "%",
				       HWY_PAYLOAD_DOUBLE);
	for (uint32_t i = 0; i < n; i++)
		metric_sample(small.builder, lane, 1000 + 100 * (int64_t)i, values[i]);
	return small_finish(&small);
}

static void names_of_every_source_mean_the_same_metric(void **state)
{
	assert_int_equal(metric_of_name("SMs Active [Throughput %]", "%"), METRIC_SMS_ACTIVE);
	assert_int_equal(metric_of_name("SMs Active", "%"), METRIC_SMS_ACTIVE);
	assert_int_equal(metric_of_name("DRAM Read Bandwidth [Throughput %]", "%"),
			 METRIC_DRAM_READ);
	assert_int_equal(metric_of_name("DRAM Read", "B/s"), METRIC_DRAM_READ_RATE);
	assert_int_equal(metric_of_name("GPC Clock Frequency [MHz]", "Hz"), METRIC_GPC_CLOCK);
	/* The same quantity in another unit is another metric, or none. */
	assert_int_equal(metric_of_name("Compute Warps in Flight [Avg]", "Avg"), METRICS);
	assert_int_equal(metric_of_name("SMs Active and more", "%"), METRICS);
	assert_int_equal(metric_of_name("", ""), METRICS);
}

static void a_mean_weighs_samples_by_the_time_they_hold(void **state)
{
	static const double values[] = {10, 20, 40, 80};
	struct hwy_trace *trace = trace_of_values(values, 4);
	struct hwy_metrics metrics;
	int64_t ns;
	metrics_open(&metrics, trace);
	const struct metric_series *series = metrics_get(&metrics, 0, METRIC_SMS_ACTIVE);
	assert_non_null(series);
	assert_null(metrics_get(&metrics, 0, METRIC_TENSOR));
	assert_int_equal(series->period, 100);
	/* 50 ns at 10, 100 at 20, 25 at 40 */
	assert_true(metric_mean_between(series, 1050, 1225, &ns) == (500.0 + 2000 + 1000) / 175);
	assert_int_equal(ns, 175);
	assert_true(metric_mean_between(series, 0, 1000, &ns) == 0 && ns == 0);
	/* The last sample holds for one distance. */
	assert_true(metric_mean_between(series, 1350, 9999, &ns) == 80);
	assert_int_equal(ns, 50);
	static const struct hwy_interval parts[] = {{1050, 1075}, {1090, 1110}, {1350, 2000}};
	struct metric_sum sum = {0};
	metric_add(&sum, series, parts, 3, 0);
	assert_int_equal(sum.samples, 3);
	assert_int_equal(sum.ns, 25 + 10 + 10 + 50);
	assert_true(metric_mean(&sum) == (35.0 * 10 + 10 * 20 + 50 * 80) / 95);
	assert_true(sum.least == 10 && sum.most == 80);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

static void nothing_is_known_where_samples_are_missing(void **state)
{
	struct small small = small_machine();
	uint32_t lane = metric_lane_of(small.builder, 0, "Tensor Active", "%", HWY_PAYLOAD_I64);
	for (int i = 0; i < 10; i++)
		metric_sample(small.builder, lane, i * 100 + (i >= 5 ? 1000 : 0), 50);
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_metrics metrics;
	int64_t ns;
	metrics_open(&metrics, trace);
	const struct metric_series *series = metrics_get(&metrics, 0, METRIC_TENSOR);
	assert_true(metric_mean_between(series, 400, 1500, &ns) == 50);
	assert_int_equal(ns, 200); /* two distances, then the hole */
	assert_true(metric_mean_between(series, 700, 1400, &ns) == 0 && ns == 0);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

static void times_of_any_size_do_not_overflow(void **state)
{
	struct small small = small_machine();
	uint32_t lane = metric_lane_of(small.builder, 0, "Tensor Active", "%", HWY_PAYLOAD_I64);
	metric_sample(small.builder, lane, -HWY_TIME_LIMIT, 40);
	metric_sample(small.builder, lane, HWY_TIME_LIMIT, 40);
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_metrics metrics;
	int64_t ns;
	metrics_open(&metrics, trace);
	const struct metric_series *series = metrics_get(&metrics, 0, METRIC_TENSOR);
	assert_true(metric_mean_between(series, INT64_MIN, INT64_MAX, &ns) == 40 && ns > 0);
	struct metric_sum sum = {0};
	metric_add(&sum, series, &(struct hwy_interval){-2 * HWY_TIME_LIMIT, 2 * HWY_TIME_LIMIT}, 1,
		   0);
	assert_int_equal(sum.samples, 2);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

static void a_value_that_is_not_a_number_counts_nowhere(void **state)
{
	double values[] = {10, (double)NAN, 30, (double)INFINITY, 50};
	struct hwy_trace *trace = trace_of_values(values, 5);
	struct hwy_metrics metrics;
	int64_t ns;
	metrics_open(&metrics, trace);
	const struct metric_series *series = metrics_get(&metrics, 0, METRIC_SMS_ACTIVE);
	assert_true(metric_mean_between(series, 1000, 1500, &ns) == 30);
	assert_int_equal(ns, 300);
	struct metric_sum sum = {0};
	metric_add(&sum, series, &(struct hwy_interval){0, 9999}, 1, 0);
	assert_int_equal(sum.samples, 3);
	assert_true(sum.most == 50);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

/* A kernel of 5 us among others cannot be told from them by samples of 100 us. */
static void a_value_that_no_device_can_have_counts_nowhere(void **state)
{
	static const double values[] = {50, -1, 1e300, 50, 201, -1e19, 100};
	struct hwy_trace *trace = trace_of_values(values, 7);
	struct hwy_metrics metrics;
	struct metric_sum sum = {0};
	static const struct hwy_interval all = {0, 9999};
	metrics_open(&metrics, trace);
	metric_add(&sum, metrics_get(&metrics, 0, METRIC_SMS_ACTIVE), &all, 1, 0);
	assert_int_equal(sum.samples, 3);
	assert_int_equal(sum.ns, 300);
	assert_true(metric_mean(&sum) == 200.0 / 3 && sum.least == 50 && sum.most == 100);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

static void a_kernel_much_shorter_than_a_sample_gets_no_sample(void **state)
{
	static const double values[] = {90, 90, 90, 90, 90, 90, 90, 90};
	struct hwy_trace *trace = trace_of_values(values, 8);
	struct hwy_metrics metrics;
	struct hwy_interval kernels[8];
	for (int i = 0; i < 8; i++)
		kernels[i] = (struct hwy_interval){1000 + 100 * i + 40, 1000 + 100 * i + 45};
	metrics_open(&metrics, trace);
	const struct metric_series *series = metrics_get(&metrics, 0, METRIC_SMS_ACTIVE);
	struct metric_sum pure = {0}, any = {0};
	metric_add(&pure, series, kernels, 8, METRIC_PURE_SHARE);
	assert_int_equal(pure.samples, 0);
	metric_add(&any, series, kernels, 8, 0);
	assert_int_equal(any.samples, 8);
	/* Four short ones of the same name fill a sample between them. */
	struct hwy_interval row[] = {{1000, 1020}, {1022, 1045}, {1047, 1080}, {1085, 1100}};
	struct metric_sum together = {0};
	metric_add(&together, series, row, 4, METRIC_PURE_SHARE);
	assert_int_equal(together.samples, 1);
	assert_int_equal(together.ns, 20 + 23 + 33 + 15);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

static void rates_become_percent_of_what_the_device_can_carry(void **state)
{
	struct small small = small_machine();
	struct hwy_device *device = &hwy_builder_trace(small.builder)->devices[0];
	device->memory_bandwidth = INT64_C(4000000000000);
	device->pcie_generation = 5;
	device->pcie_width = 16;
	device->compute_major = 12;
	uint32_t dram = metric_lane_of(small.builder, 0, "DRAM Read", "B/s", HWY_PAYLOAD_DOUBLE);
	uint32_t pcie = metric_lane_of(small.builder, 0, "PCIe Write", "B/s", HWY_PAYLOAD_DOUBLE);
	uint32_t nvlink = metric_lane_of(small.builder, 0, "NVLink RX", "B/s", HWY_PAYLOAD_DOUBLE);
	for (int i = 0; i < 3; i++) {
		metric_sample(small.builder, dram, 100 * i, 1e12);
		metric_sample(small.builder, pcie, 100 * i, 25.6e9);
		metric_sample(small.builder, nvlink, 100 * i, 1e9);
	}
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_metrics metrics;
	struct metric_sum read = {0}, sent = {0};
	struct hwy_interval all = {0, 300};
	metrics_open(&metrics, trace);
	metric_add_percent(&read, metrics_percent(&metrics, 0, METRIC_DRAM_READ), &all, 1, 0);
	metric_add_percent(&sent, metrics_percent(&metrics, 0, METRIC_PCIE_TX), &all, 1, 0);
	assert_true(fabs(metric_mean(&read) - 25) < 1e-9 && read.samples == 3);
	assert_true(fabs(metric_mean(&sent) - 50) < 1e-9 && fabs(sent.most - 50) < 1e-9);
	/* No link of this device is known. */
	assert_null(metrics_percent(&metrics, 0, METRIC_NVLINK_RX).series);
	assert_null(metrics_percent(&metrics, 0, METRIC_DRAM_WRITE).series);
	metrics_close(&metrics);
	hwy_trace_free(trace);
}

/* Both ways to a mean agree with a sum over single nanoseconds, whatever the samples and intervals. */
static void means_agree_with_a_sum_over_nanoseconds(void **state)
{
	enum { SPAN = 2000, ROUNDS = 200 };
	struct dice dice = {7};
	for (int round = 0; round < ROUNDS; round++) {
		struct small small = small_machine();
		uint32_t lane = metric_lane_of(small.builder, 0, "SM Issue", "%", HWY_PAYLOAD_I64);
		int64_t time = roll_below(&dice, 100);
		for (int i = 0; i < 30; i++) {
			metric_sample(small.builder, lane, time, (double)roll_below(&dice, 101));
			time += 1 + roll_below(&dice, roll_below(&dice, 5) ? 40 : 200);
		}
		struct hwy_trace *trace = small_finish(&small);
		struct hwy_metrics metrics;
		metrics_open(&metrics, trace);
		const struct metric_series *series = metrics_get(&metrics, 0, METRIC_SM_ISSUE);
		double at[SPAN];
		for (int t = 0; t < SPAN; t++)
			at[t] = -1;
		for (uint32_t i = 0; i < series->n; i++)
			for (int64_t t = metric_holds(series, i).from;
			     t < metric_holds(series, i).to && t < SPAN; t++)
				at[t] = series->values[i];
		struct hwy_interval parts[10];
		uint32_t n = 0;
		int64_t from = 0;
		while (n < 10 && (from += 1 + roll_below(&dice, 60)) < SPAN - 200) {
			parts[n++] = (struct hwy_interval){from, from + roll_below(&dice, 120)};
			from = parts[n - 1].to;
		}
		struct metric_sum sum = {0};
		metric_add(&sum, series, parts, n, 0);
		double expected = 0, by_sums = 0;
		int64_t ns = 0;
		for (uint32_t k = 0; k < n; k++) {
			int64_t known;
			by_sums += metric_mean_between(series, parts[k].from, parts[k].to, &known) *
				   (double)known;
			for (int64_t t = parts[k].from; t < parts[k].to; t++)
				if (at[t] >= 0) {
					expected += at[t];
					ns++;
				}
		}
		assert_int_equal(sum.ns, ns);
		assert_true(fabs(sum.weighed - expected) < 1e-6);
		assert_true(fabs(by_sums - expected) < 1e-6);
		metrics_close(&metrics);
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_every_source_mean_the_same_metric),
		cmocka_unit_test(a_mean_weighs_samples_by_the_time_they_hold),
		cmocka_unit_test(nothing_is_known_where_samples_are_missing),
		cmocka_unit_test(times_of_any_size_do_not_overflow),
		cmocka_unit_test(a_value_that_is_not_a_number_counts_nowhere),
		cmocka_unit_test(a_value_that_no_device_can_have_counts_nowhere),
		cmocka_unit_test(a_kernel_much_shorter_than_a_sample_gets_no_sample),
		cmocka_unit_test(rates_become_percent_of_what_the_device_can_carry),
		cmocka_unit_test(means_agree_with_a_sum_over_nanoseconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
