/* kineto_ids.c - processes, threads, devices, streams and lanes, and their names.
 *
 * Whether a pid is a process or a device is decided by the category of the event that names it, never by
 * its number: pid 0 may be both. Names (metadata events) wait until all records are known.
 */
#include <string.h>

#include "import/kineto/kineto.h"

/* Numbers of any size get small ones, so that pairs of them are keys of maps, exactly. Never 0. */
static uint32_t dense(struct kineto *k, int64_t number)
{
	bool fresh;
	uint32_t *place = hwy_map_put(&k->numbers, (uint64_t)number, &fresh);
	if (fresh)
		*place = k->numbers.count;
	return *place;
}

static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

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

static uint32_t kineto_ids_thread_of(struct kineto *k, uint32_t process, struct kineto_id tid)
{
	bool fresh;
	uint32_t *place =
		tid.number != HWY_NONE
			? hwy_map_put(&k->threads, pair(process, dense(k, tid.number)), &fresh)
			: hwy_map_put(&k->text_threads, pair(process, tid.text), &fresh);
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

/* "stream 7" and "GPU 0 Counters": the first number in a text. */
struct kineto_id kineto_number_in(struct kineto *k, struct kineto_id id)
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

uint32_t kineto_device(struct kineto *k, struct kineto_id pid)
{
	bool fresh;
	pid = kineto_number_in(k, pid);
	uint32_t *place = find_id(&k->devices, &k->text_devices, pid, &fresh);
	if (fresh) {
		uint32_t index = *place = hwy_new_devices(k->b);
		struct hwy_device *device = &k->trace->devices[index];
		device->host = 0;
		device->ordinal = pid.number;
		if (pid.number == HWY_NONE)
			device->name = pid.text;
	}
	return *place;
}

/* A number for a process that may not be known yet. */
static uint32_t process_key(int64_t process)
{
	return process == HWY_NONE ? UINT32_MAX : (uint32_t)process;
}

/* A small number for three; 0 is never one. */
static uint32_t triple(struct kineto *k, uint32_t a, uint32_t b, uint32_t c)
{
	for (int i = 0; i < 2; i++) {
		bool fresh;
		uint32_t *place = hwy_map_put(&k->pairs[i], pair(a, b), &fresh);
		if (fresh)
			*place = k->pairs[i].count;
		a = *place;
		b = c;
	}
	return a;
}

static void note_context(struct kineto *k, int64_t process, uint32_t device, int64_t number)
{
	bool fresh;
	uint32_t key = triple(k, process_key(process), device, dense(k, number));
	uint32_t *place = hwy_map_put(&k->contexts, key, &fresh);
	if (!fresh)
		return;
	*place = hwy_new_contexts(k->b);
	struct hwy_context *context = &k->trace->contexts[*place];
	context->process = process;
	context->device = device;
	context->number = number;
}

/* Annotations name a stream but no context: they get the stream of that number that is known, and one that
 * is known only from them gets its context when work brings it. */
uint32_t kineto_stream(struct kineto *k, int64_t process, uint32_t device, int64_t context,
		       int64_t number)
{
	bool fresh, fresh_any;
	uint32_t of_device = triple(k, process_key(process), device, dense(k, HWY_NONE));
	uint32_t *any = hwy_map_put(&k->any_streams, pair(of_device, dense(k, number)), &fresh_any);
	if (!fresh_any && context == HWY_NONE)
		return *any;
	uint32_t of_context = triple(k, process_key(process), device, dense(k, context));
	uint32_t *place = hwy_map_put(&k->streams, pair(of_context, dense(k, number)), &fresh);
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

static struct kineto_slot *slot_for(struct kineto *k, const struct kineto_slot *wanted)
{
	uint64_t hash = (uint64_t)wanted->pid * 0x9e3779b97f4a7c15u ^
			(uint64_t)wanted->tid * 0xff51afd7ed558ccdu ^
			(uint64_t)wanted->context << 20 ^ (uint64_t)wanted->type << 50 ^
			wanted->owner;
	return &k->slots[hwy_mix(hash) % KINETO_SLOTS];
}

static bool kineto_ids_is_same(const struct kineto_slot *a, const struct kineto_slot *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->context == b->context &&
	       a->type == b->type && a->owner == b->owner && a->lane_plus_one;
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
	/* Texts are told from numbers by bits no kernel gives a tid. */
	struct kineto_slot wanted = {
		.pid = pid.number, .tid = tid.number, .context = name, .type = type};
	if (pid.number == HWY_NONE)
		wanted.pid += (int64_t)pid.text + 1;
	if (tid.number == HWY_NONE)
		wanted.tid += (int64_t)tid.text + 1;
	struct kineto_slot *slot = slot_for(k, &wanted);
	if (kineto_ids_is_same(slot, &wanted))
		return slot->lane_plus_one - 1;
	uint32_t process = kineto_process(k, pid);
	if (type == HWY_LANE_API)
		note_caller(k, process);
	else if (k->first_host == HWY_NONE && pid.number != HWY_NONE)
		k->first_host = process;
	struct hwy_lane lane = hwy_lane_of(type, process, kineto_ids_thread_of(k, process, tid));
	lane.name = name;
	wanted.lane_plus_one = hwy_add_lane(k->b, lane) + 1;
	*slot = wanted;
	return wanted.lane_plus_one - 1;
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
		.owner = process_key(process),
	};
	struct kineto_slot *slot = slot_for(k, &wanted);
	if (pid.number != HWY_NONE && kineto_ids_is_same(slot, &wanted))
		return slot->lane_plus_one - 1;
	uint32_t device = kineto_device(k, pid);
	struct hwy_lane lane = hwy_lane_of(type, process, HWY_NONE);
	lane.device = device;
	if (stream != HWY_NONE)
		lane.stream = kineto_stream(k, process, device, context, stream);
	wanted.lane_plus_one = hwy_add_lane(k->b, lane) + 1;
	*slot = wanted;
	return wanted.lane_plus_one - 1;
}

void kineto_add_metadata(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	struct kineto_id pid = kineto_read_id(k, &event->pid), tid = kineto_read_id(k, &event->tid);
	struct hwy_text what = {event->name.at, event->name.length};
	bool is_thread = what.length == 11 && memcmp(what.at, "thread_name", 11) == 0;
	bool is_process = what.length == 12 && memcmp(what.at, "process_name", 12) == 0;
	bool is_labels = what.length == 14 && memcmp(what.at, "process_labels", 14) == 0;
	const struct scan_value *value = kineto_value(k, is_labels ? KEY_LABELS : KEY_NAME);
	if (k->collecting || pid.number == HWY_NONE || !value || value->type != SCAN_STRING ||
	    !(is_process || is_labels || (is_thread && tid.number != HWY_NONE)))
		return;
	uint32_t text = kineto_text_id(k, value);
	uint32_t first = dense(k, pid.number), second = is_thread ? dense(k, tid.number) : 0;
	*hwy_map_put(is_labels ? &k->labels : &k->names, pair(first, second), NULL) = text;
}

/* The process that everything without one is of. */
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

static int64_t kineto_ids_name_of(struct kineto *k, const struct hwy_map *names, int64_t pid,
				  int64_t tid, bool of_thread, int64_t else_name)
{
	if (pid == HWY_NONE || (of_thread && tid == HWY_NONE))
		return else_name;
	uint32_t first = dense(k, pid), second = of_thread ? dense(k, tid) : 0;
	const uint32_t *name = hwy_map_get(names, pair(first, second));
	return name ? *name : else_name;
}

static void name_records(struct kineto *k)
{
	struct hwy_trace *trace = k->trace;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		struct hwy_process *process = &trace->processes[i];
		process->name =
			kineto_ids_name_of(k, &k->names, process->pid, 0, false, process->name);
		process->labels =
			kineto_ids_name_of(k, &k->labels, process->pid, 0, false, process->labels);
	}
	for (uint32_t i = 0; i < trace->n_threads; i++) {
		struct hwy_thread *thread = &trace->threads[i];
		int64_t pid = trace->processes[thread->process].pid;
		thread->name =
			kineto_ids_name_of(k, &k->names, pid, thread->tid, true, thread->name);
	}
	for (uint32_t i = 0; i < trace->n_streams; i++) {
		struct hwy_stream *stream = &trace->streams[i];
		int64_t pid = trace->devices[stream->device].ordinal;
		stream->name =
			kineto_ids_name_of(k, &k->names, pid, stream->number, true, stream->name);
	}
}

void kineto_settle(struct kineto *k)
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
	/* Time the vendor's library took carries a thread's id but -1 as the process. */
	for (uint32_t i = 0; i < k->n_late_lanes; i++) {
		uint32_t thread = kineto_ids_thread_of(
			k, (uint32_t)process, (struct kineto_id){.number = k->late_lanes[i].tid});
		trace->lanes[k->late_lanes[i].lane].thread = thread;
	}
	trace->processes[process].rank = k->rank;
	trace->processes[process].world = k->world;
	name_records(k);
}

void kineto_free_who(struct kineto *k)
{
	struct hwy_map *maps[] = {
		&k->numbers,      &k->processes,   &k->text_processes, &k->threads,
		&k->text_threads, &k->devices,     &k->text_devices,   &k->contexts,
		&k->streams,      &k->names,       &k->labels,         &k->pairs[0],
		&k->pairs[1],     &k->any_streams,
	};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
}
