/* SPDX-License-Identifier: Apache-2.0 */
/* query_shown.c - names as the page shows them, so that what one reads there can be asked for.
 *
 * web/src/query/shown.ts does the same; tests/query_cases.txt holds both to the same answers. */
#include "serve/query.h"

#include <string.h>

enum { LEAST_VERSION = 4, MOST_VERSION = 5 }; /* digits of the version in "_v7000" */

static bool is_sign_of(char c, const char *these)
{
	return c && strchr(these, c);
}

/* Takes what is on top of a stack; 0 where it is empty. */
static char pop(struct hwy_bytes *stack)
{
	return stack->n > 0 ? (char)stack->bytes[--stack->n] : 0;
}

static char top(const struct hwy_bytes *stack)
{
	return stack->n > 0 ? (char)stack->bytes[stack->n - 1] : 0;
}

/* Whether a return type stands in the first n bytes: words before a name are one only where they
 * have a '<' or a "::"; ranges are named with words, too. */
static bool looks_like_type(const char *name, size_t n)
{
	return memchr(name, '<', n) || memmem(name, n, "::", 2);
}

/* Where a demangled name begins behind its return type: after the last space outside of brackets
 * before the parameters. A '>' closes a '<' only where no other bracket was opened after it: in
 * "f<(8>0)>" the first one compares. */
static size_t after_return_type(const char *name, size_t n)
{
	struct hwy_bytes open = {0};
	size_t begin = 0, found = 0;
	for (size_t i = 0; i < n; i++) {
		char c = name[i];
		if (c == '(' && open.n == 0) {
			found = i > begin && looks_like_type(name, begin) ? begin : 0;
			break;
		}
		if (c == ' ' && open.n == 0)
			begin = i + 1;
		else if (is_sign_of(c, "<([{"))
			hwy_bytes_put_byte(&open, (uint8_t)c);
		else if (c == '>' && top(&open) == '<')
			pop(&open);
		else if (is_sign_of(c, ")]}")) {
			while (top(&open) == '<')
				pop(&open);
			pop(&open);
		}
	}
	hwy_bytes_free(&open);
	return found;
}

/* The length of a name without the version of a call of CUDA, "_v7000". */
static size_t without_version(const char *name, size_t n)
{
	size_t digits = 0;
	while (digits < n && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9')
		digits++;
	bool is_version = digits >= LEAST_VERSION && digits <= MOST_VERSION && n >= digits + 2 &&
			  memcmp(name + n - digits - 2, "_v", 2) == 0;
	return is_version ? n - digits - 2 : n;
}

struct hwy_text query_shown_name(struct hwy_text name, struct hwy_bytes *room)
{
	static const char returned[] = "void ", hidden[] = "(anonymous namespace)::";
	const char *at = name.at, *end = name.at + name.length;
	room->n = 0;
	if (name.length >= strlen(returned) && memcmp(at, returned, strlen(returned)) == 0)
		at += strlen(returned);
	while (at < end) {
		const char *next = memmem(at, (size_t)(end - at), hidden, strlen(hidden));
		hwy_bytes_put(room, at, (size_t)((next ? next : end) - at));
		at = next ? next + strlen(hidden) : end;
	}
	if (room->n == 0)
		return name;
	const char *whole = (const char *)room->bytes;
	size_t n = without_version(whole, room->n);
	size_t begin = after_return_type(whole, n), stop = begin, scope = begin;
	while (stop < n && !is_sign_of(whole[stop], "<("))
		stop++;
	for (size_t i = begin; stop < n && i + 1 < stop; i++)
		if (memcmp(whole + i, "::", 2) == 0)
			scope = i + 2;
	return begin < n ? (struct hwy_text){whole + scope, (uint32_t)(n - scope)} : name;
}
