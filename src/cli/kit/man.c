/* SPDX-License-Identifier: Apache-2.0 */
/* man.c - the man pages, made from the tables that --help is made from.
 *
 * Pages use the macros of man(7) only, so that groff and mandoc both render them. Text beyond ASCII
 * is written as \[uXXXX].
 */
#include "cli/kit/generate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

/* ---- roff ----------------------------------------------------------------------------------- */

/* Prints n bytes of text, escaped so that roff takes no part of the text for a request or an
 * escape. */
static void put_roff(FILE *out, const char *text, size_t n)
{
	bool begins_line = true;
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t length = hwy_utf8_decode(text + i, n - i, &code);
		i += length ? length : 1;
		if (begins_line && (code == '.' || code == '\'' || code == 0x2026))
			fputs("\\&", out);
		begins_line = code == '\n';
		if (code == '\\')
			fputs("\\e", out);
		else if (code == '-')
			fputs("\\-", out);
		else if (code == '\'')
			fputs("\\(aq", out);
		else if (code == '`')
			fputs("\\(ga", out);
		else if (code == '^')
			fputs("\\(ha", out);
		else if (code == '~')
			fputs("\\(ti", out);
		else if (code == 0x2026) /* terminals without UTF-8 have no ellipsis */
			fputs("...", out);
		else if (code >= 0x80)
			fprintf(out, "\\[u%04X]", (unsigned)code);
		else
			fputc((int)code, out);
	}
}

static void put_text(FILE *out, const char *text)
{
	put_roff(out, text, strlen(text));
}

/* Prints text that roff wraps. The lines of the page's source are short, because mandoc warns of
 * long lines. */
static void put_paragraph(FILE *out, const char *text)
{
	enum { LINE_COLUMNS = 60 };
	size_t column = 0;
	while (*text) {
		size_t n = strcspn(text, " \n");
		if (column > 0)
			fputc(column + n > LINE_COLUMNS ? '\n' : ' ', out);
		column = column + n > LINE_COLUMNS ? 0 : column;
		put_roff(out, text, n);
		column += n + 1;
		text += n;
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

static void put_section(FILE *out, const char *title)
{
	fprintf(out, ".SH \"%s\"\n", title);
}

/* Prints lines that roff does not wrap, and drops the first 'indent' spaces of each line. */
static void put_lines(FILE *out, const char *text, size_t indent)
{
	fputs(".nf\n", out);
	for (; *text; text += strspn(text, "\n")) {
		size_t n = strcspn(text, "\n"), skipped = strspn(text, " ");
		skipped = skipped < indent ? skipped : indent;
		put_roff(out, text + skipped, n - skipped);
		fputc('\n', out);
		text += n;
	}
	fputs(".fi\n", out);
}

/* ---- parts of a page ------------------------------------------------------------------------ */

static void man_put_head(FILE *out, const char *name, const char *summary)
{
	/* Builds that must be reproducible set this variable. */
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	char date[32], title[64];
	struct tm day;
	gmtime_r(&now, &day);
	strftime(date, sizeof date, "%Y-%m-%d", &day);
	snprintf(title, sizeof title, "%s", name);
	for (char *c = title; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	fprintf(out,
		".\\\" Made by 'headway --generate man': edit the tables in src/cli/ instead.\n"
		".TH %s 1 %s \"Headway %s\" \"Headway\"\n"
		".nh\n"
		".ad l\n",
		title, date, HEADWAY_VERSION);
	put_section(out, "NAME");
	put_text(out, name);
	fputs(" \\-\n", out);
	put_paragraph(out, summary);
}

/* Prints a usage, whose lines after the first are indented by the width of "Usage: ". */
static void put_synopsis(FILE *out, const char *usage)
{
	put_section(out, "SYNOPSIS");
	put_lines(out, usage, strlen("Usage: "));
}

static void man_put_option(FILE *out, char letter, const char *name, const char *value,
			   const char *help)
{
	fputs(".TP\n", out);
	if (letter)
		fprintf(out, "\\fB\\-%c\\fR, ", letter);
	fputs("\\fB\\-\\-", out);
	put_text(out, name);
	fputs("\\fR", out);
	if (value) {
		fputs("=\\fI", out);
		put_text(out, value);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	put_paragraph(out, help);
}

static void put_options(FILE *out, const struct cli_command *command)
{
	put_section(out, "OPTIONS");
	for (const struct cli_option *row = command->options; row->name; row++) {
		if (row->type == CLI_HEADING) {
			fputs(".SS \"", out);
			put_roff(out, row->help, strcspn(row->help, ":"));
			fputs("\"\n", out);
		} else if (row->help) {
			man_put_option(out, row->letter, row->name, row->value, row->help);
		}
	}
	const struct cli_option *lang = &cli_language_option;
	man_put_option(out, 0, lang->name, lang->value, lang->help);
	man_put_option(out, 'h', "help", NULL, "Print a short form of this page.");
}

/* The part of a footer before "Examples:" becomes the section NOTES; indented lines in it are
 * not wrapped. */
static void put_footer(FILE *out, const char *footer)
{
	static const char title[] = "Examples:\n";
	const char *examples = strstr(footer, title);
	size_t n = examples ? (size_t)(examples - footer) : strlen(footer);
	if (n > 0) {
		while (footer[n - 1] == '\n')
			n--;
		char *notes = strndup(footer, n);
		put_section(out, "NOTES");
		if (strstr(notes, "\n  "))
			put_lines(out, notes, 0);
		else
			put_paragraph(out, notes);
		free(notes);
	}
	if (examples) {
		put_section(out, "EXAMPLES");
		put_lines(out, examples + sizeof title - 1, 2);
	}
}

static void put_item(FILE *out, const char *name, const char *text)
{
	fputs(".TP\n.B ", out);
	put_paragraph(out, name);
	put_paragraph(out, text);
}

static void put_status(FILE *out, const struct cli_command *command)
{
	put_section(out, "EXIT STATUS");
	if (command && command->operands == CLI_PROGRAM) {
		put_paragraph(out, "The program's own, or 128 and the number of the signal that "
				   "ended it; 2 where the program could not be started.");
		return;
	}
	put_item(out, "0", "Done.");
	if (!command)
		put_item(out, "1",
			 "The answer is \"no\": a check that fails, a run that became slower.");
	else if (command->status)
		put_item(out, "1", command->status);
	put_item(out, "2", "It could not be done; one line on standard error says why.");
}

/* A file or an environment variable, and the commands that use it; commands is NULL where all
 * commands do. */
struct fact {
	const char *name, *commands, *text;
};

static bool fact_concerns(const struct fact *fact, const struct cli_command *command)
{
	if (!command || !fact->commands)
		return true;
	size_t n = strlen(command->name);
	for (const char *word = fact->commands; *word;) {
		size_t length = strcspn(word, " ");
		if (length == n && memcmp(word, command->name, n) == 0)
			return true;
		word += length + (word[length] == ' ');
	}
	return false;
}

static void put_facts(FILE *out, const char *title, const struct fact *facts,
		      const struct cli_command *command)
{
	put_section(out, title);
	for (; facts->name; facts++)
		if (fact_concerns(facts, command))
			put_item(out, facts->name, facts->text);
}

#define READERS                                                                                    \
	"info show view stats analyze breakdown whatif path diff gate baseline convert export"

static const struct fact files[] = {
	{"reportN.hwy", "profile recover", "The report, where -o does not name another file."},
	{"FILE.hwy, FILE.sqlite, FILE.nsys-rep, FILE.json, FILE.json.gz", READERS,
	 "Recordings: reports of Headway, exports and reports of Nsight Systems, traces of "
	 "PyTorch's "
	 "profiler. The content decides, not the name."},
	{"$TMPDIR/headway-XXXXXX", "profile recover",
	 "What a program records while it runs. Left behind only where headway was killed; headway "
	 "recover makes a report of it."},
	{"$XDG_CACHE_HOME/headway/", "profile view doctor",
	 "What recording costs on each GPU and driver, and reports that headway view made of other "
	 "recordings. May be removed at any time."},
	{NULL, NULL, NULL},
};

static const struct fact variables[] = {
	{"NO_COLOR", NULL, "Not empty: no colours."},
	{"COLORFGBG", NULL, "Set by many terminals; on a light background colours are darker."},
	{"TERM", NULL, "\"dumb\": no colours."},
	{"LC_ALL, LC_CTYPE, LANG", NULL,
	 "Where the character set is not UTF-8, only plain characters are printed."},
	{"TMPDIR", NULL, "The folder for temporary files (default: /tmp)."},
	{"NSYS", READERS, "The nsys program that reads .nsys-rep files (default: nsys in PATH)."},
	{"XDG_CACHE_HOME, HOME", "profile view doctor",
	 "The cache is the folder headway in XDG_CACHE_HOME, or in .cache of HOME."},
	{"HEADWAY_CUPTI", "profile doctor", "The libcupti.so to record CUDA with."},
	{"HEADWAY_LIB", "profile doctor",
	 "libheadway-collect.so, which is loaded into the program, or the folder that holds it."},
	{"LD_PRELOAD, OPENCL_LAYERS", "profile",
	 "Handed on to the program, with the libraries of Headway added."},
	{"NCCL_PROFILER_PLUGIN", "profile",
	 "A profiler plugin of NCCL that is set here stays: -t nccl then records nothing."},
	{"PATH", "profile doctor", "Where the program and Python are looked for."},
	{"DISPLAY, WAYLAND_DISPLAY", "view",
	 "Without both no browser is opened and the address is printed."},
	{NULL, NULL, NULL},
};

static void put_see_also(FILE *out, const struct cli_program *program,
			 const struct cli_command *command)
{
	put_section(out, "SEE ALSO");
	if (command)
		fputs(".BR headway (1)", out);
	for (size_t i = 0; program->commands[i]; i++) {
		if (program->commands[i] == command)
			continue;
		fprintf(out, "%s.BR headway\\-%s (1)", i || command ? ",\n" : "",
			program->commands[i]->name);
	}
	fputc('\n', out);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void put_commands(FILE *out, const struct cli_program *program)
{
	put_section(out, "COMMANDS");
	for (size_t i = 0; program->commands[i]; i++) {
		fprintf(out, ".TP\n.BR headway\\-%s (1)\n", program->commands[i]->name);
		put_paragraph(out, program->commands[i]->summary);
	}
	put_section(out, "OPTIONS");
	man_put_option(out, 'h', "help", NULL, "List the commands; behind a command, its options.");
	man_put_option(out, 'V', "version", NULL, "Print the version.");
}

static void put_program(FILE *out, const struct cli_program *program)
{
	man_put_head(out, "headway", "a profiler for programs that use GPUs");
	put_synopsis(out, program->usage);
	put_section(out, "DESCRIPTION");
	put_paragraph(out, program->about);
	fputs(".PP\n", out);
	put_paragraph(out, program->files);
	put_commands(out, program);
	put_section(out, "EXAMPLES");
	put_lines(out, program->examples, 2);
}

void man_write(FILE *out, const struct cli_program *program, const struct cli_command *command)
{
	if (!command) {
		put_program(out, program);
	} else {
		char name[64];
		snprintf(name, sizeof name, "headway-%s", command->name);
		man_put_head(out, name, command->summary);
		put_synopsis(out, command->usage);
		put_section(out, "DESCRIPTION");
		put_paragraph(out, command->about);
		put_options(out, command);
		if (command->footer)
			put_footer(out, command->footer);
	}
	put_status(out, command);
	put_facts(out, "FILES", files, command);
	put_facts(out, "ENVIRONMENT", variables, command);
	put_see_also(out, program, command);
}
