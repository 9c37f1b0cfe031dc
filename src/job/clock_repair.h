/* SPDX-License-Identifier: Apache-2.0 */
/* clock_repair.h - the last correction of clocks: nothing is received before it was sent. */
#ifndef HWY_JOB_CLOCK_REPAIR_H
#define HWY_JOB_CLOCK_REPAIR_H

#include "job/job.h"

/* Moves the times of ranks that received a message, or left a collective, before it was sent or
 * the last rank had come; job->ranks[…].clock.repairs is what was moved, and a problem of the
 * job says how many times and by how much. What is farther off than clocks can be is left as it
 * is and counted: there the match of the two sides is wrong. Nothing is done where all ranks
 * read one clock. */
bool clock_repair(struct hwy_job *job, struct hwy_err *err);

#endif
