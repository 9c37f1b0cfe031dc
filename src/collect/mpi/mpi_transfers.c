/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_transfers.c - bytes that a call moves to or from another rank's memory (one-sided), or a
 * file.
 *
 * These are no messages: nobody receives or sends them on the other side. Of reads and writes
 * the status tells how much was moved; where it comes later (MPI_File_iread), or in no status,
 * the arguments do.
 */
#include "collect/mpi/mpi.h"

enum { GIVES = 1, TAKES = 2 };

static void keep_transfer(struct mpi_scope *scope, int result, unsigned ways,
			  const struct mpi_type *type, uint64_t bytes, uint64_t count)
{
	struct rec_mpi_part part = {
		.op = REC_MPI_TRANSFER,
		.peer = REC_MPI_NO_RANK,
		.datatype = type->name,
		.sent = ways & GIVES ? bytes : 0,
		.received = ways & TAKES ? bytes : 0,
		.count = count,
	};
	mpi_keep(scope, result, 0, &part, 1);
}

/* The elements of 'datatype' that 'count' says are moved; 'ways': to where. */
static int transfer(struct mpi_scope *scope, mpi_word *w, unsigned count_at, unsigned type_at,
		    unsigned ways)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	if (scope->start && result == 0 && mpi_library.is_known) {
		struct mpi_type type = mpi_type_of(w[type_at]);
		uint64_t count =
			count_at == MPI_NONE ? 1 : (uint64_t)mpi_count(scope->call, w[count_at]);
		keep_transfer(scope, result, ways, &type, mpi_bytes(&type, count), count);
	} else {
		mpi_keep(scope, result, 0, NULL, 0);
	}
	mpi_end(scope);
	return result;
}

/* ---- memory of other ranks ------------------------------------------------------------------- */

/* from, count, datatype, rank, displacement, count, datatype[, operation], window[, request] */
static int mpi_put(struct mpi_scope *scope, mpi_word *w)
{
	return transfer(scope, w, 1, 2, GIVES);
}
static int mpi_get(struct mpi_scope *scope, mpi_word *w)
{
	return transfer(scope, w, 1, 2, TAKES);
}
/* from, count, datatype, to, count, datatype, rank, displacement, count, datatype, operation,
 * window[, request] */
static int mpi_get_accumulate(struct mpi_scope *scope, mpi_word *w)
{
	bool only_takes = mpi_library.is_known && mpi_handle(w[10]) == mpi_library.op_no_op;
	return transfer(scope, w, 4, 5, only_takes ? TAKES : GIVES | TAKES);
}
/* from, to, datatype, rank, displacement, operation, window */
static int mpi_fetch(struct mpi_scope *scope, mpi_word *w)
{
	return transfer(scope, w, MPI_NONE, 2, GIVES | TAKES);
}
/* from, compare with, to, datatype, rank, displacement, window */
static int mpi_compare_and_swap(struct mpi_scope *scope, mpi_word *w)
{
	return transfer(scope, w, MPI_NONE, 3, GIVES | TAKES);
}

#define ONE_SIDED(id, n, body, counts) MPI_WRAP_BOTH(id, n, body, 0, counts, .op = 0)
#define TWO_COUNTS (MPI_COUNT_AT(1) | MPI_COUNT_AT(5))
#define THREE_COUNTS (MPI_COUNT_AT(1) | MPI_COUNT_AT(4) | MPI_COUNT_AT(8))
ONE_SIDED(Put, 8, mpi_put, TWO_COUNTS)
ONE_SIDED(Get, 8, mpi_get, TWO_COUNTS)
ONE_SIDED(Accumulate, 9, mpi_put, TWO_COUNTS)
ONE_SIDED(Rput, 9, mpi_put, TWO_COUNTS)
ONE_SIDED(Rget, 9, mpi_get, TWO_COUNTS)
ONE_SIDED(Raccumulate, 10, mpi_put, TWO_COUNTS)
ONE_SIDED(Get_accumulate, 12, mpi_get_accumulate, THREE_COUNTS)
ONE_SIDED(Rget_accumulate, 13, mpi_get_accumulate, THREE_COUNTS)
MPI_WRAP(Fetch_and_op, 7, mpi_fetch, .op = 0)
MPI_WRAP(Compare_and_swap, 7, mpi_compare_and_swap, .op = 0)

/* ---- files ----------------------------------------------------------------------------------- */

/* file[, offset], buffer, count, datatype, status */
static int file_now(struct mpi_scope *scope, mpi_word *w, unsigned ways)
{
	uint64_t own[MPI_MOST_STATUS / 8];
	unsigned last = scope->call->words - 1u;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	const void *status =
		scope->start && mpi_library.is_known ? mpi_status_at(&w[last], own) : NULL;
	int result = mpi_forward(scope, w);
	if (status && result == 0) {
		struct mpi_type type = mpi_type_of(w[last - 1]);
		uint64_t bytes = mpi_status_bytes(status);
		uint64_t count = type.bytes && type.bytes != REC_MPI_UNKNOWN ? bytes / type.bytes
									     : REC_MPI_UNKNOWN;
		keep_transfer(scope, result, ways, &type, bytes, count);
	} else {
		mpi_keep(scope, result, 0, NULL, 0);
	}
	w[last] = 0; /* 'own' ends here */
	mpi_end(scope);
	return result;
}
static int mpi_file_read(struct mpi_scope *scope, mpi_word *w)
{
	return file_now(scope, w, TAKES);
}
static int mpi_file_write(struct mpi_scope *scope, mpi_word *w)
{
	return file_now(scope, w, GIVES);
}

/* file[, offset], buffer, count, datatype[, request]: op is where the count stands */
static int mpi_file_read_later(struct mpi_scope *scope, mpi_word *w)
{
	return transfer(scope, w, scope->call->op, scope->call->op + 1u, TAKES);
}
static int mpi_file_write_later(struct mpi_scope *scope, mpi_word *w)
{
	return transfer(scope, w, scope->call->op, scope->call->op + 1u, GIVES);
}

/* read and write, now and later, at the place of the file or at an offset of their own. */
#define FILES(word, body, later)                                                                   \
	MPI_WRAP_BOTH(File_##word, 5, body, 0, MPI_COUNT_AT(2), .op = 0)                           \
	MPI_WRAP_BOTH(File_##word##_all, 5, body, 0, MPI_COUNT_AT(2), .op = 0)                     \
	MPI_WRAP_BOTH(File_##word##_shared, 5, body, 0, MPI_COUNT_AT(2), .op = 0)                  \
	MPI_WRAP_BOTH(File_##word##_ordered, 5, body, 0, MPI_COUNT_AT(2), .op = 0)                 \
	MPI_WRAP_BOTH(File_##word##_at, 6, body, 0, MPI_COUNT_AT(3), .op = 0)                      \
	MPI_WRAP_BOTH(File_##word##_at_all, 6, body, 0, MPI_COUNT_AT(3), .op = 0)                  \
	MPI_WRAP_BOTH(File_i##word, 5, later, 0, MPI_COUNT_AT(2), .op = 2)                         \
	MPI_WRAP_BOTH(File_i##word##_all, 5, later, 0, MPI_COUNT_AT(2), .op = 2)                   \
	MPI_WRAP_BOTH(File_i##word##_shared, 5, later, 0, MPI_COUNT_AT(2), .op = 2)                \
	MPI_WRAP_BOTH(File_i##word##_at, 6, later, 0, MPI_COUNT_AT(3), .op = 3)                    \
	MPI_WRAP_BOTH(File_i##word##_at_all, 6, later, 0, MPI_COUNT_AT(3), .op = 3)                \
	MPI_WRAP_BOTH(File_##word##_all_begin, 4, later, 0, MPI_COUNT_AT(2), .op = 2)              \
	MPI_WRAP_BOTH(File_##word##_ordered_begin, 4, later, 0, MPI_COUNT_AT(2), .op = 2)          \
	MPI_WRAP_BOTH(File_##word##_at_all_begin, 5, later, 0, MPI_COUNT_AT(3), .op = 3)
FILES(read, mpi_file_read, mpi_file_read_later)
FILES(write, mpi_file_write, mpi_file_write_later)
