/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_profile.c - headway profile: runs a program, records it, leaves a report.
 *
 * Headway prints on stderr only: stdout belongs to the program. Where recording is not possible the
 * program still runs. The exit status is that of the program.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/profile.h"

/* Refuses a report that cannot be written before the program starts. A name with %p is known
 * only after the fork, and is checked by profile_start. */
static void profile_check_output(struct profile *profile, pid_t pid, char **path)
{
	if (profile->output && !*path && (pid || !strstr(profile->output, "%p")))
		*path = profile_output_name(profile->output, pid);
	const char *name = *path ? *path : "report1.hwy";
	const char *refusal = profile_output_refusal(name, profile->force || !*path);
	if (refusal)
		cli_die("%s: %s", profile->output ? name : ".", refusal);
}

static void profile_start(struct profile *profile, struct run *run, char **path)
{
	struct hwy_err err;
	if (!run_fork(run, &profile->settings, &err))
		cli_die("%s", err.text);
	if (profile->output && !*path) {
		char *name = profile_output_name(profile->output, run->pid);
		const char *refusal = profile_output_refusal(name, profile->force);
		*path = name;
		if (refusal) {
			run_cancel(run);
			if (run->directory)
				run_remove(run->directory);
			cli_die("%s: %s", name, refusal);
		}
	}
	if (!run_go(run, &profile->settings, &err)) {
		if (run->directory)
			run_remove(run->directory);
		cli_die("%s: %s", profile->settings.program[0], err.text);
	}
}

/* Prints what `headway stats` prints, but on stderr: stdout belongs to the program. */
static void print_stats(char *report)
{
	fflush(stderr);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	char command[] = "stats";
	char *words[] = {command, report, NULL};
	cmd_stats.run(2, words);
	fflush(stdout);
}

static void make_report(struct profile *profile, struct run *run, const char *path)
{
	char *written;
	if (!run->directory)
		return;
	enum profile_calibration how = profile->no_calibration ? PROFILE_NO_CALIBRATION
				       : run->ended            ? PROFILE_CALIBRATE
							       : PROFILE_CACHED_CALIBRATION;
	if (profile_report(run->directory, path, profile->force, profile->quiet, how, &written)) {
		run_remove(run->directory);
		if (profile->stats)
			print_stats(written);
	} else {
		cli_say("the recording is kept: headway recover %s", run->directory);
	}
	free(written);
	free(run->directory);
	run->directory = NULL;
}

static int run_profile(int argc, char **argv)
{
	struct profile profile = {0};
	struct run run = {.lock = -1};
	struct hwy_err err;
	char *path = NULL;
	profile_options_read(&profile, argc, argv);
	profile_check_output(&profile, 0, &path);
	char *folder = profile_output_folder(path ? path : "report1.hwy");
	profile.settings.beside = folder;
	if (!run_prepare(&run, &profile.settings, &err))
		cli_say("nothing can be recorded, the program runs without: %s", err.text);
	profile_start(&profile, &run, &path);
	while (run_wait(&run, &profile.settings) == RUN_RECORDED)
		make_report(&profile, &run, path);
	make_report(&profile, &run, path);
	int status = run_exit_status(&run);
	run_free(&run);
	for (uint32_t i = 0; i < profile.n_variables; i++)
		free(profile.variables[i]);
	free(profile.variables);
	free(folder);
	free(path);
	return status;
}

const struct cli_command cmd_profile = {
	.name = "profile",
	.summary = "run a program and record it: CUDA, NVTX, its processes and threads",
	.usage = "headway profile [options] PROGRAM [arguments]",
	.about = "Runs a program as it is and records it: CUDA, NVTX, its processes and threads, "
		 "and where in the source its waits come from; OpenCL, the operating system and "
		 "the CPU when asked (-t, -s). The exit status is the program's own.",
	.options = profile_option_table,
	.unlisted = profile_ignored,
	.operands = CLI_PROGRAM,
	.operands_offset = offsetof(struct profile, program),
	.footer = "Other options of 'nsys profile' are accepted; one line tells of those that ask "
		  "for something\nthat is not built yet.\n"
		  "\n"
		  "Examples:\n"
		  "  headway profile python3 train.py\n"
		  "  headway profile -o run -f true ./app --size 100\n"
		  "  headway profile -c cudaProfilerApi python3 train.py\n"
		  "  headway profile -t cuda,nvtx,osrt python3 train.py\n"
		  "  headway profile -y 10 -d 5 --kill none ./server\n",
	.run = run_profile,
};
