/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - starts the program.
 *
 * The child waits between fork and exec until its pid has been used (the output may be named
 * after it). The program inherits what it would have had without headway: descriptors, signals,
 * timers and limits (inherited.h), and the process group, so that the terminal's signals reach
 * it directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/run.h"

sigset_t run_awaited_signals(void)
{
	static const int left_out[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGTRAP};
	sigset_t set;
	sigfillset(&set);
	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		sigdelset(&set, left_out[i]);
	return set;
}

static void hide_output(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere < 0)
		return;
	dup2(nowhere, STDOUT_FILENO);
	dup2(nowhere, STDERR_FILENO);
}

/* Sets the environment of the program; false, with errno set, where there is no memory for it. */
static bool launch_set_environment(const struct run *run, const struct run_settings *settings)
{
	struct hwy_rescue rescue;
	if (HWY_RESCUED(&rescue)) {
		errno = ENOMEM;
		return false;
	}
	bool is_set = environment_set(run, settings);
	hwy_rescue_end(&rescue);
	return is_set;
}

/* Executes the program in this process; yields errno where that fails. */
static int execute(const struct run *run, const struct run_settings *settings)
{
	if (!launch_set_environment(run, settings))
		return errno;
	if (settings->hide_output)
		hide_output();
	inherited_give(&settings->inherited);
	execvp(settings->program[0], settings->program);
	return errno;
}

int run_become(const struct run_settings *settings)
{
	const struct run unrecorded = {0};
	return execute(&unrecorded, settings);
}

/* Runs in the child: waits for the parent's word, then executes the program. Sends errno to the
 * parent if exec fails. */
static _Noreturn void become_program(const struct run *run, const struct run_settings *settings,
				     int go, int failure)
{
	char word;
	ssize_t n;
	do
		n = read(go, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		_exit(0); /* the parent called run_cancel, or has ended */
	if (settings->dies_with_headway)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	int reason = n < 0 ? errno : execute(run, settings);
	/* A failure of this write is ignored: nobody is left who could hear of it. */
	(void)!write(failure, &reason, sizeof reason);
	_exit(127);
}

/* Forks the child; true in the parent. Signals are blocked meanwhile, and stay so. */
static bool fork_child(struct run *run, const struct run_settings *settings, const int go[2],
		       const int failure[2])
{
	run->awaited = run_awaited_signals();
	sigprocmask(SIG_BLOCK, &run->awaited, &run->mask);
	run->pid = fork();
	if (run->pid == 0) {
		close(go[1]);
		close(failure[0]);
		become_program(run, settings, go[0], failure[1]);
	}
	int reason = errno;
	if (run->pid > 0) { /* after it: who looks for headway's child finds the program first */
		sentinel_start(&run->sentinel);
		watcher_start(&run->watcher, run, &settings->watch);
	} else {
		sigprocmask(SIG_SETMASK, &run->mask, NULL);
	}
	errno = reason;
	return run->pid > 0;
}

bool run_fork(struct run *run, const struct run_settings *settings, struct hwy_err *err)
{
	int go[2], failure[2];
	if (pipe2(go, O_CLOEXEC) != 0)
		return hwy_fail(err, "no process for it: %s", hwy_strerror(errno));
	if (pipe2(failure, O_CLOEXEC) != 0) {
		int reason = errno;
		close(go[0]);
		close(go[1]);
		return hwy_fail(err, "no process for it: %s", hwy_strerror(reason));
	}
	bool forked = fork_child(run, settings, go, failure);
	int reason = errno;
	close(go[0]);
	close(failure[1]);
	run->go = go[1];
	run->failure = failure[0];
	if (forked)
		return true;
	close(run->go);
	close(run->failure);
	return hwy_fail(err, "no process for it: %s", hwy_strerror(reason));
}

static void launch_reap(struct run *run)
{
	while (waitpid(run->pid, &run->status, 0) < 0 && errno == EINTR)
		;
	run->ended = true;
	sentinel_end(&run->sentinel);
	watcher_end(&run->watcher, run->journal);
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
}

/* Tells the child to begin; false, with errno set, where the child cannot be told. */
static bool launch_say_go(const struct run *run)
{
	ssize_t n;
	do
		n = write(run->go, "g", 1);
	while (n < 0 && errno == EINTR);
	int reason = errno;
	/* Where the child was killed meanwhile, SIGPIPE is pending, and would end headway once
	 * it is not blocked any more. Ignoring a signal discards it. */
	signal(SIGPIPE, signal(SIGPIPE, SIG_IGN));
	errno = reason;
	return n == 1;
}

bool run_go(struct run *run, const struct run_settings *settings, struct hwy_err *err)
{
	int reason = 0;
	if (settings->watch.metrics.devices != PM_DEVICES_NONE)
		watcher_await_metrics(&run->watcher, run->journal);
	run->perf = perf_begin(run, &settings->perf);
	ssize_t n;
	bool told = launch_say_go(run);
	int cannot_tell = errno;
	close(run->go); /* a child that was not told to begin ends now */
	do
		n = read(run->failure, &reason, sizeof reason);
	while (n < 0 && errno == EINTR);
	close(run->failure);
	run->runs = told && n != (ssize_t)sizeof reason;
	if (run->runs)
		return true; /* exec has closed the pipe */
	if (n != (ssize_t)sizeof reason)
		reason = cannot_tell;
	launch_reap(run);
	perf_end(run->perf);
	run->perf = NULL;
	run->exec_error = reason;
	return hwy_fail(err, "%s", hwy_strerror(reason));
}

void run_cancel(struct run *run)
{
	close(run->go);
	close(run->failure);
	launch_reap(run);
}
