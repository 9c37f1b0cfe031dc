/* generate.h - files that are made from the commands' tables when Headway is built: man pages, and
 * the completion of words in bash, zsh and fish. `headway --generate KIND FOLDER` writes them.
 */
#ifndef HWY_CLI_KIT_GENERATE_H
#define HWY_CLI_KIT_GENERATE_H

#include "cli/kit/cli.h"

/* What `headway --help` prints, and the commands. */
struct cli_program {
	const char *about;                         /* one sentence */
	const char *usage;                         /* one line for each form of a command line */
	const char *files;                         /* what FILE stands for, one paragraph */
	const char *examples;                      /* lines that are indented by two spaces */
	const struct cli_command *const *commands; /* ends with NULL */
};

/* 'kind' is man, bash, zsh or fish. Exits with 2 where a file cannot be written. */
void generate(const struct cli_program *program, const char *kind, const char *folder);

/* man.c: writes the page of a command, or headway.1 where 'command' is NULL. */
void man_write(FILE *out, const struct cli_program *program, const struct cli_command *command);

/* completion_bash.c, completion_zsh.c, completion_fish.c: each writes the script of one shell. */
void completion_bash(FILE *out, const struct cli_program *program);
void completion_zsh(FILE *out, const struct cli_program *program);
void completion_fish(FILE *out, const struct cli_program *program);

/* generate.c: what the three shells share. */

/* The row that --help lists after 'row'; the first row for NULL, NULL after the last. */
const struct cli_option *completion_next(const struct cli_command *command,
					 const struct cli_option *row);
/* The i-th value that an option takes, or NULL. */
const char *completion_word(const struct cli_option *option, size_t i);
/* True where the option takes several values that commas separate. */
bool completion_is_list(const struct cli_option *option);
/* True where the option takes the name of a file. */
bool completion_is_file(const struct cli_option *option);
/* The beginning of an option's help, up to the first semicolon and of 60 columns at most. */
struct completion_text {
	char text[128];
};
struct completion_text completion_about(const struct cli_option *option);
/* The endings of recordings, without the first dot; ends with NULL. */
extern const char *const completion_endings[];

#endif
