/* feeder.c - worker threads starve the main thread through a queue.
 *
 *     feeder [--workers N] [--items N] [--ms TIME]
 *
 * The workers prepare items and put them into a queue; the main thread takes them and does next to nothing with
 * each. Preparing takes longer than the workers can hide: the main thread waits in take(), and the time goes in
 * prepare(). Before: 1 worker. After: as many as there are cores.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 8 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t items[QUEUE];
	int count, first;
	int to_prepare;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .filled = PTHREAD_COND_INITIALIZER,
	   .emptied = PTHREAD_COND_INITIALIZER};

static double prepare_ms = 5;

static double seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Burns a CPU for so long: what decoding an image would do. */
static __attribute__((noinline)) uint64_t prepare(uint64_t item)
{
	double end = seconds(CLOCK_THREAD_CPUTIME_ID) + prepare_ms / 1e3;
	uint64_t hash = item;
	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			hash = (hash ^ (uint64_t)i) * UINT64_C(0xff51afd7ed558ccd);
	return hash;
}

static void *work(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "worker");
	for (;;) {
		pthread_mutex_lock(&queue.lock);
		int item = queue.to_prepare--;
		pthread_mutex_unlock(&queue.lock);
		if (item <= 0)
			return NULL;
		uint64_t made = prepare((uint64_t)item);
		pthread_mutex_lock(&queue.lock);
		while (queue.count == QUEUE)
			pthread_cond_wait(&queue.emptied, &queue.lock);
		queue.items[(queue.first + queue.count++) % QUEUE] = made;
		pthread_cond_signal(&queue.filled);
		pthread_mutex_unlock(&queue.lock);
	}
}

static __attribute__((noinline)) uint64_t take(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.count == 0)
		pthread_cond_wait(&queue.filled, &queue.lock);
	uint64_t item = queue.items[queue.first];
	queue.first = (queue.first + 1) % QUEUE;
	queue.count--;
	pthread_cond_signal(&queue.emptied);
	pthread_mutex_unlock(&queue.lock);
	return item;
}

int main(int argc, char **argv)
{
	int workers = 1, items = 100;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--workers") == 0)
			workers = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--items") == 0)
			items = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--ms") == 0)
			prepare_ms = atof(argv[i + 1]);
	}
	if (workers < 1 || workers > 256 || items < 1) {
		fprintf(stderr, "usage: feeder [--workers 1..256] [--items N] [--ms TIME]\n");
		return 2;
	}
	queue.to_prepare = items;
	pthread_t threads[256];
	double start = seconds(CLOCK_MONOTONIC);
	for (int i = 0; i < workers; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	volatile uint64_t used = 0;
	for (int i = 0; i < items; i++)
		used = used + take();
	double elapsed = seconds(CLOCK_MONOTONIC) - start;
	for (int i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	printf("feeder %d workers: %.3f ms/step (%d steps)\n", workers, 1e3 * elapsed / items,
	       items);
	return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
