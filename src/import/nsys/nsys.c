/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.c - reads an export of `nsys export --type sqlite`, schema 2.x to 3.25, into a trace.
 *
 * Times stay as the export has them: ns since the session's start, which may be negative. Rows that
 * cannot be used are counted in the trace's drops. Environment variables and files that the export
 * holds are never read.
 */
#include "import/nsys/nsys.h"

#include <stdlib.h>

#include "import/import.h"
#include "trace/find_messages.h"
#include "trace/message_fill.h"

/* In this order: tables that decide which record a row belongs to come before the rows, names come
 * after the rows, waits come after the calls that they belong to. */
static void (*const parts[])(struct nsys *) = {
	nsys_read_target, nsys_read_stacks,      nsys_expect_calls,     nsys_read_cuda,
	nsys_read_waits,  nsys_read_nodes,       nsys_read_nvtx,        nsys_read_cpu,
	nsys_read_mpi,    nsys_read_sched,       nsys_read_gpu_metrics, nsys_name_target,
	nsys_read_meta,   nsys_read_diagnostics,
};

static const char *const large_tables[] = {
	"CUPTI_ACTIVITY_KIND_RUNTIME",
	"CUPTI_ACTIVITY_KIND_KERNEL",
	"CUPTI_ACTIVITY_KIND_MEMCPY",
	"CUPTI_ACTIVITY_KIND_MEMSET",
	"NVTX_EVENTS",
	"OSRT_API",
	"SCHED_EVENTS",
	"SAMPLING_CALLCHAINS",
	"GPU_METRICS",
};

/* For the progress only: the last row id of a table is nearly its number of rows, and is found
 * without a scan. */
static void guess_rows(struct nsys *n)
{
	struct nsys_query q;
	if (!n->progress || !n->progress->tell)
		return;
	for (size_t i = 0; i < sizeof large_tables / sizeof *large_tables; i++) {
		if (!nsys_select(n, &q, large_tables[i], "rowid", "ORDER BY rowid DESC LIMIT 1"))
			continue;
		while (nsys_next(&q))
			n->rows_total += (uint64_t)nsys_int(&q, 0);
	}
	n->rows = 0;
}

static bool is_export(struct nsys *n)
{
	if (nsys_has_table(n, "StringIds"))
		return true;
	if (!n->failed)
		hwy_fail(
			n->err,
			"%s: an SQLite database without a table StringIds; is this an nsys export?",
			n->path);
	n->failed = true;
	return false;
}

static void free_parts(struct nsys *n)
{
	struct hwy_map *maps[] = {&n->string_rows, &n->process_of, &n->thread_of, &n->host_of,
				  &n->call_of};
	struct hwy_index *indexes[] = {&n->device_of, &n->gpu_of, &n->stream_of, &n->fact_of};
	struct hwy_ids *ids[] = {&n->strings, &n->cuda_chains, &n->os_chains, &n->sample_chains,
				 &n->syscall_chains};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
	for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
		hwy_index_free(indexes[i]);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		hwy_ids_free(ids[i]);
	free(n->streams);
	free(n->facts);
	free(n->calls);
	nsys_nodes_free(n);
	nsys_db_close(n);
}

struct hwy_trace *import_nsys(const char *path, const struct hwy_progress *progress,
			      struct hwy_err *err)
{
	struct nsys n = {
		.path = path,
		.progress = progress,
		.err = err,
		.last_stream = UINT32_MAX,
		.last_thread = UINT32_MAX,
	};
	n.b = hwy_builder_new();
	n.trace = hwy_builder_trace(n.b);
	if (nsys_db_open(&n) && is_export(&n)) {
		guess_rows(&n);
		for (size_t i = 0; i < sizeof parts / sizeof *parts && !n.failed; i++)
			parts[i](&n);
	}
	free_parts(&n);
	if (n.failed) {
		hwy_builder_free(n.b);
		return NULL;
	}
	struct hwy_trace *trace = hwy_builder_finish(n.b, false);
	if (!trace)
		hwy_fail(err, "%s: more than %u spans", path, HWY_MOST_SPANS);
	if (trace) {
		message_number_collectives(trace, 0);
		hwy_find_messages(trace);
	}
	return trace;
}
