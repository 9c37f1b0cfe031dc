/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - what CPU samples cost: samples SAMPLES FILE, or samples busy.
 *
 * The first makes a run of so many samples (chains of 24 addresses, 3000 different ones) and as many switches,
 * reads it, writes the report, and prints the seconds of both. The second keeps two threads busy for a while and
 * prints the ns of CPU time that this took: to be run with and without a profiler.
 */
#include <pthread.h>
#include <time.h>

#include "../tests/unit/make_spool.h"
#include "ingest/ingest.h"
#include "trace/file.h"

enum { DEPTH = 24, CHAINS = 3000, ROUNDS = 600 * 1000 };

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void put_one(struct made_spool *spool, uint32_t i, uint32_t random)
{
	struct rec_sample *sample =
		put_record(spool, REC_SAMPLE, 0, 1, sizeof *sample + DEPTH * sizeof(uint64_t));
	int64_t time = SPOOL_EPOCH + (int64_t)(i + 1) * 1000000;
	sample->time = time;
	sample->pid = sample->tid = 100;
	sample->weight = 1000000;
	sample->depth = DEPTH;
	uint64_t *addresses = (uint64_t *)(sample + 1);
	for (uint32_t a = 0; a < DEPTH; a++)
		addresses[a] = 0x400000 + (uint64_t)(random % CHAINS) / (a + 1) * 16 + a * 65536;
	struct rec_switch *event = put_record(spool, REC_SWITCH, i % 2, 1, sizeof *event);
	event->time = time + 1000;
	event->pid = event->tid = 100;
}

static int report(uint32_t samples, const char *path)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 0, 0, 0);
	run.control.recording = 1;
	uint32_t random = 1;
	for (uint32_t i = 0; i < samples; i++) {
		random = random * 1664525 + 1013904223;
		put_one(&spool, i, random >> 8);
	}
	end_spool(&spool);
	write_control(&run);
	struct hwy_err err;
	double began = now();
	struct hwy_trace *trace = ingest_run(run.path, NULL, &err);
	double read = now();
	bool written = trace && hwy_file_write(trace, path, true, NULL, &err);
	double done = now();
	remove_run(&run);
	if (!written) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%.3f %.3f %u\n", read - began, done - read, trace->n_spans);
	hwy_trace_free(trace);
	return 0;
}

static __attribute__((noinline)) uint64_t leaf(uint64_t x)
{
	for (int i = 0; i < 100; i++)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return x;
}

static __attribute__((noinline)) uint64_t nested(int depth, uint64_t x)
{
	return depth ? nested(depth - 1, leaf(x)) + 1 : leaf(x);
}

static void *work(void *seed)
{
	uint64_t *x = seed;
	for (int i = 0; i < ROUNDS; i++)
		*x = nested(i % 20, *x);
	return NULL;
}

static int busy(void)
{
	pthread_t threads[2];
	uint64_t seeds[2] = {1, 2};
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &seeds[i]) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	struct timespec used;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%lld\n", (long long)used.tv_sec * 1000000000 + used.tv_nsec);
	return seeds[0] == seeds[1];
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "busy") == 0)
		return busy();
	return argc == 3 ? report((uint32_t)strtoul(argv[1], NULL, 10), argv[2]) : 2;
}
