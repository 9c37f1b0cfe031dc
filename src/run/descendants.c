/* SPDX-License-Identifier: Apache-2.0 */
/* descendants.c - the processes that were started by headway, directly or not, as /proc tells. */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/run.h"

struct process {
	pid_t pid, parent;
	bool is_descendant;
};

/* The parent's pid in /proc/PID/stat, "PID (NAME) STATE PARENT ...". The name may hold any
 * character, so the last ')' ends it. */
static pid_t parent_of(const char *pid)
{
	char path[64], line[512];
	int parent = 0;
	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	size_t n = fread(line, 1, sizeof line - 1, file);
	fclose(file);
	line[n] = '\0';
	const char *end = strrchr(line, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static struct process *list_all(uint32_t *n)
{
	struct process *list = NULL;
	uint32_t cap = 0;
	*n = 0;
	DIR *proc = opendir("/proc");
	for (const struct dirent *entry; proc && (entry = readdir(proc));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		HWY_GROW(list, *n, cap);
		list[(*n)++] = (struct process){
			.pid = (pid_t)strtol(entry->d_name, NULL, 10),
			.parent = parent_of(entry->d_name),
		};
	}
	if (proc)
		closedir(proc);
	return list;
}

static bool is_descendant_pid(const struct process *list, uint32_t n, pid_t pid)
{
	if (pid == getpid())
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].pid == pid)
			return list[i].is_descendant;
	return false;
}

void descendants_signal(int number)
{
	uint32_t n;
	struct process *list = list_all(&n);
	/* The search is repeated, since children may be listed before their parents. */
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < n; i++)
			if (!list[i].is_descendant && list[i].parent > 1 &&
			    is_descendant_pid(list, n, list[i].parent))
				more = list[i].is_descendant = true;
	}
	for (uint32_t i = 0; i < n; i++)
		if (list[i].is_descendant)
			kill(list[i].pid, number);
	free(list);
}
