/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - every finding, by the name of its file. */
#ifndef HWY_DIAGNOSE_FINDINGS_FINDINGS_H
#define HWY_DIAGNOSE_FINDINGS_FINDINGS_H

#include "diagnose/diagnose.h"

extern const struct hwy_finding_kind finding_alloc_in_loop, finding_attention_unfused,
	finding_cache_grows, finding_cast_repeated, finding_comm_exposed, finding_copy_bandwidth,
	finding_copy_roundtrip, finding_copy_serial, finding_copy_small, finding_cpu_bound_gap,
	finding_default_stream, finding_device_copies, finding_gc_pauses, finding_gil_contention,
	finding_graph_rebuilt, finding_grid_too_small, finding_input_starved, finding_kernel_storm,
	finding_launch_bound, finding_layout_changes, finding_module_load_late,
	finding_no_tensor_cores, finding_optimizer_unfused, finding_pageable_copy,
	finding_priority_inversion, finding_profiler_cost, finding_rank_straggler,
	finding_staircase, finding_stream_serial, finding_sync_in_loop, finding_sync_in_model,
	finding_sync_useless, finding_throttled, finding_too_many_workers, finding_zero_grad_fills,
	finding_few_sms, finding_memory_bound, finding_tensor_idle, finding_link_saturated,
	finding_low_occupancy, finding_late_by_turns, finding_slow_link;

/* What to do about kernels that leave most multiprocessors without work; in grid_too_small.c. */
extern const struct advice finding_more_blocks;

/* Whether the phase's steps put together what grows from step to step, as a cache of keys and
 * values does: no graph can be captured of steps whose shapes change. */
bool operator_cures_cache_grows(struct hwy_case *c);

#endif
