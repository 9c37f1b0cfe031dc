/* ingest.h - from the spools of a run to a trace. */
#ifndef HWY_INGEST_INGEST_H
#define HWY_INGEST_INGEST_H

#include "base/progress.h"
#include "trace/trace.h"

/* Reads the run directory. Whatever the spools hold, it ends: what cannot be used is left out and told in
 * the trace's drops and diagnostics. Processes of the run may still be writing; then this is what they had
 * written. NULL only when there is no such run, with one line in err. */
struct hwy_trace *ingest_run(const char *directory, const struct hwy_progress *progress,
			     struct hwy_err *err);

#endif
