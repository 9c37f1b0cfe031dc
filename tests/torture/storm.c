/* SPDX-License-Identifier: Apache-2.0 */
/* storm.c - a storm of signals: each thread that joins gets one every few hundred microseconds.
 *
 * The handler makes async-signal-safe calls by turns, those that wait included, wherever the thread
 * is interrupted: in the allocator, in the loader, in a fork. Results are known beforehand; the
 * first one that is wrong is kept for the end. The timer of a thread is set again when the handler
 * has ended, so that a slow machine makes the storm slower, and never stops the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static __thread timer_t timer;
static __thread bool joined;
static __thread unsigned turn;
static sem_t posted;
static _Atomic(const char *) wrong;

enum { FAMILIES = 6, CALLS = 12 };

/* A call that is refused: the descriptor or the name does not exist. */
#define REFUSED(call, reason) ((call) == -1 && errno == (reason))

static bool call_sockets(unsigned which)
{
	char byte = 0;
	struct msghdr message = {0};
	switch (which) {
	case 0: return REFUSED(accept(-1, NULL, NULL), EBADF);
	case 1: return REFUSED(bind(-1, NULL, 0), EBADF);
	case 2: return REFUSED(connect(-1, NULL, 0), EBADF);
	case 3: return REFUSED(recv(-1, &byte, 1, 0), EBADF);
	case 4: return REFUSED(send(-1, &byte, 1, 0), EBADF);
	case 5: return REFUSED(recvfrom(-1, &byte, 1, 0, NULL, NULL), EBADF);
	case 6: return REFUSED(sendto(-1, &byte, 1, 0, NULL, 0), EBADF);
	case 7: return REFUSED(recvmsg(-1, &message, 0), EBADF);
	case 8: return REFUSED(sendmsg(-1, &message, 0), EBADF);
	case 9: return REFUSED(listen(-1, 1), EBADF);
	case 10: return REFUSED(shutdown(-1, SHUT_RDWR), EBADF);
	default: {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
			return false;
		bool right = send(ends[0], "x", 1, 0) == 1 &&
			     STEADILY(recv(ends[1], &byte, 1, 0)) == 1 && byte == 'x';
		close(ends[0]);
		close(ends[1]);
		return right;
	}
	}
}

static bool call_files(unsigned which)
{
	char text[16];
	struct stat about;
	int fd;
	switch (which) {
	case 0: return REFUSED(open("/nonexistent", O_RDONLY), ENOENT);
	case 1: return REFUSED(openat(AT_FDCWD, "/nonexistent", O_RDONLY), ENOENT);
	case 2: return REFUSED(rename("/nonexistent/a", "/nonexistent/b"), ENOENT);
	case 3: return REFUSED(link("/nonexistent/a", "/nonexistent/b"), ENOENT);
	case 4: return REFUSED(unlink("/nonexistent"), ENOENT);
	case 5: return REFUSED(readlink("/nonexistent", text, sizeof text), ENOENT);
	case 6: return REFUSED(mkdir("/", 0700), EEXIST);
	case 7: return stat("/", &about) == 0 && lstat("/", &about) == 0;
	case 8: return access("/", X_OK) == 0 && REFUSED(faccessat(-1, "x", 0, 0), EBADF);
	case 9: return REFUSED(fsync(-1), EBADF) && REFUSED(fdatasync(-1), EBADF);
	case 10: return REFUSED(ftruncate(-1, 0), EBADF) && REFUSED(lseek(-1, 0, SEEK_SET), EBADF);
	default:
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		return fd >= 0 && write(fd, "x", 1) == 1 && read(fd, text, 1) == 0 &&
		       fcntl(fd, F_GETFD) == FD_CLOEXEC && fstat(fd, &about) == 0 && close(fd) == 0;
	}
}

static bool call_waits(unsigned which)
{
	struct timespec little = {0, 120000}, more = {0, 400000};
	struct timeval one = {0, 1000};
	struct pollfd *volatile nowhere = NULL;
	fd_set none;
	FD_ZERO(&none);
	switch (which) {
	case 0: return poll(NULL, 0, 1) == 0 || errno == EINTR;
	case 1: return select(0, NULL, NULL, NULL, &one) == 0 || errno == EINTR;
	case 2: return pselect(0, &none, NULL, NULL, &more, NULL) == 0 || errno == EINTR;
	case 3: return nanosleep(&little, NULL) == 0 || errno == EINTR;
	case 4: return nanosleep(&more, NULL) == 0 || errno == EINTR;
	case 5: return clock_nanosleep(CLOCK_MONOTONIC, 0, &more, NULL) % EINTR == 0;
	case 6: return ppoll(NULL, 0, &little, NULL) == 0 || errno == EINTR;
	case 7: return sleep(0) == 0;
	case 8: return usleep(200) == 0 || errno == EINTR;
	case 9: return REFUSED(poll(nowhere, 1, 0), EFAULT);
	case 10: more.tv_nsec = 2000000000; return REFUSED(nanosleep(&more, NULL), EINVAL);
	default: return sem_post(&posted) == 0 && STEADILY(sem_wait(&posted)) == 0;
	}
}

static bool call_processes(unsigned which)
{
	static char *const arguments[] = {"x", NULL};
	pid_t child;
	switch (which) {
	case 0:
		child = _Fork();
		if (child == 0)
			_exit(7);
		return status_of(child) == 7;
	case 1:
		child = vfork();
		if (child == 0)
			_exit(8);
		return status_of(child) == 8;
	case 2:
		child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (child == 0)
			_exit(9);
		return status_of(child) == 9;
	case 3: return REFUSED(execve("/nonexistent", arguments, arguments), ENOENT);
	case 4: return REFUSED(execv("/nonexistent", arguments), ENOENT);
	case 5: return REFUSED(execl("/nonexistent", "x", (char *)NULL), ENOENT);
	case 6:
		return fexecve(-1, arguments, arguments) == -1 &&
		       (errno == EBADF || errno == EINVAL);
	case 7: return REFUSED(waitpid(getpid(), NULL, WNOHANG), ECHILD);
	case 8: return kill(getpid(), 0) == 0 && pthread_kill(pthread_self(), 0) == 0;
	case 9:
		child = _Fork();
		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		return status_of(child) == 0;
	case 10: return getppid() > 0 && getpgrp() >= 0 && getuid() == geteuid();
	default: return waitpid(-1, NULL, -1) == -1 && errno == EINVAL;
	}
}

static bool call_signals(unsigned which)
{
	sigset_t set;
	struct sigaction action;
	struct itimerspec left;
	sigemptyset(&set);
	switch (which) {
	case 0: return sigaction(SIGUSR2, NULL, &action) == 0;
	case 1: return sigprocmask(SIG_BLOCK, &set, NULL) == 0;
	case 2: return pthread_sigmask(SIG_BLOCK, &set, NULL) == 0;
	case 3: return sigpending(&set) == 0;
	case 4: return sigaddset(&set, SIGUSR2) == 0 && sigismember(&set, SIGUSR2) == 1;
	case 5: return timer_gettime(timer, &left) == 0;
	case 6: return REFUSED(kill(getpid(), 1000), EINVAL);
	case 7: return sigdelset(&set, SIGUSR2) == 0;
	case 8: return REFUSED(sigaction(SIGKILL, &action, NULL), EFAULT) || errno == EINVAL;
	case 9: return timer_getoverrun(timer) >= 0;
	default: return sigfillset(&set) == 0;
	}
}

static bool call_others(unsigned which)
{
	int ends[2];
	char byte = 0;
	struct termios terminal;
	struct utsname machine;
	struct tms used;
	struct timespec now;
	switch (which) {
	case 0: return clock_gettime(CLOCK_MONOTONIC, &now) == 0;
	case 1: return time(NULL) > 0;
	case 2: return times(&used) != (clock_t)-1;
	case 3: return uname(&machine) == 0;
	case 4: return REFUSED(tcgetattr(-1, &terminal), EBADF);
	case 5: return REFUSED(dup(-1), EBADF) && REFUSED(dup2(-1, 5), EBADF);
	case 6: return REFUSED(close(-1), EBADF);
	case 7: return chdir(".") == 0;
	case 8: return REFUSED(read(-1, &byte, 1), EBADF) && REFUSED(write(-1, &byte, 1), EBADF);
	case 9: return isatty(-1) == 0;
	default:
		if (pipe2(ends, O_CLOEXEC) != 0)
			return false;
		bool right = write(ends[1], "y", 1) == 1 &&
			     STEADILY(read(ends[0], &byte, 1)) == 1 && byte == 'y';
		close(ends[0]);
		close(ends[1]);
		return right;
	}
}

static bool (*const families[FAMILIES])(unsigned) = {call_sockets,   call_files,   call_waits,
						     call_processes, call_signals, call_others};
static const char *const family_names[FAMILIES] = {"a call of sockets", "a call of files",
						   "a call that waits", "a call of processes",
						   "a call of signals", "another call"};

static void rearm(long microseconds)
{
	struct itimerspec next = {.it_value = {0, microseconds * 1000}};
	timer_settime(timer, 0, &next, NULL);
}

static void on_storm(int number)
{
	(void)number;
	int saved = errno;
	/* Every second signal waits, since what is recorded of a wait is more. */
	for (int i = 0; i < 3; i++) {
		unsigned at = turn++;
		unsigned family = at % 2 ? 2 : at / 2 % FAMILIES;
		if (!families[family](at / 2 / FAMILIES % CALLS) && !wrong)
			wrong = family_names[family];
	}
	if (joined)
		rearm(300 + 200 * (long)(turn % 7));
	errno = saved;
}

void storm_init(void)
{
	struct sigaction action = {.sa_handler = on_storm, .sa_flags = SA_RESTART};
	sem_init(&posted, 0, 0);
	sigaction(SIGUSR2, &action, NULL);
}

void storm_join(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2};
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		give_up("timer_create");
	turn = chance(1000);
	joined = true;
	rearm(500);
}

void storm_leave(void)
{
	if (!joined)
		return;
	joined = false;
	timer_delete(timer);
}

const char *storm_wrong(void)
{
	return wrong;
}
