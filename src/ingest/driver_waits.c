/* driver_waits.c - the driver's waits, and the events they wait for.
 *
 * Where the device's time of an event was not collected (the default: it costs), the call that recorded it
 * gives the time: then the mark says when it was enqueued. So events are added after all calls. A wait and
 * the record it waits for share a sync id, unique in a process; handles of events are reused.
 */
#include <stdlib.h>

#include "ingest/ingest_internal.h"

struct wanted_call {   /* of an event that has no time of its own */
	int64_t start; /* 0: not seen */
};
struct event_ref {
	const struct rec_sync *record;
	uint32_t process;
};
struct cuda_waits {
	struct hwy_map call_of; /* process, correlation id -> index of calls */
	struct wanted_call *calls;
	uint32_t n_calls, cap_calls;
	struct event_ref *events;
	uint32_t n_events, cap_events;
	struct hwy_map record_of; /* process, sync id -> index of records */
	struct hwy_ref *records;
	uint32_t n_records, cap_records;
	struct wait_ref {
		uint64_t key, sync;
		struct hwy_ref ref;
	} * waits;
	uint32_t n_waits, cap_waits;
};

static struct cuda_waits *waits_of(struct ingest *in)
{
	if (!in->waits)
		in->waits = hwy_zalloc(sizeof *in->waits);
	return in->waits;
}

static uint64_t driver_waits_key_of(uint32_t process, uint64_t id)
{
	return hwy_mix(id) ^ process;
}

static uint32_t index_of(const struct ingest *in, const struct ingest_process *process)
{
	return (uint32_t)(process - in->processes);
}

void waits_want(struct ingest *in, struct ingest_process *process, const struct rec_sync *event)
{
	if (event->start > 0 || process == &in->run)
		return;
	struct cuda_waits *w = waits_of(in);
	bool fresh;
	uint32_t *at =
		hwy_map_put(&w->call_of,
			    driver_waits_key_of(index_of(in, process), event->correlation), &fresh);
	if (!fresh)
		return;
	*at = w->n_calls;
	HWY_GROW(w->calls, w->n_calls, w->cap_calls);
	w->calls[w->n_calls++] = (struct wanted_call){0};
}

void waits_note_call(struct ingest *in, const struct ingest_process *process,
		     const struct rec_api *call)
{
	if (!in->waits || in->waits->n_calls == 0)
		return;
	const uint32_t *at = hwy_map_get(
		&in->waits->call_of, driver_waits_key_of(index_of(in, process), call->correlation));
	if (at)
		in->waits->calls[*at].start = call->start;
}

static int64_t plus_one_or_none(uint32_t value)
{
	return value == UINT32_MAX ? 0 : (int64_t)value + 1;
}

/* Waits are told by context only. */
static uint32_t driver_waits_stream_of(struct ingest *in, struct ingest_process *process,
				       const struct rec_sync *record)
{
	const uint32_t *device = hwy_map_get(&process->context_device, record->context);
	return target_stream(in, process, device ? *device : record->device, record->context,
			     record->stream);
}

static void put_event_columns(const struct rec_sync *record, struct hwy_row *row)
{
	row->v[HWY_CORR] = record->correlation;
	row->v[HWY_EVENT_ID] = plus_one_or_none(record->event);
	row->v[HWY_EVENT_SYNC] = record->event_sync && record->event_sync < INT64_MAX
					 ? (int64_t)record->event_sync + 1
					 : 0;
}

static void driver_waits_add_wait(struct ingest *in, struct ingest_process *process,
				  const struct rec_sync *sync)
{
	struct hwy_row *row = &in->rows[HWY_SYNC];
	if (!ingest_times(in, sync->start, sync->duration, row))
		return;
	uint32_t stream = driver_waits_stream_of(in, process, sync);
	put_event_columns(sync, row);
	row->v[HWY_SYNC_TYPE] = sync->head.flags < HWY_SYNC_TYPES ? sync->head.flags : 0;
	row->v[HWY_WAITED] = sync->stream == UINT32_MAX ? 0 : (int64_t)stream + 1;
	struct hwy_ref ref = hwy_add_span(in->b, target_sync_lane(in, stream), HWY_SYNC, row);
	if (!row->v[HWY_EVENT_SYNC])
		return;
	struct cuda_waits *w = waits_of(in);
	HWY_GROW(w->waits, w->n_waits, w->cap_waits);
	w->waits[w->n_waits++] =
		(struct wait_ref){driver_waits_key_of(index_of(in, process), sync->event_sync),
				  sync->event_sync, ref};
}

void waits_add(struct ingest *in, struct ingest_process *process, const struct rec_head *record)
{
	if (record->type == REC_SYNC) {
		driver_waits_add_wait(in, process, (const void *)record);
		return;
	}
	struct cuda_waits *w = waits_of(in);
	HWY_GROW(w->events, w->n_events, w->cap_events);
	w->events[w->n_events++] = (struct event_ref){(const void *)record, index_of(in, process)};
}

static int64_t event_time(const struct cuda_waits *w, const struct event_ref *event)
{
	if (event->record->start > 0)
		return event->record->start;
	const uint32_t *at = hwy_map_get(
		&w->call_of, driver_waits_key_of(event->process, event->record->correlation));
	return at ? w->calls[*at].start : 0;
}

static void add_event(struct ingest *in, struct cuda_waits *w, const struct event_ref *event)
{
	struct hwy_row *row = &in->rows[HWY_EVENT];
	struct ingest_process *process = &in->processes[event->process];
	if (!ingest_times(in, event_time(w, event), 0, row))
		return;
	put_event_columns(event->record, row);
	row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	uint32_t stream = driver_waits_stream_of(in, process, event->record);
	struct hwy_ref ref = hwy_add_span(in->b, target_work_lane(in, stream), HWY_EVENT, row);
	if (!row->v[HWY_EVENT_SYNC])
		return;
	HWY_GROW(w->records, w->n_records, w->cap_records);
	w->records[w->n_records] = ref;
	*hwy_map_put(&w->record_of, driver_waits_key_of(event->process, event->record->event_sync),
		     NULL) = w->n_records++;
}

void waits_finish(struct ingest *in)
{
	struct cuda_waits *w = in->waits;
	if (!w)
		return;
	for (uint32_t i = 0; i < w->n_events; i++)
		add_event(in, w, &w->events[i]);
	for (uint32_t i = 0; i < w->n_waits; i++) {
		const uint32_t *at = hwy_map_get(&w->record_of, w->waits[i].key);
		if (at)
			hwy_add_edge(in->b, HWY_EDGE_EVENT, w->records[*at], w->waits[i].ref,
				     (int64_t)w->waits[i].sync);
	}
	hwy_map_free(&w->call_of);
	hwy_map_free(&w->record_of);
	free(w->calls);
	free(w->events);
	free(w->records);
	free(w->waits);
	free(w);
	in->waits = NULL;
}
