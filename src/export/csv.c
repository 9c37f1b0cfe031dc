/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - all spans with all columns, a file for each kind that occurs: api.csv, kernel.csv, …;
 * where ranks exchanged something and no spans are left out, messages.csv too (csv_messages.c).
 *
 * Columns: the span's id, who it belongs to (pid, tid, thread, device, stream, context, lane),
 * then every column of the kind by its name in the model. hwy_column_cell of trace/columns.h
 * says what a cell shows; a kernel's shape and names and a stack are spelled out here. A cell is
 * empty where the span has no value. Times are ns.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/csv_messages.h"
#include "trace/columns.h"

struct csv {
	struct export x;
	struct out out;
};

/* Yields the headings of a column that takes several columns in the CSV file, and of HWY_LINK. */
static const char *csv_heading(enum hwy_col col)
{
	switch (col) {
	case HWY_SHAPE:
		return "grid-x,grid-y,grid-z,block-x,block-y,block-z,cluster-x,cluster-y,cluster-z,"
		       "registers,static-shared,dynamic-shared,executed-shared,local-per-thread,"
		       "local-total";
	case HWY_SYMBOL: return "demangled,short,mangled";
	case HWY_LINK: return "call";
	default: return hwy_columns[col].name;
	}
}

static void write_heading(struct csv *c, int kind)
{
	out_literal(&c->out, "id,pid,tid,thread,device,context,stream,lane,domain");
	for (int col = 0; col < HWY_COLS; col++) {
		if (!(hwy_kind_columns[kind] & HWY_COL_BIT(col)))
			continue;
		out_char(&c->out, ',');
		out_z(&c->out, csv_heading((enum hwy_col)col));
	}
	out_char(&c->out, '\n');
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void csv_put_known(struct csv *c, int64_t value)
{
	if (value != HWY_NONE)
		out_int(&c->out, value);
}

static void csv_put_owner(struct csv *c, uint32_t index)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_lane *lane = &trace->lanes[index];
	const struct hwy_process *process = export_process(trace, lane->process);
	const struct hwy_thread *thread = export_thread(trace, lane->thread);
	const struct hwy_device *device = export_device(trace, lane->device);
	const struct hwy_stream *stream = export_stream(trace, lane->stream);
	csv_put_known(c, process ? process->pid : HWY_NONE);
	out_char(&c->out, ',');
	csv_put_known(c, thread ? thread->tid : HWY_NONE);
	out_char(&c->out, ',');
	out_csv(&c->out, hwy_text(trace, thread ? thread->name : 0));
	out_char(&c->out, ',');
	csv_put_known(c, device ? device->ordinal : HWY_NONE);
	out_char(&c->out, ',');
	csv_put_known(c, stream ? stream->context : HWY_NONE);
	out_char(&c->out, ',');
	csv_put_known(c, stream ? stream->number : HWY_NONE);
	out_char(&c->out, ',');
	out_z(&c->out, hwy_lane_type_names[lane->type]);
	out_char(&c->out, ',');
	out_csv(&c->out, hwy_text(trace, lane->name));
}

static void csv_put_shape(struct csv *c, const struct hwy_shape *shape)
{
	enum { FIELDS = sizeof *shape / sizeof(int64_t) };
	const int64_t *fields = (const int64_t *)(const void *)shape;
	for (int i = 0; i < FIELDS; i++) {
		if (i)
			out_char(&c->out, ',');
		if (fields)
			out_int(&c->out, fields[i]);
	}
}

static void csv_put_symbol(struct csv *c, const struct hwy_symbol *symbol)
{
	static const struct hwy_symbol none;
	symbol = symbol ? symbol : &none;
	out_csv(&c->out, hwy_text(c->x.trace, symbol->demangled));
	out_char(&c->out, ',');
	out_csv(&c->out, hwy_text(c->x.trace, symbol->shortname));
	out_char(&c->out, ',');
	out_csv(&c->out, hwy_text(c->x.trace, symbol->mangled));
}

/* Writes the functions of a stack, from the innermost to the outermost, with semicolons between
 * them. */
static void csv_put_stack(struct csv *c, int64_t stack)
{
	if (stack <= 0)
		return;
	out_char(&c->out, '"');
	for (bool first = true; hwy_ref_is_set(stack); first = false) {
		struct hwy_text name = export_text(&c->x, export_frame_name(&c->x, stack));
		if (!first)
			out_char(&c->out, ';');
		for (uint32_t i = 0; i < name.length; i++) {
			if (name.at[i] == '"')
				out_char(&c->out, '"');
			out_char(&c->out, name.at[i]);
		}
		stack = hwy_stack_caller(c->x.trace, stack);
	}
	out_char(&c->out, '"');
}

static void csv_put_cell(struct csv *c, const struct hwy_cell *cell)
{
	char text[24];
	switch (cell->type) {
	case HWY_CELL_NONE: break;
	case HWY_CELL_INT: out_int(&c->out, cell->number); break;
	case HWY_CELL_UINT:
		out_bytes(&c->out, text,
			  (size_t)snprintf(text, sizeof text, "%" PRIu64, (uint64_t)cell->number));
		break;
	case HWY_CELL_REAL: out_real(&c->out, cell->real); break;
	case HWY_CELL_TEXT: out_csv(&c->out, cell->text); break;
	}
}

static void csv_put_column(struct csv *c, const struct hwy_strip *strip, uint32_t row,
			   enum hwy_col col)
{
	int64_t stored =
		col == HWY_CORR ? export_corr(&c->x, strip, row) : hwy_get(strip, col, row);
	int64_t payload_type = col == HWY_PAYLOAD ? hwy_get(strip, HWY_PAYLOAD_TYPE, row) : 0;
	struct hwy_cell cell;
	switch (col) {
	case HWY_SHAPE: csv_put_shape(c, hwy_get_shape(c->x.trace, strip, row)); break;
	case HWY_SYMBOL: csv_put_symbol(c, hwy_get_symbol(c->x.trace, strip, row)); break;
	case HWY_STACK: csv_put_stack(c, stored); break;
	default:
		cell = hwy_column_cell(c->x.trace, strip, col, stored, payload_type);
		csv_put_cell(c, &cell);
	}
}

/* ---- files ----------------------------------------------------------------------------------- */

static void write_strip(struct csv *c, const struct hwy_strip *strip)
{
	struct export_rows rows = export_rows(&c->x, strip, UINT64_MAX);
	while (export_next(&rows) && !c->out.error) {
		out_int(&c->out, (int64_t)strip->first + rows.row);
		out_char(&c->out, ',');
		csv_put_owner(c, strip->lane);
		for (int col = 0; col < HWY_COLS; col++) {
			if (!(hwy_kind_columns[strip->kind] & HWY_COL_BIT(col)))
				continue;
			out_char(&c->out, ',');
			csv_put_column(c, strip, rows.row, (enum hwy_col)col);
		}
		out_char(&c->out, '\n');
		export_wrote(&c->x);
	}
}

/* The number of the file messages.csv, behind those of the kinds. */
enum { CSV_MESSAGES = HWY_KINDS, CSV_FILES };

static bool has_file(const struct csv *c, int kind)
{
	if (kind == CSV_MESSAGES)
		return c->x.trace->n_messages > 0 && !export_is_cut(&c->x);
	for (uint32_t s = 0; s < c->x.trace->n_strips; s++)
		if ((int)c->x.trace->strips[s].kind == kind &&
		    export_keeps_strip(&c->x, &c->x.trace->strips[s]))
			return true;
	return false;
}

static void write_spans(struct csv *c, int kind)
{
	write_heading(c, kind);
	for (uint32_t s = 0; s < c->x.trace->n_strips && !c->x.failed && !c->out.error; s++)
		if ((int)c->x.trace->strips[s].kind == kind)
			write_strip(c, &c->x.trace->strips[s]);
}

/* Writes one file. It stays announced as temporary (base/progress.h) until export_csv is done
 * with all. */
static bool write_file(struct csv *c, int number, const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return hwy_fail(c->x.err, "%s: %s", c->x.options->target, hwy_strerror(errno));
	hwy_temporary(c->x.progress, name, true);
	out_open(&c->out, file, false);
	if (number == CSV_MESSAGES)
		csv_messages_write(&c->out, c->x.trace);
	else
		write_spans(c, number);
	bool ok = out_close(&c->out, c->x.options->target, c->x.err) && !c->x.failed;
	if (fclose(file) != 0 && ok)
		ok = hwy_fail(c->x.err, "%s: %s", c->x.options->target, hwy_strerror(errno));
	return ok;
}

bool export_csv(struct hwy_trace *trace, const char *path, const struct export_options *options,
		const struct hwy_progress *progress, struct export_result *result,
		struct hwy_err *err)
{
	struct csv c = {0};
	char *names[CSV_FILES] = {0};
	if (!export_open(&c.x, trace, options, progress, result, err))
		return false;
	bool ok = true;
	for (int i = 0; i < CSV_FILES && ok; i++) {
		if (!has_file(&c, i))
			continue;
		const char *name = i == CSV_MESSAGES ? "messages" : hwy_kind_names[i];
		size_t size = strlen(path) + strlen(name) + 8;
		names[i] = hwy_alloc(size);
		snprintf(names[i], size, "%s/%s.csv", path, name);
		ok = write_file(&c, i, names[i]);
	}
	for (int i = 0; i < CSV_FILES; i++) {
		if (names[i] && !ok)
			remove(names[i]);
		if (names[i])
			hwy_temporary(progress, names[i], false);
		free(names[i]);
	}
	export_close(&c.x);
	return ok;
}
