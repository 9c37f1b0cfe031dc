/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_plain.c - the functions of MPI of which only name and time are recorded.
 *
 * Functions that return at once and tell something (MPI_Comm_rank, MPI_Type_size, MPI_Wtime …)
 * are not replaced at all, nor are functions that some library lacks (mpi.h).
 */
#include "collect/mpi/mpi.h"

#define PLAIN(id, n) MPI_WRAP(id, n, mpi_plain, .op = 0)
/* The unit of displacements is what has more bits in MPI_X_c. */
#define PLAIN_BOTH(id, n, unit_at)                                                                 \
	MPI_WRAP_BOTH(id, n, mpi_plain, 0, MPI_COUNT_AT(unit_at), .op = 0)

/* Beginning and end */
PLAIN(Abort, 2)
PLAIN(Open_port, 2)
PLAIN(Close_port, 1)
PLAIN(Publish_name, 3)
PLAIN(Unpublish_name, 3)
PLAIN(Lookup_name, 3)

/* One-sided communication: what begins and ends it */
PLAIN_BOTH(Win_create, 6, 2)
PLAIN_BOTH(Win_allocate, 6, 1)
PLAIN_BOTH(Win_allocate_shared, 6, 1)
PLAIN(Win_create_dynamic, 3)
PLAIN(Win_free, 1)
PLAIN(Win_fence, 2)
PLAIN(Win_start, 3)
PLAIN(Win_complete, 1)
PLAIN(Win_post, 3)
PLAIN(Win_wait, 1)
PLAIN(Win_test, 2)
PLAIN(Win_lock, 4)
PLAIN(Win_lock_all, 2)
PLAIN(Win_unlock, 2)
PLAIN(Win_unlock_all, 1)
PLAIN(Win_flush, 2)
PLAIN(Win_flush_all, 1)
PLAIN(Win_flush_local, 2)
PLAIN(Win_flush_local_all, 1)
PLAIN(Win_sync, 1)
PLAIN(Win_attach, 3)
PLAIN(Win_detach, 2)

/* Files */
PLAIN(File_open, 5)
PLAIN(File_close, 1)
PLAIN(File_delete, 2)
PLAIN(File_set_size, 2)
PLAIN(File_preallocate, 2)
PLAIN(File_set_view, 6)
PLAIN(File_seek, 3)
PLAIN(File_seek_shared, 3)
PLAIN(File_sync, 1)
PLAIN(File_set_atomicity, 2)
PLAIN(File_read_all_end, 3)
PLAIN(File_read_at_all_end, 3)
PLAIN(File_read_ordered_end, 3)
PLAIN(File_write_all_end, 3)
PLAIN(File_write_at_all_end, 3)
PLAIN(File_write_ordered_end, 3)
