/* SPDX-License-Identifier: Apache-2.0 */
/* completion_bash.c - what bash offers after `headway …<Tab>`.
 *
 * Needs bash 4.1 and nothing else; where bash-completion is loaded, the words of a program behind
 * `headway profile` are completed as that program's own.
 */
#include "cli/kit/generate.h"

#include <string.h>

static const char head[] =
	"# bash completion for headway\n"
	"# Made by 'headway --generate bash': edit the tables in src/cli/ instead.\n"
	"\n"
	"# _headway_offer WORDS: those that begin with the current word.\n"
	"_headway_offer()\n"
	"{\n"
	"	mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")\n"
	"}\n"
	"\n"
	"# _headway_offer_list WORDS: the same for the last of several that commas separate.\n"
	"_headway_offer_list()\n"
	"{\n"
	"	local before=\n"
	"	[[ $current == *,* ]] && before=${current%,*},\n"
	"	mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\")\n"
	"	compopt -o nospace\n"
	"}\n"
	"\n"
	"# _headway_offer_files [PATTERN]: files whose name fits, else all, and folders.\n"
	"_headway_offer_files()\n"
	"{\n"
	"	local path\n"
	"	compopt -o filenames 2>/dev/null\n"
	"	while IFS= read -r path; do\n"
	"		# shellcheck disable=SC2053 # a pattern\n"
	"		[[ -d $path || ${path##*/} == ${1-*} ]] && COMPREPLY+=(\"$path\")\n"
	"	done < <(compgen -f -- \"$current\")\n"
	"}\n"
	"\n"
	"# _headway_offer_program OPTIONS: the program behind 'headway profile'. OPTIONS take a\n"
	"# value. False where the current word still belongs to the options.\n"
	"_headway_offer_program()\n"
	"{\n"
	"	local i=2 word\n"
	"	while ((i < COMP_CWORD)); do\n"
	"		case ${COMP_WORDS[i]} in\n"
	"		--) ((i++)) && break ;;\n"
	"		=) ((i += 2)) ;;\n"
	"		-*)\n"
	"			word=${COMP_WORDS[i]}\n"
	"			[[ \" $1 \" == *\" $word \"* && ${COMP_WORDS[i + 1]} != = ]] && ((i++))\n"
	"			((i++))\n"
	"			;;\n"
	"		*) break ;;\n"
	"		esac\n"
	"	done\n"
	"	((i > COMP_CWORD)) && return 1\n"
	"	((i == COMP_CWORD)) && [[ $current == -* ]] && return 1\n"
	"	if declare -F _comp_command_offset >/dev/null; then # bash-completion from 2.12 on\n"
	"		_comp_command_offset $i\n"
	"	elif declare -F _command_offset >/dev/null; then\n"
	"		_command_offset $i\n"
	"	elif ((i == COMP_CWORD)) && [[ $current != */* ]]; then\n"
	"		mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
	"	else\n"
	"		_headway_offer_files\n"
	"	fi\n"
	"}\n"
	"\n"
	"_headway()\n"
	"{\n"
	"	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"	COMPREPLY=()\n"
	"	# bash makes a word of '='.\n"
	"	if [[ $current == = ]]; then\n"
	"		current=\n"
	"	elif [[ $previous == = ]]; then\n"
	"		previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"	fi\n";

static void bash_put_names(FILE *out, const struct cli_option *option, const char *between)
{
	if (option->letter)
		fprintf(out, "-%c%s", option->letter, between);
	fprintf(out, "--%s", option->name);
}

static void bash_put_words(FILE *out, const struct cli_option *option)
{
	const char *word;
	for (size_t i = 0; (word = completion_word(option, i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

/* Writes one branch of "case $previous": the values that bash offers after an option. */
static void bash_put_value(FILE *out, const struct cli_option *option)
{
	fputs("\t\t", out);
	bash_put_names(out, option, " | ");
	fputs(") ", out);
	if (completion_word(option, 0)) {
		fprintf(out, "_headway_offer%s '", completion_is_list(option) ? "_list" : "");
		bash_put_words(out, option);
		fputs("'; return", out);
	} else {
		fputs(completion_is_file(option) ? "_headway_offer_files; return" : "return", out);
	}
	fputs(" ;;\n", out);
}

static void bash_put_operands(FILE *out, const struct cli_command *command)
{
	fputs("\t\t[[ $current != -* ]] && ", out);
	if (command->operands == CLI_DIRECTORY) {
		fputs("_headway_offer_files ''\n", out);
	} else if (command->operands == CLI_NO_OPERAND) {
		fputs("return\n", out);
	} else {
		fputs("_headway_offer_files '*.@(", out);
		for (size_t i = 0; completion_endings[i]; i++)
			fprintf(out, "%s%s", i ? "|" : "", completion_endings[i]);
		fputs(")'\n", out);
	}
}

static void bash_put_command(FILE *out, const struct cli_command *command)
{
	fprintf(out, "\t%s)\n", command->name);
	if (command->operands == CLI_PROGRAM) {
		fputs("\t\t_headway_offer_program '", out);
		for (const struct cli_option *o = NULL; (o = completion_next(command, o));)
			if (o->value) {
				bash_put_names(out, o, " ");
				fputc(' ', out);
			}
		fputs("' && return\n", out);
	}
	fputs("\t\tcase $previous in\n", out);
	for (const struct cli_option *o = NULL; (o = completion_next(command, o));)
		if (o->value)
			bash_put_value(out, o);
	fputs("\t\tesac\n\t\t[[ $current == -* ]] && _headway_offer '", out);
	for (const struct cli_option *o = NULL; (o = completion_next(command, o));) {
		bash_put_names(out, o, " ");
		fputc(' ', out);
	}
	fputs("-h --help'\n", out);
	if (command->operands != CLI_PROGRAM)
		bash_put_operands(out, command);
	fputs("\t\t;;\n", out);
}

void completion_bash(FILE *out, const struct cli_program *program)
{
	fputs(head, out);
	fputs("\tlocal commands='", out);
	for (size_t i = 0; program->commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", program->commands[i]->name);
	fputs("'\n"
	      "	if ((COMP_CWORD == 1)); then\n"
	      "		_headway_offer \"$commands help --help --version\"\n"
	      "		return\n"
	      "	fi\n"
	      "	case ${COMP_WORDS[1]} in\n"
	      "	help) _headway_offer \"$commands\" ;;\n",
	      out);
	for (size_t i = 0; program->commands[i]; i++)
		bash_put_command(out, program->commands[i]);
	fputs("	esac\n"
	      "} &&\n"
	      "	complete -F _headway headway\n",
	      out);
}
