/* SPDX-License-Identifier: Apache-2.0 */
/* acts_rights.c - processes that give up rights, roots and limits. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

enum { NOBODY = 65534 };

static void *do_something(void *unused)
{
	char byte;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return unused;
	nvtx_push("with other rights");
	if (write(ends[1], "r", 1) == 1 && STEADILY(read(ends[0], &byte, 1)) == 1)
		pass_us(200);
	nvtx_pop();
	close(ends[0]);
	close(ends[1]);
	return unused;
}

/* Threads, children and programs that begin after the change. */
static void go_on(void)
{
	static char *const arguments[] = {"true", NULL};
	unsigned long thread;
	do_something(NULL);
	start_thread(&thread, 0, do_something, NULL);
	end_thread(thread);
	pid_t child = fork();
	if (child == 0) {
		do_something(NULL);
		_exit(21);
	}
	say(" %d", status_of(child));
	child = fork();
	if (child == 0) {
		execv("/bin/true", arguments);
		_exit(errno);
	}
	say(" %d", status_of(child));
	child = vfork();
	if (child == 0) {
		execvp("true", arguments);
		_exit(errno);
	}
	say(" %d", status_of(child));
}

static void act_chroot(void)
{
	const char *folder = act_file("root");
	mkdir(folder, 0755);
	say(" %d", chroot(folder));
	say(" %d", chdir("/"));
	go_on();
	DIR *root = opendir("/");
	int n = 0;
	while (root && readdir(root))
		n++;
	say(" %d entries", n);
	int fd = open("/inside", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	say(" %ld", (long)write(fd, "text", 4));
	close(fd);
}

static void act_setuid(void)
{
	const char *folder = act_file("theirs");
	mkdir(folder, 0777);
	chmod(folder, 0777);
	say(" %d", chdir(folder));
	if (chance(2))
		do_something(NULL);
	say(" %d", setgroups(0, NULL));
	bool by_three = chance(2);
	say(" %d", by_three ? setresgid(NOBODY, NOBODY, NOBODY) : setgid(NOBODY));
	say(" %d", by_three ? setresuid(NOBODY, NOBODY, NOBODY) : setuid(NOBODY));
	go_on();
	int fd = open("inside", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	struct stat about = {0};
	fstat(fd, &about);
	say(" %u %o %d", about.st_uid, about.st_mode & 0777, open("/etc/shadow", O_RDONLY));
	close(fd);
	say(" %d %d", prctl(PR_GET_DUMPABLE), setuid(0));
}

static void act_files_limit(void)
{
	struct rlimit few = {20 + chance(20), 4096};
	int n = 0;
	setrlimit(RLIMIT_NOFILE, &few);
	do_something(NULL);
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		n++;
	say(" %d then %d", n, errno);
	do_something(NULL);
	unsigned long thread;
	start_thread(&thread, 0, do_something, NULL);
	end_thread(thread);
	pid_t child = fork();
	if (child == 0)
		_exit(open("/dev/null", O_RDONLY) >= 0);
	say(" %d", status_of(child));
}

/* A limit on the size of files belongs to the program's files. */
static void act_size_limit(void)
{
	struct rlimit small = {1000, RLIM_INFINITY};
	char text[1500];
	memset(text, 'f', sizeof text);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	int fd = open(act_file("limited"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	say(" %ld", (long)write(fd, text, sizeof text));
	SAY_RESULT(write(fd, text, sizeof text));
	close(fd);
	go_on();
	if (chance(2)) {
		pid_t child = fork();
		if (child == 0) {
			signal(SIGXFSZ, SIG_DFL);
			do_something(NULL);
			unsigned long thread;
			start_thread(&thread, 0, do_something, NULL);
			end_thread(thread);
			_exit(5);
		}
		say(" %d", status_of(child));
	}
}

/* What a fresh program finds: none of it may be ours. */
static void act_inherited(void)
{
	char folder[4096];
	struct rlimit limit;
	int descriptors = 0;
	mode_t mask = umask(0);
	umask(mask);
	say(" umask %o, nice %d", mask, getpriority(PRIO_PROCESS, 0));
	for (int i = 0; i < RLIM_NLIMITS; i++)
		say(" %lld", getrlimit((__rlimit_resource_t)i, &limit) == 0
				     ? (long long)limit.rlim_cur
				     : -1LL);
	for (int fd = 0; fd < 200; fd++)
		descriptors += fcntl(fd, F_GETFD) >= 0;
	say(" descriptors %d, folder %d", descriptors, getcwd(folder, sizeof folder) != NULL);
	say(" dumpable %d, nnp %d, slack %d", prctl(PR_GET_DUMPABLE),
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_TIMERSLACK) == 50000);
}

const struct act rights_acts[] = {
	{"chroot", act_chroot, NEEDS_IMAGE | NEEDS_CALM | NEEDS_ROOT},
	{"setuid", act_setuid, NEEDS_IMAGE | NEEDS_CALM | NEEDS_ROOT},
	{"files_limit", act_files_limit, NEEDS_IMAGE | NEEDS_CALM},
	{"size_limit", act_size_limit, NEEDS_IMAGE | NEEDS_CALM},
	{"inherited", act_inherited, NEEDS_IMAGE | NEEDS_CALM},
	{NULL, NULL, 0},
};
