/* cli.h - what the commands share: options, opening, failing, output, colours, progress.
 *
 * A command is one file, cmd_NAME.c, with one function; main.c lists them. Exit status: 0 done, 1 the
 * answer is "no", 2 could not do it. Only this room prints and exits.
 */
#ifndef HWY_CLI_KIT_CLI_H
#define HWY_CLI_KIT_CLI_H

#include <stdio.h>

#include "base/progress.h"
#include "trace/trace.h"

int cmd_analyze(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_breakdown(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_whatif(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_gate(int argc, char **argv);
int cmd_baseline(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_calibrate_helper(int argc, char **argv); /* not listed */

struct cli_option {
	char letter;       /* 0: none */
	const char *name;  /* without the dashes */
	const char *value; /* what stands for the value in --help ("FILE"); NULL: a switch;
			    * cli_boolean: a switch that takes --name=true, --name false, -n true */
	const char *help;  /* NULL: understood, but not listed */
};
struct cli {
	const char *command;              /* "stats" */
	const char *usage;                /* "headway stats [options] FILE" */
	const char *about;                /* one or a few sentences under the usage line */
	const struct cli_option *options; /* ends with a name of NULL; a name of "" makes 'help' a
					    * heading; --help/-h is always there */
	const char *footer;               /* examples, printed last by --help; may be NULL */
	int argc;
	char **argv;
	int at; /* used by cli_next */
	int operands_only;
	const char *cluster;
};
extern const char cli_boolean[]; /* cli_next then yields "true" or "false" */
enum { CLI_END = -1, CLI_OPERAND = -2 };

/* The index of the next option in 'options' (its value in *value), CLI_OPERAND (the word in *value), or
 * CLI_END. --name=value, --name value, -n value, -nvalue and "--" are understood. Prints help and exits 0
 * on --help; on an unknown option or a missing value prints one line (with the nearest name) and exits 2.
 * Where options end at the first operand (a program to run), the caller stops there: argv + at - 1. */
int cli_next(struct cli *cli, const char **value);

/* Prints "headway: TEXT" on stderr and exits with 2. */
_Noreturn void cli_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a misuse of options: adds a line that names --help of the command. */
_Noreturn void cli_misuse(const struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Opens any file Headway reads, with a progress bar when stderr is a terminal; exits with 2 on failure. */
struct hwy_trace *cli_open(const char *path);

/* For work that takes long: a bar when stderr is a terminal, erased by cli_progress_end; temporary files are
 * removed when the program is interrupted. */
const struct hwy_progress *cli_progress(void);
void cli_progress_end(void);
/* What to remove should the program end before it is called again with false: a file, or an empty folder
 * that was named before its files. The same pointer both times. */
void cli_unfinished(const char *path, bool exists);

/* Output to a file (through a temporary name, renamed by cli_output_close) or to stdout (path NULL or "-").
 * cli_output_close reports a full disk or a closed pipe. Existing files are kept unless 'force'. */
struct cli_output {
	FILE *out;
	char *path, *temporary;
};
struct cli_output cli_output_open(const char *path, int force);
/* Exits with 2 when the output is the input itself, by whatever name. */
void cli_keep_input(const char *input, const char *output);
void cli_output_close(struct cli_output *output);

/* Values of options (named without the dashes) and operands; each exits with a misuse where it must.
 * cli_time: "1.5ms", "200us", "3s", "12345" (ns) -> ns. cli_length: the same, and not negative. cli_word: the
 * index in 'words', which ends with NULL. cli_file: the operand, of which there may be one. */
int64_t cli_time(const struct cli *cli, const char *option, const char *text);
int64_t cli_length(const struct cli *cli, const char *option, const char *text);
uint64_t cli_count(const struct cli *cli, const char *option, const char *text);
int cli_word(const struct cli *cli, const char *option, const char *text, const char *const *words);
void cli_file(const struct cli *cli, const char **file, const char *text);
/* The word in 'known' (NULL-terminated) nearest to 'word', or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *known);

/* True when 'out' is a terminal, NO_COLOR is not set and TERM is not "dumb". */
int cli_colour(FILE *out);
int cli_width(FILE *out); /* columns of the terminal; 0 when it is none */
int cli_utf8(void);       /* true when the locale's character set is UTF-8 */

/* Prints text as a terminal can take it: see hwy_sanitize. */
void cli_put(FILE *out, const char *text, size_t n);
/* The same for Markdown: nothing in it is taken for markup. */
void cli_put_markdown(FILE *out, const char *text);
/* Prints text from column 'indent' on, breaking lines at spaces to stay within 'width' (0: no limit); the
 * caller has printed what stands before it. Newlines are kept; the rest as cli_put. */
void cli_wrap(FILE *out, const char *text, int indent, int width);
/* Puts a key and its value, null for HWY_NONE. */
struct hwy_json;
void cli_put_optional(struct hwy_json *json, const char *key, int64_t value);
/* Prints the help of a command; cli_next does on --help. */
void cli_help(const struct cli *cli, FILE *out);
/* True when SIGPIPE was ignored when we were started: a program we start is to find it so. */
bool cli_pipe_was_ignored(void);
/* Registers what has to happen however the program ends: main's first act. */
void cli_start(void);

#endif
