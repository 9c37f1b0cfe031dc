/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_child.h - the command of a call, run as a process of its own: what it prints is kept, and
 * it can be ended. */
#ifndef HWY_MCP_MCP_CHILD_H
#define HWY_MCP_MCP_CHILD_H

#include <sys/types.h>

#include "mcp/mcp_tools.h"

struct mcp_child {
	pid_t pid;
	int out, err; /* pipes from its stdout and stderr; -1 where they have ended */
	/* time of CLOCK_MONOTONIC at which the process is asked to end; if it was asked already,
	 * it is killed */
	int64_t deadline_ns;
	bool is_ending;  /* it was asked to end */
	bool is_hurried; /* its deadline is nearer than the call's: mcp_child_hurry */
};

int64_t mcp_now_ns(void);
/* Starts the command line of a call with this program, in the first folder of --root and in a
 * process group of its own. */
struct mcp_child *mcp_child_start(const struct mcp_call *call, struct hwy_err *err);
/* Takes what the process has printed so far, or 1 MiB of it; ends a process that prints more than
 * any answer may have. */
void mcp_child_read(struct mcp_child *child, struct mcp_call *call);
/* Asks the process and those that it started to end; they are killed where they have not after a
 * few seconds. */
void mcp_child_end(struct mcp_child *child);
/* Leaves the process only a few seconds: the client says no more, and may be gone. */
void mcp_child_hurry(struct mcp_child *child);
/* Whether the process has ended: then its status is in the call's outcome, and 'child' is freed.
 * Also holds the process to its time. */
bool mcp_child_has_ended(struct mcp_child *child, struct mcp_call *call);

#endif
