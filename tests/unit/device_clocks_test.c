/* SPDX-License-Identifier: Apache-2.0 */
/* device_clocks_test.c - clocks of a device: what is said of them, the clock while busy, the finding throttled, and runs that
 * cannot be compared because they had other clocks. */
#include "make_metrics.h"
#include "program.h"

#include <math.h>

#include "analyze/device_clocks.h"
#include "compare/diff.h"

enum { STEPS = 40 };

/* A program of steps of 10 ms, in which the GPU is busy for 'busy' ms and then idle. A sample of clock and reasons every 5 ms, of
 * which those that fall into busy time have the clock 'mhz' and the reasons 'bits', the others 345 MHz and "idle"; from step
 * 'from' on. Before that, busy time has 1980 MHz and no reason. */
static struct program clocked(int64_t busy, double mhz, int64_t bits, int from)
{
	struct program p = program_new();
	struct hwy_builder *b = p.builder;
	uint32_t clock = metric_lane_of(b, p.device, "SM Clock", "Hz", HWY_PAYLOAD_DOUBLE);
	uint32_t reasons = metric_lane_of(b, p.device, "Throttle Reasons", "", HWY_PAYLOAD_I64);
	int64_t begin = p.cpu;
	program_blocks(&p, 1000);
	for (int step = 0; step < STEPS; step++) {
		p.cpu = begin + step * MS(10);
		program_step(&p, step);
		program_launch(&p, 0, "gemm_tensorop", busy * 1000);
		program_sync(&p, 0);
		for (int half = 0; half < 2; half++) {
			int64_t time = begin + step * MS(10) + half * MS(5);
			bool is_busy = half * 5 < busy;
			double value = !is_busy ? 345e6 : step >= from ? mhz * 1e6 : 1980e6;
			metric_sample(b, clock, time, value);
			metric_sample(b, reasons, time,
				      (double)(!is_busy       ? REASON_IDLE
					       : step >= from ? bits
							      : 0));
		}
	}
	p.cpu = begin + STEPS * MS(10);
	hwy_add_property(b, "gpu.0.most_sm_clock_hz", "1980000000");
	hwy_add_property(b, "gpu.0.power_limit_mw", "700000");
	return p;
}

static void a_power_limit_costs_what_the_clock_lost(void **state)
{
	struct program p = clocked(10, 1485, REASON_POWER_CAP, 0);
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_finding *finding = accused(&d, "throttled");
	assert_non_null(finding);
	/* A quarter of the clock, of steps that are busy all the time. */
	assert_true(fabs(finding->share - 0.25) < 0.01);
	assert_non_null(strstr(finding->says, "1,485 MHz"));
	assert_non_null(strstr(finding->says, "the power limit of 700 W"));
	assert_non_null(strstr(finding->says, "is its highest"));
	assert_int_equal(finding->confidence, HWY_LOW);
	assert_non_null(strstr(finding->advice, "nvidia-smi -pl"));
	diagnosed_free(&d);
}

static void a_clock_that_was_reached_before_makes_it_sure(void **state)
{
	struct program p = clocked(10, 1485, REASON_SW_THERMAL, STEPS / 2);
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_finding *finding = accused(&d, "throttled");
	assert_non_null(finding);
	assert_int_equal(finding->confidence, HWY_MEDIUM);
	assert_non_null(strstr(finding->says, "heat"));
	diagnosed_free(&d);
}

static void a_clock_that_is_low_only_while_the_gpu_idles_is_innocent(void **state)
{
	struct program p = clocked(5, 1980, 0, 0);
	struct diagnosed d = program_diagnose(&p);
	assert_null(accused(&d, "throttled"));
	const struct hwy_finding *finding = acquitted(&d, "throttled");
	assert_non_null(finding);
	assert_non_null(strstr(finding->says, "345 MHz while the GPU has nothing to do"));
	diagnosed_free(&d);
}

static void a_low_clock_without_a_reason_is_not_accused(void **state)
{
	struct program p = clocked(10, 1485, 0, 0);
	struct diagnosed d = program_diagnose(&p);
	assert_null(accused(&d, "throttled"));
	diagnosed_free(&d);
}

static void a_limit_that_costs_little_is_acquitted(void **state)
{
	struct program p = clocked(10, 1970, REASON_POWER_CAP, 0);
	struct diagnosed d = program_diagnose(&p);
	assert_null(accused(&d, "throttled"));
	assert_non_null(acquitted(&d, "throttled"));
	diagnosed_free(&d);
}

static void without_clocks_nothing_is_said(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 100);
		program_sync(&p, 0);
	}
	struct diagnosed d = program_diagnose(&p);
	assert_null(accused(&d, "throttled"));
	assert_null(acquitted(&d, "throttled"));
	diagnosed_free(&d);
}

static void the_clock_while_busy_leaves_idle_time_out(void **state)
{
	struct program p = clocked(5, 1600, 0, 0);
	struct diagnosed d = program_diagnose(&p);
	struct hwy_interval all = {INT64_MIN / 4, INT64_MAX / 4};
	double busy = device_clocks_busy(&d.analysis.flow, NULL, all);
	/* Launches begin some us after the sample, so that a kernel reaches a little into the next sample. */
	assert_true(busy > 1590e6 && busy <= 1600e6);
	const bool none[] = {false};
	assert_true(device_clocks_busy(&d.analysis.flow, none, all) <= 0);
	struct hwy_metrics metrics;
	struct device_clocks clocks;
	metrics_open(&metrics, d.trace);
	assert_true(device_clocks_read(&clocks, &metrics, 0));
	assert_int_equal(clocks.sm.samples, 2 * STEPS);
	assert_true(clocks.sm.least == 345e6 && clocks.sm.most == 1600e6);
	assert_true(clocks.most_sm == 1980e6 && clocks.power_limit == 700);
	assert_int_equal(clocks.lost[LIMIT_POWER_CAP], HWY_NONE);
	assert_int_equal(clocks.power.samples, 0);
	assert_false(device_clocks_read(&clocks, &metrics, 1));
	metrics_close(&metrics);
	diagnosed_free(&d);
}

/* The recording lasts for 0.4 s. */
static void more_time_than_was_recorded_cannot_be_lost(void **state)
{
	struct program p = clocked(5, 1600, 0, 0);
	hwy_add_property(p.builder, "gpu.0.lost.power_cap_ns", "9223372036854775807");
	hwy_add_property(p.builder, "gpu.0.lost.sync_boost_ns", "1500000000");
	hwy_add_property(p.builder, "gpu.0.lost.sw_thermal_ns", "1350000000");
	hwy_add_property(p.builder, "gpu.0.lost.hw_thermal_ns", "300000000");
	struct diagnosed d = program_diagnose(&p);
	struct hwy_metrics metrics;
	struct device_clocks clocks;
	metrics_open(&metrics, d.trace);
	assert_true(device_clocks_read(&clocks, &metrics, 0));
	assert_int_equal(clocks.lost[LIMIT_POWER_CAP], HWY_NONE);
	assert_int_equal(clocks.lost[LIMIT_SYNC_BOOST], HWY_NONE);
	assert_int_equal(clocks.lost[LIMIT_SW_THERMAL], 1350000000);
	assert_int_equal(clocks.lost[LIMIT_HW_THERMAL], 300000000);
	metrics_close(&metrics);
	diagnosed_free(&d);
}

/* A driver that is lost gives no more samples, and the program runs on. */
static void time_is_lost_behind_the_last_sample_too(void **state)
{
	struct program p = clocked(5, 1600, 0, 0);
	program_launch(&p, 0, "long", 5000000);
	program_sync(&p, 0);
	hwy_add_property(p.builder, "gpu.0.lost.power_cap_ns", "5000000000");
	hwy_add_property(p.builder, "gpu.0.lost.sync_boost_ns", "7000000000");
	struct diagnosed d = program_diagnose(&p);
	struct hwy_metrics metrics;
	struct device_clocks clocks;
	metrics_open(&metrics, d.trace);
	assert_true(device_clocks_read(&clocks, &metrics, 0));
	assert_int_equal(clocks.lost[LIMIT_POWER_CAP], 5000000000);
	assert_int_equal(clocks.lost[LIMIT_SYNC_BOOST], HWY_NONE);
	metrics_close(&metrics);
	diagnosed_free(&d);
}

static void busy_times_are_disjoint_in_order_and_inside_the_window(void **state)
{
	struct program p = program_new();
	for (int step = 0; step < STEPS; step++) {
		program_launch(&p, 0, "a", 50 + step);
		program_launch(&p, 1, "b", 30);
		program_compute(&p, 7 * step % 60);
	}
	struct diagnosed d = program_diagnose(&p);
	const struct hwy_flow *flow = &d.analysis.flow;
	struct hwy_interval window = {US(1500), US(2500)};
	uint32_t n;
	struct hwy_interval *times = device_clocks_busy_times(flow, 0, window, &n);
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(times[i].from < times[i].to);
		assert_true(times[i].from >= window.from && times[i].to <= window.to);
		assert_true(i == 0 || times[i - 1].to < times[i].from);
	}
	for (uint32_t o = 0; o < flow->n_ops;
	     o++) { /* each piece of work lies inside one of them */
		int64_t from = flow->ops[o].start, to = flow->ops[o].end;
		if (from < window.from || to > window.to || from == to)
			continue;
		bool is_inside = false;
		for (uint32_t i = 0; i < n; i++)
			is_inside |= times[i].from <= from && times[i].to >= to;
		assert_true(is_inside);
	}
	free(times);
	diagnosed_free(&d);
}

/* ---- two runs ------------------------------------------------------------------------------------- */

/* What the first note of a comparison of two such runs says follows; NULL where there is no note about clocks. */
static bool clocks_are_noted(double before, double after, char *words, size_t size)
{
	struct compare_summary runs[2];
	struct diagnosed d[2];
	struct hwy_err err = {""};
	double mhz[2] = {before, after};
	for (int i = 0; i < 2; i++) {
		struct program p = clocked(10, mhz[i], 0, 0);
		d[i] = program_diagnose(&p);
		assert_true(summary_make(&runs[i], i ? "b.hwy" : "a.hwy", &d[i].analysis,
					 &d[i].diagnosis, &err));
	}
	const struct compare_summary *first[] = {&runs[0]}, *second[] = {&runs[1]};
	struct compare_side a = {.runs = first, .n = 1}, b = {.runs = second, .n = 1};
	struct compare_diff diff;
	assert_true(diff_make(&diff, &a, &b, 0.02, &err));
	bool is_noted = false;
	for (uint32_t i = 0; i < diff.n_notes; i++)
		if (strcmp(diff.notes[i].what, "GPU clock while busy") == 0) {
			is_noted = true;
			snprintf(words, size, "%s, %s: %s", diff.notes[i].before,
				 diff.notes[i].after, diff.notes[i].so);
		}
	diff_free(&diff);
	for (int i = 0; i < 2; i++) {
		summary_free(&runs[i]);
		diagnosed_free(&d[i]);
	}
	return is_noted;
}

static void runs_at_other_clocks_are_said_to_compare_badly(void **state)
{
	char words[256] = "";
	assert_true(clocks_are_noted(1980, 1485, words, sizeof words));
	assert_string_equal(words, "1,980 MHz, 1,485 MHz: the comparison says little");
	assert_false(clocks_are_noted(1980, 1950, words, sizeof words));
}

static void a_baseline_keeps_the_clock(void **state)
{
	struct program p = clocked(10, 1485, 0, 0);
	struct diagnosed d = program_diagnose(&p);
	struct compare_summary run;
	struct hwy_err err = {""};
	assert_true(summary_make(&run, "a.hwy", &d.analysis, &d.diagnosis, &err));
	assert_true(run.phases[0].busy_clock_hz > 1480000000 &&
		    run.phases[0].busy_clock_hz <= 1485000000);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	summary_write(out, &run, 1);
	fclose(out);
	uint32_t n = 0;
	struct compare_summary *back = summary_read("b.json", text, length, &n, &err);
	assert_non_null(back);
	assert_int_equal(back->phases[0].busy_clock_hz, run.phases[0].busy_clock_hz);
	summary_free(back);
	free(back);
	free(text);
	summary_free(&run);
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_limit_costs_what_the_clock_lost),
		cmocka_unit_test(a_clock_that_was_reached_before_makes_it_sure),
		cmocka_unit_test(a_clock_that_is_low_only_while_the_gpu_idles_is_innocent),
		cmocka_unit_test(a_low_clock_without_a_reason_is_not_accused),
		cmocka_unit_test(a_limit_that_costs_little_is_acquitted),
		cmocka_unit_test(without_clocks_nothing_is_said),
		cmocka_unit_test(the_clock_while_busy_leaves_idle_time_out),
		cmocka_unit_test(more_time_than_was_recorded_cannot_be_lost),
		cmocka_unit_test(time_is_lost_behind_the_last_sample_too),
		cmocka_unit_test(busy_times_are_disjoint_in_order_and_inside_the_window),
		cmocka_unit_test(runs_at_other_clocks_are_said_to_compare_badly),
		cmocka_unit_test(a_baseline_keeps_the_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
