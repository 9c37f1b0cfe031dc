/* SPDX-License-Identifier: Apache-2.0 */
/* watcher_start.c - headway's side of the watcher: see watcher.h.
 *
 * Nothing here waits for the watcher before the run ends, and then for PATIENCE_MS without a
 * sign of life: a byte that it sends when a source has moved on (watched_is_alive: samples were
 * read or evaluated). Closing CUPTI's session takes some tenths of a second without one, so who
 * samples has METRICS_PATIENCE_MS. Even where the kernel cannot end the watcher (a driver that
 * hangs in it), headway goes on: the watcher is left behind.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/counters/watched.h"
#include "run/journal.h"
#include "run/run.h"

enum {
	PATIENCE_MS = 500, /* ms without a sign of life after which the watcher is killed */
	METRICS_PATIENCE_MS = 3000,
	LONGEST_MS = 120000, /* ms that its last work may take at most */
	LONG_RUN_MS = 3000,  /* ms of a run after which every driver has begun */
	METRICS_MS = 3000,   /* ms that the program's start may wait for GPU metrics */
	AFTER_KILL_MS = 200, /* ms for the kernel to end it */
};

void watcher_start(struct watcher *watcher, const struct run *run,
		   const struct watch_settings *settings)
{
	int ends[2];
	*watcher = (struct watcher){.line = -1};
	bool is_wanted = settings->clocks || settings->metrics.devices != PM_DEVICES_NONE;
	if (!run->directory || !is_wanted)
		return;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		journal_note(run->journal, 2,
			     "clocks and power of the GPU are not recorded: no descriptors");
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		watched_run(run, settings, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		journal_note(run->journal, 2,
			     "clocks and power of the GPU are not recorded: no process for it");
		return;
	}
	*watcher = (struct watcher){.pid = pid, .line = ends[0], .started = run_now()};
	watcher->wants_clocks = settings->clocks;
	watcher->wants_metrics = settings->metrics.devices != PM_DEVICES_NONE;
}

static void watcher_hear(struct watcher *watcher, char sign)
{
	watcher->has_opened |= sign == WATCHER_OPENED;
	watcher->has_clocks |= sign == WATCHER_CLOCKS;
	watcher->has_metrics |= sign == WATCHER_METRICS;
}

/* Writes to the journal how the watcher ended, unless that was in good order. */
static void note_end(struct journal *journal, int status)
{
	char text[256];
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		snprintf(
			text, sizeof text,
			"clocks, power and metrics of the GPU are not recorded to the end: somebody, or the "
			"kernel for want of memory, killed the process that asks for them");
	else if (WIFSIGNALED(status))
		snprintf(
			text, sizeof text,
			"clocks and power of the GPU are not recorded to the end: the driver's library crashed "
			"(%s), in a process of headway's own",
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(
			text, sizeof text,
			"clocks and power of the GPU are not recorded to the end: the process that asks for them "
			"ended with status %d",
			WEXITSTATUS(status));
	else
		return;
	journal_note(journal, 2, text);
}

void watcher_was_reaped(struct watcher *watcher, int status, struct journal *journal)
{
	note_end(journal, status);
	close(watcher->line);
	*watcher = (struct watcher){.line = -1};
}

/* Whether somebody wants headway to end, who should not have to wait. */
static bool has_ending_signal(void)
{
	sigset_t pending;
	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGQUIT) == 1);
}

/* Waits until the watcher has closed its end of the line; false where it shows no sign of life,
 * takes too long, or somebody does not want to wait any more. */
static bool await_last_work(struct watcher *watcher)
{
	char sign;
	int64_t begun = run_now(), alive = begun;
	int64_t patience =
		watcher->wants_metrics && watcher->has_metrics ? METRICS_PATIENCE_MS : PATIENCE_MS;
	for (int64_t now = begun; now - alive < patience * INT64_C(1000000) &&
				  now - begun < LONGEST_MS * INT64_C(1000000);
	     now = run_now()) {
		struct pollfd line = {.fd = watcher->line, .events = POLLIN};
		if (now - begun > PATIENCE_MS * INT64_C(1000000) && has_ending_signal())
			return false;
		if (poll(&line, 1, PATIENCE_MS / 10) <= 0)
			continue;
		if (recv(watcher->line, &sign, sizeof sign, MSG_DONTWAIT) <= 0)
			return true;
		watcher_hear(watcher, sign);
		alive = now;
	}
	return false;
}

/* Takes the watcher's status, within some ms; false where it has not ended by then. */
static bool reap_watcher(const struct watcher *watcher, int *status)
{
	for (int waited = 0; waited <= AFTER_KILL_MS; waited++) {
		pid_t pid = waitpid(watcher->pid, status, WNOHANG);
		if (pid == watcher->pid)
			return true;
		if (pid < 0 && errno != EINTR)
			return false;
		poll(NULL, 0, 1);
	}
	return false;
}

static void watcher_kill(const struct watcher *watcher)
{
	int status;
	kill(watcher->pid, SIGKILL);
	reap_watcher(watcher, &status);
}

void watcher_await_metrics(struct watcher *watcher, struct journal *journal)
{
	char sign = 0;
	int64_t until = run_now() + METRICS_MS * INT64_C(1000000);
	while (watcher->pid && !watcher->has_metrics && run_now() < until && !has_ending_signal()) {
		struct pollfd line = {.fd = watcher->line, .events = POLLIN};
		if (poll(&line, 1, METRICS_MS / 100) <= 0)
			continue;
		if (recv(watcher->line, &sign, sizeof sign, MSG_DONTWAIT) <= 0)
			return; /* it has ended; how is noted where its status is taken */
		watcher_hear(watcher, sign);
	}
	if (watcher->pid && !watcher->has_metrics)
		journal_note(journal, 2,
			     "GPU metrics: the driver's library takes long to begin: the program "
			     "was started without them");
}

/* Whether the watcher is still opening its libraries: it has said nothing, and lives. */
static bool is_opening(struct watcher *watcher)
{
	char sign;
	ssize_t n = watcher->has_opened ? 0 : recv(watcher->line, &sign, sizeof sign, MSG_DONTWAIT);
	if (n > 0)
		watcher_hear(watcher, sign);
	return n < 0 && errno == EAGAIN;
}

/* Says what is missing because the watcher was killed. */
static void note_kill(const struct watcher *watcher, struct journal *journal)
{
	if (watcher->wants_clocks && !watcher->has_clocks)
		journal_note(
			journal, 2,
			"clocks and power of the GPU are not recorded to the end: the driver's library stopped "
			"answering");
	if (watcher->wants_metrics)
		journal_note(
			journal, 2,
			watcher->has_metrics
				? "GPU metrics are not recorded to the end: CUPTI stopped answering"
				: "GPU metrics: not recorded: sampling had not begun when the "
				  "program ended");
}

void watcher_end(struct watcher *watcher, struct journal *journal)
{
	int status = 0;
	if (!watcher->pid)
		return;
	if (is_opening(watcher)) {
		/* Drivers take up to a second to begin. Who runs a short program is not to wait
		 * for that. */
		watcher_kill(watcher);
		if (run_now() - watcher->started > LONG_RUN_MS * INT64_C(1000000))
			journal_note(
				journal, 2,
				"clocks and power of the GPU are not recorded: the driver's library did "
				"not answer");
	} else if (shutdown(watcher->line, SHUT_WR), await_last_work(watcher)) {
		if (reap_watcher(watcher, &status))
			note_end(journal, status);
	} else {
		watcher_kill(watcher);
		note_kill(watcher, journal);
	}
	close(watcher->line);
	*watcher = (struct watcher){.line = -1};
}
