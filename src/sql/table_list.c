/* SPDX-License-Identifier: Apache-2.0 */
/* table_list.c - the lists among the tables of `headway sql`, in the order of .tables. The tables of spans stand before them. */
#include "sql/sql_tables.h"

const struct sql_table *const sql_lists[] = {&table_kernels,       &table_names,
					     &table_steps,         &table_phases,
					     &table_gaps,          &table_findings,
					     &table_verdict,       &table_lanes,
					     &table_ranks,         &table_hosts,
					     &table_processes,     &table_threads,
					     &table_devices,       &table_contexts,
					     &table_streams,       &table_counters,
					     &table_stacks,        &table_frames,
					     &table_modules,       &table_edges,
					     &table_messages,      &table_groups,
					     &table_measured,      &table_measures,
					     &table_stalled_lines, &table_nodes,
					     &table_node_edges,    &table_properties,
					     &table_diagnostics,   &table_drops,
					     &table_clocks,        &table_pings,
					     &table_calibrations,  NULL};
