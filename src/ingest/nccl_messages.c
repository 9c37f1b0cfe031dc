/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_messages.c - adds the spans of NCCL's calls, the communicators as groups, and the
 * operations as messages.
 *
 * A call is a span of the lane "NCCL" of its thread. NCCL tells its calls through NVTX
 * (ingest_nvtx.c); the plugin's events are joined to those around them. Where NVTX is silent
 * (NCCL_NVTX_DISABLE), the plugin's events are the calls: from version 5 of the interface on,
 * one that stands alone lasts as long as its group, which includes the launch; of several in a
 * group each has its own span inside the group's. Before, only the moment is known at which NCCL
 * hands an operation over.
 *
 * Ranks in messages are ranks of the job. A communicator that holds the whole job numbers them
 * alike; of another one the members are not told, so that its peers and roots are not known,
 * unless it holds this rank alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "ingest/ingest_nccl.h"
#include "trace/collective_names.h"

/* ---- calls ----------------------------------------------------------------------------------- */

static uint32_t nccl_lane(struct ingest *in, const struct nccl_event *event)
{
	uint32_t thread = target_thread(in, event->process, event->tid);
	struct hwy_lane lane =
		hwy_lane_of(HWY_LANE_CALL, in->processes[event->process].record, thread);
	lane.name = hwy_text_id(in->b, "NCCL");
	return hwy_add_lane(in->b, lane);
}

static const char *nccl_text(struct ingest *in, const struct nccl_event *event, uint32_t id)
{
	return hwy_str(in->trace, ingest_text(in, &in->processes[event->process], id));
}

static void add_call(struct ingest *in, struct nccl_event *event, const char *function, int64_t end)
{
	struct hwy_row row = {0};
	char name[64];
	int64_t start = event->record->start;
	if (!ingest_times(in, start, ingest_duration(end - start), &row))
		return;
	snprintf(name, sizeof name, "nccl%s", function);
	row.v[HWY_NAME] = hwy_text_id(in->b, name);
	event->span = hwy_add_span(in->b, nccl_lane(in, event), HWY_CALL, &row);
	event->has_span = true;
}

static int by_thread_and_start(const void *left, const void *right)
{
	const struct nccl_call *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* Finds the innermost call of the same thread, told through NVTX, in which the event began. */
static bool find_nvtx_call(const struct ingest_nccl *state, struct nccl_event *event)
{
	enum { MOST_BACK = 16 }; /* calls that began and ended since the one that is sought */
	const struct nccl_call *calls = state->calls;
	int64_t time = event->record->start;
	uint32_t next =
		HWY_FIRST(i, 0u, state->n_calls,
			  calls[i].process > event->process ||
				  (calls[i].process == event->process &&
				   (calls[i].tid > event->tid ||
				    (calls[i].tid == event->tid && calls[i].start > time))));
	for (uint32_t back = 0; back < MOST_BACK && next > 0; back++) {
		const struct nccl_call *call = &calls[--next];
		if (call->process != event->process || call->tid != event->tid)
			break;
		if (call->end >= time) {
			event->span = call->span;
			event->has_span = true;
			return true;
		}
	}
	return false;
}

/* A group that its one call makes by itself. */
static bool is_implicit(const struct nccl_event *group)
{
	return group->calls == 1 && group->record->depth <= 1;
}

static void nccl_add_calls(struct ingest *in)
{
	struct ingest_nccl *state = in->nccl;
	if (state->n_calls)
		qsort(state->calls, state->n_calls, sizeof *state->calls, by_thread_and_start);
	for (uint32_t i = 0; i < state->n; i++) {
		struct nccl_event *event = &state->events[i],
				  *parent = nccl_parent(in->nccl, event);
		const struct rec_nccl_event *record = event->record;
		if (find_nvtx_call(state, event))
			continue;
		switch (record->head.flags) {
		case REC_NCCL_GROUP_CALL:
			if (!is_implicit(event))
				add_call(in, event, "Group", event->end);
			break;
		case REC_NCCL_COLLECTIVE_CALL:
		case REC_NCCL_MESSAGE_CALL:
			add_call(in, event, nccl_text(in, event, record->function),
				 parent && is_implicit(parent) ? parent->end : event->end);
			break;
		default:
			if (!parent)
				add_call(in, event, nccl_text(in, event, record->function),
					 event->end);
		}
	}
}

/* ---- communicators --------------------------------------------------------------------------- */

/* NCCL's estimate of the bytes that all ranks move is the bytes of one rank times the ranks, for
 * these two. */
static void find_size(struct ingest *in, struct nccl_comm *comm, const struct nccl_event *event)
{
	const struct rec_nccl_event *record = event->record;
	const char *function = nccl_text(in, event, record->function);
	const struct hwy_datatype *type = hwy_datatype_of(nccl_text(in, event, record->datatype));
	if (comm->ranks > 0 || !record->traffic || !record->count || !type ||
	    (strcmp(function, "AllGather") != 0 && strcmp(function, "ReduceScatter") != 0))
		return;
	uint64_t bytes = record->count * type->size;
	if (bytes && record->traffic % bytes == 0 && record->traffic / bytes < INT32_MAX)
		comm->ranks = (int64_t)(record->traffic / bytes);
}

/* The members of a communicator as ranks of the job. */
static int64_t ranks_text(struct ingest *in, const struct nccl_comm *comm)
{
	const struct hwy_process *process =
		&in->trace->processes[in->processes[comm->process].record];
	char text[48];
	if (comm->ranks == 1)
		snprintf(text, sizeof text, "%lld",
			 (long long)(process->rank == HWY_NONE ? 0 : process->rank));
	else if (comm->ranks > 1 && (process->rank == HWY_NONE || (process->world == comm->ranks &&
								   process->rank == comm->rank)))
		snprintf(text, sizeof text, "0-%lld", (long long)comm->ranks - 1);
	else
		return HWY_NONE;
	return hwy_text_id(in->b, text);
}

static int64_t nccl_group(struct ingest *in, struct nccl_comm *comm)
{
	if (hwy_ref32_is_set(comm->group_ref))
		return hwy_ref32_index(comm->group_ref);
	char text[96];
	uint32_t index = hwy_new_groups(in->b);
	struct hwy_group group = {.process = in->processes[comm->process].record,
				  .size = comm->ranks > 0 ? comm->ranks : HWY_NONE,
				  .ranks = ranks_text(in, comm)};
	snprintf(text, sizeof text, "%llx", (unsigned long long)comm->hash);
	group.name = hwy_text_id(in->b, text);
	group.backend = hwy_text_id(in->b, comm->is_rccl ? "RCCL" : "NCCL");
	if (comm->rank >= 0 && comm->ranks > 0) {
		snprintf(text, sizeof text, "rank %lld of %lld%s%.48s", (long long)comm->rank,
			 (long long)comm->ranks, comm->name ? ", " : "",
			 comm->name ? hwy_str(in->trace, comm->name) : "");
		group.description = hwy_text_id(in->b, text);
	} else {
		group.description = comm->name ? (int64_t)comm->name : HWY_NONE;
	}
	in->trace->groups[index] = group;
	if (comm->nodes > 0) {
		char name[64], nodes[16];
		snprintf(name, sizeof name, "nccl.%llx.nodes", (unsigned long long)comm->hash);
		snprintf(nodes, sizeof nodes, "%lld", (long long)comm->nodes);
		if (!hwy_property(in->trace, name))
			hwy_add_property(in->b, name, nodes);
	}
	comm->group_ref = hwy_ref32(index);
	return index;
}

/* The rank of the job that a communicator's rank is. */
static int64_t job_rank(const struct ingest *in, const struct nccl_comm *comm, int64_t rank)
{
	if (rank < 0 || (comm->ranks > 0 && rank >= comm->ranks))
		return HWY_NONE;
	const struct hwy_process *process =
		&in->trace->processes[in->processes[comm->process].record];
	if (rank == comm->rank && process->rank != HWY_NONE)
		return process->rank;
	bool is_all =
		process->rank == HWY_NONE ||
		(comm->ranks > 0 && process->world == comm->ranks && process->rank == comm->rank);
	return is_all ? rank : HWY_NONE;
}

/* ---- messages -------------------------------------------------------------------------------- */

static const char *algorithm_word(const char *text)
{
	static const char *const words[][2] = {{"TREE", "Tree"},
					       {"RING", "Ring"},
					       {"COLLNET_DIRECT", "CollNetDirect"},
					       {"COLLNET_CHAIN", "CollNetChain"},
					       {"NVLS_TREE", "NVLSTree"},
					       {"SIMPLE", "Simple"}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i][0]) == 0)
			return words[i][1];
	return text;
}

static int64_t word_or_none(struct ingest *in, const struct nccl_event *event, uint32_t id)
{
	const char *text = nccl_text(in, event, id);
	return *text ? (int64_t)hwy_text_id(in->b, algorithm_word(text)) : HWY_NONE;
}

static int64_t nccl_times(int64_t bytes, int64_t by)
{
	int64_t product;
	if (bytes == HWY_NONE || by <= 0 || __builtin_mul_overflow(bytes, by, &product))
		return HWY_NONE;
	return product;
}

/* What the rank gives and gets, of 'bytes' that the call names. */
static void put_bytes(struct hwy_message *m, const struct nccl_comm *comm,
		      const struct hwy_exchange *exchange, int64_t bytes, int64_t root)
{
	const char *name = exchange->name;
	bool is_root = comm->rank >= 0 && comm->rank == root;
	m->sent = m->received = bytes;
	if (exchange->kind == HWY_MESSAGE_SEND)
		m->received = 0;
	else if (exchange->kind == HWY_MESSAGE_RECEIVE)
		m->sent = 0;
	else if (strcmp(name, "AllGather") == 0)
		m->received = nccl_times(bytes, comm->ranks);
	else if (strcmp(name, "ReduceScatter") == 0)
		m->sent = nccl_times(bytes, comm->ranks);
	else if (strcmp(name, "AllToAll") == 0)
		m->sent = m->received = nccl_times(bytes, comm->ranks);
	else if (strcmp(name, "Broadcast") == 0)
		*(is_root ? &m->received : &m->sent) = 0;
	else if (strcmp(name, "Reduce") == 0)
		m->received = is_root ? bytes : 0;
	else if (strcmp(name, "Gather") == 0)
		m->received = is_root ? nccl_times(bytes, comm->ranks) : 0;
	else if (strcmp(name, "Scatter") == 0)
		m->sent = is_root ? nccl_times(bytes, comm->ranks) : 0;
}

/* Elements and their type, as the program named them: NCCL turns those of some collectives into
 * bytes. */
static void put_elements(struct ingest *in, struct hwy_message *m, const struct nccl_comm *comm,
			 const struct nccl_event *event, const struct hwy_exchange *exchange)
{
	const struct nccl_event *call = nccl_parent(in->nccl, event);
	bool has_call = call && call->record->count &&
			(call->record->head.flags == REC_NCCL_COLLECTIVE_CALL ||
			 call->record->head.flags == REC_NCCL_MESSAGE_CALL);
	const struct nccl_event *told = has_call ? call : event;
	const char *text = nccl_text(in, told, told->record->datatype);
	const struct hwy_datatype *type = hwy_datatype_of(text);
	m->count = told->record->count <= INT64_MAX ? (int64_t)told->record->count : HWY_NONE;
	m->datatype = *text ? (int64_t)hwy_text_id(in->b, type ? type->name : text) : HWY_NONE;
	put_bytes(m, comm, exchange, type ? nccl_times(m->count, type->size) : HWY_NONE,
		  event->record->peer);
}

static void put_times(struct ingest *in, struct hwy_message *m, const struct nccl_event *event)
{
	struct ingest_nccl *state = in->nccl;
	const struct nccl_event *call = nccl_parent(in->nccl, event);
	uint32_t kernel;
	if (hwy_ref_to_index(event->kernel_ref, &kernel))
		hwy_message_at(&m->span, state->kernels[kernel].span);
	/* A call that was captured into a graph asked for it once, and the graph runs it many
	 * times. */
	if (call && (call->record->bits & REC_NCCL_CAPTURED))
		call = NULL;
	const struct nccl_event *asked = call ? call : event;
	/* Below version 5 an operation is told after its kernel was launched. */
	int64_t posted = asked->record->start;
	if (hwy_ref32_is_set(event->kernel_ref) && state->kernels[kernel].tid == event->tid &&
	    state->kernels[kernel].launched < posted)
		posted = state->kernels[kernel].launched;
	m->posted = ingest_moment(in, posted);
	if (asked->has_span)
		hwy_message_at(&m->asked, asked->span);
	m->start = event->start == HWY_NONE ? HWY_NONE : ingest_moment(in, event->start);
	m->end = event->finish == HWY_NONE ? HWY_NONE : ingest_moment(in, event->finish);
	if (event->last) {
		m->wait_gpu = ingest_duration(event->last->wait_gpu);
		m->wait_peer = ingest_duration(event->last->wait_peer);
		m->wait_network = ingest_duration(event->last->wait_network);
	}
}

static void add_operation(struct ingest *in, const struct nccl_event *event)
{
	const struct rec_nccl_event *record = event->record;
	const char *function = nccl_text(in, event, record->function);
	const struct hwy_exchange *exchange = hwy_exchange_of(function, strlen(function));
	uint32_t index;
	if (!hwy_ref_to_index(event->comm_ref, &index) || !ingest_is_time(in, record->start) ||
	    record->start < in->cut)
		return;
	struct nccl_comm *comm = &in->nccl->comms[index];
	if (!exchange)
		exchange = strcasecmp(function, "SendRecv") == 0 ? &hwy_exchange_both
								 : &hwy_exchange_unknown;
	struct hwy_message m = hwy_message_none();
	m.process = in->processes[event->process].record;
	m.group = nccl_group(in, comm);
	m.library = hwy_text_id(in->b, comm->is_rccl ? "RCCL" : "NCCL");
	m.kind = exchange->kind;
	m.name = hwy_text_id(in->b, exchange->name);
	if (exchange->kind != HWY_MESSAGE_COLLECTIVE || exchange->has_root)
		m.peer = job_rank(in, comm, record->peer);
	if (exchange->kind == HWY_MESSAGE_COLLECTIVE && record->sequence <= INT64_MAX)
		m.sequence = (int64_t)record->sequence;
	m.algorithm = record->head.flags == REC_NCCL_COPIES
			      ? (int64_t)hwy_text_id(in->b, "CopyEngine")
			      : word_or_none(in, event, record->algorithm);
	m.protocol = word_or_none(in, event, record->protocol);
	m.channels = record->channels ? record->channels : HWY_NONE;
	put_elements(in, &m, comm, event, exchange);
	put_times(in, &m, event);
	hwy_add_message(in->b, &m);
}

void nccl_messages_add(struct ingest *in)
{
	struct ingest_nccl *state = in->nccl;
	for (uint32_t i = 0; i < state->n; i++) {
		uint32_t comm;
		if (nccl_is_operation(&state->events[i]) &&
		    hwy_ref_to_index(state->events[i].comm_ref, &comm))
			find_size(in, &state->comms[comm], &state->events[i]);
	}
	nccl_add_calls(in);
	for (uint32_t i = 0; i < state->n; i++)
		if (nccl_is_operation(&state->events[i]))
			add_operation(in, &state->events[i]);
}
