/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tree.h - JSON values that are made instead of read: the same nodes as json_read yields.
 *
 *   struct json_value *root = mcp_tree_new(arena, JSON_OBJECT);
 *   mcp_tree_put_int(arena, root, "line", 54);
 *   struct json_value *lines = mcp_tree_put(arena, root, "lines", JSON_ARRAY);
 *   mcp_tree_put_text(arena, lines, NULL, "loss.item()");
 */
#ifndef HWY_MCP_MCP_TREE_H
#define HWY_MCP_MCP_TREE_H

#include "base/json_read.h"

struct json_value *mcp_tree_new(struct hwy_arena *arena, enum json_type type);
/* Add a member (key NULL: an element) at the end of an object or array and yield it. Texts are
 * copied; keys are not. */
struct json_value *mcp_tree_put(struct hwy_arena *arena, struct json_value *parent, const char *key,
				enum json_type type);
struct json_value *mcp_tree_put_text(struct hwy_arena *arena, struct json_value *parent,
				     const char *key, const char *text);
struct json_value *mcp_tree_put_int(struct hwy_arena *arena, struct json_value *parent,
				    const char *key, int64_t value);
/* Adds each line of a text to an array, at most the last 'most' lines. */
void mcp_tree_put_lines(struct hwy_arena *arena, struct json_value *list, const char *text,
			uint32_t most);

#endif
