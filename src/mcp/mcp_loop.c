/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_loop.c - mcp_serve: reads lines, runs the commands of calls, and sends what the session says.
 *
 * One thread; a call that runs does not keep the server from reading, so that a ping is answered
 * and a cancellation is heard.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/mcp_child.h"
#include "mcp/mcp_session.h"

enum {
	RUN_AT_ONCE = 4,     /* the most commands that run at once */
	LOOK_AGAIN_MS = 100, /* time between two looks at processes that run */
	/* the same for processes that have closed their output and are about to end */
	LOOK_SOON_MS = 2,
};

struct loop {
	struct mcp_session session;
	struct mcp_lines lines;
	int in, out; /* in: -1 where the client has said all */
	bool is_broken;
};

static void loop_send(void *self, const char *line, size_t n)
{
	struct loop *loop = self;
	while (n > 0 && !loop->is_broken) {
		ssize_t written = write(loop->out, line, n);
		if (written < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = loop->out, .events = POLLOUT}, 1, -1);
		else if (written < 0 && errno != EINTR)
			loop->is_broken = true;
		if (written < 0)
			continue;
		line += written;
		n -= (size_t)written;
	}
}

/* ---- what the client says -------------------------------------------------------------------- */

static void take_lines(struct loop *loop)
{
	const char *line;
	size_t n;
	enum mcp_line kind;
	while ((kind = mcp_lines_next(&loop->lines, &line, &n)) != MCP_NO_LINE) {
		if (kind == MCP_LINE)
			mcp_session_line(&loop->session, line, n);
		else
			mcp_session_line_too_long(&loop->session);
	}
	if (loop->in < 0 && mcp_lines_last(&loop->lines, &line, &n) == MCP_LINE)
		mcp_session_line(&loop->session, line, n);
}

static void read_client(struct loop *loop)
{
	char bytes[65536];
	ssize_t n = read(loop->in, bytes, sizeof bytes);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		mcp_lines_add(&loop->lines, bytes, (size_t)n);
	else
		loop->in = -1;
	take_lines(loop);
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Answers calls whose commands have ended, ends those that nobody wants, and starts those that
 * wait; yields how many run. */
static uint32_t tend_calls(struct loop *loop)
{
	uint32_t n_running = 0;
	struct hwy_err err;
	for (struct mcp_pending *pending = loop->session.calls, *next; pending; pending = next) {
		next = pending->next;
		if (loop->is_broken)
			pending->is_cancelled = true;
		if (!pending->child && !pending->is_cancelled && n_running < RUN_AT_ONCE) {
			pending->child = mcp_child_start(&pending->call, &err);
			if (!pending->child)
				pending->call.outcome.stopped =
					hwy_arena_format(&pending->call.arena, "%s", err.text);
		}
		bool has_failed = pending->call.outcome.stopped && !pending->child;
		if (pending->child) {
			if (pending->is_cancelled)
				mcp_child_end(pending->child);
			if (loop->in < 0)
				mcp_child_hurry(pending->child);
			mcp_child_read(pending->child, &pending->call);
			if (!mcp_child_has_ended(pending->child, &pending->call)) {
				n_running++;
				continue;
			}
		} else if (!pending->is_cancelled && !has_failed) {
			continue; /* waits for its turn */
		}
		mcp_session_answer(&loop->session, pending);
	}
	return n_running;
}

static void wait_for_something(struct loop *loop, uint32_t n_running)
{
	struct pollfd fds[2 + 2 * RUN_AT_ONCE];
	nfds_t n = 0;
	/* Nothing is awaited of 'out' but that nobody reads it any more: then nobody waits for the
	 * calls, of which one may take an hour. */
	fds[n++] = (struct pollfd){.fd = loop->is_broken ? -1 : loop->out};
	int timeout_ms = n_running > 0 ? LOOK_AGAIN_MS : -1;
	if (loop->in >= 0)
		fds[n++] = (struct pollfd){.fd = loop->in, .events = POLLIN};
	for (const struct mcp_pending *one = loop->session.calls; one; one = one->next) {
		if (!one->child)
			continue;
		if (one->child->out >= 0)
			fds[n++] = (struct pollfd){.fd = one->child->out, .events = POLLIN};
		if (one->child->err >= 0)
			fds[n++] = (struct pollfd){.fd = one->child->err, .events = POLLIN};
		if (one->child->out < 0 && one->child->err < 0)
			timeout_ms = LOOK_SOON_MS;
	}
	if (poll(fds, n, timeout_ms) <= 0)
		return;
	if (loop->in >= 0 && fds[1].revents)
		read_client(loop);
	if (fds[0].revents & (POLLERR | POLLHUP))
		loop->is_broken = true;
}

bool mcp_serve(const struct mcp_config *config, int in, int out, struct hwy_err *err)
{
	struct loop loop = {.session = {.config = config, .send = loop_send}, .in = in, .out = out};
	loop.session.self = &loop;
	uint32_t n_running = 0;
	/* When the client has said all, the server ends as soon as its calls have ended: what was
	 * asked is answered, if it takes a few seconds; as clients that go away close their end
	 * first, it is not waited for longer. When the client does not listen any more, the server
	 * ends the calls at once. */
	while ((loop.in >= 0 && !loop.is_broken) || loop.session.calls) {
		wait_for_something(&loop, n_running);
		n_running = tend_calls(&loop);
	}
	mcp_lines_free(&loop.lines);
	return !loop.is_broken || loop.in < 0 ||
	       hwy_fail(err, "the client does not listen any more");
}
