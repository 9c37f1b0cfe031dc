/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c - headway calibrate-helper GPU [quick]: measures what recording costs on a GPU.
 * `headway profile` starts this helper as a process of its own and reads what it prints.
 */
#include <string.h>

#include "cli/kit/cli.h"
#include "run/calibrate/calibrate.h"

int cmd_calibrate_helper(int argc, char **argv)
{
	struct hwy_err err;
	bool quick = argc > 2 && strcmp(argv[2], "quick") == 0;
	if (calibration_helper(argc > 1 ? argv[1] : "", quick, stdout, &err))
		return 0;
	printf("failed: %s\n", err.text);
	return 2;
}
