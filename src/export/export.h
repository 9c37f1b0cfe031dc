/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - a trace in the formats of other tools.
 *
 * Each format is one function over a finished trace. Spans go out strip by strip: of a report, no
 * more than one strip's columns are in memory beside what links the strips. What a format has no
 * place for is counted by kind, so that the front end can say so. A file appears under its name
 * complete or not at all.
 */
#ifndef HWY_EXPORT_EXPORT_H
#define HWY_EXPORT_EXPORT_H

#include <stdio.h>

#include "base/progress.h"
#include "trace/trace.h"

enum export_folding { EXPORT_FOLD_AUTO, EXPORT_FOLD_CPU, EXPORT_FOLD_GPU };

struct export_options {
	const char *target; /* name of the output in messages */
	int64_t from, to;   /* only spans that overlap [from, to); INT64_MIN and INT64_MAX: all */
	const char *range;  /* name of an NVTX range, see stats.h; NULL: all spans */
	uint32_t kinds;     /* bits of the kinds of spans to export; UINT32_MAX: all */
	/* "word,word": lanes whose label contains one of these words; NULL: all lanes. */
	const char *lanes;
	bool render_stages; /* perfetto: write device work also as GPU render stages */
	bool plain; /* perfetto, chrome: write only what was recorded, no steps or findings */
	enum export_folding folding;
	/* parquet: the job that the recording is of, the name of the recording's file, and its
	 * rank. */
	const char *job, *source;
	int64_t rank;
	/* parquet: yields a time on the clock of the job; NULL: times are those of the
	 * recording. A later time must never become an earlier one. */
	int64_t (*map)(const void *clock, int64_t time);
	const void *clock;
	/* parquet, with 'map': wall-clock ns of time 0 of the job's clock, or HWY_NONE */
	int64_t epoch;
};

struct export_result {
	uint64_t spans; /* spans that were written */
	/* By kind: spans for which the format has no place. Spans that the options exclude do not
	 * count. */
	uint64_t left_out[HWY_KINDS];
	const char *note;            /* a sentence for the user, or NULL */
	uint64_t files, rows, bytes; /* parquet: what was written */
	const char *table;           /* parquet: the table that people look at first */
};

struct export_type {
	const char *name, *ending, *about;
	/* EXPORT_TREE: a folder that may hold other recordings' exports, too. */
	enum { EXPORT_STREAM, EXPORT_FILE, EXPORT_FOLDER, EXPORT_TREE } target;
	/* 'stream' is set for EXPORT_STREAM, else 'files', which writes the file, or fills the
	 * empty folder, with the name 'path'. */
	bool (*stream)(struct hwy_trace *trace, FILE *out, bool gzip,
		       const struct export_options *options, const struct hwy_progress *progress,
		       struct export_result *result, struct hwy_err *err);
	bool (*files)(struct hwy_trace *trace, const char *path,
		      const struct export_options *options, const struct hwy_progress *progress,
		      struct export_result *result, struct hwy_err *err);
};
extern const struct export_type export_types[]; /* the entry after the last has the name NULL */

#endif
