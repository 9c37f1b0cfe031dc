/* SPDX-License-Identifier: Apache-2.0 */
/* acknowledge COUNTS THREADS MS US - calls usleep(US) in several threads for some ms, and counts each call in the
 * file COUNTS after it has returned: a number of 64 bits for each thread. The file is shared memory, so that the counts
 * survive the death of the process: what is counted there was recorded before, and must be in the report.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

static _Atomic uint64_t *counts;
static int64_t end_ns;
static useconds_t pause_us;

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *call_often(void *count)
{
	while (now_ns() < end_ns) {
		usleep(pause_us);
		atomic_fetch_add((_Atomic uint64_t *)count, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int threads = atoi(argv[2]);
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || threads < 1 || threads > MOST_THREADS ||
	    ftruncate(fd, MOST_THREADS * sizeof *counts) != 0)
		return 2;
	counts = mmap(NULL, MOST_THREADS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	close(fd);
	if (counts == MAP_FAILED)
		return 2;
	end_ns = now_ns() + atoll(argv[3]) * 1000000;
	pause_us = (useconds_t)atoi(argv[4]);
	pthread_t others[MOST_THREADS];
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, call_often, (void *)&counts[i]) != 0)
			return 2;
	call_often((void *)&counts[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return 0;
}
