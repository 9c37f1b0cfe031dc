/* SPDX-License-Identifier: Apache-2.0 */
/* recordings.c - see recordings.h. */
#include "cli/recordings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/mem.h"
#include "import/import.h"

struct job_files recordings_find(const struct cli_texts *operands)
{
	struct job_files found = {0};
	struct hwy_err err;
	for (uint32_t i = 0; i < operands->n; i++)
		if (!job_files_add(&found, operands->texts[i], &err))
			cli_die("%s", err.text);
	return found;
}

struct hwy_trace **recordings_open(struct job_files *recordings)
{
	struct hwy_trace **traces = hwy_array(recordings->n, sizeof *traces);
	struct hwy_err *errors = hwy_array(recordings->n, sizeof *errors);
	uint32_t n = 0, n_errors = 0;
	for (uint32_t i = 0; i < recordings->n; i++) {
		const char *name = recordings->files[i].name;
		traces[n] = recordings->files[i].is_found
				    ? hwy_open(name, cli_progress(), &errors[n_errors])
				    : cli_open(name);
		cli_progress_end();
		if (traces[n]) {
			cli_name_device(traces[n]);
			recordings->files[n++] = recordings->files[i];
		} else {
			n_errors++;
			free(recordings->files[i].name);
		}
	}
	if (n == 0)
		cli_die("%s", errors[0].text);
	for (uint32_t i = 0; i < n_errors; i++)
		fprintf(stderr, hwy_tr("headway: left out: %s\n"), errors[i].text);
	free(errors);
	recordings->n = n;
	return traces;
}
