/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - a program that ends, forks, execs and signals in every way that a collector must survive.
 *
 * target WHAT [N [END]]: see the table at the end. Prints what a test must find unchanged.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx_shim.h"

static const char *self;
static int count = 1;
static const char *ending = "exit";

static char *own_environment[] = {"PATH=/usr/bin:/bin", "OWN=1", NULL};

static void finish(void)
{
	if (strcmp(ending, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(ending, "abort") == 0)
		abort();
	else if (strcmp(ending, "segv") == 0)
		raise(SIGSEGV);
	else if (strcmp(ending, "_exit") == 0)
		_exit(7);
	else if (strcmp(ending, "quick_exit") == 0)
		quick_exit(7);
	exit(7);
}

static void ranges(int n)
{
	char name[32];
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "range %d", i % 100);
		shim_push(name);
		shim_pop();
	}
}

static int run_loop(void)
{
	ranges(count);
	shim_mark("the last one");
	finish();
	return 1;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static pthread_key_t late;

static void record_late(void *value)
{
	shim_mark("from a destructor");
	/* once more, in the next round */
	if (value == &late)
		pthread_setspecific(late, &count);
}

static void *thread_main(void *name)
{
	pthread_setname_np(pthread_self(), name);
	pthread_setspecific(late, &late);
	ranges(count);
	pthread_setname_np(pthread_self(), "renamed");
	return NULL;
}

static int run_threads(void)
{
	pthread_t threads[4];
	pthread_key_create(&late, record_late);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_main, "worker");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* ---- forks -------------------------------------------------------------------------------------- */

static void tree(int depth)
{
	shim_mark("a node");
	if (depth == 0)
		return;
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			tree(depth - 1);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static int run_fork(void)
{
	ranges(10);
	tree(count);
	ranges(10);
	return 0;
}

/* Forked behind libc's back: no handler is called. */
static int run_raw_fork(void)
{
	shim_mark("parent before");
	if (syscall(SYS_fork) == 0) {
		shim_mark("child");
		syscall(SYS_exit_group, 0);
	}
	wait(NULL);
	shim_mark("parent after");
	return 0;
}

static void *forking_thread(void *unused)
{
	shim_mark("thread before");
	if (fork() == 0) {
		shim_mark("child of a thread");
		_exit(0);
	}
	wait(NULL);
	return unused;
}

static int run_thread_fork(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, forking_thread, NULL);
	pthread_join(thread, NULL);
	return 0;
}

/* ---- exec --------------------------------------------------------------------------------------- */

static int run_child(void)
{
	shim_mark(getenv("OWN") ? "child with its own environment" : "child");
	/* What makes it record is hidden from the program. */
	return getenv("LD_PRELOAD") || getenv("HEADWAY_RUN") ? 3 : 0;
}

static int awaited(pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static char *child_arguments[] = {"target", "child", NULL};

static int run_exec(void)
{
	execve("/nowhere/at/all", child_arguments, own_environment);
	if (errno != ENOENT)
		return 4;
	execve(self, child_arguments, own_environment);
	return 1;
}

static int run_execl(void)
{
	execle(self, "target", "child", (char *)NULL, own_environment);
	return 1;
}

static int run_execlp(void)
{
	clearenv();
	setenv("PATH", "/nowhere:/usr/bin:/bin", 1);
	execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
	return 1;
}

static int run_vfork(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		execve(self, child_arguments, own_environment);
		_exit(1);
	}
	shim_mark("parent after");
	return awaited(pid);
}

static int run_spawn(void)
{
	pid_t pid;
	int bad = posix_spawn(&pid, self, NULL, NULL, child_arguments, own_environment);
	if (bad || awaited(pid))
		return bad ? bad : 6;
	char *shell[] = {"sh", "-c", "exit 0", NULL};
	bad = posix_spawnp(&pid, "sh", NULL, NULL, shell, own_environment);
	return bad ? bad : awaited(pid);
}

/* ---- what else may go wrong --------------------------------------------------------------------- */

static void on_signal(int number)
{
	(void)number;
	int saved = errno;
	shim_push("in a handler");
	shim_pop();
	errno = saved;
}

static int run_signals(void)
{
	struct itimerval every = {{0, 200}, {0, 200}};
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &every, NULL);
	ranges(count);
	every = (struct itimerval){0};
	setitimer(ITIMER_REAL, &every, NULL);
	return 0;
}

static int run_size_limit(void)
{
	struct rlimit limit = {300 * 1024, 300 * 1024};
	setrlimit(RLIMIT_FSIZE, &limit);
	ranges(count);
	return 0;
}

/* Descriptors stay the program's own. */
static int run_descriptors(void)
{
	ranges(count);
	int n = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		n++;
	closedir(folder);
	printf("%d\n", n);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} table[] = {
	{"loop", run_loop},
	{"threads", run_threads},
	{"fork", run_fork},
	{"raw_fork", run_raw_fork},
	{"thread_fork", run_thread_fork},
	{"child", run_child},
	{"exec", run_exec},
	{"execl", run_execl},
	{"execlp", run_execlp},
	{"vfork", run_vfork},
	{"spawn", run_spawn},
	{"signals", run_signals},
	{"size_limit", run_size_limit},
	{"descriptors", run_descriptors},
};

int main(int argc, char **argv)
{
	static char path[4096];
	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		return 2;
	self = path;
	count = argc > 2 ? atoi(argv[2]) : 1;
	ending = argc > 3 ? argv[3] : ending;
	shim_begin();
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (argc > 1 && strcmp(argv[1], table[i].name) == 0)
			return table[i].run();
	return 2;
}
