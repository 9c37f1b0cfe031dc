/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - what all event sources inside the profiled program share.
 *
 * All of this runs in somebody else's program: it never aborts, prints, blocks or throws an error
 * back; on trouble it counts, notes and carries on. No allocation on the recording path, errno is
 * preserved, and a thread-local guard keeps our own calls from being recorded. libc only.
 *
 * Where the functions are defined: collect_reserve, collect_publish and collect_tid in spool.c,
 * collect_string in text_ids.c, collect_stack in stack.c, the cuda_ functions in cuda/, the rest in
 * collect.c. A library beside the collector (share.h) has its own definitions of them in
 * sibling/sibling.c.
 */
#ifndef HWY_COLLECT_COLLECT_H
#define HWY_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/control.h"
#include "spool/record.h"

/* The settings of the run, a read-only copy of this process, and behind them the state that all
 * processes of the run share; NULL: nothing is recorded in this process. */
extern struct rec_control *collect_control;

/* True while events of the sources 'traces' (bits REC_TRACE_...) are to be recorded. */
bool collect_is_on(uint32_t traces);

/* True while this thread runs the collector's own code, whose calls are not recorded. */
extern _Thread_local bool collect_is_ours;

int64_t collect_now(void); /* ns of CLOCK_MONOTONIC */
uint32_t collect_tid(
	void); /* yields the thread's id, which is cached, and correct in a forked child too */

/* Reserves a record of so many slots in the calling thread's spool: zeroed, with head.slots set.
 * NULL when there is no room; the record is then counted as dropped. Readers of the spool see the
 * record after collect_publish. Between the two calls nothing may be called that records; signal
 * handlers may record, and may leave by longjmp. */
void *collect_reserve(enum rec_type type, unsigned slots);
void collect_publish(void *record);

/* The process's id of a text, defined in the spool on first use; 0: no text. Safe from any
 * thread. */
uint32_t collect_string(const char *text, size_t length);
uint32_t collect_string_z(const char *text);

void collect_note(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void collect_drop(const char *reason, uint64_t count);
void collect_property(const char *name, const char *value);

/* Starts or ends recording from inside the program (capture ranges). The change goes to the control
 * page and into the spool. */
void collect_set_recording(bool on);

/* Records the Python and the native stack of the calling thread, for the call that began at
 * 'start'. */
void collect_stack(enum rec_why why, int64_t start, uint32_t correlation);

/* Called at exit: fetches the last CUDA records, and waits a few seconds at most. */
void cuda_finish(void);
void cuda_after_fork(void);
/* Makes CUPTI record or stop recording, as the control page says. Any thread may call this. */
void cuda_follow_control(void);

#endif
