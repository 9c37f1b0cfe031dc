/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_keys.h - parts of a JSON value, by the names of their keys. */
#ifndef HWY_MCP_MCP_KEYS_H
#define HWY_MCP_MCP_KEYS_H

#include "base/json_read.h"

/* Removes from an object, or from each object of a list, the members that 'keys' does not name.
 * Names are separated by spaces; what stands in braces after a name holds for the objects below
 * it: "summary findings{id places{file line}}". */
void mcp_keys_pick(struct json_value *value, const char *keys);

#endif
