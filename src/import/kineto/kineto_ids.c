/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_ids.c - the processes, threads, devices, streams and lanes that events refer to, and their
 * names.
 *
 * The category of an event decides whether its pid is a process or a device, never the number: pid
 * 0 may be both. Names, which come in metadata events, are kept until all records are made.
 */
#include <string.h>

#include "import/kineto/kineto.h"

/* Keys of struct hwy_index: they must have no padding, because their bytes are compared. */
struct thread_key {
	int64_t process, tid;
};
struct stream_key { /* process, context and stream may be HWY_NONE; a key of a struct hwy_index */
	int64_t process, device, context, stream;
};
/* A name_key holds ids as the file has them; the key of a process or a device has tid 0 and
 * is_thread 0. */
struct name_key {
	int64_t pid, tid, is_thread;
};

static uint32_t *find_id(struct hwy_map *numbered, struct hwy_map *named, struct kineto_id id,
			 bool *fresh)
{
	if (id.number != HWY_NONE)
		return hwy_map_put(numbered, (uint64_t)id.number, fresh);
	return hwy_map_put(named, id.text, fresh);
}

uint32_t kineto_process(struct kineto *k, struct kineto_id pid)
{
	bool fresh;
	uint32_t *place = find_id(&k->processes, &k->text_processes, pid, &fresh);
	if (fresh) {
		uint32_t index = *place = hwy_new_processes(k->b);
		struct hwy_process *process = &k->trace->processes[index];
		process->host = 0;
		process->pid = pid.number;
		if (pid.number == HWY_NONE)
			process->name = pid.text;
	}
	return *place;
}

static uint32_t find_thread(struct kineto *k, uint32_t process, struct kineto_id tid)
{
	bool fresh;
	struct thread_key key = {process, tid.number};
	uint32_t *place =
		tid.number != HWY_NONE
			? hwy_index_put(&k->threads, &key, sizeof key, &fresh)
			: hwy_map_put(&k->text_threads, (uint64_t)process << 32 | tid.text, &fresh);
	if (fresh) {
		uint32_t index = *place = hwy_new_threads(k->b);
		struct hwy_thread *thread = &k->trace->threads[index];
		thread->process = process;
		thread->tid = tid.number;
		if (tid.number == HWY_NONE)
			thread->source_name = tid.text;
	}
	return *place;
}

struct kineto_id kineto_first_number(struct kineto *k, struct kineto_id id)
{
	if (id.number != HWY_NONE)
		return id;
	struct hwy_text text = k->trace->strings.texts[id.text];
	size_t from = 0;
	while (from < text.length && (text.at[from] < '0' || text.at[from] > '9'))
		from++;
	size_t to = from;
	while (to < text.length && text.at[to] >= '0' && text.at[to] <= '9')
		to++;
	if (to > from)
		scan_decimal(text.at + from, to - from, 0, &id.number);
	return id;
}

/* Kineto lists AMD's GPUs by their ordinal, and numbers them in its events after the processors:
 * the only GPU of a file is 0 there and 2 here. Such a device keeps its description and gets the
 * events' number. */
static bool is_only_amd_gpu(const struct kineto *k)
{
	return k->trace->n_devices == 1 && k->trace->devices[0].threads_per_warp == AMD_WARP &&
	       k->trace->n_streams == 0;
}

uint32_t kineto_device(struct kineto *k, struct kineto_id pid)
{
	bool fresh;
	pid = kineto_first_number(k, pid);
	uint32_t *place = find_id(&k->devices, &k->text_devices, pid, &fresh);
	if (fresh && pid.number != HWY_NONE && !k->is_listing && is_only_amd_gpu(k)) {
		*place = 0;
		k->trace->devices[0].ordinal = pid.number;
	} else if (fresh) {
		uint32_t index = *place = hwy_new_devices(k->b);
		struct hwy_device *device = &k->trace->devices[index];
		device->host = 0;
		device->ordinal = pid.number;
		if (pid.number == HWY_NONE)
			device->name = pid.text;
	}
	return *place;
}

static void note_context(struct kineto *k, int64_t process, uint32_t device, int64_t number)
{
	bool fresh;
	struct stream_key key = {process, device, number, HWY_NONE};
	uint32_t *place = hwy_index_put(&k->contexts, &key, sizeof key, &fresh);
	if (!fresh)
		return;
	*place = hwy_new_contexts(k->b);
	struct hwy_context *context = &k->trace->contexts[*place];
	context->process = process;
	context->device = device;
	context->number = number;
}

/* Annotations name a stream but no context (HWY_NONE): they get the first stream with that number.
 * A stream that only annotations have named gets its context from the first work that names
 * both. */
uint32_t kineto_stream(struct kineto *k, int64_t process, uint32_t device, int64_t context,
		       int64_t number)
{
	bool fresh, fresh_any;
	struct stream_key any_key = {process, device, HWY_NONE, number};
	struct stream_key key = {process, device, context, number};
	uint32_t *any = hwy_index_put(&k->any_streams, &any_key, sizeof any_key, &fresh_any);
	if (!fresh_any && context == HWY_NONE)
		return *any;
	uint32_t *place = hwy_index_put(&k->streams, &key, sizeof key, &fresh);
	if (!fresh)
		return *place;
	if (fresh_any || k->trace->streams[*any].context != HWY_NONE) {
		*place = hwy_new_streams(k->b);
		if (fresh_any)
			*any = *place;
	} else {
		*place = *any;
	}
	struct hwy_stream *stream = &k->trace->streams[*place];
	stream->process = process;
	stream->device = device;
	stream->context = context;
	stream->number = number;
	if (context != HWY_NONE)
		note_context(k, process, device, context);
	return *place;
}

/* Yields the slot of the cache in which a lane is kept, if the cache has the lane. */
static struct kineto_slot *slot_for(struct kineto *k, const struct kineto_slot *wanted)
{
	uint64_t hash = (uint64_t)wanted->pid * 0x9e3779b97f4a7c15u ^
			(uint64_t)wanted->tid * 0xff51afd7ed558ccdu ^
			(uint64_t)wanted->context << 20 ^ (uint64_t)wanted->type << 50 ^
			wanted->owner;
	return &k->slots[hwy_mix(hash) % KINETO_SLOTS];
}

static bool is_same_slot(const struct kineto_slot *a, const struct kineto_slot *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->context == b->context &&
	       a->type == b->type && a->owner == b->owner && hwy_ref32_is_set(a->lane_ref);
}

static void note_caller(struct kineto *k, int64_t process)
{
	if (k->caller == HWY_NONE)
		k->caller = process;
	else if (k->caller != process)
		k->several_callers = true;
}

uint32_t kineto_thread_lane(struct kineto *k, enum hwy_lane_type type, uint32_t name)
{
	struct kineto_id pid = kineto_read_id(k, &k->event.pid);
	struct kineto_id tid = kineto_read_id(k, &k->event.tid);
	/* A pid or tid that is a text gets a number from HWY_NONE (INT64_MIN) upwards: no pid or
	 * tid is so small. */
	struct kineto_slot wanted = {
		.pid = pid.number, .tid = tid.number, .context = name, .type = type};
	if (pid.number == HWY_NONE)
		wanted.pid += (int64_t)pid.text + 1;
	if (tid.number == HWY_NONE)
		wanted.tid += (int64_t)tid.text + 1;
	struct kineto_slot *slot = slot_for(k, &wanted);
	if (is_same_slot(slot, &wanted))
		return hwy_ref32_index(slot->lane_ref);
	uint32_t process = kineto_process(k, pid);
	if (type == HWY_LANE_API)
		note_caller(k, process);
	else if (k->first_host == HWY_NONE && pid.number != HWY_NONE)
		k->first_host = process;
	struct hwy_lane lane = hwy_lane_of(type, process, find_thread(k, process, tid));
	lane.name = name;
	uint32_t index = hwy_add_lane(k->b, lane);
	wanted.lane_ref = hwy_ref32(index);
	*slot = wanted;
	return index;
}

static uint32_t new_device_lane(struct kineto *k, enum hwy_lane_type type, int64_t process,
				uint32_t device, int64_t context, int64_t stream)
{
	if (stream != HWY_NONE)
		return hwy_add_stream_lane(k->b, type,
					   kineto_stream(k, process, device, context, stream));
	struct hwy_lane lane = hwy_lane_of(type, process, HWY_NONE);
	lane.device = device;
	return hwy_add_lane(k->b, lane);
}

uint32_t kineto_device_lane(struct kineto *k, enum hwy_lane_type type, int64_t process,
			    int64_t context, int64_t stream)
{
	struct kineto_id pid = kineto_read_id(k, &k->event.pid);
	struct kineto_slot wanted = {
		.pid = pid.number,
		.tid = stream,
		.context = context,
		.type = type,
		.owner = process == HWY_NONE ? UINT32_MAX : (uint32_t)process,
	};
	struct kineto_slot *slot = slot_for(k, &wanted);
	if (pid.number != HWY_NONE && is_same_slot(slot, &wanted))
		return hwy_ref32_index(slot->lane_ref);
	uint32_t lane = new_device_lane(k, type, process, kineto_device(k, pid), context, stream);
	wanted.lane_ref = hwy_ref32(lane);
	*slot = wanted;
	return lane;
}

void kineto_add_metadata(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	struct kineto_id pid = kineto_read_id(k, &event->pid), tid = kineto_read_id(k, &event->tid);
	struct hwy_text what = {event->name.text, event->name.length};
	bool is_thread = what.length == 11 && memcmp(what.at, "thread_name", 11) == 0;
	bool is_process = what.length == 12 && memcmp(what.at, "process_name", 12) == 0;
	bool is_labels = what.length == 14 && memcmp(what.at, "process_labels", 14) == 0;
	const struct scan_value *value = kineto_value(k, is_labels ? KEY_LABELS : KEY_NAME);
	if (k->collecting || pid.number == HWY_NONE || !value || value->type != SCAN_STRING ||
	    !(is_process || is_labels || (is_thread && tid.number != HWY_NONE)))
		return;
	uint32_t text = kineto_text_id(k, value);
	struct name_key key = {pid.number, is_thread ? tid.number : 0, is_thread};
	if (is_labels)
		*hwy_map_put(&k->labels, (uint64_t)pid.number, NULL) = text;
	else
		*hwy_index_put(&k->names, &key, sizeof key, NULL) = text;
}

/* Yields the process that all records without a process belong to. */
static int64_t main_process(struct kineto *k)
{
	if (k->caller != HWY_NONE)
		return k->caller;
	if (k->first_host != HWY_NONE)
		return k->first_host;
	if (k->trace->n_processes > 0)
		return 0;
	return kineto_process(k, (struct kineto_id){.number = HWY_NONE});
}

/* Yields the name that a metadata event gave; 'otherwise' where no metadata event did. */
static int64_t metadata_name_or(struct kineto *k, struct name_key key, int64_t otherwise)
{
	if (key.pid == HWY_NONE || key.tid == HWY_NONE)
		return otherwise;
	const uint32_t *name = hwy_index_get(&k->names, &key, sizeof key);
	return name ? *name : otherwise;
}

static void name_records(struct kineto *k)
{
	struct hwy_trace *trace = k->trace;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		struct hwy_process *process = &trace->processes[i];
		process->name = metadata_name_or(k, (struct name_key){process->pid, 0, false},
						 process->name);
		const uint32_t *labels = process->pid == HWY_NONE
						 ? NULL
						 : hwy_map_get(&k->labels, (uint64_t)process->pid);
		if (labels)
			process->labels = *labels;
	}
	for (uint32_t i = 0; i < trace->n_threads; i++) {
		struct hwy_thread *thread = &trace->threads[i];
		int64_t pid = trace->processes[thread->process].pid;
		thread->name = metadata_name_or(k, (struct name_key){pid, thread->tid, true},
						thread->name);
	}
	for (uint32_t i = 0; i < trace->n_streams; i++) {
		struct hwy_stream *stream = &trace->streams[i];
		int64_t pid = trace->devices[stream->device].ordinal;
		stream->name = metadata_name_or(k, (struct name_key){pid, stream->number, true},
						stream->name);
	}
}

void kineto_assign_processes(struct kineto *k)
{
	struct hwy_trace *trace = k->trace;
	int64_t process = main_process(k);
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		if (trace->lanes[i].process == HWY_NONE)
			trace->lanes[i].process = process;
	for (uint32_t i = 0; i < trace->n_streams; i++)
		if (trace->streams[i].process == HWY_NONE)
			trace->streams[i].process = process;
	for (uint32_t i = 0; i < trace->n_contexts; i++)
		if (trace->contexts[i].process == HWY_NONE)
			trace->contexts[i].process = process;
	/* Overhead events have the id of a thread, but -1 as their pid (overhead_lane). */
	for (uint32_t i = 0; i < k->n_late_lanes; i++) {
		uint32_t thread = find_thread(k, (uint32_t)process,
					      (struct kineto_id){.number = k->late_lanes[i].tid});
		trace->lanes[k->late_lanes[i].lane].thread = thread;
	}
	for (uint32_t i = 0; i < trace->n_groups; i++)
		trace->groups[i].process = process;
	trace->processes[process].rank = k->rank;
	trace->processes[process].world = k->world;
	name_records(k);
}

void kineto_free_ids(struct kineto *k)
{
	struct hwy_map *maps[] = {&k->processes, &k->text_processes, &k->text_threads,
				  &k->devices,   &k->text_devices,   &k->labels};
	struct hwy_index *indexes[] = {&k->threads, &k->contexts, &k->streams, &k->any_streams,
				       &k->names};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
	for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
		hwy_index_free(indexes[i]);
}
