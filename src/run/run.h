/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the parent's side of recording: a run directory, a program started in it, and its end.
 *
 *   inherited_take(&settings->inherited); // first of all: an alarm may be running
 *   struct run run = {0};
 *   if (!run_prepare(&run, settings, err) || !run_fork(&run, settings, err))
 *           return run_become(settings); // nothing can be recorded: the program runs in our place
 *   if (!run_go(&run, settings, err)) // run.pid was known; the program runs now
 *           return false;
 *   while (run_wait(&run, settings) == RUN_RECORDED)
 *           puts("the report can be made while the program goes on");
 *   run_free(&run);
 *
 * The program's terminal, signals, descriptors and exit status are its own: nothing here reads its
 * output or stands between it and whoever waits for it. directory.c has run_prepare, run_remove,
 * run_is_over and run_free; launch.c has run_fork, run_go, run_cancel and run_become; wait.c the
 * rest.
 */
#ifndef HWY_RUN_RUN_H
#define HWY_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "run/counters/watcher.h"
#include "run/inherited.h"
#include "run/perf/perf.h"
#include "run/sentinel.h"
#include "spool/control.h"
#include "spool/record.h"

/* A fact about the run that the caller knows. */
struct run_property {
	const char *name, *value;
};

struct run_settings {
	/* The control page as targets will see it; run_prepare fills in what the caller leaves
	 * 0. */
	struct rec_control control;
	char *const *program; /* the program and its arguments, NULL at the end */
	/* Variables to set for the program, "NAME=value", NULL at the end; may be NULL. */
	char *const *variables;
	/* The program gets only 'variables', nothing of headway's own environment. */
	bool fresh_environment;
	bool hide_output; /* the program's stdout and stderr go to /dev/null */
	/* What headway was started with, and the program is to have. */
	struct inherited inherited;
	/* wait_primary: run_wait waits for the program only, not for processes that it leaves
	 * behind. */
	bool wait_primary;
	/* dies_with_headway: whoever kills headway (SIGKILL) kills the program: a launcher knows
	 * of headway only, and ends its ranks so. */
	bool dies_with_headway;
	/* kill_at_end: kill_signal is sent also when a capture range has ended, not only after
	 * 'duration'. */
	bool kill_at_end;
	/* kill_signal: the signal sent when recording has ended before the program; 0: the
	 * program goes on. */
	int kill_signal;
	/* 'delay': ns from the program's start to recording; 'duration': ns of recording, 0: no
	 * limit. */
	int64_t delay, duration;
	struct perf_settings perf;   /* what is recorded of CPU samples and scheduling */
	struct watch_settings watch; /* what is recorded of GPUs, from outside the program */
	/* beside: the output's folder, in which the run directory is made when other folders are
	 * full. */
	const char *beside;
	/* What the report is to leave out, "no-args" or "anonymous", or NULL. It is noted in the
	 * journal as the property capture.privacy, so that 'headway recover' knows. */
	const char *privacy;
	/* Properties that the report is to have; the list ends with a name of NULL. May be NULL. */
	const struct run_property *properties;
};

/* Processes of a run that were found alive; 'started' tells a process from a later one with the
 * same pid. */
struct descendants {
	struct descendant {
		pid_t pid;
		uint64_t started; /* clock ticks since the machine's start */
	} * list;
	uint32_t n;
};

struct run {
	/* path of the run directory; NULL: nothing is recorded, or the report is made */
	char *directory;
	char *mark; /* the same path, by which processes of the run are found to the end */
	struct rec_control *control; /* the control page, mapped */
	/* The descriptor of the control page, which is locked while headway lives. */
	int lock;
	struct journal *journal;
	struct space *space; /* watches over the disk; NULL: nothing is recorded */
	/* step_counter: counts the program's steps; NULL: steps are not counted. */
	struct step_counter *step_counter;
	struct perf *perf; /* the reader of CPU samples; NULL: no samples are taken */
	pid_t pid;
	struct sentinel sentinel;
	struct watcher watcher;
	/* What the program left behind when it ended, and run_wait still waits for. */
	struct descendants orphans;
	/* Two pipes: 'go' lets the child begin, 'failure' brings the errno of the child's exec. */
	int go, failure;
	int exec_error; /* errno of the child's exec, where that failed */
	bool runs;      /* the program was started; true also after its end */
	bool ended;     /* the program has ended */
	int status;     /* the program's status as waitpid gives it */
	int64_t begun;  /* ns when recording began; 0: recording has not begun */
	int64_t over;   /* ns when recording ended for good; 0: recording has not ended */
	bool expired;   /* recording ended because 'duration' was over */
	/* was_reported: what follows the end of recording was done: RUN_RECORDED was yielded, or
	 * the signal was sent. */
	bool was_reported;
	/* 'awaited': the signals that run_wait takes; 'mask': the signals blocked before the
	 * run. */
	sigset_t awaited, mask;
};

/* Makes the run directory and the control page. False: nothing can be recorded, for the reason in
 * err. */
bool run_prepare(struct run *run, struct run_settings *settings, struct hwy_err *err);
bool run_fork(struct run *run, const struct run_settings *settings, struct hwy_err *err);
/* Lets the program begin; false when the program cannot be executed: run->exec_error says why. */
bool run_go(struct run *run, const struct run_settings *settings, struct hwy_err *err);
/* Ends the forked child instead of letting it execute the program. */
void run_cancel(struct run *run);
/* Makes this process the program, unrecorded. Comes back only where that fails, with errno. */
int run_become(const struct run_settings *settings);

/* The signals that headway takes while it waits, and passes on; without that most of them would
 * end it. Left out are those that stop and continue a job: headway does as the program does, so
 * that a shell sees it. */
sigset_t run_awaited_signals(void);

enum run_event {
	RUN_ENDED, /* the program has ended, and all processes that run_wait had to wait for */
	/* Recording ended for good, and the program goes on; run_wait yields this once. */
	RUN_RECORDED,
};
enum run_event run_wait(struct run *run, const struct run_settings *settings);

/* Which of these sources (REC_TRACE_…) have a library of their own that is installed. */
uint32_t run_installed_sources(uint32_t sources);

/* Removes what headway put into the run directory, and the directory; false: the directory holds
 * more, and stays. */
bool run_remove(const char *directory);
void run_free(struct run *run);

/* True when nobody is recording into this directory any more; for `headway recover`. */
bool run_is_over(const char *directory);
/* False for a run directory of another user, who could change it while it is read and removed. */
bool run_is_ours(const char *directory, struct hwy_err *err);

/* ---- inside this room ---- */

/* Bytes above what a recording leaves free (space.h): a folder with less room is used for a run
 * only where there is no better place, and none with less than RUN_LEAST_BYTES. */
#define RUN_ENOUGH_BYTES (UINT64_C(128) << 20)
#define RUN_LEAST_BYTES (UINT64_C(1) << 20)

/* library.c: yields the path of libheadway-collect.so, which the caller frees; or NULL with the
 * reason in err. */
char *library_find(struct hwy_err *err);
/* library.c: yields the real path of the first of these files that can be read, which the caller
 * frees; or NULL. Places begin with '/' and start at the folder of the program; NULL ends them. */
char *library_place(const char *const *places);
/* environment.c: sets the environment of the calling process to what the program is to have. False,
 * with errno set, where a variable cannot be set. */
bool environment_set(const struct run *run, const struct run_settings *settings);
/* descendants.c: the processes of the run that are alive, the program included. */
struct descendants descendants_find(const struct run *run);
bool descendants_are_alive(const struct descendants *descendants);
void descendants_free(struct descendants *descendants);
/* descendants.c: sends a signal to every process of the run. */
void descendants_signal(const struct run *run, int number);

int64_t run_now(void); /* ns of CLOCK_MONOTONIC */

#endif
