/* SPDX-License-Identifier: Apache-2.0 */
/* acts_odd.c - what is legal and rare: wrong pointers, odd environments, threads of libc, terminals.
 *
 * A wrong pointer is the kernel's to refuse (EFAULT): whoever looks at it first crashes the program.
 */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

extern char **environ;

/* The compiler warns of constants that no program should pass. */
static void *volatile wrong = (void *)8;

static void act_faults(void)
{
	int pair[2], set = epoll_create1(EPOLL_CLOEXEC);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		give_up("socketpair");
	SAY_RESULT(open(wrong, O_RDONLY));
	SAY_RESULT(write(pair[0], wrong, 1));
	SAY_RESULT(writev(pair[0], wrong, 1));
	SAY_RESULT(send(pair[0], wrong, 1, MSG_NOSIGNAL));
	SAY_RESULT(sendmsg(pair[0], wrong, MSG_NOSIGNAL));
	SAY_RESULT(write(pair[0], "x", 1));
	SAY_RESULT(read(pair[1], wrong, 1));
	SAY_RESULT(readv(pair[1], wrong, 1));
	SAY_RESULT(recvmsg(pair[1], wrong, 0));
	SAY_RESULT(recvmmsg(pair[1], wrong, 1, 0, NULL));
	SAY_RESULT(sendmmsg(pair[1], wrong, 1, MSG_NOSIGNAL));
	SAY_RESULT(connect(pair[1], wrong, 16));
	SAY_RESULT(accept(pair[1], wrong, wrong));
	SAY_RESULT(poll(wrong, 1, 0));
	SAY_RESULT(epoll_ctl(set, EPOLL_CTL_ADD, pair[1], wrong));
	SAY_RESULT(epoll_wait(set, wrong, 1, 0));
	SAY_RESULT(nanosleep(wrong, NULL));
	say(" %d", clock_nanosleep(CLOCK_MONOTONIC, 0, wrong, NULL));
	SAY_RESULT(waitpid(-12345678, wrong, WNOHANG));
	SAY_RESULT(prctl(-1, wrong, 0, 0, 0));
	close(pair[0]);
	close(pair[1]);
	close(set);
}

/* Environments and argument lists that only the kernel has to understand. */
static void act_odd_exec(void)
{
	static char *const none[] = {NULL}, *const words[] = {"sh", "-c",
							      "echo \"${A-no} ${B-no}\"", NULL};
	char *odd[] = {"NOEQUALS", "=x", "A=1", "LD_PRELOAD", "LD_PRELOAD=", "A=2", "B=", NULL};
	char **read_only =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	if (read_only == MAP_FAILED)
		give_up("mmap");
	memcpy(read_only, odd, sizeof odd);
	mprotect(read_only, 4096, PROT_READ);
	SAY_RESULT(execve(wrong, words, environ));
	SAY_RESULT(execve("/bin/sh", wrong, environ));
	SAY_RESULT(execve("/bin/sh", words, wrong));
	SAY_RESULT(execve("", words, environ));
	SAY_RESULT(execve("/", words, environ));
	SAY_RESULT(execve("/etc/passwd", words, environ));
	for (unsigned i = 0; i < 3; i++) {
		child = fork();
		if (child == 0) {
			if (i == 0)
				execve("/bin/true", none, read_only);
			else if (i == 1)
				execve("/bin/sh", words, read_only);
			else
				execvpe("sh", words, read_only);
			_exit(errno);
		}
		say(" %d", status_of(child));
	}
	say(" %d", posix_spawn(&child, "/bin/sh", NULL, NULL, words, read_only));
	say(" %d", status_of(child));
	/* A file that begins with nothing that the kernel knows is a shell's script for execvp. */
	const char *script = act_file("script");
	int fd = open(script, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	say(" %ld", (long)write(fd, "exit 44\n", 8));
	close(fd);
	char path[80];
	snprintf(path, sizeof path, "./%s", script);
	SAY_RESULT(execve(path, words, environ));
	child = vfork();
	if (child == 0) {
		execvp(path, words);
		_exit(1);
	}
	say(" %d", status_of(child));
}

/* Says what a program that this one starts finds in its environment. */
static void say_environment_of_child(char *const *variables)
{
	static char *const words[] = {"env", NULL};
	char text[4096];
	int ends[2];
	long got;
	volatile unsigned hash = 0;
	if (pipe2(ends, O_CLOEXEC) != 0)
		give_up("pipe2");
	pid_t child = chance(2) ? fork() : vfork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execve("/usr/bin/env", words, variables);
		_exit(errno);
	}
	close(ends[1]);
	while ((got = STEADILY(read(ends[0], text, sizeof text))) > 0)
		for (long i = 0; i < got; i++)
			hash = hash * 31 + (unsigned char)text[i];
	close(ends[0]);
	say(" %d %x", status_of(child), hash);
}

/* The environment is the program's: what it has, what it sets, and what it hands on. */
static void act_environment(void)
{
	char *const few[] = {"ONE=1", "TWO=2", NULL};
	unsigned n = 0, hash = 0;
	for (char **at = environ; at && *at; at++, n++)
		for (const char *c = *at; *c; c++)
			hash = hash * 31 + (unsigned char)*c;
	say(" %u %x", n, hash);
	say_environment_of_child(environ);
	say_environment_of_child(few);
	say_environment_of_child(NULL);
	say(" %d", setenv("LD_PRELOAD", "", 1));
	say_environment_of_child(environ);
	say(" %d", unsetenv("LD_PRELOAD"));
	say_environment_of_child(environ);
	say(" %d %d", setenv("NEW", "variable", 1), putenv("OTHER=variable"));
	say_environment_of_child(environ);
	say(" %d", clearenv());
	say_environment_of_child(environ);
	say(" %d", setenv("ALONE", "1", 1));
	say_environment_of_child(environ);
	environ = NULL;
	say_environment_of_child(environ);
	say(" %s", getenv("ALONE") ? "there" : "-");
}

/* A process that has one thread may do things that no other may. */
static void act_single(void)
{
	int tasks = 0;
	DIR *folder = opendir("/proc/self/task");
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		tasks += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	say(" %d", tasks);
	SAY_RESULT(unshare(CLONE_FS | CLONE_FILES));
	SAY_RESULT(unshare(CLONE_NEWUSER));
	pid_t child = fork();
	if (child == 0) {
		pass_us(100);
		_exit(17);
	}
	say(" %d", status_of(child));
}

static sem_t fired;

static void on_timer(union sigval value)
{
	(void)value;
	sem_post(&fired);
}

/* Threads that libc starts for the program. */
static void act_libc_threads(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
	struct itimerspec once = {.it_value = {0, 300000}};
	char text[8] = "";
	timer_t timer;
	sem_init(&fired, 0, 0);
	say(" %d", timer_create(CLOCK_MONOTONIC, &event, &timer));
	for (int i = 0; i < 3; i++) {
		timer_settime(timer, 0, &once, NULL);
		STEADILY(sem_wait(&fired));
	}
	say(" %d", timer_delete(timer));
	int fd = open(act_file("aio"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct aiocb write_block = {.aio_fildes = fd, .aio_buf = (void *)"async", .aio_nbytes = 5};
	struct aiocb read_block = {.aio_fildes = fd, .aio_buf = text, .aio_nbytes = 5};
	struct aiocb *blocks[] = {&write_block, &read_block};
	for (int i = 0; i < 2; i++) {
		const struct aiocb *const list[] = {blocks[i]};
		say(" %d", i ? aio_read(blocks[i]) : aio_write(blocks[i]));
		while (aio_error(blocks[i]) == EINPROGRESS)
			aio_suspend(list, 1, NULL);
		say(" %ld", (long)aio_return(blocks[i]));
	}
	say(" %s", text);
	close(fd);
}

/* A child on a terminal of its own: its output, its size, and that it is one. */
static void act_terminal(void)
{
	struct winsize size = {.ws_row = 17, .ws_col = 71};
	char text[256] = "";
	size_t got = 0;
	int master;
	pid_t child = forkpty(&master, NULL, NULL, &size);
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "test -t 0 && stty size; exit 8", (char *)NULL);
		_exit(1);
	}
	if (child < 0) {
		say(" none");
		return;
	}
	for (long n; got < sizeof text - 1 &&
		     (n = STEADILY(read(master, text + got, sizeof text - 1 - got))) > 0;)
		got += (size_t)n;
	say(" %s", strtok(text, "\r\n"));
	say(" %d", status_of(child));
	close(master);
}

static void act_stack_limit(void)
{
	static char big[6000] = "BIG=";
	static char *const words[] = {"sh", "-c", "echo ${#BIG}; exit 6", NULL};
	char *const variables[] = {big, "PATH=/usr/bin:/bin", NULL};
	/* The kernel gives a program's words and variables a quarter of its stack. */
	struct rlimit little = {131072, RLIM_INFINITY};
	memset(big + 4, 'b', sizeof big - 5);
	setrlimit(RLIMIT_STACK, &little);
	pid_t child = fork();
	if (child == 0) {
		execve("/bin/sh", words, variables);
		_exit(errno);
	}
	say(" %d", status_of(child));
	say(" %d", posix_spawnp(&child, "sh", NULL, NULL, words, variables));
	say(" %d", status_of(child));
}

static void act_folder_gone(void)
{
	const char *folder = act_file("gone");
	char text[64];
	mkdir(folder, 0700);
	say(" %d", chdir(folder));
	char above[80];
	snprintf(above, sizeof above, "../%s", folder);
	say(" %d", rmdir(above));
	say(" %d", getcwd(text, sizeof text) == NULL ? errno : 0);
	SAY_RESULT(open("file", O_WRONLY | O_CREAT, 0600));
	pid_t child = fork();
	if (child == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(errno);
	}
	say(" %d", status_of(child));
}

const struct act odd_acts[] = {
	{"faults", act_faults, NEEDS_IMAGE},
	{"odd_exec", act_odd_exec, NEEDS_IMAGE | NEEDS_CALM},
	{"environment", act_environment, NEEDS_IMAGE | NEEDS_CALM},
	{"single", act_single, NEEDS_IMAGE | NEEDS_CALM},
	{"libc_threads", act_libc_threads, NEEDS_IMAGE},
	{"terminal", act_terminal, NEEDS_IMAGE},
	{"stack_limit", act_stack_limit, NEEDS_IMAGE | NEEDS_CALM},
	{"folder_gone", act_folder_gone, NEEDS_IMAGE | NEEDS_CALM},
	{NULL, NULL, 0},
};
