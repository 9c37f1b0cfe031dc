/* export.h - a trace in the formats of other tools.
 *
 * Each format is one function over a finished trace. Spans go out strip by strip: of a report, no more than
 * one strip's columns are in memory beside what links the strips. What a format has no place for is counted
 * by kind, so that the front end can say so. A file appears under its name complete or not at all.
 */
#ifndef HWY_EXPORT_EXPORT_H
#define HWY_EXPORT_EXPORT_H

#include <stdio.h>

#include "base/progress.h"
#include "trace/trace.h"

enum export_folding { EXPORT_FOLD_AUTO, EXPORT_FOLD_CPU, EXPORT_FOLD_GPU };

struct export_options {
	const char *target; /* what messages call the output */
	int64_t from, to;   /* only spans that overlap [from, to); INT64_MIN and INT64_MAX: all */
	const char *range;  /* see stats.h; NULL: all */
	uint32_t kinds;     /* mask; UINT32_MAX: all */
	const char *lanes;  /* words between commas, one of which a lane's label has; NULL: all */
	bool render_stages; /* perfetto: device work as GPU render stages too */
	bool plain;         /* perfetto, chrome: the recording only, no analysis */
	enum export_folding folding;
};

struct export_result {
	uint64_t spans;               /* written */
	uint64_t left_out[HWY_KINDS]; /* no place in the format; not those that were cut */
	const char *note;             /* one more thing worth a line, or NULL */
};

struct export_type {
	const char *name, *ending, *about;
	enum { EXPORT_STREAM, EXPORT_FILE, EXPORT_FOLDER } target;
	/* The first for EXPORT_STREAM: 'gzip' compresses; the second gets the name of a file, or of an empty
	 * folder, to write. */
	bool (*stream)(struct hwy_trace *trace, FILE *out, bool gzip,
		       const struct export_options *options, const struct hwy_progress *progress,
		       struct export_result *result, struct hwy_err *err);
	bool (*files)(struct hwy_trace *trace, const char *path,
		      const struct export_options *options, const struct hwy_progress *progress,
		      struct export_result *result, struct hwy_err *err);
};
extern const struct export_type export_types[]; /* ends with a name of NULL */

#endif
