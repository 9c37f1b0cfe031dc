/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_mpi.c - reads the calls of MPI, and what they exchange.
 *
 * Calls stand on a lane "MPI" of their thread. A row of MPI_P2P_EVENTS is a message, and
 * MPI_COLLECTIVES_EVENTS has a rank's part in a collective. MPI_Sendrecv has two rows of the
 * same times where it sends and receives differently, first what it sends; else it has one,
 * which stands for both. MPI_START_WAIT_EVENTS has a row for each request of a call: such rows
 * are one span. Requests join a call that asks (MPI_Irecv) with one that waits (MPI_Wait), and
 * the call that prepares an exchange (MPI_Send_init) with the one that asks for it (MPI_Start).
 *
 * A communicator is known by its handle, which is a number of its process. MPI_COMM_WORLD is
 * told by MPICH's number for it, or because the process uses no other one; the members of other
 * communicators are not told, so these get a name that no other process has.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"
#include "trace/collective_names.h"

enum { MPICH_WORLD = 0x44000000 }; /* MPI_COMM_WORLD of MPICH and of what has its ABI */

enum mpi_event_type {
	MPI_PREPARES, /* MPI_Send_init */
	MPI_ASKS,     /* MPI_Isend; blocking calls are not listed */
	MPI_STARTS,   /* MPI_Start */
	MPI_WAITS,    /* MPI_Wait */
};

struct mpi_event { /* a call that names a request */
	uint32_t process;
	int64_t request;
	int64_t start, end;
	uint32_t order; /* number of the event, so that events at one time stay in order */
	enum mpi_event_type type;
	struct hwy_message message; /* PREPARES and ASKS: what is exchanged */
	struct hwy_ref span;
};

struct mpi_reader {
	struct nsys *n;
	struct mpi_event *events;
	uint32_t n_events, cap_events;
	/* The row before: rows of one call have the same thread, times and name. */
	struct {
		uint32_t thread;
		int64_t start, duration, name;
		struct hwy_ref span;
		bool is_set, has_received;
	} last;
	/* Communicators: groups from 'first_group' on, and the handle of each. */
	uint32_t first_group;
	int64_t *handles;
	uint32_t n_handles, cap_handles;
};

enum { COLUMN_TID = 2, COLUMN_NAME, COLUMN_TEXT, COLUMN_COMM, COLUMN_PEER, COLUMN_SIZE };
#define CALL_COLUMNS "~start ~end globalTid nameId textId"
enum { P2P_REQUEST = COLUMN_SIZE + 1, P2P_TAG };
#define P2P_COLUMNS CALL_COLUMNS " commHandle remoteRank size requestHandle tag"
enum { COLLECTIVE_RECEIVED = COLUMN_SIZE + 1, COLLECTIVE_REQUEST };
#define COLLECTIVE_COLUMNS CALL_COLUMNS " commHandle rootRank size recvSize requestHandle"
enum { WAIT_REQUEST = COLUMN_TEXT + 1 };
#define WAIT_COLUMNS CALL_COLUMNS " requestHandle"

static const char *mpi_call_name(struct mpi_reader *m, const struct nsys_query *q)
{
	return hwy_str(m->n->trace, q->row.v[HWY_NAME]);
}

/* Adds the call of a row, unless the row before was of the same call. False: the row has no
 * usable time. */
static bool add_mpi_call(struct mpi_reader *m, struct nsys_query *q, bool *is_repeated)
{
	struct nsys *n = m->n;
	if (!nsys_times(q))
		return false;
	struct hwy_row *row = &q->row;
	uint32_t thread = nsys_thread(n, nsys_int(q, COLUMN_TID));
	row->v[HWY_NAME] = nsys_string_of(q, nsys_null(q, COLUMN_NAME) ? COLUMN_TEXT : COLUMN_NAME);
	*is_repeated = m->last.is_set && m->last.thread == thread &&
		       m->last.start == row->v[HWY_START] && m->last.duration == row->v[HWY_DUR] &&
		       m->last.name == row->v[HWY_NAME];
	if (*is_repeated)
		return true;
	m->last.span = hwy_add_span(n->b, nsys_library_lane(n, thread, "MPI"), HWY_CALL, row);
	m->last.thread = thread;
	m->last.start = row->v[HWY_START];
	m->last.duration = row->v[HWY_DUR];
	m->last.name = row->v[HWY_NAME];
	m->last.is_set = true;
	m->last.has_received = false;
	return true;
}

/* ---- communicators --------------------------------------------------------------------------- */

static int64_t nsys_mpi_group(struct mpi_reader *m, uint32_t process, int64_t handle)
{
	struct hwy_trace *trace = m->n->trace;
	if (handle == HWY_NONE)
		return HWY_NONE;
	for (uint32_t i = 0; i < m->n_handles; i++)
		if (m->handles[i] == handle && trace->groups[m->first_group + i].process == process)
			return m->first_group + i;
	HWY_GROW(m->handles, m->n_handles, m->cap_handles);
	m->handles[m->n_handles++] = handle;
	uint32_t index = hwy_new_groups(m->n->b);
	trace->groups[index].process = process;
	trace->groups[index].backend = hwy_text_id(m->n->b, "MPI");
	return index;
}

/* How many ranks the job has, where the export has all of them: ranks 0 … n - 1; else HWY_NONE. */
static int64_t count_ranks(const struct hwy_trace *trace)
{
	int64_t n = 0, last = -1;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (trace->processes[p].rank != HWY_NONE) {
			n++;
			last = trace->processes[p].rank > last ? trace->processes[p].rank : last;
		}
	return n > 1 && last == n - 1 ? n : HWY_NONE;
}

static void name_communicators(struct mpi_reader *m)
{
	struct hwy_trace *trace = m->n->trace;
	int64_t ranks = count_ranks(trace);
	char text[80];
	for (uint32_t i = 0; i < m->n_handles; i++) {
		struct hwy_group *group = &trace->groups[m->first_group + i];
		uint32_t in_process = 0;
		for (uint32_t k = 0; k < m->n_handles; k++)
			in_process += trace->groups[m->first_group + k].process == group->process;
		if (m->handles[i] == MPICH_WORLD || in_process == 1) {
			group->name = hwy_text_id(m->n->b, "MPI_COMM_WORLD");
			group->size = ranks;
			if (ranks != HWY_NONE) {
				snprintf(text, sizeof text, "0-%" PRId64, ranks - 1);
				group->ranks = hwy_text_id(m->n->b, text);
			}
			continue;
		}
		snprintf(text, sizeof text, "%#" PRIx64 " of process %" PRId64,
			 (uint64_t)m->handles[i], trace->processes[group->process].pid);
		group->name = hwy_text_id(m->n->b, text);
	}
}

/* ---- messages -------------------------------------------------------------------------------- */

static int64_t size_in(struct nsys_query *q, int column)
{
	int64_t size = nsys_int_or_none(q, column);
	return size >= 0 ? size : HWY_NONE;
}

/* A rank or a tag; MPI_ANY_SOURCE, MPI_PROC_NULL and the like are negative. */
static int64_t number_in_row(struct nsys_query *q, int column)
{
	int64_t number = nsys_int_or_none(q, column);
	return number >= 0 && number <= INT32_MAX ? number : HWY_NONE;
}

static struct hwy_message nsys_mpi_message(struct mpi_reader *m, struct nsys_query *q,
					   const struct hwy_exchange *operation)
{
	struct hwy_message message = hwy_message_none();
	uint32_t process = (uint32_t)m->n->trace->threads[m->last.thread].process;
	hwy_message_at(&message.span, m->last.span);
	message.process = process;
	message.group = nsys_mpi_group(m, process, nsys_int_or_none(q, COLUMN_COMM));
	message.library = hwy_text_id(m->n->b, "MPI");
	message.kind = operation->kind;
	message.name = hwy_text_id(m->n->b, operation->name);
	message.peer = number_in_row(q, COLUMN_PEER);
	message.posted = message.start = q->row.v[HWY_START];
	message.end = q->row.v[HWY_START] + q->row.v[HWY_DUR];
	return message;
}

static void keep_event(struct mpi_reader *m, struct nsys_query *q, int64_t request,
		       enum mpi_event_type type, const struct hwy_message *message)
{
	HWY_GROW(m->events, m->n_events, m->cap_events);
	m->events[m->n_events] = (struct mpi_event){
		.process = (uint32_t)m->n->trace->threads[m->last.thread].process,
		.request = request,
		.start = q->row.v[HWY_START],
		.end = q->row.v[HWY_START] + q->row.v[HWY_DUR],
		.order = m->n_events,
		.type = type,
		.span = m->last.span,
	};
	if (message)
		m->events[m->n_events].message = *message;
	m->n_events++;
}

/* Adds a message; one that goes on after its call is added when its end is known. */
static void add_or_keep(struct mpi_reader *m, struct nsys_query *q, int request,
			const struct hwy_message *message)
{
	const char *name = mpi_call_name(m, q);
	size_t length = strlen(name);
	bool prepares = length > 5 && strcmp(name + length - 5, "_init") == 0;
	bool asks = strncmp(name, "MPI_I", 5) == 0;
	if (!nsys_null(q, request) && (prepares || asks))
		keep_event(m, q, nsys_int(q, request), prepares ? MPI_PREPARES : MPI_ASKS, message);
	else if (!prepares)
		hwy_add_message(m->n->b, message);
}

static void add_p2p(struct nsys_query *q)
{
	static const struct hwy_exchange sends = {"Send", HWY_MESSAGE_SEND, false},
					 receives = {"Receive", HWY_MESSAGE_RECEIVE, false};
	struct mpi_reader *m = q->user;
	bool is_repeated;
	if (!add_mpi_call(m, q, &is_repeated))
		return;
	const char *name = mpi_call_name(m, q);
	bool is_both =
		strncmp(name, "MPI_Sendrecv", 12) == 0 || strncmp(name, "MPI_Isendrecv", 13) == 0;
	const struct hwy_exchange *operation = hwy_exchange_of(name, strlen(name));
	if (is_both)
		operation = is_repeated ? &receives : &sends;
	if (!operation || operation->kind == HWY_MESSAGE_COLLECTIVE)
		return;
	/* The row before was taken for what the call sends and receives; now it is told what it
	 * receives. */
	struct hwy_trace *trace = m->n->trace;
	if (is_both && is_repeated && m->last.has_received && trace->n_messages > 0)
		trace->n_messages--;
	struct hwy_message message = nsys_mpi_message(m, q, operation);
	int64_t size = size_in(q, COLUMN_SIZE);
	message.tag = number_in_row(q, P2P_TAG);
	message.sent = operation->kind == HWY_MESSAGE_SEND ? size : 0;
	message.received = operation->kind == HWY_MESSAGE_RECEIVE ? size : 0;
	add_or_keep(m, q, P2P_REQUEST, &message);
	m->last.has_received = is_both && !is_repeated && strncmp(name, "MPI_S", 5) == 0;
	if (!m->last.has_received)
		return;
	message.kind = HWY_MESSAGE_RECEIVE;
	message.name = hwy_text_id(m->n->b, receives.name);
	message.received = size;
	message.sent = 0;
	hwy_add_message(m->n->b, &message);
}

static void add_collective(struct nsys_query *q)
{
	struct mpi_reader *m = q->user;
	bool is_repeated;
	if (!add_mpi_call(m, q, &is_repeated))
		return;
	const char *name = mpi_call_name(m, q);
	const struct hwy_exchange *operation = hwy_exchange_of(name, strlen(name));
	if (!operation || operation->kind != HWY_MESSAGE_COLLECTIVE)
		return; /* collective calls about files and windows move no message */
	struct hwy_message message = nsys_mpi_message(m, q, operation);
	if (!operation->has_root)
		message.peer = HWY_NONE;
	message.sent = size_in(q, COLUMN_SIZE);
	message.received = size_in(q, COLLECTIVE_RECEIVED);
	if (strcmp(operation->name, "Barrier") == 0)
		message.sent = message.received = 0;
	add_or_keep(m, q, COLLECTIVE_REQUEST, &message);
}

static void add_wait(struct nsys_query *q)
{
	struct mpi_reader *m = q->user;
	bool is_repeated;
	if (!add_mpi_call(m, q, &is_repeated) || nsys_null(q, WAIT_REQUEST))
		return;
	bool starts = strncmp(mpi_call_name(m, q), "MPI_Start", 9) == 0;
	keep_event(m, q, nsys_int(q, WAIT_REQUEST), starts ? MPI_STARTS : MPI_WAITS, NULL);
}

static void add_other(struct nsys_query *q)
{
	bool is_repeated;
	add_mpi_call(q->user, q, &is_repeated);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int by_request_and_time(const void *left, const void *right)
{
	const struct mpi_event *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->request != b->request)
		return a->request < b->request ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Goes through the calls that name one request, in order of time, and adds their messages. A
 * library may have one handle for several requests under way: the oldest is done first. */
static void join_request(struct mpi_reader *m, const struct mpi_event *events, uint32_t n)
{
	struct hwy_trace *trace = m->n->trace;
	const struct mpi_event *prepared = NULL;
	uint32_t first = trace->n_messages, done = first;
	for (uint32_t i = 0; i < n; i++) {
		const struct mpi_event *event = &events[i];
		struct hwy_message message = event->message;
		if (event->type == MPI_PREPARES) {
			prepared = event;
		} else if (event->type == MPI_ASKS) {
			hwy_add_message(m->n->b, &message);
		} else if (event->type == MPI_STARTS && prepared) {
			message = prepared->message;
			hwy_message_at(&message.span, event->span);
			message.posted = message.start = event->start;
			message.end = event->end;
			hwy_add_message(m->n->b, &message);
		} else if (event->type == MPI_WAITS && done < trace->n_messages) {
			struct hwy_message *waited = &trace->messages[done++];
			hwy_message_at(&waited->done, event->span);
			waited->end = event->end;
		}
	}
}

static void join_requests(struct mpi_reader *m)
{
	if (m->n_events > 0)
		qsort(m->events, m->n_events, sizeof *m->events, by_request_and_time);
	for (uint32_t from = 0, to; from < m->n_events; from = to) {
		for (to = from + 1; to < m->n_events &&
				    m->events[to].process == m->events[from].process &&
				    m->events[to].request == m->events[from].request;)
			to++;
		join_request(m, m->events + from, to - from);
	}
}

/* Sets the ranks of processes that have spans. */
static void read_ranks(struct nsys *n)
{
	struct nsys_query q;
	if (!nsys_select(n, &q, "MPI_RANKS", "~globalTid ~rank", NULL))
		return;
	while (nsys_next(&q)) {
		struct hwy_process *process = nsys_find_process(n, nsys_int(&q, 0));
		if (process)
			process->rank = nsys_int(&q, 1);
	}
}

void nsys_read_mpi(struct nsys *n)
{
	static const struct {
		const char *table, *columns;
		void (*add)(struct nsys_query *q);
	} tables[] = {
		{"MPI_P2P_EVENTS", P2P_COLUMNS, add_p2p},
		{"MPI_COLLECTIVES_EVENTS", COLLECTIVE_COLUMNS, add_collective},
		{"MPI_START_WAIT_EVENTS", WAIT_COLUMNS, add_wait},
		{"MPI_OTHER_EVENTS", CALL_COLUMNS, add_other},
	};
	struct mpi_reader m = {.n = n, .first_group = n->trace->n_groups};
	for (size_t i = 0; i < sizeof tables / sizeof *tables && !n->failed; i++) {
		m.last.is_set = false;
		nsys_each(n, tables[i].table, tables[i].columns, NULL, tables[i].add, &m);
	}
	read_ranks(n);
	join_requests(&m);
	name_communicators(&m);
	free(m.events);
	free(m.handles);
}
