/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_worlds.c - the begin and the end of MPI, and functions that make, name and free
 * communicators. */
#include "collect/mpi/mpi.h"

/* ---- communicators --------------------------------------------------------------------------- */

/* communicator_at: the communicator that all its members call the function with; made_at: the
 * address of the new one. */
static int mpi_make(struct mpi_scope *scope, mpi_word *w)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	const struct mpi_communicator *parent = NULL;
	if (result == 0 && mpi_library.is_known) {
		if (scope->call->communicator_at != MPI_NONE)
			parent = mpi_communicator_of(w[scope->call->communicator_at]);
		mpi_communicator_made(mpi_handle_at(w[scope->call->made_at], 0), parent);
	}
	mpi_keep(scope, result, parent ? parent->number : 0, NULL, 0);
	mpi_end(scope);
	return result;
}

/* The handle may be another communicator's as soon as the library has freed it, so it is
 * forgotten before. */
static int mpi_free(struct mpi_scope *scope, mpi_word *w)
{
	uint32_t number = 0;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	if (mpi_library.is_known)
		number = mpi_communicator_gone(mpi_handle_at(w[0], 0));
	int result = mpi_forward(scope, w);
	mpi_keep(scope, result, number, NULL, 0);
	mpi_end(scope);
	return result;
}

static int mpi_name(struct mpi_scope *scope, mpi_word *w)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	if (result == 0 && mpi_library.is_known)
		mpi_communicator_named(w[0], (const char *)w[1]);
	mpi_end(scope);
	return result;
}

#define MAKES(id, n, from, to) MPI_WRAP(id, n, mpi_make, .communicator_at = from, .made_at = to)
MAKES(Comm_dup, 2, 0, 1)
MAKES(Comm_dup_with_info, 3, 0, 2)
MAKES(Comm_create, 3, 0, 2)
MAKES(Comm_create_group, 4, 0, 3)
MAKES(Comm_split, 4, 0, 3)
MAKES(Comm_split_type, 5, 0, 4)
MAKES(Cart_create, 6, 0, 5)
MAKES(Cart_sub, 3, 0, 2)
MAKES(Graph_create, 6, 0, 5)
MAKES(Dist_graph_create, 9, 0, 8)
MAKES(Dist_graph_create_adjacent, 10, 0, 9)
MAKES(Intercomm_create, 6, 0, 5)
MAKES(Intercomm_merge, 3, 0, 2)
MAKES(Comm_spawn, 8, 5, 6)
MAKES(Comm_spawn_multiple, 9, 6, 7)
MAKES(Comm_accept, 5, 3, 4)
MAKES(Comm_connect, 5, 3, 4)
MAKES(Comm_join, 2, MPI_NONE, 1)
/* What these make may be used only when a request is done: it becomes known when it is used. */
MPI_WRAP(Comm_idup, 3, mpi_on_communicator, .communicator_at = 0)
MPI_WRAP(Comm_free, 1, mpi_free, .op = 0)
MPI_WRAP(Comm_disconnect, 1, mpi_free, .op = 0)
MPI_WRAP(Comm_set_name, 2, mpi_name, .op = 0)

/* ---- begin and end --------------------------------------------------------------------------- */

static int mpi_init_world(struct mpi_scope *scope, mpi_word *w)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int result = mpi_forward(scope, w);
	mpi_keep(scope, result, 0, NULL, 0);
	if (result == 0 && mpi_library.is_known) {
		mpi_communicator_of(mpi_library.world);
		mpi_clocks_begin();
	}
	mpi_end(scope);
	return result;
}

static int mpi_end_world(struct mpi_scope *scope, mpi_word *w)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	if (mpi_library.is_known) {
		mpi_clocks_end();
		mpi_communicators_end();
	}
	int result = mpi_forward(scope, w);
	mpi_keep(scope, result, 0, NULL, 0);
	mpi_end(scope);
	return result;
}

MPI_WRAP(Init, 2, mpi_init_world, .op = 0)
MPI_WRAP(Init_thread, 4, mpi_init_world, .op = 0)
MPI_WRAP(Finalize, 0, mpi_end_world, .op = 0)
