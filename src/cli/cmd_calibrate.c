/* cmd_calibrate.c - headway calibrate-helper GPU: measures what the machine does; for `headway profile` alone. */
#include "cli/cli.h"
#include "run/calibrate.h"

int cmd_calibrate_helper(int argc, char **argv)
{
	struct hwy_err err;
	if (calibration_helper(argc > 1 ? argv[1] : "", stdout, &err))
		return 0;
	printf("failed: %s\n", err.text);
	return 2;
}
