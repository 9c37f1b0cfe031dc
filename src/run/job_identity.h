/* SPDX-License-Identifier: Apache-2.0 */
/* job_identity.h - what all ranks of a job have in common and ranks of other jobs have not, as far as the launchers'
 * variables tell. */
#ifndef HWY_RUN_JOB_IDENTITY_H
#define HWY_RUN_JOB_IDENTITY_H

#include <stdbool.h>

#include "spool/rank_variables.h"

enum { JOB_IDENTITY_BYTES = 96 };
/* Writes a text of letters, digits, '.', '-' and '_' that is the same in all ranks: "123.0" for a step of Slurm. Where
 * the launcher tells nothing, it names the process that started this one, which ranks on one host have in common. */
void job_identity(const struct ranks *ranks, char text[JOB_IDENTITY_BYTES]);

/* Whether this process is one of several ranks that a launcher has started. */
bool job_is_rank(const struct ranks *ranks);

#endif
