/* SPDX-License-Identifier: Apache-2.0 */
/* export_internal.h - what the formats share: which rows are exported, names for spans without one,
 * labels of lanes.
 *
 *   struct export x;
 *   if (!export_open(&x, trace, options, progress, result, err))
 *           return false;
 *   for (uint32_t s = 0; s < trace->n_strips; s++) {
 *           struct export_rows rows = export_rows(&x, &trace->strips[s], columns);
 *           while (export_next(&rows)) {
 *                   fputs(hwy_str(trace, hwy_get(rows.strip, HWY_NAME, rows.row)), out);
 *                   export_wrote(&x);
 *           }
 *   }
 *   bool is_whole = !x.failed; // else something was not readable
 *   export_close(&x);
 *
 * Of a report one chunk of rows is in memory at a time. Values of other rows are read with
 * export_peek.
 */
#ifndef HWY_EXPORT_EXPORT_INTERNAL_H
#define HWY_EXPORT_EXPORT_INTERNAL_H

#include "base/index.h"
#include "export/export.h"
#include "stats/filter.h"
#include "trace/message_index.h"

struct export
{
	struct hwy_trace *trace;
	const struct export_options *options;
	const struct hwy_progress *progress;
	struct export_result *result;
	struct hwy_err *err;
	bool failed;
	struct filter filter;
	bool filtered;
	bool *lanes; /* by lane: whether it is exported; NULL: all lanes are */
	/* Texts that the trace does not have. Their ids follow those of the trace's texts. */
	struct hwy_strings extra;
	struct hwy_index made; /* finds the text id of a made-up name by the values in the name */
	uint64_t done, total;
	/* Bits of the columns of calls that stay in memory, because the filter reads them. */
	uint64_t held;
	struct hwy_peeks peeks;
	const struct hwy_strip *calls; /* the strip of the call that was asked for last, or NULL */
	int64_t link, corr;            /* the link that was followed last, and its correlation id */
	struct hwy_message_index messages; /* by the span that shows them */
	bool is_kineto, is_nsys; /* which program wrote the file that the trace was read from */
};

bool export_open(struct export *x, struct hwy_trace *trace, const struct export_options *options,
		 const struct hwy_progress *progress, struct export_result *result,
		 struct hwy_err *err);
void export_close(struct export *x);

bool export_keeps_strip(const struct export *x, const struct hwy_strip *strip);
static inline bool export_keeps(const struct export *x, const struct hwy_strip *strip, uint32_t row)
{
	return !x->filtered || filter_keeps(&x->filter, x->trace, strip, row);
}

/* Whether the options exclude spans. Then nothing is written that describes the whole run, such
 * as steps. */
static inline bool export_is_cut(const struct export *x)
{
	return x->filtered || x->lanes || x->options->kinds != UINT32_MAX;
}

/* Goes through the rows of a strip that are exported. */
struct export_rows {
	struct export *x;
	const struct hwy_strip *strip;
	uint64_t columns;
	uint32_t row, next;
};
struct export_rows export_rows(struct export *x, const struct hwy_strip *strip, uint64_t columns);
bool export_turn(struct export_rows *rows); /* reads the next chunk; only for export_step */
/* Moves to the next row, exported or not; false at the end, and where the row cannot be read
 * (x->failed). */
static inline bool export_step(struct export_rows *rows)
{
	uint32_t row = rows->row = rows->next;
	bool is_border = !(row & (HWY_CHUNK_ROWS - 1)) || row >= rows->strip->rows;
	if (rows->x->failed || (is_border && !export_turn(rows)))
		return false;
	rows->next++;
	return true;
}
/* Moves to the next row that is exported; false at the end, and where it cannot be read
 * (x->failed). */
static inline bool export_next(struct export_rows *rows)
{
	while (export_step(rows))
		if (export_keeps(rows->x, rows->strip, rows->row))
			return true;
	return false;
}
void export_wrote(struct export *x); /* counts one span that was written, and tells the progress */

/* Yields one column of any span, which need not be in memory; 0 where reading fails (x->failed is
 * then set). */
int64_t export_peek(struct export *x, const struct hwy_strip *strip, enum hwy_col col,
		    uint32_t row);
/* Yields one column of the API call with the span id 'call'. */
int64_t export_peek_call(struct export *x, uint32_t call, enum hwy_col col);
/* Yields the correlation id of any span. */
int64_t export_corr(struct export *x, const struct hwy_strip *strip, uint32_t row);
/* Yields the number of ns to add to every time so that no time is negative. */
int64_t export_shift(struct export *x);

/* Adds two numbers from a file. A damaged file may hold any number, so an overflow wraps around. */
static inline int64_t export_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* ---- fallback_names.c ---- */

/* Yields the id of a text that the export made up; export_text yields the text of any id. */
uint32_t export_text_id(struct export *x, const char *text);
struct hwy_text export_text(const struct export *x, int64_t id);
/* Yields the id of a span's name. A span without a name gets one from its other columns: "Memcpy
 * HtoD (Pinned -> Device)". Needs the columns EXPORT_NAME_COLUMNS. */
int64_t export_name(struct export *x, const struct hwy_strip *strip, uint32_t row);
#define EXPORT_NAME_COLUMNS                                                                        \
	(HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SRC_MEMORY) |        \
	 HWY_COL_BIT(HWY_DST_MEMORY) | HWY_COL_BIT(HWY_GRAPH_ID) | HWY_COL_BIT(HWY_SYNC_TYPE) |    \
	 HWY_COL_BIT(HWY_OPERATION) | HWY_COL_BIT(HWY_STACK))
/* Writes the label of a lane: "GPU 0 stream 7", "thread 123 python3 api". */
void export_lane_label(const struct hwy_trace *trace, uint32_t lane, char *text, size_t size);
/* Yields the id of the name of a stack's innermost function, or of its address; 'stack' is a
 * reference (base/ref.h). */
int64_t export_frame_name(struct export *x, int64_t stack);
/* Yield the record with this index; NULL for HWY_NONE and for an index out of range. */
const struct hwy_process *export_process(const struct hwy_trace *trace, int64_t process);
const struct hwy_thread *export_thread(const struct hwy_trace *trace, int64_t thread);
const struct hwy_device *export_device(const struct hwy_trace *trace, int64_t device);
const struct hwy_stream *export_stream(const struct hwy_trace *trace, int64_t stream);

/* ---- sqlite.c, chrome.c, perfetto.c, csv.c, parquet.c, folded.c ---- */

bool export_sqlite(struct hwy_trace *trace, const char *path, const struct export_options *options,
		   const struct hwy_progress *progress, struct export_result *result,
		   struct hwy_err *err);
bool export_csv(struct hwy_trace *trace, const char *path, const struct export_options *options,
		const struct hwy_progress *progress, struct export_result *result,
		struct hwy_err *err);
bool export_parquet(struct hwy_trace *trace, const char *path, const struct export_options *options,
		    const struct hwy_progress *progress, struct export_result *result,
		    struct hwy_err *err);
bool export_chrome(struct hwy_trace *trace, FILE *out, bool gzip,
		   const struct export_options *options, const struct hwy_progress *progress,
		   struct export_result *result, struct hwy_err *err);
bool export_perfetto(struct hwy_trace *trace, FILE *out, bool gzip,
		     const struct export_options *options, const struct hwy_progress *progress,
		     struct export_result *result, struct hwy_err *err);
bool export_folded(struct hwy_trace *trace, FILE *out, bool gzip,
		   const struct export_options *options, const struct hwy_progress *progress,
		   struct export_result *result, struct hwy_err *err);

#endif
