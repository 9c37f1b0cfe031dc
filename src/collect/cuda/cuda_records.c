/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_records.c - converts CUPTI's records into records of the spool.
 *
 * Runs on the flush thread as a rule; several threads may convert at once, each into its own spool.
 * A record's size is the distance to the next record, so that records of older libraries are read
 * no further than they go. Work on a device without times was lost on the device (its buffers were
 * full) or had not ended when the program did; such work is counted, not written.
 */
#include <stdlib.h>

#include "collect/cuda/cuda.h"

static struct {
	_Atomic uint64_t untimed, cut, dropped;
} losses;

static int64_t duration_between(uint64_t start, uint64_t end)
{
	return end > start ? (int64_t)(end - start) : 0;
}

/* ---- calls ---- */

static void convert_api(const struct cupti_api *a)
{
	uint32_t domain = a->kind == CUPTI_DRIVER ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME;
	if (!collect_control->all_apis && !(cuda_calls_flags(domain, a->cbid) & CALL_RECORD))
		return;
	if (cuda_flush_is_thread(a->tid))
		return;
	cuda_calls_seen(domain, a->cbid);
	struct rec_api *r = collect_reserve(REC_API, 1);
	if (!r)
		return;
	r->head.value = (a->cbid & 0xffff) | a->result << 16;
	r->head.flags = (uint8_t)((domain == CUPTI_DOMAIN_DRIVER ? REC_API_DRIVER : 0) |
				  (a->start == 0 || a->end == 0 ? REC_API_NO_TIME : 0));
	r->start = (int64_t)a->start;
	r->duration = duration_between(a->start, a->end);
	r->correlation = a->correlation;
	r->tid = a->tid;
	collect_publish(r);
	if (domain == CUPTI_DOMAIN_DRIVER && (cuda_calls_flags(domain, a->cbid) & CALL_SYNC))
		cuda_sync_put_from_record(cuda_calls_flags(domain, a->cbid), a);
}

/* ---- device work ---- */

static struct rec_work *cuda_records_add_work(enum rec_type type, uint64_t start, uint64_t end)
{
	if (start == 0 || end == 0) {
		atomic_fetch_add(&losses.untimed, 1);
		return NULL;
	}
	struct rec_work *r = collect_reserve(type, 2);
	if (!r)
		return NULL;
	r->start = (int64_t)start;
	r->duration = duration_between(start, end);
	return r;
}

static void convert_kernel(const struct cupti_kernel *k, size_t size)
{
	uint32_t name = cuda_intern_name(k->name);
	struct rec_shape shape = {
		.registers = k->registers,
		.static_shared = (uint32_t)k->static_shared,
		.dynamic_shared = (uint32_t)k->dynamic_shared,
		.executed_shared = k->executed_shared,
		.local_per_thread = k->local_per_thread,
		.local_total = k->local_total,
	};
	bool has_cluster = CUPTI_HAS(k, size, cluster);
	for (int i = 0; i < 3; i++) {
		shape.grid[i] = (uint32_t)k->grid[i];
		shape.block[i] = (uint32_t)k->block[i];
		shape.cluster[i] = has_cluster ? k->cluster[i] : 0;
	}
	uint32_t shape_id = cuda_intern_shape(&shape);
	struct rec_work *r = cuda_records_add_work(REC_KERNEL, k->start, k->end);
	if (!r)
		return;
	r->head.value = name;
	r->shape = shape_id;
	r->correlation = k->correlation;
	r->stream = k->stream;
	r->context = k->context;
	r->device = (uint16_t)k->device;
	r->graph = k->graph;
	r->node = k->node;
	r->launch_type = k->launch_type;
	if (CUPTI_HAS(k, size, channel_type) && k->channel_type) {
		r->channel = rec_ref(k->channel);
		r->channel_type = (uint8_t)k->channel_type;
	}
	collect_publish(r);
}

/* Sets the fields that copies and fills have in common; each kind of record has them in other
 * places. */
#define PUT_COMMON(from, size, r)                                                                  \
	do {                                                                                       \
		(r)->bytes = (from)->bytes;                                                        \
		(r)->correlation = (from)->correlation;                                            \
		(r)->stream = (from)->stream;                                                      \
		(r)->context = (from)->context;                                                    \
		(r)->device = (uint16_t)(from)->device;                                            \
		(r)->graph = (from)->graph;                                                        \
		(r)->node = (from)->node;                                                          \
		if (CUPTI_HAS(from, size, channel_type) && (from)->channel_type)                   \
			(r)->channel = rec_ref((from)->channel);                                   \
	} while (0)

static uint32_t copy_kinds(uint8_t kind, uint8_t source, uint8_t target)
{
	return kind | (uint32_t)source << 8 | (uint32_t)target << 16;
}

static void convert_memcpy(const struct cupti_memcpy *c, size_t size)
{
	struct rec_work *r = cuda_records_add_work(REC_COPY, c->start, c->end);
	if (!r)
		return;
	r->head.value = copy_kinds(c->copy_kind, c->source_kind, c->target_kind);
	r->head.flags = c->flags;
	PUT_COMMON(c, size, r);
	collect_publish(r);
}

static void convert_memcpy2(const struct cupti_memcpy2 *c, size_t size)
{
	struct rec_work *r = cuda_records_add_work(REC_COPY, c->start, c->end);
	if (!r)
		return;
	r->head.value = copy_kinds(c->copy_kind, c->source_kind, c->target_kind);
	r->head.flags = c->flags;
	r->source_device = rec_ref(c->source_device);
	r->target_device = rec_ref(c->target_device);
	PUT_COMMON(c, size, r);
	collect_publish(r);
}

static void convert_memset(const struct cupti_memset *m, size_t size)
{
	struct rec_work *r = cuda_records_add_work(REC_FILL, m->start, m->end);
	if (!r)
		return;
	r->head.value = m->value;
	r->head.flags = (uint8_t)m->flags;
	r->memory_kind = m->memory_kind;
	PUT_COMMON(m, size, r);
	collect_publish(r);
}

static void convert_graph(const struct cupti_graph *g)
{
	struct rec_work *r = cuda_records_add_work(REC_GRAPH, g->start, g->end);
	if (!r)
		return;
	r->correlation = g->correlation;
	r->stream = g->stream;
	r->context = g->context;
	r->device = (uint16_t)g->device;
	/* CUPTI's only id of a launched graph is that of the instantiated one (CUDA 13.0 on an
	 * H200: a program that instantiates its graph 1 has records of graph 2). */
	r->graph = r->graph_exec = g->graph;
	collect_publish(r);
}

/* ---- waits, events, memory, overhead ---- */

static void convert_sync(const struct cupti_sync *s, size_t size)
{
	struct rec_sync *r = collect_reserve(REC_SYNC, 2);
	if (!r)
		return;
	r->head.flags = (uint8_t)s->type;
	r->start = (int64_t)s->start;
	r->duration = duration_between(s->start, s->end);
	r->correlation = s->correlation;
	r->context = s->context;
	r->stream = s->stream;
	r->event = s->event;
	if (CUPTI_HAS(s, size, event_sync))
		r->event_sync = s->event_sync;
	if (CUPTI_HAS(s, size, result))
		r->head.value = s->result;
	collect_publish(r);
}

static void convert_event(const struct cupti_event *e, size_t size)
{
	struct rec_sync *r = collect_reserve(REC_EVENT, 2);
	if (!r)
		return;
	r->correlation = e->correlation;
	r->context = e->context;
	r->stream = e->stream;
	r->event = e->event;
	if (CUPTI_HAS(e, size, event_sync)) {
		r->device = e->device;
		r->start = (int64_t)e->device_time;
		r->event_sync = e->event_sync;
	}
	collect_publish(r);
}

static void convert_memory(const struct cupti_memory *m)
{
	uint32_t name = cuda_intern_name(m->name);
	struct rec_memory *r = collect_reserve(REC_MEMORY, 2);
	if (!r)
		return;
	r->head.flags = (uint8_t)m->operation;
	r->head.value = m->memory_kind;
	r->time = (int64_t)m->time;
	r->address = m->address;
	r->bytes = m->bytes;
	r->pool = m->pool;
	r->correlation = m->correlation;
	r->stream = m->stream;
	r->context = m->context;
	r->device = m->device;
	r->name = name;
	collect_publish(r);
}

static void convert_overhead(const struct cupti_overhead *o, size_t size)
{
	if (CUPTI_HAS(o, size, more))
		free(o->more);
	struct rec_overhead *r = collect_reserve(REC_OVERHEAD, 1);
	if (!r)
		return;
	r->head.value = o->overhead;
	r->start = (int64_t)o->start;
	r->duration = duration_between(o->start, o->end);
	r->tid = o->object == CUPTI_OBJECT_THREAD ? o->object_id[1] : 0;
	if (CUPTI_HAS(o, size, correlation))
		r->correlation = o->correlation;
	collect_publish(r);
}

/* ---- definitions ---- */

static void convert_context(const struct cupti_context *c, size_t size)
{
	struct rec_context *r = collect_reserve(REC_CONTEXT, 1);
	if (!r)
		return;
	r->head.value = c->context;
	r->device = c->device;
	r->null_stream = c->null_stream;
	if (CUPTI_HAS(c, size, is_green) && c->is_green)
		r->parent = c->parent;
	collect_publish(r);
}

static void convert_stream(const struct cupti_stream *s)
{
	struct rec_stream *r = collect_reserve(REC_STREAM, 1);
	if (!r)
		return;
	r->head.value = s->stream;
	r->head.flags = (uint8_t)s->flag;
	r->context = s->context;
	r->priority = (int32_t)s->priority;
	collect_publish(r);
}

static void cuda_records_convert_one(const void *record, size_t size)
{
	switch (*(const uint32_t *)record) {
	case CUPTI_RUNTIME:
	case CUPTI_DRIVER: convert_api(record); break;
	case CUPTI_CONCURRENT_KERNEL: convert_kernel(record, size); break;
	case CUPTI_MEMCPY: convert_memcpy(record, size); break;
	case CUPTI_MEMCPY2: convert_memcpy2(record, size); break;
	case CUPTI_MEMSET: convert_memset(record, size); break;
	case CUPTI_GRAPH_TRACE: convert_graph(record); break;
	case CUPTI_SYNCHRONIZATION: convert_sync(record, size); break;
	case CUPTI_CUDA_EVENT: convert_event(record, size); break;
	case CUPTI_MEMORY2: convert_memory(record); break;
	case CUPTI_OVERHEAD: convert_overhead(record, size); break;
	case CUPTI_CONTEXT: convert_context(record, size); break;
	case CUPTI_STREAM: convert_stream(record); break;
	case CUPTI_DEVICE: cuda_device_seen(record); break;
	default: break;
	}
}

void cuda_records_convert(uint8_t *buffer, size_t valid)
{
	void *record = NULL;
	int result = cuda.cupti.cuptiActivityGetNextRecord(buffer, valid, &record);
	while (result == CUPTI_OK) {
		void *next = record;
		result = cuda.cupti.cuptiActivityGetNextRecord(buffer, valid, &next);
		uint8_t *end = result == CUPTI_OK ? next : buffer + valid;
		cuda_records_convert_one(record, (size_t)(end - (uint8_t *)record));
		record = next;
	}
	if (result != CUPTI_MAX_LIMIT_REACHED)
		atomic_fetch_add(&losses.cut, 1);
}

static void cuda_records_report_loss(_Atomic uint64_t *count, const char *reason)
{
	uint64_t n = atomic_exchange(count, 0);
	if (n > 0)
		collect_drop(reason, n);
}

/* Converts a buffer without taking a lock: CUPTI may deliver another buffer meanwhile. */
void cuda_records_report_losses(bool at_end)
{
	size_t dropped = 0;
	if (cuda.cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_OK)
		atomic_fetch_add(&losses.dropped, dropped);
	cuda_records_report_loss(&losses.dropped, "CUPTI had no room for records");
	cuda_records_report_loss(&losses.untimed,
				 at_end ? "device work that had not ended with the program"
					: "device work that CUPTI could not time");
	cuda_records_report_loss(&losses.cut, "buffers with an unreadable end");
}
