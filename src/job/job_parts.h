/* SPDX-License-Identifier: Apache-2.0 */
/* job_parts.h - a recording that holds several ranks, taken apart: a trace for each rank.
 *
 * A process belongs to the rank that its variables name, else to its parent's. The launcher
 * itself, and what it starts besides ranks, belongs to none: a process without a recorded parent
 * is a launcher if another rank descends from it. Where headway itself was started as a rank of
 * an outer launcher (srun torchrun), the launcher's processes have that rank: below a launcher a
 * number counts only where it differs from the launcher's. In the report of a whole job (headway
 * convert) no rank descends from another one, and there is no launcher.
 */
#ifndef HWY_JOB_JOB_PARTS_H
#define HWY_JOB_JOB_PARTS_H

#include "trace/trace.h"

/* Yields the rank of each process, HWY_NONE for the launcher's own; to be freed. */
int64_t *job_parts_owners(const struct hwy_trace *trace);
/* The part of a trace that the kept processes make up; NULL with a sentence where the trace
 * cannot be read. */
struct hwy_trace *job_part_of(struct hwy_trace *trace, const bool *keep, int64_t rank,
			      struct hwy_err *err);

/* Takes a recording apart: one trace for each rank, by rank, and (*n) how many. Traces and array
 * are to be freed. NULL with *n 0 where it holds fewer than two ranks with device work, or,
 * without any device work, fewer than two that exchange data; NULL with *n above 0 and a
 * sentence where it cannot be read. */
struct hwy_trace **job_parts_make(struct hwy_trace *trace, uint32_t *n, struct hwy_err *err);

#endif
