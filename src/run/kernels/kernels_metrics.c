/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_metrics.c - the counters that a verdict about a kernel needs, by NVIDIA's names, and
 * those that follow from others.
 *
 * The order is that of importance: where a launch gives only some of the counters, it gives the
 * first ones first. A chip that lacks a counter leaves it out. A pass costs 15 ms whatever it
 * reads, so that passes count, not counters. Passes on GH100 with CUPTI 13.0: 8 for all but the
 * operations of the tensor cores, 14 with them; 5 and 8 for the roofline alone.
 *
 * sm__throughput and l1tex__throughput alone would take 8 and 4 passes more. They are the
 * largest of their parts, and the parts below are those that were the largest in each of 14
 * kernels that Nsight Compute measured on an H200 (to the last digit, but for L1 in a kernel of
 * one block).
 */
#include <math.h>
#include <string.h>

#include "run/kernels/kernels_internal.h"

#define STALL(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"
#define PEAK(unit) unit ".avg.pct_of_peak_sustained_elapsed"
#define THREADS(op) "sm__sass_thread_inst_executed_op_" op "_pred_on.sum"

const char *const kernels_metrics[] = {
	/* How long, how full, how many bytes: the bound by memory, and the occupancy. */
	"gpu__time_duration.sum",
	"sm__warps_active.avg.pct_of_peak_sustained_active",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	"dram__throughput.avg.pct_of_peak_sustained_elapsed",
	"lts__t_bytes.sum",
	"lts__t_sector_hit_rate.pct",
	"l1tex__t_bytes.sum",
	"l1tex__t_sector_hit_rate.pct",
	"sm__cycles_elapsed.max",
	"sm__cycles_active.avg",
	"gpc__cycles_elapsed.avg.per_second",
	"sm__inst_executed.avg.per_cycle_active",
	/* The parts of the speed of light of the SMs, and of L1. */
	PEAK("sm__issue_active"),
	PEAK("sm__pipe_tensor_cycles_active"),
	PEAK("sm__inst_executed_pipe_lsu"),
	PEAK("sm__pipe_fma_cycles_active"),
	PEAK("sm__pipe_alu_cycles_active"),
	PEAK("sm__inst_executed_pipe_adu"),
	PEAK("sm__pipe_fp64_cycles_active"),
	PEAK("sm__inst_executed_pipe_xu"),
	PEAK("l1tex__data_pipe_lsu_wavefronts"),
	PEAK("l1tex__m_l1tex2xbar_req_cycles_active"),
	PEAK("lts__throughput"),
	/* Operations outside the tensor cores: instructions of threads, a fused one is two
	 * operations. */
	THREADS("fadd"),
	THREADS("fmul"),
	THREADS("ffma"),
	THREADS("hadd"),
	THREADS("hmul"),
	THREADS("hfma"),
	THREADS("dadd"),
	THREADS("dmul"),
	THREADS("dfma"),
	/* Operations of the tensor cores, by the type of their inputs; not every chip has every
	 * type. */
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
	"sm__ops_path_tensor_src_bf16_dst_fp32.sum",
	"sm__ops_path_tensor_src_fp16.sum",
	"sm__ops_path_tensor_src_tf32_dst_fp32.sum",
	"sm__ops_path_tensor_src_fp8.sum",
	"sm__ops_path_tensor_src_int8.sum",
	"sm__ops_path_tensor_src_fp64.sum",
	"sm__ops_path_tensor_src_fp4.sum",
	"sm__ops_path_tensor_src_fp6.sum",
	/* Why warps do not issue: mean warps in this state for each instruction issued. */
	STALL("long_scoreboard"),
	STALL("short_scoreboard"),
	STALL("math_pipe_throttle"),
	STALL("lg_throttle"),
	STALL("mio_throttle"),
	STALL("barrier"),
	STALL("wait"),
	STALL("not_selected"),
	STALL("gmma"),
	STALL("selected"),
	/* Shared memory, coalescing, and registers that were spilled. */
	"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
	"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
	"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
	"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
	"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
	"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
	"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
	"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
	/* These follow from others. */
	PEAK("sm__throughput"),
	PEAK("l1tex__throughput"),
	NULL,
};

#define OPERATIONS "sm__ops_path_tensor_"

static bool begins_with(const char *metric, const char *prefix)
{
	return strncmp(metric, prefix, strlen(prefix)) == 0;
}

bool kernels_metric_is_of_tensors(const char *metric)
{
	return begins_with(metric, OPERATIONS);
}

bool kernels_metric_is_of_roofline(const char *metric)
{
	/* What explains a kernel beyond its place under the roof, and what takes passes of its
	 * own for few programs. */
	static const char *const others[] = {
		"smsp__average_warps_issue_stalled_",
		"lts__t_sector_hit_rate",
		"lts__throughput",
		"l1tex__t_sector_hit_rate",
		"l1tex__data_bank_conflicts",
		"l1tex__data_pipe_lsu_wavefronts_mem_shared",
		"l1tex__t_sectors_pipe",
		"l1tex__t_requests_pipe",
		(OPERATIONS "src_int8"),
		(OPERATIONS "src_fp64"),
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (begins_with(metric, others[i]))
			return false;
	return true;
}

/* Counters that are the largest of others: of those whose names lie between two in the list
 * above. */
static const struct {
	const char *metric, *first, *last;
} largest[] = {
	{PEAK("sm__throughput"), PEAK("sm__issue_active"), PEAK("sm__inst_executed_pipe_xu")},
	{PEAK("l1tex__throughput"), PEAK("l1tex__data_pipe_lsu_wavefronts"),
	 PEAK("l1tex__m_l1tex2xbar_req_cycles_active")},
};
enum { LARGEST = sizeof largest / sizeof *largest };

bool kernels_metric_follows(const char *metric)
{
	for (unsigned i = 0; i < LARGEST; i++)
		if (strcmp(largest[i].metric, metric) == 0)
			return true;
	return false;
}

static uint32_t index_of(const char *const *metrics, uint32_t n, const char *metric)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(metrics[i], metric) == 0)
			return i;
	return UINT32_MAX;
}

void kernels_metrics_complete(const char *const *metrics, uint32_t n, double *values)
{
	for (unsigned l = 0; l < LARGEST; l++) {
		uint32_t to = index_of(metrics, n, largest[l].metric),
			 first = index_of(metrics, n, largest[l].first),
			 last = index_of(metrics, n, largest[l].last);
		if (to == UINT32_MAX || first == UINT32_MAX || last == UINT32_MAX ||
		    isnan(values[first]))
			continue;
		/* fmax leaves out what is not a number: a pipe that the chip has not. */
		for (uint32_t i = first; i <= last; i++)
			values[to] = fmax(values[to], values[i]);
	}
	uint32_t active = index_of(metrics, n, PEAK("sm__pipe_tensor_cycles_active"));
	if (active == UINT32_MAX || values[active] != 0)
		return;
	/* Tensor cores that were never active did no operation. */
	for (uint32_t i = 0; i < n; i++)
		if (kernels_metric_is_of_tensors(metrics[i]) && isnan(values[i]))
			values[i] = 0;
}
