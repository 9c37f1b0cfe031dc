/* calibration.c - what is added to a trace after its spools were read: calibrations, and notes about them. */
#include <stdlib.h>

#include "ingest/ingest.h"

/* The trace's caches by text are as long as its table of texts was. */
static uint32_t text_id(struct hwy_trace *trace, const char *text)
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
	added.name = text_id(trace, name);
	added.unit = text_id(trace, unit);
	HWY_GROW(trace->calibrations, trace->n_calibrations, trace->cap_calibrations);
	trace->calibrations[trace->n_calibrations++] = added;
}

void ingest_note(struct hwy_trace *trace, int severity, const char *text)
{
	struct hwy_diagnostic note = {
		.time = HWY_NONE,
		.severity = severity,
		.process = HWY_NONE,
		.text = text_id(trace, text),
	};
	HWY_GROW(trace->diagnostics, trace->n_diagnostics, trace->cap_diagnostics);
	trace->diagnostics[trace->n_diagnostics++] = note;
}
