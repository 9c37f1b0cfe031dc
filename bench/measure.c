/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - how much CPU time a command takes, and how much memory at most.
 *
 * measure ROUNDS COMMAND…: prints the median of the rounds in ns of CPU time and the peak of resident bytes. The
 * command's output goes to /dev/null.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t ns_of(struct timeval time)
{
	return time.tv_sec * INT64_C(1000000000) + time.tv_usec * INT64_C(1000);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Its time in ns, or -1; *peak grows to its resident bytes. */
static int64_t run(char **command, int64_t *peak)
{
	struct rusage usage;
	int status;
	pid_t child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
		return -1;
	int64_t bytes = usage.ru_maxrss * INT64_C(1024);
	*peak = bytes > *peak ? bytes : *peak;
	return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0;
	int64_t took[100], peak = 0;
	if (rounds < 1 || rounds > 100)
		return fprintf(stderr, "usage: measure ROUNDS COMMAND...\n"), 2;
	for (int i = 0; i < rounds; i++)
		if ((took[i] = run(argv + 2, &peak)) < 0)
			return fprintf(stderr, "measure: %s failed\n", argv[2]), 2;
	qsort(took, (size_t)rounds, sizeof *took, ascending);
	printf("%" PRId64 " %" PRId64 "\n", took[rounds / 2], peak);
	return 0;
}
