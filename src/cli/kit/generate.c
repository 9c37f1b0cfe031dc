/* SPDX-License-Identifier: Apache-2.0 */
/* generate.c - see generate.h. */
#include "cli/kit/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ABOUT_COLUMNS = 60 };

const char *const completion_endings[] = {"hwy",     "sqlite", "nsys-rep", "json",
					  "json.gz", "xz",     NULL};

const struct cli_option *completion_next(const struct cli_command *command,
					 const struct cli_option *row)
{
	if (row == &cli_language_option)
		return NULL;
	row = row ? row + 1 : command->options;
	while (row->name && (row->type == CLI_HEADING || !row->help))
		row++;
	return row->name ? row : &cli_language_option;
}

const char *completion_word(const struct cli_option *option, size_t i)
{
	if (option->word)
		return option->word(i);
	return option->words ? option->words[i] : NULL;
}

bool completion_is_list(const struct cli_option *option)
{
	return strcmp(option->value, "LIST") == 0 || strstr(option->value, "[,");
}

bool completion_is_file(const struct cli_option *option)
{
	return strcmp(option->value, "FILE") == 0;
}

struct completion_text completion_about(const struct cli_option *option)
{
	struct completion_text about;
	size_t n = strcspn(option->help, ";");
	if (n > ABOUT_COLUMNS) {
		n = ABOUT_COLUMNS;
		while (n > 0 && option->help[n] != ' ')
			n--;
	}
	/* A parenthesis that is not closed within the text is left out. */
	const char *open = memrchr(option->help, '(', n);
	if (open && !memchr(open, ')', n - (size_t)(open - option->help)))
		n = (size_t)(open - option->help);
	while (n > 0 && strchr(" ,:", option->help[n - 1]))
		n--;
	snprintf(about.text, sizeof about.text, "%.*s", (int)n, option->help);
	return about;
}

static FILE *generate_open(const char *folder, const char *name, char **path)
{
	if (asprintf(path, "%s/%s", folder, name) < 0)
		cli_die("out of memory");
	FILE *out = fopen(*path, "w");
	if (!out)
		cli_die("%s: %s", *path, hwy_strerror(errno));
	return out;
}

static void generate_close(FILE *out, char *path)
{
	bool failed = ferror(out);
	if (fclose(out) != 0 || failed)
		cli_die("%s: cannot be written", path);
	free(path);
}

static void generate_page(const struct cli_program *program, const struct cli_command *command,
			  const char *folder)
{
	char name[64], *path;
	snprintf(name, sizeof name, "headway%s%s.1", command ? "-" : "",
		 command ? command->name : "");
	FILE *out = generate_open(folder, name, &path);
	man_write(out, program, command);
	generate_close(out, path);
}

void generate(const struct cli_program *program, const char *kind, const char *folder)
{
	static const struct {
		const char *kind, *name;
		void (*write)(FILE *out, const struct cli_program *program);
	} shells[] = {{"bash", "headway", completion_bash},
		      {"zsh", "_headway", completion_zsh},
		      {"fish", "headway.fish", completion_fish},
		      {"keys", "keys", help_keys}};
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		cli_die("%s: %s", folder, hwy_strerror(errno));
	if (strcmp(kind, "man") == 0) {
		generate_page(program, NULL, folder);
		for (size_t i = 0; program->commands[i]; i++)
			generate_page(program, program->commands[i], folder);
		return;
	}
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		if (strcmp(kind, shells[i].kind) != 0)
			continue;
		char *path;
		FILE *out = generate_open(folder, shells[i].name, &path);
		shells[i].write(out, program);
		generate_close(out, path);
		return;
	}
	cli_die("--generate: '%s' is none of man, bash, zsh, fish, keys", kind);
}
