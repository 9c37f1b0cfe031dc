/* SPDX-License-Identifier: Apache-2.0 */
/* cli_privacy.c - the options --no-args and --anonymous, which mean the same in every command. */
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/kit/cli.h"
#include "trace/privacy.h"

void cli_privacy_apply(const struct cli_privacy *privacy, struct hwy_trace *trace)
{
	if (privacy->no_args)
		hwy_privacy_drop_arguments(trace);
	if (!privacy->anonymous)
		return;
	/* The recording tells of its own host and users; who runs this command is often one of
	 * them. */
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	const struct passwd *me = getpwuid(getuid());
	struct hwy_identity who = {
		.host = host,
		.user = me ? me->pw_name : getenv("USER"),
		.home = getenv("HOME"),
	};
	hwy_privacy_anonymize(trace, &who);
}

const char *cli_privacy_path(const struct cli_privacy *privacy, const char *path)
{
	return privacy->anonymous ? hwy_basename(path) : path;
}
