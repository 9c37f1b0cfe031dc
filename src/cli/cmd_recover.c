/* cmd_recover.c - headway recover: the report of a run whose headway was killed before it could make one. */
#include <stdlib.h>

#include "cli/profile.h"

enum { OPTION_OUTPUT, OPTION_FORCE, OPTION_KEEP };
static const struct cli_option options[] = {
	[OPTION_OUTPUT] = {'o', "output", "FILE",
			   "the report to write (default: the next free reportN.hwy)"},
	[OPTION_FORCE] = {'f', "force-overwrite", cli_boolean, "overwrite an existing report"},
	[OPTION_KEEP] = {'k', "keep", cli_boolean, "keep the run directory"},
	{0},
};
static const struct cli template = {
	.command = "recover",
	.usage = "headway recover [options] DIRECTORY",
	.about =
		"Makes the report of a run that was cut short: what the program recorded is in the run's directory, "
		"headway-… in $TMPDIR, in /tmp, or beside the output. The directory is removed afterwards.",
	.options = options,
	.footer = "Examples:\n"
		  "  headway recover /tmp/headway-Ab12Cd\n"
		  "  headway recover -o crashed.hwy /tmp/headway-Ab12Cd\n",
};

int cmd_recover(int argc, char **argv)
{
	struct cli cli = template;
	cli.argc = argc;
	cli.argv = argv;
	const char *directory = NULL, *output = NULL, *value;
	bool force = false, keep = false;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
		if (option == OPTION_OUTPUT)
			output = value;
		else if (option == OPTION_FORCE)
			force = *value == 't';
		else if (option == OPTION_KEEP)
			keep = *value == 't';
		else if (directory)
			cli_misuse(&cli, "one run at a time: '%s' and '%s'", directory, value);
		else
			directory = value;
	}
	if (!directory)
		cli_misuse(&cli, "which run directory?");
	char *path = output ? profile_expand(output, 0) : NULL;
	const char *refusal = path ? profile_refusal(path, force) : NULL;
	if (refusal)
		cli_die("%s: %s", path, refusal);
	if (!run_is_over(directory))
		cli_die("%s: this run is still being recorded", directory);
	char *written;
	bool done =
		profile_report(directory, path, force, false, PROFILE_CACHED_CALIBRATION, &written);
	if (done && !keep && !run_remove(directory))
		profile_say("%s: kept, it holds files that are not of the run", directory);
	free(written);
	free(path);
	return done ? 0 : 2;
}
