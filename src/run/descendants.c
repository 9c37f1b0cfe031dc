/* SPDX-License-Identifier: Apache-2.0 */
/* descendants.c - the processes of a run that are alive, as /proc tells.
 *
 * A process belongs to the run when it descends from the program, or when its environment or its
 * maps name the run directory: a process whose parent has ended is a child of init, and nothing
 * else tells where it came from. (headway could have such processes as children, as a subreaper,
 * but then getppid() would give them headway's pid in the place of init's.) A process that neither
 * records nor has the environment it was started with is not found once its parent has ended.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/run.h"

struct process {
	pid_t pid, parent;
	uint64_t started; /* clock ticks since the machine's start */
	bool is_ended;    /* a zombie */
	bool is_descendant;
};

/* Reads /proc/PID/stat, "PID (NAME) STATE PARENT ...", whose field 22 is the start time. The name
 * may hold any character, so the last ')' ends it. False: there is no such process. */
static bool read_process(pid_t pid, struct process *process)
{
	char path[64], line[1024], state;
	*process = (struct process){.pid = pid};
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	const char *end = strrchr(line, ')');
	int parent = 0;
	if (!end || sscanf(end + 1,
			   " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			   "%*s %" SCNu64,
			   &state, &parent, &process->started) != 3)
		return false;
	process->parent = parent;
	process->is_ended = state == 'Z' || state == 'X';
	return true;
}

/* Whether a file of /proc/PID holds a text. */
static bool file_names(pid_t pid, const char *file, const char *text)
{
	enum { PIECE = 64 * 1024 };
	size_t length = strlen(text), kept = 0;
	char path[64], *piece = hwy_alloc(PIECE + length);
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	while (fd >= 0 && !found) {
		ssize_t n = read(fd, piece + kept, PIECE);
		if (n <= 0)
			break;
		size_t have = kept + (size_t)n;
		found = memmem(piece, have, text, length) != NULL;
		/* The text may begin in this piece and end in the next. */
		kept = have < length ? have : length - 1;
		memmove(piece, piece + have - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	free(piece);
	return found;
}

static bool is_of_run(const struct run *run, const struct process *process)
{
	return process->pid == run->pid || file_names(process->pid, "environ", run->mark) ||
	       file_names(process->pid, "maps", run->mark);
}

/* Lists the processes that may belong to the run: those that are not older than headway. */
static struct process *list_candidates(const struct run *run, uint32_t *n)
{
	struct process *list = NULL, self, one;
	uint32_t cap = 0;
	*n = 0;
	DIR *proc = read_process(getpid(), &self) ? opendir("/proc") : NULL;
	for (const struct dirent *entry; proc && (entry = readdir(proc));) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (!isdigit((unsigned char)entry->d_name[0]) || pid == self.pid ||
		    pid == run->sentinel.pid || pid == run->watcher.pid ||
		    !read_process(pid, &one) || one.is_ended || one.started < self.started)
			continue;
		one.is_descendant = is_of_run(run, &one);
		HWY_GROW(list, *n, cap);
		list[(*n)++] = one;
	}
	if (proc)
		closedir(proc);
	return list;
}

static bool is_descendant_pid(const struct process *list, uint32_t n, pid_t pid)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].pid == pid)
			return list[i].is_descendant;
	return false;
}

struct descendants descendants_find(const struct run *run)
{
	uint32_t n;
	struct process *list = list_candidates(run, &n);
	/* The search is repeated, since children may be listed before their parents. */
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < n; i++)
			if (!list[i].is_descendant && is_descendant_pid(list, n, list[i].parent))
				more = list[i].is_descendant = true;
	}
	struct descendants found = {.list = hwy_array(n, sizeof *found.list)};
	for (uint32_t i = 0; i < n; i++)
		if (list[i].is_descendant)
			found.list[found.n++] = (struct descendant){list[i].pid, list[i].started};
	free(list);
	return found;
}

bool descendants_are_alive(const struct descendants *descendants)
{
	for (uint32_t i = 0; i < descendants->n; i++) {
		const struct descendant *one = &descendants->list[i];
		struct process now;
		if (read_process(one->pid, &now) && !now.is_ended && now.started == one->started)
			return true;
	}
	return false;
}

void descendants_free(struct descendants *descendants)
{
	free(descendants->list);
	*descendants = (struct descendants){0};
}

void descendants_signal(const struct run *run, int number)
{
	struct descendants found = descendants_find(run);
	for (uint32_t i = 0; i < found.n; i++)
		kill(found.list[i].pid, number);
	descendants_free(&found);
}
