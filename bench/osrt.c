/* SPDX-License-Identifier: Apache-2.0 */
/* osrt.c - what a call into the operating system costs: prints ns a call, the median of rounds, and of a clock read.
 *
 * osrt CALL: 'read' of a byte of /dev/zero, 'lock' and unlock of a free mutex, 'signal' of a condition that nobody
 * waits for. bench/run compares a plain run with recorded ones.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 20000, ROUNDS = 101 };

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

static double median_ns(const char *what)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	double rounds[ROUNDS];
	char byte;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (int r = 0; r < ROUNDS; r++) {
		int64_t start = now();
		if (strcmp(what, "read") == 0) {
			for (int i = 0; i < CALLS; i++)
				if (read(zero, &byte, 1) != 1)
					abort();
		} else if (strcmp(what, "lock") == 0) {
			for (int i = 0; i < CALLS; i++) {
				pthread_mutex_lock(&lock);
				pthread_mutex_unlock(&lock);
			}
		} else if (strcmp(what, "signal") == 0) {
			for (int i = 0; i < CALLS; i++)
				pthread_cond_signal(&condition);
		} else {
			for (int i = 0; i < CALLS; i++)
				now();
		}
		rounds[r] = (double)(now() - start) / CALLS;
	}
	close(zero);
	qsort(rounds, ROUNDS, sizeof *rounds, by_value);
	return rounds[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	printf("%.1f %.1f\n", median_ns(argc > 1 ? argv[1] : "read"), median_ns("clock"));
	return 0;
}
