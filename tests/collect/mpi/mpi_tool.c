/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_tool.c - a tool as the standard means it: has MPI_Recv of its own, and tells at the end how often it was called. */
#include <mpi.h>
#include <stdio.h>

static int n;
int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	     MPI_Status *status)
{
	n++;
	return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Finalize(void)
{
	fprintf(stderr, "tool: %d receives\n", n);
	return PMPI_Finalize();
}
