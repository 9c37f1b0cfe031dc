/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_collectives.c - collective operations: what this rank gives and gets, by the arguments of
 * the call.
 *
 * A rank's own share counts like that of the others: MPI_Allgather of 8 bytes on 4 ranks gives 8
 * and gets 32. Arguments that mean nothing on a rank (what others receive, MPI_IN_PLACE) are not
 * looked at. Collectives of a communicator are counted also while nothing is recorded, so that
 * their numbers mean the same on all ranks.
 */
#include "collect/mpi/mpi.h"

/* A collective that has been called. */
struct collective {
	const struct mpi_call *call;
	const mpi_word *w;
	struct mpi_communicator *c;
	struct rec_mpi_part *part;
};

static bool is_inter(const struct collective *o)
{
	return o->c->remote_size > 0;
}
/* How many ranks are on the other side: all, or the other group of an intercommunicator. */
static int peers(const struct collective *o)
{
	return is_inter(o) ? o->c->remote_size : o->c->size;
}
static bool is_in_place(const struct collective *o, unsigned at)
{
	return o->w[at] == mpi_library.in_place;
}

/* Notes the root, and yields whether this rank is the root; 'takes_part': false in the root's
 * own group of an intercommunicator. */
static bool is_root(const struct collective *o, unsigned at, bool *takes_part)
{
	int32_t root = (int32_t)o->w[at];
	*takes_part = !is_inter(o) || root != mpi_library.proc_null;
	o->part->peer = root >= 0 ? root : REC_MPI_NO_RANK;
	return is_inter(o) ? root == mpi_library.root : root == o->c->rank;
}

/* Bytes of 'count' elements, of which the part names the number and the type. */
static uint64_t bytes_of(const struct collective *o, uint64_t count, mpi_word datatype)
{
	struct mpi_type type = mpi_type_of(datatype);
	o->part->datatype = type.name;
	o->part->count = count;
	return mpi_bytes(&type, count);
}
static uint64_t block(const struct collective *o, unsigned count_at, unsigned type_at)
{
	return bytes_of(o, (uint64_t)mpi_count(o->call, o->w[count_at]), o->w[type_at]);
}
static uint64_t times(uint64_t bytes, int n)
{
	return bytes == REC_MPI_UNKNOWN ? bytes : bytes * (uint64_t)n;
}
/* Bytes of n blocks with a count each; blocks with a bit in 'absent' do not exist. */
static uint64_t blocks(const struct collective *o, unsigned counts_at, unsigned type_at, int n,
		       uint64_t absent)
{
	uint64_t sum = 0;
	for (int i = 0; i < n; i++)
		if (i >= 64 || !(absent >> i & 1))
			sum += (uint64_t)mpi_count_at(o->w[counts_at], (size_t)i);
	return bytes_of(o, sum, o->w[type_at]);
}
/* The same with a type each. */
static uint64_t typed_blocks(const struct collective *o, unsigned counts_at, unsigned types_at,
			     int n, uint64_t absent)
{
	uint64_t sum = 0;
	for (int i = 0; i < n; i++) {
		int64_t count = mpi_count_at(o->w[counts_at], (size_t)i);
		if (count <= 0 || (i < 64 && (absent >> i & 1)))
			continue;
		struct mpi_type type = mpi_type_of(mpi_handle_at(o->w[types_at], (size_t)i));
		if (type.bytes == REC_MPI_UNKNOWN)
			return REC_MPI_UNKNOWN;
		sum += type.bytes * (uint64_t)count;
	}
	o->part->count = REC_MPI_UNKNOWN;
	return sum;
}

/* ---- layouts of arguments -------------------------------------------------------------------- */

/* communicator */
static void barrier(const struct collective *o)
{
	(void)o;
}
/* buffer, count, datatype, root, communicator */
static void broadcast(const struct collective *o)
{
	bool takes_part, root = is_root(o, 3, &takes_part);
	if (takes_part)
		*(root ? &o->part->sent : &o->part->received) = block(o, 1, 2);
}
/* from, to, count, datatype, operation, communicator */
static void reduce_all(const struct collective *o)
{
	o->part->sent = o->part->received = block(o, 2, 3);
}
static void reduce_before(const struct collective *o)
{
	reduce_all(o);
	if (o->c->rank == 0)
		o->part->received = 0;
}
static void reduce_scatter_block(const struct collective *o)
{
	o->part->received = block(o, 2, 3);
	o->part->sent = times(o->part->received, o->c->size);
}
/* from, to, counts, datatype, operation, communicator */
static void reduce_scatter(const struct collective *o)
{
	o->part->sent = blocks(o, 2, 3, o->c->size, 0);
	struct mpi_type type = mpi_type_of(o->w[3]);
	o->part->received = mpi_bytes(&type, (uint64_t)mpi_count_at(o->w[2], (size_t)o->c->rank));
}
/* from, to, count, datatype, operation, root, communicator */
static void reduce(const struct collective *o)
{
	bool takes_part, root = is_root(o, 5, &takes_part);
	uint64_t bytes = takes_part ? block(o, 2, 3) : 0;
	if (!root || !is_inter(o))
		o->part->sent = bytes;
	if (root)
		o->part->received = bytes;
}
/* from, count, datatype, to, count, datatype, root, communicator */
static void gather(const struct collective *o)
{
	bool takes_part, root = is_root(o, 6, &takes_part);
	if (root) {
		uint64_t each = block(o, 4, 5);
		o->part->received = times(each, peers(o));
		o->part->sent = is_inter(o) ? 0 : each;
	}
	if (takes_part && !(root && (is_inter(o) || is_in_place(o, 0))))
		o->part->sent = block(o, 1, 2);
}
static void scatter(const struct collective *o)
{
	bool takes_part, root = is_root(o, 6, &takes_part);
	if (root) {
		uint64_t each = block(o, 1, 2);
		o->part->sent = times(each, peers(o));
		o->part->received = is_inter(o) ? 0 : each;
	}
	if (takes_part && !(root && (is_inter(o) || is_in_place(o, 3))))
		o->part->received = block(o, 4, 5);
}
/* from, count, datatype, to, counts, displacements, datatype, root, communicator */
static void gather_counts(const struct collective *o)
{
	bool takes_part, root = is_root(o, 7, &takes_part);
	if (root) {
		o->part->received = blocks(o, 4, 6, peers(o), 0);
		struct mpi_type type = mpi_type_of(o->w[6]);
		if (!is_inter(o))
			o->part->sent = mpi_bytes(
				&type, (uint64_t)mpi_count_at(o->w[4], (size_t)o->c->rank));
	}
	if (takes_part && !(root && (is_inter(o) || is_in_place(o, 0))))
		o->part->sent = block(o, 1, 2);
}
/* from, counts, displacements, datatype, to, count, datatype, root, communicator */
static void scatter_counts(const struct collective *o)
{
	bool takes_part, root = is_root(o, 7, &takes_part);
	if (root) {
		o->part->sent = blocks(o, 1, 3, peers(o), 0);
		struct mpi_type type = mpi_type_of(o->w[3]);
		if (!is_inter(o))
			o->part->received = mpi_bytes(
				&type, (uint64_t)mpi_count_at(o->w[1], (size_t)o->c->rank));
	}
	if (takes_part && !(root && (is_inter(o) || is_in_place(o, 4))))
		o->part->received = block(o, 5, 6);
}
/* from, count, datatype, to, count, datatype, communicator */
static void all_gather(const struct collective *o)
{
	uint64_t each = block(o, 4, 5);
	o->part->received = times(each, peers(o));
	o->part->sent = is_in_place(o, 0) ? each : block(o, 1, 2);
}
static void all_to_all(const struct collective *o)
{
	o->part->received = times(block(o, 4, 5), peers(o));
	o->part->sent = is_in_place(o, 0) ? o->part->received : times(block(o, 1, 2), peers(o));
}
/* from, count, datatype, to, counts, displacements, datatype, communicator */
static void all_gather_counts(const struct collective *o)
{
	o->part->received = blocks(o, 4, 6, peers(o), 0);
	if (is_in_place(o, 0)) {
		struct mpi_type type = mpi_type_of(o->w[6]);
		o->part->sent =
			mpi_bytes(&type, (uint64_t)mpi_count_at(o->w[4], (size_t)o->c->rank));
	} else {
		o->part->sent = block(o, 1, 2);
	}
}
/* from, counts, displacements, datatype, to, counts, displacements, datatype, communicator */
static void all_to_all_counts(const struct collective *o)
{
	o->part->received = blocks(o, 5, 7, peers(o), 0);
	o->part->sent = is_in_place(o, 0) ? o->part->received : blocks(o, 1, 3, peers(o), 0);
}
/* from, counts, displacements, datatypes, to, counts, displacements, datatypes, communicator */
static void all_to_all_types(const struct collective *o)
{
	o->part->received = typed_blocks(o, 5, 7, peers(o), 0);
	o->part->sent = is_in_place(o, 0) ? o->part->received : typed_blocks(o, 1, 3, peers(o), 0);
}

/* ---- neighbours: the same layouts ------------------------------------------------------------ */

static int present(int n, uint64_t absent)
{
	return n - __builtin_popcountll(absent);
}
static void neighbor_all_gather(const struct collective *o)
{
	mpi_communicator_neighbors(o->c);
	o->part->received = times(block(o, 4, 5), present(o->c->sources, o->c->absent));
	o->part->sent = times(block(o, 1, 2), present(o->c->destinations, o->c->absent));
}
static void neighbor_all_gather_counts(const struct collective *o)
{
	mpi_communicator_neighbors(o->c);
	o->part->received = blocks(o, 4, 6, o->c->sources, o->c->absent);
	o->part->sent = times(block(o, 1, 2), present(o->c->destinations, o->c->absent));
}
static void neighbor_all_to_all_counts(const struct collective *o)
{
	mpi_communicator_neighbors(o->c);
	o->part->received = blocks(o, 5, 7, o->c->sources, o->c->absent);
	o->part->sent = blocks(o, 1, 3, o->c->destinations, o->c->absent);
}
static void neighbor_all_to_all_types(const struct collective *o)
{
	mpi_communicator_neighbors(o->c);
	o->part->received = typed_blocks(o, 5, 7, o->c->sources, o->c->absent);
	o->part->sent = typed_blocks(o, 1, 3, o->c->destinations, o->c->absent);
}

/* ---- the functions --------------------------------------------------------------------------- */

static void keep_collective(struct mpi_scope *scope, mpi_word *w,
			    void (*describe)(const struct collective *))
{
	struct rec_mpi_part part = {.op = scope->call->op, .peer = REC_MPI_NO_RANK};
	struct collective o = {
		.call = scope->call,
		.w = w,
		.c = mpi_communicator_of(w[scope->call->communicator_at]),
		.part = &part,
	};
	if (!o.c) {
		mpi_keep(scope, 0, 0, NULL, 0);
		return;
	}
	part.tag = (int32_t)atomic_fetch_add_explicit(&o.c->collectives, 1, memory_order_relaxed);
	if (!scope->start)
		return;
	describe(&o);
	mpi_part_request(&part, scope->call, w);
	mpi_keep(scope, 0, o.c->number, &part, 1);
}

static int collective(struct mpi_scope *scope, mpi_word *w,
		      void (*describe)(const struct collective *))
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	if (result == 0 && mpi_library.is_known)
		keep_collective(scope, w, describe);
	else
		mpi_keep(scope, result, 0, NULL, 0);
	mpi_end(scope);
	return result;
}

/* MPI_X and MPI_Ix; n: how many arguments MPI_X has, of which the communicator is the last. The
 * layout 'describe' makes the body collective_…. 'counts': the arguments that are counts;
 * functions with arrays of counts have no MPI_X_c here. */
#define LAYOUT(describe)                                                                           \
	static int collective_##describe(struct mpi_scope *scope, mpi_word *w)                     \
	{                                                                                          \
		return collective(scope, w, describe);                                             \
	}
LAYOUT(barrier)
LAYOUT(broadcast)
LAYOUT(reduce)
LAYOUT(reduce_all)
LAYOUT(reduce_before)
LAYOUT(reduce_scatter)
LAYOUT(reduce_scatter_block)
LAYOUT(gather)
LAYOUT(gather_counts)
LAYOUT(scatter)
LAYOUT(scatter_counts)
LAYOUT(all_gather)
LAYOUT(all_gather_counts)
LAYOUT(all_to_all)
LAYOUT(all_to_all_counts)
LAYOUT(all_to_all_types)
LAYOUT(neighbor_all_gather)
LAYOUT(neighbor_all_gather_counts)
LAYOUT(neighbor_all_to_all_counts)
LAYOUT(neighbor_all_to_all_types)

#define COLLECTIVE_ARRAYS(id, later, n, n1, describe, operation)                                   \
	MPI_WRAP(id, n, collective_##describe, .op = operation, .communicator_at = n - 1)          \
	MPI_WRAP(later, n1, collective_##describe, .flags = MPI_REQUEST, .op = operation,          \
		 .communicator_at = n - 1)
#define COLLECTIVE(id, later, n, n1, counts, describe, operation)                                  \
	MPI_WRAP_BOTH(id, n, collective_##describe, 0, counts, .op = operation,                    \
		      .communicator_at = n - 1)                                                    \
	MPI_WRAP_BOTH(later, n1, collective_##describe, MPI_REQUEST, counts, .op = operation,      \
		      .communicator_at = n - 1)
#define TWO_BLOCKS (MPI_COUNT_AT(1) | MPI_COUNT_AT(4))

MPI_WRAP(Barrier, 1, collective_barrier, .op = REC_MPI_BARRIER)
MPI_WRAP(Ibarrier, 2, collective_barrier, .flags = MPI_REQUEST, .op = REC_MPI_BARRIER)
COLLECTIVE(Bcast, Ibcast, 5, 6, MPI_COUNT_AT(1), broadcast, REC_MPI_BROADCAST)
COLLECTIVE(Reduce, Ireduce, 7, 8, MPI_COUNT_AT(2), reduce, REC_MPI_REDUCE)
COLLECTIVE(Allreduce, Iallreduce, 6, 7, MPI_COUNT_AT(2), reduce_all, REC_MPI_ALL_REDUCE)
COLLECTIVE(Scan, Iscan, 6, 7, MPI_COUNT_AT(2), reduce_all, REC_MPI_SCAN)
COLLECTIVE(Exscan, Iexscan, 6, 7, MPI_COUNT_AT(2), reduce_before, REC_MPI_SCAN)
COLLECTIVE_ARRAYS(Reduce_scatter, Ireduce_scatter, 6, 7, reduce_scatter, REC_MPI_REDUCE_SCATTER)
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, 6, 7, MPI_COUNT_AT(2), reduce_scatter_block,
	   REC_MPI_REDUCE_SCATTER)
COLLECTIVE(Gather, Igather, 8, 9, TWO_BLOCKS, gather, REC_MPI_GATHER)
COLLECTIVE_ARRAYS(Gatherv, Igatherv, 9, 10, gather_counts, REC_MPI_GATHER)
COLLECTIVE(Scatter, Iscatter, 8, 9, TWO_BLOCKS, scatter, REC_MPI_SCATTER)
COLLECTIVE_ARRAYS(Scatterv, Iscatterv, 9, 10, scatter_counts, REC_MPI_SCATTER)
COLLECTIVE(Allgather, Iallgather, 7, 8, TWO_BLOCKS, all_gather, REC_MPI_ALL_GATHER)
COLLECTIVE_ARRAYS(Allgatherv, Iallgatherv, 8, 9, all_gather_counts, REC_MPI_ALL_GATHER)
COLLECTIVE(Alltoall, Ialltoall, 7, 8, TWO_BLOCKS, all_to_all, REC_MPI_ALL_TO_ALL)
COLLECTIVE_ARRAYS(Alltoallv, Ialltoallv, 9, 10, all_to_all_counts, REC_MPI_ALL_TO_ALL)
COLLECTIVE_ARRAYS(Alltoallw, Ialltoallw, 9, 10, all_to_all_types, REC_MPI_ALL_TO_ALL)
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, 7, 8, TWO_BLOCKS, neighbor_all_gather,
	   REC_MPI_NEIGHBOR_ALL_GATHER)
COLLECTIVE_ARRAYS(Neighbor_allgatherv, Ineighbor_allgatherv, 8, 9, neighbor_all_gather_counts,
		  REC_MPI_NEIGHBOR_ALL_GATHER)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, 7, 8, TWO_BLOCKS, neighbor_all_gather,
	   REC_MPI_NEIGHBOR_ALL_TO_ALL)
COLLECTIVE_ARRAYS(Neighbor_alltoallv, Ineighbor_alltoallv, 9, 10, neighbor_all_to_all_counts,
		  REC_MPI_NEIGHBOR_ALL_TO_ALL)
COLLECTIVE_ARRAYS(Neighbor_alltoallw, Ineighbor_alltoallw, 9, 10, neighbor_all_to_all_types,
		  REC_MPI_NEIGHBOR_ALL_TO_ALL)
