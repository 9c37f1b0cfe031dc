/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_rounds.c - ranks that meet again and again, each time another one last, and pass a number around: what tells how the
 * clocks of ranks stand to each other. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 60; i++) {
		double own = rank, sum, before;
		usleep((useconds_t)(500 * ((rank + i) % ranks)));
		MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Sendrecv(&sum, 1, MPI_DOUBLE, (rank + 1) % ranks, 7, &before, 1, MPI_DOUBLE,
			     (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
