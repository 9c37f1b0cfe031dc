/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_spans.c - the tables of spans, one a kind, column by column and row group by row
 * group.
 *
 * Cells are those of the CSV export. What differs: texts that are empty there are null here; a
 * payload is a text, as "payload_type" says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/parquet/parquet.h"
#include "export/parquet/parquet_rows.h"
#include "export/parquet/parquet_span_columns.h"
#include "trace/columns.h"

/* ---- the values of a column ------------------------------------------------------------------ */

struct filling {
	struct parquet *p;
	struct parquet_rows *rows;
	const struct span_column *column;
	struct parquet_values *to;
};

static void set_null(struct filling *f, uint32_t row, bool is_null)
{
	f->to->is_null[row] = is_null;
	f->to->has_nulls |= is_null;
}

/* The number, or the key of the text, that a lane gives all its spans; HWY_NONE: none. */
static int64_t owner_value(const struct hwy_trace *trace, uint32_t index, enum span_source source)
{
	const struct hwy_lane *lane = &trace->lanes[index];
	const struct hwy_process *process = export_process(trace, lane->process);
	const struct hwy_thread *thread = export_thread(trace, lane->thread);
	const struct hwy_device *device = export_device(trace, lane->device);
	const struct hwy_stream *stream = export_stream(trace, lane->stream);
	switch (source) {
	case FROM_PID: return process ? process->pid : HWY_NONE;
	case FROM_TID: return thread ? thread->tid : HWY_NONE;
	case FROM_THREAD: return thread ? thread->name : HWY_NONE;
	case FROM_DEVICE: return device ? device->ordinal : HWY_NONE;
	case FROM_CONTEXT: return stream ? stream->context : HWY_NONE;
	case FROM_STREAM: return stream ? stream->number : HWY_NONE;
	case FROM_LANE: return lane->type;
	case FROM_LANE_ID: return index;
	default: return lane->name;
	}
}

static struct hwy_text lane_type_text(void *user, int64_t type)
{
	(void)user;
	const char *name = hwy_lane_type_names[type];
	return (struct hwy_text){name, (uint32_t)strlen(name)};
}

static void fill_owner(struct filling *f)
{
	const struct hwy_trace *trace = f->p->x.trace;
	enum span_source source = f->column->source;
	bool is_text = source == FROM_THREAD || source == FROM_DOMAIN;
	f->to->is_constant = true;
	for (uint32_t i = 0; i < f->rows->n_runs; i++) {
		const struct parquet_run *run = &f->rows->runs[i];
		int64_t value = owner_value(trace, run->strip->lane, source);
		bool is_null = value == HWY_NONE || (is_text && hwy_text(trace, value).length == 0);
		if (i > 0 && f->to->is_constant &&
		    (is_null != f->to->is_null[0] || (!is_null && value != f->to->values[0])))
			f->to->is_constant = false;
		f->to->has_nulls |= is_null;
		for (uint32_t row = run->at; row < run->at + run->n; row++) {
			f->to->values[row] = value;
			f->to->is_null[row] = is_null;
			if (f->to->is_constant && f->rows->n_runs == 1)
				break;
		}
	}
	f->to->text = source == FROM_LANE ? lane_type_text : parquet_text_of;
	f->to->user = source == FROM_LANE ? NULL : f->p;
}

static void fill_id(struct filling *f)
{
	for (uint32_t i = 0; i < f->rows->n_runs; i++) {
		const struct parquet_run *run = &f->rows->runs[i];
		int64_t id = (int64_t)run->strip->first + run->first;
		for (uint32_t k = 0; k < run->n; k++)
			f->to->values[run->at + k] = id + k;
	}
}

/* How many rows of the buffers have been read: one of a constant column. */
static uint32_t listed(const struct filling *f)
{
	return f->to->is_constant ? 1 : f->rows->n;
}

/* The name of a value, or its number where it has none yet. */
static struct hwy_text enum_text(void *user, int64_t value)
{
	struct parquet *p = user;
	const struct hwy_column_info *info = p->enumeration;
	if (value >= 0 && value < info->n_names)
		return (struct hwy_text){info->names[value], (uint32_t)strlen(info->names[value])};
	int n = snprintf(p->number, sizeof p->number, "%" PRId64, value);
	return (struct hwy_text){p->number, (uint32_t)n};
}

static void fill_cell(struct filling *f)
{
	const struct hwy_column_info *info = &hwy_columns[f->column->col];
	const struct hwy_trace *trace = f->p->x.trace;
	int64_t *values = f->to->values;
	bool is_record = info->meaning == HWY_MEANS_RECORD,
	     is_ref = info->absence == HWY_ABSENT_REF;
	for (uint32_t i = 0, n = listed(f); i < n; i++) {
		int64_t stored = values[i];
		bool is_null = stored == 0 && info->absence != HWY_ABSENT_NEVER;
		values[i] = is_ref ? (int64_t)((uint64_t)stored - 1) : stored;
		if (is_record && !is_null) {
			struct hwy_cell cell =
				hwy_column_cell(trace, NULL, f->column->col, stored, 0);
			is_null = cell.type != HWY_CELL_INT;
			values[i] = is_null ? 0 : cell.number;
		} else if (info->meaning == HWY_MEANS_COLOR) {
			values[i] = (uint32_t)stored;
		}
		set_null(f, i, is_null);
	}
	f->to->text = info->meaning == HWY_MEANS_ENUM ? enum_text : parquet_text_of;
	f->to->user = f->p;
	f->p->enumeration = info;
}

static void fill_time(struct filling *f)
{
	bool is_start = f->column->col == HWY_START;
	for (uint32_t i = 0, n = listed(f); i < n; i++) {
		set_null(f, i, !is_start && f->to->values[i] == 0);
		f->to->values[i] = parquet_time(f->p, f->to->values[i]);
	}
}

/* Writes a constant column out. */
static void spread(int64_t *values, uint32_t n, bool *is_constant)
{
	for (uint32_t i = 1; i < n && *is_constant; i++)
		values[i] = values[0];
	*is_constant = false;
}

/* On another clock a span is as long as from its begin there to its end there. */
static bool fill_duration(struct filling *f)
{
	int64_t *values = f->to->values, *starts = f->p->more;
	bool is_constant;
	if (!f->p->x.options->map)
		return true;
	if (!parquet_rows_read(f->rows, HWY_START, starts, &is_constant))
		return false;
	spread(values, f->rows->n, &f->to->is_constant);
	spread(starts, f->rows->n, &is_constant);
	for (uint32_t i = 0; i < f->rows->n; i++) {
		int64_t end = starts[i] + values[i];
		if (end < HWY_TIME_LIMIT)
			values[i] = parquet_time(f->p, end) - parquet_time(f->p, starts[i]);
	}
	return true;
}

/* Device work that has a link has the correlation id of its call. */
static bool fill_correlation(struct filling *f)
{
	struct export *x = &f->p->x;
	bool is_constant;
	if (!parquet_rows_read(f->rows, HWY_LINK, f->p->more, &is_constant))
		return false;
	if (is_constant && !hwy_ref_is_set(f->p->more[0])) {
		fill_cell(f);
		return true;
	}
	spread(f->to->values, f->rows->n, &f->to->is_constant);
	spread(f->p->more, f->rows->n, &is_constant);
	for (uint32_t i = 0; i < f->rows->n; i++) {
		int64_t own = f->to->values[i], link = f->p->more[i];
		uint32_t call;
		if (hwy_ref_to_index(link, &call) && link != x->link) {
			x->corr = export_peek_call(x, call, HWY_CORR);
			x->link = link;
		}
		int64_t value = hwy_ref_is_set(link) ? x->corr : own;
		f->to->values[i] = value;
		set_null(f, i, value == 0);
	}
	return !x->failed;
}

static void fill_shape(struct filling *f)
{
	const struct hwy_trace *trace = f->p->x.trace;
	for (uint32_t i = 0, n = listed(f); i < n; i++) {
		uint32_t index;
		bool is_set = hwy_ref_to_index(f->to->values[i], &index);
		const int64_t *fields = is_set ? &trace->shapes[index].grid_x : NULL;
		f->to->values[i] = is_set ? fields[f->column->part] : 0;
		set_null(f, i, !is_set);
	}
}

static void fill_symbol(struct filling *f)
{
	const struct hwy_trace *trace = f->p->x.trace;
	for (uint32_t i = 0, n = listed(f); i < n; i++) {
		uint32_t index;
		bool is_set = hwy_ref_to_index(f->to->values[i], &index);
		const int64_t *fields = is_set ? &trace->symbols[index].demangled : NULL;
		int64_t text = is_set ? fields[f->column->part] : 0;
		f->to->values[i] = text;
		set_null(f, i, export_text(&f->p->x, text).length == 0);
	}
	f->to->text = parquet_text_of;
	f->to->user = f->p;
}

struct hwy_text parquet_stack_text(void *user, int64_t stack)
{
	struct parquet *p = user;
	p->stack.n = 0;
	for (bool first = true; hwy_ref_is_set(stack); first = false) {
		struct hwy_text name = export_text(&p->x, export_frame_name(&p->x, stack));
		if (!first)
			hwy_bytes_put_byte(&p->stack, ';');
		hwy_bytes_put(&p->stack, name.at, name.length);
		stack = hwy_stack_caller(p->x.trace, stack);
	}
	return (struct hwy_text){(const char *)p->stack.bytes, (uint32_t)p->stack.n};
}

static void fill_stack(struct filling *f)
{
	for (uint32_t i = 0, n = listed(f); i < n; i++)
		set_null(f, i, f->to->values[i] <= 0);
	f->to->text = parquet_stack_text;
	f->to->user = f->p;
}

/* Counters have whole numbers or doubles, lane by lane. */
static void fill_value(struct filling *f)
{
	const struct hwy_trace *trace = f->p->x.trace;
	spread(f->to->values, f->rows->n, &f->to->is_constant);
	for (uint32_t r = 0; r < f->rows->n_runs; r++) {
		const struct parquet_run *run = &f->rows->runs[r];
		bool is_whole = trace->lanes[run->strip->lane].value_type != HWY_PAYLOAD_DOUBLE;
		for (uint32_t i = run->at; i < run->at + run->n; i++) {
			int64_t stored = f->to->values[i];
			double real = (double)stored;
			if (is_whole && f->column->source == FROM_VALUE)
				memcpy(&stored, &real, sizeof stored);
			f->to->values[i] = stored;
			set_null(f, i, f->column->source == FROM_WHOLE_VALUE && !is_whole);
		}
	}
}

/* A payload as a text of the export's own, each once. */
static int64_t payload_key(struct filling *f, int64_t type, int64_t stored)
{
	struct export *x = &f->p->x;
	char text[64];
	struct hwy_cell cell =
		hwy_column_cell(x->trace, f->rows->runs[0].strip, HWY_PAYLOAD, stored, type);
	switch (cell.type) {
	case HWY_CELL_INT: snprintf(text, sizeof text, "%" PRId64, cell.number); break;
	case HWY_CELL_UINT: snprintf(text, sizeof text, "%" PRIu64, (uint64_t)cell.number); break;
	case HWY_CELL_REAL: snprintf(text, sizeof text, "%.17g", cell.real); break;
	case HWY_CELL_TEXT: return cell.text.length ? stored : 0;
	default: return 0;
	}
	return export_text_id(x, text);
}

static bool fill_payload(struct filling *f)
{
	bool is_constant;
	if (!parquet_rows_read(f->rows, HWY_PAYLOAD_TYPE, f->p->more, &is_constant))
		return false;
	f->to->text = parquet_text_of;
	f->to->user = f->p;
	if (is_constant && f->p->more[0] == HWY_PAYLOAD_NONE)
		f->to->is_constant = true; /* no span has a payload */
	else
		spread(f->to->values, f->rows->n, &f->to->is_constant);
	if (!f->to->is_constant)
		spread(f->p->more, f->rows->n, &is_constant);
	for (uint32_t i = 0, n = listed(f); i < n; i++) {
		int64_t type = f->p->more[i];
		int64_t key = type == HWY_PAYLOAD_NONE ? 0 : payload_key(f, type, f->to->values[i]);
		f->to->values[i] = key;
		set_null(f, i, key == 0);
	}
	return true;
}

static struct hwy_text role_text(void *user, int64_t role)
{
	(void)user;
	return (struct hwy_text){hwy_role_names[role], (uint32_t)strlen(hwy_role_names[role])};
}

static struct hwy_text class_text(void *user, int64_t class)
{
	static const char *const names[HWY_CLASSES] = {"compute", "comm", "memory"};
	(void)user;
	return (struct hwy_text){names[class], (uint32_t)strlen(names[class])};
}

/* What the name tells: the role of a call, the class of device work. */
static void fill_by_name(struct filling *f)
{
	struct hwy_trace *trace = f->p->x.trace;
	enum hwy_kind kind = (enum hwy_kind)f->rows->runs[0].strip->kind;
	for (uint32_t i = 0, n = listed(f); i < n; i++) {
		int64_t name = f->to->values[i];
		f->to->values[i] = f->column->source == FROM_ROLE
					   ? (int64_t)HWY_ROLE_OF(hwy_role(trace, name))
					   : (int64_t)hwy_class(trace, kind, name);
	}
	f->to->text = f->column->source == FROM_ROLE ? role_text : class_text;
}

static bool fill(struct filling *f)
{
	enum span_source source = f->column->source;
	*f->to = (struct parquet_values){.values = f->p->values, .is_null = f->p->is_null};
	if (source == FROM_ID) {
		fill_id(f);
		return true;
	}
	if (source < FROM_CELL || source == FROM_LANE_ID) {
		fill_owner(f);
		return true;
	}
	if (!parquet_rows_read(f->rows, f->column->col, f->to->values, &f->to->is_constant))
		return false;
	switch (source) {
	case FROM_TIME: fill_time(f); return true;
	case FROM_DURATION: return fill_duration(f);
	case FROM_CORRELATION: return fill_correlation(f);
	case FROM_SHAPE: fill_shape(f); return true;
	case FROM_SYMBOL: fill_symbol(f); return true;
	case FROM_STACK: fill_stack(f); return true;
	case FROM_VALUE:
	case FROM_WHOLE_VALUE: fill_value(f); return true;
	case FROM_PAYLOAD: return fill_payload(f);
	case FROM_ROLE:
	case FROM_CLASS: fill_by_name(f); return true;
	default: fill_cell(f); return true;
	}
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void span_write_group(struct parquet *p, struct parquet_rows *rows, struct span_table *spans,
			     struct parquet_file *file)
{
	parquet_group_begin(file, rows->n);
	for (uint32_t i = 0; i < spans->n && !p->x.failed; i++) {
		struct parquet_values values;
		struct filling f = {
			.p = p, .rows = rows, .column = &spans->columns[i], .to = &values};
		if (fill(&f))
			parquet_group_column(file, &values);
	}
	if (!p->x.failed)
		parquet_group_end(file);
	p->x.done += rows->n;
	p->x.result->spans += rows->n;
	hwy_tell(p->x.progress, "writing", p->x.done, p->x.total);
}

static bool write_kind(struct parquet *p, int kind)
{
	struct span_table spans;
	struct parquet_rows rows;
	struct parquet_file file;
	struct parquet_table table = {.name = hwy_kind_names[kind], .fields = spans.fields};
	bool is_open = false, ok = true;
	parquet_rows_open(&rows, &p->x, kind, PARQUET_GROUP_ROWS);
	while (ok && parquet_rows_next(&rows)) {
		if (!is_open) {
			span_table_make(&spans, kind);
			table.n_fields = spans.n;
			table.sorted =
				SPAN_OWNERS; /* start is the first column behind the owners */
			ok = is_open = parquet_table_open(p, &file, &table);
		}
		if (is_open)
			span_write_group(p, &rows, &spans, &file);
		ok = ok && is_open && !file.failed;
	}
	parquet_rows_close(&rows);
	if (is_open)
		ok = parquet_table_close(p, &file) && ok;
	return ok && !p->x.failed;
}

bool parquet_spans_write(struct parquet *p)
{
	bool ok = true;
	p->values = hwy_array(PARQUET_GROUP_ROWS, sizeof *p->values);
	p->more = hwy_array(PARQUET_GROUP_ROWS, sizeof *p->more);
	p->is_null = hwy_array(PARQUET_GROUP_ROWS, sizeof *p->is_null);
	for (int kind = 0; kind < HWY_KINDS && ok; kind++) {
		uint64_t before = p->x.result->spans;
		ok = write_kind(p, kind);
		if (p->x.result->spans > before && kind != HWY_COUNTER &&
		    (!p->x.result->table || kind == HWY_KERNEL))
			p->x.result->table = hwy_kind_names[kind];
	}
	free(p->values);
	free(p->more);
	free(p->is_null);
	p->values = p->more = NULL;
	p->is_null = NULL;
	return ok;
}
