/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_clocks.c - reads the clock of rank 0 from ranks that have another clock, after MPI_Init
 * and before MPI_Finalize.
 *
 * Only where every rank is recorded (control.every_rank): a rank that is not would never answer,
 * and the job would hang. All ranks say which clock they have, on a communicator of our own. The
 * first rank of each clock that is not rank 0's asks rank 0 for the time, some times in a row;
 * the quickest answer counts: the peer's clock was read between the question and the answer, so
 * it is wrong by at most half of what they took. Ranks that share a clock need not ask. Ranks
 * take turns in the order of their numbers, so that rank 0 answers one at a time. Nobody waits
 * longer than PATIENCE_NS for a rank that does not come: a program may end without MPI_Finalize.
 */
#include <sys/stat.h>

#include "collect/mpi/mpi.h"
#include "collect/sys.h"

enum { ROUNDS = 32, TAG = 1 };
static const int64_t PATIENCE_NS = INT64_C(10) * 1000 * 1000 * 1000;

static struct {
	int (*dup)(mpi_word, void *);
	int (*rank)(mpi_word, int *);
	int (*size)(mpi_word, int *);
	int (*parent)(void *);
	int (*all_gather)(const void *, int, mpi_word, void *, int, mpi_word, mpi_word);
	int (*send)(const void *, int, mpi_word, int, int, mpi_word);
	int (*receive)(void *, int, mpi_word, int, int, mpi_word, void *);
	int (*test)(void *, int *, void *);
	int (*cancel)(void *);
	int (*request_free)(void *);
	void *(*no_more)(void);
} use;
static const char *const use_names[] = {
	"PMPI_Comm_dup",  "PMPI_Comm_rank",    "PMPI_Comm_size", "PMPI_Comm_get_parent",
	"PMPI_Allgather", "PMPI_Send",         "PMPI_Irecv",     "PMPI_Test",
	"PMPI_Cancel",    "PMPI_Request_free",
};
enum { USED = sizeof use_names / sizeof *use_names };
static_assert(offsetof(__typeof__(use), no_more) == USED * sizeof(void *), "in the same order");

static mpi_word channel; /* the communicator of our own; 0: clocks are not compared */
static int own_rank, ranks;
static uint64_t *clock_of; /* of each rank */

/* A number that processes have in common which read the same CLOCK_MONOTONIC: of the boot, and
 * of the time namespace. */
static uint64_t own_clock(void)
{
	char boot[64] = "";
	struct stat about;
	int fd = sys_open("/proc/sys/kernel/random/boot_id", O_RDONLY);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	if (fd >= 0) {
		sys_read(fd, boot, sizeof boot - 1);
		sys_close(fd);
	}
	for (const char *c = boot; *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	if (stat("/proc/self/ns/time", &about) == 0)
		hash = (hash ^ about.st_ino) * UINT64_C(0x100000001b3);
	return hash;
}

static bool find_functions(void)
{
	void **into = (void **)&use;
	for (size_t i = 0; i < USED; i++)
		if (!(into[i] = mpi_library_helper(use_names[i])))
			return false;
	return true;
}

/* Spawned processes have a world of their own, not all of whose ranks need be recorded. */
static bool is_spawned(void)
{
	uint64_t parent = 0;
	return use.parent(&parent) != 0 ||
	       mpi_handle_at((mpi_word)&parent, 0) != mpi_library.comm_null;
}

/* ---- questions and answers ------------------------------------------------------------------- */

static void put_ping(int64_t time, int64_t peer_time, int64_t error)
{
	struct rec_ping *record = collect_reserve(REC_PING, 1);
	if (!record)
		return;
	record->head.value = 0;
	record->time = time;
	record->peer_time = peer_time;
	record->error = error;
	collect_publish(record);
}

static bool say(int64_t time, int to)
{
	return use.send(&time, 8, mpi_library.byte, to, TAG, channel) == 0;
}

/* 'heard' outlives this function: where nobody speaks, the receive is only cancelled. */
static bool hear(int64_t *time, int from)
{
	static int64_t heard;
	enum { SPINS = 1000 }; /* then somebody else may have the CPU */
	uint64_t status[MPI_MOST_STATUS / 8], request = 0;
	int is_done = 0;
	int64_t until = collect_now() + PATIENCE_NS;
	if (use.receive(&heard, 8, mpi_library.byte, from, TAG, channel, &request) != 0)
		return false;
	for (unsigned i = 1; !is_done; i++) {
		if (use.test(&request, &is_done, status) != 0)
			return false;
		if (!is_done && i % SPINS == 0) {
			syscall(SYS_sched_yield);
			if (collect_now() > until)
				break;
		}
	}
	*time = heard;
	if (!is_done) {
		use.cancel(&request);
		use.request_free(&request);
	}
	return is_done;
}

static void ask_for_time(void)
{
	int64_t best = INT64_MAX, time = 0, peer_time = 0, answer;
	for (int i = 0; i < ROUNDS; i++) {
		int64_t before = collect_now();
		if (!say(before, 0) || !hear(&answer, 0))
			return;
		int64_t took = collect_now() - before;
		if (took < best) {
			best = took;
			time = before + took / 2;
			peer_time = answer;
		}
	}
	put_ping(time, peer_time, best / 2 + 1);
}

static void tell_time(int rank)
{
	int64_t question;
	for (int i = 0; i < ROUNDS; i++)
		if (!hear(&question, rank) || !say(collect_now(), rank))
			return;
}

/* Whether no rank before this one has its clock. */
static bool is_first_of_clock(int rank)
{
	for (int i = 0; i < rank; i++)
		if (clock_of[i] == clock_of[rank])
			return false;
	return true;
}

static void compare(void)
{
	if (own_rank != 0) {
		if (is_first_of_clock(own_rank))
			ask_for_time();
		return;
	}
	for (int i = 1; i < ranks; i++)
		if (is_first_of_clock(i))
			tell_time(i);
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Memory for the clocks of all ranks: a rank that has none could not take part, and the others
 * would wait for it. */
static uint64_t *room_for_clocks(int n)
{
	enum { MANY = 4096 };
	static uint64_t clocks[MANY];
	return n <= MANY ? clocks : sys_memory((size_t)n * sizeof *clocks);
}

void mpi_clocks_begin(void)
{
	uint64_t made = 0, own = own_clock();
	if (!collect_control->every_rank || !mpi_library.byte || !find_functions() ||
	    is_spawned() || use.rank(mpi_library.world, &own_rank) != 0 ||
	    use.size(mpi_library.world, &ranks) != 0 || ranks < 2 ||
	    use.dup(mpi_library.world, &made) != 0)
		return;
	mpi_word communicator = mpi_handle_at((mpi_word)&made, 0);
	clock_of = room_for_clocks(ranks);
	if (!clock_of || use.all_gather(&own, 8, mpi_library.byte, clock_of, 8, mpi_library.byte,
					communicator) != 0)
		return;
	channel = communicator;
	compare();
}

/* The communicator is freed only where all ranks are sure to do so, which nobody knows:
 * MPI_Finalize frees it. */
void mpi_clocks_end(void)
{
	if (channel)
		compare();
	channel = 0;
}
