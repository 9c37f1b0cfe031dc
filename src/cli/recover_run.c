/* SPDX-License-Identifier: Apache-2.0 */
/* recover_run.c - makes the report of a run whose headway was killed.
 *
 * Memory may be what was missing. So the report is made in a process of its own, and where that
 * process finds no memory, or is killed for it, another one makes the report without libdw, and
 * a third one without stacks.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell_word.h"
#include "cli/profile.h"

static bool recover_report(const char *directory, const struct profile_making *how,
			   enum ingest_stacks stacks)
{
	char *written;
	struct profile_making making = *how;
	making.stacks = stacks;
	bool done = profile_report(directory, &making, &written);
	free(written);
	return done;
}

/* Makes the report in a process of its own; yields the status of the process: 0 where there is a
 * report, 2 where the process has said why there is none. */
static int recover_apart(const char *directory, const struct profile_making *how,
			 enum ingest_stacks stacks)
{
	int status = 0;
	struct hwy_rescue rescue;
	pid_t parent = getpid(), pid = fork(), ended = -1;
	while (pid > 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (pid > 0 && ended == pid)
		return status;
	if (pid != 0) /* there is no process to be had: then without the rest of this */
		return W_EXITCODE(recover_report(directory, how, stacks) ? 0 : 2, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		exit(2);
	if (HWY_RESCUED(&rescue))
		exit(PROFILE_NO_MEMORY);
	exit(recover_report(directory, how, stacks) ? 0 : 2);
}

/* Whether a process may have ended for lack of memory, or died of what it read through libdw. */
static bool needed_less(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2;
	int number = WTERMSIG(status);
	return number == SIGKILL || number == SIGSEGV || number == SIGBUS || number == SIGABRT;
}

bool recover_run(const char *directory, const struct profile_making *how)
{
	int status = recover_apart(directory, how, INGEST_STACKS_WHOLE);
	if (needed_less(status))
		status = recover_apart(directory, how, INGEST_STACKS_PLAIN);
	if (needed_less(status))
		status = recover_apart(directory, how, INGEST_STACKS_NONE);
	if (needed_less(status))
		cli_say("too little memory for the report, even without stacks; the recording is "
			"kept: headway recover %s",
			hwy_shell_word(directory).text);
	else if (WIFSIGNALED(status))
		cli_die_of(WTERMSIG(status)); /* the process has said its last words */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
