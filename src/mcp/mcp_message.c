/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_message.c - see mcp_message.h. */
#include "mcp/mcp_message.h"

#include <ctype.h>
#include <string.h>

/* ---- lines ----------------------------------------------------------------------------------- */

void mcp_lines_add(struct mcp_lines *lines, const void *bytes, size_t n)
{
	if (lines->taken > 0) {
		lines->bytes.n -= lines->taken;
		memmove(lines->bytes.bytes, lines->bytes.bytes + lines->taken, lines->bytes.n);
		lines->taken = 0;
	}
	hwy_bytes_put(&lines->bytes, bytes, n);
}

enum mcp_line mcp_lines_next(struct mcp_lines *lines, const char **line, size_t *n)
{
	size_t left = lines->bytes.n - lines->taken;
	if (left == 0)
		return MCP_NO_LINE;
	const char *at = (const char *)lines->bytes.bytes + lines->taken;
	const char *end = memchr(at, '\n', left);
	size_t length = end ? (size_t)(end - at) : left;
	bool was_skipping = lines->is_skipping;
	if (!end && !was_skipping && length <= MCP_LONGEST_LINE)
		return MCP_NO_LINE;
	lines->taken += length + (end != NULL);
	lines->is_skipping = !end;
	if (was_skipping) /* the rest of a line that was reported as too long */
		return end ? mcp_lines_next(lines, line, n) : MCP_NO_LINE;
	*line = at;
	*n = length;
	return length <= MCP_LONGEST_LINE ? MCP_LINE : MCP_LINE_TOO_LONG;
}

enum mcp_line mcp_lines_last(struct mcp_lines *lines, const char **line, size_t *n)
{
	*n = lines->bytes.n - lines->taken;
	if (*n == 0 || lines->is_skipping)
		return MCP_NO_LINE;
	*line = (const char *)lines->bytes.bytes + lines->taken;
	lines->taken = lines->bytes.n;
	return MCP_LINE;
}

void mcp_lines_free(struct mcp_lines *lines)
{
	hwy_bytes_free(&lines->bytes);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Whether a number is written as a whole number of JSON: the reader also takes "+1", "01" and
 * "1e3", and an id is sent back as it came. */
static bool is_whole_number(const char *digits)
{
	const char *at = digits + (*digits == '-');
	if (*at == '0' && at[1])
		return false;
	for (; isdigit((unsigned char)*at); at++)
		;
	return *at == '\0' && isdigit((unsigned char)at[-1]) && at - digits <= 19;
}

static bool is_id(const struct json_value *id)
{
	return id->type == JSON_TEXT ? strlen(id->text) <= 256
				     : id->type == JSON_NUMBER && is_whole_number(id->text);
}

struct mcp_message mcp_message_of(const struct json_value *value)
{
	struct mcp_message message = {.kind = MCP_INVALID};
	const struct json_value *id = json_get(value, "id"), *method = json_get(value, "method");
	const struct json_value *params = json_get(value, "params");
	if (id && is_id(id))
		message.id = id;
	if (value->type != JSON_OBJECT)
		message.wrong = "a message is an object";
	else if (strcmp(json_get_text(value, "jsonrpc"), "2.0") != 0)
		message.wrong = "'jsonrpc' is not \"2.0\"";
	else if (!method && message.id && (json_get(value, "result") || json_get(value, "error")))
		message.kind = MCP_RESPONSE;
	else if (!method || method->type != JSON_TEXT)
		message.wrong = "'method' is missing";
	else if (id && !message.id)
		message.wrong = "'id' is neither a text of at most 256 bytes nor a whole number";
	else if (params && params->type != JSON_OBJECT)
		message.wrong = "'params' is not an object";
	else
		message.kind = id ? MCP_REQUEST : MCP_NOTIFICATION;
	if (message.kind != MCP_INVALID && method) {
		message.method = method->text;
		message.params = params;
	}
	return message;
}

bool mcp_same_id(const struct json_value *a, const struct json_value *b)
{
	return a && b && a->type == b->type && strcmp(a->text, b->text) == 0;
}
