/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_nccl.c - reads NCCL's records: communicators, calls and operations, and what channels
 * and proxies did for them.
 *
 * Records of one operation come from several threads, in any order, so that they are kept until
 * all are read. A record whose operation is not known is left out: the operation began before
 * the recording did.
 */
#include "ingest/ingest_nccl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ingest_nccl *ingest_nccl_state(struct ingest *in)
{
	if (!in->nccl)
		in->nccl = hwy_zalloc(sizeof *in->nccl);
	return in->nccl;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void add_comm(struct ingest *in, uint32_t process, const struct rec_nccl_comm *record)
{
	struct ingest_nccl *state = in->nccl;
	bool fresh;
	uint32_t *index =
		hwy_map_put(&state->comm_of, nccl_key(process, record->head.value), &fresh);
	if (!fresh)
		return;
	*index = state->n_comms;
	HWY_GROW(state->comms, state->n_comms, state->cap_comms);
	state->comms[state->n_comms++] = (struct nccl_comm){
		.process = process,
		.is_rccl = record->head.flags & REC_NCCL_IS_RCCL,
		.hash = record->hash,
		.name = record->name ? ingest_text(in, &in->processes[process], record->name) : 0,
		.nodes = record->nodes,
		.ranks = record->ranks > 0 ? record->ranks : -1,
		.rank = record->rank,
	};
}

static void add_event(struct ingest_nccl *state, uint32_t process, uint32_t tid,
		      const struct rec_nccl_event *record)
{
	bool fresh;
	if (!record->id || record->head.flags >= REC_NCCL_KINDS)
		return;
	uint32_t *index = hwy_map_put(&state->event_of, nccl_key(process, record->id), &fresh);
	if (!fresh)
		return;
	*index = state->n;
	HWY_GROW(state->events, state->n, state->cap);
	state->events[state->n++] = (struct nccl_event){.record = record,
							.process = process,
							.tid = tid,
							.start = HWY_NONE,
							.finish = HWY_NONE};
}

void ingest_nccl_add(struct ingest *in, uint32_t process, uint32_t tid,
		     const struct rec_head *record)
{
	struct ingest_nccl *state = ingest_nccl_state(in);
	if (record->type == REC_NCCL_COMM) {
		add_comm(in, process, (const void *)record);
	} else if (record->type == REC_NCCL_EVENT) {
		add_event(state, process, tid, (const void *)record);
	} else {
		HWY_GROW(state->parts, state->n_parts, state->cap_parts);
		state->parts[state->n_parts++] = (struct nccl_part){record, process};
	}
}

void ingest_nccl_note_kernel(struct ingest *in, uint32_t process, const struct rec_work *work,
			     int64_t name, struct hwy_ref span)
{
	bool fresh;
	struct ingest_nccl *state = ingest_nccl_state(in);
	uint32_t *is_kernel = hwy_map_put(&state->is_kernel, (uint64_t)name, &fresh);
	if (fresh) {
		const char *text = hwy_str(in->trace, name);
		*is_kernel = strcasestr(text, "nccl") || strcasestr(text, "rccl");
	}
	if (!*is_kernel)
		return;
	HWY_GROW(state->kernels, state->n_kernels, state->cap_kernels);
	state->kernels[state->n_kernels++] =
		(struct nccl_kernel){.process = process,
				     .correlation = work->correlation,
				     .start = work->start,
				     .end = work->start + ingest_duration(work->duration),
				     .span = span};
}

void ingest_nccl_note_call(struct ingest *in, uint32_t process, uint32_t tid, int64_t start,
			   int64_t duration, struct hwy_ref span)
{
	struct ingest_nccl *state = ingest_nccl_state(in);
	HWY_GROW(state->calls, state->n_calls, state->cap_calls);
	state->calls[state->n_calls++] =
		(struct nccl_call){process, tid, start, start + duration, span};
}

/* ---- what belongs to an event ---------------------------------------------------------------- */

static struct nccl_event *nccl_find(struct ingest_nccl *state, uint32_t process, uint64_t id)
{
	const uint32_t *index =
		state->event_of.count ? hwy_map_get(&state->event_of, nccl_key(process, id)) : NULL;
	return id && index && *index < state->n ? &state->events[*index] : NULL;
}

static void take_channel(struct nccl_event *event, const struct rec_nccl_channel *record)
{
	int64_t end = record->start + ingest_duration(record->duration);
	if (!event->seen_start || record->start < event->seen_start)
		event->seen_start = record->start;
	if (end > event->seen_end)
		event->seen_end = end;
	if (record->gpu_start && (!event->gpu_start || record->gpu_start < event->gpu_start))
		event->gpu_start = record->gpu_start;
	if (record->gpu_end > event->gpu_end)
		event->gpu_end = record->gpu_end;
}

static void take_proxy(struct nccl_event *event, const struct rec_nccl_proxy *record)
{
	const struct rec_nccl_proxy *last = event->last;
	if (!last || record->start + ingest_duration(record->duration) >
			     last->start + ingest_duration(last->duration))
		event->last = record;
}

/* The process whose operation a proxy worked at: its own, or another one of this run (PXN);
 * UINT32_MAX: none of this run. */
static uint32_t owner_of_proxy(const struct ingest *in, uint32_t process,
			       const struct rec_nccl_proxy *record)
{
	if (in->processes[process].pid == record->pid)
		return process;
	const uint32_t *ref = in->image_of.count ? hwy_map_get(&in->image_of, record->pid) : NULL;
	uint32_t index;
	for (uint32_t at = ref ? *ref : 0; hwy_ref_to_index(at, &index);
	     at = in->processes[index].next_ref)
		if (hwy_map_get(&in->nccl->event_of, nccl_key(index, record->operation)))
			return index;
	return UINT32_MAX;
}

static void take_part(struct ingest *in, const struct nccl_part *part)
{
	struct ingest_nccl *state = in->nccl;
	struct nccl_event *event = NULL;
	switch (part->record->type) {
	case REC_NCCL_END: {
		const struct rec_nccl_end *end = (const void *)part->record;
		event = nccl_find(state, part->process, end->id);
		if (event)
			event->end = end->time;
		break;
	}
	case REC_NCCL_CHANNEL: {
		const struct rec_nccl_channel *channel = (const void *)part->record;
		event = nccl_find(state, part->process, channel->operation);
		if (event && ingest_is_time(in, channel->start))
			take_channel(event, channel);
		break;
	}
	default: {
		const struct rec_nccl_proxy *proxy = (const void *)part->record;
		uint32_t owner = state->event_of.count ? owner_of_proxy(in, part->process, proxy)
						       : UINT32_MAX;
		event = owner == UINT32_MAX ? NULL : nccl_find(state, owner, proxy->operation);
		state->foreign += owner == UINT32_MAX;
		if (event && ingest_is_time(in, proxy->start))
			take_proxy(event, proxy);
	}
	}
}

/* ---- communicators --------------------------------------------------------------------------- */

/* The communicator of an event. Below version 4 every operation names it, and NCCL's context
 * does not. */
static void find_comm(struct ingest_nccl *state, struct nccl_event *event)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the event is one of an array */
	const struct rec_nccl_event *record = event->record;
	const uint32_t *told =
		state->comm_of.count
			? hwy_map_get(&state->comm_of, nccl_key(event->process, record->head.value))
			: NULL;
	if (!told)
		return;
	uint32_t index = *told;
	if (record->bits & REC_NCCL_HAS_HASH) {
		bool fresh;
		uint64_t key = nccl_key(event->process,
					record->hash ^ (uint64_t)(uint32_t)record->rank << 20);
		uint32_t *own = hwy_map_put(&state->comm_of, key | UINT64_C(1) << 63, &fresh);
		if (fresh) {
			*own = state->n_comms;
			HWY_GROW(state->comms, state->n_comms, state->cap_comms);
			struct nccl_comm comm = state->comms[index];
			comm.hash = record->hash;
			comm.rank = record->rank;
			state->comms[state->n_comms++] = comm;
		}
		index = *own;
	}
	event->comm_ref = hwy_ref32(index);
}

void ingest_nccl_finish(struct ingest *in)
{
	struct ingest_nccl *state = in->nccl;
	if (!state)
		return;
	for (uint32_t i = 0; i < state->n_parts; i++)
		take_part(in, &state->parts[i]);
	for (uint32_t i = 0; i < state->n; i++) {
		struct nccl_event *event = &state->events[i];
		find_comm(state, event);
		struct nccl_event *parent = nccl_find(state, event->process, event->record->parent);
		if (parent && !nccl_is_operation(event))
			parent->calls++;
	}
	if (state->n) {
		nccl_kernels_join(in);
		nccl_messages_add(in);
	}
	if (state->foreign)
		ingest_note_diagnostic(
			in, 1, HWY_NONE,
			"NCCL sent or received %llu times for processes that are not in this recording",
			(unsigned long long)state->foreign);
	hwy_map_free(&state->event_of);
	hwy_map_free(&state->comm_of);
	hwy_map_free(&state->is_kernel);
	free(state->calls);
	free(state->events);
	free(state->comms);
	free(state->kernels);
	free(state->parts);
	free(state);
	in->nccl = NULL;
}
