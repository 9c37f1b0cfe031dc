/* SPDX-License-Identifier: Apache-2.0 */
/* generate.h - files that are made from the commands' tables when Headway is built: man pages, and
 * the completion of words in bash, zsh and fish. `headway --generate KIND FOLDER` writes them.
 */
#ifndef HWY_CLI_KIT_GENERATE_H
#define HWY_CLI_KIT_GENERATE_H

#include "cli/kit/cli.h"

/* The texts that `headway --help` prints, and all commands. */
struct cli_program {
	const char *about;                         /* one sentence about headway */
	const char *usage;                         /* one line for each form of a command line */
	const char *files;                         /* what FILE stands for, one paragraph */
	const char *examples;                      /* lines that are indented by two spaces */
	const struct cli_command *const *commands; /* ends with NULL */
};

/* Writes the generated files of a kind: man, bash, zsh, fish or keys. Exits with 2 where a file
 * cannot be written. */
void generate(const struct cli_program *program, const char *kind, const char *folder);

/* man.c: writes the page of a command, or headway.1 where 'command' is NULL. */
void man_write(FILE *out, const struct cli_program *program, const struct cli_command *command);

/* completion_bash.c, completion_zsh.c, completion_fish.c: each writes the script of one shell. */
void completion_bash(FILE *out, const struct cli_program *program);
void completion_zsh(FILE *out, const struct cli_program *program);
void completion_fish(FILE *out, const struct cli_program *program);

/* help_keys.c: writes the texts of all --help pages, by which languages translate them. */
void help_keys(FILE *out, const struct cli_program *program);

/* generate.c: functions that the generators of the three shells share. */

/* Yields the row that --help lists after 'row'; the first row for NULL, and NULL after the last
 * row. */
const struct cli_option *completion_next(const struct cli_command *command,
					 const struct cli_option *row);
/* Yields the i-th value that an option takes, or NULL. */
const char *completion_word(const struct cli_option *option, size_t i);
/* Whether the option takes several values that commas separate. */
bool completion_is_list(const struct cli_option *option);
/* Whether the option takes the name of a file. */
bool completion_is_file(const struct cli_option *option);
/* Yields the beginning of an option's help, up to the first semicolon and at most 60 columns. */
struct completion_text {
	char text[128];
};
struct completion_text completion_about(const struct cli_option *option);
/* The endings of recordings without the first dot; the list ends with NULL. */
extern const char *const completion_endings[];

#endif
