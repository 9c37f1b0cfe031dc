/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table_test.c - what counters say of a kernel: facts, bound, gain, sentence, advice; and which kernel they are of. */
#include "opened_whatif.h"

#include "ncu_text.h"

#include "analyze/kernel_table.h"
#include "analyze/measured_join.h"

#define NEAR(value, wanted) assert_true(fabs((value) - (wanted)) <= 1e-9 * (wanted))

/* ---- a measured kernel, counter by counter ------------------------------------------------------------------------ */

struct counted {
	struct hwy_builder *b;
	uint32_t device, measured;
};

static struct counted counted_new(const char *name, int64_t blocks, int64_t threads)
{
	struct counted c = {.b = hwy_builder_new()};
	struct hwy_trace *trace = hwy_builder_trace(c.b);
	c.device = hwy_new_devices(c.b);
	trace->devices[0].name = hwy_text_id(c.b, "NVIDIA H200");
	trace->devices[0].sms = 132;
	trace->devices[0].compute_major = 9;
	trace->devices[0].compute_minor = 0;
	struct hwy_shape shape = {.grid_x = blocks,
				  .grid_y = 1,
				  .grid_z = 1,
				  .block_x = threads,
				  .block_y = 1,
				  .block_z = 1,
				  .registers = 32};
	uint32_t at = hwy_add_shape(c.b, &shape);
	c.measured = hwy_new_measured(c.b);
	trace->measured[c.measured] = (struct hwy_measured){.kernel = hwy_text_id(c.b, name),
							    .shape = at,
							    .ordinal = HWY_NONE,
							    .launches = 1,
							    .source = hwy_text_id(c.b, "headway")};
	return c;
}

static void count(struct counted *c, const char *metric, double value)
{
	uint32_t i = hwy_new_measures(c->b);
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	hwy_builder_trace(c->b)->measures[i] = (struct hwy_measure){
		.measured = c->measured, .metric = hwy_text_id(c->b, metric), .value = bits};
}

/* The shares of SM, DRAM, L2 and L1 in percent, the occupancy, and the time in us. */
static void count_units(struct counted *c, double us, double sm, double dram, double l2, double l1,
			double occupancy)
{
	count(c, "gpu__time_duration.sum", us * 1000);
	count(c, "sm__throughput.avg.pct_of_peak_sustained_elapsed", sm);
	count(c, "dram__throughput.avg.pct_of_peak_sustained_elapsed", dram);
	count(c, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", l2);
	count(c, "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", l1);
	count(c, "sm__warps_active.avg.pct_of_peak_sustained_active", occupancy);
}

static struct hwy_trace *made;
static struct kernel_table table;

static const struct known_kernel *judged(struct counted *c)
{
	made = hwy_builder_finish(c->b, false);
	assert_true(kernel_table_make(&table, made, &err));
	assert_int_equal(table.n, 1);
	return &table.kernels[0];
}

static void forget(void)
{
	kernel_table_free(&table);
	hwy_trace_free(made);
}

/* ---- facts -------------------------------------------------------------------------------------------------------- */

static void counters_of_either_tool_become_the_same_facts(void **state)
{
	struct counted c = counted_new("k", 1000, 128);
	struct measures m;
	struct kernel_counters f;
	count(&c, "gpu__time_duration.sum", 2000);
	count(&c, "dram__sectors_read.sum", 10);
	count(&c, "dram__sectors_write.sum", 20);
	count(&c, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 3);
	count(&c, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 4);
	count(&c, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 5);
	count(&c, "sm__ops_path_tensor_src_fp16_dst_fp16.sum", 100);
	count(&c, "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 900);
	count(&c, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 320);
	count(&c, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 10);
	count(&c, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 31);
	count(&c, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 32);
	count(&c, "l1tex__throughput.avg.pct_of_peak_sustained_active", 80);
	count(&c, "sm__cycles_active.avg", 25);
	count(&c, "sm__cycles_elapsed.max", 100);
	count(&c, "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 6);
	count(&c, "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 1);
	count(&c, "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1);
	count(&c, "smsp__average_warp_latency_per_inst_issued.ratio", 8);
	made = hwy_builder_finish(c.b, false);
	measures_open(&m, made);
	kernel_counters_read(&m, 0, &f);
	NEAR(f.dram_read, 320);
	NEAR(f.dram_bytes, 960);
	NEAR(f.flop[PATH_FP32], 17);
	NEAR(f.flop[PATH_TENSOR_FP16], 1000);
	assert_true(isnan(f.flop[PATH_FP64]) && isnan(f.flop[PATH_TENSOR_BF16]));
	NEAR(counters_flop_sum(f.flop), 1017);
	NEAR(f.load_sectors, 32);
	NEAR(f.conflicts, 31.0 / 32);
	NEAR(f.of_l1, 0.2);
	NEAR(f.stalls[STALL_LONG_SCOREBOARD], 0.75);
	NEAR(f.stalls[STALL_BARRIER], 0.125);
	assert_true(isnan(f.of_sm) && isnan(f.occupancy));
	measures_close(&m);
	hwy_trace_free(made);
}

static struct kernel_counters read_facts(struct counted *c)
{
	struct measures m;
	struct kernel_counters f;
	made = hwy_builder_finish(c->b, false);
	measures_open(&m, made);
	kernel_counters_read(&m, 0, &f);
	measures_close(&m);
	hwy_trace_free(made);
	return f;
}

static void count_stall(struct counted *c, enum counters_stall stall, double warps)
{
	char name[128];
	snprintf(name, sizeof name, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio",
		 counters_stall_names[stall]);
	count(c, name, warps);
}

/* Application replay had read two reasons of a reduction that waits for memory: they are no shares of each other. */
static void some_reasons_are_shares_only_where_the_time_of_warps_is_known(void **state)
{
	struct counted c = counted_new("k", 1000, 128);
	count_stall(&c, STALL_BARRIER, 3);
	count_stall(&c, STALL_MIO_THROTTLE, 0.2);
	struct kernel_counters f = read_facts(&c);
	assert_true(isnan(f.stalls[STALL_BARRIER]) && isnan(f.stalls[STALL_MIO_THROTTLE]));
	assert_int_equal(kernel_counters_worst_stall(&f), COUNTERS_STALLS);
	c = counted_new("k", 1000, 128);
	count_stall(&c, STALL_BARRIER, 3);
	count(&c, "sm__warps_active.avg.pct_of_peak_sustained_active", 100); /* 64 warps */
	count(&c, "sm__inst_executed.avg.per_cycle_active", 0.5);
	f = read_facts(&c);
	NEAR(f.stalls[STALL_BARRIER], 3.0 / 128);
	/* Of the other 98 % one reason may have more. */
	assert_int_equal(kernel_counters_worst_stall(&f), COUNTERS_STALLS);
}

static void all_reasons_add_up_to_the_time_of_warps(void **state)
{
	struct counted c = counted_new("k", 1000, 128);
	double sum = 0;
	for (int i = 0; i < COUNTERS_STALLS; i++)
		count_stall(&c, (enum counters_stall)i, i == STALL_WAIT ? 50 : 1);
	struct kernel_counters f = read_facts(&c);
	for (int i = 0; i < COUNTERS_STALLS; i++)
		sum += f.stalls[i];
	NEAR(sum, 1.0);
	assert_int_equal(kernel_counters_worst_stall(&f), STALL_WAIT);
}

/* ---- bounds -------------------------------------------------------------------------------------------------------- */

static void the_busiest_unit_is_the_bound(void **state)
{
	static const struct {
		double sm, dram, l2, l1, occupancy;
		enum roofline_bound bound;
		enum kernel_level level;
	} rows[] = {
		{85, 10, 20, 40, 12, ROOFLINE_COMPUTE, LEVEL_L1},
		{30, 90, 50, 40, 90, ROOFLINE_MEMORY, LEVEL_DRAM},
		{30, 20, 75, 40, 90, ROOFLINE_MEMORY, LEVEL_L2},
		{30, 20, 45, 95, 90, ROOFLINE_MEMORY, LEVEL_L1},
		{30, 20, 15, 25, 90, ROOFLINE_LATENCY, LEVEL_L1},
		{30, 20, 15, 25, 15, ROOFLINE_OCCUPANCY, LEVEL_L1},
		{93, 20, 40, 95, 15, ROOFLINE_COMPUTE, LEVEL_L1},
		{85, 90, 40, 50, 90, ROOFLINE_MEMORY, LEVEL_DRAM},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct counted c = counted_new("k", 10000, 128);
		count_units(&c, 100, rows[i].sm, rows[i].dram, rows[i].l2, rows[i].l1,
			    rows[i].occupancy);
		const struct known_kernel *kernel = judged(&c);
		if (kernel->point.bound != rows[i].bound)
			fail_msg("row %zu: %s", i, roofline_bound_names[kernel->point.bound]);
		if (kernel->point.bound == ROOFLINE_MEMORY)
			assert_int_equal(kernel->level, rows[i].level);
		assert_true(*kernel->point.says);
		forget();
	}
}

static void a_grid_with_fewer_blocks_than_sms_is_bound_by_occupancy(void **state)
{
	struct counted c = counted_new("k", 8, 128);
	count_units(&c, 100, 3, 1, 1, 1, 50);
	const struct known_kernel *kernel = judged(&c);
	assert_int_equal(kernel->point.bound, ROOFLINE_OCCUPANCY);
	assert_non_null(strstr(kernel->point.says, "94 % of the SMs have no block"));
	assert_non_null(strstr(kernel->advice[0], "launch more blocks"));
	forget();
}

static void that_nothing_is_busy_is_said_only_where_all_was_read(void **state)
{
	static const char *const peak = ".avg.pct_of_peak_sustained_elapsed";
	static const char *const units[] = {"sm__throughput", "dram__throughput", "lts__t_sectors",
					    "l1tex__throughput"};
	for (int left_out = -1; left_out < 4; left_out++) {
		struct counted c = counted_new("k", 10000, 128);
		count(&c, "gpu__time_duration.sum", 100000);
		count(&c, "sm__warps_active.avg.pct_of_peak_sustained_active", 90);
		for (int i = 0; i < 4; i++) {
			char name[80];
			snprintf(name, sizeof name, "%s%s", units[i], peak);
			if (i != left_out)
				count(&c, name, 20);
		}
		const struct known_kernel *kernel = judged(&c);
		assert_int_equal(kernel->point.bound,
				 left_out < 0 ? ROOFLINE_LATENCY : ROOFLINE_UNKNOWN);
		if (left_out == 3)
			assert_non_null(strstr(kernel->point.says, "how busy L1"));
		forget();
	}
}

/* 2.6 TB/s are little for the L2 of a device whose memory carries 4.8 TB/s; 6 TB/s may be much. */
static void few_bytes_of_l2_tell_that_it_is_not_busy(void **state)
{
	for (int rate = 26; rate <= 60; rate += 34) {
		struct counted c = counted_new("k", 10000, 128);
		count(&c, "gpu__time_duration.sum", 100000);
		count(&c, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 12);
		count(&c, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 54);
		count(&c, "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 8);
		count(&c, "sm__warps_active.avg.pct_of_peak_sustained_active", 97);
		count(&c, "lts__t_bytes.sum", rate * 1e11 * 100e-6);
		assert_int_equal(judged(&c)->point.bound,
				 rate == 26 ? ROOFLINE_LATENCY : ROOFLINE_UNKNOWN);
		forget();
	}
}

static void few_warps_on_the_tensor_cores_are_latency(void **state)
{
	struct counted c = counted_new("k", 10000, 128);
	count_units(&c, 100, 45, 10, 10, 20, 12);
	count(&c, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 40);
	assert_int_equal(judged(&c)->point.bound, ROOFLINE_LATENCY);
	forget();
}

static void without_the_counter_of_the_sms_their_units_stand_in(void **state)
{
	struct counted c = counted_new("k", 10000, 128);
	count(&c, "gpu__time_duration.sum", 100000);
	count(&c, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 10);
	count(&c, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 80);
	assert_int_equal(judged(&c)->point.bound, ROOFLINE_COMPUTE);
	forget();
	c = counted_new("k", 10000, 128);
	count(&c, "gpu__time_duration.sum", 100000);
	count(&c, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 10);
	const struct known_kernel *kernel = judged(&c);
	assert_int_equal(kernel->point.bound, ROOFLINE_UNKNOWN);
	forget();
}

/* A program of 20 steps with kernels "big" (100 us) and "small" (10 us), each with its shape. */
static struct program two_kernels(void)
{
	struct program p = program_new();
	struct hwy_shape big = {.grid_x = 500,
				.grid_y = 1,
				.grid_z = 1,
				.block_x = 256,
				.block_y = 1,
				.block_z = 1};
	struct hwy_shape other = {
		.grid_x = 7, .grid_y = 1, .grid_z = 1, .block_x = 64, .block_y = 1, .block_z = 1};
	for (int step = 0; step < 20; step++) {
		program_step(&p, step);
		p.shape = hwy_add_shape(p.builder, &big) + 1;
		program_launch(&p, 0, "void big<4>(float*)", 100);
		p.shape = hwy_add_shape(p.builder, &other) + 1;
		program_launch(&p, 0, "void small(int)", 10);
	}
	return p;
}

static void a_counter_that_no_device_can_have_is_not_known(void **state)
{
	struct counted c = counted_new("k", 1000, 256);
	struct measures m;
	struct kernel_counters f;
	count(&c, "gpu__time_duration.sum", 1e-300);
	count(&c, "dram__bytes_read.sum", -5);
	count(&c, "dram__bytes_write.sum", INFINITY);
	count(&c, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 1e6);
	count(&c, "l1tex__t_sector_hit_rate.pct", 100);
	made = hwy_builder_finish(c.b, false);
	measures_open(&m, made);
	kernel_counters_read(&m, 0, &f);
	assert_true(isnan(f.ns) && isnan(f.dram_read) && isnan(f.dram_written) && isnan(f.of_sm));
	NEAR(f.l1_hit, 1);
	for (size_t i = 0; i < sizeof f / sizeof(double); i++)
		assert_true(isinf(((double *)&f)[i]) == 0);
	measures_close(&m);
	hwy_trace_free(made);
}

static void a_share_of_more_than_twice_the_whole_is_not_known(void **state)
{
	struct counted c = counted_new("k", 1000, 256);
	count_units(&c, 100, 201, 130, 900, 201, 500);
	count(&c, "smsp__issue_active.avg.per_cycle_active", 12.5);
	count(&c, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 3e9);
	count(&c, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 32);
	count(&c, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 300);
	count(&c, "sm__maximum_warps_per_active_cycle_pct", 300);
	count(&c, "l1tex__t_sector_hit_rate.pct", 300);
	count(&c, "lts__t_sector_hit_rate.pct", 101);
	struct kernel_counters f = judged(&c)->counters;
	assert_true(isnan(f.of_sm) && isnan(f.of_l2) && isnan(f.of_l1) && isnan(f.occupancy));
	assert_true(isnan(f.issue) && isnan(f.load_used) && isnan(f.of_tensor));
	assert_true(isnan(f.theoretical_occupancy) && isnan(f.l1_hit));
	NEAR(f.of_dram, 1.3);
	NEAR(f.store_used, 1);
	NEAR(f.l2_hit, 1.01);
	forget();
}

static void passes_of_l1_stand_in_for_its_throughput(void **state)
{
	struct counted c = counted_new("k", 10000, 128);
	struct measures m;
	struct kernel_counters f;
	count(&c, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 132 * 80);
	count(&c, "l1tex__t_bytes.sum", 132 * 10 * 128);
	count(&c, "sm__cycles_elapsed.max", 100);
	made = hwy_builder_finish(c.b, false);
	measures_open(&m, made);
	kernel_counters_read(&m, 0, &f);
	NEAR(f.of_l1, 0.9);
	measures_close(&m);
	hwy_trace_free(made);
}

/* On H200 L2 as a whole is at 80 % of its peak in a gather that reaches 55 % of DRAM's. */
static void l2_that_dram_keeps_busy_is_no_bound(void **state)
{
	for (int dram = 10; dram <= 55; dram += 45) {
		struct counted c = counted_new("k", 10000, 128);
		count(&c, "gpu__time_duration.sum", 100000);
		count(&c, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 5);
		count(&c, "dram__throughput.avg.pct_of_peak_sustained_elapsed", dram);
		count(&c, "lts__throughput.avg.pct_of_peak_sustained_elapsed", 80);
		count(&c, "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 10);
		count(&c, "sm__warps_active.avg.pct_of_peak_sustained_active", 80);
		assert_int_equal(judged(&c)->point.bound,
				 dram == 10 ? ROOFLINE_MEMORY : ROOFLINE_LATENCY);
		forget();
	}
}

static void the_counters_peak_of_tensor_cores_is_halved(void **state)
{
	struct counted c = counted_new("gemm", 10000, 128);
	count_units(&c, 100, 90, 10, 10, 20, 12);
	count(&c, "sm__cycles_elapsed.avg.per_second", 1.83e9);
	count(&c, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 8e10);
	count(&c, "sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained", 8192 * 132);
	const struct known_kernel *kernel = judged(&c);
	NEAR(kernel->peak[PATH_TENSOR_BF16], 4096 * 132 * 1.83e9);
	forget();
}

static void a_launch_as_short_as_an_empty_one_needs_no_counters(void **state)
{
	struct program p = program_new();
	struct hwy_shape shape = {.grid_x = 500,
				  .grid_y = 1,
				  .grid_z = 1,
				  .block_x = 256,
				  .block_y = 1,
				  .block_z = 1};
	p.shape = hwy_add_shape(p.builder, &shape) + 1;
	for (int step = 0; step < 5; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "brief", 1);
		program_launch(&p, 0, "long", 9);
	}
	program_end_step(&p);
	struct hwy_trace *report = hwy_builder_finish(p.builder, false);
	assert_true(kernel_table_make(&table, report, &err));
	assert_int_equal(kernel_table_find(&table, "brief", &err)->point.bound, ROOFLINE_LATENCY);
	assert_int_equal(kernel_table_find(&table, "long", &err)->point.bound, ROOFLINE_UNKNOWN);
	kernel_table_free(&table);
	hwy_trace_free(report);
}

static void a_tiny_grid_needs_no_counters(void **state)
{
	struct program p = two_kernels();
	program_end_step(&p);
	struct hwy_trace *report = hwy_builder_finish(p.builder, false);
	assert_true(kernel_table_make(&table, report, &err));
	assert_int_equal(kernel_table_find(&table, "small", &err)->point.bound, ROOFLINE_OCCUPANCY);
	assert_false(kernel_table_find(&table, "small", &err)->has_gain);
	assert_int_equal(kernel_table_find(&table, "big", &err)->point.bound, ROOFLINE_UNKNOWN);
	kernel_table_free(&table);
	hwy_trace_free(report);
}

/* ---- operations ---------------------------------------------------------------------------------------------------- */

#define THREADS(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"

static void the_precision_is_that_of_most_operations(void **state)
{
	struct counted c = counted_new("k", 10000, 128);
	count_units(&c, 100, 80, 10, 10, 20, 50);
	count(&c, THREADS("ffma"), 1e9);
	count(&c, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 3e9);
	const struct known_kernel *kernel = judged(&c);
	assert_int_equal(kernel->point.precision, HWY_BF16);
	assert_true(kernel->point.tensor);
	forget();
	c = counted_new("k", 10000, 128);
	count_units(&c, 100, 80, 10, 10, 20, 50);
	count(&c, THREADS("ffma"), 2e9);
	count(&c, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 3e9);
	assert_false(judged(&c)->point.tensor);
	forget();
}

/* A kernel of 512 threads that load one constant each with HFMA2 computes nothing in fp16. */
static void constants_and_conversions_are_no_arithmetic(void **state)
{
	struct counted c = counted_new("k", 4, 128);
	count_units(&c, 100, 1, 1, 1, 1, 6);
	count(&c, "dram__bytes.sum", 1e6);
	count(&c, THREADS("ffma"), 0);
	count(&c, THREADS("hfma"), 512);
	const struct known_kernel *kernel = judged(&c);
	NEAR(kernel->counters.flop[PATH_FP16], 1024);
	assert_true(kernel->point.flop == 0 && kernel->point.intensity == 0);
	forget();
	c = counted_new("k", 4000, 128);
	count_units(&c, 100, 70, 1, 1, 1, 60);
	count(&c, THREADS("ffma"), 1e6);
	count(&c, THREADS("hfma"), 4e9); /* 80 of 134 TFLOP/s */
	assert_int_equal(judged(&c)->point.precision, HWY_FP16);
	forget();
}

/* ---- gains --------------------------------------------------------------------------------------------------------- */

static void the_gain_is_what_the_nearer_roof_leaves(void **state)
{
	struct counted c = counted_new("k", 10000, 128);
	count_units(&c, 100, 30, 40, 20, 20, 90);
	count(&c, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 1000);
	const struct known_kernel *kernel = judged(&c);
	assert_true(kernel->has_gain);
	assert_int_equal(kernel->point.ns, 100000);
	assert_int_equal(kernel->point.gain_ns, 60000);
	NEAR(kernel->point.of_peak, 0.4);
	forget();
}

static void no_launch_is_predicted_to_take_less_than_an_empty_one(void **state)
{
	struct counted c = counted_new("k", 10000, 128);
	count_units(&c, 2, 1, 1, 1, 1, 90);
	const struct known_kernel *kernel = judged(&c);
	assert_int_equal(kernel->point.gain_ns, 1000);
	forget();
}

/* Measured launches are slower than recorded ones: a share of the measured time must not go below the floor. */
static void no_launch_of_a_recording_is_predicted_below_the_shortest_ones(void **state)
{
	struct program p = program_new();
	struct hwy_shape shape = {.grid_x = 500,
				  .grid_y = 1,
				  .grid_z = 1,
				  .block_x = 256,
				  .block_y = 1,
				  .block_z = 1};
	p.shape = hwy_add_shape(p.builder, &shape) + 1;
	for (int step = 0; step < 10; step++) {
		program_step(&p, step);
		program_launch(&p, 0, "k", 3);
		program_launch(&p, 0, "empty", 2);
	}
	program_end_step(&p);
	struct counted c = {.b = p.builder, .measured = hwy_new_measured(p.builder)};
	struct hwy_trace *trace = hwy_builder_trace(p.builder);
	trace->measured[c.measured] = (struct hwy_measured){.kernel = hwy_text_id(c.b, "k"),
							    .shape = 0,
							    .ordinal = HWY_NONE,
							    .launches = 1,
							    .source = hwy_text_id(c.b, "headway")};
	count_units(&c, 6, 1, 1, 1, 1, 90);
	made = hwy_builder_finish(c.b, false);
	assert_true(kernel_table_make(&table, made, &err));
	const struct known_kernel *kernel = kernel_table_find(&table, "k", &err);
	assert_non_null(kernel);
	assert_true(kernel->has_gain);
	assert_int_equal(table.floor_ns, 2000);
	assert_int_equal(kernel->point.count, 10);
	assert_int_equal(kernel->point.gain_ns, 10 * 1000);
	forget();
}

static const struct known_kernel *judged_endless(double sm)
{
	struct program p = program_new();
	struct hwy_shape shape = {
		.grid_x = 4, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1};
	p.shape = hwy_add_shape(p.builder, &shape) + 1;
	program_launch(&p, 0, "serve", 500000);
	struct counted c = {.b = p.builder, .measured = hwy_new_measured(p.builder)};
	struct hwy_trace *trace = hwy_builder_trace(p.builder);
	trace->measured[c.measured] = (struct hwy_measured){.kernel = hwy_text_id(c.b, "serve"),
							    .shape = 0,
							    .ordinal = HWY_NONE,
							    .launches = 1,
							    .source = hwy_text_id(c.b, "headway")};
	count_units(&c, 6, sm, 1, 1, 1, 90);
	made = hwy_builder_finish(c.b, false);
	assert_true(kernel_table_make(&table, made, &err));
	assert_int_equal(table.n, 1);
	return &table.kernels[0];
}

static void a_kernel_that_runs_all_of_the_time_and_keeps_nothing_busy_waits(void **state)
{
	const struct known_kernel *kernel = judged_endless(1);
	assert_true(kernel->is_endless && !kernel->has_gain && isnan(kernel->point.roof_ns));
	assert_int_equal(kernel->point.bound, ROOFLINE_UNKNOWN);
	assert_non_null(strstr(kernel->point.says, "waits for the host or for work"));
	forget();
	kernel = judged_endless(90);
	assert_true(!kernel->is_endless && kernel->has_gain);
	assert_int_equal(kernel->point.bound, ROOFLINE_COMPUTE);
	forget();
}

/* One kernel with counters, of 100 us, and one without any that takes so many us. */
static void expect_first(double unknown_us, const char *name)
{
	struct counted c = counted_new("known", 10000, 128);
	count_units(&c, 100, 90, 10, 10, 20, 50);
	uint32_t other = hwy_new_measured(c.b);
	struct hwy_trace *trace = hwy_builder_trace(c.b);
	trace->measured[other] = trace->measured[c.measured];
	trace->measured[other].kernel = hwy_text_id(c.b, "unknown");
	c.measured = other;
	count(&c, "gpu__time_duration.sum", unknown_us * 1000);
	made = hwy_builder_finish(c.b, false);
	assert_true(kernel_table_make(&table, made, &err));
	assert_int_equal(table.n, 2);
	assert_true(kernel_table_find(&table, "known", &err)->has_gain);
	assert_false(kernel_table_find(&table, "unknown", &err)->has_gain);
	assert_string_equal(table.kernels[0].point.name, name);
	forget();
}

static void gains_sort_kernels_only_where_they_are_known_of_most_of_the_time(void **state)
{
	expect_first(90, "known");
	expect_first(1000, "unknown");
}

static void a_gain_is_never_negative_nor_more_than_the_time(void **state)
{
	struct dice dice = {7};
	for (int i = 0; i < 500; i++) {
		struct counted c = counted_new("k", 1 + roll_below(&dice, 2000),
					       32 * (1 + roll_below(&dice, 32)));
		count_units(
			&c, (double)roll_below(&dice, 100000) / 7,
			(double)roll_below(&dice, 1200) / 10, (double)roll_below(&dice, 1200) / 10,
			(double)roll_below(&dice, 1000) / 10, (double)roll_below(&dice, 1000) / 10,
			(double)roll_below(&dice, 1000) / 10);
		if (roll_below(&dice, 2))
			count(&c, "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
			      (double)roll_below(&dice, INT64_C(1) << 45));
		const struct known_kernel *kernel = judged(&c);
		assert_true(kernel->point.gain_ns >= 0 &&
			    kernel->point.gain_ns <= kernel->point.ns);
		assert_true(kernel->n_advice <= KERNEL_MOST_ADVICE);
		forget();
	}
}

/* ---- advice --------------------------------------------------------------------------------------------------------- */

static bool is_advised(const struct known_kernel *kernel, const char *part)
{
	for (uint32_t i = 0; i < kernel->n_advice; i++)
		if (strstr(kernel->advice[i], part))
			return true;
	return false;
}

static void advice_follows_from_counters_and_from_who_made_the_kernel(void **state)
{
	struct counted c = counted_new("my_transpose", 16384, 1024);
	count_units(&c, 60, 30, 45, 30, 92, 93);
	count(&c, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 31);
	count(&c, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 32);
	assert_true(is_advised(judged(&c), "tile[32][33]"));
	forget();
	c = counted_new("void at::native::vectorized_elementwise_kernel<4, F>(int)", 16384, 128);
	count_units(&c, 60, 30, 91, 30, 20, 93);
	assert_true(is_advised(judged(&c), "torch.compile"));
	forget();
	c = counted_new("sm80_xmma_gemm_f32f32", 16384, 128);
	count_units(&c, 60, 91, 5, 30, 20, 12);
	count(&c, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 1e9);
	assert_true(is_advised(judged(&c), "set_float32_matmul_precision"));
	forget();
	c = counted_new("my_kernel", 16384, 128);
	count_units(&c, 60, 20, 5, 30, 50, 50);
	count(&c, "l1tex__t_bytes.sum", 1000);
	count(&c, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 15);
	count(&c, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 10);
	assert_true(is_advised(judged(&c), "registers spill: 80 %"));
	forget();
}

static void a_kernel_that_communicates_is_not_told_to_launch_more_blocks(void **state)
{
	static const char *const names[] = {"my_kernel", "multimem_all_reduce_kernel"};
	for (int communicates = 0; communicates < 2; communicates++) {
		struct counted c = counted_new(names[communicates], 8, 128);
		count_units(&c, 3, 2, 1, 1, 1, 3);
		assert_int_equal(is_advised(judged(&c), "launch more blocks"), !communicates);
		forget();
	}
}

/* ---- which kernel ---------------------------------------------------------------------------------------------------- */

static void names_of_two_demanglers_are_one(void **state)
{
	static const char *const pairs[][2] = {
		{"void f<4, true, 3ul>(int, float*)",
		 "f<(int)4, (bool)1, (unsigned long)3>(T1, T2)"},
		{"void a::b<g(int)::{lambda()#2}::operator()() const::{lambda(float, float)#1}>(int)",
		 "void a::b<g(int)::[lambda() (instance 2)]::operator ()() const::[lambda(float, float) (instance 1)]>(int)"},
		{"void (anonymous namespace)::k<x>(int)", "void <unnamed>::k<x>(int)"},
		{"gemm_128x128", "gemm_128x128"},
		{"void at::native::(anonymous namespace)::k<false>(int)",
		 "void at::<unnamed>::k<0>(int, T2)"},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char *a = measured_join_name(pairs[i][0]), *b = measured_join_name(pairs[i][1]);
		assert_string_equal(a, b);
		free(a);
		free(b);
	}
	char *a = measured_join_name("void f<4>(int)"), *b = measured_join_name("void f<2>(int)");
	assert_string_not_equal(a, b);
	free(a);
	free(b);
}

#define OF_KERNEL(id, kernel, grid, block, metric, unit, value)                                    \
	"'" id "','1','p','h','" kernel "','1','7','" block "','" grid "','0','9.0','s','" metric  \
	"','" unit "','" value "'\n"
#define BIG(metric, unit, value)                                                                   \
	OF_KERNEL("0", "big<(int)4>(T1)", "(500, 1, 1)", "(256, 1, 1)", metric, unit, value)
#define BIG_COUNTERS                                                                               \
	LONG_HEADER BIG("gpu__time_duration.sum", "us", "80")                                      \
		BIG("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "20")                 \
			BIG("dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "25")

static void counters_of_ncu_join_the_launches_of_their_kernel(void **state)
{
	struct program p = two_kernels();
	program_end_step(&p);
	struct hwy_trace *report = hwy_builder_finish(p.builder, false);
	struct hwy_trace *ncu = read_ncu(BIG_COUNTERS OF_KERNEL(
		"1", "small", "(9, 1, 1)", "(64, 1, 1)", "gpu__time_duration.sum", "us", "1")
						 OF_KERNEL("2", "absent", "(7, 1, 1)", "(64, 1, 1)",
							   "gpu__time_duration.sum", "us", "1"));
	struct joined_counters joined;
	/* Joined twice, the second takes the place of the first. */
	for (int i = 0; i < 2; i++)
		assert_true(measured_join(report, ncu, &joined, &err));
	assert_int_equal(joined.kernels, 3);
	assert_int_equal(joined.found, 1);
	assert_string_equal(joined.missing, "small");
	assert_int_equal(report->n_measured, 1);
	assert_int_equal(report->n_measures, 3);
	assert_true(kernel_table_make(&table, report, &err));
	const struct known_kernel *kernel = kernel_table_find(&table, "big", &err);
	assert_non_null(kernel);
	assert_true(kernel->is_measured && kernel->point.source == ROOFLINE_NCU);
	assert_int_equal(kernel->point.count, 20);
	assert_int_equal(kernel->point.ns, US(2000));
	assert_int_equal(kernel->point.gain_ns, US(1500));
	assert_false(kernel_table_find(&table, "small", &err)->is_measured);
	assert_null(kernel_table_find(&table, "void", &err));
	assert_non_null(strstr(err.text, "several"));
	assert_null(kernel_table_find(&table, "none", &err));
	kernel_table_free(&table);
	hwy_trace_free(ncu);
	hwy_trace_free(report);
}

/* Quick only where no kernel looks through all rows and all launches. */
static void many_measured_kernels_each_have_their_own_launches_and_counters(void **state)
{
	enum { KERNELS = 20000, ROWS = 10, LAUNCHED = 500 };
	struct program p = program_new();
	struct hwy_shape shapes[2] = {{.grid_x = 500,
				       .grid_y = 1,
				       .grid_z = 1,
				       .block_x = 256,
				       .block_y = 1,
				       .block_z = 1}};
	shapes[1] = shapes[0];
	shapes[1].registers = 40; /* ncu's shapes have less than the recording's */
	struct hwy_trace *trace = hwy_builder_trace(p.builder);
	uint32_t told = hwy_add_shape(p.builder, &shapes[0]);
	p.shape = hwy_add_shape(p.builder, &shapes[1]) + 1;
	char name[32];
	for (int i = 0; i < LAUNCHED; i++) {
		snprintf(name, sizeof name, "k%d", i);
		program_launch(&p, 0, name, 10 + i);
	}
	struct counted c = {.b = p.builder};
	int64_t source = hwy_text_id(c.b, "headway");
	/* The rows of a kernel are far from each other. */
	for (int row = 0; row < ROWS; row++)
		for (int i = 0; i < KERNELS; i++) {
			snprintf(name, sizeof name, "k%d", i);
			c.measured = hwy_new_measured(c.b);
			trace->measured[c.measured] =
				(struct hwy_measured){.kernel = hwy_text_id(c.b, name),
						      .shape = i % 2 ? HWY_NONE : (int64_t)told,
						      .launches = 1,
						      .source = source};
			count(&c, "gpu__time_duration.sum", 1000 * i + row);
		}
	program_end_step(&p);
	made = hwy_builder_finish(c.b, false);
	assert_true(kernel_table_make(&table, made, &err));
	assert_int_equal(table.n, LAUNCHED);
	for (uint32_t i = 0; i < table.n; i++) {
		const struct known_kernel *kernel = &table.kernels[i];
		int number = atoi(kernel->point.name + 1);
		assert_true(kernel->is_measured);
		assert_int_equal(kernel->point.count, 1);
		assert_int_equal(kernel->point.ns, US(10 + number));
		assert_int_equal(kernel->launches_measured, ROWS);
		NEAR(kernel->counters.ns, number * 1000 + 4.5);
	}
	forget();
}

static void launches_of_another_shape_are_not_those_that_were_measured(void **state)
{
	struct program p = two_kernels();
	struct hwy_shape other = {
		.grid_x = 7, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1};
	p.shape = hwy_add_shape(p.builder, &other) + 1;
	program_launch(&p, 0, "void big<4>(float*)", 30);
	program_end_step(&p);
	struct counted c = {.b = p.builder};
	struct hwy_trace *trace = hwy_builder_trace(c.b);
	/* Two tools measured the same launches: the first one tells. */
	for (int i = 0; i < 2; i++) {
		c.measured = hwy_new_measured(c.b);
		trace->measured[c.measured] =
			(struct hwy_measured){.kernel = hwy_text_id(c.b, "void big<4>(float*)"),
					      .shape = p.shape - 1,
					      .launches = 1,
					      .source = hwy_text_id(c.b, i ? "ncu" : "headway")};
		count(&c, "gpu__time_duration.sum", 1000 + i);
	}
	made = hwy_builder_finish(c.b, false);
	assert_true(kernel_table_make(&table, made, &err));
	assert_int_equal(table.n, 3); /* big as measured, big as not measured, small */
	for (uint32_t i = 0; i < table.n; i++) {
		const struct known_kernel *kernel = &table.kernels[i];
		if (!strstr(kernel->point.name, "big"))
			continue;
		assert_int_equal(kernel->point.count, kernel->is_measured ? 1 : 20);
		assert_int_equal(kernel->point.ns, kernel->is_measured ? US(30) : US(2000));
		if (kernel->is_measured)
			NEAR(kernel->counters.ns, 1000);
	}
	forget();
}

/* ---- whatif faster:KERNEL --------------------------------------------------------------------------------------------- */

static void a_kernel_at_its_roof_is_replayed_as_fast_as_its_counters_allow(void **state)
{
	struct program p = two_kernels();
	struct hwy_trace *ncu = read_ncu(BIG_COUNTERS);
	struct joined_counters joined;
	struct opened o;
	program_end_step(&p);
	o.trace = hwy_builder_finish(p.builder, false);
	assert_true(measured_join(o.trace, ncu, &joined, &err));
	assert_true(analysis_make(&o.analysis, o.trace, &(struct analysis_options){0}, &err));
	assert_true(whatif_open(&o.w, &o.analysis, o.analysis.phases.main, true, &err));
	/* 25 us are left of 100: the rest of the step stays. */
	int64_t gained = o.w.base.step - predicted(&o, "faster:big");
	assert_in_range(gained, US(74), US(76));
	assert_int_equal(predicted(&o, "faster:big"), predicted(&o, "faster:big=4"));
	assert_int_equal(predicted(&o, "faster:big=2"), predicted(&o, "faster:big:50"));
	assert_int_equal(predicted(&o, "faster:gpu"), predicted(&o, "faster:big"));
	assert_int_equal(predicted(&o, "faster:void big<4>(float*)=1"), o.w.base.step);
	assert_int_equal(predicted(&o, "faster:small"), -1); /* nothing tells */
	assert_true(predicted(&o, "faster:small=2") > 0);
	assert_int_equal(predicted(&o, "faster:void"), -1); /* both kernels */
	assert_int_equal(predicted(&o, "faster:none=2"), -1);
	close_whatif(&o);
	hwy_trace_free(ncu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_either_tool_become_the_same_facts),
		cmocka_unit_test(some_reasons_are_shares_only_where_the_time_of_warps_is_known),
		cmocka_unit_test(all_reasons_add_up_to_the_time_of_warps),
		cmocka_unit_test(the_busiest_unit_is_the_bound),
		cmocka_unit_test(that_nothing_is_busy_is_said_only_where_all_was_read),
		cmocka_unit_test(few_bytes_of_l2_tell_that_it_is_not_busy),
		cmocka_unit_test(the_precision_is_that_of_most_operations),
		cmocka_unit_test(constants_and_conversions_are_no_arithmetic),
		cmocka_unit_test(no_launch_of_a_recording_is_predicted_below_the_shortest_ones),
		cmocka_unit_test(a_kernel_that_runs_all_of_the_time_and_keeps_nothing_busy_waits),
		cmocka_unit_test(a_grid_with_fewer_blocks_than_sms_is_bound_by_occupancy),
		cmocka_unit_test(few_warps_on_the_tensor_cores_are_latency),
		cmocka_unit_test(without_the_counter_of_the_sms_their_units_stand_in),
		cmocka_unit_test(a_counter_that_no_device_can_have_is_not_known),
		cmocka_unit_test(a_share_of_more_than_twice_the_whole_is_not_known),
		cmocka_unit_test(passes_of_l1_stand_in_for_its_throughput),
		cmocka_unit_test(l2_that_dram_keeps_busy_is_no_bound),
		cmocka_unit_test(the_counters_peak_of_tensor_cores_is_halved),
		cmocka_unit_test(a_launch_as_short_as_an_empty_one_needs_no_counters),
		cmocka_unit_test(a_tiny_grid_needs_no_counters),
		cmocka_unit_test(the_gain_is_what_the_nearer_roof_leaves),
		cmocka_unit_test(no_launch_is_predicted_to_take_less_than_an_empty_one),
		cmocka_unit_test(gains_sort_kernels_only_where_they_are_known_of_most_of_the_time),
		cmocka_unit_test(a_gain_is_never_negative_nor_more_than_the_time),
		cmocka_unit_test(advice_follows_from_counters_and_from_who_made_the_kernel),
		cmocka_unit_test(a_kernel_that_communicates_is_not_told_to_launch_more_blocks),
		cmocka_unit_test(names_of_two_demanglers_are_one),
		cmocka_unit_test(counters_of_ncu_join_the_launches_of_their_kernel),
		cmocka_unit_test(many_measured_kernels_each_have_their_own_launches_and_counters),
		cmocka_unit_test(launches_of_another_shape_are_not_those_that_were_measured),
		cmocka_unit_test(a_kernel_at_its_roof_is_replayed_as_fast_as_its_counters_allow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
