/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_libraries.c - writes the calls of libraries: cuDNN, cuBLAS, and MPI with what its calls
 * exchanged.
 *
 * nsys has a table for each sort of MPI's calls. A call goes into MPI_P2P_EVENTS or
 * MPI_COLLECTIVES_EVENTS, a row for each message, where the trace has messages of it; else calls
 * that start or wait for requests go into MPI_START_WAIT_EVENTS, a row for each message that the
 * call waited for, and the rest into MPI_OTHER_EVENTS. A trace does not keep handles: the number
 * of a message stands for its request, and the number of a communicator for its handle.
 */
#include <string.h>

#include "export/sqlite/sqlite.h"

enum { CLASS_CUDNN = 28, CLASS_CUBLAS = 29 }; /* values of nsys's ENUM_NSYS_EVENT_CLASS */
enum { MPICH_WORLD_HANDLE = 0x44000000 };     /* MPI_COMM_WORLD, as most MPIs number it */

/* The messages that a span waited for: their number, and their indexes. */
static uint32_t waited_messages(struct sqlite *s, int64_t span, const uint32_t **messages)
{
	if (!s->has_waited)
		hwy_message_index_open(&s->waited, s->x.trace, HWY_MESSAGE_DONE);
	s->has_waited = true;
	return hwy_messages_of(&s->waited, span, messages);
}

static int64_t sqlite_known(int64_t value)
{
	return value == HWY_NONE ? SQL_NULL : value;
}

static int64_t handle_of(const struct hwy_trace *trace, int64_t group)
{
	if (group == HWY_NONE)
		return SQL_NULL;
	const char *texts[] = {hwy_str(trace, trace->groups[group].name),
			       hwy_str(trace, trace->groups[group].description)};
	bool is_world = strstr(texts[0], "MPI_COMM_WORLD") || strstr(texts[1], "MPI_COMM_WORLD");
	return is_world ? MPICH_WORLD_HANDLE : group + 1;
}

/* The start, end, thread and name of a call: the first columns of each of MPI's tables. */
struct mpi_call {
	int64_t start, end, tid, text;
};

static void write_message(struct sqlite *s, const struct mpi_call *call, uint32_t index)
{
	const struct hwy_trace *trace = s->x.trace;
	const struct hwy_message *m = &trace->messages[index];
	int64_t request = m->done != HWY_NONE ? (int64_t)index + 1 : SQL_NULL;
	int64_t handle = handle_of(trace, m->group);
	if (m->kind == HWY_MESSAGE_COLLECTIVE) {
		int64_t v[] = {call->start,
			       call->end,
			       call->tid,
			       call->text,
			       handle,
			       sqlite_known(m->peer),
			       sqlite_known(m->sent),
			       sqlite_known(m->received),
			       request};
		sqlite_integers(s, SQL_MPI_COLLECTIVES, v, 9);
		return;
	}
	int64_t size = m->kind == HWY_MESSAGE_SEND ? m->sent : m->received;
	int64_t v[] = {call->start,
		       call->end,
		       call->tid,
		       call->text,
		       handle,
		       sqlite_known(m->tag),
		       sqlite_known(m->peer),
		       sqlite_known(size),
		       request};
	sqlite_integers(s, SQL_MPI_P2P, v, 9);
}

/* Whether the second message of MPI_Sendrecv is the first one in the other direction: nsys
 * writes one row then. */
static bool is_mirrored(const struct hwy_trace *trace, const uint32_t *first, uint32_t n)
{
	if (n != 2)
		return false;
	const struct hwy_message *a = &trace->messages[first[0]], *b = &trace->messages[first[1]];
	return a->kind == HWY_MESSAGE_SEND && b->kind == HWY_MESSAGE_RECEIVE &&
	       a->peer == b->peer && a->tag == b->tag && a->sent == b->received;
}

static bool starts_or_waits(const char *name)
{
	return strncmp(name, "MPI_Start", 9) == 0 || strncmp(name, "MPI_Wait", 8) == 0 ||
	       strncmp(name, "MPI_Test", 8) == 0;
}

static void write_mpi_call(struct sqlite *s, const struct hwy_strip *strip, uint32_t row,
			   int64_t tid)
{
	const uint32_t *first;
	int64_t name = export_name(&s->x, strip, row), span = (int64_t)strip->first + row;
	struct mpi_call call = {hwy_get(strip, HWY_START, row), hwy_end(strip, row), tid,
				sqlite_text(s, name)};
	uint32_t n = hwy_messages_of(&s->x.messages, span, &first);
	if (strstr(export_text(&s->x, name).at, "endrecv") && is_mirrored(s->x.trace, first, n))
		n = 1;
	for (uint32_t i = 0; i < n; i++)
		write_message(s, &call, first[i]);
	if (n > 0)
		return;
	n = waited_messages(s, span, &first);
	int64_t v[] = {call.start, call.end, tid, call.text, SQL_NULL};
	if (n == 0 && !starts_or_waits(export_text(&s->x, name).at)) {
		sqlite_integers(s, SQL_MPI, v, 4);
		return;
	}
	for (uint32_t i = 0; i < (n ? n : 1); i++) {
		v[4] = n ? (int64_t)first[i] + 1 : SQL_NULL;
		sqlite_integers(s, SQL_MPI_WAITS, v, 5);
	}
}

bool sqlite_libraries_write(struct sqlite *s, const struct hwy_strip *strip, int64_t tid)
{
	const char *name = hwy_str(s->x.trace, s->x.trace->lanes[strip->lane].name);
	enum sqlite_table_id table = strcmp(name, "cuDNN") == 0        ? SQL_CUDNN
				     : strncmp(name, "cuBLAS", 6) == 0 ? SQL_CUBLAS
				     : strcmp(name, "MPI") == 0        ? SQL_MPI
								       : SQL_TABLES;
	if (table == SQL_TABLES)
		return false;
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		if (table == SQL_MPI) {
			write_mpi_call(s, strip, row, tid);
		} else {
			int64_t v[] = {hwy_get(strip, HWY_START, row), hwy_end(strip, row),
				       table == SQL_CUDNN ? CLASS_CUDNN : CLASS_CUBLAS, tid,
				       sqlite_text(s, export_name(&s->x, strip, row))};
			sqlite_integers(s, table, v, 5);
		}
		export_wrote(&s->x);
	}
	return true;
}

void sqlite_libraries_close(struct sqlite *s)
{
	hwy_message_index_close(&s->waited);
}
