/* SPDX-License-Identifier: Apache-2.0 */
/* opened_job.c - see opened_job.h. */
#include "cli/opened_job.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "cli/kit/cli.h"
#include "job/job_waits.h"

bool opened_job_is(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

void opened_job_open(struct opened_job *opened, const char *const *paths, uint32_t n_paths,
		     const char *step, uint64_t phase)
{
	struct hwy_err err;
	struct analysis_options how = {.step = step};
	*opened = (struct opened_job){0};
	if (!job_open(&opened->job, paths, n_paths, cli_progress(), &err))
		cli_die("%s", err.text);
	cli_progress_end();
	for (uint32_t i = 0; i < opened->job.n_problems; i++)
		cli_say("%s: %s", paths[0], opened->job.problems[i]);
	uint32_t n = opened->n = opened->job.n;
	opened->analyses = hwy_zarray(n, sizeof *opened->analyses);
	opened->ranks = hwy_zarray(n, sizeof *opened->ranks);
	opened->clocks = job_exchange_clocks(&opened->job);
	for (uint32_t r = 0; r < n; r++) {
		const struct job_recording *rank = &opened->job.ranks[r];
		struct hwy_analysis *analysis = &opened->analyses[r];
		cli_name_device(rank->trace);
		if (!analysis_make(analysis, rank->trace, &how, &err))
			cli_die("%s: %s", rank->path, err.text);
		const struct hwy_phases *phases = &analysis->phases;
		if (phases->n > 0 && phase > phases->n)
			cli_die("%s: has %u phase%s", rank->path, phases->n,
				phases->n == 1 ? "" : "s");
		opened->has_phases |= phases->n > 0;
		opened->ranks[r] = (struct joint_rank){
			.rank = rank->rank,
			.analysis = analysis,
			.phase = phase > 0 ? (uint32_t)phase - 1 : phases->main,
			.process = FLOW_NO_PROCESS,
			.clock = opened->clocks ? &opened->clocks[r] : NULL,
		};
		if (phases->n == 0)
			opened->ranks[r].phase = 0;
	}
}

void opened_job_close(struct opened_job *opened)
{
	for (uint32_t r = 0; r < opened->n; r++)
		analysis_free(&opened->analyses[r]);
	free(opened->analyses);
	free(opened->ranks);
	free(opened->clocks);
	job_close(&opened->job);
	*opened = (struct opened_job){0};
}
