/* SPDX-License-Identifier: Apache-2.0 */
/* perf_spool.h - spools that are written outside the program: by the reader of perf events, and
 * by the watcher (run/counters/). Chunks have pid 0. One thread at a time writes to a spool.
 *
 *   struct rec_drop *record = perf_spool_reserve(spool, REC_DROP, sizeof *record);
 *   if (record)
 *           perf_spool_publish(spool);
 */
#ifndef HWY_RUN_PERF_PERF_SPOOL_H
#define HWY_RUN_PERF_PERF_SPOOL_H

#include <stddef.h>

#include "spool/control.h"
#include "spool/record.h"

/* Makes a spool; NULL when there is no room for it. Chunks older than keep_s seconds are used
 * again; 0: none is. 'clock' yields the time in ns by which the age of a chunk is judged (run_now,
 * or a test's own). */
struct perf_spool *perf_spool_open(const char *directory, const char *name, uint32_t keep_s,
				   int64_t (*clock)(void));
/* Makes the spool grow only as far as the control page says. */
void perf_spool_limit(struct perf_spool *spool, const struct rec_control *control);
void perf_spool_close(struct perf_spool *spool);
/* Reserves a record, zeroed but for its head; NULL, and counts the record as lost, when there is
 * no room. */
void *perf_spool_reserve(struct perf_spool *spool, enum rec_type type, size_t bytes);
void perf_spool_publish(struct perf_spool *spool);

#endif
