/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_demo.c - headway demo: a program before and after a change, recorded here and compared.
 *
 * The script scripts/demo does it, with this program as its headway; it is installed with what it
 * records.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "cli/commands.h"
#include "run/run.h"

struct options {
	const char *folder;
	bool recordings;
};

static const struct cli_option option_table[] = {
	{'o', "output", "FOLDER", "where the recordings go (default: headway-demo)", CLI_TEXT,
	 CLI_AT(folder)},
	{0, "recordings", NULL,
	 "print where the two recordings are that come with Headway, and record nothing",
	 CLI_SWITCH, CLI_AT(recordings)},
	CLI_END_OF_OPTIONS,
};

/* Prints the paths of the recordings that stand in where nothing can be recorded. */
static int print_recordings(void)
{
	static const char *const places[][4] = {
		{"/../share/headway/demo/mlp_sync.hwy", "/../_share/demo/mlp_sync.hwy",
		 "/../tests/data/nsys/mlp_sync.hwy", NULL},
		{"/../share/headway/demo/mlp_async.hwy", "/../_share/demo/mlp_async.hwy",
		 "/../tests/data/nsys/mlp_async.hwy", NULL},
	};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *path = library_place(places[i]);
		if (!path)
			cli_die("the demo is not installed with this headway (../share/headway/demo)");
		puts(path);
		free(path);
	}
	return 0;
}

static int run_demo(int argc, char **argv)
{
	static const char *const places[] = {
		"/../share/headway/demo/demo", /* installed */
		"/../_share/demo/demo",        /* a Python package */
		"/../scripts/demo",            /* the build folder of the source */
		NULL,
	};
	struct options options = {.folder = "headway-demo"};
	char self[PATH_MAX];
	cli_read(&cmd_demo, argc, argv, &options);
	if (options.recordings)
		return print_recordings();
	char *script = library_place(places);
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (!script || length <= 0)
		cli_die("the demo is not installed with this headway (../share/headway/demo)");
	self[length] = '\0';
	if (setenv("HEADWAY", self, 1) != 0 || setenv("DEMO_OUT", options.folder, 1) != 0 ||
	    setenv("HEADWAY_LANG", hwy_lang(), 1) != 0)
		cli_die("%s", hwy_strerror(errno));
	execlp("bash", "bash", script, (char *)NULL);
	cli_die("bash, which runs %s: %s", script, hwy_strerror(errno));
}

const struct cli_command cmd_demo = {
	.name = "demo",
	.summary = "a program before and after a change, recorded here and compared",
	.usage = "headway demo [options]",
	.about = "Records a program that waits for every result beside one that does not, draws "
		 "both, says what holds the first one back and whether the change helped. Takes "
		 "CUDA (PyTorch) or OpenCL, whichever works here; where neither does, two "
		 "recordings of an H200 stand in. A wheel (pip) may hold no program that needs "
		 "libOpenCL: it has the source, which is built where there is a C compiler with "
		 "OpenCL's headers and library.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway demo\n"
		  "  headway demo -o /tmp/demo\n"
		  "  headway demo --recordings      files for a first 'headway analyze'\n",
	.run = run_demo,
};
