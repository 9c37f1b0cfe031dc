/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.c - breaks text into lines that fit a terminal. A number keeps its unit, a paragraph of
 * Chinese does not end with a line of one character, and what is a comment in a line of code
 * stays one: whoever copies the lines copies no text as code. */
#include "cli/kit/cli.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"

enum { CODE_INDENT = 2, LEAST_COMMENT = 30 }; /* columns */

/* Whether the character is one of the brackets 〈〉《》「」『』【】: in Unicode they stand in pairs, and
 * the second of a pair, which is odd, closes. */
static bool is_bracket(uint32_t code)
{
	return code >= 0x3008 && code <= 0x3011;
}

/* Whether no line may begin with this character: punctuation that closes what stands before it. */
static bool closes(uint32_t code)
{
	return (is_bracket(code) && code % 2 == 1) || code == 0x3001 || code == 0x3002 ||
	       code == 0xff0c || code == 0xff1a || code == 0xff1b || code == 0xff01 ||
	       code == 0xff1f || code == 0xff09;
}

/* Whether no line may end with this character: a bracket that opens what stands behind it. */
static bool opens(uint32_t code)
{
	return (is_bracket(code) && code % 2 == 0) || code == 0xff08;
}

/* Whether the text begins with a unit of a number, or with a wide character: in Chinese that is a
 * counted thing or its measure. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"ns",      "µs",   "us",  "ms",  "s",   "min",
					    "B",       "kB",   "MB",  "GB",  "TB",  "MB/s",
					    "GB/s",    "TB/s", "KiB", "MiB", "GiB", "TFLOP/s",
					    "GFLOP/s", "MHz",  "GHz", "W",   "J",   "°C"};
	size_t n = strcspn(text, " \t\n,;:.)");
	uint32_t code;
	if (hwy_utf8_decode(text, strlen(text), &code) && hwy_utf8_code_columns(code) == 2)
		return true;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i]);
		if (length <= n && memcmp(text, units[i], length) == 0 &&
		    !isalnum((unsigned char)text[length]) && text[length] != '/' &&
		    text[length] != '_')
			return true;
	}
	return false;
}

/* Whether a number ends at 'end', of which nothing stands before 'text'. */
static bool ends_number(const char *text, const char *end)
{
	const char *at = end;
	while (at > text && (isdigit((unsigned char)at[-1]) || at[-1] == '.' || at[-1] == ','))
		at--;
	bool is_name = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
	return at < end && isdigit((unsigned char)end[-1]) && !is_name;
}

/* Yields how far it is to the next white space at which a line may end: not before "%", and not
 * between a number and its unit. */
static size_t unbroken_length(const char *text)
{
	size_t length = strcspn(text, " \t\n");
	while (text[length] == ' ' &&
	       (text[length + 1] == '%' ||
		(ends_number(text, text + length) && is_unit(text + length + 1))))
		length += 1 + strcspn(text + length + 1, " \t\n");
	return length;
}

/* Yields the length of the piece at 'text' that a line keeps together: up to the next white
 * space, and between two characters of which one is wide, as those of Chinese are. Brackets and
 * punctuation stay with what they enclose or close. */
static size_t shortest_piece(const char *text)
{
	size_t length = unbroken_length(text), at = 0;
	bool was_wide = false, was_opening = false, was_space = false;
	while (at < length) {
		uint32_t code;
		size_t n = hwy_utf8_decode(text + at, length - at, &code);
		bool is_wide = hwy_utf8_code_columns(code) == 2;
		if (at > 0 && (was_wide || is_wide) && !was_opening && !was_space && !closes(code))
			return at;
		was_wide = is_wide;
		was_opening = opens(code);
		was_space = code == ' ';
		at += n ? n : 1;
	}
	return length;
}

/* shortest_piece, but the last two characters of a paragraph of Chinese stay together. */
static size_t piece_length(const char *text)
{
	size_t length = shortest_piece(text);
	uint32_t code;
	size_t n = hwy_utf8_decode(text + length, strlen(text + length), &code);
	if (length == 0 || n == 0 || hwy_utf8_code_columns(code) != 2)
		return length;
	size_t last = shortest_piece(text + length), at = n;
	while (at < last && (n = hwy_utf8_decode(text + length + at, last - at, &code)) > 0 &&
	       closes(code))
		at += n;
	char next = text[length + last];
	return at == last && (next == '\0' || next == '\n') ? length + last : length;
}

/* Yields the length of the sign by which a comment begins here: "//" or "#" before a space. */
static size_t comment_sign(const char *text)
{
	if (strncmp(text, "// ", 3) == 0)
		return 2;
	return strncmp(text, "# ", 2) == 0 ? 1 : 0;
}

/* What has been written of a line. */
struct wrapped {
	FILE *out;
	int indent, width, column, start; /* 'start': the column where this line's text begins */
	bool is_code;
	const char *sign; /* of the comment that the line is in, or NULL */
	int sign_length, sign_column;
};

static void begin_line(struct wrapped *line, const char *text)
{
	line->column = line->start = line->indent;
	line->is_code = strspn(text, " ") >= CODE_INDENT;
	line->sign = NULL;
}

/* Breaks the line before a piece of so many columns; a comment begins again. */
static void break_line(struct wrapped *line, int columns)
{
	line->start = line->indent;
	if (line->sign && line->width - line->sign_column >= LEAST_COMMENT &&
	    line->sign_column + line->sign_length + 1 + columns <= line->width)
		line->start = line->sign_column;
	fprintf(line->out, "\n%*s", line->start, "");
	if (line->sign)
		line->start += fprintf(line->out, "%.*s ", line->sign_length, line->sign);
	line->column = line->start;
}

static void wrap_put_piece(struct wrapped *line, const char *text, size_t n, bool has_space)
{
	int columns = hwy_utf8_columns(text, n);
	size_t sign = line->is_code && !line->sign ? comment_sign(text) : 0;
	if (line->width > 0 && line->column > line->start &&
	    line->column + has_space + columns > line->width) {
		break_line(line, columns);
	} else if (line->column > line->start && has_space) {
		fputc(' ', line->out);
		line->column++;
	}
	if (sign) {
		line->sign = text;
		line->sign_length = (int)sign;
		line->sign_column = line->column;
	}
	cli_put(line->out, text, n);
	line->column += columns;
}

void cli_wrap(FILE *out, const char *text, int indent, int width)
{
	struct wrapped line = {.out = out, .indent = indent, .width = width};
	bool has_space = false; /* before the next piece */
	begin_line(&line, text);
	while (*text) {
		size_t n = piece_length(text), sign = line.is_code ? comment_sign(text) : 0;
		/* A comment's sign stays with its first word. */
		if (sign && sign == n)
			n += 1 + piece_length(text + n + 1);
		wrap_put_piece(&line, text, n, has_space);
		text += n;
		has_space = *text == ' ' || *text == '\t';
		if (*text == '\n') {
			text++;
			fputc('\n', out);
			if (*text && *text != '\n')
				fprintf(out, "%*s", indent, "");
			begin_line(&line, text);
		} else if (*text == ' ' || *text == '\t') {
			text++;
		}
	}
	fputc('\n', out);
}
