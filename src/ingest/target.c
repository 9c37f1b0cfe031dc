/* target.c - who is who: processes, threads, devices, contexts, streams.
 *
 * A process of the trace is one image of a program: exec begins another with the same pid. An image that
 * recorded nothing and exec'ed (what fork leaves before exec) is the beginning of the next one. A device is
 * one by its uuid, whatever number a process has for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/unwind.h"

enum { FLAG_NULL_STREAM = 3, NAMED_BY_PROGRAM = 1, DOMAIN_DRIVER = 1, DOMAIN_OPENCL = 3 };

/* OpenCL's devices are counted apart. */
static uint32_t ordinal_of(uint32_t device)
{
	return device >= REC_OPENCL_DEVICE ? device - REC_OPENCL_DEVICE : device;
}

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* ---- processes --------------------------------------------------------------------------------- */

/* The image that had this pid at that time: the last that began before. */
static struct ingest_process *image_at(struct ingest *in, uint32_t pid, int64_t time)
{
	struct ingest_process *best = NULL;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		if (process->pid == pid && process->start <= time &&
		    (!best || process->start > best->start))
			best = process;
	}
	return best;
}

struct ingest_process *target_parent(struct ingest *in, const struct ingest_process *process)
{
	struct ingest_process *parent =
		process->said ? image_at(in, process->said->parent, process->start) : NULL;
	return parent != process ? parent : NULL;
}

static struct ingest_process *next_image(struct ingest *in, const struct ingest_process *of)
{
	struct ingest_process *next = NULL;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		if (process->pid == of->pid && process->start > of->start &&
		    (!next || process->start < next->start))
			next = process;
	}
	return next;
}

static void settle_lives(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		int64_t said = process->said ? process->said->start : 0;
		process->start = ingest_is_time(in, said) ? said : process->opened;
		if (process->began && process->began < process->start)
			process->start = process->began;
	}
	for (uint32_t i = 0; i < in->statuses.n; i++) {
		const struct rec_status *status = in->statuses.at[i];
		struct ingest_process *process = image_at(in, status->head.value, status->time);
		if (process && ingest_is_time(in, status->time))
			process->status = status;
	}
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		if (process->status) /* exit handlers ran before; this is the end */
			process->end = process->status->time;
		else if (process->end == HWY_NONE) /* at least until then */
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

static const char *target_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

uint32_t target_command(struct ingest *in, const struct rec_string *words)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./=:,@%+";
	/* A quote is the longest: four bytes for one; and three more for each word. */
	char *line = hwy_alloc((size_t)words->length * 4 + 8), *to = line;
	for (uint32_t at = 0; at < words->length;) {
		const char *word = words->text + at;
		size_t n = strnlen(word, words->length - at);
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
		at += (uint32_t)n + 1;
	}
	uint32_t text = hwy_text_id_n(in->b, line, (size_t)(to - line));
	free(line);
	return text;
}

static int64_t known(int32_t number)
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
	if (!process->said)
		return;
	record->rank = known(process->said->rank);
	record->local_rank = known(process->said->local_rank);
	record->world = known(process->said->world);
	struct ingest_text *exe = ingest_text_entry(process, process->said->exe);
	struct ingest_text *command = ingest_text_entry(process, process->said->command);
	if (exe) {
		const char *path = hwy_str(in->trace, ingest_text(in, process, process->said->exe));
		char name[256];
		snprintf(name, sizeof name, "%s", target_base_name(path));
		record->name = hwy_text_id(in->b, name);
	}
	if (command)
		record->command = target_command(in, command->record);
}

static void find_parents(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		uint32_t pid = process->said ? process->said->parent : process->parent;
		if (process->record == UINT32_MAX || !pid)
			continue;
		struct ingest_process *parent = image_at(in, pid, process->start);
		while (parent && parent->becomes)
			parent = parent->becomes;
		if (parent && parent != process)
			in->trace->processes[process->record].parent = parent->record;
	}
}

/* Images that end in another, from the last to the first: each hands its beginning on. */
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

static void settle_processes(struct ingest *in)
{
	if (in->n_processes == 0)
		return;
	settle_lives(in);
	struct ingest_process **order = hwy_alloc(in->n_processes * sizeof *order);
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

/* ---- threads ----------------------------------------------------------------------------------- */

uint32_t target_thread(struct ingest *in, uint32_t process, uint32_t tid)
{
	struct ingest_process *of = &in->processes[process];
	bool fresh;
	uint32_t *at = hwy_map_put(&of->thread_of, tid, &fresh);
	if (fresh) {
		*at = hwy_new_threads(in->b);
		in->trace->threads[*at].process = of->record;
		in->trace->threads[*at].tid = tid;
		HWY_GROW(in->threads, *at, in->cap_threads);
		in->threads[*at] =
			(struct ingest_thread){process, INGEST_NO_LANE, INGEST_NO_LANE, false};
	}
	return *at;
}

static void name_threads(struct ingest *in, uint32_t process)
{
	struct ingest_process *of = &in->processes[process];
	for (uint32_t i = 0; i < of->threads.n; i++) {
		const struct rec_name *said = of->threads.at[i];
		uint32_t thread = target_thread(in, process, said->head.value);
		uint32_t name = ingest_text(in, of, said->name);
		bool by_program = said->head.flags & NAMED_BY_PROGRAM;
		if (!name || (in->threads[thread].named && !by_program))
			continue;
		in->trace->threads[thread].name = name;
		in->threads[thread].named = by_program;
	}
}

/* ---- devices ----------------------------------------------------------------------------------- */

static uint32_t uuid_text(struct ingest *in, const uint8_t uuid[16])
{
	char text[48] = "GPU-", *to = text + 4;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		to += sprintf(to, "%02x", uuid[i]);
	}
	return hwy_text_id(in->b, text);
}

static int64_t positive(uint64_t number)
{
	return number && number < INT64_MAX ? (int64_t)number : HWY_NONE;
}

static void describe_device(struct ingest *in, struct ingest_process *process,
			    struct hwy_device *device, const struct rec_device *said)
{
	uint32_t name = ingest_text(in, process, said->name),
		 bus = ingest_text(in, process, said->bus);
	device->name = name ? (int64_t)name : HWY_NONE;
	device->bus = bus ? (int64_t)bus : HWY_NONE;
	device->compute_major = positive(said->compute_major);
	device->compute_minor = said->compute_major ? (int64_t)said->compute_minor : HWY_NONE;
	device->sms = positive(said->sms);
	device->clock_hz = positive((uint64_t)said->clock_khz * 1000);
	device->memory_bytes = positive(said->memory_bytes);
	device->memory_bandwidth = positive(said->memory_bandwidth);
	device->l2_bytes = positive(said->l2_bytes);
	device->copy_engines = positive(said->copy_engines);
	device->threads_per_warp = positive(said->threads_per_warp);
	device->max_warps_per_sm = positive(said->max_warps_per_sm);
	device->max_blocks_per_sm = positive(said->max_blocks_per_sm);
	device->max_threads_per_block = positive(said->max_threads_per_block);
	device->max_threads_per_sm =
		positive((uint64_t)said->max_warps_per_sm * said->threads_per_warp);
	device->registers_per_sm = positive(said->registers_per_sm);
	device->registers_per_block = positive(said->registers_per_block);
	device->shared_per_sm = positive(said->shared_per_sm);
	device->shared_per_block = positive(said->shared_per_block);
	device->pcie_generation = positive(said->pcie_generation);
	device->pcie_width = positive(said->pcie_width);
}

static uint32_t device_with(struct ingest *in, int64_t uuid, uint32_t ordinal)
{
	for (uint32_t d = 0; d < in->trace->n_devices; d++) {
		const struct hwy_device *device = &in->trace->devices[d];
		if (uuid == HWY_NONE ? device->uuid == HWY_NONE && device->ordinal == ordinal
				     : device->uuid == uuid)
			return d;
	}
	uint32_t at = hwy_new_devices(in->b);
	in->trace->devices[at].host = in->host;
	in->trace->devices[at].ordinal = ordinal;
	in->trace->devices[at].uuid = uuid;
	return at;
}

static void settle_devices(struct ingest *in, struct ingest_process *process)
{
	static const uint8_t none[16];
	for (uint32_t i = 0; i < process->devices.n; i++) {
		const struct rec_device *said = process->devices.at[i];
		int64_t uuid = memcmp(said->uuid, none, 16) == 0
				       ? HWY_NONE
				       : (int64_t)uuid_text(in, said->uuid);
		uint32_t device = device_with(in, uuid, ordinal_of(said->head.value));
		describe_device(in, process, &in->trace->devices[device], said);
		*hwy_map_put(&process->device_of, said->head.value, NULL) = device + 1;
	}
}

uint32_t target_device(struct ingest *in, struct ingest_process *process, uint32_t ordinal)
{
	uint32_t *at = hwy_map_put(&process->device_of, ordinal, NULL);
	if (!*at)
		*at = device_with(in, HWY_NONE, ordinal_of(ordinal)) + 1;
	return *at - 1;
}

/* Processes that see one GPU each all call it 0. Where numbers meet, the bus decides, as nvidia-smi does. */
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

/* ---- contexts and streams ----------------------------------------------------------------------- */

static void settle_contexts(struct ingest *in, struct ingest_process *process)
{
	struct hwy_map seen = {0};
	for (uint32_t i = 0; i < process->contexts.n; i++) {
		const struct rec_context *said = process->contexts.at[i];
		bool fresh;
		uint32_t *at = hwy_map_put(&seen, said->head.value, &fresh);
		if (fresh)
			*at = hwy_new_contexts(in->b);
		uint32_t device = target_device(in, process, said->device);
		struct hwy_context *context = &in->trace->contexts[*at];
		context->process = process->record;
		context->device = device;
		context->number = said->head.value;
		context->null_stream =
			said->null_stream == UINT32_MAX ? HWY_NONE : (int64_t)said->null_stream;
		context->green = said->parent != 0;
		context->parent = said->parent ? (int64_t)said->parent : HWY_NONE;
		*hwy_map_put(&process->context_device, said->head.value, NULL) = said->device;
		*hwy_map_put(&process->null_streams, pair(said->head.value, said->null_stream),
			     NULL) = 1;
		if (said->parent)
			*hwy_map_put(&process->parent_context, said->head.value, NULL) =
				said->parent;
	}
	hwy_map_free(&seen);
	for (uint32_t i = 0; i < process->streams.n; i++) {
		const struct rec_stream *said = process->streams.at[i];
		*hwy_map_put(&process->stream_facts, pair(said->context, said->head.value), NULL) =
			i + 1;
	}
}

static void describe_stream(struct ingest *in, struct ingest_process *process, uint32_t context,
			    uint32_t number, struct hwy_stream *stream)
{
	const uint32_t *fact = hwy_map_get(&process->stream_facts, pair(context, number));
	const uint32_t *name = hwy_map_get(&process->stream_names, number);
	stream->flags = 0;
	if (fact) {
		const struct rec_stream *said = process->streams.at[*fact - 1];
		stream->priority = said->priority;
		stream->flags = said->head.flags <= REC_STREAM_OUT_OF_ORDER ? said->head.flags : 0;
		if (said->name)
			stream->name = ingest_text(in, process, said->name);
	}
	if (hwy_map_get(&process->null_streams, pair(context, number)))
		stream->flags = FLAG_NULL_STREAM;
	if (name)
		stream->name = ingest_text(in, process, *name);
}

uint32_t target_stream(struct ingest *in, struct ingest_process *process, uint32_t device,
		       uint32_t context, uint32_t number)
{
	uint32_t *at = hwy_map_put(&process->stream_of, pair(context, number), NULL);
	if (*at)
		return *at - 1;
	uint32_t stream = hwy_new_streams(in->b);
	*at = stream + 1;
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
	HWY_GROW(in->streams, stream, in->cap_streams);
	in->streams[stream] = (struct ingest_stream){INGEST_NO_LANE, INGEST_NO_LANE};
	return stream;
}

uint32_t target_work_lane(struct ingest *in, uint32_t stream)
{
	if (in->streams[stream].work == INGEST_NO_LANE)
		in->streams[stream].work = hwy_add_stream_lane(in->b, HWY_LANE_STREAM, stream);
	return in->streams[stream].work;
}

uint32_t target_sync_lane(struct ingest *in, uint32_t stream)
{
	if (in->streams[stream].sync == INGEST_NO_LANE)
		in->streams[stream].sync = hwy_add_stream_lane(in->b, HWY_LANE_SYNC, stream);
	return in->streams[stream].sync;
}

/* ---- names -------------------------------------------------------------------------------------- */

static void settle_names(struct ingest *in, struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->names.n; i++) {
		const struct rec_naming *said = process->names.at[i];
		uint32_t name = said->head.value;
		switch (said->head.flags) {
		case REC_NAMED_DOMAIN:
			*hwy_map_put(&process->domains, said->domain, NULL) =
				1 + ingest_text(in, process, name);
			break;
		case REC_NAMED_CATEGORY:
			*hwy_map_put(&process->categories, pair(said->domain, said->number), NULL) =
				1 + ingest_text(in, process, name);
			break;
		case REC_NAMED_STREAM:
			*hwy_map_put(&process->stream_names, said->number, NULL) = name;
			break;
		case REC_NAMED_CALL:
			*hwy_ids_put(&process->calls[said->domain == DOMAIN_OPENCL
							     ? 2
							     : said->domain == DOMAIN_DRIVER],
				     said->number) = 1 + ingest_text(in, process, name);
			break;
		default: break;
		}
	}
}

static void name_contexts(struct ingest *in, struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->names.n; i++) {
		const struct rec_naming *said = process->names.at[i];
		for (uint32_t c = 0;
		     said->head.flags == REC_NAMED_CONTEXT && c < in->trace->n_contexts; c++)
			if (in->trace->contexts[c].process == process->record &&
			    in->trace->contexts[c].number == said->number)
				in->trace->contexts[c].name =
					ingest_text(in, process, said->head.value);
	}
}

void target_settle(struct ingest *in)
{
	settle_processes(in);
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		if (process->record == UINT32_MAX)
			continue;
		name_threads(in, p);
		settle_names(in, process);
		settle_devices(in, process);
	}
	number_devices(in);
	for (uint32_t p = 0; p < in->n_processes; p++)
		if (in->processes[p].record != UINT32_MAX) {
			settle_contexts(in, &in->processes[p]);
			name_contexts(in, &in->processes[p]);
		}
}

void target_free(struct ingest_process *process)
{
	struct hwy_map *maps[] = {
		&process->thread_of,      &process->device_of,      &process->stream_of,
		&process->stream_facts,   &process->parent_context, &process->null_streams,
		&process->context_device, &process->stream_names,   &process->domains,
		&process->categories,     &process->stacks,         &process->told};
	struct ingest_list *lists[] = {&process->code,     &process->modules, &process->devices,
				       &process->contexts, &process->streams, &process->names,
				       &process->threads,  &process->maps};
	struct hwy_ids *ids[] = {&process->texts.at, &process->shapes,   &process->codes,
				 &process->calls[0], &process->calls[1], &process->calls[2]};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		free(lists[i]->at);
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		hwy_ids_free(ids[i]);
	free(process->texts.list);
	unwind_close(process->unwinder);
}
