/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_session.h - what a client and the server say to each other: the state of one connection.
 *
 * The session reads lines and writes lines; it runs nothing and knows no file descriptor. Calls of
 * tools that need a command wait in 'calls' until whoever runs commands (mcp_loop.c) has filled
 * their outcome and calls mcp_session_answer:
 *
 *   mcp_session_line(session, line, n);
 *   for (struct mcp_pending *pending = session->calls; pending; pending = pending->next)
 *           start_or_finish(pending);
 */
#ifndef HWY_MCP_MCP_SESSION_H
#define HWY_MCP_MCP_SESSION_H

#include "mcp/mcp_message.h"
#include "mcp/mcp_tools.h"

enum { MCP_MOST_CALLS = 64 }; /* the most calls that wait or run at the same time */

/* What came in one line: a message, or a batch of them. Lives until all of its messages are
 * answered. */
struct mcp_parcel {
	struct hwy_arena arena;
	uint32_t n_open; /* requests without an answer, and 1 while the line is read */
	bool is_batch;
	struct hwy_bytes answers; /* the answers of a batch so far, with commas between them */
};

/* A call of a tool that waits for its command. */
struct mcp_pending {
	struct mcp_call call;
	const struct json_value *id;
	struct mcp_parcel *parcel;
	struct mcp_child *child; /* belongs to mcp_loop.c; NULL before the command was started */
	bool is_cancelled;       /* the client does not want the answer any more */
	struct mcp_pending *next;
};

struct mcp_session {
	const struct mcp_config *config;
	void (*send)(void *self, const char *line, size_t n); /* a message and its newline */
	void *self;
	const char *version; /* the version of the protocol; NULL before 'initialize' */
	struct mcp_pending *calls;
	uint32_t n_calls;
};

void mcp_session_line(struct mcp_session *session, const char *line, size_t n);
/* Tells the client that a line was too long to be read. */
void mcp_session_line_too_long(struct mcp_session *session);
/* Answers a call by its outcome, unless it was cancelled, and forgets it: 'pending' is freed. */
void mcp_session_answer(struct mcp_session *session, struct mcp_pending *pending);

#endif
