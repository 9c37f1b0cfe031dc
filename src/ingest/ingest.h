/* SPDX-License-Identifier: Apache-2.0 */
/* ingest.h - reads the spools of a run into a trace. */
#ifndef HWY_INGEST_INGEST_H
#define HWY_INGEST_INGEST_H

#include "base/progress.h"
#include "trace/trace.h"

/* Reads the run directory. Whatever the spools hold, reading ends: records that cannot be used are
 * left out and counted in the trace's drops and diagnostics. Processes of the run may still be
 * writing; then the trace has what they have written so far. NULL only when the directory holds no
 * run, with one line in err. */
struct hwy_trace *ingest_run(const char *directory, const struct hwy_progress *progress,
			     struct hwy_err *err);

/* How much of a recording's stacks goes into the trace. What is left out is said in a
 * diagnostic. */
enum ingest_stacks {
	INGEST_STACKS_WHOLE,
	/* INGEST_STACKS_PLAIN: without libdw, whose memory depends on the programs' debug
	 * information: stacks by frame pointers, no source lines of native code. */
	INGEST_STACKS_PLAIN,
	INGEST_STACKS_NONE,
};
/* ingest_run with fewer stacks, for a machine on which there is too little memory for all. */
struct hwy_trace *ingest_run_with(const char *directory, enum ingest_stacks stacks,
				  const struct hwy_progress *progress, struct hwy_err *err);

/* Adds a measurement that was made after the run to a trace of ingest_run, before the trace is
 * written. The ids of name and unit in 'calibration' are replaced by those of the texts. */
void ingest_calibration(struct hwy_trace *trace, const struct hwy_calibration *calibration,
			const char *name, const char *unit);
/* Adds a diagnostic to a trace of ingest_run, before the trace is written. */
void ingest_note(struct hwy_trace *trace, int severity, const char *text);

#endif
