/* SPDX-License-Identifier: Apache-2.0 */
/* completion_zsh.c - what zsh offers after `headway …<Tab>`: one call of _arguments for each
 * command. */
#include "cli/kit/generate.h"

#include <string.h>

/* Escapes text that stands inside single quotes of the shell and inside brackets of _arguments. */
static void zsh_put_about(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void zsh_put_value(FILE *out, const struct cli_option *option)
{
	bool is_list = completion_is_list(option);
	fputc(':', out);
	zsh_put_about(out, is_list ? "list" : option->value);
	fputc(':', out);
	const char *word = completion_word(option, 0);
	if (!word) {
		fputs(completion_is_file(option) ? "_files" : " ", out);
		return;
	}
	fputs(is_list ? " _values -s , list " : "(", out);
	for (size_t i = 0; (word = completion_word(option, i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
	fputs(is_list ? "" : ")", out);
}

/* Writes an option's specification for _arguments; '*' precedes an option that may be given several
 * times. */
static void zsh_put_option(FILE *out, const struct cli_option *option)
{
	bool repeats = option->type == CLI_TEXTS || option->type == CLI_READ;
	const char *star = repeats ? "*" : "", *equals = option->value ? "=" : "";
	fputs("\t\t\t", out);
	if (option->letter && !repeats)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name,
			option->letter, option->value ? "+" : "", option->name, equals);
	else if (option->letter)
		fprintf(out, "'*'{-%c%s,--%s%s}'", option->letter, option->value ? "+" : "",
			option->name, equals);
	else
		fprintf(out, "'%s--%s%s", star, option->name, equals);
	fputc('[', out);
	zsh_put_about(out, completion_about(option).text);
	fputc(']', out);
	if (option->value)
		zsh_put_value(out, option);
	fputs("' \\\n", out);
}

static void zsh_put_command(FILE *out, const struct cli_command *command)
{
	static const char *const operands[] = {
		[CLI_NO_OPERAND] = "",
		[CLI_FILE] = " \\\n\t\t\t'1:recording:_headway_recordings'",
		[CLI_FILES] = " \\\n\t\t\t'*:recording:_headway_recordings'",
		[CLI_DIRECTORY] = " \\\n\t\t\t'1:run directory:_files -/'",
		[CLI_PROGRAM] =
			" \\\n\t\t\t'(-)1:program:_command_names -e' \\\n\t\t\t'*::arguments:_normal'",
	};
	fprintf(out, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", command->name);
	for (const struct cli_option *o = NULL; (o = completion_next(command, o));)
		zsh_put_option(out, o);
	fprintf(out, "\t\t\t'(- *)'{-h,--help}'[help]'%s\n\t\t\t;;\n", operands[command->operands]);
}

void completion_zsh(FILE *out, const struct cli_program *program)
{
	fputs("#compdef headway\n"
	      "# Made by 'headway --generate zsh': edit the tables in src/cli/ instead.\n"
	      "\n"
	      "_headway_recordings() {\n"
	      "	_files -g '*.(",
	      out);
	for (size_t i = 0; completion_endings[i]; i++)
		fprintf(out, "%s%s", i ? "|" : "", completion_endings[i]);
	fputs(")(-.)'\n"
	      "}\n"
	      "\n"
	      "_headway_commands() {\n"
	      "	local -a commands=(\n",
	      out);
	for (size_t i = 0; program->commands[i]; i++) {
		fprintf(out, "\t\t'%s:", program->commands[i]->name);
		zsh_put_about(out, program->commands[i]->summary);
		fputs("'\n", out);
	}
	fputs("	)\n"
	      "	_describe command commands\n"
	      "}\n"
	      "\n"
	      "_headway() {\n"
	      "	local curcontext=$curcontext state line ret=1\n"
	      "	local -A opt_args\n"
	      "	_arguments -C \\\n"
	      "		'(- *)'{-h,--help}'[list the commands]' \\\n"
	      "		'(- *)'{-V,--version}'[print the version]' \\\n"
	      "		'1:command:_headway_commands' \\\n"
	      "		'*::argument:->arguments' && ret=0\n"
	      "	if [[ $state == arguments ]]; then\n"
	      "		case $line[1] in\n"
	      "		help) _arguments '1:command:_headway_commands' ;;\n",
	      out);
	for (size_t i = 0; program->commands[i]; i++)
		zsh_put_command(out, program->commands[i]);
	fputs("		esac && ret=0\n"
	      "	fi\n"
	      "	return ret\n"
	      "}\n"
	      "\n"
	      "_headway \"$@\"\n",
	      out);
}
