/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - programs that make a recording large.
 *
 * fill threads N AT_A_TIME        N threads that end after a short call, so many at a time
 * fill disk FILE BYTES MS SEED    for MS milliseconds or longer: threads and processes that make short calls without
 *                                 a pause, while FILE grows to BYTES in steps; SEED decides how many and how
 *                                 fast. Prints how many writes to FILE failed; the exit status is 1 then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t noise_state;

static uint64_t noise(uint64_t below)
{
	noise_state = noise_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (noise_state >> 33) % below;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static void *sleep_shortly(void *unused)
{
	usleep(2);
	return unused;
}

static int run_threads(int n, int at_a_time)
{
	pthread_t *threads = calloc((size_t)at_a_time, sizeof *threads);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (int done = 0; done < n; done += at_a_time) {
		for (int i = 0; i < at_a_time; i++)
			if (pthread_create(&threads[i], &small, sleep_shortly, NULL) != 0)
				return 2;
		for (int i = 0; i < at_a_time; i++)
			pthread_join(threads[i], NULL);
	}
	free(threads);
	return 0;
}

/* ---- the disk ----------------------------------------------------------------------------------- */

static int64_t end_ms;

static void *call_without_pause(void *unused)
{
	int ends[2];
	char byte = 0;
	if (pipe(ends) != 0)
		return unused;
	while (now_ms() < end_ms)
		for (int i = 0; i < 64; i++)
			if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
				return unused;
	close(ends[0]);
	close(ends[1]);
	return unused;
}

static void start_callers(void)
{
	uint64_t threads = 1 + noise(3), processes = noise(3);
	for (uint64_t i = 0; i < processes; i++)
		if (fork() == 0) {
			call_without_pause(NULL);
			exit(0);
		}
	for (uint64_t i = 0; i < threads; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, call_without_pause, NULL) == 0)
			pthread_detach(thread);
	}
}

static int run_disk(const char *path, uint64_t bytes, int64_t ms)
{
	static char block[1 << 20];
	memset(block, 1, sizeof block);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int64_t begin_ms = now_ms();
	end_ms = begin_ms + ms;
	/* The file has its full size after a part of the time, and stays so. */
	int64_t full_after_ms = ms / 4 + (int64_t)noise((uint64_t)ms / 2);
	uint64_t step = UINT64_C(1) << (12 + noise(9)), written = 0, errors = 0;
	start_callers();
	while (now_ms() < end_ms || written < bytes) {
		int64_t passed = now_ms() - begin_ms;
		uint64_t due = passed >= full_after_ms
				       ? bytes
				       : bytes * (uint64_t)passed / (uint64_t)full_after_ms;
		while (written < due) {
			size_t size = bytes - written < step ? (size_t)(bytes - written) : step;
			if (write(fd, block, size) != (ssize_t)size)
				errors++;
			written += size;
		}
		usleep(1000 + (useconds_t)noise(20000));
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	printf("%llu bytes, errors %llu\n", (unsigned long long)written,
	       (unsigned long long)errors);
	return errors != 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "threads") == 0)
		return run_threads(atoi(argv[2]), atoi(argv[3]));
	if (argc != 6 || strcmp(argv[1], "disk") != 0)
		return 2;
	noise_state = strtoull(argv[5], NULL, 10);
	return run_disk(argv[2], strtoull(argv[3], NULL, 10), atoll(argv[4]));
}
