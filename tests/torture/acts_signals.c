/* SPDX-License-Identifier: Apache-2.0 */
/* acts_signals.c - signals that are counted: none may be lost, doubled or seen in another order. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

static atomic_int got, nested, reaped, statuses;
static atomic_uint order;

static void on_value(int number, siginfo_t *about, void *context)
{
	(void)number;
	(void)context;
	got++;
	order = order * 31 + (unsigned)about->si_value.sival_int;
}

static void act_queue(void)
{
	struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO | SA_RESTART};
	int number = SIGRTMIN + 3, n = 20 + (int)chance(200);
	sigaction(number, &action, NULL);
	for (int i = 0; i < n; i++) {
		union sigval value = {.sival_int = i};
		while (sigqueue(getpid(), number, value) != 0 && errno == EAGAIN)
			pass_us(100);
	}
	say(" %d of %d, order %x", got, n, order);
}

static void on_nested(int number)
{
	got++;
	if (nested++ < 10)
		raise(number);
	write(-1, "", 0);
}

static void act_handlers(void)
{
	struct sigaction deep = {.sa_handler = on_nested, .sa_flags = SA_NODEFER};
	struct sigaction once = {.sa_handler = on_nested, .sa_flags = (int)SA_RESETHAND};
	struct sigaction now;
	sigaction(SIGUSR1, &deep, NULL);
	raise(SIGUSR1);
	say(" %d", got);
	sigaction(SIGURG, &once, NULL);
	raise(SIGURG);
	raise(SIGURG); /* ignored: the handler has gone */
	sigaction(SIGURG, NULL, &now);
	say(" %d %d", got, now.sa_handler == SIG_DFL);
	signal(SIGTERM, SIG_IGN);
	raise(SIGTERM);
	sigaction(SIGTERM, NULL, &now);
	say(" %d", now.sa_handler == SIG_IGN);
}

/* The signals that a fresh program has blocked, ignored or pending; it must not see ours. */
static void act_dispositions(void)
{
	sigset_t set;
	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int i = 1; i < 65; i++) {
		struct sigaction action;
		if (sigismember(&set, i) == 1)
			say(" blocked %d", i);
		if (i != SIGUSR2 && sigaction(i, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL)
			say(" %d: %s", i, action.sa_handler == SIG_IGN ? "ignored" : "handled");
	}
	sigpending(&set);
	say(" %d", sigisemptyset(&set));
	stack_t stack;
	sigaltstack(NULL, &stack);
	say(" altstack %d", stack.ss_flags);
}

static void on_child(int number)
{
	(void)number;
	int saved = errno, status;
	while (waitpid(-1, &status, WNOHANG) > 0) {
		reaped++;
		statuses += WEXITSTATUS(status);
	}
	errno = saved;
}

static void act_children(void)
{
	struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
	int n = 5 + (int)chance(30);
	sigaction(SIGCHLD, &action, NULL);
	for (int i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(i);
		if (child < 0)
			give_up("fork");
	}
	for (int i = 0; i < 50000 && reaped < n; i++)
		pass_us(200);
	say(" %d of %d, sum %d", reaped, n, statuses);
}

/* With SIGCHLD ignored there is nothing to wait for. */
static void act_no_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(i);
	}
	int result = STEADILY(wait(NULL));
	SAY_RESULT(result);
}

static void act_waited(void)
{
	sigset_t set;
	siginfo_t about;
	struct timespec little = {0, 300000};
	struct signalfd_siginfo told = {0};
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 5);
	sigprocmask(SIG_BLOCK, &set, NULL);
	SAY_RESULT(STEADILY(sigtimedwait(&set, &about, &little)));
	for (int i = 0; i < 5; i++) {
		union sigval value = {.sival_int = i * i};
		sigqueue(getpid(), SIGRTMIN + 5, value);
	}
	for (int i = 0; i < 3; i++) {
		int number = STEADILY(sigwaitinfo(&set, &about));
		say(" %d/%d", number - SIGRTMIN, about.si_value.sival_int);
	}
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	for (int i = 0; i < 2; i++)
		say(" %d/%d", STEADILY(read(fd, &told, sizeof told)) == sizeof told, told.ssi_int);
	raise(SIGUSR1);
	int number = 0, failed = sigwait(&set, &number);
	say(" %d %d", failed, number);
	close(fd);
}

static sigjmp_buf out;
static atomic_bool may_jump;

static void jump(int number)
{
	(void)number;
	if (may_jump)
		siglongjmp(out, 1);
}

/* Calls that a handler leaves in the middle. No lock of libc is taken here. */
static void be_interrupted(void)
{
	char byte;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	for (int i = 0; i < 20; i++) {
		nvtx_push("left by siglongjmp");
		if (write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1)
			nvtx_mark("read");
		open("/nonexistent", O_RDONLY);
		nvtx_pop();
	}
	close(ends[0]);
	close(ends[1]);
}

static void *be_calm(void *unused)
{
	be_interrupted();
	return unused;
}

static void act_longjmp(void)
{
	struct itimerval often = {{0, 311}, {0, 311}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = jump};
	static volatile int rounds;
	int first = dup(0);
	close(first);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (rounds = 0; rounds < 150; rounds++) {
		if (sigsetjmp(out, 1) == 0) {
			may_jump = true;
			be_interrupted();
			pass_us(100);
		}
		may_jump = false;
		for (int fd = first; fd < first + 16; fd++)
			close(fd);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	unsigned long thread;
	start_thread(&thread, 0, be_calm, NULL);
	end_thread(thread);
	int again = dup(0);
	say(" %d rounds, descriptor %d", rounds, again - first);
}

static void *send_signals(void *thread)
{
	for (int i = 0; i < 50; i++) {
		pthread_kill((pthread_t)thread, SIGUSR1);
		pass_us(50);
	}
	return NULL;
}

static void on_count(int number)
{
	(void)number;
	got++;
}

/* pause and sigsuspend return when a signal has come, and never without. */
static void act_suspend(void)
{
	struct sigaction action = {.sa_handler = on_count};
	sigset_t blocked, before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 20; i++) {
		raise(SIGUSR1);
		sigdelset(&before, SIGUSR1);
		say("%s", sigsuspend(&before) == -1 && errno == EINTR && got == i + 1 ? "." : "!");
	}
	unsigned long thread;
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	start_thread(&thread, 0, send_signals, (void *)pthread_self());
	struct timespec long_time = {30, 0};
	int interrupted = nanosleep(&long_time, NULL) == -1 && errno == EINTR;
	end_thread(thread);
	say(" %d", interrupted);
}

const struct act signal_acts[] = {
	{"queue", act_queue, NEEDS_IMAGE},
	{"handlers", act_handlers, NEEDS_IMAGE},
	{"dispositions", act_dispositions, NEEDS_IMAGE | NEEDS_CALM},
	{"children", act_children, NEEDS_IMAGE | NEEDS_CALM},
	{"no_children", act_no_children, NEEDS_IMAGE | NEEDS_CALM},
	{"waited", act_waited, NEEDS_IMAGE},
	{"longjmp", act_longjmp, NEEDS_IMAGE | NEEDS_CALM},
	{"suspend", act_suspend, NEEDS_IMAGE | NEEDS_CALM},
	{NULL, NULL, 0},
};
