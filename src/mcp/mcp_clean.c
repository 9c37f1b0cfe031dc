/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_clean.c - see mcp_clean.h. */
#include "mcp/mcp_clean.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Characters that a reader does not see, or that change how others are seen. */
static bool is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},      {0x34f, 0x34f},
		      {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180b, 0x180f},
		      {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},  {0x3164, 0x3164},
		      {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xfffb},
		      {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* Yields how often the character at 'at' stands in a row. */
static size_t run_of(const char *at, const char *end)
{
	size_t n = 1;
	while (at + n < end && at[n] == *at)
		n++;
	return n;
}

/* Writes the text to 'out' without what a reader would not see; 'out' has room for three times
 * the text's bytes. Yields the length of what was written. */
static size_t clean_all(char *out, const char *text, size_t length, const char *kept)
{
	const char *end = text + length;
	size_t n = 0;
	for (const char *at = text; at < end;) {
		uint32_t code;
		size_t bytes = hwy_utf8_decode(at, (size_t)(end - at), &code);
		size_t fence = *at == '`' || *at == '~' ? run_of(at, end) : 0;
		if (fence > 2) {
			memset(out + n, '\'', fence);
			n += fence;
			at += fence;
			continue;
		}
		if (is_hidden(code) && !(code && code < 0x20 && strchr(kept, (int)code)))
			code = HWY_UTF8_REPLACEMENT;
		n += hwy_utf8_encode(out + n, code);
		at += bytes ? bytes : 1;
	}
	return n;
}

const char *mcp_clean(struct hwy_arena *arena, const char *text, size_t longest, const char *kept)
{
	size_t length = strlen(text);
	/* What is between the kept beginning and end is not looked at: a name of megabytes costs
	 * nothing. */
	size_t head = length, tail = 0;
	if (length > longest) {
		head = hwy_utf8_cut_bytes(text, length, longest * 3 / 4);
		tail = longest / 6;
		while (tail > 0 && hwy_utf8_is_inside(text[length - tail]))
			tail--;
	}
	char *out = hwy_arena_array(arena, head + tail + 32, 3);
	size_t n = clean_all(out, text, head, kept);
	if (head < length) {
		n += (size_t)snprintf(out + n, 64, " …(%zu bytes left out)… ",
				      length - head - tail);
		n += clean_all(out + n, text + length - tail, tail, kept);
	}
	out[n] = '\0';
	return out;
}
