/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what the commands share: options, opening, failing, output, colours, progress.
 *
 * A command is one file, cmd_NAME.c, with one struct cli_command; main.c lists them. --help, the
 * man pages and the completion of shells are made from these structs. Exit status: 0 done, 1 the
 * answer is "no", 2 could not do it. Only this room prints and exits.
 */
#ifndef HWY_CLI_KIT_CLI_H
#define HWY_CLI_KIT_CLI_H

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "base/progress.h"
#include "trace/trace.h"

/* ---- commands and their options ------------------------------------------------------------- */

/* The kind of value that an option takes, and the type of the field that holds the value. */
enum cli_type {
	CLI_HEADING, /* not an option: 'help' is printed as a heading by --help */
	CLI_SWITCH,  /* bool: true when the option is given; takes no value */
	CLI_BOOLEAN, /* bool: a switch that true or false may follow, as in nsys */
	CLI_TEXT,    /* const char *: any text */
	CLI_TEXTS,   /* struct cli_texts: the option may be given several times */
	CLI_COUNT,   /* uint64_t: at most 'most', unless 'most' is 0 */
	CLI_TIME,    /* int64_t, ns: "1.5ms", "200us", "3s", "12345" */
	CLI_LENGTH,  /* int64_t, ns: a time that is not negative */
	CLI_SECONDS, /* int64_t, ns: not negative; a number without a unit is seconds */
	CLI_SHARE,   /* double: "3%" and "0.03" are 0.03; "3" is refused */
	CLI_WORD,    /* int: the index of one of 'words' */
	/* the function 'read' stores the value; "true" or "false" where 'value' is NULL */
	CLI_READ,
	CLI_RENAMED, /* an older spelling of the option that 'renamed' names */
};

struct cli_value;
struct cli_option {
	char letter;       /* letter of the short form ('o' of -o), or 0 */
	const char *name;  /* the option's name without dashes; NULL ends a table */
	const char *value; /* the value's word in --help ("FILE"); NULL: the option is a switch */
	const char *help;  /* NULL: the option is accepted, but --help does not list it */
	enum cli_type type;
	size_t offset;            /* offset in struct options of the field for the value */
	const char *const *words; /* the values that the option takes; ends with NULL */
	/* Yields the i-th value for completion, or NULL; for options whose values are not a table
	 * of words. */
	const char *(*word)(size_t i);
	void (*read)(const struct cli_value *value);
	/* CLI_RENAMED: the name of the option that replaced this one. Other types: NULL, or the
	 * option that takes a value of digits, which this option took in earlier versions. */
	const char *renamed;
	uint64_t most; /* CLI_COUNT: the largest value; 0: no limit */
};

/* The kind of operands that a command takes, and the type of the field that holds them. */
enum cli_operands {
	CLI_NO_OPERAND,
	CLI_FILE,      /* const char *: one recording */
	CLI_FILES,     /* struct cli_texts: recordings */
	CLI_DIRECTORY, /* const char *: a folder */
	CLI_PROGRAM, /* char **: a program and its arguments; the first operand ends the options */
};

struct cli_texts {
	const char **texts; /* the texts; the command frees the array */
	uint32_t n, cap;
	uint32_t before_dashes; /* how many operands stand before the word "--" */
};

struct cli_command {
	const char *name;                  /* "stats" */
	const char *summary;               /* the command's line in `headway --help` */
	const char *usage;                 /* "headway stats [options] FILE" */
	const char *about;                 /* one or a few sentences under the usage line */
	const struct cli_option *options;  /* the table need not have --help and -h */
	const struct cli_option *unlisted; /* more options that --help does not name; may be NULL */
	enum cli_operands operands;
	size_t operands_offset; /* offset in struct options of the field for the operands */
	const char *footer;     /* examples, printed last by --help; may be NULL */
	const char *status;     /* what exit status 1 means; NULL: the command never exits with 1 */
	int (*run)(int argc, char **argv);
};

/* One value of an option, as the function 'read' gets it. */
struct cli_value {
	const struct cli_command *command;
	const struct cli_option *option;
	const char *text; /* "" for a switch */
	void *options;    /* the command's struct options */
	void *field;      /* the field of struct options that takes the value */
};

/* Fills the command's struct options from the command line; argv[0] is the command's name.
 * --name=value, --name value, -n value, -nvalue and "--" are understood. Prints help and exits
 * with 0 on --help; on an unknown option or a wrong value prints one line (with the nearest
 * name) and exits with 2. Without --format, the ending of --output's name chooses the format; an
 * ending of a format that the command has not is a misuse. */
void cli_read(const struct cli_command *command, int argc, char **argv, void *options);

/* Parts of an option table: the field of the command's struct options that takes the value, the
 * end, a heading, and the rows that several commands have. Each of these needs fields of its
 * name: output, force, format, step. */
#define CLI_AT(field) .offset = offsetof(struct options, field)
#define CLI_END_OF_OPTIONS                                                                         \
	{                                                                                          \
		.name = NULL                                                                       \
	}
#define CLI_HEAD(text)                                                                             \
	{                                                                                          \
		.name = "", .help = (text), .type = CLI_HEADING                                    \
	}
#define CLI_OUTPUT_HELP(text)                                                                      \
	{                                                                                          \
		'o', "output", "FILE", (text), CLI_TEXT, CLI_AT(output)                            \
	}
#define CLI_OUTPUT CLI_OUTPUT_HELP("write there instead of to standard output")
/* Of a command with --format: cli_read takes the format from the name's ending where it is one. */
#define CLI_OUTPUT_BY_ENDING                                                                       \
	CLI_OUTPUT_HELP("write there instead of to standard output; without --format, the "        \
			"ending of the name chooses it")
#define CLI_FORCE_HELP "overwrite that file if it exists"
#define CLI_FORCE                                                                                  \
	{                                                                                          \
		'f', "force", NULL, CLI_FORCE_HELP, CLI_BOOLEAN, CLI_AT(force)                     \
	}
/* The rows --no-args and --anonymous; the argument is the offset of a struct cli_privacy. */
#define CLI_NO_ARGS(place)                                                                         \
	{                                                                                          \
		0, "no-args", NULL, "leave out the arguments of programs", CLI_SWITCH,             \
			.offset = (place) + offsetof(struct cli_privacy, no_args)                  \
	}
#define CLI_ANONYMOUS(place)                                                                       \
	{                                                                                          \
		0, "anonymous", NULL,                                                              \
			"leave out arguments, folders, and the names of the host and of users",    \
			CLI_SWITCH, .offset = (place) + offsetof(struct cli_privacy, anonymous)    \
	}
#define CLI_FORMAT(names, text)                                                                    \
	{                                                                                          \
		0, "format", "FORMAT", (text), CLI_WORD, CLI_AT(format), .words = (names)          \
	}
#define CLI_TEXT_OR_JSON CLI_FORMAT(cli_text_or_json, "text (default) or json")
#define CLI_STEP_HELP                                                                              \
	"the marks that delimit steps: 'step_', 'ProfilerStep#', any range that repeats"
#define CLI_STEP                                                                                   \
	{                                                                                          \
		0, "step", "NAME", CLI_STEP_HELP, CLI_TEXT, CLI_AT(step)                           \
	}
/* The option --step where it once took a number: a value of digits is taken as --step-number. */
#define CLI_STEP_OR_NUMBER                                                                         \
	{                                                                                          \
		0, "step", "NAME", CLI_STEP_HELP, CLI_TEXT, CLI_AT(step), .renamed = "step-number" \
	}
#define CLI_OLD_NAME(old, now)                                                                     \
	{                                                                                          \
		.name = (old), .type = CLI_RENAMED, .renamed = (now)                               \
	}
extern const char *const cli_text_or_json[];
enum { CLI_FORMAT_TEXT, CLI_FORMAT_JSON };
#define CLI_NOT_GIVEN UINT64_MAX /* default of a count for which 0 has a meaning */

/* Puts a value into the field that its option names; exits with a misuse where it is none. */
void cli_store(const struct cli_value *value);
void cli_add_text(struct cli_texts *texts, const char *text);

/* Yield the value of an option as a number, a time in ns, or an index; a wrong one is a misuse and
 * exits. cli_word: the index of 'text' in 'words', which ends with NULL. */
uint64_t cli_count(const struct cli_value *value);
int64_t cli_time(const struct cli_value *value);
int cli_word(const struct cli_value *value, const char *text, const char *const *words);
/* Yields the word in 'words' (NULL-terminated) nearest to 'word', or NULL where no word is near. */
const char *cli_nearest(const char *word, const char *const *words);

/* Prints the help of a command. */
/* Prints "Usage: " and a usage, whose lines after the first are indented by as many columns. */
void cli_put_usage(FILE *out, const char *usage);
void cli_help(const struct cli_command *command, FILE *out);

/* ---- failing, opening, output --------------------------------------------------------------- */

/* Prints the line "headway: TEXT" on stderr. Here and below the format is a key of lang/ and is
 * translated. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the line "headway: TEXT" on stderr and exits with 2. */
_Noreturn void cli_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "headway COMMAND: TEXT" and a line that names --help of the command, and exits with 2. */
_Noreturn void cli_misuse(const struct cli_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What the options --no-args and --anonymous leave out (docs/privacy.md). */
struct cli_privacy {
	bool no_args, anonymous;
};
/* Changes the texts of a trace as the options ask. */
void cli_privacy_apply(const struct cli_privacy *privacy, struct hwy_trace *trace);
/* Yields the name of a file as an output may say it: without its folder where the output is to be
 * anonymous. */
const char *cli_privacy_path(const struct cli_privacy *privacy, const char *path);

/* Opens any file Headway reads, with a progress bar when stderr is a terminal; exits with 2 on
 * failure. A folder is a job: its recordings become one trace on one clock, and what is wrong
 * with them is said on stderr. */
struct hwy_trace *cli_open(const char *path);
/* Opens the recordings of some ranks of a job as one trace on one clock; exits with 2 on
 * failure. */
struct hwy_trace *cli_open_ranks(const char *const *paths, uint32_t n);
/* Has sentences say "device" instead of "GPU" where the devices of all recordings that were opened
 * so far are CPUs; cli_open and cli_open_ranks have called it. */
void cli_name_device(const struct hwy_trace *trace);
/* Whether a file is a report of our own, by its first bytes. */
bool cli_is_report(const char *path);

/* A listener for work that takes long: draws a bar where stderr is a terminal, which
 * cli_progress_end erases, and has temporary files removed when the program is interrupted. */
const struct hwy_progress *cli_progress(void);
void cli_progress_end(void);
/* With true: the file 'path' is removed if the program ends before cli_unfinished is called with
 * false and the same pointer. A folder is removed too if it is empty by then: name the folder
 * before the files in it. */
void cli_unfinished(const char *path, bool exists);
/* Signals wait from the one call to the other: while a temporary file is made and not yet named
 * to cli_unfinished. */
void cli_hold_signals(sigset_t *before);
void cli_release_signals(const sigset_t *before);
/* The folder 'path' is removed, with all that is in it, if the program ends before this is
 * called with NULL. There is one such folder at a time, and only we write to it. */
void cli_unfinished_tree(const char *path);
/* Removes a folder with all that is in it; a signal handler may call this. */
void cli_remove_tree(const char *path);

/* Output to a file (through a temporary name, renamed by cli_output_close) or to stdout (path
 * NULL or "-"). cli_output_close reports a full disk or a closed pipe. Existing files are kept
 * unless 'force'. */
struct cli_output {
	FILE *out;
	char *path, *temporary;
};
struct cli_output cli_output_open(const char *path, int force);
/* Exits with 2 where both paths lead to the same file: the output would overwrite the recording. */
void cli_keep_input(const char *input, const char *output);
void cli_output_close(struct cli_output *output);

/* Whether 'out' is a terminal, NO_COLOR is not set and TERM is not "dumb". */
int cli_colour(FILE *out);
int cli_width(FILE *out); /* columns of the terminal; 0 where 'out' is no terminal */
/* From here on what is printed on stdout is ASCII where the locale is not UTF-8; cli_read does it
 * where the format is one for people. */
void cli_plain_stdout(void);
int cli_utf8(void); /* true when the locale's character set is UTF-8 */

/* Prints text without control characters, which a terminal would obey: see hwy_sanitize. */
void cli_put(FILE *out, const char *text, size_t n);
/* Prints text for Markdown: characters of markup are escaped, control characters left out. */
void cli_put_markdown(FILE *out, const char *text);
/* Prints text, then spaces up to 'columns' columns of the terminal: a Chinese character takes
 * two, which "%-20s" does not know. */
void cli_put_column(FILE *out, const char *text, int columns);
/* The same with the spaces before the text: "%10s" counts the two bytes of 'µ' as two columns. */
void cli_put_right(FILE *out, const char *text, int columns);
/* Prints text from column 'indent' on, breaking lines at spaces to stay within 'width' (0: no
 * limit); the caller has printed the first 'indent' columns. Newlines are kept, other control
 * characters are not. A line that begins with two spaces is code, printed from 'indent' on too:
 * where its comment is broken, the comment's sign is repeated. */
void cli_wrap(FILE *out, const char *text, int indent, int width);
/* Writes a member of a JSON object; the value HWY_NONE is written as null. */
struct hwy_json;
void cli_put_optional(struct hwy_json *json, const char *key, int64_t value);
/* The signals that were ignored when Headway was started: a program that Headway runs must inherit
 * that. */
const sigset_t *cli_ignored_at_start(void);
/* From now on this signal does nothing to Headway, as if it had been ignored from the start. */
void cli_ignore(int number);
/* From now on a signal that ends Headway makes it print "stopped by SIGTERM; TEXT" first. 'text'
 * must stay where it is; NULL: nothing is printed any more. */
void cli_last_words(const char *text);
/* Unless it is called again with 0 before: after so many ns prints 'line', removes unfinished
 * files and exits with 2, whatever the program does by then. The line ends with a newline and
 * must stay where it is. */
void cli_die_after(int64_t ns, const char *line);
/* Ends this process by a signal, as if nothing were done about it. */
_Noreturn void cli_die_of(int number);
/* Must be called first by main: makes sure that unfinished files are removed however the program
 * ends. */
void cli_start(void);

/* language.c: chooses the language of what people read from the environment; by name, an unknown
 * one exits with 2. */
void cli_language_start(void);
void cli_language_use(const char *name);
/* The options that all commands have. */
extern const struct cli_option cli_language_option, cli_help_option;

#endif
