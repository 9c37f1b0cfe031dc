/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - the report: a trace as a .hwy file (docs/report-format.md). */
#ifndef HWY_TRACE_FILE_H
#define HWY_TRACE_FILE_H

#include "base/progress.h"
#include "trace/trace.h"

/* Writes to a temporary name beside 'path' and renames; mode 0600. An existing file is kept unless
 * 'overwrite'. Loads the whole trace. */
bool hwy_file_write(struct hwy_trace *trace, const char *path, bool overwrite,
		    const struct hwy_progress *progress, struct hwy_err *err);
/* Opens a report: reads its directory, records and texts, but no columns (hwy_need loads those).
 * NULL on failure. */
struct hwy_trace *hwy_file_open(const char *path, struct hwy_err *err);
/* Whether the first bytes of a file are those of a report. */
bool hwy_file_is_report(const void *head, size_t length);

/* Loads every block of an open report, so that damage anywhere is found. Traces from other files
 * have no blocks. */
bool hwy_file_load_all(struct hwy_trace *trace, struct hwy_err *err);

/* Yields the bytes of a cached result, which belong to the trace; the first call reads them. NULL
 * on failure. */
const void *hwy_result_bytes(struct hwy_trace *trace, uint32_t result, struct hwy_err *err);

/* Used by trace.c: loads and checks a chunk. */
bool file_load_chunk(struct hwy_file *file, struct hwy_column *column, uint32_t at,
		     struct hwy_err *err);
/* Used by trace.c: reads the data of a chunk into 'copy', a copy of the chunk, without checking the
 * values. */
bool file_peek(struct hwy_file *file, const struct hwy_column *column, uint32_t at,
	       struct hwy_chunk *copy, struct hwy_err *err);
/* Used by trace.c: checks one value that file_peek read; a link gets the new number of its span. */
bool file_accept_value(struct hwy_file *file, const struct hwy_column *column, int64_t *value,
		       struct hwy_err *err);
void file_close(struct hwy_file *file);

#endif
