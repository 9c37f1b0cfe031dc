/* SPDX-License-Identifier: Apache-2.0 */
/* job_short.c - what holds a job back in a few lines, for the end of `headway profile`; see
 * job_print.h. */
#include "cli/job_print.h"

void job_print_short(FILE *out, const char *folder)
{
	struct analyze_view view = {
		.utf8 = cli_utf8(),
		.colour = cli_colour(out),
		.width = cli_width(out),
	};
	struct hwy_err err;
	if (!job_view_of_folder(&view, folder, NULL, &err))
		return;
	job_print_few(out, &view);
	job_view_free(&view);
}
