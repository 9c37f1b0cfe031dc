/* SPDX-License-Identifier: Apache-2.0 */
/* agreement.h - whether every rank of a job is recorded, said once and for all ranks alike.
 *
 * Ranks that are recorded may exchange messages of their own (clock pings). A rank that is not
 * recorded would never answer, and the job would hang. So the ranks agree before their programs
 * start: one file in the job's folder has the answer, and whoever writes it first has decided.
 * The first rank writes "yes" when all ranks have left their notes; who cannot be recorded, or
 * has waited too long, writes "no".
 *
 * Where nobody is above the ranks, the last one to end ends the job. Of several that end
 * together one must do so: who takes the end first.
 */
#ifndef HWY_JOB_AGREEMENT_H
#define HWY_JOB_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Waits for the answer, some seconds at most. 'rank' is the caller's, of 'world' ranks, whose
 * note is in the folder. */
bool job_agree(const char *folder, int64_t rank, int64_t world, int64_t patience_ns);
/* Answers "no", unless there is an answer. */
void job_disagree(const char *folder);
/* Takes the end of the job; false for all but the first who asks. */
bool job_take_end(const char *folder);
/* Removes the answer, and gives the end back. */
void job_agreement_forget(const char *folder);

#endif
