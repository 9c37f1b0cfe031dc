/* SPDX-License-Identifier: Apache-2.0 */
/* comparison.h - what changed from the first trace to the second, found by a process of its own
 * when a page first asks for it.
 *
 * Nobody who looks at one trace after the other pays for the comparison, and no tile waits for it.
 * The process sends one frame, WORKER_COMPARE or WORKER_FAILED, and ends.
 */
#ifndef HWY_SERVE_COMPARISON_H
#define HWY_SERVE_COMPARISON_H

#include "serve/worker.h"

struct comparison {
	char *const *argv;    /* how the process is started; NULL at the end */
	pthread_mutex_t lock; /* guards 'is_started' */
	bool is_started;
	struct worker worker;
};

void comparison_init(struct comparison *comparison, char *const *argv);
/* Starts the process where it was not started yet, and yields what it has sent, which may not be
 * all yet. NULL with a sentence where it cannot be started; the next call then tries again. */
struct worker *comparison_worker(struct comparison *comparison, struct hwy_err *err);
void comparison_stop(struct comparison *comparison);

#endif
