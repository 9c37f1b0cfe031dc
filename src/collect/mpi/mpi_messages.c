/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_messages.c - messages from one rank to another: what is sent and received, by which call.
 *
 * A receive is recorded with what came, which the status tells: the program may have given room
 * for more, and may have received from anybody. What is sent to or received from MPI_PROC_NULL
 * is no message.
 */
#include "collect/mpi/mpi.h"

/* A message that is sent; false: it goes nowhere. */
static bool send_part(struct rec_mpi_part *part, const struct mpi_call *call, mpi_word count,
		      mpi_word datatype, mpi_word to, mpi_word tag)
{
	if ((int32_t)to == mpi_library.proc_null)
		return false;
	struct mpi_type type = mpi_type_of(datatype);
	uint64_t elements = (uint64_t)mpi_count(call, count);
	*part = (struct rec_mpi_part){
		.op = REC_MPI_SEND,
		.peer = (int32_t)to,
		.tag = (int32_t)tag,
		.datatype = type.name,
		.sent = mpi_bytes(&type, elements),
		.count = elements,
	};
	return true;
}

/* A message that has been received. */
static bool received_part(struct rec_mpi_part *part, mpi_word datatype, const void *status)
{
	int32_t source = mpi_status_source(status);
	if (source == mpi_library.proc_null)
		return false;
	struct mpi_type type = mpi_type_of(datatype);
	uint64_t bytes = mpi_status_bytes(status);
	*part = (struct rec_mpi_part){
		.op = REC_MPI_RECEIVE,
		.peer = source,
		.tag = mpi_status_tag(status),
		.datatype = type.name,
		.received = bytes,
		.count = type.bytes && type.bytes != REC_MPI_UNKNOWN ? bytes / type.bytes
								     : REC_MPI_UNKNOWN,
	};
	return true;
}

/* A message that will be received: whoever waits for it learns what came. */
static bool awaited_part(struct rec_mpi_part *part, mpi_word datatype, mpi_word from, mpi_word tag)
{
	if ((int32_t)from == mpi_library.proc_null)
		return false;
	*part = (struct rec_mpi_part){
		.op = REC_MPI_RECEIVE,
		.peer = (int32_t)from == mpi_library.any_source ? REC_MPI_NO_RANK : (int32_t)from,
		.tag = (int32_t)tag,
		.datatype = mpi_type_of(datatype).name,
		.received = REC_MPI_UNKNOWN,
		.count = REC_MPI_UNKNOWN,
	};
	return true;
}

static bool is_looked_at(const struct mpi_scope *scope, int result)
{
	return scope->start && result == 0 && mpi_library.is_known;
}

/* Ends a call that has returned, with the message that the call asked for; NULL: there is none. */
static int end_asked(struct mpi_scope *scope, const mpi_word *w, int result,
		     struct rec_mpi_part *part)
{
	if (part) {
		mpi_part_request(part, scope->call, w);
		mpi_keep(scope, result, mpi_communicator_number(w[5]), part, 1);
	} else {
		mpi_keep(scope, result, 0, NULL, 0);
	}
	mpi_end(scope);
	return result;
}

/* buffer, count, datatype, to, tag, communicator[, request] */
static int mpi_send(struct mpi_scope *scope, mpi_word *w)
{
	struct rec_mpi_part part;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	bool has_part = is_looked_at(scope, result) &&
			send_part(&part, scope->call, w[1], w[2], w[3], w[4]);
	return end_asked(scope, w, result, has_part ? &part : NULL);
}

/* buffer, count, datatype, from, tag, communicator, request */
static int mpi_receive_later(struct mpi_scope *scope, mpi_word *w)
{
	struct rec_mpi_part part;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	bool has_part = is_looked_at(scope, result) && awaited_part(&part, w[2], w[3], w[4]);
	return end_asked(scope, w, result, has_part ? &part : NULL);
}

/* buffer, count, datatype, from, tag, communicator, status */
static int mpi_receive(struct mpi_scope *scope, mpi_word *w)
{
	uint64_t own[MPI_MOST_STATUS / 8];
	struct rec_mpi_part part;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	const void *status =
		scope->start && mpi_library.is_known ? mpi_status_at(&w[6], own) : NULL;
	int result = mpi_forward(scope, w);
	if (status && result == 0 && received_part(&part, w[2], status))
		mpi_keep(scope, result, mpi_communicator_number(w[5]), &part, 1);
	else
		mpi_keep(scope, result, 0, NULL, 0);
	w[6] = 0; /* 'own' ends here */
	mpi_end(scope);
	return result;
}

/* ---- one call that sends and receives -------------------------------------------------------- */

/* Where the arguments of such a call stand. */
struct exchange {
	uint8_t count, datatype, to, send_tag;
	uint8_t receive_datatype, communicator, last;
};
static const struct exchange two_buffers = {1, 2, 3, 4, 7, 10, 11};
static const struct exchange one_buffer = {1, 2, 3, 4, 2, 7, 8};

static int exchange(struct mpi_scope *scope, mpi_word *w, const struct exchange *at)
{
	uint64_t own[MPI_MOST_STATUS / 8];
	struct rec_mpi_part parts[2];
	unsigned n = 0;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	const void *status =
		scope->start && mpi_library.is_known ? mpi_status_at(&w[at->last], own) : NULL;
	int result = mpi_forward(scope, w);
	uint32_t number = 0;
	if (is_looked_at(scope, result) && status) {
		number = mpi_communicator_number(w[at->communicator]);
		n += send_part(&parts[n], scope->call, w[at->count], w[at->datatype], w[at->to],
			       w[at->send_tag]);
		n += received_part(&parts[n], w[at->receive_datatype], status);
	}
	mpi_keep(scope, result, number, parts, n);
	w[at->last] = 0;
	mpi_end(scope);
	return result;
}

static int mpi_exchange(struct mpi_scope *scope, mpi_word *w)
{
	return exchange(scope, w, &two_buffers);
}

static int mpi_exchange_in_place(struct mpi_scope *scope, mpi_word *w)
{
	return exchange(scope, w, &one_buffer);
}

/* ---- messages that were looked for first ----------------------------------------------------- */

/* What MPI_Mprobe found; the receive that follows does not name the communicator. */
static void keep_found(struct mpi_scope *scope, int result, mpi_word communicator, mpi_word message,
		       const void *status)
{
	struct rec_mpi_done found = {
		.request = mpi_handle_at(message, 0),
		.bytes = mpi_status_bytes(status),
		.source = mpi_status_source(status),
		.tag = mpi_status_tag(status),
		.flags = REC_MPI_FOUND,
	};
	mpi_keep_done(scope, result, mpi_communicator_number(communicator), REC_MPI_DONE, &found,
		      1);
}

/* from, tag, communicator[, flag], message, status */
static int mpi_look_for(struct mpi_scope *scope, mpi_word *w)
{
	uint64_t own[MPI_MOST_STATUS / 8];
	unsigned last = scope->call->words - 1u;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	const void *status =
		scope->start && mpi_library.is_known ? mpi_status_at(&w[last], own) : NULL;
	int result = mpi_forward(scope, w);
	bool is_found = status && result == 0 && (last == 4 || *(const int *)w[3]);
	if (is_found && mpi_handle_at(w[last - 1], 0) != mpi_library.message_no_proc)
		keep_found(scope, result, w[2], w[last - 1], status);
	else
		mpi_keep(scope, result, 0, NULL, 0);
	w[last] = 0;
	mpi_end(scope);
	return result;
}

/* buffer, count, datatype, message, status or request */
static int mpi_receive_found(struct mpi_scope *scope, mpi_word *w)
{
	uint64_t own[MPI_MOST_STATUS / 8];
	struct rec_mpi_part part;
	bool is_later = scope->call->flags & MPI_REQUEST, is_part = false;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	bool is_on = scope->start && mpi_library.is_known;
	mpi_word message = is_on ? mpi_handle_at(w[3], 0) : 0;
	const void *status = is_on && !is_later ? mpi_status_at(&w[4], own) : NULL;
	int result = mpi_forward(scope, w);
	if (is_on && result == 0 && message != mpi_library.message_no_proc)
		is_part = is_later ? awaited_part(&part, w[2], (mpi_word)mpi_library.any_source, 0)
				   : received_part(&part, w[2], status);
	if (is_part) {
		part.message = message;
		mpi_part_request(&part, scope->call, w);
	}
	mpi_keep(scope, result, 0, &part, is_part);
	w[4] = 0;
	mpi_end(scope);
	return result;
}

/* ---- the functions --------------------------------------------------------------------------- */

#define SEND(id) MPI_WRAP_BOTH(id, 6, mpi_send, 0, MPI_COUNT_AT(1), .op = REC_MPI_SEND)
#define SEND_LATER(id, flag)                                                                       \
	MPI_WRAP_BOTH(id, 7, mpi_send, flag, MPI_COUNT_AT(1), .op = REC_MPI_SEND)
SEND(Send)
SEND(Ssend)
SEND(Bsend)
SEND(Rsend)
SEND_LATER(Isend, MPI_REQUEST)
SEND_LATER(Issend, MPI_REQUEST)
SEND_LATER(Ibsend, MPI_REQUEST)
SEND_LATER(Irsend, MPI_REQUEST)
SEND_LATER(Send_init, MPI_PERSISTENT)
SEND_LATER(Ssend_init, MPI_PERSISTENT)
SEND_LATER(Bsend_init, MPI_PERSISTENT)
SEND_LATER(Rsend_init, MPI_PERSISTENT)

#define RECEIVE(id, n, body, flag)                                                                 \
	MPI_WRAP_BOTH(id, n, body, flag, MPI_COUNT_AT(1), .op = REC_MPI_RECEIVE)
RECEIVE(Recv, 7, mpi_receive, 0)
RECEIVE(Irecv, 7, mpi_receive_later, MPI_REQUEST)
RECEIVE(Recv_init, 7, mpi_receive_later, MPI_PERSISTENT)
RECEIVE(Mrecv, 5, mpi_receive_found, 0)
RECEIVE(Imrecv, 5, mpi_receive_found, MPI_REQUEST)
MPI_WRAP(Mprobe, 5, mpi_look_for, .op = 0)
MPI_WRAP(Improbe, 6, mpi_look_for, .op = 0)
MPI_WRAP(Probe, 4, mpi_on_communicator, .communicator_at = 2)
MPI_WRAP(Iprobe, 5, mpi_on_communicator, .communicator_at = 2)

MPI_WRAP_BOTH(Sendrecv, 12, mpi_exchange, 0, MPI_COUNT_AT(1) | MPI_COUNT_AT(6), .op = REC_MPI_SEND)
MPI_WRAP_BOTH(Sendrecv_replace, 9, mpi_exchange_in_place, 0, MPI_COUNT_AT(1), .op = REC_MPI_SEND)
