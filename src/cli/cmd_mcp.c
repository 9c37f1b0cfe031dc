/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_mcp.c - headway mcp: the server that assistants ask, on stdin and stdout. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/commands.h"
#include "mcp/mcp.h"
#include "mcp/mcp_folders.h"

struct options {
	struct cli_texts roots, sources;
	bool may_profile;
};

static const struct cli_option option_table[] = {
	{0, "root", "DIR",
	 "a folder whose recordings may be read, with all that is below it (default: the working "
	 "folder); may be given several times",
	 CLI_TEXTS, CLI_AT(roots)},
	{0, "source", "DIR",
	 "a folder whose files may be shown as source lines (default: none); may be given several "
	 "times",
	 CLI_TEXTS, CLI_AT(sources)},
	{0, "allow-profile", NULL,
	 "also let the assistant run programs and record them (default: it can only read)",
	 CLI_SWITCH, CLI_AT(may_profile)},
	CLI_END_OF_OPTIONS,
};

static void add_folders(struct mcp_folders *folders, struct cli_texts *paths)
{
	struct hwy_err err;
	for (uint32_t i = 0; i < paths->n; i++)
		if (!mcp_folders_add(folders, paths->texts[i], &err))
			cli_die("%s", err.text);
	free(paths->texts);
}

static int run_mcp(int argc, char **argv)
{
	struct options options = {0};
	struct mcp_config config = {0};
	struct hwy_err err;
	cli_read(&cmd_mcp, argc, argv, &options);
	config.may_profile = options.may_profile;
	add_folders(&config.roots, &options.roots);
	add_folders(&config.sources, &options.sources);
	if (config.roots.n == 0 && !mcp_folders_add(&config.roots, ".", &err))
		cli_die("%s", err.text);
	if (isatty(STDIN_FILENO))
		cli_say("waits for an assistant's messages on standard input; docs/mcp.md tells how "
			"to set one up");
	signal(SIGPIPE, SIG_IGN);
	if (!mcp_serve(&config, STDIN_FILENO, STDOUT_FILENO, &err))
		cli_die("%s", err.text);
	mcp_folders_free(&config.roots);
	mcp_folders_free(&config.sources);
	return 0;
}

const struct cli_command cmd_mcp = {
	.name = "mcp",
	.summary = "a server for assistants: the answers as tools of the Model Context Protocol",
	.usage = "headway mcp [--root DIR]… [--source DIR]… [--allow-profile]",
	.about =
		"Serves the Model Context Protocol on standard input and output: an assistant (an editor's, or one in "
		"a terminal) asks for the verdict, the findings with their evidence, source lines, predictions, "
		"tables and comparisons of recordings. It reads files below --root only, shows source "
		"files below --source only, and runs nothing without --allow-profile.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway mcp                                   recordings of this folder\n"
		  "  headway mcp --root runs --source src\n"
		  "  headway mcp --root . --source . --allow-profile\n",
	.operands = CLI_NO_OPERAND,
	.run = run_mcp,
};
