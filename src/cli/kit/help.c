/* help.c - prints a command's --help, wrapped to the terminal. */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { WIDEST_LABEL = 26, GAP = 2 };

/* Screen columns of n bytes of UTF-8, as far as help texts need it. */
static int columns_of(const char *text, size_t n)
{
	int columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

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
		int columns = columns_of(text, n);
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

static int label_of(const struct cli_option *option, char *label, size_t size)
{
	char letter[5] = "    ";
	if (option->letter)
		snprintf(letter, sizeof letter, "-%c, ", option->letter);
	return snprintf(label, size, "  %s--%s%s%s", letter, option->name,
			option->value && *option->value ? "=" : "",
			option->value ? option->value : "");
}

static void print_option(FILE *out, const struct cli_option *option, int label_width, int width)
{
	char label[128];
	int n = label_of(option, label, sizeof label);
	fputs(label, out);
	if (n > label_width) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", label_width + GAP - n, "");
	cli_wrap(out, option->help, label_width + GAP, width);
}

static int widest_label(const struct cli *cli)
{
	int widest = 12;
	char label[128];
	for (int i = 0; cli->options[i].name; i++) {
		int n = *cli->options[i].name && cli->options[i].help
				? label_of(&cli->options[i], label, sizeof label)
				: 0;
		if (n > widest && n <= WIDEST_LABEL)
			widest = n;
	}
	return widest;
}

void cli_help(const struct cli *cli, FILE *out)
{
	static const struct cli_option help = {'h', "help", NULL, "this text"};
	int width = cli_width(out);
	width = width == 0 ? 80 : width < 40 ? 40 : width > 100 ? 100 : width;
	int colour = cli_colour(out);
	const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";

	fprintf(out, "%sUsage:%s %s\n\n", bold, plain, cli->usage);
	cli_wrap(out, cli->about, 0, width);
	int label_width = widest_label(cli);
	if (!cli->options[0].name || *cli->options[0].name)
		fprintf(out, "\n%sOptions:%s\n", bold, plain);
	for (int i = 0; cli->options[i].name; i++) {
		if (!cli->options[i].help)
			continue;
		if (*cli->options[i].name)
			print_option(out, &cli->options[i], label_width, width);
		else
			fprintf(out, "\n%s%s%s\n", bold, cli->options[i].help, plain);
	}
	print_option(out, &help, label_width, width);
	if (cli->footer)
		fprintf(out, "\n%s%s", cli->footer,
			cli->footer[0] && cli->footer[strlen(cli->footer) - 1] == '\n' ? "" : "\n");
}
