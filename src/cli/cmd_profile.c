/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_profile.c - headway profile: runs a program, records it, leaves a report.
 *
 * Headway prints on stderr only: stdout belongs to the program. Where recording is not possible
 * the program still runs, in Headway's place. The exit status is that of the program; Headway
 * dies by the signal that the program died of, so that a shell or make that waits sees the same
 * as without.
 */
#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/shell_word.h"
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

/* Removes what there is of the run. Its descriptors are closed first: listing the directory takes
 * one, and they may have run out. */
static void profile_discard(struct run *run)
{
	char *directory = run->directory;
	run->directory = NULL;
	run_free(run);
	if (directory && !run_remove(directory))
		cli_say("%s: is not needed any more, but cannot be removed", directory);
	free(directory);
}

/* Whether a file is there that only Python can run. */
static bool is_python_script(const char *path)
{
	size_t length = strlen(path);
	return length > 3 && strcmp(path + length - 3, ".py") == 0 && access(path, R_OK) == 0;
}

/* Ends Headway because the program cannot be executed, with the status that env, nice and a shell
 * give: 127 where it is not there, else 126. */
static _Noreturn void profile_refuse(const struct profile *profile, int reason)
{
	const char *program = profile->settings.program[0];
	if (is_python_script(program))
		cli_say(hwy_tr("%s is a Python script: headway profile python3 %s"), program,
			program);
	else
		cli_say("%s: %s", program, hwy_strerror(reason));
	exit(reason == ENOENT ? 127 : 126);
}

static _Noreturn void profile_run_unrecorded(struct profile *profile, struct run *run,
					     const struct hwy_err *err)
{
	cli_say(hwy_tr("nothing can be recorded, the program runs without: %s"), err->text);
	profile_discard(run);
	profile_job_failed(profile, err->text, -1);
	profile_refuse(profile, run_become(&profile->settings));
}

static void profile_start(struct profile *profile, struct run *run, char **path)
{
	struct hwy_err err;
	bool records = profile->job.role != PROFILE_LAUNCHER;
	if ((records && !run_prepare(run, &profile->settings, &err)) ||
	    !run_fork(run, &profile->settings, &err))
		profile_run_unrecorded(profile, run, &err);
	profile_job_started(profile, run);
	if (profile->job.role != PROFILE_ALONE)
		*path = profile_job_path(profile);
	if (profile->output && !*path && profile->job.role == PROFILE_ALONE) {
		char *name = profile_output_name(profile->output, run->pid);
		const char *refusal = profile_output_refusal(name, profile->force);
		*path = name;
		if (refusal) {
			run_cancel(run);
			profile_discard(run);
			cli_die("%s: %s", name, refusal);
		}
	}
	if (!run_go(run, &profile->settings, &err)) {
		int reason = run->exec_error;
		profile_discard(run);
		profile_job_failed(profile, hwy_strerror(reason),
				   W_EXITCODE(reason == ENOENT ? 127 : 126, 0));
		profile_refuse(profile, reason);
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
	/* A reader of stderr that has gone away must not change the exit status. */
	if (fflush(stdout) != 0)
		__fpurge(stdout);
	clearerr(stdout);
}

bool profile_make_report(struct profile *profile, struct run *run, const char *path)
{
	char *written;
	/* Other ranks may still use the GPU. */
	bool may_measure = run->ended && profile->job.role != PROFILE_RANK;
	enum profile_calibration how = profile->no_calibration ? PROFILE_NO_CALIBRATION
				       : may_measure           ? PROFILE_CALIBRATE
							       : PROFILE_CACHED_CALIBRATION;
	/* Nobody may read stderr any more; the report is made all the same. */
	signal(SIGPIPE, SIG_IGN);
	bool is_job = profile->job.role != PROFILE_ALONE;
	const struct profile_making making = {.path = path,
					      .force = profile->force,
					      .quiet = profile->quiet,
					      .says_warnings = profile->says_warnings,
					      .calibration = how,
					      .stacks = INGEST_STACKS_WHOLE,
					      .privacy = &profile->privacy,
					      .job = is_job ? &profile->job : NULL};
	bool done = profile_report(run->directory, &making, &written);
	if (done) {
		if (!run_remove(run->directory))
			cli_say("%s: is not needed any more, but cannot be removed",
				run->directory);
		if (profile->stats && !is_job)
			print_stats(written);
	} else if (access(run->directory, F_OK) == 0) {
		cli_say(hwy_tr("the recording is kept: headway recover %s"),
			hwy_shell_word(run->directory).text);
	} else {
		cli_say("%s", hwy_tr("the recording is lost: its directory was removed"));
	}
	free(written);
	return done;
}

static void make_report(struct profile *profile, struct run *run, const char *path)
{
	if (!run->directory)
		return;
	profile_job_ended(profile, run);
	if (!profile_apart(profile, run, path))
		profile_job_unreported(profile);
	free(run->directory);
	run->directory = NULL;
}

/* Ends Headway as the program ended. A core file of Headway would stand in the place of the
 * program's. */
static int profile_end(const struct run *run)
{
	if (!WIFSIGNALED(run->status))
		return WEXITSTATUS(run->status);
	prctl(PR_SET_DUMPABLE, 0);
	fflush(NULL);
	cli_die_of(WTERMSIG(run->status));
}

/* A recording as far as it has come. */
struct recording {
	struct profile profile;
	struct run run;
	char *path;
};

static int record(struct recording *recording, int argc, char **argv)
{
	struct profile *profile = &recording->profile;
	struct run *run = &recording->run;
	profile->settings.inherited.ignored = *cli_ignored_at_start();
	inherited_take(&profile->settings.inherited);
	profile_options_read(profile, argc, argv);
	if (!profile->within)
		profile_job_begin(profile, argc, argv);
	if (profile->job.role == PROFILE_ALONE)
		profile_check_output(profile, 0, &recording->path);
	char *folder =
		profile->job.folder
			? hwy_copy(profile->job.folder, strlen(profile->job.folder) + 1)
			: profile_output_folder(recording->path ? recording->path : "report1.hwy");
	profile->settings.beside = folder;
	profile->settings.privacy = profile->privacy.anonymous ? "anonymous"
				    : profile->privacy.no_args ? "no-args"
							       : NULL;
	static const struct run_property within[] = {{"capture.within", "true"}, {NULL, NULL}};
	if (profile->within)
		profile->settings.properties = within;
	if (profile->within)
		return profile_within(profile, run, recording->path);
	profile_start(profile, run, &recording->path);
	while (run_wait(run, &profile->settings) == RUN_RECORDED)
		make_report(profile, run, recording->path);
	make_report(profile, run, recording->path);
	profile_job_finish(profile, run);
	if (profile->stats && profile->job.role != PROFILE_ALONE && !profile->job.given)
		print_stats(profile->job.folder);
	int status = profile_end(run);
	run_free(run);
	for (uint32_t i = 0; i < profile->n_variables; i++)
		free(profile->variables[i]);
	free(profile->variables);
	free(profile->words);
	hwy_arena_free(&profile->job.texts);
	free(folder);
	free(recording->path);
	return status;
}

/* Ends a recording for which there is no memory. A program that runs ends in its own time, and its
 * status is headway's; one that does not run yet is run unrecorded. */
static int end_without_memory(struct recording *recording, size_t asked)
{
	struct run *run = &recording->run;
	struct hwy_err err;
	hwy_fail(&err, "out of memory (asked for %zu bytes)", asked);
	if (!recording->profile.settings.program)
		cli_die("%s", err.text);
	if (!run->runs) {
		if (run->pid > 0)
			run_cancel(run);
		profile_run_unrecorded(&recording->profile, run, &err);
	}
	cli_say("%s", err.text);
	while (!run->ended && run_wait(run, &recording->profile.settings) == RUN_RECORDED)
		;
	if (run->directory)
		cli_say(hwy_tr("the recording is kept: headway recover %s"),
			hwy_shell_word(run->directory).text);
	return profile_end(run);
}

static int run_profile(int argc, char **argv)
{
	/* Static, since it is larger than the stack that a tiny limit (ulimit -s) leaves, and since
	 * its values must be known after a rescue. */
	static struct recording recording = {.run.lock = -1};
	struct hwy_rescue rescue;
	if (HWY_RESCUED(&rescue))
		return end_without_memory(&recording, rescue.asked);
	int status = record(&recording, argc, argv);
	hwy_rescue_end(&rescue);
	return status;
}

const struct cli_command cmd_profile = {
	.name = "profile",
	.summary = "run a program and record it: CUDA, NVTX, OpenCL, its processes and threads",
	.usage = "headway profile [options] PROGRAM [arguments]",
	.about =
		"Runs a program as it is and records it: CUDA, NVTX, its processes and threads, "
		"and where in the source its waits come from; OpenCL, the operating system and the CPU where no driver of NVIDIA "
		"is loaded or when asked (-t, -s). The exit status is the program's own: Headway dies "
		"of the signal that the program died of, and exits with 127 where the program "
		"is not found, 126 where it cannot be executed. A launcher (mpirun, srun, torchrun …) "
		"is recorded as a job: a folder with a report for each rank.",
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
		  "  headway profile -y 10 -d 5 --kill none ./server\n"
		  "  headway profile mpirun -n 8 ./app\n",
	.run = run_profile,
};
