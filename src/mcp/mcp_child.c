/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_child.c - see mcp_child.h. */
#include "mcp/mcp_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LARGEST_OUTPUT = 16 << 20, /* bytes of JSON that are read */
	KEPT_OF_TEXT = 64 << 10,   /* bytes at the end of a text that are kept */
	READ_AT_ONCE = 64 << 10,   /* bytes */
	MOST_READS = 16,    /* of a pipe, before anything else has its turn: a pipe holds 1 MiB */
	SECONDS_TO_END = 5, /* between asking a process to end and killing it */
	SECONDS_LEFT = 5,   /* of a process when the client says no more */
};

static const int64_t second_ns = 1000000000;

int64_t mcp_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * second_ns + now.tv_nsec;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* In the new process. */
static _Noreturn void become_command(const struct mcp_call *call, pid_t server, int out, int err)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	setpgid(0, 0);
	/* Where the server is killed, its commands end with it. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_DFL);
	/* Drawings are made of the characters of UTF-8 whatever the locale of the assistant is;
	 * a program that is recorded keeps its own. */
	if (!call->tool->needs_permission)
		setenv("LC_ALL", "C.UTF-8", 1);
	if (getppid() == server && nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(out, 1) >= 0 &&
	    dup2(err, 2) >= 0 && chdir(call->config->roots.paths[0]) == 0)
		execv("/proc/self/exe", (char *const *)(uintptr_t)call->words);
	_exit(2);
}

static void close_pair(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

struct mcp_child *mcp_child_start(const struct mcp_call *call, struct hwy_err *err)
{
	int out[2], errors[2];
	if (pipe2(out, O_CLOEXEC) != 0) {
		hwy_fail(err, "no pipe: %s", strerror(errno));
		return NULL;
	}
	if (pipe2(errors, O_CLOEXEC) != 0) {
		hwy_fail(err, "no pipe: %s", strerror(errno));
		close_pair(out);
		return NULL;
	}
	pid_t server = getpid(), pid = fork();
	if (pid == 0)
		become_command(call, server, out[1], errors[1]);
	if (pid < 0) {
		hwy_fail(err, "no process: %s", strerror(errno));
		close_pair(out);
		close_pair(errors);
		return NULL;
	}
	/* child and parent both do this: whichever runs first, the group exists before it is
	 * ended */
	setpgid(pid, pid);
	close(out[1]);
	close(errors[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);
	struct mcp_child *child = hwy_alloc(sizeof *child);
	*child = (struct mcp_child){.pid = pid,
				    .out = out[0],
				    .err = errors[0],
				    .deadline_ns = mcp_now_ns() + call->timeout_s * second_ns};
	return child;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads what is there, at most MOST_READS times: a process that prints without end must not keep
 * the server from anything else. Of more than twice 'kept' bytes only the last 'kept' stay. Yields
 * whether something was dropped. */
static bool read_pipe(int *fd, struct hwy_bytes *to, size_t kept)
{
	bool is_cut = false;
	for (int i = 0; *fd >= 0 && i < MOST_READS; i++) {
		uint8_t *room = hwy_bytes_reserve(to, READ_AT_ONCE);
		ssize_t n = read(*fd, room, READ_AT_ONCE);
		if (n > 0)
			to->n += (size_t)n;
		if (to->n > 2 * kept) {
			memmove(to->bytes, to->bytes + to->n - kept, kept);
			to->n = kept;
			is_cut = true;
		}
		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		close(*fd);
		*fd = -1;
	}
	return is_cut;
}

void mcp_child_read(struct mcp_child *child, struct mcp_call *call)
{
	struct mcp_outcome *outcome = &call->outcome;
	read_pipe(&child->err, &outcome->err, KEPT_OF_TEXT);
	if (read_pipe(&child->out, &outcome->out,
		      call->tool->is_text ? KEPT_OF_TEXT : LARGEST_OUTPUT)) {
		outcome->is_cut = true;
		if (!call->tool->is_text && !outcome->stopped) {
			outcome->stopped = hwy_arena_format(
				&call->arena, "the answer is too large: %s", call->tool->narrow);
			mcp_child_end(child);
		}
	}
}

/* ---- ending ---------------------------------------------------------------------------------- */

void mcp_child_end(struct mcp_child *child)
{
	if (child->is_ending)
		return;
	child->is_ending = true;
	child->deadline_ns = mcp_now_ns() + SECONDS_TO_END * second_ns;
	kill(-child->pid, SIGTERM);
}

void mcp_child_hurry(struct mcp_child *child)
{
	int64_t deadline_ns = mcp_now_ns() + SECONDS_LEFT * second_ns;
	if (child->is_ending || child->is_hurried)
		return;
	child->is_hurried = deadline_ns < child->deadline_ns;
	if (child->is_hurried)
		child->deadline_ns = deadline_ns;
}

bool mcp_child_has_ended(struct mcp_child *child, struct mcp_call *call)
{
	if (mcp_now_ns() > child->deadline_ns) {
		if (child->is_ending)
			kill(-child->pid, SIGKILL);
		else if (!call->outcome.stopped)
			call->outcome.stopped =
				child->is_hurried ? "the client says no more, so this was ended"
						  : "this takes too long, and was ended";
		mcp_child_end(child);
	}
	siginfo_t ended = {0};
	if (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    ended.si_pid == 0)
		return false;
	/* Until waitpid takes the status, the group keeps its number. Processes of the group that
	 * outlive a command which was asked to end do not end by themselves. */
	if (child->is_ending)
		kill(-child->pid, SIGKILL);
	waitpid(child->pid, &call->outcome.status, 0);
	/* What it printed last may still be in the pipes, which a process that it left behind
	 * may hold open. */
	mcp_child_read(child, call);
	if (child->out >= 0)
		close(child->out);
	if (child->err >= 0)
		close(child->err);
	free(child);
	return true;
}
