/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h - processes that prepare batches for the loop. For src/diagnose only. */
#ifndef HWY_DIAGNOSE_WORKERS_H
#define HWY_DIAGNOSE_WORKERS_H

#include "diagnose/case.h"

struct workers {
	bool is_known; /* processes were recorded, so n == 0 means that there are no workers */
	uint32_t n;    /* child processes of the loop's process that lived in the window */
	uint32_t generations; /* at how many different times workers were started */
	int64_t cpus;         /* processors of the host, or HWY_NONE */
	bool has_states;      /* the states of the workers' threads were recorded */
	/* 'preempted': the share of the window in which one worker, on average, was ready to run
	 * and had no processor. 'running': how many workers ran at the same time, on average. */
	double preempted, running;
};

/* Finds the workers of the phase's process. A child process that compiles is no worker. */
struct workers workers_find(const struct hwy_case *c);
/* Whether the workers are too many: more than processors and, where their states are known, often
 * without one. */
bool workers_are_too_many(const struct workers *workers);

#endif
