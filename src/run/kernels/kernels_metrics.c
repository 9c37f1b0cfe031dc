/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_metrics.c - the counters that a verdict about a kernel needs, by NVIDIA's names.
 *
 * The order is that of importance: application replay, where each pass is a run of the program, takes as many
 * as fit its passes. A chip that lacks a counter leaves it out. Passes on GH100 with CUPTI 13.0: 2 up to the
 * roofline's bytes, 20 for all.
 */
#include "run/kernels/kernels.h"

#define STALL(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"
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
	/* Operations outside the tensor cores: instructions of threads, a fused one is two operations. */
	THREADS("fadd"),
	THREADS("fmul"),
	THREADS("ffma"),
	THREADS("hadd"),
	THREADS("hmul"),
	THREADS("hfma"),
	THREADS("dadd"),
	THREADS("dmul"),
	THREADS("dfma"),
	/* Operations of the tensor cores, by the type of their inputs; not every chip has every type. */
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
	/* Speed of light: the part that is nearest to its limit. These need the most passes. */
	"sm__throughput.avg.pct_of_peak_sustained_elapsed",
	"lts__throughput.avg.pct_of_peak_sustained_elapsed",
	"l1tex__throughput.avg.pct_of_peak_sustained_active",
	(const char *)0,
};
