/* SPDX-License-Identifier: Apache-2.0 */
/* perf.h - CPU samples and scheduling of the program, by the kernel's perf events, from outside.
 *
 * Events are opened on the child before it becomes the program, and follow it to every process that
 * it starts. A thread of headway takes what the kernel writes and keeps it in spools of the run
 * directory (pid 0). Nothing happens in the program but the interrupt. The journal says what is not
 * permitted, and the rest of the run goes on.
 */
#ifndef HWY_RUN_PERF_PERF_H
#define HWY_RUN_PERF_PERF_H

#include <stdbool.h>
#include <stdint.h>

enum perf_scope { PERF_NONE, PERF_TREE, PERF_SYSTEM };
enum perf_backtrace { PERF_BACKTRACE_DWARF, PERF_BACKTRACE_FP, PERF_BACKTRACE_NONE };

struct perf_settings {
	enum perf_scope samples, switches;
	uint32_t rate_hz;
	/* period: CPU cycles between samples; 0: rate_hz decides how often samples are taken. */
	uint64_t period;
	enum perf_backtrace backtrace;
};

struct perf;
struct run;

/* Whether the kernel lets this process sample its own threads. */
bool perf_is_permitted(void);

/* Opens the events and starts the reader thread; the child must wait for its exec. NULL when
 * nothing was asked for, or nothing is permitted. */
struct perf *perf_begin(const struct run *run, const struct perf_settings *settings);
/* Makes the kernel write no more samples. 'perf' may be NULL in this and all following
 * functions. */
void perf_stop(struct perf *perf);
/* Reads the last records from the rings, ends the reading thread, frees everything. */
void perf_end(struct perf *perf);

#endif
