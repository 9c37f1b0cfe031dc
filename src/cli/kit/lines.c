/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - see lines.h. A mark is two bytes: a vertical tab, which hwy_sanitize takes out of
 * texts of recordings, and a letter for the indent. */
#include "cli/kit/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory_text.h"
#include "base/utf8.h"

void lines_may_break(FILE *text, int indent)
{
	fprintf(text, "\v%c", 'A' + indent);
}

/* Yields the columns up to the next mark (\v), newline or end of the text; escape codes take no
 * column. */
static int columns_ahead(const char *text)
{
	int columns = 0;
	while (*text && *text != '\v' && *text != '\n') {
		size_t n = strcspn(text, "\v\n\033");
		columns += hwy_utf8_columns(text, n);
		text += n;
		if (*text == '\033')
			text += strcspn(text, "m") + 1;
	}
	return columns;
}

/* A new line begins with a word, not with the spaces and the dot that separated it from the
 * last. */
static const char *past_separator(const char *text)
{
	static const char dot[] = "· ";
	text += strspn(text, " ");
	return strncmp(text, dot, strlen(dot)) == 0 ? text + strlen(dot) : text;
}

static void lines_put_folded(FILE *out, const char *text, int width)
{
	int column = 0;
	while (*text) {
		column += columns_ahead(text);
		size_t n = strcspn(text, "\v\n");
		fwrite(text, 1, n, out);
		text += n;
		if (*text == '\n') {
			fputc(*text++, out);
			column = 0;
		} else if (*text == '\v') {
			int indent = text[1] - 'A';
			text += text[1] ? 2 : 1;
			if (column + columns_ahead(text) <= width)
				continue;
			text = past_separator(text);
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
	}
}

static const struct {
	const char *from, *to;
} plain_characters[] = {
	{"µ", "u"},  {"·", "-"},  {"…", "..."}, {"▸", ">"}, {"✓", "ok"}, {"→", "->"}, {"–", "-"},
	{"█", "#"},  {"░", "."},  {"▓", "@"},   {"▒", "="}, {"▚", "f"},  {"×", "x"},  {"≈", "~"},
	{"±", "+-"}, {"−", "-"},  {"≤", "<"},   {"≥", ">"}, {"─", "-"},  {"╴", "-"},  {"▪", "+"},
	{"▫", "-"},  {"✗", "x"},  {"—", "-"},   {"²", "2"}, {"╷", "|"},  {"▕", "|"},  {"│", "|"},
	{"›", ">"},  {"°C", "C"}, {"▁", "."},   {"▂", ":"}, {"▃", "-"},  {"▄", "="},  {"▅", "+"},
	{"▆", "*"},  {"▇", "%"},
};

void lines_put_plain(FILE *out, const char *text)
{
	while (*text) {
		size_t i = 0, n = sizeof plain_characters / sizeof *plain_characters;
		for (; i < n; i++)
			if (strncmp(text, plain_characters[i].from,
				    strlen(plain_characters[i].from)) == 0)
				break;
		if (i < n) {
			fputs(plain_characters[i].to, out);
			text += strlen(plain_characters[i].from);
		} else if ((unsigned char)*text < 0x80) {
			fputc(*text++, out);
		} else {
			fputc('?', out);
			do
				text++;
			while (hwy_utf8_is_inside(*text));
		}
	}
}

void lines_put(FILE *out, const char *text, int width, bool utf8)
{
	struct memory_text memory;
	lines_put_folded(memory_text_begin(&memory), text, width);
	char *folded = memory_text_end(&memory);
	if (utf8)
		fwrite(folded, 1, memory.length, out);
	else
		lines_put_plain(out, folded);
	free(folded);
}
