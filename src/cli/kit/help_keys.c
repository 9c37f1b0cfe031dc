/* SPDX-License-Identifier: Apache-2.0 */
/* help_keys.c - the texts of all --help pages as JSON strings, one a line: the keys by which a
 * language translates them (tests/check_lang). */
#include "base/json.h"
#include "cli/kit/generate.h"

static void put_key(FILE *out, const char *text)
{
	if (!text)
		return;
	struct hwy_json json = {.out = out};
	json_textz(&json, text);
	fputc('\n', out);
}

void help_keys(FILE *out, const struct cli_program *program)
{
	put_key(out, program->about);
	put_key(out, program->files);
	put_key(out, program->examples);
	put_key(out, cli_language_option.help);
	put_key(out, cli_help_option.help);
	for (const struct cli_command *const *command = program->commands; *command; command++) {
		put_key(out, (*command)->summary);
		put_key(out, (*command)->about);
		put_key(out, (*command)->footer);
		for (const struct cli_option *row = (*command)->options; row->name; row++)
			put_key(out, row->help);
	}
}
