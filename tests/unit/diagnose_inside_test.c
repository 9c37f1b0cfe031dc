/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose_inside_test.c - planted programs that differ inside the GPU: the verdict's second word, and the findings few-sms,
 * memory-bound, tensor-idle, link-saturated and low-occupancy, each with a program that has it and one that has not. */
#include <math.h>

#include "make_metrics.h"
#include "program.h"

#include "analyze/inside_device.h"
#include "whatif/fusion.h"

enum { STEPS = 20 };

struct levels { /* what the counters say all of the time, in %; below 0: not recorded */
	double sms, issue, tensor, warps, dram_read, dram_write, pcie_rx;
};

static void put_levels(struct program *p, struct levels levels)
{
	const struct {
		const char *name;
		double value;
	} metrics[] = {
		{"SMs Active [Throughput %]", levels.sms},
		{"SM Issue [Throughput %]", levels.issue},
		{"Tensor Active [Throughput %]", levels.tensor},
		{"Compute Warps in Flight [Throughput %]", levels.warps},
		{"DRAM Read Bandwidth [Throughput %]", levels.dram_read},
		{"DRAM Write Bandwidth [Throughput %]", levels.dram_write},
		{"PCIe RX Throughput [Throughput %]", levels.pcie_rx},
	};
	int64_t end = p->cpu;
	for (int s = 0; s < PROGRAM_STREAMS; s++)
		end = p->stream_free[s] > end ? p->stream_free[s] : end;
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
		if (metrics[i].value >= 0)
			metric_level(p->builder, p->device, metrics[i].name, 0, end,
				     metrics[i].value);
}

/* Steps of eight kernels of 500 us, which keep the device busy. */
static struct program busy_program(const char *name, int64_t blocks)
{
	struct program p = program_new();
	program_blocks(&p, blocks);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 8; k++)
			program_launch(&p, 0, name, 500);
	}
	program_end_step(&p);
	return p;
}

static bool says(const struct diagnosed *d, const char *part)
{
	return strstr(d->diagnosis.verdict.says, part) != NULL;
}

static const char *cannot(const struct diagnosed *d, const char *part)
{
	for (uint32_t i = 0; i < d->diagnosis.n_cannot; i++)
		if (strstr(d->diagnosis.cannot[i].what, part))
			return d->diagnosis.cannot[i].because;
	return NULL;
}

static void expect_second(struct levels levels, const char *word)
{
	struct program p = busy_program("work", 1000);
	put_levels(&p, levels);
	struct diagnosed d = program_diagnose(&p);
	assert_string_equal(verdict_words[d.diagnosis.verdict.word], "gpu");
	assert_string_equal(inside_words[d.diagnosis.verdict.inside.word], word);
	diagnosed_free(&d);
}

/* ---- the second word ------------------------------------------------------------------------------------ */

static void each_second_word_has_its_counters(void **state)
{
	expect_second((struct levels){98, 85, 0, 90, 5, 5, 0}, "compute");
	expect_second((struct levels){98, 20, 65, 20, 20, 5, 0}, "compute"); /* tensor cores */
	expect_second((struct levels){98, 15, 0, 80, 50, 30, 0}, "memory");
	expect_second((struct levels){6, 5, 0, 3, 1, 1, 0}, "occupancy");
	expect_second((struct levels){95, 20, 0, 12, 10, 5, 0}, "occupancy");
	expect_second((struct levels){95, 20, 0, 70, 10, 5, 0}, "latency");
	expect_second((struct levels){95, 20, 0, 70, 10, 5, 92}, "communication");
}

static void without_the_counters_that_decide_there_is_no_second_word(void **state)
{
	expect_second((struct levels){98, 85, 0, 90, -1, -1, 0}, "unknown");
	expect_second((struct levels){98, -1, -1, 90, 5, 5, 0}, "unknown");
	struct program p = busy_program("work", 1000);
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.diagnosis.verdict.inside.word, INSIDE_UNKNOWN);
	const char *because = cannot(&d, "what holds the kernels back");
	assert_non_null(because);
	assert_non_null(strstr(because, "--gpu-metrics-devices=all"));
	diagnosed_free(&d);
}

static void a_verdict_says_its_second_word_with_the_numbers(void **state)
{
	struct program p = busy_program("work", 1000);
	put_levels(&p, (struct levels){98, 15, 0, 80, 50, 30, 0});
	struct diagnosed d = program_diagnose(&p);
	assert_true(says(&d, "the limit is memory") && says(&d, "DRAM 80 %"));
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, memory");
	assert_int_equal(d.diagnosis.verdict.inside.source, INSIDE_METRICS);
	assert_true(d.diagnosis.verdict.inside.shares[INSIDE_MEMORY] > 0.99);
	diagnosed_free(&d);
}

/* Half of the steps are bound by memory, the other half by computing. */
static void a_mixture_gets_no_second_word_but_its_parts(void **state)
{
	struct program p = busy_program("work", 1000);
	uint32_t issue = metric_lane_of(p.builder, p.device, "SM Issue", "%", HWY_PAYLOAD_DOUBLE);
	uint32_t dram =
		metric_lane_of(p.builder, p.device, "DRAM Read Bandwidth", "%", HWY_PAYLOAD_DOUBLE);
	metric_level(p.builder, p.device, "SMs Active", 0, p.stream_free[0], 99);
	for (int64_t time = 0; time < p.stream_free[0]; time += US(100)) {
		bool computes = time / US(100) % 2;
		metric_sample(p.builder, issue, time, computes ? 90 : 10);
		metric_sample(p.builder, dram, time, computes ? 10 : 90);
	}
	struct diagnosed d = program_diagnose(&p);
	assert_int_equal(d.diagnosis.verdict.inside.word, INSIDE_UNKNOWN);
	const char *because = cannot(&d, "what holds the kernels back");
	assert_non_null(because);
	assert_non_null(strstr(because, "compute 50 %"));
	assert_non_null(strstr(because, "memory 50 %"));
	diagnosed_free(&d);
}

static void add_measure(struct program *p, uint32_t measured, const char *metric, double value)
{
	uint32_t row = hwy_new_measures(p->builder);
	struct hwy_measure *measure = &program_trace(p)->measures[row];
	measure->measured = measured;
	measure->metric = hwy_text_id(p->builder, metric);
	memcpy(&measure->value, &value, sizeof value);
}

static void measured_kernels_give_the_word_where_nothing_was_sampled(void **state)
{
	struct program p = busy_program("work", 1000);
	uint32_t measured = hwy_new_measured(p.builder);
	program_trace(&p)->measured[measured] = (struct hwy_measured){
		.kernel = hwy_text_id(p.builder, "work"),
		.shape = p.shape - 1,
		.device = p.device,
		.ordinal = 0,
		.launches = 1,
		.source = hwy_text_id(p.builder, "headway"),
	};
	add_measure(&p, measured, "gpu__time_duration.sum", 500000);
	add_measure(&p, measured, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 83);
	add_measure(&p, measured, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 20);
	add_measure(&p, measured, "sm__warps_active.avg.pct_of_peak_sustained_active", 80);
	struct diagnosed d = program_diagnose(&p);
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, memory");
	assert_int_equal(d.diagnosis.verdict.inside.source, INSIDE_MEASURED);
	diagnosed_free(&d);
}

static struct diagnosed sampled_in_part(int64_t of)
{
	static const char *const names[] = {"SMs Active", "SM Issue", "DRAM Read Bandwidth"};
	static const double values[] = {98, 10, 90};
	struct program p = busy_program("work", 1000);
	for (int i = 0; i < 3; i++)
		metric_level(p.builder, p.device, names[i], 0, p.stream_free[0] / of, values[i]);
	return program_diagnose(&p);
}

static void samples_of_a_small_part_do_not_tell_of_the_whole(void **state)
{
	struct diagnosed d = sampled_in_part(16);
	assert_int_equal(d.diagnosis.verdict.inside.word, INSIDE_UNKNOWN);
	const char *because = cannot(&d, "what holds the kernels back");
	assert_non_null(because);
	assert_non_null(strstr(because, "too little"));
	diagnosed_free(&d);
	d = sampled_in_part(3);
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, memory");
	assert_true(says(&d, "compute time that was sampled"));
	diagnosed_free(&d);
	d = sampled_in_part(1);
	assert_false(says(&d, "that was sampled"));
	diagnosed_free(&d);
}

/* Samples count the whole device: what they show while the program does nothing is the work of others. */
static void samples_of_a_gpu_that_others_use_say_nothing_about_the_program(void **state)
{
	static const double idle_sms[] = {2, 95};
	for (int others = 0; others < 2; others++) {
		struct program p = program_new();
		program_blocks(&p, 1000);
		uint32_t sms =
			metric_lane_of(p.builder, p.device, "SMs Active", "%", HWY_PAYLOAD_DOUBLE);
		for (int step = 0; step < STEPS; step++) {
			program_step(&p, step);
			int64_t from = p.cpu, end = program_launch(&p, 0, "work", 8000);
			program_sync(&p, 0);
			program_compute(&p, 600);
			for (int64_t time = from; time < p.cpu; time += US(100))
				metric_sample(p.builder, sms, time,
					      time < end ? 98 : idle_sms[others]);
		}
		program_end_step(&p);
		put_levels(&p, (struct levels){-1, 15, 0, 80, 45, 35, 0});
		struct diagnosed d = program_diagnose(&p);
		assert_string_equal(inside_words[d.diagnosis.verdict.inside.word],
				    others ? "unknown" : "memory");
		const char *because = cannot(&d, "what holds the kernels back");
		assert_true(others ? because && strstr(because, "others") : !because);
		diagnosed_free(&d);
	}
}

/* NVML's GPM has no count of instructions. */
static void a_sentence_has_no_number_that_is_not_known(void **state)
{
	struct program p = busy_program("my_matmul_kernel", 1000);
	put_levels(&p, (struct levels){95, -1, 0, 12, 5, 5, 0});
	metric_level(p.builder, p.device, "FP32 Active", 0, p.stream_free[0], 20);
	struct diagnosed d = program_diagnose(&p);
	assert_true(d.diagnosis.n > 0);
	for (uint32_t i = 0; i < d.diagnosis.n; i++)
		assert_null(strstr(d.diagnosis.findings[i].says, "nan"));
	diagnosed_free(&d);
}

static void kernels_beside_each_other_take_no_longer_than_the_step(void **state)
{
	struct program p = program_new();
	program_blocks(&p, 8);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 16; k++)
			program_launch(&p, k % 2, k % 2 ? "left" : "right", 500);
	}
	program_end_step(&p);
	put_levels(&p, (struct levels){16, 7, 0, 4, 0, 0, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "few-sms");
	assert_null(strstr(accused(&d, "few-sms")->says, "8.0"));
	diagnosed_free(&d);
}

/* ---- a kernel that never ends ----------------------------------------------------------------------------- */

static struct program persistent_program(void)
{
	struct program p = program_new();
	program_blocks(&p, 1000);
	program_launch(&p, 0, "serve", 50000);
	program_sync(&p, 0);
	return p;
}

static void a_kernel_that_never_ends_is_not_healthy(void **state)
{
	struct program p = persistent_program();
	struct diagnosed d = program_diagnose(&p);
	assert_string_equal(verdict_words[d.diagnosis.verdict.word], "gpu");
	assert_true(d.diagnosis.verdict.is_opaque);
	assert_true(says(&d, "says nothing about"));
	assert_non_null(cannot(&d, "whether the device works or waits"));
	assert_false(d.diagnosis.outlooks[d.analysis.phases.main].is_known);
	diagnosed_free(&d);
}

static void counters_see_through_a_kernel_that_never_ends(void **state)
{
	struct program p = persistent_program();
	put_levels(&p, (struct levels){3, 1, 0, 2, 0, 0, 0});
	struct diagnosed d = program_diagnose(&p);
	assert_false(d.diagnosis.verdict.is_opaque);
	assert_null(cannot(&d, "whether the device works or waits"));
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, occupancy");
	ASSERT_ACCUSED(&d, "few-sms");
	/* How long it would take on all multiprocessors is not known: it waits for work. */
	assert_false(accused(&d, "few-sms")->predicted.is_known);
	assert_non_null(strstr(accused(&d, "few-sms")->says, "never ends"));
	diagnosed_free(&d);
}

/* ---- few multiprocessors ------------------------------------------------------------------------------------ */

static void a_grid_of_eight_blocks_is_found_once(void **state)
{
	struct program p = busy_program("smooth", 8);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "grid-too-small"); /* by the grid alone */
	ASSERT_NOT_ACCUSED(&d, "few-sms");
	const struct hwy_predicted *predicted = &accused(&d, "grid-too-small")->predicted;
	assert_true(predicted->is_known);
	/* 8 of 100 multiprocessors: 4 ms become 0.32 ms and the launches */
	assert_true(predicted->speedup > 9 && predicted->speedup < 12.6);
	diagnosed_free(&d);
	p = busy_program("smooth", 8);
	put_levels(&p, (struct levels){8, 7, 0, 4, 0, 0, 0});
	d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "few-sms");
	ASSERT_NOT_ACCUSED(&d, "grid-too-small");
	assert_true(accused(&d, "few-sms")->share > 0.85);
	assert_true(accused(&d, "few-sms")->predicted.is_known);
	assert_non_null(strstr(accused(&d, "few-sms")->says, "8 blocks"));
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, occupancy");
	diagnosed_free(&d);
}

static void a_memory_that_is_half_full_cannot_become_twelve_times_as_fast(void **state)
{
	struct program p = busy_program("smooth", 8);
	put_levels(&p, (struct levels){8, 7, 0, 4, 30, 15, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "few-sms");
	/* 45 % of the bandwidth now, 90 % at most */
	double speedup = accused(&d, "few-sms")->predicted.speedup;
	assert_true(speedup > 1.9 && speedup < 2.05);
	diagnosed_free(&d);
}

static void counters_acquit_small_grids_that_fill_the_gpu_together(void **state)
{
	struct program p = busy_program("smooth", 8);
	put_levels(&p, (struct levels){90, 70, 0, 80, 0, 0, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "grid-too-small");
	ASSERT_NOT_ACCUSED(&d, "few-sms");
	assert_non_null(acquitted(&d, "grid-too-small"));
	diagnosed_free(&d);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static const char *const pointwise[] = {
	"void at::native::vectorized_elementwise_kernel<4, MulFunctor>",
	"void at::native::vectorized_elementwise_kernel<4, AddFunctor>",
	"void at::native::vectorized_elementwise_kernel<4, sigmoid>",
	"void at::native::elementwise_kernel<128, 4, BinaryFunctor>",
};

/* Steps of a chain of four: three with one operand, 200 us, and one with two, 300 us. */
static struct program chain_program(const char *between)
{
	static const int64_t us[] = {200, 200, 200, 300};
	struct program p = program_new();
	program_blocks(&p, 10000);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 4; k++) {
			program_launch(&p, 0, pointwise[k], us[k]);
			if (between)
				program_launch(&p, 0, between, 300);
		}
	}
	program_end_step(&p);
	return p;
}

static void a_chain_of_elementwise_kernels_that_fills_the_memory_can_be_fused(void **state)
{
	struct program p = chain_program(NULL);
	put_levels(&p, (struct levels){98, 15, 0, 80, 45, 35, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "memory-bound");
	const struct hwy_predicted *predicted = &accused(&d, "memory-bound")->predicted;
	assert_true(predicted->is_known);
	assert_string_equal(predicted->edits, "fuse");
	/* 900 us become the first kernel and what the last takes longer: 300 us */
	assert_true(predicted->speedup > 2.8 && predicted->speedup < 3.1);
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, memory");
	diagnosed_free(&d);
}

static void a_chain_that_computes_is_not_bound_by_memory(void **state)
{
	struct program p = chain_program(NULL);
	put_levels(&p, (struct levels){98, 90, 0, 80, 10, 10, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "memory-bound");
	diagnosed_free(&d);
	p = chain_program(NULL); /* nothing says what holds it back */
	d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "memory-bound");
	diagnosed_free(&d);
}

static void elementwise_kernels_apart_are_no_chain(void **state)
{
	struct program p = chain_program("ampere_sgemm_128x64");
	put_levels(&p, (struct levels){98, 15, 0, 80, 45, 35, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "memory-bound");
	diagnosed_free(&d);
}

/* Steps of eight kernels whose names come again and again, as those of an optimizer that goes through its parameters. */
static struct program repeating_program(const char *const *names, int n)
{
	struct program p = program_new();
	program_blocks(&p, 10000);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		for (int k = 0; k < 8; k++)
			program_launch(&p, 0, names[k % n], 200);
	}
	program_end_step(&p);
	put_levels(&p, (struct levels){98, 15, 0, 80, 45, 35, 0});
	return p;
}

static void the_same_kernel_again_and_again_works_on_other_data(void **state)
{
	struct program p = repeating_program(pointwise, 1);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "memory-bound");
	diagnosed_free(&d);
	/* Pairs can be fused, each for itself. */
	p = repeating_program(pointwise, 2);
	d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "memory-bound");
	double speedup = accused(&d, "memory-bound")->predicted.speedup;
	assert_true(speedup > 1.9 && speedup < 2.1);
	assert_non_null(strstr(accused(&d, "memory-bound")->says, "4 chains"));
	diagnosed_free(&d);
}

static void what_a_compiler_has_fused_is_not_fused_again(void **state)
{
	static const char *const fused[] = {"triton_poi_fused_add_0", "triton_poi_fused_mul_1",
					    "triton_poi_fused_relu_2"};
	struct program p = repeating_program(fused, 3);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "memory-bound");
	diagnosed_free(&d);
}

/* One kernel never takes longer than the chain, nor less than its longest kernel. */
static void a_fused_kernel_takes_between_the_longest_and_all(void **state)
{
	struct dice dice = {3};
	for (int round = 0; round < 1000; round++) {
		int64_t lengths[8], sum = 0, most = 0;
		uint32_t n = 1 + (uint32_t)roll_below(&dice, 8);
		for (uint32_t i = 0; i < n; i++) {
			lengths[i] = 1 + roll_below(&dice, 1000);
			sum += lengths[i];
			most = lengths[i] > most ? lengths[i] : most;
		}
		int64_t fused = fusion_time(lengths, n);
		assert_true(fused <= sum && fused >= most);
	}
}

/* ---- tensor cores ------------------------------------------------------------------------------------------------ */

static void matrix_kernels_without_tensor_cores_are_found_by_counters(void **state)
{
	struct program p = busy_program("my_matmul_kernel", 1000);
	put_levels(&p, (struct levels){98, 80, 0.5, 50, 5, 5, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "tensor-idle");
	ASSERT_NOT_ACCUSED(&d, "no-tensor-cores");
	assert_string_equal(accused(&d, "tensor-idle")->predicted.edits,
			    "tensor-cores:my_matmul_kernel");
	assert_string_equal(verdict_name(&d.diagnosis.verdict, false).text, "gpu, compute");
	diagnosed_free(&d);
}

static void a_product_that_waits_for_memory_needs_no_tensor_cores(void **state)
{
	struct program p = busy_program("my_matmul_kernel", 1000);
	put_levels(&p, (struct levels){98, 20, 0.5, 50, 75, 5, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "tensor-idle");
	diagnosed_free(&d);
}

static void counters_are_surer_than_names_of_matrix_kernels(void **state)
{
	struct program p = busy_program("ampere_sgemm_128x64_tn", 1000);
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "no-tensor-cores");
	assert_int_equal(accused(&d, "no-tensor-cores")->confidence, HWY_MEDIUM);
	diagnosed_free(&d);
	p = busy_program("ampere_sgemm_128x64_tn", 1000);
	put_levels(&p, (struct levels){98, 80, 0, 50, 5, 5, 0});
	d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "no-tensor-cores");
	ASSERT_NOT_ACCUSED(&d, "tensor-idle");
	assert_int_equal(accused(&d, "no-tensor-cores")->confidence, HWY_HIGH);
	diagnosed_free(&d);
	p = busy_program("ampere_sgemm_128x64_tn", 1000);
	put_levels(&p, (struct levels){98, 30, 60, 20, 5, 5, 0});
	d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "no-tensor-cores");
	assert_non_null(acquitted(&d, "no-tensor-cores"));
	diagnosed_free(&d);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* Steps of a copy and a kernel of so many us; beside each other, or one after the other. */
static struct diagnosed copying_program(int64_t copy_us, int64_t us, int stream, double rx)
{
	struct program p = program_new();
	program_blocks(&p, 1000);
	for (int step = 0; step < STEPS; step++) {
		program_step(&p, step);
		program_copy(&p, stream, HWY_H2D, 1 << 24, HWY_MEM_PINNED, copy_us, false);
		program_launch(&p, 0, "work", us);
	}
	program_end_step(&p);
	put_levels(&p, (struct levels){90, 70, 0, 80, 5, 5, rx});
	return program_diagnose(&p);
}

static void a_full_link_costs_what_it_takes_longer_than_computing(void **state)
{
	struct diagnosed d = copying_program(1500, 500, 0, 92);
	ASSERT_ACCUSED(&d, "link-saturated");
	ASSERT_NOT_ACCUSED(&d, "copy-bandwidth");
	/* The link is full all of the time, the device computes a quarter of it. */
	double share = accused(&d, "link-saturated")->share;
	assert_true(share > 0.7 && share < 0.76);
	diagnosed_free(&d);
	d = copying_program(1500, 500, 0, 40);
	ASSERT_NOT_ACCUSED(&d, "link-saturated");
	assert_null(acquitted(&d, "link-saturated"));
	diagnosed_free(&d);
}

static void a_full_link_behind_kernels_is_acquitted(void **state)
{
	struct diagnosed d = copying_program(300, 1000, 1, 92);
	ASSERT_NOT_ACCUSED(&d, "link-saturated");
	assert_non_null(acquitted(&d, "link-saturated"));
	diagnosed_free(&d);
}

/* ---- warps --------------------------------------------------------------------------------------------------------- */

static void long_kernels_with_few_warps_are_found(void **state)
{
	struct program p = busy_program("walk", 1000);
	put_levels(&p, (struct levels){98, 15, 0, 10, 20, 5, 0});
	struct diagnosed d = program_diagnose(&p);
	ASSERT_ACCUSED(&d, "low-occupancy");
	/* Memory at 25 of 60 %: the gain is cut to half. */
	assert_true(fabs(accused(&d, "low-occupancy")->share - 0.5) < 0.02);
	diagnosed_free(&d);
	p = busy_program("walk", 1000); /* few warps, but they keep the pipes busy */
	put_levels(&p, (struct levels){98, 75, 0, 10, 20, 5, 0});
	d = program_diagnose(&p);
	ASSERT_NOT_ACCUSED(&d, "low-occupancy");
	diagnosed_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_second_word_has_its_counters),
		cmocka_unit_test(without_the_counters_that_decide_there_is_no_second_word),
		cmocka_unit_test(a_verdict_says_its_second_word_with_the_numbers),
		cmocka_unit_test(a_mixture_gets_no_second_word_but_its_parts),
		cmocka_unit_test(measured_kernels_give_the_word_where_nothing_was_sampled),
		cmocka_unit_test(samples_of_a_small_part_do_not_tell_of_the_whole),
		cmocka_unit_test(samples_of_a_gpu_that_others_use_say_nothing_about_the_program),
		cmocka_unit_test(a_sentence_has_no_number_that_is_not_known),
		cmocka_unit_test(kernels_beside_each_other_take_no_longer_than_the_step),
		cmocka_unit_test(the_same_kernel_again_and_again_works_on_other_data),
		cmocka_unit_test(what_a_compiler_has_fused_is_not_fused_again),
		cmocka_unit_test(a_kernel_that_never_ends_is_not_healthy),
		cmocka_unit_test(counters_see_through_a_kernel_that_never_ends),
		cmocka_unit_test(a_grid_of_eight_blocks_is_found_once),
		cmocka_unit_test(a_memory_that_is_half_full_cannot_become_twelve_times_as_fast),
		cmocka_unit_test(counters_acquit_small_grids_that_fill_the_gpu_together),
		cmocka_unit_test(a_chain_of_elementwise_kernels_that_fills_the_memory_can_be_fused),
		cmocka_unit_test(a_chain_that_computes_is_not_bound_by_memory),
		cmocka_unit_test(elementwise_kernels_apart_are_no_chain),
		cmocka_unit_test(a_fused_kernel_takes_between_the_longest_and_all),
		cmocka_unit_test(matrix_kernels_without_tensor_cores_are_found_by_counters),
		cmocka_unit_test(a_product_that_waits_for_memory_needs_no_tensor_cores),
		cmocka_unit_test(counters_are_surer_than_names_of_matrix_kernels),
		cmocka_unit_test(a_full_link_costs_what_it_takes_longer_than_computing),
		cmocka_unit_test(a_full_link_behind_kernels_is_acquitted),
		cmocka_unit_test(long_kernels_with_few_warps_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
