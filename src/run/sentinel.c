/* SPDX-License-Identifier: Apache-2.0 */
/* sentinel.c - see sentinel.h.
 *
 * Whatever signal reaches the sentinel as a member of the group has reached headway too, and
 * headway asks for it. So nothing stays behind in the sentinel that could be taken for the answer
 * to a later question. The sentinel has neither headway's name nor its command line: who looks for
 * processes by name finds headway alone. The sentinel ends when headway does, however that is: its
 * socket is closed then.
 */
#include "run/sentinel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ms: how long headway waits for an answer; a sentinel that was stopped does not answer. */
enum { PATIENCE_MS = 200 };

struct question {
	int number; /* 0: the sentinel says that it stands */
	bool has;   /* in an answer: the signal had come */
};

/* Empties the command line that /proc shows, which is the memory behind argv[0]. */
static void forget_command_line(void)
{
	char text[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	for (char *at = program_invocation_name; fd >= 0;) {
		ssize_t n = read(fd, text, sizeof text);
		/* What was read is compared first: a caller may have moved argv[0]. */
		if (n <= 0 || memcmp(at, text, (size_t)n) != 0)
			break;
		memset(at, 0, (size_t)n);
		at += n;
	}
	if (fd >= 0)
		close(fd);
}

void sentinel_take_name(const char *name)
{
	forget_command_line();
	prctl(PR_SET_NAME, name);
}

static _Noreturn void stand_guard(int line)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sentinel_take_name("hwy-sentinel");
	/* The sentinel must not keep a pipe open that others wait for, the run's lock, or a mount
	 * busy. */
	struct question question = {.number = 0};
	if (dup2(line, 0) != 0 || close_range(1, ~0u, 0) != 0 || chdir("/") != 0 ||
	    send(0, &question, sizeof question, MSG_NOSIGNAL) < 0)
		_exit(0);
	while (read(0, &question, sizeof question) == (ssize_t)sizeof question) {
		struct timespec now = {0};
		sigset_t asked;
		sigemptyset(&asked);
		sigaddset(&asked, question.number);
		question.has = sigtimedwait(&asked, NULL, &now) == question.number;
		if (send(0, &question, sizeof question, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* Waits for the answer about a signal; an answer about another one is late, and is left out. */
static bool await_answer(const struct sentinel *sentinel, int number)
{
	struct question answer;
	struct pollfd line = {.fd = sentinel->line, .events = POLLIN};
	while (poll(&line, 1, PATIENCE_MS) == 1 &&
	       recv(sentinel->line, &answer, sizeof answer, 0) == (ssize_t)sizeof answer)
		if (answer.number == number)
			return answer.has;
	return false;
}

void sentinel_start(struct sentinel *sentinel)
{
	int ends[2];
	*sentinel = (struct sentinel){.line = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		stand_guard(ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	sentinel->pid = pid;
	sentinel->line = ends[0];
	await_answer(sentinel, 0);
}

bool sentinel_has(struct sentinel *sentinel, int number)
{
	struct question question = {.number = number};
	return sentinel->pid &&
	       send(sentinel->line, &question, sizeof question, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		       (ssize_t)sizeof question &&
	       await_answer(sentinel, number);
}

void sentinel_lose(struct sentinel *sentinel)
{
	close(sentinel->line);
	*sentinel = (struct sentinel){.line = -1};
}

void sentinel_end(struct sentinel *sentinel)
{
	if (!sentinel->pid)
		return;
	kill(sentinel->pid, SIGKILL); /* it may be stopped */
	while (waitpid(sentinel->pid, NULL, 0) < 0 && errno == EINTR)
		;
	sentinel_lose(sentinel);
}
