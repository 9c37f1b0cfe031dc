/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - the list of formats, and which lanes, strips and rows of a trace are exported. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lang.h"
#include "export/export_internal.h"
#include "stats/stats.h"

const struct export_type export_types[] = {
	{"perfetto", ".pftrace",
	 HWY_KEY("ui.perfetto.dev, trace_processor: native, every span arrives"), EXPORT_STREAM,
	 export_perfetto, NULL},
	{"chrome", ".json",
	 HWY_KEY("chrome://tracing, Perfetto, HTA, TraceLens: JSON as PyTorch's profiler writes it"),
	 EXPORT_STREAM, export_chrome, NULL},
	{"sqlite", ".sqlite",
	 HWY_KEY("everything written for Nsight Systems' exports (schema 3.20)"), EXPORT_FILE, NULL,
	 export_sqlite},
	{"csv", ".csv.d", HWY_KEY("scripts: a folder with one file a kind of span, all columns"),
	 EXPORT_FOLDER, NULL, export_csv},
	{"parquet", ".parquet.d",
	 HWY_KEY("DuckDB, Spark and the like: a folder of tables, many jobs and ranks beside each other"),
	 EXPORT_TREE, NULL, export_parquet},
	{"folded", ".folded",
	 HWY_KEY("flame graphs (speedscope, inferno): CPU samples, or GPU time by range and stack"),
	 EXPORT_STREAM, export_folded, NULL},
	{0},
};

/* ---- lanes ----------------------------------------------------------------------------------- */

static bool export_has_word(const char *label, const char *word, size_t length)
{
	for (; *label; label++)
		if (strncasecmp(label, word, length) == 0)
			return true;
	return false;
}

static bool label_is_wanted(const char *label, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, ",");
		if (length && export_has_word(label, words, length))
			return true;
		words += length + (words[length] == ',');
	}
	return false;
}

static bool choose_lanes(struct export *x)
{
	char label[512];
	bool any = false;
	if (!x->options->lanes)
		return true;
	x->lanes = hwy_zarray(x->trace->n_lanes, sizeof *x->lanes);
	for (uint32_t i = 0; i < x->trace->n_lanes; i++) {
		export_lane_label(x->trace, i, label, sizeof label);
		any |= x->lanes[i] = label_is_wanted(label, x->options->lanes);
	}
	return any || hwy_fail(x->err, "no lane's name has '%s' in it; the first is '%s'",
			       x->options->lanes, x->trace->n_lanes ? label : "");
}

/* ---- strips ---------------------------------------------------------------------------------- */

bool export_keeps_strip(const struct export *x, const struct hwy_strip *strip)
{
	return (x->options->kinds & HWY_KIND_BIT(strip->kind)) && strip->rows &&
	       (!x->lanes || x->lanes[strip->lane]);
}

static bool source_is(const struct hwy_trace *trace, const char *format)
{
	const char *source = hwy_property(trace, "source.format");
	return source && strcmp(source, format) == 0;
}

bool export_open(struct export *x, struct hwy_trace *trace, const struct export_options *options,
		 const struct hwy_progress *progress, struct export_result *result,
		 struct hwy_err *err)
{
	*x = (struct export){
		.trace = trace,
		.options = options,
		.progress = progress,
		.result = result,
		.err = err,
		.is_kineto = source_is(trace, "kineto"),
		.is_nsys = source_is(trace, "nsys-sqlite"),
	};
	*result = (struct export_result){0};
	hwy_strings_init(&x->extra);
	hwy_message_index_open(&x->messages, trace, HWY_MESSAGE_SPAN);
	struct stats_options window = {
		.from = options->from, .to = options->to, .range = options->range};
	if (!filter_open(&x->filter, trace, &window, err) || !choose_lanes(x)) {
		export_close(x);
		return false;
	}
	x->filtered = filter_is_on(&x->filter);
	if (x->filter.ranged)
		x->held |= HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (export_keeps_strip(x, &trace->strips[s]))
			x->total += trace->strips[s].rows;
	return true;
}

void export_close(struct export *x)
{
	filter_close(&x->filter);
	hwy_strings_free(&x->extra);
	hwy_index_free(&x->made);
	hwy_peeks_free(&x->peeks);
	hwy_message_index_close(&x->messages);
	free(x->lanes);
	x->lanes = NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t export_number_of(const struct export *x, const struct hwy_strip *strip)
{
	return (uint32_t)(strip - x->trace->strips);
}

struct export_rows export_rows(struct export *x, const struct hwy_strip *strip, uint64_t columns)
{
	struct export_rows rows = {.x = x, .strip = strip};
	rows.columns = columns | filter_columns(&x->filter) | HWY_COL_BIT(HWY_START) |
		       HWY_COL_BIT(HWY_DUR);
	if (!export_keeps_strip(x, strip))
		rows.next = strip->rows;
	return rows;
}

/* Reads the next chunk of rows and then frees the chunk before it: both are needed while the
 * starts of two rows are compared across their border. */
bool export_turn(struct export_rows *rows)
{
	struct export *x = rows->x;
	uint32_t strip = export_number_of(x, rows->strip), chunk = rows->next >> HWY_CHUNK_BITS;
	uint64_t kept = rows->strip->kind == HWY_API ? x->held : 0;
	bool is_end = rows->next >= rows->strip->rows;
	if (!is_end && !hwy_need_chunk(x->trace, strip, chunk, rows->columns, x->err))
		x->failed = true;
	if (rows->next)
		hwy_forget_chunk(x->trace, strip, (rows->next - 1) >> HWY_CHUNK_BITS, ~kept);
	return !is_end && !x->failed;
}

void export_wrote(struct export *x)
{
	enum { EVERY = 1 << 15 };
	x->result->spans++;
	if (++x->done % EVERY == 0)
		hwy_tell(x->progress, "writing", x->done, x->total);
}

/* ---- what a row refers to -------------------------------------------------------------------- */

int64_t export_peek(struct export *x, const struct hwy_strip *strip, enum hwy_col col, uint32_t row)
{
	int64_t value = 0;
	if (!x->failed && !hwy_peek_near(x->trace, &x->peeks, export_number_of(x, strip), col, row,
					 &value, x->err))
		x->failed = true;
	return x->failed ? 0 : value;
}

int64_t export_peek_call(struct export *x, uint32_t call, enum hwy_col col)
{
	uint32_t row;
	/* Most calls lie in the same strip as the call of the previous request. */
	if (!x->calls || call < x->calls->first || call - x->calls->first >= x->calls->rows)
		x->calls = hwy_strip_of(x->trace, call, &row);
	return export_peek(x, x->calls, col, call - x->calls->first);
}

int64_t export_corr(struct export *x, const struct hwy_strip *strip, uint32_t row)
{
	int64_t link = export_peek(x, strip, HWY_LINK, row);
	uint32_t call;
	if (!hwy_ref_to_index(link, &call))
		return export_peek(x, strip, HWY_CORR, row);
	if (link != x->link) { /* all nodes of a graph have the same call */
		x->corr = export_peek_call(x, call, HWY_CORR);
		x->link = link;
	}
	return x->corr;
}

int64_t export_shift(struct export *x)
{
	int64_t shift = 0;
	for (uint32_t s = 0; s < x->trace->n_strips; s++) {
		const struct hwy_strip *strip = &x->trace->strips[s];
		int64_t start =
			export_keeps_strip(x, strip) ? export_peek(x, strip, HWY_START, 0) : 0;
		shift = -start > shift ? -start : shift;
	}
	return shift;
}
