/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_keys.c - see mcp_keys.h. */
#include "mcp/mcp_keys.h"

#include <string.h>

/* Yields the address after the brace that closes the one at 'at'. */
static const char *after_braces(const char *at)
{
	int depth = 0;
	do {
		depth += (*at == '{') - (*at == '}');
		at++;
	} while (depth > 0 && *at);
	return at;
}

/* Finds a name; *inner is what its braces hold, or NULL where it has none. */
static bool find_key(const char *keys, const char *key, const char **inner)
{
	size_t length = strlen(key);
	for (const char *at = keys + strspn(keys, " "); *at && *at != '}'; at += strspn(at, " ")) {
		size_t n = strcspn(at, " {}");
		bool is_it = n == length && strncmp(at, key, n) == 0;
		at += n;
		*inner = *at == '{' ? at + 1 : NULL;
		if (is_it)
			return true;
		if (*at == '{')
			at = after_braces(at);
	}
	return false;
}

void mcp_keys_pick(struct json_value *value, const char *keys)
{
	if (value->type == JSON_ARRAY)
		for (struct json_value *one = value->first; one; one = one->next)
			mcp_keys_pick(one, keys);
	if (value->type != JSON_OBJECT)
		return;
	value->last = NULL;
	for (struct json_value **at = &value->first; *at;) {
		const char *inner;
		if (!find_key(keys, (*at)->key, &inner)) {
			*at = (*at)->next;
			value->n--;
			continue;
		}
		if (inner)
			mcp_keys_pick(*at, inner);
		value->last = *at;
		at = &(*at)->next;
	}
}
