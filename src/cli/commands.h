/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of headway, one in each cmd_NAME.c. */
#ifndef HWY_CLI_COMMANDS_H
#define HWY_CLI_COMMANDS_H

#include "cli/kit/cli.h"

extern const struct cli_command cmd_analyze, cmd_baseline, cmd_breakdown, cmd_convert, cmd_demo,
	cmd_diff, cmd_digest, cmd_doctor, cmd_export, cmd_gate, cmd_info, cmd_kernels, cmd_mcp,
	cmd_path, cmd_profile, cmd_recover, cmd_show, cmd_sql, cmd_stats, cmd_tree, cmd_view,
	cmd_whatif;

/* cmd_calibrate.c: `headway calibrate-helper`, which `headway profile` starts by itself;
 * `headway --help` does not list it. */
int cmd_calibrate_helper(int argc, char **argv);

#endif
