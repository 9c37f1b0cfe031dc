/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_counters.c - see kernel_counters.h.
 *
 * Names of counters are CUPTI's and ncu's: unit__counter.rollup.submetric. "a | b + c * 32"
 * stands for the counter a, or where that was not read for b + 32 c.
 */
#include "analyze/kernel_counters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/occupancy.h"
#include "base/lang.h"

const char *const counters_path_precisions[COUNTERS_PATHS] = {
	"fp64", "fp32", "fp16", "fp64", "tf32", "bf16", "fp16", "fp8", "fp4", "int8",
};

const char *const counters_stall_names[COUNTERS_STALLS] = {
	"long_scoreboard",
	"short_scoreboard",
	"barrier",
	"math_pipe_throttle",
	"lg_throttle",
	"mio_throttle",
	"wait",
	"not_selected",
	"no_instruction",
	"branch_resolving",
	"gmma",
	"membar",
	"tex_throttle",
	"sleeping",
	"imc_miss",
	"drain",
	"dispatch_stall",
	"misc",
	"selected",
};

const char *const counters_stall_meanings[COUNTERS_STALLS] = {
	[STALL_LONG_SCOREBOARD] = HWY_KEY("waits for global or local memory"),
	[STALL_SHORT_SCOREBOARD] = HWY_KEY("waits for shared memory or special functions"),
	[STALL_BARRIER] = HWY_KEY("waits for other warps at a barrier"),
	[STALL_MATH_PIPE] = HWY_KEY("finds the unit that computes busy"),
	[STALL_LG_THROTTLE] = HWY_KEY("finds the queue for global memory full"),
	[STALL_MIO_THROTTLE] = HWY_KEY("finds the queue for shared memory full"),
	[STALL_WAIT] = HWY_KEY("waits for the instruction before it"),
	[STALL_NOT_SELECTED] = HWY_KEY("could run, and another warp was chosen"),
	[STALL_NO_INSTRUCTION] = HWY_KEY("waits for its code to be fetched"),
	[STALL_BRANCH] = HWY_KEY("waits for a branch"),
	[STALL_GMMA] = HWY_KEY("waits for the tensor cores"),
	[STALL_MEMBAR] = HWY_KEY("waits at a memory fence"),
	[STALL_TEX_THROTTLE] = HWY_KEY("finds the queue for textures full"),
	[STALL_SLEEPING] = HWY_KEY("sleeps, as the code asks"),
	[STALL_IMC_MISS] = HWY_KEY("waits for constants"),
	[STALL_DRAIN] = HWY_KEY("waits for its last writes"),
	[STALL_DISPATCH] = HWY_KEY("finds the dispatcher busy"),
	[STALL_MISC] = HWY_KEY("waits for other reasons"),
	[STALL_SELECTED] = HWY_KEY("issues an instruction"),
};

/* ---- counters by name ------------------------------------------------------------------------ */

static int by_measured_and_metric(const void *a, const void *b)
{
	const struct hwy_measure *x = a, *y = b;
	if (x->measured != y->measured)
		return x->measured < y->measured ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

void measures_open(struct measures *m, const struct hwy_trace *trace)
{
	*m = (struct measures){.trace = trace, .n = trace->n_measures};
	m->rows = hwy_copy_array(trace->measures, trace->n_measures, sizeof *m->rows);
	qsort(m->rows, m->n, sizeof *m->rows, by_measured_and_metric);
	for (uint32_t i = 0; i < m->n; i++) {
		struct hwy_text name = hwy_text(trace, m->rows[i].metric);
		bool fresh;
		uint32_t *id = hwy_index_put_reference(&m->by_name, name.at, name.length, &fresh);
		if (fresh)
			*id = (uint32_t)m->rows[i].metric;
	}
}

void measures_close(struct measures *m)
{
	free(m->rows);
	hwy_index_free(&m->by_name);
}

static double measure_of(const struct measures *m, uint32_t measured, const char *name, size_t n)
{
	const uint32_t *metric = hwy_index_get(&m->by_name, name, n);
	if (!metric)
		return NAN;
	struct hwy_measure wanted = {.measured = measured, .metric = *metric};
	const struct hwy_measure *row =
		bsearch(&wanted, m->rows, m->n, sizeof *m->rows, by_measured_and_metric);
	double value = NAN;
	if (row)
		memcpy(&value, &row->value, sizeof value);
	/* What no device can count was read from a damaged file. */
	double most = memmem(name, n, "pct", 3) ? 1e3 : 1e24;
	return value == 0 || (value > 1e-12 && value < most) ? value : (double)NAN;
}

double measures_value(const struct measures *m, uint32_t measured, const char *metric)
{
	return measure_of(m, measured, metric, strlen(metric));
}

/* ---- expressions of names -------------------------------------------------------------------- */

/* Reads "name" or "name * 32" at *at, and moves *at behind it. */
static double read_term(const struct measures *m, uint32_t measured, const char **at)
{
	const char *name = *at + strspn(*at, " ");
	size_t n = strcspn(name, " ");
	double value = measure_of(m, measured, name, n);
	const char *rest = name + n + strspn(name + n, " ");
	if (*rest == '*') {
		char *end;
		value *= strtod(rest + 1, &end);
		rest = end + strspn(end, " ");
	}
	*at = rest;
	return value;
}

/* The first alternative of an expression whose counters were all read; not a number where there
 * is none. */
static double evaluate(const struct measures *m, uint32_t measured, const char *expression)
{
	while (*expression) {
		double sum = read_term(m, measured, &expression);
		while (*expression == '+') {
			expression++;
			sum += read_term(m, measured, &expression);
		}
		if (!isnan(sum))
			return sum;
		expression += *expression == '|';
	}
	return NAN;
}

#define PEAK ".avg.pct_of_peak_sustained_elapsed"
#define PEAK_ACTIVE ".avg.pct_of_peak_sustained_active"

static const struct counter_fact {
	size_t offset;
	double factor;
	const char *expression;
} counter_facts[] = {
#define FACT(field, factor, expression)                                                            \
	{                                                                                          \
		offsetof(struct kernel_counters, field), factor, expression                        \
	}
	FACT(ns, 1, "gpu__time_duration.sum | gpu__time_duration.avg | gpu__time_duration.max"),
	FACT(dram_read, 1,
	     "dram__bytes_read.sum | dram__bytes_op_read.sum | dram__sectors_read.sum * 32"),
	FACT(dram_written, 1,
	     "dram__bytes_write.sum | dram__bytes_op_write.sum | dram__sectors_write.sum * 32"),
	FACT(dram_bytes, 1,
	     "dram__bytes.sum | dram__bytes_read.sum + dram__bytes_write.sum | "
	     "dram__bytes_op_read.sum + dram__bytes_op_write.sum | "
	     "dram__sectors_read.sum * 32 + dram__sectors_write.sum * 32 | dram__sectors.sum * 32"),
	FACT(l2_bytes, 1, "lts__t_bytes.sum | lts__t_sectors.sum * 32"),
	FACT(l1_bytes, 1, "l1tex__t_bytes.sum | l1tex__t_sectors.sum * 32"),
	FACT(sm_hz, 1,
	     "sm__cycles_elapsed.avg.per_second | smsp__cycles_elapsed.avg.per_second | "
	     "gpc__cycles_elapsed.avg.per_second"),
	FACT(dram_hz, 1, "dram__cycles_elapsed.avg.per_second"),
	FACT(of_sm, 0.01, "sm__throughput" PEAK),
	FACT(of_dram, 0.01,
	     "dram__throughput" PEAK " | gpu__dram_throughput" PEAK
	     " | dram__bytes.sum.pct_of_peak_sustained_elapsed | "
	     "dram__bytes_read.sum.pct_of_peak_sustained_elapsed + "
	     "dram__bytes_write.sum.pct_of_peak_sustained_elapsed"),
	FACT(of_l2, 0.01,
	     "lts__t_sectors" PEAK " | lts__t_bytes.sum.pct_of_peak_sustained_elapsed | "
	     "lts__t_bytes" PEAK),
	FACT(load_used, 0.03125, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"),
	FACT(store_used, 0.03125,
	     "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"),
	FACT(of_l1, 0.01, "l1tex__throughput" PEAK),
	FACT(of_tensor, 0.01,
	     "sm__pipe_tensor_cycles_active" PEAK " | sm__inst_executed_pipe_tensor" PEAK),
	FACT(occupancy, 0.01, "sm__warps_active" PEAK_ACTIVE " | smsp__warps_active" PEAK_ACTIVE),
	FACT(theoretical_occupancy, 0.01, "sm__maximum_warps_per_active_cycle_pct"),
	FACT(limit_registers, 1, "launch__occupancy_limit_registers"),
	FACT(limit_shared, 1, "launch__occupancy_limit_shared_mem"),
	FACT(limit_warps, 1, "launch__occupancy_limit_warps"),
	FACT(limit_blocks, 1, "launch__occupancy_limit_blocks"),
	FACT(limit_barriers, 1, "launch__occupancy_limit_barriers"),
	FACT(l1_hit, 0.01, "l1tex__t_sector_hit_rate.pct"),
	FACT(l2_hit, 0.01, "lts__t_sector_hit_rate.pct"),
	FACT(load_sectors, 1,
	     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
	FACT(store_sectors, 1,
	     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"),
	FACT(local_bytes, 1,
	     "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum + l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum | "
	     "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum * 32 + "
	     "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum * 32 | "
	     "sm__sass_data_bytes_mem_local.sum | smsp__sass_data_bytes_mem_local.sum"),
	FACT(issue, 0.01,
	     "smsp__issue_active" PEAK_ACTIVE " | smsp__issue_active.avg.per_cycle_active * 100 | "
	     /* An SM has four schedulers. */
	     "sm__inst_executed.avg.per_cycle_active * 25"),
	FACT(threads_per_warp, 1, "smsp__thread_inst_executed_per_inst_executed.ratio"),
	FACT(blocks, 1, "launch__grid_size"),
	FACT(waves, 1, "launch__waves_per_multiprocessor"),
	FACT(sms, 1, "device__attribute_multiprocessor_count | launch__sm_count"),
	FACT(registers, 1, "launch__registers_per_thread"),
#undef FACT
};

/* ---- facts that need more than a sum --------------------------------------------------------- */

/* Reads how often an instruction was executed, by thread: as a sum, or a cycle times the cycles. */
static double read_instructions(const struct measures *m, uint32_t measured,
				const char *instruction)
{
	char name[384];
	snprintf(name, sizeof name,
		 "sm__sass_thread_inst_executed_op_%s_pred_on.sum | "
		 "smsp__sass_thread_inst_executed_op_%s_pred_on.sum",
		 instruction, instruction);
	double sum = evaluate(m, measured, name);
	if (!isnan(sum))
		return sum;
	snprintf(name, sizeof name,
		 "smsp__sass_thread_inst_executed_op_%s_pred_on.sum.per_cycle_elapsed",
		 instruction);
	return evaluate(m, measured, name) *
	       evaluate(m, measured, "smsp__cycles_elapsed.max | smsp__cycles_elapsed.avg");
}

/* Additions, multiplications and FMAs of one precision, without the tensor cores. */
static void read_plain(const struct measures *m, uint32_t measured, enum counters_path path,
		       char letter, struct kernel_counters *facts)
{
	static const char *const ops[] = {"add", "mul", "fma"};
	double flop[3];
	for (int i = 0; i < 3; i++) {
		char name[8];
		snprintf(name, sizeof name, "%c%s", letter, ops[i]);
		flop[i] = read_instructions(m, measured, name);
	}
	/* ncu shows all three or none. A set that has only FMAs misses additions: those of a sum
	 * of squares count, those of a GEMM do not. */
	facts->flop[path] = isnan(flop[2]) ? NAN
					   : (isnan(flop[0]) ? 0 : flop[0]) +
						     (isnan(flop[1]) ? 0 : flop[1]) + 2 * flop[2];
	char name[128];
	snprintf(name, sizeof name,
		 "sm__sass_thread_inst_executed_op_%cfma_pred_on.sum.peak_sustained", letter);
	facts->peak_flop_per_s[path] = 2 * evaluate(m, measured, name) * facts->sm_hz;
}

static void read_tensor(const struct measures *m, uint32_t measured, struct kernel_counters *facts)
{
	static const struct {
		enum counters_path path;
		const char *expression;
	} ops[] = {
#define OPS(source) "sm__ops_path_tensor_src_" source ".sum"
		{PATH_TENSOR_FP64, OPS("fp64")},
		{PATH_TENSOR_TF32, OPS("tf32_dst_fp32")},
		{PATH_TENSOR_BF16, OPS("bf16_dst_fp32")},
		{PATH_TENSOR_FP16,
		 OPS("fp16") " | " OPS("fp16_dst_fp16") " + " OPS("fp16_dst_fp32")},
		/* On B200 one counter has fp8 and the smaller numbers: peaks of fp8 and fp6 are
		 * equal there. */
		{PATH_TENSOR_FP8,
		 OPS("fp8") " | " OPS("fp8_dst_fp16") " + " OPS("fp8_dst_fp32") " | " OPS(
			 "fp4_fp6_fp8_dst_fp16") " + " OPS("fp4_fp6_fp8_dst_fp32")},
		{PATH_TENSOR_FP4, OPS("fp4_dst_fp32")},
		{PATH_TENSOR_INT8, OPS("int8")},
#undef OPS
	};
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		char peak[160];
		facts->flop[ops[i].path] = evaluate(m, measured, ops[i].expression);
		snprintf(peak, sizeof peak, "%.*s.peak_sustained",
			 (int)strcspn(ops[i].expression, " "), ops[i].expression);
		facts->peak_flop_per_s[ops[i].path] = evaluate(m, measured, peak) * facts->sm_hz;
	}
}

/* The kernel's device; NULL where unknown. */
static const struct hwy_device *measured_device(const struct measures *m, uint32_t measured)
{
	int64_t device = m->trace->measured[measured].device;
	return device < 0 || device >= m->trace->n_devices ? NULL : &m->trace->devices[device];
}

static double device_sms(const struct measures *m, uint32_t measured)
{
	const struct hwy_device *device = measured_device(m, measured);
	return device && device->sms > 0 ? (double)device->sms : NAN;
}

static double device_warps(const struct measures *m, uint32_t measured)
{
	const struct hwy_device *device = measured_device(m, measured);
	uint32_t warps = device ? occupancy_warps(device) : 0;
	return warps ? (double)warps : NAN;
}

/* How many warps are there for each instruction that is issued: what all reasons of the first
 * family add up to. On H200 the product of other counters is within 0.035 of that sum. */
static double warps_per_issue(const struct measures *m, uint32_t measured,
			      const struct kernel_counters *facts)
{
	double told = evaluate(m, measured,
			       "smsp__average_warps_active_per_issue_active.ratio | "
			       "smsp__average_warp_latency_per_inst_issued.ratio");
	double issued = evaluate(m, measured,
				 "sm__inst_executed.avg.per_cycle_active | "
				 "smsp__issue_active.avg.per_cycle_active * 4");
	return isnan(told) ? facts->occupancy * device_warps(m, measured) / issued : told;
}

/* The share of each reason in the time of warps. All reasons of one family of counters add up to
 * the whole; where only some of them were read, other counters must tell the whole: a reason is
 * no greater because others were not read. */
static void read_stalls(const struct measures *m, uint32_t measured, struct kernel_counters *facts)
{
	const struct {
		const char *format;
		double whole;
	} families[] = {
		{"smsp__average_warps_issue_stalled_%s_per_issue_active.ratio",
		 warps_per_issue(m, measured, facts)},
		{"smsp__average_warp_latency_issue_stalled_%s.ratio",
		 evaluate(m, measured, "smsp__average_warp_latency.ratio")},
		{"smsp__warp_issue_stalled_%s_per_warp_active.pct", 100},
	};
	for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
		double sum = 0, whole = families[f].whole;
		int n = 0;
		for (int i = 0; i < COUNTERS_STALLS; i++) {
			char name[160];
			snprintf(name, sizeof name, families[f].format, counters_stall_names[i]);
			facts->stalls[i] = evaluate(m, measured, name);
			n += !isnan(facts->stalls[i]);
			sum += facts->stalls[i] > 0 ? facts->stalls[i] : 0;
		}
		whole = n == COUNTERS_STALLS ? sum : isnan(whole) ? NAN : fmax(whole, sum);
		for (int i = 0; i < COUNTERS_STALLS; i++)
			facts->stalls[i] = whole > 0 ? facts->stalls[i] / whole : NAN;
		if (n > 0)
			return;
	}
}

enum counters_stall kernel_counters_worst_stall(const struct kernel_counters *facts)
{
	enum counters_stall worst = COUNTERS_STALLS;
	double rest = 1;
	for (int i = 0; i < COUNTERS_STALLS; i++) {
		double share = facts->stalls[i];
		rest -= isnan(share) ? 0 : share;
		if (i != STALL_NOT_SELECTED && i != STALL_SELECTED && share > 0 &&
		    (worst == COUNTERS_STALLS || share > facts->stalls[worst]))
			worst = (enum counters_stall)i;
	}
	/* What was not read may be one reason. */
	return worst == COUNTERS_STALLS || facts->stalls[worst] < rest ? COUNTERS_STALLS : worst;
}

/* How many of the accesses to shared memory were made again because of conflicts. A wavefront is
 * one pass. */
static void read_conflicts(const struct measures *m, uint32_t measured,
			   struct kernel_counters *facts)
{
#define SHARED(unit, op) "l1tex__data_" unit "_mem_shared" op ".sum"
	double again =
		evaluate(m, measured,
			 SHARED("bank_conflicts_pipe_lsu", "") " | " SHARED(
				 "bank_conflicts_pipe_lsu",
				 "_op_ld") " + " SHARED("bank_conflicts_pipe_lsu", "_op_st"));
	double passes = evaluate(m, measured,
				 SHARED("pipe_lsu_wavefronts", "") " | " SHARED(
					 "pipe_lsu_wavefronts",
					 "_op_ld") " + " SHARED("pipe_lsu_wavefronts", "_op_st"));
#undef SHARED
	if (passes > 0)
		facts->conflicts = fmin(again / passes, 1);
	else
		facts->conflicts = passes == 0 ? 0 : NAN;
}

/* Requests for global memory that were counted one by one, where the ratio itself was not. */
static void read_sectors(const struct measures *m, uint32_t measured, const char *op, double *ratio)
{
	char name[96];
	if (!isnan(*ratio))
		return;
	snprintf(name, sizeof name, "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum", op);
	double sectors = evaluate(m, measured, name);
	snprintf(name, sizeof name, "l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum", op);
	double requests = evaluate(m, measured, name);
	*ratio = requests > 0 ? sectors / requests : NAN;
}

/* Some units are counted only while their SM has work. Of the time of the launch they are busy
 * for less where SMs have none: yields the share of the time in which an SM has work, on
 * average. */
static double active_share(const struct measures *m, uint32_t measured,
			   const struct kernel_counters *facts)
{
	double active = evaluate(m, measured, "sm__cycles_active.avg | l1tex__cycles_active.avg");
	double elapsed = evaluate(
		m, measured,
		"sm__cycles_elapsed.max | sm__cycles_elapsed.avg | gpc__cycles_elapsed.max | "
		"smsp__cycles_elapsed.max");
	if (elapsed > 0 && active >= 0)
		return fmin(active / elapsed, 1);
	return facts->blocks < facts->sms ? facts->blocks / facts->sms : 1;
}

static void read_l2(const struct measures *m, uint32_t measured, struct kernel_counters *facts)
{
	double peak = evaluate(m, measured, "lts__t_bytes.sum.peak_sustained") *
		      evaluate(m, measured, "lts__cycles_elapsed.avg.per_second");
	facts->is_l2_whole = 0;
	if (isnan(facts->of_l2))
		facts->of_l2 = facts->l2_bytes / (facts->ns * 1e-9) / peak;
	if (isnan(facts->of_l2)) {
		facts->of_l2 = 0.01 * evaluate(m, measured, "lts__throughput" PEAK);
		facts->is_l2_whole = 1;
	}
	/* A kernel that loads or stores nothing uses no sector badly. */
	if (facts->load_used == 0)
		facts->load_used = NAN;
	if (facts->store_used == 0)
		facts->store_used = NAN;
}

/* An SM's L1 makes one pass a cycle, for shared memory or for a line of 128 bytes. On H200 this
 * is within 0.05 of l1tex__throughput, which takes many more passes to read. */
static double l1_by_passes(const struct measures *m, uint32_t measured,
			   const struct kernel_counters *facts)
{
	double passes = evaluate(m, measured, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum") +
			facts->l1_bytes / 128;
	double cycles = evaluate(m, measured, "sm__cycles_elapsed.max | sm__cycles_elapsed.avg");
	double share = passes / (cycles * facts->sms);
	return share > 1 ? 1 : share;
}

static void read_active(const struct measures *m, uint32_t measured, struct kernel_counters *facts)
{
	double share = active_share(m, measured, facts);
	if (isnan(facts->of_l1))
		facts->of_l1 =
			share * 0.01 * evaluate(m, measured, "l1tex__throughput" PEAK_ACTIVE);
	if (isnan(facts->of_l1))
		facts->of_l1 = l1_by_passes(m, measured, facts);
	if (isnan(facts->of_tensor))
		facts->of_tensor = share * 0.01 *
				   evaluate(m, measured,
					    "sm__pipe_tensor_cycles_active" PEAK_ACTIVE
					    " | sm__inst_executed_pipe_tensor" PEAK_ACTIVE);
}

/* Counters of several passes make a share of somewhat more than 1; what is far above was read
 * from a damaged file. */
#define MOST_SHARE 2.0

static void forget_impossible(struct kernel_counters *facts)
{
	double *const shares[] = {
		&facts->of_sm,     &facts->of_dram,   &facts->of_l1,  &facts->of_l2,
		&facts->of_tensor, &facts->occupancy, &facts->l1_hit, &facts->theoretical_occupancy,
		&facts->l2_hit,    &facts->load_used, &facts->issue,  &facts->store_used,
	};
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
		if (*shares[i] > MOST_SHARE)
			*shares[i] = NAN;
	for (size_t i = 0; i < sizeof *facts / sizeof(double); i++)
		if (!isfinite(((double *)facts)[i]))
			((double *)facts)[i] = NAN;
}

void kernel_counters_read(const struct measures *m, uint32_t measured,
			  struct kernel_counters *facts)
{
	for (size_t i = 0; i < sizeof *facts / sizeof(double); i++)
		((double *)facts)[i] = NAN;
	for (size_t i = 0; i < sizeof counter_facts / sizeof *counter_facts; i++) {
		const struct counter_fact *fact = &counter_facts[i];
		double value = evaluate(m, measured, fact->expression) * fact->factor;
		memcpy((char *)facts + fact->offset, &value, sizeof value);
	}
	if (isnan(facts->sms))
		facts->sms = device_sms(m, measured);
	/* DRAM's bytes may be known only as a rate. */
	if (isnan(facts->dram_bytes))
		facts->dram_bytes =
			evaluate(m, measured,
				 "dram__bytes.sum.per_second | dram__bytes_read.sum.per_second + "
				 "dram__bytes_write.sum.per_second") *
			facts->ns * 1e-9;
	read_plain(m, measured, PATH_FP64, 'd', facts);
	read_plain(m, measured, PATH_FP32, 'f', facts);
	read_plain(m, measured, PATH_FP16, 'h', facts);
	read_tensor(m, measured, facts);
	read_stalls(m, measured, facts);
	read_conflicts(m, measured, facts);
	read_sectors(m, measured, "ld", &facts->load_sectors);
	read_sectors(m, measured, "st", &facts->store_sectors);
	read_l2(m, measured, facts);
	read_active(m, measured, facts);
	forget_impossible(facts);
}

void kernel_counters_mean(const struct measures *m, const uint32_t *measured, uint32_t n,
			  struct kernel_counters *facts)
{
	enum { FACTS = sizeof(struct kernel_counters) / sizeof(double) };
	double sum[FACTS] = {0}, weight[FACTS] = {0};
	double *out = (double *)facts;
	for (uint32_t i = 0; i < n; i++) {
		struct kernel_counters one;
		const double *values = (const double *)&one;
		double launches = (double)m->trace->measured[measured[i]].launches;
		kernel_counters_read(m, measured[i], &one);
		launches = launches >= 1 ? launches : 1;
		for (int f = 0; f < FACTS; f++) {
			if (isnan(values[f]))
				continue;
			sum[f] += values[f] * launches;
			weight[f] += launches;
		}
	}
	for (int f = 0; f < FACTS; f++)
		out[f] = weight[f] > 0 ? sum[f] / weight[f] : NAN;
}

/* ---- operations ------------------------------------------------------------------------------ */

double counters_flop_sum(const double flop[COUNTERS_PATHS])
{
	double sum = 0;
	bool is_known = false;
	for (int i = 0; i < COUNTERS_PATHS; i++) {
		if (!isnan(flop[i])) {
			sum += flop[i];
			is_known = true;
		}
	}
	return is_known ? sum : NAN;
}

enum counters_path counters_flop_main_path(const double flop[COUNTERS_PATHS])
{
	enum counters_path best = COUNTERS_PATHS;
	double most = 0;
	for (int i = 0; i < COUNTERS_PATHS; i++) {
		if (flop[i] > most) {
			best = (enum counters_path)i;
			most = flop[i];
		}
	}
	return best;
}
