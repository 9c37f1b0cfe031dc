/* SPDX-License-Identifier: Apache-2.0 */
/* rank_variables.c - see rank_variables.h. */
#include "spool/rank_variables.h"

#include <stdlib.h>

/* The variables of a launcher, the inner ones before those that may be around them: torchrun is
 * started by mpirun and srun, mpirun runs inside what Slurm gave, and MPI libraries under srun
 * see PMI's variables too. NULL: there is none. */
static const struct family {
	const char *launcher, *rank, *local_rank, *world;
} families[] = {
	{"torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE"},
	{"Horovod", "HOROVOD_RANK", "HOROVOD_LOCAL_RANK", "HOROVOD_SIZE"},
	{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},
	{"PALS", "PALS_RANKID", "PALS_LOCAL_RANKID", "PMI_SIZE"},
	{"Flux", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE"},
	{"JSM", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE"},
	{"PMI", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
	{"PMIx", "PMIX_RANK", NULL, NULL},
	{"Slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"},
	{"ALPS", "ALPS_APP_PE", NULL, NULL},
	/* SLURM_NTASKS is what was asked for, also outside a step. */
	{"Slurm", NULL, NULL, "SLURM_NTASKS"},
};
enum { FAMILIES = sizeof families / sizeof *families };

static int32_t number_of_variable(const char *name)
{
	const char *text = name ? getenv(name) : NULL;
	char *end;
	long number = text ? strtol(text, &end, 10) : -1;
	return text && end != text && !*end && number >= 0 && number <= INT32_MAX ? (int32_t)number
										  : -1;
}

struct ranks ranks_of_environment(void)
{
	struct ranks found = {-1, -1, -1, ""};
	uint32_t first = 0;
	while (first < FAMILIES && (found.rank = number_of_variable(families[first].rank)) < 0)
		first++;
	if (first < FAMILIES)
		found.launcher = families[first].launcher;
	for (uint32_t i = 0; i < FAMILIES; i++) {
		const struct family *family = &families[(first + i) % FAMILIES];
		if (found.local_rank < 0)
			found.local_rank = number_of_variable(family->local_rank);
		if (found.world < 0)
			found.world = number_of_variable(family->world);
	}
	return found;
}
