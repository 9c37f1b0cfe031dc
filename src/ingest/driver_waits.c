/* SPDX-License-Identifier: Apache-2.0 */
/* driver_waits.c - adds the spans of waits inside the driver, and of the CUDA events that they wait
 * for.
 *
 * By default the device's time of an event is not collected, because that costs time. Such an event
 * gets the start of the call that recorded it: its mark then says when the event was enqueued. So
 * events are added after all calls. A wait and the event that it waits for have the same sync id,
 * which is unique in a process; handles of events are reused.
 */
#include <stdlib.h>

#include "ingest/ingest_internal.h"

struct kept_event { /* a CUDA event, which is added to the trace when all calls are known */
	const struct rec_sync *record;
	uint32_t process;
};
struct sync_key { /* a key of a struct hwy_index, so it must have no padding */
	uint64_t process, sync_id;
};
struct driver_waits {
	struct hwy_map call_of; /* maps a call_key to an index into 'call_starts' */
	/* call_starts: ns when the calls that events need began; 0 until the call is read. */
	int64_t *call_starts;
	uint32_t n_calls, cap_calls;
	struct kept_event *events;
	uint32_t n_events, cap_events;
	struct hwy_index event_of;   /* maps a struct sync_key to an index into 'event_spans' */
	struct hwy_ref *event_spans; /* the spans of the events that have a sync id */
	uint32_t n_event_spans, cap_event_spans;
	struct kept_wait { /* a wait that has a sync id */
		struct sync_key key;
		struct hwy_ref span;
	} * waits;
	uint32_t n_waits, cap_waits;
};

static struct driver_waits *driver_waits_state(struct ingest *in)
{
	if (!in->waits)
		in->waits = hwy_zalloc(sizeof *in->waits);
	return in->waits;
}

static uint64_t call_key(uint32_t process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

static uint32_t process_index(const struct ingest *in, const struct ingest_process *process)
{
	return (uint32_t)(process - in->processes);
}

/* ---- calls
 * --------------------------------------------------------------------------------------- */

void driver_waits_expect_call(struct ingest *in, struct ingest_process *process,
			      const struct rec_sync *event)
{
	if (event->start > 0 || process == &in->run)
		return;
	struct driver_waits *w = driver_waits_state(in);
	uint64_t key = call_key(process_index(in, process), event->correlation);
	bool fresh;
	uint32_t *call = hwy_map_put(&w->call_of, key, &fresh);
	if (!fresh)
		return;
	*call = w->n_calls;
	HWY_GROW(w->call_starts, w->n_calls, w->cap_calls);
	w->call_starts[w->n_calls++] = 0;
}

void driver_waits_note_call(struct ingest *in, const struct ingest_process *process,
			    const struct rec_api *call)
{
	if (!in->waits || in->waits->n_calls == 0)
		return;
	uint64_t key = call_key(process_index(in, process), call->correlation);
	const uint32_t *index = hwy_map_get(&in->waits->call_of, key);
	if (index)
		in->waits->call_starts[*index] = call->start;
}

/* ---- waits
 * --------------------------------------------------------------------------------------- */

/* Yields the stream of a wait. The record of a wait names no device: the device is that of the
 * context. */
static uint32_t driver_waits_stream_of(struct ingest *in, struct ingest_process *process,
				       const struct rec_sync *record)
{
	const uint32_t *device = hwy_map_get(&process->context_device, record->context);
	return target_stream(in, process, device ? *device : record->device, record->context,
			     record->stream);
}

static void put_event_columns(const struct rec_sync *record, struct hwy_row *row)
{
	bool has_event = record->event != UINT32_MAX;
	bool has_sync_id = record->event_sync && record->event_sync < INT64_MAX;
	row->v[HWY_CORR] = record->correlation;
	row->v[HWY_EVENT_ID] = has_event ? hwy_ref(record->event) : HWY_REF_NONE;
	row->v[HWY_EVENT_SYNC] = has_sync_id ? hwy_ref((int64_t)record->event_sync) : HWY_REF_NONE;
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
	row->v[HWY_WAITED] = sync->stream == UINT32_MAX ? HWY_REF_NONE : hwy_ref(stream);
	uint32_t lane = hwy_add_stream_lane(in->b, HWY_LANE_SYNC, stream);
	struct hwy_ref span = hwy_add_span(in->b, lane, HWY_SYNC, row);
	if (!hwy_ref_is_set(row->v[HWY_EVENT_SYNC]))
		return;
	struct driver_waits *w = driver_waits_state(in);
	struct sync_key key = {process_index(in, process), sync->event_sync};
	HWY_GROW(w->waits, w->n_waits, w->cap_waits);
	w->waits[w->n_waits++] = (struct kept_wait){key, span};
}

void driver_waits_add(struct ingest *in, struct ingest_process *process,
		      const struct rec_head *record)
{
	if (record->type == REC_SYNC) {
		driver_waits_add_wait(in, process, (const void *)record);
		return;
	}
	struct driver_waits *w = driver_waits_state(in);
	HWY_GROW(w->events, w->n_events, w->cap_events);
	w->events[w->n_events++] =
		(struct kept_event){(const void *)record, process_index(in, process)};
}

/* ---- events
 * -------------------------------------------------------------------------------------- */

/* Yields the time of an event on CLOCK_MONOTONIC; 0: neither the event nor its call has a time. */
static int64_t event_time(const struct driver_waits *w, const struct kept_event *event)
{
	if (event->record->start > 0)
		return event->record->start;
	uint64_t key = call_key(event->process, event->record->correlation);
	const uint32_t *call = hwy_map_get(&w->call_of, key);
	return call ? w->call_starts[*call] : 0;
}

static void add_event(struct ingest *in, struct driver_waits *w, const struct kept_event *event)
{
	struct hwy_row *row = &in->rows[HWY_EVENT];
	struct ingest_process *process = &in->processes[event->process];
	if (!ingest_times(in, event_time(w, event), 0, row))
		return;
	put_event_columns(event->record, row);
	row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	uint32_t stream = driver_waits_stream_of(in, process, event->record);
	uint32_t lane = hwy_add_stream_lane(in->b, HWY_LANE_STREAM, stream);
	struct hwy_ref span = hwy_add_span(in->b, lane, HWY_EVENT, row);
	if (!hwy_ref_is_set(row->v[HWY_EVENT_SYNC]))
		return;
	struct sync_key key = {event->process, event->record->event_sync};
	*hwy_index_put(&w->event_of, &key, sizeof key, NULL) = w->n_event_spans;
	HWY_GROW(w->event_spans, w->n_event_spans, w->cap_event_spans);
	w->event_spans[w->n_event_spans++] = span;
}

void driver_waits_finish(struct ingest *in)
{
	struct driver_waits *w = in->waits;
	if (!w)
		return;
	for (uint32_t i = 0; i < w->n_events; i++)
		add_event(in, w, &w->events[i]);
	for (uint32_t i = 0; i < w->n_waits; i++) {
		const struct kept_wait *wait = &w->waits[i];
		const uint32_t *event = hwy_index_get(&w->event_of, &wait->key, sizeof wait->key);
		if (event)
			hwy_add_edge(in->b, HWY_EDGE_EVENT, w->event_spans[*event], wait->span,
				     (int64_t)wait->key.sync_id);
	}
	hwy_map_free(&w->call_of);
	hwy_index_free(&w->event_of);
	free(w->call_starts);
	free(w->events);
	free(w->event_spans);
	free(w->waits);
	free(w);
	in->waits = NULL;
}
