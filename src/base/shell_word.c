/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.c - see shell_word.h. */
#include "base/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether a shell takes the text for itself: letters beyond ASCII, too, are no syntax of one. */
static bool is_bare_word(const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_@%+=:,./-";
	for (const char *c = text; *c; c++)
		if (!((unsigned char)*c >= 0x80 || strchr(plain, *c)))
			return false;
	return *text != '\0';
}

struct hwy_shell_word hwy_shell_word(const char *text)
{
	struct hwy_shell_word word;
	size_t n = 0;
	snprintf(word.text, sizeof word.text, "%s", text);
	if (is_bare_word(text))
		return word;
	struct hwy_shell_word quoted;
	quoted.text[n++] = '\'';
	for (const char *c = text; *c; c++) {
		if (n + 8 > sizeof quoted.text)
			return word;
		if (*c == '\'') {
			memcpy(quoted.text + n, "'\\''", 4);
			n += 4;
		} else {
			quoted.text[n++] = *c;
		}
	}
	quoted.text[n++] = '\'';
	quoted.text[n] = '\0';
	return quoted;
}
