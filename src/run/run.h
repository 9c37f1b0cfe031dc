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
 * The program's terminal, signals, descriptors and exit status are its own: nothing here reads its output or
 * stands between it and whoever waits for it.
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
	struct rec_control
		control;        /* what targets are told; the rest is filled in by run_prepare */
	char *const *program;   /* NULL-terminated */
	char *const *variables; /* "NAME=value", NULL-terminated; may be NULL */
	bool fresh_environment; /* only 'variables', nothing of ours is handed on */
	bool hide_output;       /* stdout and stderr go nowhere */
	bool ignore_pipe;  /* SIGPIPE was ignored when we were started, so it is for the program */
	bool wait_primary; /* not for processes it leaves behind */
	bool kill_at_end;  /* when a capture range has ended, not only after 'duration' */
	int kill_signal;   /* sent when recording has ended early; 0: the program goes on */
	int64_t delay, duration;   /* ns; 0: none */
	struct perf_settings perf; /* CPU samples and scheduling */
	const char *beside;        /* a folder to fall back on: the output's */
};

struct run {
	char *directory;             /* NULL: not recorded */
	struct rec_control *control; /* mapped */
	int lock;                    /* descriptor of the control page: locked while we live */
	struct journal *journal;
	struct steps *steps; /* NULL: not counted */
	struct perf *perf;   /* NULL: no samples */
	pid_t pid;
	int go, failure;        /* pipes to and from the child */
	bool ended;             /* the program has */
	int status;             /* as wait() gives it */
	int64_t begun;          /* when recording began, 0: not yet */
	int64_t over;           /* when it ended for good, 0: not yet */
	bool expired;           /* by 'duration' */
	bool told;              /* what follows from that was done */
	sigset_t awaited, mask; /* signals run_wait takes; what was blocked before */
};

/* Makes the directory and the control page. False: nothing can be recorded, for the reason in err. */
bool run_prepare(struct run *run, struct run_settings *settings, struct hwy_err *err);
bool run_fork(struct run *run, const struct run_settings *settings, struct hwy_err *err);
/* Lets the program begin; false when it cannot be executed. */
bool run_go(struct run *run, const struct run_settings *settings, struct hwy_err *err);
/* Calls it off instead: nothing was executed. */
void run_cancel(struct run *run);

enum run_event {
	RUN_ENDED,    /* the program ended, and what was to be waited for with it */
	RUN_RECORDED, /* recording ended for good, the program goes on; said once */
};
enum run_event run_wait(struct run *run, const struct run_settings *settings);
/* What a shell would say: the exit code, or 128 + signal. */
int run_exit_status(const struct run *run);

/* Removes what we put into the directory, and it; false: it holds more, and stays. */
bool run_remove(const char *directory);
void run_free(struct run *run);

/* For `headway recover`: true when nobody is recording into this directory any more. */
bool run_is_over(const char *directory);

/* ---- inside this room ---- */

/* Less room than this is used for a run only where there is no better place. */
#define RUN_ENOUGH_BYTES (UINT64_C(128) << 20)

/* library.c: the path of libheadway-collect.so, or NULL with the reason in err. */
char *library_find(struct hwy_err *err);
/* environment.c: what the program is given. */
void environment_set(const struct run *run, const struct run_settings *settings);
/* descendants.c: sends a signal to every process that came from us. */
void descendants_signal(int number);

int64_t run_now(void); /* CLOCK_MONOTONIC */

#endif
