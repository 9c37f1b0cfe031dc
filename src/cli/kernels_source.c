/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_source.c - the source lines at which the warps of a kernel were found, for `headway
 * kernels`.
 *
 * Samples of one line are added up over their reasons; the reason that is named is the one with
 * most samples, of those for which a warp waits ("selected" is a warp that issues).
 */
#include <stdlib.h>
#include <string.h>

#include "cli/kernels_print.h"

static int by_place(const void *a, const void *b)
{
	const struct kernels_source_line *x = a, *y = b;
	int file = strcmp(x->file, y->file);
	return file ? file : (x->line > y->line) - (x->line < y->line);
}

static int by_samples(const void *a, const void *b)
{
	const struct kernels_source_line *x = a, *y = b;
	return (y->samples > x->samples) - (y->samples < x->samples);
}

/* Takes one row of the report as a line of its own; false where it is of another kernel or
 * broken. */
static bool take_source_row(const struct hwy_trace *trace, const struct hwy_stalled_line *row,
			    const char *kernel, struct kernels_source_line *line)
{
	if (row->samples <= 0 || row->samples > INT64_MAX / 1000 ||
	    strcmp(hwy_str(trace, row->kernel), kernel) != 0)
		return false;
	const char *reason = hwy_str(trace, row->reason);
	bool waits = strcmp(reason, "selected") != 0;
	*line = (struct kernels_source_line){.file = hwy_str(trace, row->file),
					     .line = row->line > 0 ? row->line : 0,
					     .samples = row->samples,
					     .reason = waits ? reason : "",
					     .of_reason = waits ? row->samples : 0};
	return true;
}

uint32_t kernels_source_lines(const struct kernels_view *view, const struct known_kernel *kernel,
			      struct kernels_source_line **lines, int64_t *all)
{
	const struct hwy_trace *trace = view->table->trace;
	struct kernels_source_line *found = hwy_array(trace->n_stalled_lines, sizeof *found),
				   *last = NULL;
	uint32_t n = 0, kept = 0;
	*all = 0;
	for (uint32_t i = 0; i < trace->n_stalled_lines; i++)
		n += take_source_row(trace, &trace->stalled_lines[i], kernel->point.name,
				     &found[n]);
	if (n)
		qsort(found, n, sizeof *found, by_place);
	for (uint32_t i = 0; i < n; i++) {
		*all += found[i].samples;
		if (last && by_place(last, &found[i]) == 0) {
			last->samples += found[i].samples;
			if (found[i].of_reason > last->of_reason) {
				last->of_reason = found[i].of_reason;
				last->reason = found[i].reason;
			}
			continue;
		}
		found[kept] = found[i];
		last = &found[kept++];
	}
	if (kept)
		qsort(found, kept, sizeof *found, by_samples);
	*lines = found;
	return kept;
}
