/* collect.h - what the sources inside the target share.
 *
 * All of this runs in somebody else's program: it never aborts, prints, blocks or throws an error back; on
 * trouble it counts, notes and carries on. No allocation on the recording path, errno is preserved, and a
 * thread-local guard keeps our own calls from being recorded. libc only.
 */
#ifndef HWY_COLLECT_COLLECT_H
#define HWY_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/record.h"

/* The run's control page, or NULL: then nothing is recorded in this process. */
extern struct rec_control *collect_control;

/* True while events are to be recorded (traces: REC_TRACE_… the caller belongs to). */
bool collect_is_on(uint32_t traces);

/* True on threads that we have started ourselves: what they call is none of the program's. */
extern _Thread_local bool collect_is_ours;

int64_t collect_now(void);  /* CLOCK_MONOTONIC */
uint32_t collect_tid(void); /* cached; right after fork too */

/* Room for a record of so many slots in this thread's spool, zeroed, head.slots set; NULL when there is
 * none (counted as dropped). The record is seen by readers after collect_publish. Not across calls that
 * may record themselves. */
void *collect_reserve(enum rec_type type, unsigned slots);
void collect_publish(void);

/* The process's id of a text (defined in the spool on first use). Safe from any thread. */
uint32_t collect_string(const char *text, size_t length);
uint32_t collect_string_z(const char *text);

void collect_note(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void collect_drop(const char *reason, uint64_t count);
void collect_property(const char *name, const char *value);

/* Starts or ends recording from inside (capture ranges); written to the control page and the spool. */
void collect_set_recording(bool on);

/* The Python and native stack of the calling thread, for the call that began at 'start'. */
void collect_stack(enum rec_why why, int64_t start, uint32_t correlation);

/* One file a source. Each is called once a process, from the constructor or from its injection entry. */
void cuda_finish(void); /* at exit, when recording ends for good */
void cuda_after_fork(void);
/* Makes CUPTI record, or not, as the control page says. From any thread. */
void cuda_follow_control(void);

#endif
