/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - prints a command's --help, wrapped to the terminal. */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
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

void cli_put_column(FILE *out, const char *text, int columns)
{
	int pad = columns - hwy_utf8_columns(text, strlen(text));
	fprintf(out, "%s%*s", text, pad > 0 ? pad : 0, "");
}

void cli_put_right(FILE *out, const char *text, int columns)
{
	int pad = columns - hwy_utf8_columns(text, strlen(text));
	fprintf(out, "%*s%s", pad > 0 ? pad : 0, "", text);
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
	cli_wrap(out, hwy_tr(option->help), label_width + GAP, width);
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

const struct cli_option cli_help_option = {
	.letter = 'h', .name = "help", .help = "this text", .type = CLI_SWITCH};

void cli_put_usage(FILE *out, const char *usage)
{
	enum { INDENT = sizeof "Usage: " - 1 };
	const char *label = hwy_tr("Usage: ");
	bool colour = cli_colour(out);
	fprintf(out, "%s%s%s", paint(colour, PAINT_BOLD), label, paint(colour, PAINT_PLAIN));
	int columns = hwy_utf8_columns(label, strlen(label));
	for (const char *line = usage; *line;) {
		size_t n = strcspn(line, "\n");
		fprintf(out, "%.*s", (int)n, line);
		line += n;
		if (*line)
			fprintf(out, "\n%*s", columns, "");
		line += strspn(line, "\n");
		line += strncmp(line, "       ", INDENT) == 0 ? INDENT : 0;
	}
}

void cli_help(const struct cli_command *command, FILE *out)
{
	int width = cli_width(out);
	width = width == 0 ? 80 : width < 40 ? 40 : width > 100 ? 100 : width;
	bool colour = cli_colour(out);
	const char *bold = paint(colour, PAINT_BOLD), *plain = paint(colour, PAINT_PLAIN);

	cli_put_usage(out, command->usage);
	fputs("\n\n", out);
	cli_wrap(out, hwy_tr(command->about), 0, width);
	int label_width = widest_label(command);
	if (command->options->type != CLI_HEADING)
		fprintf(out, "\n%s%s%s\n", bold, hwy_tr("Options:"), plain);
	for (const struct cli_option *option = command->options; option->name; option++) {
		if (!option->help)
			continue;
		if (option->type == CLI_HEADING)
			fprintf(out, "\n%s%s%s\n", bold, hwy_tr(option->help), plain);
		else
			print_option(out, option, label_width, width);
	}
	print_option(out, &cli_language_option, label_width, width);
	print_option(out, &cli_help_option, label_width, width);
	if (command->footer)
		fprintf(out, "\n%s", hwy_tr(command->footer));
}
