/* nsys_waits.c - waits and the events they wait for.
 *
 * The number a wait's type is stored as changed its meaning several times between schemas 2.9 and 3.25, so
 * it is not looked at: the call decides, and where the call is not recorded, what the row says about stream
 * and event. (CUPTI: the stream is not valid for waits on a context or an event, the event not for waits on
 * a context or a stream; 4294967295 says so.)
 * Event handles are reused; a wait and the record it waits for share an eventSyncId.
 */
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"

static uint64_t call_key(uint32_t process, int64_t corr)
{
	return (uint64_t)process << 32 ^ (uint64_t)corr;
}

/* Sync and event rows need the name and time of their calls: nsys_cuda.c notes those that are wanted. */
static void want(struct nsys *n, const char *table)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, table, "globalPid correlationId", NULL))
		return;
	while (nsys_next(&q)) {
		if (nsys_int(&q, 1) == 0 || nsys_null(&q, 0))
			continue;
		bool fresh;
		uint32_t process = nsys_process(n, nsys_int(&q, 0));
		uint32_t *at = hwy_map_put(&n->call_of, call_key(process, nsys_int(&q, 1)), &fresh);
		if (!fresh)
			continue;
		*at = n->n_calls;
		HWY_GROW(n->calls, n->n_calls, n->cap_calls);
		n->calls[n->n_calls++] = (struct nsys_call){0};
	}
}

void nsys_want_calls(struct nsys *n)
{
	want(n, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
	want(n, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
}

static const struct nsys_call *nsys_waits_call_of(struct nsys *n, uint32_t stream, int64_t corr)
{
	const uint32_t *at = hwy_map_get(&n->call_of, call_key(n->streams[stream].process, corr));
	return at && n->calls[*at].name ? &n->calls[*at] : NULL;
}

/* deviceId … globalPid at columns 1 to 5 */
#define COLUMNS                                                                                    \
	"deviceId contextId greenContextId streamId globalPid correlationId eventId eventSyncId"
enum { STREAM_AT = 2, CORR_AT = 7, EVENT_AT = 8, EVENT_SYNC_AT = 9 };

static int64_t plus_one_or_none(struct nsys_query *q, int column)
{
	return nsys_is_none(nsys_int(q, column)) ? 0 : nsys_int_plus_one(q, column);
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

/* Where the device's time of an event was not collected (the default), the call that recorded it gives the
 * time: then the mark says when it was enqueued. */
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

static void nsys_waits_read_events(struct nsys *n, struct hwy_map *record_of,
				   struct hwy_ref **records, uint32_t *n_records)
{
	struct nsys_query q;
	uint32_t cap = 0;
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "timestamp rowid " COLUMNS, NULL))
		return;
	while (nsys_next(&q)) {
		uint32_t stream = nsys_stream(&q, STREAM_AT);
		q.row.v[HWY_CORR] = nsys_int(&q, CORR_AT);
		if (!event_time(&q, nsys_waits_call_of(n, stream, q.row.v[HWY_CORR])))
			continue;
		q.row.v[HWY_FLAGS] = HWY_FLAG_MARK;
		q.row.v[HWY_EVENT_ID] = plus_one_or_none(&q, EVENT_AT);
		q.row.v[HWY_EVENT_SYNC] = plus_one_or_none(&q, EVENT_SYNC_AT);
		struct hwy_ref ref =
			hwy_add_span(n->b, nsys_work_lane(n, stream), HWY_EVENT, &q.row);
		if (q.row.v[HWY_EVENT_SYNC] <= 1) /* 0 is what files without the id hold */
			continue;
		HWY_GROW(*records, *n_records, cap);
		(*records)[*n_records] = ref;
		*hwy_map_put(record_of,
			     call_key(n->streams[stream].process, q.row.v[HWY_EVENT_SYNC]), NULL) =
			(*n_records)++;
	}
}

static void read_syncs(struct nsys *n, const struct hwy_map *record_of,
		       const struct hwy_ref *records)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "~start ~end " COLUMNS,
			 NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_times(&q))
			continue;
		uint32_t stream = nsys_stream(&q, STREAM_AT);
		bool has_stream = n->trace->streams[stream].number != HWY_NONE;
		q.row.v[HWY_CORR] = nsys_int(&q, CORR_AT);
		q.row.v[HWY_EVENT_ID] = plus_one_or_none(&q, EVENT_AT);
		q.row.v[HWY_EVENT_SYNC] = plus_one_or_none(&q, EVENT_SYNC_AT);
		q.row.v[HWY_SYNC_TYPE] =
			sync_type(n, nsys_waits_call_of(n, stream, q.row.v[HWY_CORR]), has_stream,
				  q.row.v[HWY_EVENT_ID] != 0);
		q.row.v[HWY_WAITED] = has_stream ? (int64_t)stream + 1 : 0;
		struct hwy_ref ref =
			hwy_add_span(n->b, nsys_sync_lane(n, stream), HWY_SYNC, &q.row);
		const uint32_t *record =
			q.row.v[HWY_EVENT_SYNC] <= 1
				? NULL
				: hwy_map_get(record_of, call_key(n->streams[stream].process,
								  q.row.v[HWY_EVENT_SYNC]));
		if (records && record)
			hwy_add_edge(n->b, HWY_EDGE_EVENT, records[*record], ref,
				     q.row.v[HWY_EVENT_SYNC] - 1);
	}
}

void nsys_read_waits(struct nsys *n)
{
	struct hwy_map record_of = {0};
	struct hwy_ref *records = NULL;
	uint32_t n_records = 0;
	nsys_waits_read_events(n, &record_of, &records, &n_records);
	read_syncs(n, &record_of, records);
	hwy_map_free(&record_of);
	free(records);
}
