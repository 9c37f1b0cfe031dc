/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_price.c - what calls of MPI take: mpirun -n 2 mpi_price [ROUNDS]
 *
 * Prints ns a call, of rank 0: an all-reduce of one rank alone, which only the library's own work lasts, and a message that
 * goes to another rank and back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double alone(int rounds)
{
	double one = 1, sum, begin = MPI_Wtime();
	for (int i = 0; i < rounds; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	return (MPI_Wtime() - begin) / rounds;
}

static double to_and_fro(int rounds, int rank)
{
	double value = rank, begin;
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < rounds && rank < 2; i++) {
		if (rank == 0)
			MPI_Send(&value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
		MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
	}
	/* A round has two calls on each rank, one after the other. */
	return (MPI_Wtime() - begin) / (4.0 * rounds);
}

int main(int argc, char **argv)
{
	int rank, rounds = argc > 1 ? atoi(argv[1]) : 200000;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	alone(rounds / 10);
	double self = alone(rounds), both = to_and_fro(rounds, rank);
	if (rank == 0)
		printf("alone %.1f message %.1f ns\n", self * 1e9, both * 1e9);
	MPI_Finalize();
	return 0;
}
