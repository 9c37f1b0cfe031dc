/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - while the program runs: when recording begins and ends, who is waited for, which signals
 * go where.
 *
 * The program is in headway's process group, so that signals of the terminal and of kill() to the
 * group reach it directly. A signal that came to headway alone is passed on to the program; the
 * sentinel tells the two kinds apart. Neither kind ends headway: there is a report to be made.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/journal.h"
#include "run/run.h"
#include "run/space.h"
#include "run/step_counter.h"

/* How often the control page is read while targets may change it (capture ranges). */
static const int64_t LOOK_EVERY_NS = 20 * 1000 * 1000;
/* How often steps are counted, where recording ends after a number of steps. */
static const int64_t COUNT_EVERY_NS = 100 * 1000 * 1000;
/* How long targets may take to write what CUPTI still holds, before they are killed or their spools
 * are read. */
static const int64_t SETTLE_NS = 400 * 1000 * 1000;
/* How often headway looks whether processes that the program left behind are still alive. */
static const int64_t ORPHANS_EVERY_NS = 50 * 1000 * 1000;
/* How long a signal is held back that the sentinel does not have: who sends a signal to all
 * processes of a control group sends it to one after the other. */
static const int64_t GRACE_NS = 20 * 1000 * 1000;

static uint32_t load(uint32_t *field)
{
	return atomic_load((_Atomic uint32_t *)field);
}

static void store(uint32_t *field, uint32_t value)
{
	atomic_store((_Atomic uint32_t *)field, value);
}

/* ---- when recording begins and ends ---------------------------------------------------------- */

static void end_recording(struct run *run, int64_t now)
{
	store(&run->control->recording, 0);
	store(&run->control->finished, 1);
	journal_recording(run->journal, false, now);
	perf_stop(run->perf);
	run->over = now;
}

/* Ends the reading of samples and the watching of GPUs: from here on a report can be made of
 * them. */
static void end_samples(struct run *run)
{
	perf_end(run->perf);
	run->perf = NULL;
	watcher_end(&run->watcher, run->journal);
}

/* True when as many steady steps were recorded as the user asked for. */
static bool has_steps(struct run *run)
{
	if (!run->control->steps || !run->begun)
		return false;
	if (!run->step_counter)
		run->step_counter = step_counter_open(run->directory);
	return step_counter_steady(run->step_counter) >= run->control->steps;
}

/* Begins or ends recording where that is due; yields when to look again (INT64_MAX: only when a
 * signal comes). */
static int64_t follow_recording(struct run *run, const struct run_settings *settings, int64_t now)
{
	if (!run->directory)
		return INT64_MAX;
	struct rec_control *control = run->control;
	int64_t look = control->steps ? COUNT_EVERY_NS : LOOK_EVERY_NS;
	bool shared = control->capture != REC_CAPTURE_NONE || control->steps;
	if (run->over)
		return run->was_reported ? INT64_MAX : run->over + SETTLE_NS;
	if (load(&control->finished)) {
		perf_stop(run->perf);
		run->over = now;
		return now + SETTLE_NS;
	}
	if (!run->begun && control->capture == REC_CAPTURE_NONE &&
	    now - control->started >= settings->delay) {
		run->begun = now;
		store(&control->recording, 1);
		journal_recording(run->journal, true, now);
	} else if (!run->begun && load(&control->recording)) {
		run->begun = now;
	}
	if (has_steps(run)) {
		end_recording(run, now);
		return now + SETTLE_NS;
	}
	if (run->begun && settings->duration && now - run->begun >= settings->duration) {
		run->expired = true;
		end_recording(run, now);
		return now + SETTLE_NS;
	}
	int64_t next = INT64_MAX;
	if (!run->begun && control->capture == REC_CAPTURE_NONE)
		next = control->started + settings->delay;
	else if (run->begun && settings->duration)
		next = run->begun + settings->duration;
	return shared && next > now + look ? now + look : next;
}

/* ---- who has ended --------------------------------------------------------------------------- */

/* Takes the status of each child that has ended. Beside the program, the sentinel and the
 * watcher there are others where headway is the init process of a container: orphans become its
 * children. */
static void reap_children(struct run *run)
{
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR);) {
		if (pid < 0)
			continue;
		if (pid == run->sentinel.pid) {
			sentinel_lose(&run->sentinel);
			continue;
		}
		if (pid == run->watcher.pid) {
			watcher_was_reaped(&run->watcher, status, run->journal);
			continue;
		}
		journal_status(run->journal, (uint32_t)pid, status, run_now());
		if (pid == run->pid) {
			run->ended = true;
			run->status = status;
		}
	}
}

/* Whether the program, or a process that it left behind, is still to be waited for. */
static bool is_awaited(struct run *run, const struct run_settings *settings)
{
	if (!run->ended)
		return true;
	if (settings->wait_primary)
		return false;
	if (descendants_are_alive(&run->orphans))
		return true;
	/* Those that were known have ended; they may have started others. */
	descendants_free(&run->orphans);
	run->orphans = descendants_find(run);
	return run->orphans.n > 0;
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Whether a signal ends a process that does nothing about it. */
static bool signal_ends(int number)
{
	return number != SIGURG && number != SIGWINCH && number != SIGCHLD;
}

/* Whether the program got this signal itself. */
static bool was_sent_to_program(struct run *run, const siginfo_t *about)
{
	const struct timespec grace = {.tv_nsec = GRACE_NS};
	if (sentinel_has(&run->sentinel, about->si_signo))
		return true;
	/* Without a sentinel the kernel's signals (Ctrl-C) are taken for the group's, and those of
	 * processes for headway's own. */
	if (!run->sentinel.pid)
		return about->si_code > 0;
	nanosleep(&grace, NULL);
	return sentinel_has(&run->sentinel, about->si_signo);
}

/* Acts on a signal; true when run_wait is to wait no longer. */
static bool take_signal(struct run *run, const siginfo_t *about)
{
	/* The kernel names headway itself as the sender where a write of headway failed (SIGPIPE,
	 * SIGXFSZ). */
	if (about->si_signo == SIGCHLD || (about->si_code == SI_USER && about->si_pid == getpid()))
		return false;
	bool is_known = was_sent_to_program(run, about);
	if (run->ended) /* only processes that the program left behind are still running */
		return signal_ends(about->si_signo);
	if (is_known)
		return false;
	if (about->si_code == SI_QUEUE)
		sigqueue(run->pid, about->si_signo, about->si_value);
	else
		kill(run->pid, about->si_signo);
	return false;
}

static void wait_until(const struct run *run, int64_t when, siginfo_t *about)
{
	int64_t left = when == INT64_MAX ? INT64_MAX : when - run_now();
	left = left < 0 ? 0 : left;
	struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
	int number = when == INT64_MAX ? sigwaitinfo(&run->awaited, about)
				       : sigtimedwait(&run->awaited, about, &time);
	if (number < 0)
		about->si_signo = 0;
}

/* Drops pending signals that nobody took: once they are unblocked, they would end headway. */
static void drop_pending(const struct run *run)
{
	struct timespec now = {0};
	while (sigtimedwait(&run->awaited, NULL, &now) > 0 || errno == EINTR)
		;
}

/* Ends the recording and restores the signal mask: from here on signals end headway like any
 * command. */
static enum run_event wait_finish(struct run *run)
{
	if (run->directory) {
		if (run->control->steps && !run->over)
			journal_note(
				run->journal, 2,
				"--steps: the program ended before so many steady steps; they are told by "
				"ranges of NVTX that come again and again");
		store(&run->control->finished, 1);
		end_samples(run);
		journal_clock(run->journal);
	}
	sentinel_end(&run->sentinel);
	descendants_free(&run->orphans);
	drop_pending(run);
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
	return RUN_ENDED;
}

enum run_event run_wait(struct run *run, const struct run_settings *settings)
{
	for (;;) {
		reap_children(run);
		if (!is_awaited(run, settings))
			return wait_finish(run);
		int64_t now = run_now(), next = follow_recording(run, settings, now);
		if (run->ended && next > now + ORPHANS_EVERY_NS)
			next = now + ORPHANS_EVERY_NS;
		if (run->over && !run->was_reported && now >= run->over + SETTLE_NS) {
			bool kills =
				settings->kill_signal && (settings->kill_at_end || run->expired);
			run->was_reported = true;
			end_samples(run);
			if (!kills)
				return RUN_RECORDED;
			descendants_signal(run, settings->kill_signal);
			continue;
		}
		int64_t look = run->over ? INT64_MAX : space_watch(run->space, now);
		siginfo_t about = {0};
		wait_until(run, look < next ? look : next, &about);
		if (about.si_signo && take_signal(run, &about))
			return wait_finish(run);
	}
}
