/* families.h - the reports, by family: one file each. The list of them is in reports.c. */
#ifndef HWY_STATS_FAMILIES_H
#define HWY_STATS_FAMILIES_H

#include "stats/report_run.h"

/* gpu_sums.c: device work, summed up */
bool make_cuda_gpu_kern_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_gpu_kern_gb_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_gpu_mem_time_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_gpu_mem_size_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_gpu_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_api_gpu_sum(struct stats_run *run, struct hwy_err *err);
/* call_tables.c: calls into the vendor's and the system's libraries */
bool make_cuda_api_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_api_trace(struct stats_run *run, struct hwy_err *err);
bool make_osrt_sum(struct stats_run *run, struct hwy_err *err);
/* opencl_tables.c */
bool make_opencl_api_sum(struct stats_run *run, struct hwy_err *err);
bool make_opencl_gpu_sum(struct stats_run *run, struct hwy_err *err);
/* gpu_trace.c: device work, one row each */
bool make_cuda_gpu_trace(struct stats_run *run, struct hwy_err *err);
/* kernel_exec.c: kernels with their launches */
bool make_cuda_kern_exec_sum(struct stats_run *run, struct hwy_err *err);
bool make_cuda_kern_exec_trace(struct stats_run *run, struct hwy_err *err);
/* nvtx_sums.c: ranges, summed up */
bool make_nvtx_sum(struct stats_run *run, struct hwy_err *err);
bool make_nvtx_pushpop_sum(struct stats_run *run, struct hwy_err *err);
bool make_nvtx_startend_sum(struct stats_run *run, struct hwy_err *err);
/* nvtx_trace.c: ranges in their nesting */
bool make_nvtx_pushpop_trace(struct stats_run *run, struct hwy_err *err);
/* nvtx_gpu.c: ranges and the device work launched in them */
bool make_nvtx_gpu_proj_sum(struct stats_run *run, struct hwy_err *err);
bool make_nvtx_gpu_proj_trace(struct stats_run *run, struct hwy_err *err);
bool make_nvtx_kern_sum(struct stats_run *run, struct hwy_err *err);
/* cpu.c: samples and scheduling */
bool make_cpu_sample_sum(struct stats_run *run, struct hwy_err *err);
bool make_thread_state_sum(struct stats_run *run, struct hwy_err *err);
/* um.c: unified memory */
bool make_um_sum(struct stats_run *run, struct hwy_err *err);
/* ops.c, wait_tables.c, graphs.c: Headway's own */
bool make_op_sum(struct stats_run *run, struct hwy_err *err);
bool make_wait_sum(struct stats_run *run, struct hwy_err *err);
bool make_graph_sum(struct stats_run *run, struct hwy_err *err);

/* ---- words that several families use (nsys_labels.c) ----------------------------------------------------- */

/* A call's name as nsys shows it: "cudaMalloc" for "cudaMalloc_v3020" (but v10000 and v2 stay). */
struct hwy_text word_of_call(struct hwy_text name);
/* "[CUDA memcpy Host-to-Device]", "[CUDA memset]"; lives for ever. */
struct hwy_text word_of_copy(int64_t direction);
struct hwy_text word_of_fill(void);
enum { WORD_DIMENSIONS = 64 };
/* "  16   16    1" */
struct hwy_text word_of_dimensions(int64_t x, int64_t y, int64_t z, char text[WORD_DIMENSIONS]);
/* "domain:name", in the buffer, which grows. */
struct hwy_text word_of_names(struct hwy_text domain, struct hwy_text name,
			      struct word_buffer *buffer);
struct hwy_text word_of_range(const struct hwy_trace *trace, uint32_t lane, int64_t name,
			      struct word_buffer *buffer);

#endif
