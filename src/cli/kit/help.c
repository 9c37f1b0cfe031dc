/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - prints a command's --help, wrapped to the terminal. */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/kit/paint.h"

enum { LEAST_LABEL = 12, WIDEST_LABEL = 26, GAP = 2 }; /* widths in columns */

void cli_put(FILE *out, const char *text, size_t n)
{
	char *copy = hwy_copy(text, n);
	hwy_sanitize(copy, n);
	fwrite(copy, 1, n, out);
	free(copy);
}

void cli_put_markdown(FILE *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\\`*_{}[]<>#|&");
		cli_put(out, text, n);
		text += n;
		if (*text)
			fprintf(out, "\\%c", *text++);
	}
}

void cli_wrap(FILE *out, const char *text, int indent, int width)
{
	int column = indent;
	while (*text) {
		size_t n = strcspn(text, " \t\n");
		int columns = hwy_utf8_columns(text, n);
		if (width > 0 && column > indent && column + 1 + columns > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		cli_put(out, text, n);
		column += columns;
		text += n;
		if (*text == '\n') {
			text++;
			fputc('\n', out);
			if (*text && *text != '\n')
				fprintf(out, "%*s", indent, "");
			column = indent;
		} else if (*text == ' ' || *text == '\t') {
			text++;
		}
	}
	fputc('\n', out);
}

static int help_label(const struct cli_option *option, char *label, size_t size)
{
	char letter[5] = "    ";
	if (option->letter)
		snprintf(letter, sizeof letter, "-%c, ", option->letter);
	return snprintf(label, size, "  %s--%s%s%s", letter, option->name, option->value ? "=" : "",
			option->value ? option->value : "");
}

static void print_option(FILE *out, const struct cli_option *option, int label_width, int width)
{
	char label[128];
	int n = help_label(option, label, sizeof label);
	fputs(label, out);
	if (n > label_width) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", label_width + GAP - n, "");
	cli_wrap(out, option->help, label_width + GAP, width);
}

static int widest_label(const struct cli_command *command)
{
	int widest = LEAST_LABEL;
	char label[128];
	for (const struct cli_option *option = command->options; option->name; option++) {
		bool is_listed = option->type != CLI_HEADING && option->help;
		int n = is_listed ? help_label(option, label, sizeof label) : 0;
		if (n > widest && n <= WIDEST_LABEL)
			widest = n;
	}
	return widest;
}

void cli_help(const struct cli_command *command, FILE *out)
{
	static const struct cli_option help = {
		.letter = 'h', .name = "help", .help = "this text", .type = CLI_SWITCH};
	int width = cli_width(out);
	width = width == 0 ? 80 : width < 40 ? 40 : width > 100 ? 100 : width;
	bool colour = cli_colour(out);
	const char *bold = paint(colour, PAINT_BOLD), *plain = paint(colour, PAINT_PLAIN);

	fprintf(out, "%sUsage:%s %s\n\n", bold, plain, command->usage);
	cli_wrap(out, command->about, 0, width);
	int label_width = widest_label(command);
	if (command->options->type != CLI_HEADING)
		fprintf(out, "\n%sOptions:%s\n", bold, plain);
	for (const struct cli_option *option = command->options; option->name; option++) {
		if (!option->help)
			continue;
		if (option->type == CLI_HEADING)
			fprintf(out, "\n%s%s%s\n", bold, option->help, plain);
		else
			print_option(out, option, label_width, width);
	}
	print_option(out, &help, label_width, width);
	if (command->footer)
		fprintf(out, "\n%s", command->footer);
}
