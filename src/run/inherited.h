/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.h - what whoever started headway meant for the program: signals, timers and limits.
 *
 * A process keeps these over exec, so the program would have them if it ran alone. headway stands
 * in between: inherited_take remembers them and makes headway survive them, inherited_give puts
 * them back in the process that becomes the program.
 */
#ifndef HWY_RUN_INHERITED_H
#define HWY_RUN_INHERITED_H

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { INHERITED_TIMERS = 3, INHERITED_LIMITS = 3 };

struct inherited {
	sigset_t ignored; /* signals that were ignored; the caller of inherited_take sets it */
	sigset_t mask;    /* signals that were blocked */
	sigset_t pending; /* signals that were blocked and had arrived */
	/* What was left of each timer at 'taken', which is in ns of CLOCK_MONOTONIC. */
	struct itimerval timers[INHERITED_TIMERS];
	int64_t taken;
	struct rlimit limits[INHERITED_LIMITS];
	int parent_death; /* the signal that the process gets when its parent dies; 0: none */
	int subreaper;    /* 1: orphaned descendants become children of the process */
};

/* Remembers what this process was given, stops the timers, takes the pending signals and raises
 * the soft limits of file size, CPU time and open files to the hard ones. */
void inherited_take(struct inherited *inherited);
/* Gives this process what inherited_take remembered. To be called just before exec. */
void inherited_give(const struct inherited *inherited);

#endif
