/* SPDX-License-Identifier: Apache-2.0 */
/* profile_apart.c - makes the report in a process of its own, so that nothing that happens to it
 * changes how headway ends.
 *
 * Reading a recording takes memory, and reads the debug information of binaries that nobody has
 * checked. Whatever ends the process that does so (no memory, the kernel's choice when memory
 * runs out, a bug), headway lives on, says how the report can be made later, and ends as the
 * program did. A signal that is sent to headway meanwhile ends both.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/shell_word.h"
#include "cli/profile.h"

/* ns: how much later than the process apart headway may get a signal that both are sent. */
static const int64_t BOTH_NS = 50 * 1000 * 1000;

/* Waits until the process has ended, and passes signals on to it. Yields its status; *asked is the
 * last signal that was passed on. */
static int await_process(pid_t pid, const sigset_t *taken, int *asked)
{
	int status;
	while (waitpid(pid, &status, WNOHANG) != pid) {
		siginfo_t about;
		if (sigwaitinfo(taken, &about) < 0 || about.si_signo == SIGCHLD ||
		    about.si_pid == getpid())
			continue;
		*asked = about.si_signo;
		kill(pid, *asked);
	}
	return status;
}

/* Whether headway was sent the signal that ended the process apart. */
static bool was_sent_here(int number)
{
	const struct timespec patience = {.tv_nsec = BOTH_NS};
	sigset_t only;
	sigemptyset(&only);
	sigaddset(&only, number);
	return sigtimedwait(&only, NULL, &patience) == number;
}

/* Says what a process that was ended by others cannot say itself. */
static void say_killed(int status, const char *directory)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)
		/* A library has ended the process, as libdw does without memory. */
		cli_say(hwy_tr("the report was not finished; the recording is kept: headway recover %s"),
			hwy_shell_word(directory).text);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		cli_say(hwy_tr("stopped by SIGKILL, as where memory runs out; the recording is kept: "
			       "headway recover %s"),
			hwy_shell_word(directory).text);
}

/* Makes the report; false: there is none, and a line says why and how to make it later. */
static bool make_or_say(struct profile *profile, struct run *run, const char *path)
{
	struct hwy_rescue rescue;
	if (HWY_RESCUED(&rescue)) {
		cli_say(hwy_tr("out of memory (asked for %zu bytes); the recording is kept: headway "
			       "recover %s"),
			rescue.asked, hwy_shell_word(run->directory).text);
		return false;
	}
	bool done = profile_make_report(profile, run, path);
	hwy_rescue_end(&rescue);
	return done;
}

bool profile_apart(struct profile *profile, struct run *run, const char *path)
{
	sigset_t taken = run_awaited_signals(), before;
	pid_t parent = getpid();
	int asked = 0;
	fflush(NULL);
	sigprocmask(SIG_BLOCK, &taken, &before);
	pid_t pid = fork();
	if (pid == 0) {
		/* Who kills headway does not want its report any more, and may recover the run. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(2);
	}
	if (pid <= 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		bool done = make_or_say(profile, run, path);
		if (pid == 0)
			exit(done ? 0 : 2);
		return done;
	}
	int status = 0;
	if (run->ended) {
		status = await_process(pid, &taken, &asked);
		int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		if (number && (number == asked || was_sent_here(number)))
			cli_die_of(number); /* the process apart has said its last words */
	} else { /* signals are the program's: run_wait takes them later */
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	say_killed(status, run->directory);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
