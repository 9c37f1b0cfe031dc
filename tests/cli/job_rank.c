/* SPDX-License-Identifier: Apache-2.0 */
/* job_rank.c - a rank of a job, for tests of launching: says who it is, and ends as it is told.
 *
 *   job_rank            ends well
 *   job_rank HOW RANK   this rank ends by "kill", "abort" or "exit", or every rank "sleep"s
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d, sum %d\n", rank, size, sum);
	fflush(stdout);
	const char *how = argc > 1 ? argv[1] : "";
	if (argc > 2 && rank == atoi(argv[2])) {
		if (strcmp(how, "kill") == 0)
			raise(SIGKILL);
		if (strcmp(how, "abort") == 0)
			MPI_Abort(MPI_COMM_WORLD, 7);
		if (strcmp(how, "exit") == 0)
			exit(5);
	}
	if (strcmp(how, "sleep") == 0)
		sleep(60);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return strcmp(how, "status") == 0 ? 3 : 0;
}
