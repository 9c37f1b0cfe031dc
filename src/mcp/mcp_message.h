/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_message.h - messages of JSON-RPC 2.0: lines out of a stream of bytes, and what a line says.
 *
 * A line above MCP_LONGEST_LINE is skipped up to its end and told as MCP_LINE_TOO_LONG once; the
 * next line is read as if nothing had been.
 */
#ifndef HWY_MCP_MCP_MESSAGE_H
#define HWY_MCP_MCP_MESSAGE_H

#include "base/bytes.h"
#include "base/json_read.h"

enum { MCP_LONGEST_LINE = 1 << 20 };

/* Error codes of JSON-RPC. */
enum mcp_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL_ERROR = -32603,
};

/* ---- lines ----------------------------------------------------------------------------------- */

struct mcp_lines {
	/* bytes that were read; the first 'taken' of them belong to lines that were taken */
	struct hwy_bytes bytes;
	size_t taken;
	bool is_skipping; /* inside a line that is too long */
};

enum mcp_line { MCP_NO_LINE, MCP_LINE, MCP_LINE_TOO_LONG };

void mcp_lines_add(struct mcp_lines *lines, const void *bytes, size_t n);
/* Takes the next whole line, without its newline; it is valid until the next call of
 * mcp_lines_add. */
enum mcp_line mcp_lines_next(struct mcp_lines *lines, const char **line, size_t *n);
/* Takes what stands after the last newline, where the stream has ended. */
enum mcp_line mcp_lines_last(struct mcp_lines *lines, const char **line, size_t *n);
void mcp_lines_free(struct mcp_lines *lines);

/* ---- messages -------------------------------------------------------------------------------- */

enum mcp_kind { MCP_REQUEST, MCP_NOTIFICATION, MCP_RESPONSE, MCP_INVALID };

struct mcp_message {
	enum mcp_kind kind;
	/* a text or a whole number; NULL where there is none that can be answered */
	const struct json_value *id;
	const char *method;
	const struct json_value *params; /* an object, or NULL */
	const char *wrong;               /* MCP_INVALID: why */
};

struct mcp_message mcp_message_of(const struct json_value *value);
/* Whether two ids are the same: 7 and "7" are not. */
bool mcp_same_id(const struct json_value *a, const struct json_value *b);

#endif
