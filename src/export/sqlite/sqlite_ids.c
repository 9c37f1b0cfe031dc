/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_ids.c - writes the tables of processes, threads, devices, contexts and streams. */
#include <string.h>

#include "export/sqlite/sqlite.h"

enum { PID_SHIFT = 24, VM_SHIFT = 48 };

static int64_t pid_part(int64_t global)
{
	return global >> PID_SHIFT & 0xffffff;
}

static void sqlite_ids_write_processes(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	for (uint32_t i = 0; i < trace->n_processes && !s->x.failed; i++) {
		const struct hwy_process *process = &trace->processes[i];
		sqlite3_stmt *row = sqlite_row(s, SQL_PROCESSES);
		if (!row)
			return;
		sqlite3_bind_int64(row, 1, s->pids[i]);
		sqlite3_bind_int64(row, 2, pid_part(s->pids[i]));
		sqlite_bind_text(s, row, 3, process->name);
		sqlite_insert(s, row);
		if (process->rank != HWY_NONE) {
			int64_t rank[] = {s->pids[i] | pid_part(s->pids[i]), process->rank};
			sqlite_integers(s, SQL_RANKS, rank, 2);
		}
	}
	for (uint32_t i = 0; i < trace->n_threads && !s->x.failed; i++) {
		const struct hwy_thread *thread = &trace->threads[i];
		int64_t v[] = {sqlite_text(s, thread->name > 0 ? thread->name : 0),
			       thread->priority != HWY_NONE ? thread->priority : SQL_NULL,
			       s->tids[i]};
		if (thread->name != HWY_NONE || thread->priority != HWY_NONE)
			sqlite_integers(s, SQL_THREADS, v, 3);
	}
}

static void bind_number(sqlite3_stmt *row, int column, int64_t value)
{
	if (value != HWY_NONE)
		sqlite3_bind_int64(row, column, value);
}

static int64_t gpu_id(const struct hwy_trace *trace, int64_t device)
{
	const struct hwy_device *at = export_device(trace, device);
	return at && at->ordinal != HWY_NONE ? at->ordinal : device;
}

static void write_gpu(struct sqlite *s, uint32_t index)
{
	const struct hwy_device *device = &s->x.trace->devices[index];
	sqlite3_stmt *row = sqlite_row(s, SQL_GPU);
	if (!row)
		return;
	int64_t host = device->host >= 0 ? device->host + 1 : 1;
	sqlite3_bind_int64(row, 1, host << VM_SHIFT);
	sqlite3_bind_int64(row, 2, gpu_id(s->x.trace, index));
	sqlite_bind_text(s, row, 3, device->name);
	sqlite_bind_text(s, row, 4, device->bus);
	sqlite_bind_text(s, row, 12, device->uuid);
	const int64_t values[][2] = {
		{6, device->l2_bytes},
		{7, device->memory_bytes},
		{8, device->memory_bandwidth},
		{9, device->clock_hz},
		{10, device->sms},
		{15, gpu_id(s->x.trace, index)},
		{22, device->registers_per_block},
		{23, device->shared_per_block},
		{24, device->shared_per_block_optin},
		{25, device->shared_per_sm},
		{26, device->registers_per_sm},
		{27, device->threads_per_warp},
		{28, device->copy_engines},
		{29, device->max_warps_per_sm},
		{30, device->max_blocks_per_sm},
		{31, device->max_threads_per_block},
		{38, device->compute_major},
		{39, device->compute_minor},
	};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		bind_number(row, (int)values[i][0], values[i][1]);
	sqlite_insert(s, row);
}

/* Writes one row for each device, and one for each pair of a process and a device on which it
 * has streams. */
static void write_devices(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	struct hwy_map done = {0};
	for (uint32_t i = 0; i < trace->n_devices && !s->x.failed; i++)
		write_gpu(s, i);
	for (uint32_t i = 0; i < trace->n_streams && !s->x.failed; i++) {
		const struct hwy_stream *stream = &trace->streams[i];
		bool fresh;
		if (!export_process(trace, stream->process))
			continue;
		int64_t ordinal = stream->ordinal != HWY_NONE ? stream->ordinal
							      : gpu_id(trace, stream->device);
		hwy_map_put(&done, (uint64_t)stream->process << 32 ^ (uint64_t)ordinal, &fresh);
		int64_t v[] = {gpu_id(trace, stream->device), ordinal,
			       pid_part(s->pids[stream->process])};
		if (fresh)
			sqlite_integers(s, SQL_DEVICE, v, 3);
	}
	hwy_map_free(&done);
}

static void write_contexts(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	for (uint32_t i = 0; i < trace->n_contexts && !s->x.failed; i++) {
		const struct hwy_context *context = &trace->contexts[i];
		if (!export_process(trace, context->process) || context->null_stream == HWY_NONE)
			continue;
		int64_t pid = s->pids[context->process];
		int64_t v[] = {
			context->null_stream,
			pid >> 56 & 0xff,
			pid >> VM_SHIFT & 0xff,
			pid_part(pid),
			sqlite_device(s, context->process, context->device),
			context->number != HWY_NONE ? context->number : 0,
			context->parent != HWY_NONE ? context->parent : SQL_NULL,
			context->green == 1,
			context->sms != HWY_NONE ? context->sms : SQL_NULL,
		};
		sqlite_integers(s, SQL_CONTEXT, v, 9);
	}
}

static void sqlite_ids_write_stream(struct sqlite *s, const struct hwy_stream *stream)
{
	int64_t pid = s->pids[stream->process];
	int64_t context = stream->context != HWY_NONE ? stream->context : 0;
	int64_t priority = stream->priority != HWY_NONE ? stream->priority : 0;
	int64_t v[] = {stream->number,
		       pid >> 56 & 0xff,
		       pid >> VM_SHIFT & 0xff,
		       pid_part(pid),
		       context,
		       (int64_t)(uint32_t)priority,
		       stream->flags >= 0 ? stream->flags : 0};
	if (stream->priority != HWY_NONE || stream->flags > 0)
		sqlite_integers(s, SQL_STREAM, v, 7);
	sqlite3_stmt *row = stream->name > 0 ? sqlite_row(s, SQL_STREAM_NAMES) : NULL;
	if (!row)
		return;
	sqlite_bind_text(s, row, 1, stream->name);
	int64_t named[] = {v[1],    v[2],
			   v[3],    sqlite_device(s, stream->process, stream->device),
			   context, stream->number};
	for (int i = 0; i < 6; i++)
		sqlite3_bind_int64(row, i + 2, named[i]);
	sqlite_insert(s, row);
}

void sqlite_ids_write(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	sqlite_ids_write_processes(s);
	write_devices(s);
	write_contexts(s);
	for (uint32_t i = 0; i < trace->n_streams && !s->x.failed; i++)
		if (export_process(trace, trace->streams[i].process) &&
		    trace->streams[i].number != HWY_NONE)
			sqlite_ids_write_stream(s, &trace->streams[i]);
}
