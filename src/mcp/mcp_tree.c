/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tree.c - see mcp_tree.h. */
#include "mcp/mcp_tree.h"

#include <inttypes.h>
#include <string.h>

struct json_value *mcp_tree_new(struct hwy_arena *arena, enum json_type type)
{
	struct json_value *value = hwy_arena_alloc(arena, sizeof *value);
	value->type = type;
	return value;
}

struct json_value *mcp_tree_put(struct hwy_arena *arena, struct json_value *parent, const char *key,
				enum json_type type)
{
	struct json_value *value = mcp_tree_new(arena, type);
	value->key = key;
	*(parent->last ? &parent->last->next : &parent->first) = value;
	parent->last = value;
	parent->n++;
	return value;
}

struct json_value *mcp_tree_put_text(struct hwy_arena *arena, struct json_value *parent,
				     const char *key, const char *text)
{
	struct json_value *value = mcp_tree_put(arena, parent, key, JSON_TEXT);
	value->text = hwy_arena_text(arena, text, strlen(text));
	return value;
}

struct json_value *mcp_tree_put_int(struct hwy_arena *arena, struct json_value *parent,
				    const char *key, int64_t number)
{
	struct json_value *value = mcp_tree_put(arena, parent, key, JSON_NUMBER);
	value->text = hwy_arena_format(arena, "%" PRId64, number);
	return value;
}

void mcp_tree_put_lines(struct hwy_arena *arena, struct json_value *list, const char *text,
			uint32_t most)
{
	size_t length = strlen(text);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	const char *end = text + length, *at = end;
	for (uint32_t n = 0; at > text; at--)
		if (at[-1] == '\n' && ++n == most)
			break;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);
		mcp_tree_put_text(arena, list, NULL, hwy_arena_text(arena, at, n));
		at += n + 1;
	}
}
