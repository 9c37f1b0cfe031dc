/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_mpi.h - communicators of MPI, as ingest_mpi.c and ingest_mpi_groups.c share them. */
#ifndef HWY_INGEST_INGEST_MPI_H
#define HWY_INGEST_INGEST_MPI_H

#include "ingest/ingest_internal.h"
#include "spool/record_mpi.h"

/* The communicators of a process. */
struct mpi_groups {
	struct mpi_group {
		const struct rec_communicator *record;
		uint32_t label; /* string id of the name that it has last; 0: none */
		uint32_t group; /* index into the trace's groups; UINT32_MAX: not made yet */
	} * list;
	uint32_t n, cap;
	struct hwy_ids
		refs; /* maps the number of a communicator to the ref of its entry in 'list' */
};
/* Reads the records that 'process' has of its communicators. */
void mpi_groups_read(struct mpi_groups *groups, const struct ingest_process *process);
void mpi_groups_free(struct mpi_groups *groups);
/* The communicator with this number; NULL: nobody defined it. */
struct mpi_group *mpi_groups_find(struct mpi_groups *groups, uint32_t number);
/* Index into the trace's groups, where the communicator gets its row when it is first asked for. */
uint32_t mpi_groups_row(struct ingest *in, struct ingest_process *process, struct mpi_group *group);
/* The world's rank of a rank that a call named as its peer; HWY_NONE: not known. */
int64_t mpi_groups_world_rank(const struct mpi_group *group, int32_t rank);

#endif
