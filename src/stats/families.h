/* SPDX-License-Identifier: Apache-2.0 */
/* families.h - the makers of the reports, by family: make_NAME makes the report NAME. reports.c
 * lists them all.
 *
 * A family is one file of src/stats/. A maker names the report's columns and hands its rows to
 * the run's sink; false with a sentence where the trace cannot be read.
 */
#ifndef HWY_STATS_FAMILIES_H
#define HWY_STATS_FAMILIES_H

#include "stats/report_run.h"

/* gpu_sums.c makes these reports: device work, summed up. */
bool make_cuda_gpu_kern_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_gpu_kern_gb_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_gpu_mem_time_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_gpu_mem_size_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_gpu_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_api_gpu_sum(struct report_run *run, struct hwy_err *err);
/* call_tables.c makes these reports: calls into the vendor's and the system's libraries. */
bool make_cuda_api_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_api_trace(struct report_run *run, struct hwy_err *err);
bool make_osrt_sum(struct report_run *run, struct hwy_err *err);
/* library_tables.c makes these reports: calls of the vendor's other libraries. */
bool make_cublas_sum(struct report_run *run, struct hwy_err *err);
bool make_cudnn_sum(struct report_run *run, struct hwy_err *err);
bool make_cusparse_sum(struct report_run *run, struct hwy_err *err);
bool make_cusolver_sum(struct report_run *run, struct hwy_err *err);
bool make_cufft_sum(struct report_run *run, struct hwy_err *err);
/* mpi_tables.c makes these reports: calls of MPI, and what they exchanged. */
bool make_mpi_event_sum(struct report_run *run, struct hwy_err *err);
bool make_mpi_event_trace(struct report_run *run, struct hwy_err *err);
bool make_mpi_msg_size_sum(struct report_run *run, struct hwy_err *err);
/* opencl_tables.c makes these reports: OpenCL's calls and commands. */
bool make_opencl_api_sum(struct report_run *run, struct hwy_err *err);
bool make_opencl_gpu_sum(struct report_run *run, struct hwy_err *err);
/* nccl_tables.c makes this report: what ranks exchanged through NCCL. */
bool make_nccl_sum(struct report_run *run, struct hwy_err *err);
/* gpu_trace.c makes this report: device work, one row each. */
bool make_cuda_gpu_trace(struct report_run *run, struct hwy_err *err);
/* kernel_exec.c makes these reports: kernels with the calls that launched these kernels. */
bool make_cuda_kern_exec_sum(struct report_run *run, struct hwy_err *err);
bool make_cuda_kern_exec_trace(struct report_run *run, struct hwy_err *err);
/* nvtx_sums.c makes these reports: ranges, summed up. */
bool make_nvtx_sum(struct report_run *run, struct hwy_err *err);
bool make_nvtx_pushpop_sum(struct report_run *run, struct hwy_err *err);
bool make_nvtx_startend_sum(struct report_run *run, struct hwy_err *err);
/* nvtx_trace.c makes this report: ranges in their nesting. */
bool make_nvtx_pushpop_trace(struct report_run *run, struct hwy_err *err);
/* nvtx_gpu.c and nvtx_kern.c make these reports: ranges with the device work launched inside
 * each range. */
bool make_nvtx_gpu_proj_sum(struct report_run *run, struct hwy_err *err);
bool make_nvtx_gpu_proj_trace(struct report_run *run, struct hwy_err *err);
bool make_nvtx_kern_sum(struct report_run *run, struct hwy_err *err);
/* cpu.c makes these reports: samples and scheduling. */
bool make_cpu_sample_sum(struct report_run *run, struct hwy_err *err);
bool make_thread_state_sum(struct report_run *run, struct hwy_err *err);
/* um.c makes this report: unified memory. */
bool make_um_sum(struct report_run *run, struct hwy_err *err);
/* ops.c, module_tables.c, wait_tables.c, graphs.c: reports that nsys does not have */
bool make_op_sum(struct report_run *run, struct hwy_err *err);
bool make_module_sum(struct report_run *run, struct hwy_err *err);
bool make_wait_sum(struct report_run *run, struct hwy_err *err);
/* wait_state_tables.c */
bool make_wait_state_sum(struct report_run *run, struct hwy_err *err);
bool make_graph_sum(struct report_run *run, struct hwy_err *err);
/* gpu_metrics.c makes these reports: counters of the devices over time. */
bool make_gpu_metrics_sum(struct report_run *run, struct hwy_err *err);
bool make_gpu_metrics_kern_sum(struct report_run *run, struct hwy_err *err);
bool make_gpu_metrics_nvtx_sum(struct report_run *run, struct hwy_err *err);
bool make_gpu_metrics_step_sum(struct report_run *run, struct hwy_err *err);

/* roofline_tables.c makes these reports: operators and kernels under the roofs of their device,
 * by the shapes of operators; what each launch lets be resident. */
bool make_op_roofline(struct report_run *run, struct hwy_err *err);
bool make_kernel_roofline(struct report_run *run, struct hwy_err *err);
bool make_kernel_occupancy(struct report_run *run, struct hwy_err *err);

#endif
