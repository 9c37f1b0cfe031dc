/* SPDX-License-Identifier: Apache-2.0 */
/* reports.c - the list of all reports, and the making of one.
 *
 * A new report is one maker (families.h says in which file) and one line in this list.
 */
#include "stats/families.h"

const struct stats_report stats_reports[] = {
	/* Each element: name, title, about, subject, maker, whether the report is shown by
	 * default. */
	{"op_sum", "Operators", "a framework's operators: calls, self and total CPU and GPU time",
	 "operators", make_op_sum, true},
	{"module_sum", "Modules",
	 "modules of the model: GPU and CPU time of their operators, self and total", "modules",
	 make_module_sum, false},
	{"nvtx_sum", "NVTX ranges", "push/pop and start/end ranges by name", "NVTX ranges",
	 make_nvtx_sum, true},
	{"nvtx_pushpop_sum", "NVTX push/pop ranges", "push/pop ranges by name", "push/pop ranges",
	 make_nvtx_pushpop_sum, false},
	{"nvtx_startend_sum", "NVTX start/end ranges", "start/end ranges by name",
	 "start/end ranges", make_nvtx_startend_sum, false},
	{"nvtx_pushpop_trace", "NVTX push/pop ranges in order",
	 "push/pop ranges with their nesting", "push/pop ranges", make_nvtx_pushpop_trace, false},
	{"nvtx_gpu_proj_sum", "NVTX ranges on the GPU",
	 "ranges projected onto the device work launched in them, by name",
	 "ranges with device work", make_nvtx_gpu_proj_sum, false},
	{"nvtx_gpu_proj_trace", "NVTX ranges on the GPU, in order",
	 "ranges projected onto the device work launched in them", "ranges with device work",
	 make_nvtx_gpu_proj_trace, false},
	{"nvtx_kern_sum", "Kernels by NVTX range", "kernels by the ranges they were launched in",
	 "kernels and NVTX ranges", make_nvtx_kern_sum, false},
	{"cuda_api_sum", "CUDA API calls", "API calls by name", "API calls", make_cuda_api_sum,
	 true},
	{"cuda_api_trace", "CUDA API calls in order", "every API call", "API calls",
	 make_cuda_api_trace, false},
	{"cuda_api_gpu_sum", "CUDA API calls, kernels and memory operations",
	 "API calls, kernels and memory operations by name", "API calls and device work",
	 make_cuda_api_gpu_sum, false},
	{"cuda_gpu_kern_sum", "Kernels", "kernels by name", "kernels", make_cuda_gpu_kern_sum,
	 true},
	{"cuda_gpu_kern_gb_sum", "Kernels by grid and block",
	 "kernels by name, grid and block dimensions", "kernels", make_cuda_gpu_kern_gb_sum, false},
	{"cuda_gpu_mem_time_sum", "Memory operations by time", "copies and fills by time",
	 "memory operations", make_cuda_gpu_mem_time_sum, true},
	{"cuda_gpu_mem_size_sum", "Memory operations by size", "copies and fills by bytes moved",
	 "memory operations", make_cuda_gpu_mem_size_sum, true},
	{"cuda_gpu_sum", "Kernels and memory operations", "kernels, copies and fills by name",
	 "device work", make_cuda_gpu_sum, false},
	{"cuda_gpu_trace", "Device work in order",
	 "every kernel, copy and fill, with its launch shape", "device work", make_cuda_gpu_trace,
	 false},
	{"cuda_kern_exec_sum", "Kernel launches",
	 "kernels by launching call: time in the call, in the queue, on the device",
	 "kernels with a launch", make_cuda_kern_exec_sum, false},
	{"cuda_kern_exec_trace", "Kernel launches in order",
	 "every kernel with its launch: time in the call, in the queue, on the device",
	 "kernels with a launch", make_cuda_kern_exec_trace, false},
	{"mpi_event_sum", "MPI calls", "calls of MPI by name", "calls of MPI", make_mpi_event_sum,
	 true},
	{"mpi_msg_size_sum", "MPI message sizes",
	 "bytes that calls of MPI sent and received, by name", "messages of MPI",
	 make_mpi_msg_size_sum, true},
	{"mpi_event_trace", "MPI calls in order",
	 "every call of MPI, with the other rank, the tag and the bytes", "calls of MPI",
	 make_mpi_event_trace, false},
	{"cublas_sum", "cuBLAS calls", "calls of cuBLAS, cuBLASLt and cuBLASXt by name",
	 "calls of cuBLAS", make_cublas_sum, true},
	{"cudnn_sum", "cuDNN calls", "calls of cuDNN by name", "calls of cuDNN", make_cudnn_sum,
	 true},
	{"cusparse_sum", "cuSPARSE calls", "calls of cuSPARSE by name", "calls of cuSPARSE",
	 make_cusparse_sum, true},
	{"cusolver_sum", "cuSOLVER calls", "calls of cuSOLVER by name", "calls of cuSOLVER",
	 make_cusolver_sum, true},
	{"cufft_sum", "cuFFT calls", "calls of cuFFT by name", "calls of cuFFT", make_cufft_sum,
	 true},
	{"opencl_api_sum", "OpenCL calls", "OpenCL calls by name", "OpenCL calls",
	 make_opencl_api_sum, true},
	{"opencl_gpu_sum", "OpenCL commands", "OpenCL's kernels, copies and fills by name",
	 "OpenCL commands", make_opencl_gpu_sum, true},
	{"nccl_sum", "NCCL",
	 "what NCCL and RCCL exchanged, by operation and size: bandwidth, and waiting for ranks apart",
	 "operations of NCCL", make_nccl_sum, true},
	{"wait_state_sum", "Ranks that wait",
	 "what ranks of a job lose in communication to ranks that come late, by call and place",
	 "wait states", make_wait_state_sum, true},
	{"osrt_sum", "System calls", "calls into the system's libraries by name", "system calls",
	 make_osrt_sum, true},
	{"cpu_sample_sum", "CPU samples",
	 "functions by the samples taken in them, and in what they call", "CPU samples",
	 make_cpu_sample_sum, true},
	{"thread_state_sum", "Threads", "threads: how long each ran, was preempted, and waited",
	 "scheduling of threads", make_thread_state_sum, true},
	{"um_sum", "Unified memory", "migrations of unified memory by address",
	 "unified-memory migrations", make_um_sum, true},
	{"wait_sum", "Blocking calls",
	 "calls that wait for the device, by place: why, how long, how often for nothing",
	 "blocking calls", make_wait_sum, true},
	{"graph_sum", "Graph launches", "launched graphs: how often, how long, what is inside",
	 "graph launches", make_graph_sum, true},
	{"gpu_metrics_sum", "GPU metrics",
	 "counters of each GPU over time: mean of all samples and of those while the GPU works",
	 "GPU metrics", make_gpu_metrics_sum, true},
	{"gpu_metrics_step_sum", "GPU metrics by step", "means of GPU metrics in each step",
	 "GPU metrics", make_gpu_metrics_step_sum, false},
	{"gpu_metrics_kern_sum", "GPU metrics by kernel",
	 "means of GPU metrics while kernels of a name run, where enough samples are of them alone",
	 "GPU metrics", make_gpu_metrics_kern_sum, false},
	{"gpu_metrics_nvtx_sum", "GPU metrics by NVTX range",
	 "means of GPU metrics while work runs that a range launched",
	 "GPU metrics and NVTX ranges", make_gpu_metrics_nvtx_sum, false},
	{"op_roofline", "Operators under the roof",
	 "operators by name and shapes: FLOP/s, bytes/s, intensity, share of the device's peak",
	 "operators with shapes that are known", make_op_roofline, false},
	{"kernel_roofline", "Kernels under the roof",
	 "kernels of such operators: FLOP/s, bytes/s, intensity, share of the device's peak",
	 "kernels of operators with shapes", make_kernel_roofline, false},
	{"kernel_occupancy", "Kernels by theoretical occupancy",
	 "kernels by name and launch shape: resident warps, what limits them, waves, tail",
	 "kernels with a launch shape", make_kernel_occupancy, false},
	{0},
};

const struct stats_report *stats_find(const char *name)
{
	for (const struct stats_report *report = stats_reports; report->name; report++)
		if (strcmp(report->name, name) == 0)
			return report;
	return NULL;
}

void report_columns(struct report_run *run, const struct stats_column *columns, uint32_t n)
{
	run->columns = columns;
	run->n_columns = n;
}

void report_row(struct report_run *run, const struct stats_cell *cells)
{
	if (!run->begun)
		run->sink->begin(run->sink->self, run->columns, run->n_columns);
	run->begun = true;
	run->sink->row(run->sink->self, cells, run->n_columns);
}

int64_t report_device_number(const struct hwy_trace *trace, uint32_t lane)
{
	const struct hwy_stream *stream = report_lane_stream(trace, lane);
	if (stream && stream->ordinal != HWY_NONE)
		return stream->ordinal;
	int64_t device = trace->lanes[lane].device;
	return device >= 0 && device < trace->n_devices ? trace->devices[device].ordinal : HWY_NONE;
}

bool stats_run(struct hwy_trace *trace, const struct stats_report *report,
	       const struct stats_options *options, const struct stats_sink *sink,
	       struct hwy_err *err)
{
	struct report_run run = {.trace = trace, .options = options, .sink = sink};
	bool ok = filter_open(&run.filter, trace, options, err) && report->make(&run, err);
	filter_close(&run.filter);
	return ok;
}
