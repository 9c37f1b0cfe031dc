/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_schema.c - a tool as JSON Schema, from the table by which its arguments are checked. */
#include "mcp/mcp_tools.h"

static void put_value_type(struct hwy_json *json, const struct mcp_argument *argument)
{
	static const char *const types[] = {
		[MCP_RECORDING] = "string",  [MCP_RECORDINGS] = "string",
		[MCP_NEW_REPORT] = "string", [MCP_TEXT] = "string",
		[MCP_TEXTS] = "string",      [MCP_CURSOR] = "string",
		[MCP_INT] = "integer",       [MCP_INTS] = "integer",
		[MCP_BOOL] = "boolean"};
	json_put_text(json, "type", types[argument->type]);
	if (argument->type == MCP_INT || argument->type == MCP_INTS) {
		json_put_int(json, "minimum", argument->least);
		/* Above 2^53 a reader of JSON may lose digits. */
		if (argument->most <= (int64_t)1 << 53)
			json_put_int(json, "maximum", argument->most);
	}
	if (argument->type == MCP_CURSOR)
		json_put_text(json, "pattern", "^[0-9]{1,18}$");
}

static void put_argument(struct hwy_json *json, const struct mcp_argument *argument)
{
	bool is_list = argument->type == MCP_RECORDINGS || argument->type == MCP_TEXTS ||
		       argument->type == MCP_INTS;
	json_key(json, argument->name);
	json_begin_object(json);
	json_put_text(json, "description", argument->about);
	if (is_list) {
		json_put_text(json, "type", "array");
		json_put_int(json, "minItems", 1);
		json_put_int(json, "maxItems", MCP_MOST_WORDS / 4);
		json_key(json, "items");
		json_begin_object(json);
	}
	put_value_type(json, argument);
	if (is_list)
		json_end_object(json);
	json_end_object(json);
}

static void put_tool_schema(struct hwy_json *json, const struct mcp_tool *tool)
{
	json_begin_object(json);
	json_put_text(json, "type", "object");
	json_key(json, "properties");
	json_begin_object(json);
	for (const struct mcp_argument *argument = tool->arguments; argument->name; argument++)
		put_argument(json, argument);
	json_end_object(json);
	json_key(json, "required");
	json_begin_array(json);
	for (const struct mcp_argument *argument = tool->arguments; argument->name; argument++)
		if (argument->is_required)
			json_textz(json, argument->name);
	json_end_array(json);
	json_put_bool(json, "additionalProperties", false);
	json_end_object(json);
}

void mcp_tool_describe(struct hwy_json *json, const struct mcp_tool *tool)
{
	json_begin_object(json);
	json_put_text(json, "name", tool->name);
	json_put_text(json, "title", tool->title);
	json_put_text(json, "description", tool->about);
	json_key(json, "inputSchema");
	put_tool_schema(json, tool);
	json_key(json, "annotations");
	json_begin_object(json);
	json_put_text(json, "title", tool->title);
	json_put_bool(json, "readOnlyHint", !tool->needs_permission);
	json_put_bool(json, "destructiveHint", tool->needs_permission);
	json_put_bool(json, "idempotentHint", !tool->needs_permission);
	json_put_bool(json, "openWorldHint", tool->needs_permission);
	json_end_object(json);
	json_end_object(json);
}
