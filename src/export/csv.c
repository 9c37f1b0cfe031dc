/* csv.c - all spans with all columns, a file for each kind that occurs: api.csv, kernel.csv, …
 *
 * Columns: the span's id, who it belongs to (pid, tid, thread, device, stream, context, lane), then every
 * column of the kind by its name in the model, ids resolved: texts as texts, a kernel's shape and names and a
 * stack spelled out. A cell is empty where the value is not known or 0 means none. Times are ns.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/export_internal.h"
#include "export/out.h"

struct csv {
	struct export x;
	struct out out;
};

/* Columns that say the same again: a link is the call's id, given as 'call'. */
static const struct {
	enum hwy_col col;
	const char *names;
} spelled[] = {
	{HWY_SHAPE,
	 "grid-x,grid-y,grid-z,block-x,block-y,block-z,cluster-x,cluster-y,cluster-z,registers,"
	 "static-shared,dynamic-shared,executed-shared,local-per-thread,local-total"},
	{HWY_SYMBOL, "demangled,short,mangled"},
	{HWY_LINK, "call"},
};

static const char *heading(enum hwy_col col)
{
	for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
		if (spelled[i].col == col)
			return spelled[i].names;
	return hwy_col_names[col];
}

static void write_heading(struct csv *c, int kind)
{
	out_literal(&c->out, "id,pid,tid,thread,device,context,stream,lane,domain");
	for (int col = 0; col < HWY_COLS; col++) {
		if (!(hwy_kind_columns[kind] & HWY_COL_BIT(col)))
			continue;
		out_char(&c->out, ',');
		out_z(&c->out, heading((enum hwy_col)col));
	}
	out_char(&c->out, '\n');
}

/* ---- cells ----------------------------------------------------------------------------------------- */

static void csv_put_known(struct csv *c, int64_t value)
{
	if (value != HWY_NONE)
		out_int(&c->out, value);
}

static void put_who(struct csv *c, uint32_t index)
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

static void csv_put_shape(struct csv *c, int64_t index)
{
	enum { FIELDS = sizeof(struct hwy_shape) / sizeof(int64_t) };
	const int64_t *fields =
		index > 0 && index <= c->x.trace->n_shapes
			? (const int64_t *)(const void *)&c->x.trace->shapes[index - 1]
			: NULL;
	for (int i = 0; i < FIELDS; i++) {
		if (i)
			out_char(&c->out, ',');
		if (fields)
			out_int(&c->out, fields[i]);
	}
}

static void put_symbol(struct csv *c, int64_t index)
{
	struct hwy_symbol none = {0};
	const struct hwy_symbol *symbol = index > 0 && index <= c->x.trace->n_symbols
						  ? &c->x.trace->symbols[index - 1]
						  : &none;
	out_csv(&c->out, hwy_text(c->x.trace, symbol->demangled));
	out_char(&c->out, ',');
	out_csv(&c->out, hwy_text(c->x.trace, symbol->shortname));
	out_char(&c->out, ',');
	out_csv(&c->out, hwy_text(c->x.trace, symbol->mangled));
}

/* From the leaf to the root, between semicolons. */
static void csv_put_stack(struct csv *c, int64_t stack)
{
	if (stack <= 0)
		return;
	out_char(&c->out, '"');
	for (bool first = true; stack > 0; first = false) {
		const struct hwy_stack *node = &c->x.trace->stacks[stack - 1];
		struct hwy_text name = export_text(&c->x, export_frame_name(&c->x, stack));
		if (!first)
			out_char(&c->out, ';');
		for (uint32_t i = 0; i < name.length; i++) {
			if (name.at[i] == '"')
				out_char(&c->out, '"');
			out_char(&c->out, name.at[i]);
		}
		stack = node->parent < stack ? node->parent : 0;
	}
	out_char(&c->out, '"');
}

static void put_word(struct csv *c, const char *const *words, int64_t n, int64_t value)
{
	if (value > 0 && value < n)
		out_z(&c->out, words[value]);
}

static void csv_put_number(struct csv *c, const struct hwy_strip *strip, uint32_t row,
			   int64_t value)
{
	int64_t type = strip->kind == HWY_COUNTER ? c->x.trace->lanes[strip->lane].value_type
						  : hwy_get(strip, HWY_PAYLOAD_TYPE, row);
	double real;
	memcpy(&real, &value, sizeof real);
	if (type == HWY_PAYLOAD_DOUBLE || type == HWY_PAYLOAD_FLOAT)
		out_real(&c->out, real);
	else if (type == HWY_PAYLOAD_JSON || type == HWY_PAYLOAD_BINARY)
		out_csv(&c->out, hwy_text(c->x.trace, value));
	else if (strip->kind == HWY_COUNTER || strip->kind == HWY_FILL || type)
		out_int(&c->out, value);
}

/* Values that are kept plus one. */
static bool is_plus_one(enum hwy_col col)
{
	switch (col) {
	case HWY_LINK:
	case HWY_CHANNEL:
	case HWY_EVENT_ID:
	case HWY_EVENT_SYNC:
	case HWY_SEQUENCE:
	case HWY_CPU:
	case HWY_SRC_CONTEXT:
	case HWY_DST_CONTEXT:
	case HWY_PARENT: return true;
	default: return false;
	}
}

static void put_reference(struct csv *c, enum hwy_col col, int64_t value)
{
	const struct hwy_trace *trace = c->x.trace;
	const struct hwy_device *device = export_device(trace, value - 1);
	const struct hwy_stream *stream = export_stream(trace, value - 1);
	const struct hwy_thread *thread = export_thread(trace, value - 1);
	if (col == HWY_WAITED)
		csv_put_known(c, stream ? stream->number : HWY_NONE);
	else if (col == HWY_END_THREAD)
		csv_put_known(c, thread ? thread->tid : HWY_NONE);
	else
		csv_put_known(c, device ? device->ordinal : HWY_NONE);
}

static void csv_put_cell(struct csv *c, const struct hwy_strip *strip, uint32_t row,
			 enum hwy_col col)
{
	static const char *const operations[] = {"", "allocate", "release"};
	static const char *const styles[] = {"", "push-pop", "start-end", "mark"};
	int64_t value = hwy_get(strip, col, row);
	switch (col) {
	case HWY_START:
	case HWY_DUR:
	case HWY_RESULT: out_int(&c->out, value); break;
	case HWY_CORR:
		value = export_corr(&c->x, strip, row);
		if (value)
			out_int(&c->out, value);
		break;
	case HWY_NAME:
	case HWY_CATEGORY:
	case HWY_ARGS:
	case HWY_REASON: out_csv(&c->out, hwy_text(c->x.trace, value)); break;
	case HWY_SHAPE: csv_put_shape(c, value); break;
	case HWY_SYMBOL: put_symbol(c, value); break;
	case HWY_STACK: csv_put_stack(c, value); break;
	case HWY_DIRECTION: put_word(c, hwy_direction_names, HWY_DIRECTIONS, value); break;
	case HWY_SRC_MEMORY:
	case HWY_DST_MEMORY: put_word(c, hwy_memory_names, HWY_MEMORY_KINDS, value); break;
	case HWY_SYNC_TYPE: put_word(c, hwy_sync_names, HWY_SYNC_TYPES, value); break;
	case HWY_OPERATION: put_word(c, operations, 3, value); break;
	case HWY_STYLE: put_word(c, styles, 4, value); break;
	case HWY_VALUE:
	case HWY_PAYLOAD: csv_put_number(c, strip, row, value); break;
	case HWY_SRC_DEVICE:
	case HWY_DST_DEVICE:
	case HWY_WAITED:
	case HWY_END_THREAD: put_reference(c, col, value); break;
	case HWY_COLOR:
		if (value)
			out_int(&c->out, value & 0xffffffff);
		break;
	default:
		if (value)
			out_int(&c->out, is_plus_one(col) ? export_add(value, -1) : value);
	}
}

/* ---- files ----------------------------------------------------------------------------------------- */

static void write_strip(struct csv *c, const struct hwy_strip *strip)
{
	struct export_rows rows = export_rows(&c->x, strip, UINT64_MAX);
	while (export_next(&rows) && !c->out.error) {
		out_int(&c->out, (int64_t)strip->first + rows.row);
		out_char(&c->out, ',');
		put_who(c, strip->lane);
		for (int col = 0; col < HWY_COLS; col++) {
			if (!(hwy_kind_columns[strip->kind] & HWY_COL_BIT(col)))
				continue;
			out_char(&c->out, ',');
			csv_put_cell(c, strip, rows.row, (enum hwy_col)col);
		}
		out_char(&c->out, '\n');
		export_wrote(&c->x);
	}
}

static bool has_kind(const struct csv *c, int kind)
{
	for (uint32_t s = 0; s < c->x.trace->n_strips; s++)
		if ((int)c->x.trace->strips[s].kind == kind &&
		    export_keeps_strip(&c->x, &c->x.trace->strips[s]))
			return true;
	return false;
}

/* 'name' stays with the listener until the folder has its real name. */
static bool write_kind(struct csv *c, int kind, const char *name)
{
	FILE *file = fopen(name, "wx");
	if (!file)
		return hwy_fail(c->x.err, "%s: %s", c->x.options->target, strerror(errno));
	hwy_temporary(c->x.progress, name, true);
	out_open(&c->out, file, false);
	write_heading(c, kind);
	for (uint32_t s = 0; s < c->x.trace->n_strips && !c->x.failed && !c->out.error; s++)
		if ((int)c->x.trace->strips[s].kind == kind)
			write_strip(c, &c->x.trace->strips[s]);
	bool ok = out_close(&c->out, c->x.options->target, c->x.err) && !c->x.failed;
	if (fclose(file) != 0 && ok)
		ok = hwy_fail(c->x.err, "%s: %s", c->x.options->target, strerror(errno));
	return ok;
}

bool export_csv(struct hwy_trace *trace, const char *path, const struct export_options *options,
		const struct hwy_progress *progress, struct export_result *result,
		struct hwy_err *err)
{
	struct csv c = {0};
	char *names[HWY_KINDS] = {0};
	if (!export_open(&c.x, trace, options, progress, result, err))
		return false;
	bool ok = true;
	for (int kind = 0; kind < HWY_KINDS && ok; kind++) {
		if (!has_kind(&c, kind))
			continue;
		size_t size = strlen(path) + strlen(hwy_kind_names[kind]) + 8;
		names[kind] = hwy_alloc(size);
		snprintf(names[kind], size, "%s/%s.csv", path, hwy_kind_names[kind]);
		ok = write_kind(&c, kind, names[kind]);
	}
	for (int kind = 0; kind < HWY_KINDS; kind++) {
		if (names[kind] && !ok)
			remove(names[kind]);
		if (names[kind])
			hwy_temporary(progress, names[kind], false);
		free(names[kind]);
	}
	export_close(&c.x);
	return ok;
}
