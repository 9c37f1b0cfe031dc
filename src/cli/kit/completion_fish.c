/* SPDX-License-Identifier: Apache-2.0 */
/* completion_fish.c - what fish offers after `headway …<Tab>`: one `complete` for each command
 * and option. */
#include "cli/kit/generate.h"

#include <string.h>

static const char head[] =
	"# Completion of headway for fish.\n"
	"# Made by 'headway --generate fish': edit the tables in src/cli/ instead.\n"
	"\n"
	"function __headway_needs_command\n"
	"	test (count (commandline -opc)) -lt 2\n"
	"end\n"
	"\n"
	"function __headway_is\n"
	"	set -l words (commandline -opc)\n"
	"	test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
	"end\n"
	"\n"
	"# The current word's paths that end in one of the arguments, and folders.\n"
	"function __headway_files\n"
	"	set -l pattern (string join '|' (string escape --style=regex -- $argv))\n"
	"	__fish_complete_path (commandline -ct) | string match -re "
	"\"(/|\\.($pattern))\\t\"\n"
	"end\n"
	"\n"
	"complete -c headway -f\n"
	"complete -c headway -n __headway_needs_command -s h -l help -d 'list the commands'\n"
	"complete -c headway -n __headway_needs_command -s V -l version -d 'print the version'\n";

static void fish_put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static void fish_put_words(FILE *out, const struct cli_option *option)
{
	const char *word;
	bool is_list = completion_is_list(option);
	fputs(is_list ? " -x -a '(__fish_append ," : " -x -a '", out);
	for (size_t i = 0; (word = completion_word(option, i)); i++)
		fprintf(out, "%s%s", i || is_list ? " " : "", word);
	fputs(is_list ? ")'" : "'", out);
}

static void fish_put_option(FILE *out, const struct cli_command *command,
			    const struct cli_option *option)
{
	fprintf(out, "complete -c headway -n '__headway_is %s'", command->name);
	if (option->letter)
		fprintf(out, " -s %c", option->letter);
	fprintf(out, " -l %s", option->name);
	if (option->value && completion_word(option, 0))
		fish_put_words(out, option);
	else if (option->value)
		fputs(completion_is_file(option) ? " -r -F" : " -x", out);
	fputs(" -d ", out);
	fish_put_quoted(out, completion_about(option).text);
	fputc('\n', out);
}

static void fish_put_operands(FILE *out, const struct cli_command *command)
{
	if (command->operands == CLI_NO_OPERAND)
		return;
	fprintf(out, "complete -c headway -n '__headway_is %s' -x -a '(", command->name);
	if (command->operands == CLI_DIRECTORY) {
		fputs("__fish_complete_directories", out);
	} else if (command->operands == CLI_PROGRAM) {
		fputs("__fish_complete_subcommand --fcs-skip=2", out);
		for (const struct cli_option *o = NULL; (o = completion_next(command, o));) {
			if (o->value && o->letter)
				fprintf(out, " -%c", o->letter);
			if (o->value)
				fprintf(out, " --%s", o->name);
		}
	} else {
		fputs("__headway_files", out);
		for (size_t i = 0; completion_endings[i]; i++)
			fprintf(out, " %s", completion_endings[i]);
	}
	fputs(")'\n", out);
}

void completion_fish(FILE *out, const struct cli_program *program)
{
	fputs(head, out);
	for (size_t i = 0; program->commands[i]; i++) {
		const struct cli_command *command = program->commands[i];
		for (int help = 0; help < 2; help++) {
			fprintf(out, "complete -c headway -n %s -a %s -d ",
				help ? "'__headway_is help'" : "__headway_needs_command",
				command->name);
			fish_put_quoted(out, command->summary);
			fputc('\n', out);
		}
	}
	for (size_t i = 0; program->commands[i]; i++) {
		const struct cli_command *command = program->commands[i];
		fputc('\n', out);
		fish_put_operands(out, command);
		for (const struct cli_option *o = NULL; (o = completion_next(command, o));)
			fish_put_option(out, command, o);
		fprintf(out, "complete -c headway -n '__headway_is %s' -s h -l help -d help\n",
			command->name);
	}
}
