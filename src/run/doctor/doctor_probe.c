/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_probe.c - looks at something that may crash or hang, in a child process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/doctor/doctor.h"
#include "run/run.h"

/* Runs in the child. The child has a process group of its own, so that processes that it starts end
 * with it; a driver's crash leaves no core file. */
static _Noreturn void take_look(void (*look)(FILE *out, const void *with), const void *with,
				int pipe)
{
	static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGPIPE};
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		signal(deadly[i], SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= 2; fd++)
		dup2(nowhere, fd);
	FILE *out = fdopen(pipe, "w");
	if (out) {
		/* Buffers by lines, so that what was found before a crash is kept. */
		setvbuf(out, NULL, _IOLBF, 4096);
		look(out, with);
		fflush(out);
	}
	_exit(0);
}

static int64_t ms_until(int64_t deadline)
{
	int64_t left = (deadline - run_now()) / 1000000;
	return left > 0 ? left : 0;
}

/* Reads the child's answer until the child closes the pipe; false when the time was up. */
static bool read_answer(int fd, int64_t deadline, char *answer, size_t size)
{
	size_t n = 0;
	char rest[512];
	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int64_t left = ms_until(deadline);
		int ready = left ? poll(&wait, 1, (int)left) : 0;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		bool full = n + 1 >= size;
		ssize_t got = read(fd, full ? rest : answer + n, full ? sizeof rest : size - 1 - n);
		if (got <= 0)
			return true;
		if (!full)
			n += (size_t)got;
		answer[n] = '\0';
	}
}

/* Waits for the child's end; false when time was up. A child that has closed its pipe may still
 * hang in a library's exit handler. */
static bool probe_reap(pid_t child, int64_t deadline, int *status)
{
	for (;;) {
		pid_t ended = waitpid(child, status, WNOHANG);
		if (ended == child || (ended < 0 && errno != EINTR))
			return ended == child;
		if (ms_until(deadline) == 0)
			return false;
		poll(NULL, 0, 2);
	}
}

enum doctor_probe_end doctor_probe_run(void (*look)(FILE *out, const void *with), const void *with,
				       int timeout_ms, char *answer, size_t size)
{
	int ends[2], status = 0;
	int64_t deadline = run_now() + timeout_ms * INT64_C(1000000);
	*answer = '\0';
	if (pipe2(ends, O_CLOEXEC) != 0)
		return PROBE_FAILED;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		take_look(look, with, ends[1]);
	}
	close(ends[1]);
	bool was_answered = child > 0 && read_answer(ends[0], deadline, answer, size);
	bool ended = was_answered && probe_reap(child, deadline, &status);
	close(ends[0]);
	if (child < 0)
		return PROBE_FAILED;
	if (!ended) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	}
	kill(-child, SIGKILL); /* ends the processes that the child left behind */
	if (!ended)
		return PROBE_LATE;
	return WIFSIGNALED(status) ? PROBE_CRASHED : PROBE_DONE;
}

bool doctor_probe_line(char **answer, const char **key, const char **value)
{
	char *line = *answer, *end = line ? strchr(line, '\n') : NULL;
	/* A line of the answer without a newline was cut. */
	if (!end)
		return false;
	*end = '\0';
	*answer = end + 1;
	char *space = strchr(line, ' ');
	*key = line;
	*value = space ? space + 1 : end;
	if (space)
		*space = '\0';
	return true;
}
