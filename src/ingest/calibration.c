/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.c - adds calibrations, and notes about them, to a trace whose spools were read
 * before. */
#include <stdlib.h>

#include "ingest/ingest.h"

/* Adds a text. The caches roles and comm have one entry for each text: free them, they are made
 * again when needed. */
static uint32_t calibration_add_text(struct hwy_trace *trace, const char *text)
{
	free(trace->roles);
	free(trace->comm);
	trace->roles = trace->comm = NULL;
	return hwy_intern_z(&trace->strings, text);
}

void ingest_calibration(struct hwy_trace *trace, const struct hwy_calibration *calibration,
			const char *name, const char *unit)
{
	struct hwy_calibration added = *calibration;
	added.name = calibration_add_text(trace, name);
	added.unit = calibration_add_text(trace, unit);
	HWY_GROW(trace->calibrations, trace->n_calibrations, trace->cap_calibrations);
	trace->calibrations[trace->n_calibrations++] = added;
}

void ingest_note(struct hwy_trace *trace, int severity, const char *text)
{
	struct hwy_diagnostic note = {
		.time = HWY_NONE,
		.severity = severity,
		.process = HWY_NONE,
		.text = calibration_add_text(trace, text),
	};
	HWY_GROW(trace->diagnostics, trace->n_diagnostics, trace->cap_diagnostics);
	trace->diagnostics[trace->n_diagnostics++] = note;
}
