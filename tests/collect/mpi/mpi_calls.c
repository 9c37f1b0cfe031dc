/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_calls.c - calls MPI in every way, and writes down what it did: mpi_calls FOLDER.
 *
 * FOLDER/did.RANK has a line for each name of a call, CALLS, rank, name, number; one for each message, MESSAGE, rank, operation,
 * peer, tag, bytes sent, bytes received, ranks of the communicator; and one for each call that moves bytes but no message, BYTES,
 * rank, name, bytes. Built by mpicc of Open MPI and of MPICH; needs 4 ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, MANY = 100, MOST_NAMES = 256, MOST_LINES = 4096 };

static int rank;
static struct {
	const char *name;
	int n;
} tallies[MOST_NAMES];
static char lines[MOST_LINES][160];
static int n_lines;

static void tally(const char *name)
{
	int i = 0;
	while (tallies[i].name && strcmp(tallies[i].name, name) != 0)
		i++;
	tallies[i].name = name;
	tallies[i].n++;
}
#define CALL(name, ...) (tally("MPI_" #name), MPI_##name(__VA_ARGS__))

/* "0,1,3" or "?", by the program's own reckoning. */
static const char *members_of(MPI_Comm comm)
{
	static char text[128];
	int n, inter, mine[RANKS * 2], worlds[RANKS * 2], all = 0;
	MPI_Group group, world;
	MPI_Comm_test_inter(comm, &inter);
	/* Of two groups, rank 2's before rank 3's. */
	int flip = inter && rank % 2;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int side = 0; side <= inter; side++) {
		if (side != flip)
			MPI_Comm_remote_group(comm, &group);
		else
			MPI_Comm_group(comm, &group);
		MPI_Group_size(group, &n);
		for (int i = 0; i < n; i++)
			mine[i] = i;
		MPI_Group_translate_ranks(group, n, mine, world, worlds + all);
		all += n;
		MPI_Group_free(&group);
	}
	MPI_Group_free(&world);
	text[0] = '\0';
	for (int i = 0; i < all; i++)
		sprintf(text + strlen(text), "%s%d", i ? "," : "", worlds[i]);
	return text;
}

static void message(const char *op, int peer, int tag, long sent, long received, MPI_Comm comm)
{
	char peers[16] = "-", tags[16] = "-";
	if (peer >= 0)
		sprintf(peers, "%d", peer);
	if (tag >= 0)
		sprintf(tags, "%d", tag);
	snprintf(lines[n_lines++], sizeof *lines, "MESSAGE %d %s %s %s %ld %ld %s", rank, op, peers,
		 tags, sent, received, members_of(comm));
}
static void bytes(const char *name, int n)
{
	snprintf(lines[n_lines++], sizeof *lines, "BYTES %d MPI_%s %d", rank, name, n);
}
#define SENT(peer, tag, bytes, comm) message("Send", peer, tag, bytes, 0, comm)
#define RECEIVED(peer, tag, bytes, comm) message("Receive", peer, tag, 0, bytes, comm)
#define TOGETHER(op, root, sent, received, comm) message(op, root, -1, sent, received, comm)

static double from[1024], to[1024];

/* ---- messages ----------------------------------------------------------------------------------- */

/* Rank 0 sends to 1, 2 sends to 3, in every way that waits; the receiver has room for more than comes. */
static void send_and_wait(MPI_Comm comm)
{
	int peer = rank ^ 1;
	MPI_Status status;
	char *room = malloc(4096 + MPI_BSEND_OVERHEAD);
	MPI_Buffer_attach(room, 4096 + MPI_BSEND_OVERHEAD);
	if (rank % 2 == 0) {
		CALL(Send, from, 3, MPI_DOUBLE, peer, 1, comm);
		CALL(Ssend, from, 5, MPI_INT, peer, 2, comm);
		CALL(Bsend, from, 7, MPI_CHAR, peer, 3, comm);
		CALL(Recv, to, 0, MPI_CHAR, peer, 5, comm, MPI_STATUS_IGNORE);
		CALL(Rsend, from, 9, MPI_FLOAT, peer, 4, comm);
		CALL(Send, from, 3, MPI_DOUBLE, MPI_PROC_NULL, 1, comm);
		SENT(peer, 1, 24, comm), SENT(peer, 2, 20, comm), SENT(peer, 3, 7, comm);
		SENT(peer, 4, 36, comm), RECEIVED(peer, 5, 0, comm);
	} else {
		MPI_Request request;
		CALL(Recv, to, 100, MPI_DOUBLE, peer, 1, comm, MPI_STATUS_IGNORE);
		CALL(Recv, to, 100, MPI_INT, MPI_ANY_SOURCE, 2, comm, &status);
		CALL(Recv, to, 100, MPI_CHAR, peer, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
		CALL(Irecv, to, 100, MPI_FLOAT, peer, 4, comm, &request);
		CALL(Send, from, 0, MPI_CHAR, peer, 5, comm);
		CALL(Wait, &request, MPI_STATUS_IGNORE);
		CALL(Recv, to, 3, MPI_DOUBLE, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
		RECEIVED(peer, 1, 24, comm), RECEIVED(peer, 2, 20, comm), RECEIVED(peer, 3, 7, comm);
		RECEIVED(peer, 4, 36, comm), SENT(peer, 5, 0, comm);
	}
	int size;
	MPI_Buffer_detach(&room, &size);
	free(room);
}

static void send_later(MPI_Comm comm)
{
	int next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS, index, flag = 0, n;
	int indices[4], done = 0;
	MPI_Request requests[2 * MANY];
	MPI_Status statuses[4], status;
	/* More than fit the collector's stack, and a datatype of our own. */
	MPI_Datatype pair;
	MPI_Type_vector(2, 1, 3, MPI_SHORT, &pair);
	MPI_Type_commit(&pair);
	for (int i = 0; i < MANY; i++) {
		CALL(Irecv, to + 6 * (i % 100), 2, pair, MPI_ANY_SOURCE, i, comm, &requests[i]);
		CALL(Isend, from, 1, pair, next, i, comm, &requests[MANY + i]);
		RECEIVED(last, i, 4, comm), SENT(next, i, 4, comm);
	}
	CALL(Waitall, 2 * MANY, requests, MPI_STATUSES_IGNORE);
	MPI_Type_free(&pair);
	/* One after the other, as they come. */
	CALL(Irecv, to, 10, MPI_INT, last, 1, comm, &requests[0]);
	CALL(Issend, from, 10, MPI_INT, next, 1, comm, &requests[1]);
	CALL(Waitany, 2, requests, &index, MPI_STATUS_IGNORE);
	CALL(Waitany, 2, requests, &index, &status);
	CALL(Waitany, 2, requests, &index, &status); /* nothing is left */
	RECEIVED(last, 1, 40, comm), SENT(next, 1, 40, comm);
	CALL(Irecv, to, 10, MPI_INT, last, 2, comm, &requests[0]);
	CALL(Isend, from, 9, MPI_INT, next, 2, comm, &requests[1]);
	for (; done < 2; done += n)
		CALL(Waitsome, 2, requests, &n, indices, statuses);
	RECEIVED(last, 2, 36, comm), SENT(next, 2, 36, comm);
	/* By asking. */
	CALL(Irecv, to, 10, MPI_INT, last, 3, comm, &requests[0]);
	CALL(Isend, from, 8, MPI_INT, next, 3, comm, &requests[1]);
	for (flag = 0; !flag;)
		CALL(Test, &requests[0], &flag, MPI_STATUS_IGNORE);
	for (flag = 0; !flag;)
		CALL(Testall, 1, &requests[1], &flag, MPI_STATUSES_IGNORE);
	RECEIVED(last, 3, 32, comm), SENT(next, 3, 32, comm);
	CALL(Irecv, to, 10, MPI_INT, last, 4, comm, &requests[0]);
	CALL(Isend, from, 7, MPI_INT, next, 4, comm, &requests[1]);
	for (flag = 0; !flag;)
		CALL(Testany, 2, requests, &index, &flag, MPI_STATUS_IGNORE);
	for (done = 0; done < 1; done += n)
		CALL(Testsome, 2, requests, &n, indices, MPI_STATUSES_IGNORE);
	RECEIVED(last, 4, 28, comm), SENT(next, 4, 28, comm);
}

static void send_again_and_again(MPI_Comm comm)
{
	int next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS;
	MPI_Request requests[2];
	CALL(Recv_init, to, 10, MPI_INT, last, 5, comm, &requests[0]);
	CALL(Send_init, from, 6, MPI_INT, next, 5, comm, &requests[1]);
	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			CALL(Start, &requests[0]);
			CALL(Start, &requests[1]);
		} else {
			CALL(Startall, 2, requests);
		}
		CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
		RECEIVED(last, 5, 24, comm), SENT(next, 5, 24, comm);
	}
	CALL(Wait, &requests[1], MPI_STATUS_IGNORE); /* nothing was started */
	CALL(Request_free, &requests[0]);
	CALL(Request_free, &requests[1]);
}

static void exchange(MPI_Comm comm)
{
	int next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS, flag;
	MPI_Message found;
	MPI_Request request;
	MPI_Status status;
	CALL(Sendrecv, from, 4, MPI_DOUBLE, next, 6, to, 100, MPI_CHAR, last, 6, comm,
	     MPI_STATUS_IGNORE);
	SENT(next, 6, 32, comm), RECEIVED(last, 6, 32, comm);
	CALL(Sendrecv, from, 4, MPI_DOUBLE, MPI_PROC_NULL, 6, to, 100, MPI_CHAR, MPI_PROC_NULL, 6,
	     comm, &status);
	CALL(Sendrecv_replace, from, 5, MPI_DOUBLE, next, 7, last, 7, comm, &status);
	SENT(next, 7, 40, comm), RECEIVED(last, 7, 40, comm);
	/* Look first, then receive. */
	CALL(Isend, from, 11, MPI_BYTE, next, 8, comm, &request);
	CALL(Mprobe, MPI_ANY_SOURCE, 8, comm, &found, MPI_STATUS_IGNORE);
	CALL(Mrecv, to, 100, MPI_BYTE, &found, MPI_STATUS_IGNORE);
	CALL(Wait, &request, &status);
	SENT(next, 8, 11, comm), RECEIVED(last, 8, 11, comm);
	MPI_Request both[2];
	CALL(Isend, from, 12, MPI_BYTE, next, 9, comm, &both[0]);
	for (flag = 0; !flag;)
		CALL(Improbe, last, 9, comm, &flag, &found, &status);
	CALL(Imrecv, to, 100, MPI_BYTE, &found, &both[1]);
	CALL(Waitall, 2, both, MPI_STATUSES_IGNORE);
	SENT(next, 9, 12, comm), RECEIVED(last, 9, 12, comm);
	CALL(Isend, from, 13, MPI_BYTE, next, 10, comm, &request);
	CALL(Probe, last, 10, comm, MPI_STATUS_IGNORE);
	for (flag = 0; !flag;)
		CALL(Iprobe, last, 10, comm, &flag, &status);
	CALL(Recv, to, 100, MPI_BYTE, last, 10, comm, &status);
	CALL(Wait, &request, MPI_STATUS_IGNORE);
	SENT(next, 10, 13, comm), RECEIVED(last, 10, 13, comm);
	/* A receive that never happens is no message. */
	CALL(Irecv, to, 1, MPI_INT, last, 4711, comm, &request);
	CALL(Cancel, &request);
	CALL(Wait, &request, &status);
}

/* ---- collectives -------------------------------------------------------------------------------- */

static void collectives(MPI_Comm comm)
{
	int n, me, counts[RANKS], displs[RANKS], sum = 0;
	MPI_Datatype types[RANKS];
	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &me);
	int root = n - 1, world_root, i_root = me == root;
	int ranks[RANKS], in_order[RANKS] = {0, 1, 2, 3};
	MPI_Group group, world;
	MPI_Comm_group(comm, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_translate_ranks(group, n, in_order, world, ranks);
	world_root = ranks[root];
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	for (int i = 0; i < n; i++) {
		counts[i] = i + 1;
		displs[i] = sum;
		sum += counts[i];
		types[i] = MPI_INT;
	}
	CALL(Barrier, comm);
	TOGETHER("Barrier", -1, 0, 0, comm);
	CALL(Bcast, from, 3, MPI_INT, root, comm);
	TOGETHER("Broadcast", world_root, i_root ? 12 : 0, i_root ? 0 : 12, comm);
	CALL(Reduce, from, to, 4, MPI_DOUBLE, MPI_SUM, root, comm);
	TOGETHER("Reduce", world_root, 32, i_root ? 32 : 0, comm);
	CALL(Allreduce, from, to, 5, MPI_DOUBLE, MPI_SUM, comm);
	TOGETHER("AllReduce", -1, 40, 40, comm);
	CALL(Allreduce, MPI_IN_PLACE, to, 5, MPI_DOUBLE, MPI_SUM, comm);
	TOGETHER("AllReduce", -1, 40, 40, comm);
	CALL(Scan, from, to, 2, MPI_INT, MPI_SUM, comm);
	TOGETHER("Scan", -1, 8, 8, comm);
	CALL(Exscan, from, to, 2, MPI_INT, MPI_SUM, comm);
	TOGETHER("Scan", -1, 8, me ? 8 : 0, comm);
	CALL(Reduce_scatter, from, to, counts, MPI_INT, MPI_SUM, comm);
	TOGETHER("ReduceScatter", -1, 4 * sum, 4 * counts[me], comm);
	CALL(Reduce_scatter_block, from, to, 2, MPI_INT, MPI_SUM, comm);
	TOGETHER("ReduceScatter", -1, 8 * n, 8, comm);
	CALL(Gather, from, 2, MPI_INT, to, 2, MPI_INT, root, comm);
	TOGETHER("Gather", world_root, 8, i_root ? 8 * n : 0, comm);
	CALL(Gather, i_root ? MPI_IN_PLACE : (void *)from, 2, i_root ? MPI_DATATYPE_NULL : MPI_INT,
	     to, 2, MPI_INT, root, comm);
	TOGETHER("Gather", world_root, 8, i_root ? 8 * n : 0, comm);
	CALL(Gatherv, from, counts[me], MPI_INT, to, counts, displs, MPI_INT, root, comm);
	TOGETHER("Gather", world_root, 4 * counts[me], i_root ? 4 * sum : 0, comm);
	CALL(Scatter, from, 3, MPI_INT, to, 3, MPI_INT, root, comm);
	TOGETHER("Scatter", world_root, i_root ? 12 * n : 0, 12, comm);
	CALL(Scatterv, from, counts, displs, MPI_INT, to, counts[me], MPI_INT, root, comm);
	TOGETHER("Scatter", world_root, i_root ? 4 * sum : 0, 4 * counts[me], comm);
	CALL(Allgather, from, 2, MPI_INT, to, 2, MPI_INT, comm);
	TOGETHER("AllGather", -1, 8, 8 * n, comm);
	CALL(Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 2, MPI_INT, comm);
	TOGETHER("AllGather", -1, 8, 8 * n, comm);
	CALL(Allgatherv, from, counts[me], MPI_INT, to, counts, displs, MPI_INT, comm);
	TOGETHER("AllGather", -1, 4 * counts[me], 4 * sum, comm);
	CALL(Alltoall, from, 3, MPI_INT, to, 3, MPI_INT, comm);
	TOGETHER("AllToAll", -1, 12 * n, 12 * n, comm);
	int sends[RANKS], places[RANKS];
	for (int i = 0; i < n; i++)
		sends[i] = counts[me], places[i] = i * counts[me];
	CALL(Alltoallv, from, sends, places, MPI_INT, to, counts, displs, MPI_INT, comm);
	TOGETHER("AllToAll", -1, 4 * n * counts[me], 4 * sum, comm);
	for (int i = 0; i < n; i++)
		places[i] *= 4, displs[i] *= 4;
	CALL(Alltoallw, from, sends, places, types, to, counts, displs, types, comm);
	TOGETHER("AllToAll", -1, 4 * n * counts[me], 4 * sum, comm);
}

static void collectives_later(MPI_Comm comm)
{
	MPI_Request requests[3];
	CALL(Ibarrier, comm, &requests[0]);
	CALL(Iallreduce, from, to, 6, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
	CALL(Ibcast, from + 512, 7, MPI_DOUBLE, 0, comm, &requests[2]);
	CALL(Waitall, 3, requests, MPI_STATUSES_IGNORE);
	TOGETHER("Barrier", -1, 0, 0, comm);
	TOGETHER("AllReduce", -1, 48, 48, comm);
	TOGETHER("Broadcast", 0, rank ? 0 : 56, rank ? 56 : 0, comm);
}

/* A row of ranks that is not a ring: those at its ends have one neighbour. */
static void neighbors(void)
{
	MPI_Comm row;
	int length = RANKS, ring = 0, present = rank == 0 || rank == RANKS - 1 ? 1 : 2;
	CALL(Cart_create, MPI_COMM_WORLD, 1, &length, &ring, 0, &row);
	CALL(Neighbor_allgather, from, 2, MPI_INT, to, 2, MPI_INT, row);
	TOGETHER("NeighborAllGather", -1, 8 * present, 8 * present, row);
	CALL(Neighbor_alltoall, from, 3, MPI_INT, to, 3, MPI_INT, row);
	TOGETHER("NeighborAllToAll", -1, 12 * present, 12 * present, row);
	int same[2] = {2, 2}, at[2] = {0, 2};
	CALL(Neighbor_alltoallv, from, same, at, MPI_INT, to, same, at, MPI_INT, row);
	TOGETHER("NeighborAllToAll", -1, 8 * present, 8 * present, row);
	CALL(Comm_free, &row);
}

/* ---- communicators ------------------------------------------------------------------------------ */

static void communicators(void)
{
	MPI_Comm half, twin, inter, merged, some;
	MPI_Group world, group;
	/* In the other order: rank 3 is rank 0 of its half. */
	CALL(Comm_split, MPI_COMM_WORLD, rank % 2, -rank, &half);
	collectives(half);
	int me, other = rank ^ 2;
	MPI_Comm_rank(half, &me);
	if (me == 0) {
		CALL(Send, from, 1, MPI_INT, 1, 3, half);
		SENT(other, 3, 4, half);
	} else {
		CALL(Recv, to, 1, MPI_INT, 0, 3, half, MPI_STATUS_IGNORE);
		RECEIVED(other, 3, 4, half);
	}
	CALL(Comm_dup, half, &twin);
	MPI_Comm_set_name(twin, "twin");
	CALL(Barrier, twin);
	TOGETHER("Barrier", -1, 0, 0, twin);
	/* The same handle may come again, for another communicator. */
	CALL(Comm_free, &twin);
	CALL(Comm_dup, MPI_COMM_WORLD, &twin);
	CALL(Barrier, twin);
	TOGETHER("Barrier", -1, 0, 0, twin);
	/* Two groups that talk to each other. */
	CALL(Intercomm_create, half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 99, &inter);
	if (rank % 2 == 0) {
		int i_root = me == 0;
		CALL(Bcast, from, 2, MPI_INT, i_root ? MPI_ROOT : MPI_PROC_NULL, inter);
		TOGETHER("Broadcast", -1, i_root ? 8 : 0, 0, inter);
	} else {
		CALL(Bcast, to, 2, MPI_INT, 0, inter);
		TOGETHER("Broadcast", 2, 0, 8, inter);
	}
	CALL(Intercomm_merge, inter, rank % 2, &merged);
	CALL(Barrier, merged);
	TOGETHER("Barrier", -1, 0, 0, merged);
	CALL(Comm_free, &merged);
	CALL(Comm_free, &inter);
	/* Only its members make it. */
	int members[2] = {1, 3};
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, members, &group);
	if (rank % 2) {
		CALL(Comm_create_group, MPI_COMM_WORLD, group, 5, &some);
		CALL(Barrier, some);
		TOGETHER("Barrier", -1, 0, 0, some);
		CALL(Comm_free, &some);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	CALL(Comm_free, &twin);
	CALL(Comm_free, &half);
}

/* ---- memory of others, and files ------------------------------------------------------------------ */

static void transfers(const char *path)
{
	MPI_Win window;
	MPI_File file;
	int next = (rank + 1) % RANKS;
	static int shared[64];
	CALL(Win_create, shared, sizeof shared, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	CALL(Win_fence, 0, window);
	CALL(Put, from, 3, MPI_INT, next, 0, 3, MPI_INT, window);
	CALL(Get, to, 5, MPI_INT, next, 10, 5, MPI_INT, window);
	CALL(Accumulate, from, 2, MPI_INT, next, 20, 2, MPI_INT, MPI_SUM, window);
	CALL(Win_fence, 0, window);
	CALL(Win_free, &window);
	CALL(File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	CALL(File_write_at, file, rank * 80, from, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
	CALL(Barrier, MPI_COMM_WORLD);
	TOGETHER("Barrier", -1, 0, 0, MPI_COMM_WORLD);
	/* More than the file has. */
	CALL(File_read_at, file, rank * 80, to, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
	CALL(File_read_at_all, file, rank * 80, to, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
	CALL(File_close, &file);
	bytes("Put", 12), bytes("Get", 20), bytes("Accumulate", 8);
	bytes("File_write_at", 80), bytes("File_read_at", (RANKS - rank) * 80);
	bytes("File_read_at_all", 80);
}

#if MPI_VERSION >= 4
static void large_counts(void)
{
	CALL(Allreduce_c, from, to, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	TOGETHER("AllReduce", -1, 40, 40, MPI_COMM_WORLD);
}
#endif

int main(int argc, char **argv)
{
	int provided;
	char path[4096];
	if (argc != 2)
		return 2;
	CALL(Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	send_and_wait(MPI_COMM_WORLD);
	send_later(MPI_COMM_WORLD);
	send_again_and_again(MPI_COMM_WORLD);
	exchange(MPI_COMM_WORLD);
	collectives(MPI_COMM_WORLD);
	collectives_later(MPI_COMM_WORLD);
	neighbors();
	communicators();
	snprintf(path, sizeof path, "%s/data", argv[1]);
	transfers(path);
#if MPI_VERSION >= 4
	large_counts();
#endif
	CALL(Finalize);
	snprintf(path, sizeof path, "%s/did.%d", argv[1], rank);
	FILE *did = fopen(path, "w");
	for (int i = 0; did && tallies[i].name; i++)
		fprintf(did, "CALLS %d %s %d\n", rank, tallies[i].name, tallies[i].n);
	for (int i = 0; did && i < n_lines; i++)
		fprintf(did, "%s\n", lines[i]);
	return !did || fclose(did) != 0;
}
