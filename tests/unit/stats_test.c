/* SPDX-License-Identifier: Apache-2.0 */
/* stats_test.c - the tables: their arithmetic against a slow exact version, their rules on small traces. */
#include <math.h>

#include "stats/stats.h"
#include "stats/sums.h"
#include "toy_model.h"

/* ---- arithmetic ----------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* The same from a sorted copy, with squares of the values themselves. */
static struct sums_result slowly(int64_t *values, uint32_t n)
{
	struct sums_result of = {.count = n};
	qsort(values, n, sizeof *values, by_value);
	long double squares = 0;
	for (uint32_t i = 0; i < n; i++)
		of.total += values[i];
	long double mean = (long double)of.total / n;
	for (uint32_t i = 0; i < n; i++)
		squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
	of.min = values[0];
	of.max = values[n - 1];
	of.mean = (double)of.total / n;
	of.median = ((double)values[(n - 1) / 2] + (double)values[n / 2]) / 2;
	of.deviation = n > 1 ? (double)sqrtl(squares / (n - 1)) : 0;
	return of;
}

static int64_t roll_duration(struct dice *dice, uint64_t style)
{
	switch (style % 5) {
	case 0: return 1000 + roll_below(dice, 8); /* many equal ones */
	case 1: return roll_below(dice, INT64_C(1) << 20);
	case 2: return roll_below(dice, INT64_C(1) << 33); /* around the 32-bit edge */
	case 3: return (int64_t)UINT32_MAX + roll_below(dice, 3) - 1;
	default:
		return roll(dice) % 10 ? roll_below(dice, 2000)
				       : roll_below(dice, INT64_C(1) << 45);
	}
}

static void sums_agree_with_a_slow_exact_version(void **state)
{
	struct dice dice = {1};
	for (int round = 0; round < 300; round++) {
		uint32_t groups = 1 + (uint32_t)roll_below(&dice, 5);
		uint32_t n = (uint32_t)roll_below(&dice, round % 10 ? 60 : 20000) + groups;
		int64_t *values = hwy_alloc(n * sizeof *values), *one = hwy_alloc(n * sizeof *one);
		struct sums sums = {0};
		for (uint32_t i = 0; i < n; i++) {
			values[i] = roll_duration(&dice, (uint64_t)round);
			sums_expect(&sums, i % groups, 1);
		}
		sums_open(&sums);
		for (uint32_t i = 0; i < n; i++)
			sums_put(&sums, i % groups, values[i]);
		for (uint32_t g = 0; g < groups; g++) {
			uint32_t m = 0;
			for (uint32_t i = g; i < n; i += groups)
				one[m++] = values[i];
			struct sums_result want = slowly(one, m), got = sums_get(&sums, g);
			assert_int_equal(got.count, want.count);
			assert_int_equal(got.total, want.total);
			assert_int_equal(got.min, want.min);
			assert_int_equal(got.max, want.max);
			assert_true(got.mean == want.mean);
			assert_true(got.median == want.median);
			assert_true(fabs(got.deviation - want.deviation) <= 1e-9 * want.deviation);
		}
		sums_free(&sums);
		free(values);
		free(one);
	}
}

static const char *text_of(enum stats_type type, int64_t number, double real,
			   enum stats_time_unit unit)
{
	static char text[STATS_NUMBER_BYTES];
	struct stats_column column = {"x", type};
	struct stats_cell cell = {.number = number, .real = real};
	size_t length = stats_number(&column, &cell, unit, text);
	assert_int_equal(length, strlen(text));
	return text;
}

static void halves_of_a_tenth_go_up_if_the_double_is_one(void **state)
{
	assert_string_equal(text_of(STATS_TIME_MEAN, 0, 11764.25, STATS_NS), "11764.3");
	assert_string_equal(text_of(STATS_TIME_MEAN, 0, 0.25, STATS_NS), "0.3");
	assert_string_equal(text_of(STATS_TIME_MEAN, 0, 0.75, STATS_NS), "0.8");
	/* The nearest double to 13101.65 is below it, to 0.15 too; to 0.05 above. */
	assert_string_equal(text_of(STATS_TIME_MEAN, 0, 13101.65, STATS_NS), "13101.6");
	assert_string_equal(text_of(STATS_MEAN, 0, 0.15, STATS_NS), "0.1");
	assert_string_equal(text_of(STATS_PERCENT, 0, 0.05, STATS_NS), "0.1");
	assert_string_equal(text_of(STATS_PERCENT, 0, 100.0, STATS_NS), "100.0");
}

/* One decimal of a positive double below 2^53, by integers: half up on its exact value. */
static void exactly(double value, char *text)
{
	int exponent;
	double fraction = frexp(value, &exponent);
	uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
	int shift = 53 - exponent; /* value = mantissa / 2^shift, shift > 0 */
	unsigned __int128 twice =
		(unsigned __int128)mantissa * 20 + ((unsigned __int128)1 << shift);
	uint64_t tenths = (uint64_t)(twice >> (shift + 1));
	sprintf(text, "%llu.%llu", (unsigned long long)(tenths / 10),
		(unsigned long long)(tenths % 10));
}

static void means_are_rounded_as_exact_arithmetic_does_it(void **state)
{
	struct dice dice = {2};
	char want[64];
	for (int i = 0; i < 200000; i++) {
		int64_t n = 1 + roll_below(&dice, 400),
			total = n + roll_below(&dice, INT64_C(1) << (4 + i % 40));
		double mean = (double)total / (double)n;
		exactly(mean, want);
		assert_string_equal(text_of(STATS_TIME_MEAN, 0, mean, STATS_NS), want);
	}
}

static void megabytes_have_three_decimals_as_printf_rounds_them(void **state)
{
	struct dice dice = {3};
	char want[64];
	for (int i = 0; i < 200000; i++) {
		int64_t bytes = roll_below(&dice, INT64_C(1) << (4 + i % 50));
		if (i % 3 == 0)
			bytes = bytes / 1000 * 1000 + 500;
		snprintf(want, sizeof want, "%.3f", (double)bytes / 1e6);
		assert_string_equal(text_of(STATS_BYTES, bytes, 0, STATS_NS), want);
	}
}

static void times_keep_every_digit_in_every_unit(void **state)
{
	assert_string_equal(text_of(STATS_TIME, 1234567890123, 0, STATS_NS), "1234567890123");
	assert_string_equal(text_of(STATS_TIME, 1234567890123, 0, STATS_US), "1234567890.123");
	assert_string_equal(text_of(STATS_TIME, 1234567890123, 0, STATS_MS), "1234567.890123");
	assert_string_equal(text_of(STATS_TIME, 1234567890123, 0, STATS_S), "1234.567890123");
	assert_string_equal(text_of(STATS_MOMENT, -5, 0, STATS_US), "-0.005");
	assert_string_equal(text_of(STATS_ID, INT64_MIN, 0, STATS_NS), "-9223372036854775808");
}

/* ---- reports on small traces ---------------------------------------------------------------------- */

struct page { /* rows as lines, cells separated by commas */
	char text[8192];
	size_t n;
	const struct stats_column *columns;
};

static void page_begin(void *self, const struct stats_column *columns, uint32_t n)
{
	((struct page *)self)->columns = columns;
}

static void page_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct page *page = self;
	for (uint32_t i = 0; i < n; i++) {
		char number[STATS_NUMBER_BYTES];
		const char *text = number;
		int length = (int)stats_number(&page->columns[i], &cells[i], STATS_NS, number);
		if (stats_is_text(&page->columns[i]) && !cells[i].empty) {
			text = cells[i].text.at;
			length = (int)cells[i].text.length;
		}
		page->n += (size_t)snprintf(page->text + page->n, sizeof page->text - page->n,
					    "%.*s%s", length, text, i + 1 < n ? "," : "\n");
		assert_true(page->n < sizeof page->text);
	}
}

static const char *rows_of(struct hwy_trace *trace, const char *report,
			   const struct stats_options *given)
{
	static struct page page;
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
	struct stats_sink sink = {.self = &page, .begin = page_begin, .row = page_row};
	struct hwy_err err;
	page = (struct page){0};
	assert_true(stats_run(trace, stats_find(report), given ? given : &options, &sink, &err));
	return page.text;
}

struct made { /* one process, one thread, one stream */
	struct hwy_builder *b;
	uint32_t process, thread, api, ranges, domain, startend, ops, stream;
	int64_t rows;
};

static struct made make(void)
{
	struct made made = {.b = hwy_builder_new()};
	struct hwy_builder *b = made.b;
	struct hwy_trace *trace = hwy_builder_trace(b);
	made.process = hwy_new_processes(b);
	trace->processes[made.process].pid = 7;
	made.thread = hwy_new_threads(b);
	trace->threads[made.thread] =
		(struct hwy_thread){made.process, 8, hwy_text_id(b, "main"), 20, HWY_NONE};
	uint32_t device = hwy_new_devices(b);
	trace->devices[device].ordinal = 0;
	uint32_t stream = hwy_new_streams(b);
	trace->streams[stream].number = 13;
	trace->streams[stream].ordinal = 0;
	made.api = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, made.process, made.thread));
	made.ranges = hwy_add_lane(b, hwy_lane_of(HWY_LANE_RANGE, made.process, made.thread));
	made.ops = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OP, made.process, made.thread));
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_RANGE, made.process, made.thread);
	lane.name = hwy_text_id(b, "D");
	made.domain = hwy_add_lane(b, lane);
	made.startend = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STARTEND, made.process, made.thread));
	lane = hwy_lane_of(HWY_LANE_STREAM, made.process, HWY_NONE);
	lane.device = device;
	lane.stream = stream;
	made.stream = hwy_add_lane(b, lane);
	return made;
}

static void span(struct made *made, uint32_t lane, enum hwy_kind kind, const char *name,
		 int64_t start, int64_t end, int64_t corr)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = end - start;
	row.v[HWY_NAME] = hwy_text_id(made->b, name);
	row.v[HWY_CORR] = corr;
	row.v[HWY_ROW] = ++made->rows;
	hwy_add_span(made->b, lane, kind, &row);
}

static void launch(struct made *made, int64_t start, int64_t end, int64_t runs, int64_t ends,
		   int64_t corr)
{
	span(made, made->api, HWY_API, "cudaLaunchKernel_v7000", start, end, corr);
	span(made, made->stream, HWY_KERNEL, "k", runs, ends, corr);
}

static void ranges_of_two_domains_nest_in_each_other(void **state)
{
	struct made made = make();
	span(&made, made.ranges, HWY_RANGE, "step", 0, 100, 0);
	span(&made, made.domain, HWY_RANGE, "sum", 10, 30, 0);
	span(&made, made.ranges, HWY_RANGE, "layer", 40, 90, 0);
	span(&made, made.domain, HWY_RANGE, "sum", 50, 60, 0);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "nvtx_pushpop_trace", NULL),
			    "0,100,100,70,30,:step,7,8,0,2,1,,:1,:step\n"
			    "10,30,20,0,20,D:sum,7,8,1,0,2,1,:1:2,--D:sum\n"
			    "40,90,50,10,40,:layer,7,8,1,1,3,1,:1:3,--:layer\n"
			    "50,60,10,0,10,D:sum,7,8,2,0,4,3,:1:3:4,----D:sum\n");
	hwy_trace_free(trace);
}

static void a_projection_spans_the_work_launched_inside_the_range(void **state)
{
	struct made made = make();
	span(&made, made.ranges, HWY_RANGE, "outer", 0, 100, 0);
	span(&made, made.ranges, HWY_RANGE, "inner", 10, 20, 0);
	launch(&made, 12, 14, 200, 250, 1);   /* runs long after its range */
	launch(&made, 30, 32, 260, 300, 2);   /* in the outer range only */
	launch(&made, 110, 112, 400, 500, 3); /* in none */
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "nvtx_gpu_proj_trace", NULL),
			    ":outer,200,100,0,100,PushPop,7,8,2,0,1,1,,:1\n"
			    ":inner,200,50,10,10,PushPop,7,8,1,1,0,2,1,:1:2\n");
	assert_string_equal(rows_of(trace, "nvtx_kern_sum", NULL),
			    ",,7,8,0,1,100,100.0,100.0,100,100,0.0,k\n"
			    ":inner,PushPop,7,8,1,1,50,50.0,50.0,50,50,0.0,k\n"
			    ":outer,PushPop,7,8,1,2,90,45.0,45.0,40,50,7.1,k\n");
	hwy_trace_free(trace);
}

static void a_call_recorded_twice_has_one_projection_and_two_launch_rows(void **state)
{
	struct made made = make();
	span(&made, made.ranges, HWY_RANGE, "r", 0, 100, 0);
	span(&made, made.api, HWY_API, "cudaLaunchKernel", 10, 20, 1);
	span(&made, made.api, HWY_API, "cudaLaunchKernel_v7000", 11, 19, 1);
	span(&made, made.stream, HWY_KERNEL, "k", 30, 40, 1);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "nvtx_gpu_proj_sum", NULL),
			    ":r,PushPop,10,100,1,10.0,10.0,10,10,0.0,1,1.0,0.0,0.0\n");
	assert_string_equal(rows_of(trace, "nvtx_kern_sum", NULL),
			    ":r,PushPop,7,8,1,1,20,10.0,10.0,10,10,0.0,k\n");
	assert_string_equal(
		rows_of(trace, "cuda_kern_exec_trace", NULL),
		"10,10,20,10,30,10,30,7,8,0,cudaLaunchKernel,   0    0    0,   0    0    0,k\n"
		"11,8,19,11,30,10,29,7,8,0,cudaLaunchKernel,   0    0    0,   0    0    0,k\n");
	/* By recorded name, two rows; with device work, by shown name, one. */
	assert_string_equal(rows_of(trace, "cuda_api_sum", NULL),
			    "55.6,10,1,10.0,10.0,10,10,0.0,cudaLaunchKernel\n"
			    "44.4,8,1,8.0,8.0,8,8,0.0,cudaLaunchKernel\n");
	assert_string_equal(rows_of(trace, "cuda_api_gpu_sum", NULL),
			    "64.3,18,2,9.0,9.0,8,10,1.4,CUDA_API,cudaLaunchKernel\n"
			    "35.7,10,1,10.0,10.0,10,10,0.0,CUDA_KERNEL,k\n");
	hwy_trace_free(trace);
}

static void queue_times_count_only_when_positive(void **state)
{
	struct made made = make();
	launch(&made, 10, 20, 15, 18, 1); /* ran while the call still did */
	launch(&made, 30, 40, 45, 50, 2);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "cuda_kern_exec_sum", NULL),
			    "7,8,0,2,1,15.0,15.0,10,20,7.1,10.0,10.0,10,10,0.0,5.0,5.0,5,5,0.0,"
			    "4.0,4.0,3,5,1.4,cudaLaunchKernel,k\n");
	hwy_trace_free(trace);
}

static void marks_and_unfinished_ranges_are_not_counted(void **state)
{
	struct made made = make();
	span(&made, made.ranges, HWY_RANGE, "a", 0, 10, 0);
	struct hwy_row row = {0};
	row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	hwy_add_span(made.b, made.ranges, HWY_RANGE, &row);
	row.v[HWY_FLAGS] = HWY_FLAG_UNFINISHED;
	row.v[HWY_DUR] = 5;
	hwy_add_span(made.b, made.startend, HWY_RANGE, &row);
	span(&made, made.startend, HWY_RANGE, "b", 0, 30, 0);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "nvtx_sum", NULL),
			    "75.0,30,1,30.0,30.0,30,30,0.0,StartEnd,:b\n"
			    "25.0,10,1,10.0,10.0,10,10,0.0,PushPop,:a\n");
	assert_string_equal(rows_of(trace, "nvtx_pushpop_sum", NULL),
			    "100.0,10,1,10.0,10.0,10,10,0.0,:a\n");
	assert_string_equal(rows_of(trace, "nvtx_startend_sum", NULL),
			    "100.0,30,1,30.0,30.0,30,30,0.0,:b\n");
	assert_string_equal(rows_of(trace, "um_sum", NULL), "");
	hwy_trace_free(trace);
}

static void a_window_keeps_what_overlaps_it_and_a_range_what_was_launched_in_it(void **state)
{
	struct made made = make();
	span(&made, made.ranges, HWY_RANGE, "r", 0, 50, 0);
	launch(&made, 10, 20, 100, 110, 1);
	launch(&made, 60, 70, 110, 130, 2);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	struct stats_options window = {.from = 105, .to = 110};
	assert_string_equal(rows_of(trace, "cuda_gpu_kern_sum", &window),
			    "100.0,10,1,10.0,10.0,10,10,0.0,k\n");
	window = (struct stats_options){.from = 110, .to = INT64_MAX};
	assert_string_equal(rows_of(trace, "cuda_gpu_kern_sum", &window),
			    "100.0,20,1,20.0,20.0,20,20,0.0,k\n");
	struct stats_options range = {.from = INT64_MIN, .to = INT64_MAX, .range = ":r"};
	assert_string_equal(rows_of(trace, "cuda_gpu_kern_sum", &range),
			    "100.0,10,1,10.0,10.0,10,10,0.0,k\n");
	assert_string_equal(rows_of(trace, "cuda_api_sum", &range),
			    "100.0,10,1,10.0,10.0,10,10,0.0,cudaLaunchKernel\n");
	range.range = "absent";
	struct hwy_err err;
	struct stats_sink sink = {0};
	assert_false(stats_run(trace, stats_find("cuda_api_sum"), &range, &sink, &err));
	assert_non_null(strstr(err.text, "absent"));
	hwy_trace_free(trace);
}

static void device_time_goes_to_the_innermost_operator_and_to_all_around_it(void **state)
{
	struct made made = make();
	span(&made, made.ops, HWY_OP, "outer", 0, 100, 0);
	span(&made, made.ops, HWY_OP, "inner", 10, 40, 0);
	launch(&made, 20, 25, 200, 207, 1);
	launch(&made, 50, 55, 210, 213, 2);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "op_sum", NULL),
			    "70.0,7,7,30.0,30,30,30.0,7.0,1,inner\n"
			    "30.0,3,10,70.0,70,100,100.0,10.0,1,outer\n");
	hwy_trace_free(trace);
}

static void modules_have_the_time_of_their_operators_and_of_the_modules_inside(void **state)
{
	struct hwy_trace *trace = toy_training();
	assert_string_equal(rows_of(trace, "module_sum", NULL),
			    "70.6,36000,0,72.7,40000,0,0,0,Net,Net\n"
			    "70.6,36000,0,72.7,40000,0,0,0,Net.layers,\n"
			    "39.2,20000,20000,36.4,20000,20000,2,3,Net.layers.0,Linear\n"
			    "31.4,16000,16000,36.4,20000,20000,3,4,Net.layers.1,Linear\n"
			    "29.4,15000,15000,27.3,15000,15000,3,2,(no module),\n");
	hwy_trace_free(trace);
}

static void a_wait_lasts_until_the_pending_work_has_ended(void **state)
{
	struct made made = make();
	span(&made, made.ranges, HWY_RANGE, "step_1", 0, 90, 0);
	span(&made, made.ranges, HWY_RANGE, "step_2", 95, 200, 0);
	launch(&made, 10, 12, 20, 60, 1);
	span(&made, made.api, HWY_API, "cudaStreamSynchronize_v3020", 30, 70, 2);
	span(&made, made.api, HWY_API, "cudaStreamSynchronize_v3020", 100, 104, 3);
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	/* 40 and 4 ns in the calls, 30 of them (30 to 60) for the device; the second waits for nothing. */
	assert_string_equal(
		rows_of(trace, "wait_sum", NULL),
		"100.0,44,30,2,1,22.0,40,waits for a stream,cudaStreamSynchronize,step_*\n");
	hwy_trace_free(trace);
}

static void a_graph_is_summed_up_by_launch(void **state)
{
	struct made made = make();
	for (int i = 0; i < 2; i++) {
		int64_t at = i * 100;
		span(&made, made.api, HWY_API, "cudaGraphLaunch_v10000", at, at + 10, i + 1);
		span(&made, made.stream, HWY_KERNEL, "k", at + 20, at + 30, i + 1);
		span(&made, made.stream, HWY_KERNEL, "long", at + 30, at + 50 + i, i + 1);
	}
	struct hwy_trace *trace = hwy_builder_finish(made.b, false);
	assert_string_equal(rows_of(trace, "graph_sum", NULL),
			    "100.0,61,2,30.5,30.5,30,31,10.0,2.0,2.0,61,7,,,long\n");
	hwy_trace_free(trace);
}

static void every_report_takes_any_trace(void **state)
{
	static struct page page;
	struct stats_sink sink = {.self = &page, .begin = page_begin, .row = page_row};
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct hwy_trace *trace = random_trace(seed, 40, 30);
		for (const struct stats_report *report = stats_reports; report->name; report++) {
			struct stats_options options = {
				.from = INT64_MIN, .to = INT64_MAX, .shapes = seed % 2};
			struct hwy_err err;
			page = (struct page){0};
			assert_true(stats_run(trace, report, &options, &sink, &err));
		}
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_agree_with_a_slow_exact_version),
		cmocka_unit_test(halves_of_a_tenth_go_up_if_the_double_is_one),
		cmocka_unit_test(means_are_rounded_as_exact_arithmetic_does_it),
		cmocka_unit_test(megabytes_have_three_decimals_as_printf_rounds_them),
		cmocka_unit_test(times_keep_every_digit_in_every_unit),
		cmocka_unit_test(ranges_of_two_domains_nest_in_each_other),
		cmocka_unit_test(a_projection_spans_the_work_launched_inside_the_range),
		cmocka_unit_test(a_call_recorded_twice_has_one_projection_and_two_launch_rows),
		cmocka_unit_test(queue_times_count_only_when_positive),
		cmocka_unit_test(marks_and_unfinished_ranges_are_not_counted),
		cmocka_unit_test(
			a_window_keeps_what_overlaps_it_and_a_range_what_was_launched_in_it),
		cmocka_unit_test(device_time_goes_to_the_innermost_operator_and_to_all_around_it),
		cmocka_unit_test(
			modules_have_the_time_of_their_operators_and_of_the_modules_inside),
		cmocka_unit_test(a_wait_lasts_until_the_pending_work_has_ended),
		cmocka_unit_test(a_graph_is_summed_up_by_launch),
		cmocka_unit_test(every_report_takes_any_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
