/* findings.c - the table of findings, in the order in which they may claim time: what is nearest
 * the cause comes first, so that a fix is not promised twice. docs/findings/ID.md explains each. */
#include "diagnose/findings/findings.h"

const struct hwy_finding_kind *const hwy_finding_kinds[] = {
	/* the recording itself */
	&finding_profiler_cost,
	/* work that has no place in a loop */
	&finding_module_load_late,
	&finding_alloc_in_loop,
	&finding_graph_rebuilt,
	/* data on its way */
	&finding_copy_roundtrip,
	&finding_pageable_copy,
	/* the CPU stops for the GPU */
	&finding_sync_useless,
	&finding_staircase,
	&finding_sync_in_model,
	&finding_sync_in_loop,
	/* the GPU stops for the CPU */
	&finding_input_starved,
	&finding_copy_small,
	&finding_launch_bound,
	&finding_cpu_bound_gap,
	/* the GPU's parts stop for each other */
	&finding_comm_exposed,
	&finding_copy_serial,
	&finding_default_stream,
	&finding_priority_inversion,
	&finding_stream_serial,
	&finding_kernel_storm,
	/* inside the GPU */
	&finding_copy_bandwidth,
	&finding_no_tensor_cores,
	&finding_grid_too_small,
	/* several ranks together: rank_straggler.c */
	&finding_rank_straggler,
	NULL,
};
