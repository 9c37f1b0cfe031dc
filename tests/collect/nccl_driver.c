/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_driver.c - calls the profiler plugin as NCCL does, in any version of the interface, and says what it did.
 *
 * nccl_driver VERSION [flood]   Opens NCCL_PROFILER_PLUGIN as NCCL opens it, makes a communicator with two ranks in this
 * process, and tells operations of both, with groups, channels of kernels and proxies on a second thread; then what may go
 * wrong: a proxy for another process, a parent that is gone, ends that come late, twice, or for nothing. 'flood': more
 * proxies at a time than anybody keeps.
 *
 * Descriptors are written byte by byte at the offsets that NCCL's structs have on 64-bit machines, so that a mistake in our
 * declarations (collect/abi/nccl.h) does not repeat itself here.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	GROUP = 1,
	COLL = 2,
	P2P = 4,
	PROXY_OP = 8,
	PROXY_STEP = 16,
	PROXY_CTRL = 32,
	KERNEL_CH = 64
};
enum { GROUP_API = 256, COLL_API = 512, P2P_API = 1024, KERNEL_LAUNCH = 2048, CE_COLL = 4096 };
enum { RANKS = 2, CHANNELS = 2, STEPS = 4 };
static const uint64_t HASH = 0xfeedc0de12345678u;
static const uint64_t GPU_AHEAD =
	UINT64_C(777000000000000); /* the GPU's clock is ahead of ours by this, ns */

static int version;
static void *context[RANKS];
static int (*start_event)(void *, void **, void *);
static int (*stop_event)(void *);
static int (*record_state)(void *, int, void *);
static int failures;

struct descriptor {
	_Alignas(8) char bytes[192];
};
static void put(struct descriptor *d, size_t at, const void *value, size_t size)
{
	memcpy(d->bytes + at, value, size);
}
#define PUT(d, at, type, value) put(d, at, &(type){value}, sizeof(type))

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct descriptor describe(int type, void *parent, int rank)
{
	struct descriptor d;
	memset(&d, 0xa5, sizeof d); /* NCCL leaves what a version does not have as it is */
	if (version < 5)
		PUT(&d, 0, uint8_t, (uint8_t)type);
	else
		PUT(&d, 0, uint64_t, (uint64_t)type);
	PUT(&d, 8, void *, parent);
	PUT(&d, 16, int, rank);
	return d;
}

static void *start(int rank, struct descriptor *d)
{
	void *handle = (void *)-1;
	failures += start_event(context[rank], &handle, d) != 0 || handle == (void *)-1;
	return handle;
}
static void stop(void *handle)
{
	failures += stop_event(handle) != 0;
}
static void state(void *handle, int what, uint64_t argument)
{
	uint64_t arguments[2] = {argument, 0};
	failures += record_state(handle, what, arguments) != 0;
}

/* ---- operations ----------------------------------------------------------------------------------- */

static const char *const functions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
					"AllReduce", "SendRecv", "Send",      "Recv"};
enum { BROADCAST, REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, SEND_RECV, SEND, RECV };

static void *start_collective(int rank, int function, uint64_t count, uint64_t sequence, int root,
			      void *plan, void *call)
{
	struct descriptor d = describe(COLL, version < 5 ? plan : call, rank);
	/* NCCL turns the elements of these two into bytes. */
	bool in_bytes = function == ALL_GATHER || function == BROADCAST;
	uint64_t traffic =
		count * 4 * (function == ALL_GATHER || function == REDUCE_SCATTER ? RANKS : 1);
	size_t count_at = version < 4 ? 72 : 56;
	if (version < 4) {
		PUT(&d, 24, const char *, "world");
		PUT(&d, 32, uint64_t, HASH);
	}
	PUT(&d, version < 4 ? 40 : 24, uint64_t, sequence);
	PUT(&d, count_at, uint64_t, in_bytes ? count * 4 : count);
	PUT(&d, version < 4 ? 80 : 64, int, root);
	if (version == 1) {
		PUT(&d, 48, uint8_t, (uint8_t)function);
		PUT(&d, 84, uint8_t, in_bytes ? 0 : 7);
		PUT(&d, 96, uint64_t, traffic);
		PUT(&d, 104, uint8_t, CHANNELS);
		PUT(&d, 106, uint8_t, 1);
		PUT(&d, 107, uint8_t, 2);
	} else {
		size_t rest = version == 2 ? 104 : version == 3 ? 96 : 80;
		PUT(&d, version < 4 ? 48 : 32, const char *, functions[function]);
		PUT(&d, version < 4 ? 88 : 72, const char *, in_bytes ? "ncclInt8" : "ncclFloat32");
		if (version == 2)
			PUT(&d, 96, uint64_t, traffic);
		PUT(&d, rest, uint8_t, CHANNELS);
		PUT(&d, rest + 8, const char *, "RING");
		PUT(&d, rest + 16, const char *, "SIMPLE");
		if (version >= 5)
			PUT(&d, 104, void *, plan);
	}
	return start(rank, &d);
}

static void *start_message(int rank, int function, uint64_t count, int peer, void *plan, void *call)
{
	struct descriptor d = describe(P2P, version < 5 ? plan : call, rank);
	if (version < 4) {
		PUT(&d, 24, const char *, "world");
		PUT(&d, 32, uint64_t, HASH);
		PUT(&d, 64, uint64_t, count);
		PUT(&d, 72, int, peer);
		if (version == 1) {
			PUT(&d, 40, uint8_t, (uint8_t)function);
			PUT(&d, 56, uint8_t, 9);
		} else {
			PUT(&d, 40, const char *, functions[function]);
			PUT(&d, 56, const char *, "ncclBfloat16");
		}
	} else {
		PUT(&d, 24, const char *, functions[function]);
		PUT(&d, 40, const char *, "ncclBfloat16");
		PUT(&d, 48, uint64_t, count);
		PUT(&d, 56, int, peer);
		PUT(&d, 60, uint8_t, CHANNELS);
		PUT(&d, 64, void *, plan);
	}
	return start(rank, &d);
}

/* The calls of the program, which only versions from 5 on tell. */
static void *start_group_call(int rank, int depth)
{
	struct descriptor d = describe(GROUP_API, NULL, rank);
	PUT(&d, 24, uint8_t, 0);
	PUT(&d, 28, int, depth);
	return version < 5 ? NULL : start(rank, &d);
}
static void *start_call(int rank, int function, uint64_t count, int root, void *group)
{
	bool is_message = function >= SEND_RECV;
	struct descriptor d = describe(is_message ? P2P_API : COLL_API, group, rank);
	if (version < 5)
		return NULL;
	PUT(&d, 24, const char *, functions[function]);
	PUT(&d, 32, uint64_t, count);
	PUT(&d, 40, const char *, is_message ? "ncclBfloat16" : "ncclFloat32");
	PUT(&d, is_message ? 48 : 56, void *, (void *)&failures);
	PUT(&d, is_message ? 56 : 64, uint8_t, 0);
	if (!is_message)
		PUT(&d, 48, int, root);
	return start(rank, &d);
}

/* ---- what NCCL's own thread tells ------------------------------------------------------------------ */

static void *start_proxy(int rank, void *operation, int pid, int channel, bool is_send)
{
	struct descriptor d = describe(PROXY_OP, operation, rank);
	PUT(&d, 24, int, pid);
	PUT(&d, 28, uint8_t, (uint8_t)channel);
	PUT(&d, 32, int, 1 - rank);
	PUT(&d, 36, int, STEPS);
	PUT(&d, 40, int, 1 << 19);
	PUT(&d, 44, int, is_send);
	return start(rank, &d);
}
static void *start_step(int rank, void *proxy, int number)
{
	struct descriptor d = describe(PROXY_STEP, proxy, rank);
	PUT(&d, 24, int, number);
	return start(rank, &d);
}

static void proxy_works(int rank, void *operation, int channel, bool is_send)
{
	static const int send_states[] = {8, 20, 9}, receive_states[] = {10, 11, 12};
	void *proxy = start_proxy(rank, operation, getpid(), channel, is_send), *steps[STEPS];
	if (version >= 4)
		state(proxy, 19, 0);
	for (int i = 0; i < STEPS; i++)
		steps[i] = start_step(rank, proxy, i);
	for (int s = 0; s < 3; s++)
		for (int i = 0; i < STEPS; i++)
			if (!is_send && receive_states[s])
				state(steps[i], receive_states[s], 4096);
			else if (is_send && (send_states[s] != 20 || version >= 4))
				state(steps[i], send_states[s], 4096);
			else if (version < 4) /* credits are a state of the operation there */
				state(proxy, 1, 4096), state(proxy, 2, 4096);
	for (int i = STEPS - 1; i >= 0; i--)
		stop(steps[i]);
	stop(proxy);
}

static void kernel_works(int rank, void *operation)
{
	void *channels[CHANNELS];
	for (int c = 0; version >= 3 && c < CHANNELS; c++) {
		struct descriptor d = describe(KERNEL_CH, operation, rank);
		PUT(&d, 24, uint8_t, (uint8_t)c);
		if (version >= 4)
			PUT(&d, 32, uint64_t, clock_ns() + GPU_AHEAD);
		channels[c] = start(rank, &d);
	}
	for (int c = CHANNELS - 1; version >= 3 && c >= 0; c--) {
		if (version >= 4)
			state(channels[c], 22, clock_ns() + GPU_AHEAD);
		stop(channels[c]);
	}
}

struct work {
	int rank;
	void *operation;
};
static void *other_thread(void *argument)
{
	const struct work *work = argument;
	proxy_works(work->rank, work->operation, 0, true);
	proxy_works(work->rank, work->operation, 1, false);
	kernel_works(work->rank, work->operation);
	return NULL;
}
static void let_nccl_work(int rank, void *operation)
{
	pthread_t thread;
	struct work work = {rank, operation};
	if (pthread_create(&thread, NULL, other_thread, &work) == 0)
		pthread_join(thread, NULL);
}

/* ---- the program ----------------------------------------------------------------------------------- */

static void *start_plan(int rank)
{
	struct descriptor d = describe(GROUP, NULL, rank);
	return start(rank, &d);
}

static void collective(int rank, int function, uint64_t count, uint64_t sequence, int root)
{
	void *group = start_group_call(rank, 1),
	     *call = start_call(rank, function, count, root, group);
	if (call)
		stop(call);
	void *plan = start_plan(rank);
	void *operation = start_collective(rank, function, count, sequence, root, plan, call);
	stop(operation);
	stop(plan);
	if (group)
		stop(group);
	let_nccl_work(rank,
		      operation); /* the operation is over for its thread: its handle is not */
}

/* A send and a receive in one group of the program. */
static void exchange(int rank, uint64_t count)
{
	void *group = start_group_call(rank, 2);
	void *send = start_call(rank, SEND, count, 0, group);
	if (send)
		stop(send);
	void *receive = start_call(rank, RECV, count, 0, group);
	if (receive)
		stop(receive);
	void *plan = start_plan(rank);
	void *first = start_message(rank, SEND, count, 1 - rank, plan, send);
	void *second = start_message(rank, RECV, count, 1 - rank, plan, receive);
	stop(second);
	stop(first);
	stop(plan);
	if (group)
		stop(group);
	let_nccl_work(rank, second);
	let_nccl_work(rank, first);
}

/* A collective by copy engines: version 6. */
static void copies(int rank, uint64_t count, uint64_t sequence)
{
	struct descriptor d = describe(CE_COLL, NULL, rank);
	if (version < 6)
		return;
	PUT(&d, 24, uint64_t, sequence);
	PUT(&d, 32, const char *, "AllGather");
	PUT(&d, 56, uint64_t, count);
	PUT(&d, 64, int, 0);
	PUT(&d, 72, const char *, "ncclFloat32");
	PUT(&d, 80, const char *, "none");
	PUT(&d, 104, void *, NULL);
	stop(start(rank, &d));
}

static void go_wrong(void)
{
	/* NCCL's thread works for another process: what it names as the operation is nothing here. */
	stop(start_proxy(0, (void *)0xdeadbeef0, getpid() + 1, 0, true));
	void *proxy = start_proxy(0, NULL, getpid(), 0, true);
	void *step = start_step(0, proxy, 0);
	stop(proxy);
	state(step, 9, 1); /* its parent is gone */
	state(proxy, 19, 0);
	void *orphan = start_step(0, proxy, 1);
	if (orphan)
		state(orphan, 9, 1), stop(orphan);
	void *reused = start_proxy(0, NULL, getpid(), 1, false); /* takes the place of 'proxy' */
	stop(proxy);
	stop(step);
	stop(step);
	stop(reused);
	stop(reused);
	stop(NULL);
	state(NULL, 9, 0);
	state((void *)UINTPTR_MAX, 9, 0);
	stop((void *)(UINTPTR_MAX & ~(uintptr_t)5));
	/* Types that no version has, or that were not asked for. */
	for (int type = PROXY_CTRL; type; type = type == PROXY_CTRL ? 128
						 : type == 128      ? KERNEL_LAUNCH
								    : 0) {
		struct descriptor d = describe(type, NULL, 0);
		void *handle = type < 256 || version >= 5 ? start(0, &d) : NULL;
		if (handle)
			stop(handle);
	}
}

static void flood(void)
{
	enum { MANY = 20000 };
	static void *handles[MANY];
	int given = 0;
	for (int i = 0; i < MANY; i++) {
		handles[i] = start_proxy(0, NULL, getpid(), 0, true);
		given += handles[i] != NULL;
	}
	for (int i = 0; i < MANY; i++)
		if (handles[i])
			stop(handles[i]);
	printf("flood: %d of %d kept\n", given, MANY);
}

static bool load(void)
{
	char symbol[32];
	const char *path = getenv("NCCL_PROFILER_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
	void **table = library ? dlsym(library, symbol) : NULL;
	if (!table)
		return false;
	/* name, init, startEvent, stopEvent, recordEventState, finalize */
	memcpy(&start_event, &table[2], sizeof(void *));
	memcpy(&stop_event, &table[3], sizeof(void *));
	memcpy(&record_state, &table[4], sizeof(void *));
	int (*old)(void **, int *);
	int (*v4)(void **, int *, const char *, uint64_t, int, int, int, void *);
	int (*v5)(void **, uint64_t, int *, const char *, int, int, int, void *);
	memcpy(&old, &table[1], sizeof old);
	memcpy(&v4, &table[1], sizeof v4);
	memcpy(&v5, &table[1], sizeof v5);
	for (int rank = 0; rank < RANKS; rank++) {
		int mask = -1;
		int result =
			version < 4 ? old(&context[rank], &mask)
			: version == 4
				? v4(&context[rank], &mask, "world", HASH, 1, RANKS, rank, NULL)
				: v5(&context[rank], HASH, &mask, "world", 1, RANKS, rank, NULL);
		failures += result != 0 || mask == -1;
		printf("mask %x\n", (unsigned)mask & 0xfffu);
	}
	/* NCCL closes the library with the last communicator, and opens it again. */
	dlclose(library);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

int main(int argc, char **argv)
{
	version = argc > 1 ? atoi(argv[1]) : 6;
	if (!load()) {
		printf("no plugin\n");
		return 3;
	}
	if (argc > 2) {
		flood();
		return failures != 0;
	}
	for (uint64_t i = 0; i < 10; i++)
		for (int rank = 0; rank < RANKS; rank++)
			collective(rank, ALL_REDUCE, 1000, i, 0);
	for (uint64_t i = 0; i < 3; i++)
		for (int rank = 0; rank < RANKS; rank++)
			collective(rank, ALL_GATHER, 500, i, 0);
	for (uint64_t i = 0; i < 2; i++)
		for (int rank = 0; rank < RANKS; rank++) {
			collective(rank, REDUCE_SCATTER, 250, i, 0);
			collective(rank, BROADCAST, 100, i, 1);
			collective(rank, REDUCE, 100, i, 1);
		}
	for (int i = 0; i < 4; i++)
		for (int rank = 0; rank < RANKS; rank++)
			exchange(rank, 64);
	for (int rank = 0; rank < RANKS; rank++)
		copies(rank, 4096, 0);
	go_wrong();
	printf("version %d: %d failures\n", version, failures);
	return failures != 0;
}
