/* SPDX-License-Identifier: Apache-2.0 */
/* watcher.h - a process of headway's own that watches the GPUs from outside while the program
 * runs.
 *
 * It opens libraries of vendors (NVML, CUPTI), which may hang, crash or end their process: the
 * program and headway must not notice that. So the watcher is a process apart: nobody waits for
 * it but for a bounded time at the end of the run, it has a session of its own so that no signal
 * of the terminal or the process group reaches it, and it ends when headway does, however
 * headway ends. What it has seen is in spools of the run directory (spool/record_counters.h) as
 * soon as it is seen, so that `headway recover` finds it.
 *
 *   watcher_start(&run->watcher, run, &settings->watch);  // at once, and without waiting
 *   // the program runs
 *   watcher_end(&run->watcher, run->journal);             // its last records are in the spools
 */
#ifndef HWY_RUN_COUNTERS_WATCHER_H
#define HWY_RUN_COUNTERS_WATCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/counters/pm_devices.h"

struct journal;
struct run;

struct watch_settings {
	bool clocks;                /* record clocks, power and temperature (NVML) */
	struct pm_settings metrics; /* which GPUs' counters are sampled (CUPTI) */
};

struct watcher {
	pid_t pid;       /* 0: there is no watcher */
	int line;        /* a socket; the watcher ends when this end of it is closed */
	int64_t started; /* ns */
	bool has_opened; /* a source was opened */
	bool wants_clocks, wants_metrics;
	bool has_clocks;  /* clocks and power are written to the end */
	bool has_metrics; /* GPU metrics are sampled, or cannot be */
};

/* Starts the watcher, where there is something to watch. Where that fails, the journal says so. */
void watcher_start(struct watcher *watcher, const struct run *run,
		   const struct watch_settings *settings);
/* Waits, for a bounded time, until GPU metrics are sampled or cannot be: the program's first
 * work is to be seen. */
void watcher_await_metrics(struct watcher *watcher, struct journal *journal);
/* Tells the watcher to end, and waits for that. A watcher that shows no sign of life is killed. */
void watcher_end(struct watcher *watcher, struct journal *journal);
/* Somebody else has taken the watcher's status: it has ended. */
void watcher_was_reaped(struct watcher *watcher, int status, struct journal *journal);

#endif
