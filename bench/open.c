/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - how long opening a recording takes, and how much memory at most.
 *
 * open FILE [ROUNDS]: prints spans, the median of the rounds in ns of CPU time (others may share the
 * machine), and the peak of resident bytes above what the program itself takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "import/import.h"

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t status_bytes(const char *key)
{
	char line[256];
	long long kb = 0;
	FILE *in = fopen("/proc/self/status", "r");
	while (in && fgets(line, sizeof line, in))
		if (strncmp(line, key, strlen(key)) == 0)
			kb = atoll(line + strlen(key));
	if (in)
		fclose(in);
	return kb * 1024;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	int64_t took[100], before = status_bytes("VmRSS:");
	uint32_t spans = 0;
	if (argc < 2 || rounds < 1 || rounds > 100)
		return fprintf(stderr, "usage: open FILE [ROUNDS]\n"), 2;
	for (int i = 0; i < rounds; i++) {
		struct hwy_err err;
		int64_t begin = now();
		struct hwy_trace *trace = hwy_open(argv[1], NULL, &err);
		took[i] = now() - begin;
		if (!trace)
			return fprintf(stderr, "open: %s\n", err.text), 2;
		spans = trace->n_spans;
		hwy_trace_free(trace);
	}
	qsort(took, (size_t)rounds, sizeof *took, ascending);
	printf("%" PRIu32 " %" PRId64 " %" PRId64 "\n", spans, took[rounds / 2],
	       status_bytes("VmHWM:") - before);
	return 0;
}
