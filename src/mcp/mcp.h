/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.h - Headway for assistants: a server of the Model Context Protocol (JSON-RPC 2.0, one message
 * a line).
 *
 * The server never reads a recording itself. A tool is a command of headway that runs in a process
 * of its own, so a damaged recording cannot stop the server, a call can be cancelled by ending its
 * process, and a tool says what the command says with --format json. What a recording holds is
 * untrusted: names become harmless and short before they leave (mcp_clean.h), answers have a
 * largest size (mcp_answer.h), and files are opened only below the folders that the user named
 * (mcp_folders.h).
 */
#ifndef HWY_MCP_MCP_H
#define HWY_MCP_MCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { MCP_MOST_FOLDERS = 16 };

/* Folders, as paths without symbolic links. */
struct mcp_folders {
	char *paths[MCP_MOST_FOLDERS];
	uint32_t n;
};

struct mcp_config {
	/* where recordings may lie; the first is the working folder of the tools */
	struct mcp_folders roots;
	struct mcp_folders sources; /* whose files may be shown as source lines */
	bool may_profile;           /* whether programs may be run and recorded */
};

/* Serves until 'in' ends and every call is answered. False: a file descriptor failed. */
bool mcp_serve(const struct mcp_config *config, int in, int out, struct hwy_err *err);

#endif
