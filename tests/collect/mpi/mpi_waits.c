/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_waits.c FOLDER - two ranks that wait for each other, each state once, whatever the machine is busy with.
 *
 * The rank that shall be late waits until the other one has used CPU time since it said that it comes: then that one is
 * inside its call, because both libraries poll there. No time of day decides.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 5, STALL_MS = 100, BIG = 1 << 20 };

static struct shared {
	_Atomic int comes; /* number of the state that the early rank comes to */
	_Atomic long used; /* its CPU time then, µs */
	_Atomic int left;  /* it has left a call that did not need the late rank after all */
	pid_t pids[2];
} * shared;

static char data[BIG];
static int rank;

static long cpu_us(pid_t pid)
{
	clockid_t clock;
	struct timespec used;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		exit(3);
	return used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

/* The early rank says that it goes into the call of a state; the late one returns when it is there. */
static void meet(int state, int early, long ms)
{
	if (rank == early) {
		atomic_store(&shared->used, cpu_us(getpid()));
		atomic_store(&shared->comes, state);
		return;
	}
	while (atomic_load(&shared->comes) != state ||
	       (!atomic_load(&shared->left) &&
		cpu_us(shared->pids[early]) - atomic_load(&shared->used) < ms * 1000))
		;
}

static void collectives(void)
{
	int x = rank, y = 0;
	meet(1, 0, WAIT_MS);
	MPI_Barrier(MPI_COMM_WORLD);
	meet(2, 1, WAIT_MS);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	meet(3, 0, WAIT_MS);
	MPI_Bcast(&x, 1, MPI_INT, 1, MPI_COMM_WORLD);
	meet(4, 0, WAIT_MS);
	MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void messages(void)
{
	MPI_Request request;
	meet(5, 0, WAIT_MS); /* late sender */
	if (rank == 0)
		MPI_Recv(data, 100, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(data, 100, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
	meet(6, 0, WAIT_MS); /* late receiver */
	if (rank == 0)
		MPI_Ssend(data, BIG, MPI_CHAR, 1, 6, MPI_COMM_WORLD);
	else
		MPI_Recv(data, BIG, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1) { /* late sender of a receive that was asked for before */
		MPI_Irecv(data, 100, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
		meet(7, 1, WAIT_MS);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		meet(7, 1, WAIT_MS);
		MPI_Send(data, 100, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
	}
	if (rank == 0) { /* the data waits for its sender */
		MPI_Isend(data, BIG, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &request);
		meet(8, 1, STALL_MS);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else {
		MPI_Irecv(data, BIG, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &request);
		meet(8, 1, STALL_MS);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		atomic_store(&shared->left, 1); /* a library may move the data without its sender */
	}
}

int main(int argc, char **argv)
{
	char path[4096];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof path, "%s/shared", argv[1]);
	int file = open(path, O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, sizeof *shared) != 0)
		return 2;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	shared->pids[rank] = getpid();
	MPI_Barrier(MPI_COMM_WORLD);
	collectives();
	messages();
	MPI_Finalize();
	return 0;
}
