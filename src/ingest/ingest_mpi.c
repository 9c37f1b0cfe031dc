/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_mpi.c - adds the calls of MPI, one lane a thread, and the messages that they exchange.
 *
 * What a call asks for and another one awaits is joined by the value of its request
 * (spool/record_mpi.h). For that the calls of a process, of all its threads, are gone through in
 * an order in which a call that makes a request stands before every call that awaits it: the
 * first by its end, the second by its start. A message whose end nobody awaited has no end; one
 * that was cancelled did not take place, and is left out.
 */
#include <stdlib.h>

#include "base/sort_runs.h"
#include "ingest/ingest_mpi.h"
#include "trace/collective_names.h"

/* A call that makes, starts or awaits something. */
struct mpi_event {
	const struct rec_mpi *record;
	struct hwy_ref span;
};
/* Messages that one request stands for: at most two (MPI_Isendrecv). */
struct mpi_pending {
	struct hwy_message messages[2];
	uint32_t n;
	uint32_t next_ref; /* ref of the next one whose request has the same value */
	uint32_t communicator;
};
struct mpi_process {
	uint32_t process;
	struct mpi_event *events;
	uint32_t n, cap;
};
struct ingest_mpi {
	struct mpi_process *processes;
	uint32_t n, cap;
	struct hwy_map process_of; /* maps a process to an index into 'processes' */
	struct hwy_map lanes;      /* maps a thread of the trace to its lane */
	struct hwy_ref last;       /* the span of the record before */
};

/* The state while the messages of one process are made. */
struct joining {
	struct ingest *in;
	struct ingest_process *process;
	struct mpi_groups groups;
	struct mpi_pending *pending;
	uint32_t n, cap;
	struct hwy_map first, last; /* of the pending ones with a request of this value: refs */
	/* Maps the value of a persistent request to the ref of the call that prepared it, in
	 * 'events'. */
	struct hwy_map persistent;
	struct hwy_map
		found; /* maps a message of MPI_Mprobe to the ref of that call, in 'events' */
	const struct mpi_event *events;
};

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t parts_of(const struct rec_mpi *record)
{
	uint32_t slots = record->head.slots - 1u;
	if (!(record->head.flags & REC_MPI_PARTS))
		return 0;
	return record->head.flags & REC_MPI_SMALL ? slots : slots / 2;
}
static struct rec_mpi_part part_at(const struct rec_mpi *record, uint32_t i)
{
	if (!(record->head.flags & REC_MPI_SMALL))
		return ((const struct rec_mpi_part *)(record + 1))[i];
	const struct rec_mpi_small *small = (const struct rec_mpi_small *)(record + 1) + i;
	const uint8_t ways = REC_MPI_GIVES | REC_MPI_GETS;
	return (struct rec_mpi_part){
		.op = small->op,
		.flags = (uint8_t)(small->flags & ~ways),
		.peer = small->peer,
		.tag = small->tag,
		.datatype = small->datatype,
		.sent = small->flags & REC_MPI_GIVES ? small->bytes : 0,
		.received = small->flags & REC_MPI_GETS ? small->bytes : 0,
		.count = small->count == UINT32_MAX ? REC_MPI_UNKNOWN : small->count,
		.request = small->request,
	};
}
static uint32_t done_of(const struct rec_mpi *record)
{
	const uint8_t any = REC_MPI_DONE | REC_MPI_START | REC_MPI_FREE;
	return record->head.flags & any ? record->head.slots - 1u : 0;
}
static const struct rec_mpi_done *done_at(const struct rec_mpi *record, uint32_t i)
{
	return (const struct rec_mpi_done *)(record + 1) + i;
}
static int64_t mpi_end_of(const struct rec_mpi *record)
{
	return record->start + ingest_duration(record->duration);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static uint32_t mpi_lane(struct ingest *in, uint32_t process, uint32_t tid)
{
	bool fresh;
	uint32_t thread = target_thread(in, process, tid);
	uint32_t *index = hwy_map_put(&in->mpi->lanes, thread, &fresh);
	if (fresh) {
		struct hwy_lane lane =
			hwy_lane_of(HWY_LANE_CALL, in->processes[process].record, thread);
		lane.name = hwy_text_id(in->b, "MPI");
		*index = hwy_add_lane(in->b, lane);
	}
	return *index;
}

/* Bytes that a call moves: those that it sends and receives itself. */
static int64_t mpi_bytes_of(const struct rec_mpi *record)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < parts_of(record); i++) {
		struct rec_mpi_part part = part_at(record, i);
		if (part.flags & REC_MPI_PERSISTENT)
			continue;
		sum += part.sent == REC_MPI_UNKNOWN ? 0 : part.sent;
		sum += part.received == REC_MPI_UNKNOWN ? 0 : part.received;
	}
	return sum <= INT64_MAX ? (int64_t)sum : 0;
}

static struct mpi_process *mpi_process_of(struct ingest *in, uint32_t process)
{
	struct ingest_mpi *mpi = in->mpi;
	bool fresh;
	uint32_t *index = hwy_map_put(&mpi->process_of, process, &fresh);
	if (fresh) {
		*index = mpi->n;
		HWY_GROW(mpi->processes, mpi->n, mpi->cap);
		mpi->processes[mpi->n++] = (struct mpi_process){.process = process};
	}
	return &mpi->processes[*index];
}

static void add_call(struct ingest *in, uint32_t process, uint32_t tid,
		     const struct rec_mpi *record)
{
	if (!in->mpi)
		in->mpi = hwy_zalloc(sizeof *in->mpi);
	struct hwy_row row = {0};
	if (!ingest_times(in, record->start, record->duration, &row))
		return;
	if (!(record->head.flags & REC_MPI_MORE)) {
		struct ingest_process *owner = &in->processes[process];
		row.v[HWY_NAME] = ingest_text(in, owner, record->head.value);
		row.v[HWY_BYTES] = mpi_bytes_of(record);
		row.v[HWY_RESULT] = record->result;
		row.v[HWY_STACK] = stacks_find_at(in, owner, tid, record->start);
		in->mpi->last = hwy_add_span(in->b, mpi_lane(in, process, tid), HWY_CALL, &row);
	}
	if (!parts_of(record) && !done_of(record))
		return;
	struct mpi_process *list = mpi_process_of(in, process);
	HWY_GROW(list->events, list->n, list->cap);
	list->events[list->n++] = (struct mpi_event){record, in->mpi->last};
}

/* ---- messages -------------------------------------------------------------------------------- */

static const char *mpi_op_name(uint8_t op)
{
	static const char *const names[REC_MPI_OPS] = {
		[REC_MPI_SEND] = "Send",
		[REC_MPI_RECEIVE] = "Receive",
		[REC_MPI_BARRIER] = "Barrier",
		[REC_MPI_BROADCAST] = "Broadcast",
		[REC_MPI_REDUCE] = "Reduce",
		[REC_MPI_ALL_REDUCE] = "AllReduce",
		[REC_MPI_REDUCE_SCATTER] = "ReduceScatter",
		[REC_MPI_GATHER] = "Gather",
		[REC_MPI_SCATTER] = "Scatter",
		[REC_MPI_ALL_GATHER] = "AllGather",
		[REC_MPI_ALL_TO_ALL] = "AllToAll",
		[REC_MPI_SCAN] = "Scan",
		[REC_MPI_NEIGHBOR_ALL_GATHER] = "NeighborAllGather",
		[REC_MPI_NEIGHBOR_ALL_TO_ALL] = "NeighborAllToAll",
	};
	return op < REC_MPI_OPS ? names[op] : NULL;
}

static int64_t known(uint64_t number)
{
	return number <= INT64_MAX ? (int64_t)number : HWY_NONE;
}

/* The name of a datatype: as all sources have it, or else MPI's. */
static int64_t datatype_of(struct joining *j, uint32_t name)
{
	if (!name)
		return HWY_NONE;
	uint32_t text = ingest_text(j->in, j->process, name);
	const struct hwy_datatype *type = hwy_datatype_of(hwy_str(j->in->trace, text));
	return type ? hwy_text_id(j->in->b, type->name) : text;
}

/* The communicator of a part: the call's, or that of the call that found the message. */
static uint32_t communicator_of(const struct joining *j, const struct rec_mpi *call,
				const struct rec_mpi_part *part)
{
	const uint32_t *found = part->message ? hwy_map_get(&j->found, part->message) : NULL;
	return found ? j->events[*found].record->communicator : call->communicator;
}

/* The message of a part, asked for by 'event' (of which a persistent request's part is not a
 * part). */
static struct hwy_message message_of(struct joining *j, const struct rec_mpi *call,
				     const struct rec_mpi_part *part, const struct mpi_event *event)
{
	struct hwy_message m = hwy_message_none();
	hwy_message_at(&m.span, event->span);
	m.process = j->process->record;
	m.library = hwy_text_id(j->in->b, "MPI");
	m.name = hwy_text_id(j->in->b, mpi_op_name(part->op));
	m.kind = part->op == REC_MPI_SEND      ? HWY_MESSAGE_SEND
		 : part->op == REC_MPI_RECEIVE ? HWY_MESSAGE_RECEIVE
					       : HWY_MESSAGE_COLLECTIVE;
	if (m.kind == HWY_MESSAGE_COLLECTIVE)
		m.sequence = part->flags & REC_MPI_PERSISTENT ? HWY_NONE : part->tag;
	else if (part->tag >= 0)
		m.tag = part->tag;
	m.sent = known(part->sent);
	m.received = known(part->received);
	m.count = part->op == REC_MPI_BARRIER ? HWY_NONE : known(part->count);
	m.datatype = datatype_of(j, part->datatype);
	m.posted = m.start = event->record->start - j->in->epoch;
	struct mpi_group *group = mpi_groups_find(&j->groups, communicator_of(j, call, part));
	if (group && group->record) {
		m.group = mpi_groups_row(j->in, j->process, group);
		m.peer = mpi_groups_world_rank(group, part->peer);
	}
	return m;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void push_pending(struct joining *j, uint64_t request, const struct mpi_pending *made)
{
	HWY_GROW(j->pending, j->n, j->cap);
	j->pending[j->n] = *made;
	uint32_t ref = hwy_ref32(j->n++);
	uint32_t *first = hwy_map_put(&j->first, request, NULL);
	uint32_t *last = hwy_map_put(&j->last, request, NULL);
	if (hwy_ref32_is_set(*first))
		j->pending[hwy_ref32_index(*last)].next_ref = ref;
	else
		*first = ref;
	*last = ref;
}

/* The oldest pending request of this value, taken out of the row; NULL: none. */
static struct mpi_pending *pop_pending(struct joining *j, uint64_t request)
{
	const uint32_t *there = hwy_map_get(&j->first, request);
	if (!there || !hwy_ref32_is_set(*there))
		return NULL;
	uint32_t *first = hwy_map_put(&j->first, request, NULL);
	struct mpi_pending *popped = &j->pending[hwy_ref32_index(*first)];
	*first = popped->next_ref;
	return popped;
}

/* The messages that 'event' asks for: they are those of 'call', which is the event's own or the
 * one that prepared them. Added at once, or when their request is done. */
static void make_messages(struct joining *j, const struct rec_mpi *call,
			  const struct mpi_event *event, uint64_t request, bool is_requested)
{
	struct mpi_pending made = {.n = 0};
	for (uint32_t i = 0; i < parts_of(call); i++) {
		struct rec_mpi_part part = part_at(call, i);
		if (!mpi_op_name(part.op) || made.n == 2)
			continue;
		struct hwy_message m = message_of(j, call, &part, event);
		if (is_requested) {
			made.communicator = communicator_of(j, call, &part);
			made.messages[made.n++] = m;
		} else {
			m.end = mpi_end_of(call) - j->in->epoch;
			hwy_add_message(j->in->b, &m);
		}
	}
	if (made.n)
		push_pending(j, request, &made);
}

/* Adds the messages of a request that is done. */
static void end_pending(struct joining *j, struct mpi_pending *pending,
			const struct rec_mpi_done *done, const struct mpi_event *event)
{
	const struct mpi_group *group = mpi_groups_find(&j->groups, pending->communicator);
	for (uint32_t i = 0; i < pending->n && !(done->flags & REC_MPI_CANCELLED); i++) {
		struct hwy_message *m = &pending->messages[i];
		hwy_message_at(&m->done, event->span);
		m->end = mpi_end_of(event->record) - j->in->epoch;
		if (m->kind == HWY_MESSAGE_RECEIVE) {
			m->received = known(done->bytes);
			m->tag = done->tag >= 0 ? done->tag : HWY_NONE;
			m->peer = mpi_groups_world_rank(group, done->source);
		}
		hwy_add_message(j->in->b, m);
	}
	pending->n = 0;
}

static void read_parts(struct joining *j, uint32_t index)
{
	const struct mpi_event *event = &j->events[index];
	struct rec_mpi_part first = part_at(event->record, 0);
	if (first.flags & REC_MPI_PERSISTENT)
		*hwy_map_put(&j->persistent, first.request, NULL) = hwy_ref32(index);
	else
		make_messages(j, event->record, event, first.request,
			      first.flags & REC_MPI_REQUESTED);
}

/* A persistent request is named again by every start, and stays when it is done. */
static void start_request(struct joining *j, const struct mpi_event *event, uint64_t request)
{
	const uint32_t *prepared = hwy_map_get(&j->persistent, request);
	if (prepared && hwy_ref32_is_set(*prepared))
		make_messages(j, j->events[hwy_ref32_index(*prepared)].record, event, request,
			      true);
}

/* The program will not ask for the end of a request: its messages are added without one. */
static void forget_request(struct joining *j, uint64_t request)
{
	const uint32_t *prepared = hwy_map_get(&j->persistent, request);
	if (prepared && hwy_ref32_is_set(*prepared)) {
		*hwy_map_put(&j->persistent, request, NULL) = HWY_REF_NONE;
		return;
	}
	struct mpi_pending *pending = pop_pending(j, request);
	for (uint32_t i = 0; pending && i < pending->n; i++)
		hwy_add_message(j->in->b, &pending->messages[i]);
	if (pending)
		pending->n = 0;
}

static void read_done(struct joining *j, uint32_t index)
{
	const struct mpi_event *event = &j->events[index];
	uint8_t flags = event->record->head.flags;
	for (uint32_t i = 0; i < done_of(event->record); i++) {
		const struct rec_mpi_done *done = done_at(event->record, i);
		if (flags & REC_MPI_START) {
			start_request(j, event, done->request);
		} else if (flags & REC_MPI_FREE) {
			forget_request(j, done->request);
		} else if (done->flags & REC_MPI_FOUND) {
			*hwy_map_put(&j->found, done->request, NULL) = index;
		} else {
			struct mpi_pending *pending = pop_pending(j, done->request);
			if (pending)
				end_pending(j, pending, done, event);
		}
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* When a call stands in the order of ingest_mpi.c's head, in ns. */
static int64_t place_in_order(const struct rec_mpi *record)
{
	bool awaits = record->head.flags & (REC_MPI_DONE | REC_MPI_FREE);
	return awaits ? record->start : mpi_end_of(record);
}

static bool mpi_is_before(const void *left, const void *right, const void *context)
{
	const struct rec_mpi *a = ((const struct mpi_event *)left)->record,
			     *b = ((const struct mpi_event *)right)->record;
	(void)context;
	int64_t first = place_in_order(a), second = place_in_order(b);
	return first != second ? first < second
			       : !(a->head.flags & REC_MPI_DONE) && (b->head.flags & REC_MPI_DONE);
}

static void join_process(struct ingest *in, struct mpi_process *list)
{
	struct joining j = {
		.in = in, .process = &in->processes[list->process], .events = list->events};
	mpi_groups_read(&j.groups, j.process);
	hwy_sort_runs(list->events, list->n, sizeof *list->events, mpi_is_before, NULL);
	for (uint32_t i = 0; i < list->n; i++) {
		if (parts_of(list->events[i].record))
			read_parts(&j, i);
		else
			read_done(&j, i);
	}
	for (uint32_t i = 0; i < j.n; i++)
		for (uint32_t k = 0; k < j.pending[i].n; k++)
			hwy_add_message(in->b, &j.pending[i].messages[k]);
	mpi_groups_free(&j.groups);
	hwy_map_free(&j.first);
	hwy_map_free(&j.last);
	hwy_map_free(&j.persistent);
	hwy_map_free(&j.found);
	free(j.pending);
}

void ingest_mpi_finish(struct ingest *in)
{
	struct ingest_mpi *mpi = in->mpi;
	if (!mpi)
		return;
	for (uint32_t i = 0; i < mpi->n; i++) {
		join_process(in, &mpi->processes[i]);
		free(mpi->processes[i].events);
	}
	free(mpi->processes);
	hwy_map_free(&mpi->process_of);
	hwy_map_free(&mpi->lanes);
	free(mpi);
	in->mpi = NULL;
}

static void add_ping(struct ingest *in, uint32_t process, const struct rec_ping *record)
{
	int64_t time = ingest_moment(in, record->time);
	if (time == HWY_NONE || record->peer_time <= 0 || record->peer_time >= HWY_TIME_LIMIT ||
	    record->error < 0 || record->error > INGEST_YEAR_NS)
		return;
	uint32_t index = hwy_new_pings(in->b);
	struct hwy_ping *ping = &in->trace->pings[index];
	ping->process = in->processes[process].record;
	ping->peer = record->head.value;
	ping->time = time;
	ping->peer_time = record->peer_time;
	ping->error = record->error;
}

void ingest_mpi_add(struct ingest *in, uint32_t process, uint32_t tid,
		    const struct rec_head *record)
{
	if (record->type == REC_PING)
		add_ping(in, process, (const void *)record);
	else
		add_call(in, process, tid, (const void *)record);
}

const struct rec_communicator *ingest_mpi_world(const struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->communicators.n; i++) {
		const struct rec_communicator *record = process->communicators.items[i];
		if (record->head.flags & REC_COMMUNICATOR_WORLD)
			return record;
	}
	return NULL;
}
