/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - the processes, threads, devices, contexts and streams that the records of a run refer
 * to.
 *
 * A process of the trace is one image of a program: exec begins another process with the same pid.
 * An image that recorded nothing before it exec'ed (the child between fork and exec) gets no
 * process of its own: its start becomes the start of the next image. Two records are about one
 * device if the uuid is the same, whatever number a process has for the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "ingest/ingest_internal.h"
#include "ingest/unwind.h"
#include "spool/record_mpi.h"

enum { FLAG_NULL_STREAM = 3, NAMED_BY_PROGRAM = 1, DOMAIN_DRIVER = 1, DOMAIN_OPENCL = 3 };

/* In records, OpenCL devices have numbers from REC_OPENCL_DEVICE on, so that they differ from CUDA
 * ordinals. */
static uint32_t ordinal_of(uint32_t device)
{
	return device >= REC_OPENCL_DEVICE ? device - REC_OPENCL_DEVICE : device;
}

static uint64_t pair_key(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* ---- processes
 * --------------------------------------------------------------------------------- */

/* Chains the images that have one pid, in the order of ingest.processes, which must be complete. */
static void chain_images(struct ingest *in)
{
	for (uint32_t p = in->n_processes; p-- > 0;) {
		uint32_t *head = hwy_map_put(&in->image_of, in->processes[p].pid, NULL);
		in->processes[p].next_ref = *head;
		*head = hwy_ref32(p);
	}
}

static struct ingest_process *image_with_ref(struct ingest *in, uint32_t ref)
{
	return hwy_ref32_is_set(ref) ? &in->processes[hwy_ref32_index(ref)] : NULL;
}

static struct ingest_process *first_image(struct ingest *in, uint32_t pid)
{
	const uint32_t *ref = in->image_of.count ? hwy_map_get(&in->image_of, pid) : NULL;
	return ref ? image_with_ref(in, *ref) : NULL;
}

/* Yields the image that had this pid at this time: the last image with the pid that began
 * before. */
static struct ingest_process *image_at(struct ingest *in, uint32_t pid, int64_t time)
{
	struct ingest_process *best = NULL;
	for (struct ingest_process *image = first_image(in, pid); image;
	     image = image_with_ref(in, image->next_ref))
		if (image->start <= time && (!best || image->start > best->start))
			best = image;
	return best;
}

struct ingest_process *target_parent(struct ingest *in, const struct ingest_process *process)
{
	struct ingest_process *parent =
		process->registration ? image_at(in, process->registration->parent, process->start)
				      : NULL;
	return parent != process ? parent : NULL;
}

static struct ingest_process *next_image(struct ingest *in, const struct ingest_process *image)
{
	struct ingest_process *next = NULL;
	for (struct ingest_process *other = first_image(in, image->pid); other;
	     other = image_with_ref(in, other->next_ref))
		if (other->start > image->start && (!next || other->start < next->start))
			next = other;
	return next;
}

static void set_start_and_end(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		int64_t start = process->registration ? process->registration->start : 0;
		process->start = ingest_is_time(in, start) ? start : process->opened;
		if (process->began && process->began < process->start)
			process->start = process->began;
	}
	for (uint32_t i = 0; i < in->statuses.n; i++) {
		const struct rec_status *status = in->statuses.items[i];
		struct ingest_process *process = image_at(in, status->head.value, status->time);
		if (process && ingest_is_time(in, status->time))
			process->status = status;
	}
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		/* The parent's time is better than the time in REC_EXIT, which an exit handler
		 * wrote before the end. */
		if (process->status)
			process->end = process->status->time;
		/* The process's end is not known: take its last record. */
		else if (process->end == HWY_NONE)
			process->end =
				process->last > process->start ? process->last : process->start;
	}
}

static int target_by_start(const void *left, const void *right)
{
	const struct ingest_process *a = *(struct ingest_process *const *)left,
				    *b = *(struct ingest_process *const *)right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

uint32_t target_command(struct ingest *in, const struct rec_string *words)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./=:,@%+";
	/* A word of n bytes and its NUL become at most 4n + 3 bytes: a quote becomes 4 bytes, and a
	 * space and two quotes are added. The last word may lack its NUL, hence the 2. */
	char *line = hwy_array((size_t)words->length + 2, 4), *to = line;
	for (uint32_t from = 0; from < words->length;) {
		const char *word = words->text + from;
		size_t n = strnlen(word, words->length - from);
		size_t safe = 0;
		while (safe < n && memchr(plain, word[safe], sizeof plain - 1))
			safe++;
		if (to > line)
			*to++ = ' ';
		if (n && safe == n) {
			memcpy(to, word, n);
			to += n;
		} else {
			*to++ = '\'';
			for (size_t i = 0; i < n; i++)
				if (word[i] == '\'')
					to = stpcpy(to, "'\\''");
				else
					*to++ = word[i];
			*to++ = '\'';
		}
		from += (uint32_t)n + 1;
	}
	uint32_t text = hwy_text_id_n(in->b, line, (size_t)(to - line));
	free(line);
	return text;
}

static int64_t rank_or_none(int32_t number)
{
	return number < 0 ? HWY_NONE : number;
}

static void describe_process(struct ingest *in, struct ingest_process *process)
{
	process->record = hwy_new_processes(in->b);
	struct hwy_process *record = &in->trace->processes[process->record];
	record->host = in->host;
	record->pid = process->pid;
	record->start = process->start - in->epoch;
	record->end = process->end - in->epoch;
	if (process->status)
		record->exit = process->status->status;
	if (process->named)
		record->name = ingest_text(in, &in->run, process->named->name);
	if (!process->registration)
		return;
	record->rank = rank_or_none(process->registration->rank);
	record->local_rank = rank_or_none(process->registration->local_rank);
	record->world = rank_or_none(process->registration->world);
	/* Where no variable of a launcher says so, MPI does. */
	const struct rec_communicator *world = ingest_mpi_world(process);
	if (record->rank == HWY_NONE && world && world->rank >= 0 && world->size <= INT32_MAX) {
		record->rank = world->rank;
		record->world = world->size;
	}
	struct ingest_text *exe = ingest_text_entry(process, process->registration->exe);
	struct ingest_text *command = ingest_text_entry(process, process->registration->command);
	if (exe) {
		const char *path =
			hwy_str(in->trace, ingest_text(in, process, process->registration->exe));
		char name[256];
		snprintf(name, sizeof name, "%s", hwy_basename(path));
		record->name = hwy_text_id(in->b, name);
	}
	if (command)
		record->command = target_command(in, command->record);
}

static void find_parents(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		uint32_t pid =
			process->registration ? process->registration->parent : process->parent;
		if (process->record == UINT32_MAX || !pid)
			continue;
		struct ingest_process *parent = image_at(in, pid, process->start);
		while (parent && parent->becomes)
			parent = parent->becomes;
		if (parent && parent != process)
			in->trace->processes[process->record].parent = parent->record;
	}
}

/* Finds the images that recorded nothing before they exec'ed, and moves their start to the next
 * image. The two loops run in opposite directions so that a chain of such images hands the start of
 * the first one on to the last. */
static void fold_images(struct ingest *in, struct ingest_process **order)
{
	for (uint32_t i = in->n_processes; i-- > 0;) {
		struct ingest_process *process = order[i];
		if (process->execed && process->events == 0)
			process->becomes = next_image(in, process);
	}
	for (uint32_t i = 0; i < in->n_processes; i++)
		if (order[i]->becomes)
			order[i]->becomes->start = order[i]->start;
}

static void make_processes(struct ingest *in)
{
	if (in->n_processes == 0)
		return;
	chain_images(in);
	set_start_and_end(in);
	struct ingest_process **order = hwy_array(in->n_processes, sizeof *order);
	for (uint32_t p = 0; p < in->n_processes; p++)
		order[p] = &in->processes[p];
	qsort(order, in->n_processes, sizeof *order, target_by_start);
	fold_images(in, order);
	qsort(order, in->n_processes, sizeof *order, target_by_start);
	for (uint32_t i = 0; i < in->n_processes; i++)
		if (!order[i]->becomes)
			describe_process(in, order[i]);
	free(order);
	find_parents(in);
}

/* ---- threads
 * ----------------------------------------------------------------------------------- */

uint32_t target_thread(struct ingest *in, uint32_t process, uint32_t tid)
{
	struct ingest_process *image = &in->processes[process];
	bool fresh;
	uint32_t *thread = hwy_map_put(&image->thread_of, tid, &fresh);
	if (fresh) {
		*thread = hwy_new_threads(in->b);
		in->trace->threads[*thread].process = image->record;
		in->trace->threads[*thread].tid = tid;
		HWY_GROW(in->threads, *thread, in->cap_threads);
		in->threads[*thread] = (struct ingest_thread){process, INGEST_NO_LANE, false};
	}
	return *thread;
}

static void name_threads(struct ingest *in, uint32_t process)
{
	struct ingest_process *image = &in->processes[process];
	for (uint32_t i = 0; i < image->threads.n; i++) {
		const struct rec_name *record = image->threads.items[i];
		uint32_t thread = target_thread(in, process, record->head.value);
		uint32_t name = ingest_text(in, image, record->name);
		bool by_program = record->head.flags & NAMED_BY_PROGRAM;
		if (!name || (in->threads[thread].named && !by_program))
			continue;
		in->trace->threads[thread].name = name;
		in->threads[thread].named = by_program;
	}
}

/* ---- devices
 * ----------------------------------------------------------------------------------- */

uint32_t target_uuid_text(struct ingest *in, const uint8_t uuid[16])
{
	char text[48] = "GPU-", *to = text + 4;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		to += sprintf(to, "%02x", uuid[i]);
	}
	return hwy_text_id(in->b, text);
}

static int64_t positive_or_none(uint64_t number)
{
	return number && number < INT64_MAX ? (int64_t)number : HWY_NONE;
}

static void describe_device(struct ingest *in, struct ingest_process *process,
			    struct hwy_device *device, const struct rec_device *record)
{
	uint32_t name = ingest_text(in, process, record->name),
		 bus = ingest_text(in, process, record->bus);
	device->name = name ? (int64_t)name : HWY_NONE;
	device->bus = bus ? (int64_t)bus : HWY_NONE;
	device->compute_major = positive_or_none(record->compute_major);
	device->compute_minor = record->compute_major ? (int64_t)record->compute_minor : HWY_NONE;
	device->sms = positive_or_none(record->sms);
	device->clock_hz = positive_or_none((uint64_t)record->clock_khz * 1000);
	device->memory_bytes = positive_or_none(record->memory_bytes);
	device->memory_bandwidth = positive_or_none(record->memory_bandwidth);
	device->l2_bytes = positive_or_none(record->l2_bytes);
	device->copy_engines = positive_or_none(record->copy_engines);
	device->threads_per_warp = positive_or_none(record->threads_per_warp);
	device->max_warps_per_sm = positive_or_none(record->max_warps_per_sm);
	device->max_blocks_per_sm = positive_or_none(record->max_blocks_per_sm);
	device->max_threads_per_block = positive_or_none(record->max_threads_per_block);
	device->max_threads_per_sm =
		positive_or_none((uint64_t)record->max_warps_per_sm * record->threads_per_warp);
	device->registers_per_sm = positive_or_none(record->registers_per_sm);
	device->registers_per_block = positive_or_none(record->registers_per_block);
	device->shared_per_sm = positive_or_none(record->shared_per_sm);
	device->shared_per_block = positive_or_none(record->shared_per_block);
	device->pcie_generation = positive_or_none(record->pcie_generation);
	device->pcie_width = positive_or_none(record->pcie_width);
}

/* The trace's device with this uuid, made where there is none; without a uuid (HWY_NONE) the
 * ordinal decides. */
static uint32_t device_with_uuid(struct ingest *in, int64_t uuid, uint32_t ordinal)
{
	for (uint32_t d = 0; d < in->trace->n_devices; d++) {
		const struct hwy_device *device = &in->trace->devices[d];
		if (uuid == HWY_NONE ? device->uuid == HWY_NONE && device->ordinal == ordinal
				     : device->uuid == uuid)
			return d;
	}
	uint32_t index = hwy_new_devices(in->b);
	in->trace->devices[index].host = in->host;
	in->trace->devices[index].ordinal = ordinal;
	in->trace->devices[index].uuid = uuid;
	return index;
}

static void make_devices(struct ingest *in, struct ingest_process *process)
{
	static const uint8_t none[16];
	for (uint32_t i = 0; i < process->devices.n; i++) {
		const struct rec_device *record = process->devices.items[i];
		int64_t uuid = memcmp(record->uuid, none, 16) == 0
				       ? HWY_NONE
				       : (int64_t)target_uuid_text(in, record->uuid);
		uint32_t device = device_with_uuid(in, uuid, ordinal_of(record->head.value));
		describe_device(in, process, &in->trace->devices[device], record);
		*hwy_map_put(&process->device_of, record->head.value, NULL) = hwy_ref32(device);
	}
}

uint32_t target_device(struct ingest *in, struct ingest_process *process, uint32_t ordinal)
{
	uint32_t *ref = hwy_map_put(&process->device_of, ordinal, NULL);
	if (!hwy_ref32_is_set(*ref))
		*ref = hwy_ref32(device_with_uuid(in, HWY_NONE, ordinal_of(ordinal)));
	return hwy_ref32_index(*ref);
}

/* Processes that are allowed one GPU each all call it 0. Where two devices have one ordinal, all
 * devices are numbered in the order of their PCI bus ids, as nvidia-smi numbers them. */
static void number_devices(struct ingest *in)
{
	struct hwy_trace *trace = in->trace;
	bool clash = false;
	for (uint32_t a = 0; a < trace->n_devices; a++)
		for (uint32_t b = 0; b < a; b++)
			clash = clash || trace->devices[a].ordinal == trace->devices[b].ordinal;
	for (uint32_t a = 0; clash && a < trace->n_devices; a++) {
		int64_t before = 0;
		const char *bus = hwy_str(trace, trace->devices[a].bus);
		for (uint32_t b = 0; b < trace->n_devices; b++) {
			int order = strcmp(hwy_str(trace, trace->devices[b].bus), bus);
			before += order < 0 || (order == 0 && b < a);
		}
		trace->devices[a].ordinal = before;
	}
}

/* ---- contexts and streams
 * ----------------------------------------------------------------------- */

static void make_contexts(struct ingest *in, struct ingest_process *process)
{
	struct hwy_map seen = {0};
	for (uint32_t i = 0; i < process->contexts.n; i++) {
		const struct rec_context *record = process->contexts.items[i];
		bool fresh;
		uint32_t *index = hwy_map_put(&seen, record->head.value, &fresh);
		if (fresh)
			*index = hwy_new_contexts(in->b);
		uint32_t device = target_device(in, process, record->device);
		struct hwy_context *context = &in->trace->contexts[*index];
		context->process = process->record;
		context->device = device;
		context->number = record->head.value;
		context->null_stream =
			record->null_stream == UINT32_MAX ? HWY_NONE : (int64_t)record->null_stream;
		context->green = record->parent != 0;
		context->parent = record->parent ? (int64_t)record->parent : HWY_NONE;
		*hwy_map_put(&process->context_device, record->head.value, NULL) = record->device;
		*hwy_map_put(&process->null_streams,
			     pair_key(record->head.value, record->null_stream), NULL) = 1;
		if (record->parent)
			*hwy_map_put(&process->parent_context, record->head.value, NULL) =
				record->parent;
	}
	hwy_map_free(&seen);
	for (uint32_t i = 0; i < process->streams.n; i++) {
		const struct rec_stream *record = process->streams.items[i];
		*hwy_map_put(&process->stream_facts, pair_key(record->context, record->head.value),
			     NULL) = hwy_ref32(i);
	}
}

static void describe_stream(struct ingest *in, struct ingest_process *process, uint32_t context,
			    uint32_t number, struct hwy_stream *stream)
{
	const uint32_t *fact = hwy_map_get(&process->stream_facts, pair_key(context, number));
	const uint32_t *name = hwy_map_get(&process->stream_names, number);
	stream->flags = 0;
	if (fact) {
		const struct rec_stream *record = process->streams.items[hwy_ref32_index(*fact)];
		stream->priority = record->priority;
		stream->flags =
			record->head.flags <= REC_STREAM_OUT_OF_ORDER ? record->head.flags : 0;
		if (record->name)
			stream->name = ingest_text(in, process, record->name);
	}
	if (hwy_map_get(&process->null_streams, pair_key(context, number)))
		stream->flags = FLAG_NULL_STREAM;
	if (name)
		stream->name = ingest_text(in, process, *name);
}

uint32_t target_stream(struct ingest *in, struct ingest_process *process, uint32_t device,
		       uint32_t context, uint32_t number)
{
	uint32_t *ref = hwy_map_put(&process->stream_of, pair_key(context, number), NULL);
	if (hwy_ref32_is_set(*ref))
		return hwy_ref32_index(*ref);
	uint32_t stream = hwy_new_streams(in->b);
	*ref = hwy_ref32(stream);
	int64_t device_record = target_device(in, process, device);
	const uint32_t *parent = hwy_map_get(&process->parent_context, context);
	struct hwy_stream *record = &in->trace->streams[stream];
	record->process = process->record;
	record->device = device_record;
	record->ordinal = ordinal_of(device);
	record->context = parent ? *parent : context;
	record->green = parent ? (int64_t)context : HWY_NONE;
	record->number = number == UINT32_MAX ? HWY_NONE : (int64_t)number;
	describe_stream(in, process, context, number, record);
	return stream;
}

/* ---- names
 * -------------------------------------------------------------------------------------- */

/* Keeps the names that NVTX or the driver gave to domains, categories, streams and calls. */
static void read_names(struct ingest *in, struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->names.n; i++) {
		const struct rec_naming *record = process->names.items[i];
		uint32_t name = record->head.value;
		switch (record->head.flags) {
		case REC_NAMED_DOMAIN:
			*hwy_map_put(&process->domains, record->domain, NULL) =
				hwy_ref32(ingest_text(in, process, name));
			break;
		case REC_NAMED_CATEGORY:
			*hwy_map_put(&process->categories, pair_key(record->domain, record->number),
				     NULL) = hwy_ref32(ingest_text(in, process, name));
			break;
		case REC_NAMED_STREAM:
			*hwy_map_put(&process->stream_names, record->number, NULL) = name;
			break;
		case REC_NAMED_CALL:
			*hwy_ids_put(&process->calls[record->domain == DOMAIN_OPENCL
							     ? 2
							     : record->domain == DOMAIN_DRIVER],
				     record->number) = hwy_ref32(ingest_text(in, process, name));
			break;
		default: break;
		}
	}
}

static void name_contexts(struct ingest *in, struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->names.n; i++) {
		const struct rec_naming *record = process->names.items[i];
		for (uint32_t c = 0;
		     record->head.flags == REC_NAMED_CONTEXT && c < in->trace->n_contexts; c++)
			if (in->trace->contexts[c].process == process->record &&
			    in->trace->contexts[c].number == record->number)
				in->trace->contexts[c].name =
					ingest_text(in, process, record->head.value);
	}
}

void target_make_records(struct ingest *in)
{
	make_processes(in);
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		if (process->record == UINT32_MAX)
			continue;
		name_threads(in, p);
		read_names(in, process);
		make_devices(in, process);
	}
	number_devices(in);
	for (uint32_t p = 0; p < in->n_processes; p++)
		if (in->processes[p].record != UINT32_MAX) {
			make_contexts(in, &in->processes[p]);
			name_contexts(in, &in->processes[p]);
		}
}

void target_free_process(struct ingest_process *process)
{
	struct hwy_map *maps[] = {
		&process->thread_of,      &process->device_of,      &process->stream_of,
		&process->stream_facts,   &process->parent_context, &process->null_streams,
		&process->context_device, &process->stream_names,   &process->domains,
		&process->categories,     &process->stacks,         &process->numbered_stacks,
		&process->place_stacks};
	struct ingest_list *lists[] = {
		&process->code,     &process->modules,       &process->devices,
		&process->contexts, &process->streams,       &process->names,
		&process->threads,  &process->maps,          &process->place,
		&process->layer,    &process->communicators, &process->nvtx_definitions};
	struct hwy_ids *ids[] = {&process->texts.refs, &process->shapes,   &process->codes,
				 &process->calls[0],   &process->calls[1], &process->calls[2],
				 &process->places,     &process->layers};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]->items);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		hwy_ids_free(ids[i]);
	hwy_index_free(&process->nvtx_definition_of);
	free(process->texts.list);
	unwind_close(process->unwinder);
}
