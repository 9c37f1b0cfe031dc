/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_waits.c - reads waits inside the driver, and the CUDA events that they wait for.
 *
 * The numbers of the column syncType changed their meaning several times between schemas 2.9 and
 * 3.25, so the column is not read. The name of the call decides what kind of wait it is, and where
 * the call is not recorded, whether the row has a stream and an event. (CUPTI: waits for a context
 * or an event have no stream, waits for a context or a stream have no event; 4294967295 stands for
 * none.) Handles of events are reused; a wait and the event that it waits for have the same
 * eventSyncId.
 */
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"

/* Adds the calls that the rows of a table belong to to nsys.calls, without name and start:
 * nsys_cuda.c fills these in. */
static void expect_calls_of(struct nsys *n, const char *table)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, table, "globalPid correlationId", NULL))
		return;
	while (nsys_next(&q)) {
		if (nsys_int(&q, 1) == 0 || nsys_null(&q, 0))
			continue;
		bool fresh;
		uint64_t key;
		uint32_t process = nsys_process(n, nsys_int(&q, 0));
		if (!nsys_call_key(process, nsys_int(&q, 1), &key))
			continue;
		uint32_t *index = hwy_map_put(&n->call_of, key, &fresh);
		if (!fresh)
			continue;
		*index = n->n_calls;
		HWY_GROW(n->calls, n->n_calls, n->cap_calls);
		n->calls[n->n_calls++] = (struct nsys_call){0};
	}
}

void nsys_expect_calls(struct nsys *n)
{
	expect_calls_of(n, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
	expect_calls_of(n, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
}

/* Yields the call with a correlation id, in the process of a stream; NULL: the call was not
 * recorded. */
static const struct nsys_call *find_call(struct nsys *n, uint32_t stream, int64_t correlation)
{
	uint64_t key;
	const uint32_t *index = nsys_call_key(n->streams[stream].process, correlation, &key)
					? hwy_map_get(&n->call_of, key)
					: NULL;
	return index && n->calls[*index].name ? &n->calls[*index] : NULL;
}

/* Columns 2 to 9 of the queries over the tables of waits and of CUDA events. */
#define COLUMNS                                                                                    \
	"deviceId contextId greenContextId streamId globalPid correlationId eventId eventSyncId"
enum { COLUMN_STREAM = 2, COLUMN_CORRELATION = 7, COLUMN_EVENT = 8, COLUMN_EVENT_SYNC = 9 };

/* Yields a column's number as a ref; HWY_REF_NONE where the export writes "none". */
static int64_t ref_or_none(struct nsys_query *q, int column)
{
	return nsys_is_none(nsys_int(q, column)) ? HWY_REF_NONE : nsys_ref(q, column);
}

static enum hwy_sync_type type_by_name(const char *name)
{
	if (strstr(name, "StreamWaitEvent"))
		return HWY_SYNC_STREAM_WAIT;
	if (strstr(name, "EventSynchronize") || strstr(name, "EventQuery"))
		return HWY_SYNC_EVENT;
	if (strstr(name, "StreamSynchronize") || strstr(name, "StreamQuery"))
		return HWY_SYNC_STREAM;
	if (strstr(name, "DeviceSynchronize") || strstr(name, "CtxSynchronize") ||
	    strstr(name, "ThreadSynchronize"))
		return HWY_SYNC_CONTEXT;
	return HWY_SYNC_UNKNOWN;
}

static enum hwy_sync_type sync_type(struct nsys *n, const struct nsys_call *call, bool has_stream,
				    bool has_event)
{
	enum hwy_sync_type type =
		call ? type_by_name(hwy_str(n->trace, call->name)) : HWY_SYNC_UNKNOWN;
	if (type != HWY_SYNC_UNKNOWN)
		return type;
	if (has_event)
		return has_stream ? HWY_SYNC_STREAM_WAIT : HWY_SYNC_EVENT;
	return has_stream ? HWY_SYNC_STREAM : HWY_SYNC_CONTEXT;
}

/* Sets START of an event. By default the device's time of an event is not collected: then it is the
 * start of the call that recorded the event, and the mark says when the event was enqueued. */
static bool event_time(struct nsys_query *q, const struct nsys_call *call)
{
	if (!nsys_null(q, 0) && nsys_int(q, 0) != 0)
		return nsys_moment(q);
	if (call) {
		q->row.v[HWY_START] = call->start;
		return true;
	}
	q->no_time++;
	return false;
}

struct sync_key { /* a key of a struct hwy_index, so it must have no padding */
	int64_t process, event_sync;
};
struct event_spans {              /* the spans of the CUDA events that have a sync id */
	struct hwy_index span_of; /* maps a struct sync_key to an index into 'spans' */
	struct hwy_ref *spans;
	uint32_t n, cap;
};

/* The sync id of the current row; false: it has none (NULL, or 0 in files of releases without the
 * id). */
static bool read_sync_key(struct nsys_query *q, uint32_t process, struct sync_key *key)
{
	uint64_t ref = (uint64_t)q->row.v[HWY_EVENT_SYNC];
	*key = (struct sync_key){process, (int64_t)(ref - 1)};
	return (int64_t)ref > hwy_ref(0);
}

static void read_events(struct nsys *n, struct event_spans *events)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "timestamp rowid " COLUMNS, NULL))
		return;
	while (nsys_next(&q)) {
		uint32_t stream = nsys_stream(&q, COLUMN_STREAM);
		q.row.v[HWY_CORR] = nsys_int(&q, COLUMN_CORRELATION);
		if (!event_time(&q, find_call(n, stream, q.row.v[HWY_CORR])))
			continue;
		q.row.v[HWY_FLAGS] = HWY_FLAG_MARK;
		q.row.v[HWY_EVENT_ID] = ref_or_none(&q, COLUMN_EVENT);
		q.row.v[HWY_EVENT_SYNC] = ref_or_none(&q, COLUMN_EVENT_SYNC);
		uint32_t lane = hwy_add_stream_lane(n->b, HWY_LANE_STREAM, stream);
		struct hwy_ref span = hwy_add_span(n->b, lane, HWY_EVENT, &q.row);
		struct sync_key key;
		if (!read_sync_key(&q, n->streams[stream].process, &key))
			continue;
		*hwy_index_put(&events->span_of, &key, sizeof key, NULL) = events->n;
		HWY_GROW(events->spans, events->n, events->cap);
		events->spans[events->n++] = span;
	}
}

static void read_waits(struct nsys *n, const struct event_spans *events)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "~start ~end " COLUMNS,
			 NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q))
			continue;
		uint32_t stream = nsys_stream(&q, COLUMN_STREAM);
		bool has_stream = n->trace->streams[stream].number != HWY_NONE;
		q.row.v[HWY_CORR] = nsys_int(&q, COLUMN_CORRELATION);
		q.row.v[HWY_EVENT_ID] = ref_or_none(&q, COLUMN_EVENT);
		q.row.v[HWY_EVENT_SYNC] = ref_or_none(&q, COLUMN_EVENT_SYNC);
		q.row.v[HWY_SYNC_TYPE] = sync_type(n, find_call(n, stream, q.row.v[HWY_CORR]),
						   has_stream, q.row.v[HWY_EVENT_ID] != 0);
		q.row.v[HWY_WAITED] = has_stream ? hwy_ref(stream) : HWY_REF_NONE;
		uint32_t lane = hwy_add_stream_lane(n->b, HWY_LANE_SYNC, stream);
		struct hwy_ref span = hwy_add_span(n->b, lane, HWY_SYNC, &q.row);
		struct sync_key key;
		const uint32_t *event = read_sync_key(&q, n->streams[stream].process, &key)
						? hwy_index_get(&events->span_of, &key, sizeof key)
						: NULL;
		if (event && events->spans)
			hwy_add_edge(n->b, HWY_EDGE_EVENT, events->spans[*event], span,
				     key.event_sync);
	}
}

void nsys_read_waits(struct nsys *n)
{
	struct event_spans events = {0};
	read_events(n, &events);
	read_waits(n, &events);
	hwy_index_free(&events.span_of);
	free(events.spans);
}
