/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - reads a command's options and operands into the fields that its tables name. */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"

enum { MOST_OPTIONS = 160 };

const char *const cli_text_or_json[] = {"text", "json", NULL};

/* A command line, and the position up to which it was read. */
struct command_line {
	const struct cli_command *command;
	void *options; /* the command's struct options */
	char **words;
	int n_words, next;
	const char *letters; /* the rest of a word such as -vf, or NULL */
	bool operands_only;  /* the word "--" was read: only operands follow */
	bool has_format;     /* --format was given */
};

/* ---- finding an option ---------------------------------------------------------------------- */

/* Yields the row that follows 'option' in the two tables of the command; the first row for NULL,
 * NULL after the last. */
static const struct cli_option *next_row(const struct cli_command *command,
					 const struct cli_option *option)
{
	const struct cli_option *last = command->options;
	while (last->name)
		last++;
	const struct cli_option *row = option ? option + 1 : command->options;
	if (row == last)
		row = command->unlisted;
	return row && row->name ? row : NULL;
}

static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
	const struct cli_option *row = NULL;
	while ((row = next_row(command, row)))
		if (row->letter == letter && letter)
			return row;
	return NULL;
}

static const struct cli_option *find_name(const struct cli_command *command, const char *name,
					  size_t length)
{
	const struct cli_option *row = NULL;
	while ((row = next_row(command, row)))
		if (length && strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return row;
	return NULL;
}

/* ---- formats of the output ------------------------------------------------------------------ */

/* Endings of files, what the formats are called that such a file has, and the command that
 * writes formats which are no command's --format. */
static const struct {
	const char *ending, *formats[3], *writer;
} file_formats[] = {
	{".html", {"html"}, NULL},
	{".htm", {"html"}, NULL},
	{".md", {"markdown", "md"}, NULL},
	{".markdown", {"markdown", "md"}, NULL},
	{".json", {"json"}, NULL},
	{".csv", {"csv"}, NULL},
	{".tsv", {"tsv"}, NULL},
	{".xml", {"junit", "xml"}, NULL},
	{".folded", {"folded"}, NULL},
	{".hwy", {"hwy"}, "convert"},
	{".sqlite", {"sqlite"}, "export"},
	{".parquet", {"parquet"}, "export"},
	{".pftrace", {"perfetto"}, "export"},
	{".perfetto-trace", {"perfetto"}, "export"},
	{".gz", {"gz"}, NULL},
	{".pdf", {"pdf"}, NULL},
	{".png", {"png"}, NULL},
	{".svg", {"svg"}, NULL},
};
enum { N_FILE_FORMATS = sizeof file_formats / sizeof *file_formats };

/* Writes "text, brief, json or html" of the words of an option. */
static const char *word_list(const char *const *words, char *list, size_t size)
{
	size_t n = 0;
	list[0] = '\0';
	for (int i = 0; words[i] && n < size; i++)
		n += (size_t)snprintf(list + n, size - n, "%s%s",
				      i == 0         ? ""
				      : words[i + 1] ? ", "
						     : hwy_tr(" or "),
				      words[i]);
	return list;
}

/* Yields the index of a format, by one of its names, in the words of an option; -1: there is
 * none. */
static int format_index(const char *const *words, const char *const formats[3])
{
	for (int i = 0; words[i]; i++)
		for (int f = 0; f < 3 && formats[f]; f++)
			if (strcmp(words[i], formats[f]) == 0)
				return i;
	return -1;
}

static bool has_ending(const char *path, const char *ending)
{
	size_t n = strlen(path), length = strlen(ending);
	return n > length && strcasecmp(path + n - length, ending) == 0;
}

/* Exits where the output is one of the inputs, which is worth more to know than that its ending
 * is wrong. */
static void keep_inputs(const struct cli_command *command, void *options, const char *output)
{
	void *field = (char *)options + command->operands_offset;
	if (command->operands == CLI_FILE)
		cli_keep_input(*(const char **)field, output);
	const struct cli_texts *files = field;
	for (uint32_t i = 0; command->operands == CLI_FILES && i < files->n; i++)
		cli_keep_input(files->texts[i], output);
}

static _Noreturn void cannot_write(const char *path, const struct cli_command *command,
				   const char *format, const char *writer, const char *formats)
{
	if (writer)
		cli_die("%s: '%s' writes no %s, 'headway %s' does; --format takes %s", path,
			command->name, format, writer, formats);
	cli_die("%s: '%s' writes no %s; --format takes %s", path, command->name, format, formats);
}

/* Where no --format was given, the ending of the output's name is one. A name that promises what
 * the command cannot write is refused: text in page.html would be taken for a page. */
static void format_by_output(const struct cli_command *command, void *options)
{
	const struct cli_option *format = find_name(command, "format", strlen("format")),
				*output = find_name(command, "output", strlen("output"));
	if (!format || !output || format->type != CLI_WORD || output->type != CLI_TEXT)
		return;
	const char *path = *(const char **)((char *)options + output->offset);
	char list[256];
	for (size_t i = 0; path && i < N_FILE_FORMATS; i++) {
		if (!has_ending(path, file_formats[i].ending))
			continue;
		const char *writer = file_formats[i].writer;
		int index = format_index(format->words, file_formats[i].formats);
		if (index < 0)
			keep_inputs(command, options, path);
		if (index < 0)
			cannot_write(path, command, file_formats[i].formats[0], writer,
				     word_list(format->words, list, sizeof list));
		*(int *)((char *)options + format->offset) = index;
		return;
	}
}

/* "--csv": the name of a format, which is a value of --format, or of --type. Yields whether it
 * is one, and prints the rest of the line. */
static bool print_format(const struct cli_command *command, const char *word)
{
	static const char *const options[] = {"format", "type"};
	char list[256];
	const char *const *formats = NULL;
	for (size_t i = 0; i < N_FILE_FORMATS && !formats; i++)
		for (int f = 0; f < 3 && file_formats[i].formats[f]; f++)
			if (strcmp(file_formats[i].formats[f], word) == 0)
				formats = file_formats[i].formats;
	for (size_t o = 0; formats && o < sizeof options / sizeof *options; o++) {
		const struct cli_option *option =
			find_name(command, options[o], strlen(options[o]));
		const char *value = NULL;
		if (option && option->words) {
			int index = format_index(option->words, formats);
			value = index < 0 ? NULL : option->words[index];
		}
		for (size_t i = 0; option && option->word && !value && option->word(i); i++)
			value = strcmp(option->word(i), word) == 0 ? option->word(i) : NULL;
		if (value)
			fprintf(stderr, hwy_tr("did you mean '--%s %s'?\n"), option->name, value);
		else if (option && option->words)
			fprintf(stderr, hwy_tr("--%s takes %s\n"), option->name,
				word_list(option->words, list, sizeof list));
		if (value || (option && option->words))
			return true;
	}
	return false;
}

static _Noreturn void unknown_name(const struct cli_command *command, const char *name,
				   size_t length)
{
	const char *names[MOST_OPTIONS + 2] = {0};
	int n = 0;
	const struct cli_option *row = NULL;
	while ((row = next_row(command, row)) && n < MOST_OPTIONS)
		if (row->type != CLI_HEADING && row->type != CLI_RENAMED)
			names[n++] = row->name;
	names[n] = "help";
	char word[128];
	snprintf(word, sizeof word, "%.*s", (int)(length < 100 ? length : 100), name);
	/* What other tools call an option of ours. */
	bool limit = strcmp(word, "threshold") == 0 && find_name(command, "max-regression", 14);
	const char *near = limit ? "max-regression" : cli_nearest(word, names);
	fprintf(stderr, hwy_tr("headway %s: unknown option '--%s'; "), command->name, word);
	if (print_format(command, word))
		exit(2);
	if (near)
		fprintf(stderr, hwy_tr("did you mean '--%s'?\n"), near);
	else
		fprintf(stderr, hwy_tr("'headway %s --help' lists them\n"), command->name);
	exit(2);
}

/* ---- older spellings ------------------------------------------------------------------------ */

/* Yields the option that 'option' stands for; an older spelling first prints a line on stderr. */
static const struct cli_option *spelled_now(const struct cli_command *command,
					    const struct cli_option *option, const char *text)
{
	bool is_digits = *text && text[strspn(text, "0123456789")] == '\0';
	if (option->type != CLI_RENAMED && !(option->renamed && is_digits))
		return option;
	const struct cli_option *now = find_name(command, option->renamed, strlen(option->renamed));
	const char *space = now->value ? " " : "", *shown = now->value ? text : "";
	fprintf(stderr, hwy_tr("headway %s: '--%s%s%s' is now '--%s%s%s'\n"), command->name,
		option->name, space, shown, now->name, space, shown);
	return now;
}

/* ---- the command line ----------------------------------------------------------------------- */

static bool takes_boolean(const struct cli_option *option)
{
	return option->type == CLI_BOOLEAN || (option->type == CLI_READ && !option->value);
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* Yields "true" or "false" for the text after '='; exits with a misuse for other texts. */
static const char *boolean_text(const struct cli_command *command, const struct cli_option *option,
				const char *text)
{
	static const char *const yes[] = {"true", "yes", "on", "1", NULL};
	static const char *const no[] = {"false", "no", "off", "0", NULL};
	if (is_one_of(text, yes))
		return "true";
	if (is_one_of(text, no))
		return "false";
	cli_misuse(command, "option '--%s': '%s' is neither true nor false", option->name, text);
}

/* Yields the next word if it is "true" or "false", else "true". A program called "true" comes after
 * "--". */
static const char *boolean_word(struct command_line *line)
{
	static const char *const words[] = {"true", "false", NULL};
	if (line->next < line->n_words && is_one_of(line->words[line->next], words))
		return line->words[line->next++];
	return "true";
}

/* Whether a word is exactly an option of the command: "-o", "--html", "--html=page". */
static bool is_option(const struct cli_command *command, const char *word)
{
	if (word[0] != '-' || word[1] != '-')
		return word[0] == '-' && word[1] && !word[2] && find_letter(command, word[1]);
	return find_name(command, word + 2, strcspn(word + 2, "=")) != NULL;
}

static const char *value_word(struct command_line *line, const struct cli_option *option)
{
	if (line->next >= line->n_words) {
		fprintf(stderr, hwy_tr("headway %s: option '--%s' needs a value (%s)\n"),
			line->command->name, option->name, option->value);
		exit(2);
	}
	const char *word = line->words[line->next++];
	if (is_option(line->command, word))
		cli_misuse(line->command, "option '--%s' needs a value, and '%s' is an option",
			   option->name, word);
	return word;
}

static void take(struct command_line *line, const struct cli_option *option, const char *text)
{
	const struct cli_option *now = spelled_now(line->command, option, text);
	line->has_format |= strcmp(now->name, "format") == 0;
	cli_store(&(struct cli_value){
		.command = line->command,
		.option = now,
		.text = text,
		.options = line->options,
		.field = (char *)line->options + now->offset,
	});
}

/* Shows the help in the language that is named before or behind --help. */
static _Noreturn void show_help(struct command_line *line)
{
	while (line->next < line->n_words) {
		const char *word = line->words[line->next++];
		if (strcmp(word, "--lang") == 0)
			cli_language_use(value_word(line, &cli_language_option));
		else if (strncmp(word, "--lang=", 7) == 0)
			cli_language_use(word + 7);
	}
	cli_plain_stdout();
	cli_help(line->command, stdout);
	exit(0);
}

static void long_option(struct command_line *line, const char *word)
{
	const struct cli_command *command = line->command;
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const struct cli_option *option = find_name(command, word, length);
	if (!option && length == 4 && memcmp(word, "help", 4) == 0)
		show_help(line);
	if (!option && length == 4 && memcmp(word, cli_language_option.name, 4) == 0) {
		cli_language_use(equals ? equals + 1 : value_word(line, &cli_language_option));
		return;
	}
	if (!option)
		unknown_name(command, word, length);
	/* An older spelling takes the same kind of value as the option that replaced it. */
	const struct cli_option *kind = option;
	if (option->type == CLI_RENAMED)
		kind = find_name(command, option->renamed, strlen(option->renamed));
	const char *text = "";
	if (takes_boolean(kind))
		text = equals ? boolean_text(command, option, equals + 1) : boolean_word(line);
	else if (kind->value)
		text = equals ? equals + 1 : value_word(line, kind);
	else if (equals)
		cli_misuse(command, "option '--%s' takes no value", option->name);
	take(line, option, text);
}

/* "-l" where --list has no letter: yields the only option whose name begins with it, or NULL. */
static const char *only_name(const struct cli_command *command, char letter)
{
	const struct cli_option *row = NULL;
	const char *name = NULL;
	while ((row = next_row(command, row)))
		if (row->name[0] == letter && row->help && row->type != CLI_RENAMED) {
			if (name)
				return NULL;
			name = row->name;
		}
	return name;
}

static _Noreturn void unknown_letter(const struct cli_command *command, char letter)
{
	const char *name = only_name(command, letter);
	letter = (unsigned char)letter < 0x20 ? '?' : letter;
	if (name)
		fprintf(stderr, hwy_tr("headway %s: unknown option '-%c'; did you mean '--%s'?\n"),
			command->name, letter, name);
	else
		fprintf(stderr,
			hwy_tr("headway %s: unknown option '-%c'; 'headway %s --help' lists them\n"),
			command->name, letter, command->name);
	exit(2);
}

static void short_option(struct command_line *line)
{
	const struct cli_command *command = line->command;
	char letter = *line->letters++;
	const struct cli_option *option = find_letter(command, letter);
	if (!option && letter == 'h')
		show_help(line);
	if (!option)
		unknown_letter(command, letter);
	const char *text = "", *rest = line->letters;
	if (takes_boolean(option)) {
		bool joined = strcmp(rest, "true") == 0 || strcmp(rest, "false") == 0;
		text = joined ? rest : *rest ? "true" : boolean_word(line);
		line->letters = joined ? NULL : rest;
	} else if (option->value) {
		text = *rest ? rest : value_word(line, option);
		line->letters = NULL;
	}
	take(line, option, text);
}

/* A command line that was written for nsys names report.nsys-rep, or the .sqlite made of it,
 * where `headway profile` has written report.hwy. Where only the latter is there, the word
 * becomes its name, which is never longer. */
static void name_own_report(char *word)
{
	static const char *const endings[] = {".nsys-rep", ".qdrep", ".sqlite"};
	size_t length = strlen(word);
	if (access(word, F_OK) == 0)
		return;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);
		if (length <= n || strcmp(word + length - n, endings[i]) != 0)
			continue;
		strcpy(word + length - n, ".hwy");
		if (access(word, F_OK) == 0)
			cli_say("there is no %s of that name: %s is read", endings[i], word);
		else
			strcpy(word + length - n, endings[i]);
	}
}

/* Takes an operand. Yields false where the operand is the program to run, which ends the command
 * line. */
static bool operand(struct command_line *line, char *word)
{
	const struct cli_command *command = line->command;
	if (command->operands == CLI_FILE || command->operands == CLI_FILES)
		name_own_report(word);
	void *field = (char *)line->options + command->operands_offset;
	switch (command->operands) {
	case CLI_NO_OPERAND: cli_misuse(command, "takes no operand: '%s'", word);
	case CLI_FILE:
	case CLI_DIRECTORY:
		if (*(const char **)field)
			cli_misuse(command,
				   command->operands == CLI_FILE
					   ? HWY_KEY("one file at a time: '%s' and '%s'")
					   : HWY_KEY("one run at a time: '%s' and '%s'"),
				   *(const char **)field, word);
		*(const char **)field = word;
		break;
	case CLI_FILES: cli_add_text(field, word); break;
	case CLI_PROGRAM: *(char ***)field = line->words + line->next - 1; return false;
	}
	return true;
}

static void end_of_options(struct command_line *line)
{
	line->operands_only = true;
	if (line->command->operands == CLI_FILES) {
		struct cli_texts *files =
			(void *)((char *)line->options + line->command->operands_offset);
		files->before_dashes = files->n;
	}
}

/* Text and tables are for people; what other formats say is UTF-8 in any locale. */
static void follow_locale(const struct cli_command *command, const void *options)
{
	static const char *const of_people[] = {"text", "brief", "table", NULL};
	const struct cli_option *format = find_name(command, "format", strlen("format"));
	if (!format || format->type != CLI_WORD)
		return;
	int index = *(const int *)((const char *)options + format->offset);
	if (is_one_of(format->words[index], of_people))
		cli_plain_stdout();
}

void cli_read(const struct cli_command *command, int argc, char **argv, void *options)
{
	struct command_line line = {
		.command = command, .options = options, .words = argv, .n_words = argc, .next = 1};
	while (line.next < argc) {
		char *word = argv[line.next++];
		if (!line.operands_only && strcmp(word, "--") == 0) {
			end_of_options(&line);
		} else if (line.operands_only || word[0] != '-' || word[1] == '\0') {
			if (!operand(&line, word)) /* a lone "-" is an operand */
				return;
		} else if (word[1] == '-') {
			long_option(&line, word + 2);
		} else {
			line.letters = word + 1;
			while (line.letters && *line.letters)
				short_option(&line);
		}
	}
	if (!line.has_format)
		format_by_output(command, options);
	follow_locale(command, options);
}
