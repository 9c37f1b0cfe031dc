/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_odd.c - programs that use MPI in unusual ways: mpi_odd WAY. Prints what it sees, a line at a time; needs 2 ranks.
 *
 * With -DOWN_SEND the program has an MPI_Send of its own, as tools do.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks;
static double x[64], y[64];

static void say(const char *what, long number)
{
	char line[128];
	int n = snprintf(line, sizeof line, "rank %d: %s %ld\n", rank, what, number);
	if (write(1, line, (size_t)n) != n)
		_exit(9);
}

#ifdef OWN_SEND
static int own_sends;
int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	own_sends++;
	return PMPI_Send(buffer, count, type, to, tag, comm);
}
#endif

static void pass_on(int n)
{
	for (int i = 0; i < n; i++) {
		if (rank == 0)
			MPI_Send(x, 1, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
		else
			MPI_Recv(y, 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void own_functions(void)
{
	pass_on(5);
#ifdef OWN_SEND
	say("sends", own_sends);
#endif
	for (int i = 0; i < 3; i++)
		PMPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- errors ------------------------------------------------------------------------------------- */

static void errors(void)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int class;
	MPI_Error_class(MPI_Send(x, 1, MPI_DOUBLE, ranks + 5, 0, MPI_COMM_WORLD), &class);
	say("a rank that does not exist", class == MPI_ERR_RANK);
	MPI_Error_class(MPI_Send(x, -1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD), &class);
	say("a negative count", class == MPI_ERR_COUNT);
	MPI_Error_class(MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), &class);
	say("no datatype", class == MPI_ERR_TYPE);
	/* Too long a message: an error of the receiver. */
	MPI_Request request;
	MPI_Status status;
	if (rank == 0) {
		MPI_Send(x, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
		MPI_Send(x, 10, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
	} else {
		MPI_Error_class(MPI_Recv(y, 2, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &status), &class);
		say("too long", class == MPI_ERR_TRUNCATE);
		MPI_Irecv(y, 2, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &request);
		int result = MPI_Waitall(1, &request, &status);
		say("too long, awaited", result != MPI_SUCCESS);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static jmp_buf back;
static void jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	longjmp(back, 1);
}

/* An error handler that does not return: the calls after it are calls like those before. */
static void __attribute__((noinline)) deeper(int depth)
{
	volatile char room[512];
	memset((char *)room, depth, sizeof room);
	if (depth)
		deeper(depth - 1);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	room[0] = 1;
}
static void leaves_by_longjmp(void)
{
	MPI_Errhandler handler;
	MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)jump, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	if (setjmp(back) == 0)
		MPI_Send(x, 1, MPI_DOUBLE, ranks + 5, 0, MPI_COMM_WORLD);
	else
		say("came back", 1);
	for (int i = 0; i < 6; i++)
		deeper(i);
}

/* ---- threads and processes ------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 50 };
static MPI_Comm own[THREADS];
static void *talk(void *number)
{
	int t = *(int *)number, in = 0;
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Request requests[2];
		MPI_Irecv(&in, 1, MPI_INT, 1 - rank, i, own[t], &requests[0]);
		MPI_Isend(&i, 1, MPI_INT, 1 - rank, i, own[t], &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	MPI_Barrier(own[t]);
	return NULL;
}
static void threads(void)
{
	pthread_t thread[THREADS];
	int number[THREADS];
	for (int t = 0; t < THREADS; t++)
		MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
	for (int t = 0; t < THREADS; t++) {
		number[t] = t;
		pthread_create(&thread[t], NULL, talk, &number[t]);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	say("threads", THREADS);
}

static void forks(void)
{
	int status = 0;
	pass_on(3);
	pid_t child = fork();
	if (child == 0)
		_exit(5);
	waitpid(child, &status, 0);
	say("child", WEXITSTATUS(status));
	say("system", system("exit 3") >> 8);
	pass_on(3);
}

static void twice(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int size;
	MPI_Type_size(*type, &size);
	for (int i = 0; i < *n; i++)
		((double *)inout)[i] += ((double *)in)[i] * (size == 8);
}
static void callbacks(void)
{
	MPI_Op op;
	MPI_Op_create(twice, 1, &op);
	for (int i = 0; i < 64; i++)
		x[i] = rank + i;
	MPI_Allreduce(x, y, 64, MPI_DOUBLE, op, MPI_COMM_WORLD);
	say("sum", (long)y[10]);
	MPI_Op_free(&op);
}

static void __attribute__((noinline)) await_the_other(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	say("met", 1);
}
static void waits(void)
{
	if (rank == 1)
		usleep(50 * 1000);
	await_the_other();
}

static void on_and_off(void)
{
	pass_on(4);
	MPI_Pcontrol(0);
	pass_on(100);
	MPI_Pcontrol(1);
	pass_on(2);
	say("pcontrol", MPI_Pcontrol(2, "any", 1));
}

static void ends(const char *way)
{
	if (!strcmp(way, "abort") && rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(way, "crash") && rank == 1)
		raise(SIGSEGV);
	if (!strcmp(way, "leave") && rank == 1)
		exit(3);
	if (!strcmp(way, "abort") || !strcmp(way, "crash") || !strcmp(way, "leave"))
		MPI_Recv(y, 1, MPI_INT, 1 - rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *way;
		void (*run)(void);
	} ways[] = {{"own", own_functions}, {"errors", errors},       {"longjmp", leaves_by_longjmp},
		    {"threads", threads},   {"forks", forks},         {"callbacks", callbacks},
		    {"pcontrol", on_and_off}, {"waits", waits}};
	int provided;
	if (argc != 2)
		return 2;
	/* Only threads ask for more: MPICH keeps a lock where an error handler leaves a call. */
	MPI_Init_thread(&argc, &argv,
			strcmp(argv[1], "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!strcmp(argv[1], "threads") && provided != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 77);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argv[1], ways[i].way))
			ways[i].run();
	ends(argv[1]);
	MPI_Finalize();
	say("done", 0);
	return 0;
}
