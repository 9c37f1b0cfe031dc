/* run.h - the parent's side of recording: a run directory, a program started in it, and its end.
 *
 *   struct run run = {0};
 *   bool is_recorded = run_prepare(&run, settings, err); // false: the program can still be started, unrecorded
 *   if (!run_fork(&run, settings, err)) // run.pid is known now; the program waits
 *           return false;
 *   if (!run_go(&run, settings, err)) // the program runs now
 *           return false;
 *   while (run_wait(&run, settings) == RUN_RECORDED)
 *           puts("the report can be made while the program goes on");
 *   run_free(&run);
 *
 * The program's terminal, signals, descriptors and exit status are its own: nothing here reads its
 * output or stands between it and whoever waits for it. directory.c has run_prepare, run_remove,
 * run_is_over and run_free; launch.c has run_fork, run_go and run_cancel; wait.c the rest.
 */
#ifndef HWY_RUN_RUN_H
#define HWY_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "run/perf/perf.h"
#include "spool/record.h"

struct run_settings {
	/* The control page as targets will see it; run_prepare fills in the rest. */
	struct rec_control control;
	char *const *program;   /* the program and its arguments, NULL at the end */
	char *const *variables; /* variables to set, "NAME=value", NULL at the end; may be NULL */
	/* The program gets only 'variables', nothing of headway's own environment. */
	bool fresh_environment;
	bool hide_output; /* the program's stdout and stderr go to /dev/null */
	/* SIGPIPE was ignored when headway was started, so it is ignored in the program. */
	bool ignore_pipe;
	/* run_wait waits for the program only, not for processes that it leaves behind. */
	bool wait_primary;
	/* kill_signal is sent also when a capture range has ended, not only after 'duration'. */
	bool kill_at_end;
	/* The signal sent when recording has ended before the program; 0: the program goes on. */
	int kill_signal;
	int64_t delay, duration;   /* ns from the start to recording, ns of recording; 0: none */
	struct perf_settings perf; /* what is recorded of CPU samples and scheduling */
	/* A folder for the run directory where others are full: that of the output. */
	const char *beside;
};

struct run {
	char *directory;             /* path of the run directory; NULL: nothing is recorded */
	struct rec_control *control; /* the control page, mapped */
	/* Descriptor of the control page, locked while headway lives. */
	int lock;
	struct journal *journal;
	/* Counts the program's steps; NULL: steps are not counted. */
	struct step_counter *step_counter;
	struct perf *perf; /* the reader of samples; NULL: there are none */
	pid_t pid;
	/* Pipes: 'go' lets the child begin, 'failure' brings errno of its exec. */
	int go, failure;
	bool ended;    /* the program has ended */
	int status;    /* the program's status as waitpid gives it */
	int64_t begun; /* ns when recording began, 0: not yet */
	int64_t over;  /* ns when recording ended for good, 0: not yet */
	bool expired;  /* recording ended because 'duration' was over */
	/* What follows the end of recording was done: RUN_RECORDED, or the signal. */
	bool was_reported;
	/* The signals that run_wait takes; the signals that were blocked before. */
	sigset_t awaited, mask;
};

/* Makes the run directory and the control page. False: nothing can be recorded, for the reason in
 * err. */
bool run_prepare(struct run *run, struct run_settings *settings, struct hwy_err *err);
bool run_fork(struct run *run, const struct run_settings *settings, struct hwy_err *err);
/* Lets the program begin; false when it cannot be executed. */
bool run_go(struct run *run, const struct run_settings *settings, struct hwy_err *err);
/* Ends the forked child instead of letting it execute the program. */
void run_cancel(struct run *run);

enum run_event {
	RUN_ENDED,    /* the program ended, and the processes that were to be waited for */
	RUN_RECORDED, /* recording ended for good, the program goes on; yielded once */
};
enum run_event run_wait(struct run *run, const struct run_settings *settings);
/* The exit status as a shell gives it: the program's exit code, or 128 + signal. */
int run_exit_status(const struct run *run);

/* Removes what headway put into the run directory, and the directory; false: the directory holds
 * more, and stays. */
bool run_remove(const char *directory);
void run_free(struct run *run);

/* For `headway recover`: true when nobody is recording into this directory any more. */
bool run_is_over(const char *directory);

/* ---- inside this room ---- */

/* Bytes: a folder with less room is used for a run only where there is no better place. */
#define RUN_ENOUGH_BYTES (UINT64_C(128) << 20)

/* library.c: the path of libheadway-collect.so, to be freed; or NULL with the reason in err. */
char *library_find(struct hwy_err *err);
/* environment.c: sets the environment of the calling process to what the program is to have. */
void environment_set(const struct run *run, const struct run_settings *settings);
/* descendants.c: sends a signal to every process that was started by headway, directly or not. */
void descendants_signal(int number);

int64_t run_now(void); /* ns of CLOCK_MONOTONIC */

#endif
