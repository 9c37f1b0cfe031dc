/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_recover.c - headway recover: the report of a run whose headway was killed before it could
 * make one.
 */
#include <stdlib.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/profile.h"

struct options {
	const char *directory, *output;
	bool force, keep;
	struct cli_privacy privacy;
};

static const struct cli_option option_table[] = {
	CLI_OUTPUT_HELP("the report to write (default: the next free reportN.hwy)"),
	CLI_FORCE,
	{'k', "keep-directory", NULL, "keep the run directory", CLI_BOOLEAN, CLI_AT(keep)},
	CLI_HEAD("What to leave out:"),
	CLI_NO_ARGS(offsetof(struct options, privacy)),
	CLI_ANONYMOUS(offsetof(struct options, privacy)),
	CLI_OLD_NAME("force-overwrite", "force"),
	CLI_OLD_NAME("keep", "keep-directory"),
	CLI_END_OF_OPTIONS,
};

/* Makes the reports of those ranks of a job whose headway was killed. */
static int recover_job(const char *folder)
{
	job_recover(folder);
	return 0;
}

/* Whether the run is over, or will be in a moment: processes of a headway that was killed take some
 * ms to end, and hold the lock of the run until then. */
static bool run_ends_soon(const char *directory)
{
	enum { PATIENCE_MS = 300, LOOK_MS = 20 };
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	int left_ms = PATIENCE_MS;
	while (!run_is_over(directory) && left_ms > 0) {
		nanosleep(&pause, NULL);
		left_ms -= LOOK_MS;
	}
	return left_ms > 0;
}

static int run_recover(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_recover, argc, argv, &options);
	const char *directory = options.directory;
	if (!directory)
		cli_misuse(&cmd_recover, "which run directory?");
	if (job_folder_is(directory))
		return recover_job(directory);
	char *path = options.output ? profile_output_name(options.output, 0) : NULL;
	const char *refusal = path ? profile_output_refusal(path, options.force) : NULL;
	if (refusal)
		cli_die("%s: %s", path, refusal);
	struct hwy_err err = {0};
	if (!run_is_ours(directory, &err))
		cli_die("%s", err.text);
	if (!run_ends_soon(directory))
		cli_die("%s: this run is still being recorded", directory);
	const struct profile_making how = {.path = path,
					   .force = options.force,
					   .calibration = PROFILE_CACHED_CALIBRATION,
					   .privacy = &options.privacy};
	bool done = recover_run(directory, &how);
	if (done && !options.keep && !run_remove(directory))
		cli_say("%s: kept, it holds files that are not of the run or cannot be removed",
			directory);
	free(path);
	return done ? 0 : 2;
}

const struct cli_command cmd_recover = {
	.name = "recover",
	.summary = "make the report of a run whose headway was killed",
	.usage = "headway recover [options] DIRECTORY",
	.about =
		"Makes the report of a run that was cut short: what the program recorded is in "
		"the run's directory, headway-… in $TMPDIR, in /tmp, or beside the output. The "
		"directory is removed afterwards. Where memory is short, the report has fewer "
		"stacks or none, and says so. Of the folder of a job, the reports of all ranks are "
		"made that ran on this host and have none.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway recover /tmp/headway-Ab12Cd\n"
		  "  headway recover -o crashed.hwy /tmp/headway-Ab12Cd\n"
		  "  headway recover job1\n",
	.operands = CLI_DIRECTORY,
	.operands_offset = offsetof(struct options, directory),
	.run = run_recover,
};
