/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_recover.c - headway recover: the report of a run whose headway was killed before it could
 * make one.
 *
 * Memory may be what was missing. So the report is made in a process of its own, and where that
 * process finds no memory, or is killed for it, another one makes the report without libdw, and a third
 * one without stacks.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
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

static bool recover_report(const struct options *options, const char *path,
			   enum ingest_stacks stacks)
{
	char *written;
	bool done = profile_report(options->directory, path, options->force, false,
				   PROFILE_CACHED_CALIBRATION, stacks, &options->privacy, &written);
	free(written);
	return done;
}

/* Makes the report in a process of its own; yields the status of the process: 0 where there is a
 * report, 2 where the process has said why there is none. */
static int recover_apart(const struct options *options, const char *path, enum ingest_stacks stacks)
{
	int status = 0;
	struct hwy_rescue rescue;
	pid_t parent = getpid(), pid = fork(), ended = -1;
	while (pid > 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (pid > 0 && ended == pid)
		return status;
	if (pid != 0) /* there is no process to be had: then without the rest of this */
		return W_EXITCODE(recover_report(options, path, stacks) ? 0 : 2, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		exit(2);
	if (HWY_RESCUED(&rescue))
		exit(PROFILE_NO_MEMORY);
	exit(recover_report(options, path, stacks) ? 0 : 2);
}

/* Whether a process may have ended for lack of memory, or died of what it read through libdw. */
static bool needed_less(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2;
	int number = WTERMSIG(status);
	return number == SIGKILL || number == SIGSEGV || number == SIGBUS || number == SIGABRT;
}

/* Makes the report with as many stacks as there is memory for. */
static bool recover_what_fits(const struct options *options, const char *path)
{
	int status = recover_apart(options, path, INGEST_STACKS_WHOLE);
	if (needed_less(status))
		status = recover_apart(options, path, INGEST_STACKS_PLAIN);
	if (needed_less(status))
		status = recover_apart(options, path, INGEST_STACKS_NONE);
	if (needed_less(status))
		cli_say("too little memory for the report, even without stacks; the recording is "
			"kept: headway recover %s",
			options->directory);
	else if (WIFSIGNALED(status))
		cli_die_of(WTERMSIG(status)); /* the process has said its last words */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_recover(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_recover, argc, argv, &options);
	const char *directory = options.directory;
	if (!directory)
		cli_misuse(&cmd_recover, "which run directory?");
	char *path = options.output ? profile_output_name(options.output, 0) : NULL;
	const char *refusal = path ? profile_output_refusal(path, options.force) : NULL;
	if (refusal)
		cli_die("%s: %s", path, refusal);
	struct hwy_err err = {0};
	if (!run_is_ours(directory, &err))
		cli_die("%s", err.text);
	if (!run_is_over(directory))
		cli_die("%s: this run is still being recorded", directory);
	bool done = recover_what_fits(&options, path);
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
	.about = "Makes the report of a run that was cut short: what the program recorded is in "
		 "the run's directory, headway-… in $TMPDIR, in /tmp, or beside the output. The "
		 "directory is removed afterwards. Where memory is short, the report has fewer "
		 "stacks or none, and says so.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway recover /tmp/headway-Ab12Cd\n"
		  "  headway recover -o crashed.hwy /tmp/headway-Ab12Cd\n",
	.operands = CLI_DIRECTORY,
	.operands_offset = offsetof(struct options, directory),
	.run = run_recover,
};
