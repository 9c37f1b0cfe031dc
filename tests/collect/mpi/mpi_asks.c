/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_asks.c - a program for two ranks that asks whether functions of MPI 4 exist, and uses them where they do.
 *
 * It asks by weak symbols, by dlsym of everything that is loaded, and by dlsym of the library. Of functions with large
 * counts it prints only what came of the call: by whatever function, the same must come of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Declared by hand: the header of an older library does not have them. Handles are what the header says. */
#define WEAK(function, ...) extern int function(__VA_ARGS__) __attribute__((weak));
WEAK(MPI_Sendrecv_c, const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count,
     MPI_Datatype, int, int, MPI_Comm, MPI_Status *)
WEAK(PMPI_Sendrecv_c, const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count,
     MPI_Datatype, int, int, MPI_Comm, MPI_Status *)
WEAK(MPI_Send_c, const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm)
WEAK(MPI_Irecv_c, void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
WEAK(MPI_Recv_init_c, void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
WEAK(MPI_Allreduce_c, const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm)
WEAK(MPI_Iallgather_c, const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype,
     MPI_Comm, MPI_Request *)
WEAK(MPI_Put_c, const void *, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
     MPI_Win)
WEAK(MPI_Win_create_c, void *, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, MPI_Win *)
WEAK(MPI_File_write_at_c, MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *)
WEAK(MPI_Allgatherv_c, const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *,
     const MPI_Aint *, MPI_Datatype, MPI_Comm)
WEAK(MPI_Isendrecv, const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
     MPI_Comm, MPI_Request *)
WEAK(MPI_Allreduce_init, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
     MPI_Request *)
WEAK(MPI_Psend_init, const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
     MPI_Request *)
WEAK(MPI_Comm_idup_with_info, MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *)
WEAK(MPIX_Query_cuda_support, void)
WEAK(MPI_No_such_function, void)

static int rank, other;

/* Whether functions exist, asked in three ways. */
static void ask(void *library)
{
	static const char *const names[] = {
		"MPI_Send",
		"MPI_Ibcast",
		"MPI_Isendrecv",
		"MPI_Isendrecv_replace",
		"MPI_Allreduce_init",
		"MPI_Barrier_init",
		"MPI_Psend_init",
		"MPI_Pready",
		"MPI_Parrived",
		"MPI_Session_init",
		"MPI_Allgatherv_c",
		"MPI_Reduce_scatter_c",
		"MPI_Alltoallw_c",
		"MPI_Ialltoallv_c",
		"MPI_Bcast_init_c",
		"MPI_Comm_create_from_group",
		"PMPI_Isendrecv",
		"PMPI_Bcast_init",
		"PMPI_Session_init",
		"PMPI_Gatherv_c",
		"MPIX_Bcast_init",
		"MPIX_Comm_shrink",
		"MPI_No_such_function",
		"MPI_Comm_idup_with_info",
		"MPI_Neighbor_alltoallv_init",
		"MPI_Isendrecv_c",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		printf("%d: %s: %d by dlsym, %d in the library\n", rank, names[i],
		       dlsym(RTLD_DEFAULT, names[i]) != NULL, dlsym(library, names[i]) != NULL);
	printf("%d: weak: %d %d %d %d %d %d %d\n", rank, MPI_Allgatherv_c != NULL,
	       MPI_Isendrecv != NULL, MPI_Allreduce_init != NULL, MPI_Psend_init != NULL,
	       MPI_Comm_idup_with_info != NULL, MPIX_Query_cuda_support != NULL,
	       MPI_No_such_function != NULL);
}

static void large_messages(void)
{
	int to[3] = {7, 8, 9}, from[3] = {0}, n = -1;
	MPI_Status status;
	int (*both)(const void *, MPI_Count, MPI_Datatype, int, int, void *, MPI_Count,
		    MPI_Datatype, int, int, MPI_Comm, MPI_Status *) = MPI_Sendrecv_c;
	for (int i = 0; i < 2; i++, both = PMPI_Sendrecv_c) {
		memset(from, 0, sizeof from);
		int result = both ? both(to, 2, MPI_INT, other, 1, from, 3, MPI_INT, other, 1,
					 MPI_COMM_WORLD, &status)
				  : MPI_Sendrecv(to, 2, MPI_INT, other, 1, from, 3, MPI_INT, other,
						 1, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_INT, &n);
		printf("%d: sendrecv %d: %d of %d: %d %d %d\n", rank, result, n, status.MPI_SOURCE,
		       from[0], from[1], from[2]);
	}
	*(void **)&both = dlsym(RTLD_DEFAULT, "MPI_Sendrecv_c");
	if (!both)
		MPI_Sendrecv(to, 2, MPI_INT, other, 1, from, 3, MPI_INT, other, 1, MPI_COMM_WORLD,
			     &status);
	else
		both(to, 2, MPI_INT, other, 1, from, 3, MPI_INT, other, 1, MPI_COMM_WORLD, &status);
	MPI_Request request[2];
	if (MPI_Irecv_c)
		MPI_Irecv_c(from, 3, MPI_INT, other, 2, MPI_COMM_WORLD, &request[0]);
	else
		MPI_Irecv(from, 3, MPI_INT, other, 2, MPI_COMM_WORLD, &request[0]);
	if (MPI_Recv_init_c)
		MPI_Recv_init_c(from + 1, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request[1]);
	else
		MPI_Recv_init(from + 1, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &request[1]);
	MPI_Start(&request[1]);
	for (int tag = 2; tag < 4; tag++)
		if (MPI_Send_c)
			MPI_Send_c(to + tag - 1, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
		else
			MPI_Send(to + tag - 1, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Request_free(&request[1]);
	printf("%d: received %d %d\n", rank, from[0], from[1]);
}

static void large_others(void)
{
	int to[2] = {rank + 1, 5}, from[4] = {0};
	MPI_Request request;
	if (MPI_Allreduce_c)
		MPI_Allreduce_c(to, from, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	else
		MPI_Allreduce(to, from, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("%d: sum %d %d\n", rank, from[0], from[1]);
	if (MPI_Iallgather_c)
		MPI_Iallgather_c(to, 2, MPI_INT, from, 2, MPI_INT, MPI_COMM_WORLD, &request);
	else
		MPI_Iallgather(to, 2, MPI_INT, from, 2, MPI_INT, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	printf("%d: gathered %d %d %d %d\n", rank, from[0], from[1], from[2], from[3]);
	MPI_Win window;
	if (MPI_Win_create_c)
		MPI_Win_create_c(from, sizeof from, sizeof *from, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &window);
	else
		MPI_Win_create(from, sizeof from, sizeof *from, MPI_INFO_NULL, MPI_COMM_WORLD,
			       &window);
	MPI_Win_fence(0, window);
	if (MPI_Put_c)
		MPI_Put_c(to, 2, MPI_INT, other, 1, 2, MPI_INT, window);
	else
		MPI_Put(to, 2, MPI_INT, other, 1, 2, MPI_INT, window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
	printf("%d: put %d %d %d %d\n", rank, from[0], from[1], from[2], from[3]);
}

static void large_file(const char *name)
{
	MPI_File file;
	MPI_Status status;
	int to[2] = {rank, 2}, n = -1;
	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
		      &file);
	if (MPI_File_write_at_c)
		MPI_File_write_at_c(file, 8 * rank, to, 2, MPI_INT, &status);
	else
		MPI_File_write_at(file, 8 * rank, to, 2, MPI_INT, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	MPI_File_close(&file);
	printf("%d: wrote %d\n", rank, n);
}

/* Counts that no int holds are either sent (to nobody), or refused by the communicator's error handler. */
static void too_large(void)
{
	int class = 0, result = 0;
	if (MPI_Send_c)
		result = MPI_Send_c(&rank, (MPI_Count)UINT_MAX + 2, MPI_BYTE, MPI_PROC_NULL, 1,
				    MPI_COMM_SELF);
	MPI_Error_class(result, &class);
	if (class != MPI_SUCCESS && class != MPI_ERR_COUNT)
		printf("%d: a large count gave class %d\n", rank, class);
}

/* What is there works, and is used by the program as without Headway. */
static void what_is_there(void)
{
	int to[2] = {rank + 1, 5}, from[4] = {0};
	MPI_Request request;
	if (MPI_Isendrecv) {
		MPI_Isendrecv(to, 1, MPI_INT, other, 4, from, 1, MPI_INT, other, 4, MPI_COMM_WORLD,
			      &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		printf("%d: isendrecv %d\n", rank, from[0]);
	}
	if (MPI_Allreduce_init) {
		MPI_Allreduce_init(to, from, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
				   &request);
		for (int i = 0; i < 3; i++) {
			MPI_Start(&request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		MPI_Request_free(&request);
		printf("%d: persistent %d %d\n", rank, from[0], from[1]);
	}
	if (MPI_Allgatherv_c) {
		MPI_Count counts[2] = {1, 2};
		MPI_Aint places[2] = {0, 1};
		MPI_Allgatherv_c(to, rank + 1, MPI_INT, from, counts, places, MPI_INT,
				 MPI_COMM_WORLD);
		printf("%d: gathered %d %d %d\n", rank, from[0], from[1], from[2]);
	}
	if (MPI_Comm_idup_with_info) {
		MPI_Comm again;
		MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &again, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Barrier(again);
		MPI_Comm_free(&again);
	}
}

int main(int argc, char **argv)
{
	Dl_info about;
	setvbuf(stdout, NULL, _IOLBF, 0);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	/* A function that nobody replaces tells where the library is. */
	void *library = dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_version"), &about)
				? dlopen(about.dli_fname, RTLD_LAZY)
				: NULL;
	ask(library);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	large_messages();
	large_others();
	large_file(argv[1]);
	too_large();
	what_is_there();
	MPI_Finalize();
	return 0;
}
