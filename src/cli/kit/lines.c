/* lines.c - see lines.h. A mark is two bytes: a vertical tab, which texts of recordings cannot hold once they are
 * tamed, and a letter for the indent. */
#include "cli/kit/lines.h"

#include <stdlib.h>
#include <string.h>

#include "cli/kit/cli.h"

void lines_may_break(FILE *text, int indent)
{
	fprintf(text, "\v%c", 'A' + indent);
}

/* Columns up to the next mark, the end of the line, or of the text; colours take none. */
static int columns_ahead(const char *text)
{
	int columns = 0;
	for (; *text && *text != '\v' && *text != '\n'; text++) {
		if (*text == '\033')
			text += strcspn(text, "m");
		else
			columns += ((unsigned char)*text & 0xc0) != 0x80;
	}
	return columns;
}

/* The next line begins with a word: not with what separated it. */
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
	{"µ", "u"}, {"·", "-"}, {"…", "..."}, {"▸", ">"}, {"✓", "ok"}, {"→", "->"}, {"–", "-"},
	{"█", "#"}, {"░", "."}, {"▓", "@"},   {"▒", "="}, {"▚", "f"},  {"×", "x"},  {"≈", "~"},
};

static void put_plain(FILE *out, const char *text)
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
			while (((unsigned char)*text & 0xc0) == 0x80);
		}
	}
}

void lines_put(FILE *out, const char *text, int width, bool utf8)
{
	char *folded = NULL;
	size_t size = 0;
	FILE *lines = open_memstream(&folded, &size);
	if (!lines)
		cli_die("out of memory");
	lines_put_folded(lines, text, width);
	fclose(lines);
	if (utf8)
		fwrite(folded, 1, size, out);
	else
		put_plain(out, folded);
	free(folded);
}
