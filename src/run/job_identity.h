/* SPDX-License-Identifier: Apache-2.0 */
/* job_identity.h - what all ranks of a job have in common and ranks of other jobs have not, as
 * far as the launchers' variables tell. */
#ifndef HWY_RUN_JOB_IDENTITY_H
#define HWY_RUN_JOB_IDENTITY_H

#include <stdbool.h>

#include "spool/rank_variables.h"

enum { JOB_IDENTITY_BYTES = 96 };
/* Writes a text of letters, digits, '.', '-' and '_' that is the same in all ranks: "123.0" for
 * a step of Slurm. Where the launcher tells nothing, it names the process that started this one,
 * which ranks on one host have in common. */
void job_identity(const struct ranks *ranks, char text[JOB_IDENTITY_BYTES]);

/* Does the same for a launcher that is typed once per host (torchrun --nnodes 2 …), from its
 * command line; false where it starts ranks of one host only, or names nothing that its hosts
 * have in common. */
bool job_identity_of_tree(char *const *words, char text[JOB_IDENTITY_BYTES]);

/* Whether this process is one of several ranks that a launcher has started. */
bool job_is_rank(const struct ranks *ranks);

#endif
