/* SPDX-License-Identifier: Apache-2.0 */
/* ingest.c - reads a run directory: two passes over all records, then the trace is finished.
 *
 * ingest_internal.h says what the passes are for; ingest_run says why its steps stand in their
 * order.
 */
#include "ingest/ingest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/operators.h"
#include "ingest/python_places.h"
#include "ingest/unwind.h"
#include "spool/record_frameworks.h"
#include "spool/record_mpi.h"
#include "spool/record_nccl.h"
#include "trace/find_messages.h"
#include "trace/privacy.h"

void ingest_list_add(struct ingest_list *list, const void *record)
{
	HWY_GROW(list->items, list->n, list->cap);
	list->items[list->n++] = record;
}

/* ---- texts
 * ------------------------------------------------------------------------------------ */

static void define_text(struct ingest_texts *texts, const struct rec_string *record)
{
	uint32_t *ref = hwy_ids_put(&texts->refs, record->head.value);
	if (hwy_ref32_is_set(*ref))
		return;
	*ref = hwy_ref32(texts->n);
	HWY_GROW(texts->list, texts->n, texts->cap);
	texts->list[texts->n++] = (struct ingest_text){.record = record};
}

struct ingest_text *ingest_text_entry(struct ingest_process *process, uint32_t id)
{
	uint32_t ref = id ? hwy_ids_get(&process->texts.refs, id) : HWY_REF_NONE;
	return hwy_ref32_is_set(ref) ? &process->texts.list[hwy_ref32_index(ref)] : NULL;
}

uint32_t ingest_text(struct ingest *in, struct ingest_process *process, uint32_t id)
{
	struct ingest_text *text = ingest_text_entry(process, id);
	if (!text)
		return 0;
	if (!hwy_ref32_is_set(text->text_ref))
		text->text_ref =
			hwy_ref32(hwy_text_id_n(in->b, text->record->text, text->record->length));
	return hwy_ref32_index(text->text_ref);
}

/* ---- losses and diagnostics
 * --------------------------------------------------------------------- */

/* Adds to the last drop what is lost there for the same reason; false if that is another reason. A
 * collector that counts a lasting loss writes a record now and then. */
static bool add_to_last_drop(struct ingest *in, const struct hwy_drop *more)
{
	struct hwy_drop *last =
		in->trace->n_drops ? &in->trace->drops[in->trace->n_drops - 1] : NULL;
	if (!last || last->process != more->process || last->thread != more->thread ||
	    last->source != more->source || last->reason != more->reason ||
	    last->count > INT64_MAX - more->count)
		return false;
	last->count += more->count;
	if (last->from == HWY_NONE)
		last->from = last->to;
	if (more->to != HWY_NONE)
		last->to = more->to;
	return true;
}

void ingest_drop(struct ingest *in, int64_t process, int64_t thread, const char *source,
		 uint32_t reason, uint64_t count, int64_t time)
{
	struct hwy_drop more = {
		.process = process,
		.thread = thread,
		.source = hwy_text_id(in->b, source),
		.reason = reason,
		.count = count < INT64_MAX ? (int64_t)count : INT64_MAX,
		.to = time,
	};
	if (add_to_last_drop(in, &more))
		return;
	uint32_t index = hwy_new_drops(in->b);
	struct hwy_drop *drop = &in->trace->drops[index];
	drop->process = process;
	drop->thread = thread;
	drop->source = hwy_text_id(in->b, source);
	drop->reason = reason;
	drop->count = count < INT64_MAX ? (int64_t)count : INT64_MAX;
	drop->to = time;
}

void ingest_note_diagnostic(struct ingest *in, int severity, int64_t process, const char *format,
			    ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	uint32_t index = hwy_new_diagnostics(in->b);
	struct hwy_diagnostic *diagnostic = &in->trace->diagnostics[index];
	diagnostic->severity = severity;
	diagnostic->process = process;
	diagnostic->text = hwy_text_id(in->b, text);
}

/* A time that is more than a year away from the run's start is no time of this run: the record is
 * damaged. */
static const int64_t YEAR_NS = INGEST_YEAR_NS;

bool ingest_is_time(const struct ingest *in, int64_t time)
{
	return time > 0 && time - in->epoch <= YEAR_NS && in->epoch - time <= YEAR_NS;
}

int64_t ingest_moment(const struct ingest *in, int64_t time)
{
	return ingest_is_time(in, time) ? time - in->epoch : HWY_NONE;
}

bool ingest_times(struct ingest *in, int64_t start, int64_t duration, struct hwy_row *row)
{
	if (!ingest_is_time(in, start)) {
		in->no_time++;
		return false;
	}
	duration = ingest_duration(duration);
	if (start + duration < in->cut) {
		in->old++;
		return false;
	}
	row->v[HWY_START] = start - in->epoch;
	row->v[HWY_DUR] = duration;
	return true;
}

/* ---- processes
 * --------------------------------------------------------------------------------- */

struct process_key { /* a key of ingest.process_of, so it must have no padding */
	uint64_t identity;
	uint64_t pid;
};

static uint32_t process_of(struct ingest *in, const struct rec_chunk *chunk)
{
	bool fresh;
	struct process_key key = {chunk->process, chunk->pid};
	uint32_t *process = hwy_index_put(&in->process_of, &key, sizeof key, &fresh);
	if (fresh) {
		*process = in->n_processes;
		HWY_GROW(in->processes, in->n_processes, in->cap_processes);
		in->processes[in->n_processes++] = (struct ingest_process){
			.pid = chunk->pid,
			.record = UINT32_MAX,
			.opened = in->epoch,
			.start = HWY_NONE,
			.end = HWY_NONE,
		};
		if (ingest_is_time(in, chunk->opened))
			in->processes[*process].opened = chunk->opened;
	}
	return *process;
}

struct ingest_process *ingest_owner(struct ingest *in, const struct spool_chunk *chunk)
{
	return chunk->process == UINT32_MAX ? &in->run : &in->processes[chunk->process];
}

/* ---- first pass: definitions
 * ------------------------------------------------------------------- */

static void note_with_chunk(struct ingest_list *list, struct ingest_list *chunks,
			    const struct rec_head *record, const struct spool_chunk *chunk)
{
	ingest_list_add(list, record);
	ingest_list_add(chunks, chunk);
}

static uint32_t shape_of(struct ingest *in, const struct rec_shape *record)
{
	struct hwy_shape shape = {
		.grid_x = record->grid[0],
		.grid_y = record->grid[1],
		.grid_z = record->grid[2],
		.block_x = record->block[0],
		.block_y = record->block[1],
		.block_z = record->block[2],
		.cluster_x = record->cluster[0],
		.cluster_y = record->cluster[1],
		.cluster_z = record->cluster[2],
		.registers = record->registers,
		.static_shared = record->static_shared,
		.dynamic_shared = record->dynamic_shared,
		.executed_shared = record->executed_shared,
		.local_per_thread = record->local_per_thread,
		.local_total = record->local_total,
	};
	return hwy_add_shape(in->b, &shape);
}

/* A process registers again when its Python version or rank becomes known. The last registration
 * counts; but spool files are read in any order, so one with a Python version is never replaced
 * by one without. */
static void note_registration(struct ingest_process *process, const struct rec_process *record)
{
	if (!process->registration || !process->registration->python || record->python)
		process->registration = record;
}

static void read_definition(struct ingest *in, struct ingest_process *process,
			    const struct rec_head *record, const struct spool_chunk *chunk)
{
	switch (record->type) {
	case REC_STRING: define_text(&process->texts, (const void *)record); break;
	case REC_SHAPE:
		*hwy_ids_put(&process->shapes, record->value) =
			hwy_ref32(shape_of(in, (const void *)record));
		break;
	case REC_CODE:
		*hwy_ids_put(&process->codes, record->value) = hwy_ref32(process->code.n);
		ingest_list_add(&process->code, record);
		break;
	case REC_PROCESS: note_registration(process, (const void *)record); break;
	case REC_EXIT:
		if (ingest_end_of(in, record))
			process->end = ingest_end_of(in, record);
		process->exited = true;
		process->execed = record->flags & REC_EXIT_EXEC;
		process->in_order |= !(record->flags & REC_EXIT_BARE);
		break;
	case REC_THREAD: ingest_list_add(&process->threads, record); break;
	case REC_MODULE: ingest_list_add(&process->modules, record); break;
	case REC_DEVICE: ingest_list_add(&process->devices, record); break;
	case REC_CONTEXT: ingest_list_add(&process->contexts, record); break;
	case REC_STREAM: ingest_list_add(&process->streams, record); break;
	case REC_NAME: ingest_list_add(&process->names, record); break;
	case REC_COMMUNICATOR: ingest_list_add(&process->communicators, record); break;
	case REC_NOTE: note_with_chunk(&in->notes, &in->note_chunks, record, chunk); break;
	case REC_DROP: note_with_chunk(&in->drops, &in->drop_chunks, record, chunk); break;
	case REC_PROPERTY:
		note_with_chunk(&in->properties, &in->property_chunks, record, chunk);
		break;
	case REC_INTERRUPTED: process->interrupted++; break;
	case REC_CLOCK: ingest_list_add(&in->clocks, record); break;
	case REC_STATUS: ingest_list_add(&in->statuses, record); break;
	case REC_PYTHON_STACK:
	case REC_NATIVE_STACK: stacks_note(in, process, chunk->file, (const void *)record); break;
	case REC_PLACE:
	case REC_LAYER: python_places_note(process, record); break;
	case REC_NCCL_COMM: process->has_nccl_comms = true; break;
	case REC_NVTX_DEFINITION: nvtx_schemas_note(process, (const void *)record); break;
	case REC_ROOM: ingest_list_add(&in->rooms, record); break;
	case REC_EVENT: driver_waits_expect_call(in, process, (const void *)record); break;
	default: break;
	}
}

/* Of all records that say "recording began" or "recording ended" the one with the latest time
 * counts. */
static void note_recording(struct ingest *in, const struct rec_time *record)
{
	if (record->time < in->recording_changed || !ingest_is_time(in, record->time))
		return;
	in->recording_changed = record->time;
	in->recording_end = record->head.value ? INT64_MAX : record->time;
}

static void read_definitions(struct ingest *in)
{
	for (uint32_t c = 0; c < in->spools.n_chunks; c++) {
		struct spool_chunk *chunk = &in->spools.chunks[c];
		chunk->process =
			chunk->header->pid == 0 ? UINT32_MAX : process_of(in, chunk->header);
		struct ingest_process *process = ingest_owner(in, chunk);
		struct spool_cursor cursor = spools_walk(chunk);
		while (spools_next(&cursor)) {
			const struct rec_head *record = cursor.record;
			int64_t end = ingest_end_of(in, record);
			if (end > process->last)
				process->last = end;
			process->events += record->type >= REC_API && record->type <= REC_MARK;
			if (record->type == REC_RECORDING) {
				note_recording(in, (const void *)record);
				task_lifetimes_note_recording(in, (const void *)record);
			} else if (record->type == REC_SAMPLE || record->type == REC_SWITCH ||
				   record->type == REC_TASK || record->type == REC_MAP) {
				/* Only the parent writes these types of records, so that this
				 * spool is damaged. */
				if (process != &in->run)
					continue;
				task_lifetimes_note_record(in, record);
				if (record->type == REC_SAMPLE)
					samples_note(in, chunk->file, (const void *)record);
			} else if (record->type >= REC_COUNTER_DEVICE &&
				   record->type <= REC_COUNTER_TOTAL) {
				/* The watcher's, whose chunks are like the parent's. */
				if (process == &in->run)
					ingest_counters_note(in, record, chunk);
			} else if (record->type == REC_OWNER) {
				chunk->is_shared = true;
			} else {
				read_definition(in, process, record, chunk);
			}
		}
		in->spools.damaged += cursor.damaged;
		hwy_tell(in->progress, "reading", c, 3 * (uint64_t)in->spools.n_chunks);
	}
}

/* ---- second pass: events --------------------------------------------------------------------- */

/* Reads a record that the thread 'tid' of a process wrote. */
static void read_event(struct ingest *in, uint32_t process, uint32_t tid,
		       const struct rec_head *record)
{
	switch (record->type) {
	case REC_API:
	case REC_KERNEL:
	case REC_COPY:
	case REC_FILL:
	case REC_GRAPH:
	case REC_MEMORY:
	case REC_OVERHEAD: ingest_cuda_add(in, process, record); break;
	case REC_SYNC:
	case REC_EVENT: driver_waits_add(in, &in->processes[process], record); break;
	case REC_COMMAND:
	case REC_DEPENDS: ingest_opencl_add(in, process, record); break;
	case REC_PUSH:
	case REC_POP:
	case REC_RANGE_START:
	case REC_RANGE_END:
	case REC_MARK: ingest_nvtx_add(in, process, tid, (const void *)record); break;
	case REC_NVTX_PAYLOAD:
	case REC_NVTX_SAMPLE:
	case REC_CALL: library_calls_add(in, process, tid, record); break;
	case REC_NODE: ingest_nodes_add(in, process, tid, (const void *)record); break;
	case REC_MPI:
	case REC_PING: ingest_mpi_add(in, process, tid, record); break;
	case REC_OS: os_add(in, process, tid, (const void *)record); break;
	case REC_COLLECTION: ingest_python_add(in, process, tid, (const void *)record); break;
	case REC_OPERATOR: operators_add(in, process, tid, (const void *)record); break;
	default:
		if (record->type >= REC_NCCL_COMM && record->type <= REC_NCCL_PROXY)
			ingest_nccl_add(in, process, tid, record);
	}
}

/* Reads a chunk whose file was written by the thread 'tid' before; yields the thread that wrote to
 * it last. A thread ends before another one takes over its spool, and ends its ranges with it. */
static uint32_t ingest_read_chunk(struct ingest *in, const struct spool_chunk *chunk, uint32_t tid)
{
	struct spool_cursor cursor = spools_walk(chunk);
	if (tid != cursor.tid)
		ingest_nvtx_end_file(in, chunk->process, tid);
	tid = cursor.tid;
	while (spools_next(&cursor)) {
		if (cursor.record->type != REC_OWNER) {
			read_event(in, chunk->process, tid, cursor.record);
			continue;
		}
		ingest_nvtx_end_file(in, chunk->process, tid);
		tid = cursor.tid;
	}
	return tid;
}

/* Reads a chunk of the parent's spool: CPU samples and the scheduler's switches. */
static void read_parent_chunk(struct ingest *in, const struct spool_chunk *chunk)
{
	struct spool_cursor cursor = spools_walk(chunk);
	while (spools_next(&cursor)) {
		if (cursor.record->type == REC_SAMPLE)
			samples_add(in, chunk->file, (const void *)cursor.record);
		else if (cursor.record->type == REC_SWITCH || cursor.record->type == REC_WAKEUP)
			sched_add(in, cursor.record);
	}
}

static void ingest_read_events(struct ingest *in)
{
	uint32_t n = in->spools.n_chunks, tid = 0;
	for (uint32_t c = 0; c < n; c++) {
		const struct spool_chunk *chunk = &in->spools.chunks[c];
		bool is_first = c == 0 || chunk[-1].file != chunk->file;
		if (chunk->process == UINT32_MAX) {
			read_parent_chunk(in, chunk);
			hwy_tell(in->progress, "reading", n + 2 * (uint64_t)c, 3 * (uint64_t)n);
			continue;
		}
		tid = ingest_read_chunk(in, chunk, is_first ? chunk->header->tid : tid);
		if (c + 1 == n || chunk[1].file != chunk->file)
			ingest_nvtx_end_file(in, chunk->process, tid);
		hwy_tell(in->progress, "reading", n + 2 * (uint64_t)c, 3 * (uint64_t)n);
	}
	ingest_nvtx_finish(in);
	nvtx_values_finish(in);
	ingest_nodes_finish(in);
	driver_waits_finish(in);
	ingest_opencl_finish(in);
	ingest_nccl_finish(in);
	ingest_mpi_finish(in);
	os_finish(in);
	operators_finish(in);
	sched_finish(in);
	ingest_counters_finish(in);
	task_lifetimes_name_threads(in);
}

/* ---- the whole run
 * ------------------------------------------------------------------------------ */

/* A start of the run beyond this time is damage: adding a year (YEAR_NS) to the start must not
 * overflow. */
static const int64_t LATEST_START_NS = INT64_MAX / 2;

/* Time 0 is when the parent started the run; without the parent's control page, when the first
 * spool was opened. */
static int64_t epoch_of(const struct spools *spools)
{
	if (spools->has_control && spools->control.started > 0 &&
	    spools->control.started < LATEST_START_NS)
		return spools->control.started;
	int64_t first = INT64_MAX;
	for (uint32_t c = 0; c < spools->n_chunks; c++)
		if (spools->chunks[c].header->opened > 0 &&
		    spools->chunks[c].header->opened < first &&
		    spools->chunks[c].header->opened < LATEST_START_NS)
			first = spools->chunks[c].header->opened;
	return first == INT64_MAX ? 0 : first;
}

/* The last time in any record of a process; with --keep-last, which events are too old for the
 * trace. */
static void find_run_end(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++)
		if (in->processes[p].last > in->run_end)
			in->run_end = in->processes[p].last;
	if (in->spools.has_control && in->spools.control.keep_s && in->run_end)
		in->cut = in->run_end - (int64_t)in->spools.control.keep_s * 1000000000;
}

static void free_lists(struct ingest *in)
{
	struct ingest_list *lists[] = {&in->statuses,    &in->clocks,          &in->notes,
				       &in->drops,       &in->properties,      &in->note_chunks,
				       &in->drop_chunks, &in->property_chunks, &in->rooms};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]->items);
	for (uint32_t p = 0; p < in->n_processes; p++)
		target_free_process(&in->processes[p]);
	target_free_process(&in->run);
	unwind_files_close(in->files);
	free(in->processes);
	samples_free(in);
	task_lifetimes_free(in);
	hwy_index_free(&in->process_of);
	hwy_map_free(&in->image_of);
	hwy_map_free(&in->python_lanes);
	free(in->threads);
	free(in->stacks);
	spools_close(&in->spools);
}

struct hwy_trace *ingest_run(const char *directory, const struct hwy_progress *progress,
			     struct hwy_err *err)
{
	return ingest_run_with(directory, INGEST_STACKS_WHOLE, progress, err);
}

struct hwy_trace *ingest_run_with(const char *directory, enum ingest_stacks stacks,
				  const struct hwy_progress *progress, struct hwy_err *err)
{
	/* Allocated, since it is larger than the stack that a tiny limit (ulimit -s) leaves. */
	struct ingest *in = hwy_zalloc(sizeof *in);
	in->progress = progress;
	in->wanted_stacks = stacks;
	in->cut = INT64_MIN;
	in->recording_end = INT64_MAX;
	in->run.record = UINT32_MAX;
	in->run.start = in->run.end = HWY_NONE;
	if (!spools_open(&in->spools, directory, err)) {
		spools_close(&in->spools);
		free(in);
		return NULL;
	}
	in->b = hwy_builder_new();
	in->trace = hwy_builder_trace(in->b);
	in->epoch = epoch_of(&in->spools);
	/* Each step uses what the steps above it left in 'in':
	 *  - read_definitions lists the registered processes, with their texts, devices, streams
	 *    and last times;
	 *  - find_run_end needs the last times of all processes;
	 *  - run_meta_add_host makes the host that processes and devices of the trace refer to;
	 *  - task_lifetimes_add_images completes the list of processes: target_make_records takes
	 *    it as final;
	 *  - target_make_records finds each process's start, by which task_lifetimes_index_images
	 *    sorts images;
	 *  - ingest_read_events makes spans: for that all processes, devices and images must be
	 *    known;
	 *  - run_meta_report comes last: it reports the losses that the steps above counted. */
	read_definitions(in);
	find_run_end(in);
	run_meta_add_host(in);
	task_lifetimes_add_images(in);
	target_make_records(in);
	task_lifetimes_index_images(in);
	ingest_read_events(in);
	run_meta_report(in);
	free_lists(in);
	struct hwy_trace *trace = hwy_builder_finish(in->b, false);
	free(in);
	if (!trace)
		hwy_fail(err, "%s: more than %u spans", directory, HWY_MOST_SPANS);
	else {
		hwy_find_messages(trace);
		hwy_privacy_mask(trace);
	}
	return trace;
}
