/* SPDX-License-Identifier: Apache-2.0 */
/* rank_variables.h - which rank of a job a process is, as the variables that its launcher set tell.
 *
 *   struct ranks ranks = ranks_of_environment();
 *   if (ranks.rank >= 0)
 *           printf("rank %d of %d, by %s\n", ranks.rank, ranks.world, ranks.launcher);
 */
#ifndef HWY_SPOOL_RANK_VARIABLES_H
#define HWY_SPOOL_RANK_VARIABLES_H

#include <stdint.h>

struct ranks {
	/* -1: no variable tells. local_rank counts the ranks of one host. */
	int32_t rank, local_rank, world;
	const char *launcher; /* whose variables these are, "Open MPI"; "" where rank is -1 */
};

/* The innermost launcher counts: a program that torchrun starts under srun has torchrun's
 * numbers. What the innermost does not tell is taken from the others. Reads the environment
 * only. */
struct ranks ranks_of_environment(void);

#endif
