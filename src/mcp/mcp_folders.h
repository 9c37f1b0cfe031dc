/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_folders.h - which files the server may touch: those below the folders that the user named.
 *
 * A path is judged after its symbolic links were followed: a link that stays below a folder is
 * fine, one that leads out is refused, and a refusal does not tell whether there is such a file.
 */
#ifndef HWY_MCP_MCP_FOLDERS_H
#define HWY_MCP_MCP_FOLDERS_H

#include "base/mem.h"
#include "mcp/mcp.h"

/* Adds a folder; false where it is none, or where there are too many. */
bool mcp_folders_add(struct mcp_folders *folders, const char *path, struct hwy_err *err);
void mcp_folders_free(struct mcp_folders *folders);

/* Whether a path without symbolic links is one of the folders, or lies below one. */
bool mcp_folders_hold(const struct mcp_folders *folders, const char *real);

/* Yields a path without symbolic links as the tools are given it: relative to the first folder,
 * which is their working folder, where it lies there. */
const char *mcp_folders_name(const struct mcp_folders *folders, const char *real,
			     struct hwy_arena *arena);

/* Yields where a recording is (a file, or a folder of recordings with no link that leads out),
 * relative to the first folder where it lies there. Relative paths begin in the first folder.
 * NULL and a sentence where it may not be read. */
const char *mcp_folders_find(const struct mcp_folders *folders, const char *path,
			     struct hwy_arena *arena, struct hwy_err *err);
/* Yields where a new report may be written: its name ends with .hwy (which is added where it is
 * missing), its folder exists and lies below one of the folders, and there is no such file yet. */
const char *mcp_folders_new_report(const struct mcp_folders *folders, const char *path,
				   struct hwy_arena *arena, struct hwy_err *err);

#endif
