/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.c - see inherited.h. Descriptors, umask, niceness, working directory, credentials and
 * the other limits need nothing: a forked child has them as they were.
 */
#include "run/inherited.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "run/run.h"

static const __itimer_which_t timer_kinds[INHERITED_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL,
							       ITIMER_PROF};
/* Limits that would end headway, or its recording, in the middle of the program's life. */
static const int limit_kinds[INHERITED_LIMITS] = {RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_NOFILE};

void inherited_take(struct inherited *inherited)
{
	const struct itimerval stopped = {0};
	inherited->taken = run_now();
	for (int i = 0; i < INHERITED_TIMERS; i++)
		setitimer(timer_kinds[i], &stopped, &inherited->timers[i]);
	for (int i = 0; i < INHERITED_LIMITS; i++) {
		struct rlimit *limit = &inherited->limits[i];
		if (getrlimit((__rlimit_resource_t)limit_kinds[i], limit) != 0)
			*limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
		struct rlimit raised = {limit->rlim_max, limit->rlim_max};
		if (limit->rlim_cur != limit->rlim_max)
			setrlimit((__rlimit_resource_t)limit_kinds[i], &raised);
	}
	prctl(PR_GET_PDEATHSIG, &inherited->parent_death);
	prctl(PR_GET_CHILD_SUBREAPER, &inherited->subreaper);
	sigprocmask(SIG_BLOCK, NULL, &inherited->mask);
	sigpending(&inherited->pending);
	struct timespec now = {0};
	while (sigtimedwait(&inherited->pending, NULL, &now) > 0)
		;
}

/* Starts a timer with what is left of it. The clock of ITIMER_REAL went on while headway prepared
 * the run; the CPU time of the other two is that of this process, which has used none yet. */
static void give_timer(const struct inherited *inherited, int i)
{
	struct itimerval timer = inherited->timers[i];
	if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
		return;
	if (timer_kinds[i] == ITIMER_REAL) {
		int64_t left = (int64_t)timer.it_value.tv_sec * 1000000 + timer.it_value.tv_usec -
			       (run_now() - inherited->taken) / 1000;
		left = left < 1 ? 1 : left; /* 0 would stop the timer */
		timer.it_value.tv_sec = left / 1000000;
		timer.it_value.tv_usec = left % 1000000;
	}
	setitimer(timer_kinds[i], &timer, NULL);
}

void inherited_give(const struct inherited *inherited)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int number = 1; number <= SIGRTMAX; number++)
		signal(number, sigismember(&inherited->ignored, number) == 1 ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < INHERITED_LIMITS; i++)
		setrlimit((__rlimit_resource_t)limit_kinds[i], &inherited->limits[i]);
	if (inherited->parent_death)
		prctl(PR_SET_PDEATHSIG, inherited->parent_death);
	if (inherited->subreaper)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* Signals that were pending are blocked in the mask too, so that they wait for the
	 * program. */
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&inherited->pending, number) == 1)
			kill(getpid(), number);
	for (int i = 0; i < INHERITED_TIMERS; i++)
		give_timer(inherited, i);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}
