/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c - the table of findings, in the order in which they may claim time: what is nearest
 * the cause comes first, so that a fix is not promised twice. docs/findings/ID.md explains each. */
#include "diagnose/findings/findings.h"

const struct hwy_finding_kind *const hwy_finding_kinds[] = {
	/* Findings about the recording itself. */
	&finding_profiler_cost,
	/* Findings about work that has no place in a loop. */
	&finding_graph_rebuilt,
	&finding_module_load_late,
	&finding_alloc_in_loop,
	/* Findings where the interpreter stops the loop. */
	&finding_gc_pauses,
	&finding_gil_contention,
	/* Findings about data on its way to or from the device. */
	&finding_copy_roundtrip,
	&finding_pageable_copy,
	/* Findings where the CPU stops for the GPU. */
	&finding_sync_useless,
	&finding_staircase,
	&finding_sync_in_model,
	&finding_sync_in_loop,
	/* Findings where the GPU stops for the CPU. */
	&finding_too_many_workers,
	&finding_input_starved,
	&finding_copy_small,
	&finding_optimizer_unfused,
	&finding_zero_grad_fills,
	&finding_launch_bound,
	&finding_cpu_bound_gap,
	/* Findings where parts of the GPU stop for each other. */
	&finding_link_saturated,
	&finding_comm_exposed,
	&finding_copy_serial,
	&finding_default_stream,
	&finding_priority_inversion,
	&finding_stream_serial,
	&finding_kernel_storm,
	/* Findings about the work inside the GPU. A lower clock makes all kernels longer,
	 * whatever else there is to be said of them. */
	&finding_throttled,
	&finding_copy_bandwidth,
	&finding_attention_unfused,
	&finding_layout_changes,
	&finding_cache_grows,
	&finding_cast_repeated,
	&finding_device_copies,
	&finding_memory_bound,
	&finding_no_tensor_cores,
	&finding_tensor_idle,
	&finding_few_sms,
	&finding_grid_too_small,
	&finding_low_occupancy,
	/* Findings about several ranks together: diagnose_ranks and job/answer.c look for them. */
	&finding_rank_straggler,
	&finding_late_by_turns,
	&finding_slow_link,
	NULL,
};
