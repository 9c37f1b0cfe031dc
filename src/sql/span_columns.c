/* SPDX-License-Identifier: Apache-2.0 */
/* span_columns.c - see span_columns.h. The order of a table's columns: those of the CSV export
 * in its order (docs/export.md), then what a query needs and a CSV file does not have: the ids
 * that join tables, the end, the step, the role, the class. */
#include "sql/span_columns.h"

#include <stdio.h>

#include "base/search.h"

static const char *const kind_abouts[HWY_KINDS] = {
	[HWY_API] = "calls into the vendor's library (CUDA, HIP, OpenCL), on threads",
	[HWY_KERNEL] = "kernels, one row a launch",
	[HWY_COPY] = "copies by the device; migrations of unified memory too (cause is then set)",
	[HWY_FILL] = "memsets by the device",
	[HWY_GRAPH] = "launches of whole graphs whose nodes were not recorded",
	[HWY_SYNC] = "waits as the driver recorded them; the calls that wait are in api",
	[HWY_EVENT] = "events recorded on streams",
	[HWY_RANGE] = "NVTX ranges and annotations of frameworks",
	[HWY_OP] = "operators of a framework",
	[HWY_CALL] = "calls of a library (cuBLAS, MPI …), and traced functions of the program",
	[HWY_OS] = "calls into the operating system's libraries",
	[HWY_STATE] = "what a thread did: running on a CPU, or why it was not",
	[HWY_MEMORY] = "allocations and releases",
	[HWY_SAMPLE] = "where a thread was at one moment",
	[HWY_COUNTER] = "values of counters, each from its start on; domain is the counter's name",
	[HWY_OVERHEAD] = "time that the profiler or the vendor's library took for itself",
};

static const struct sql_column shape_columns[] = {
	{"grid_x", SQL_NUMBER, .description = "blocks of the grid"},
	{"grid_y", SQL_NUMBER, .description = "blocks of the grid"},
	{"grid_z", SQL_NUMBER, .description = "blocks of the grid"},
	{"block_x", SQL_NUMBER, .description = "threads of a block"},
	{"block_y", SQL_NUMBER, .description = "threads of a block"},
	{"block_z", SQL_NUMBER, .description = "threads of a block"},
	{"cluster_x", SQL_NUMBER, .description = "blocks of a cluster; 0: none"},
	{"cluster_y", SQL_NUMBER, .description = "blocks of a cluster; 0: none"},
	{"cluster_z", SQL_NUMBER, .description = "blocks of a cluster; 0: none"},
	{"registers", SQL_NUMBER, .description = "registers of a thread"},
	{"static_shared", SQL_BYTES,
	 .description = "shared memory of a block, fixed when it was compiled"},
	{"dynamic_shared", SQL_BYTES,
	 .description = "shared memory of a block, asked for by the launch"},
	{"executed_shared", SQL_BYTES,
	 .description = "shared memory of a multiprocessor, as the driver set it"},
	{"local_per_thread", SQL_BYTES, .description = "local memory of a thread"},
	{"local_total", SQL_BYTES, .description = "local memory of the launch"},
};
static const struct sql_column symbol_columns[] = {
	{"demangled", SQL_TEXT, .description = "the kernel's name with its types"},
	{"short", SQL_TEXT, .description = "the kernel's name without types and parameters"},
	{"mangled", SQL_TEXT, .description = "the kernel's name as the linker knows it"},
};
static const char *const class_names[HWY_CLASSES] = {"compute", "comm", "memory"};

/* ---- making the tables ----------------------------------------------------------------------- */

static void add_column(struct span_table *table, struct hwy_arena *arena, struct span_column column)
{
	enum { MOST = 128 };
	if (!table->columns) {
		table->columns = hwy_arena_array(arena, MOST, sizeof *table->columns);
		table->cap = MOST;
	}
	assert(table->n < table->cap);
	table->columns[table->n++] = column;
}

static enum sql_means means_of(const struct hwy_column_info *info)
{
	switch (info->meaning) {
	case HWY_MEANS_TIME: return SQL_TIME;
	case HWY_MEANS_DURATION: return SQL_DURATION;
	case HWY_MEANS_BYTES: return SQL_BYTES;
	case HWY_MEANS_TEXT:
	case HWY_MEANS_ENUM: return SQL_TEXT;
	case HWY_MEANS_SPAN: return SQL_ROW;
	default: return SQL_NUMBER;
	}
}

static const char *sql_name(const char *name, struct hwy_arena *arena)
{
	char *copy = hwy_arena_text(arena, name, strlen(name));
	for (char *c = copy; *c; c++)
		*c = (char)(*c == '-' ? '_' : *c);
	return copy;
}

static void add_model_column(struct span_table *table, struct hwy_arena *arena, enum hwy_col col)
{
	const struct hwy_column_info *info = &hwy_columns[col];
	uint64_t bit = HWY_COL_BIT(col);
	if (col == HWY_SHAPE) {
		for (uint32_t i = 0; i < sizeof shape_columns / sizeof *shape_columns; i++)
			add_column(table, arena,
				   (struct span_column){shape_columns[i], SPAN_SHAPE, i, bit});
	} else if (col == HWY_SYMBOL) {
		for (uint32_t i = 0; i < sizeof symbol_columns / sizeof *symbol_columns; i++)
			add_column(table, arena,
				   (struct span_column){symbol_columns[i], SPAN_SYMBOL, i, bit});
	} else if (col == HWY_STACK) {
		struct sql_column as = {
			"stack", SQL_TEXT,
			.description =
				"the functions that the span was called from, the innermost first"};
		add_column(table, arena, (struct span_column){as, SPAN_STACK, 0, bit});
	} else {
		struct sql_column as = {sql_name(info->name, arena), means_of(info),
					.description = info->description};
		as.name = col == HWY_LINK ? "call" : as.name;
		as.is_untyped = info->meaning == HWY_MEANS_TYPED;
		uint64_t more = col == HWY_PAYLOAD ? HWY_COL_BIT(HWY_PAYLOAD_TYPE)
				: col == HWY_CORR  ? HWY_COL_BIT(HWY_LINK)
						   : 0;
		add_column(table, arena, (struct span_column){as, SPAN_MODEL, col, bit | more});
	}
}

/* What a CSV file does not have. */
static void add_derived_columns(struct span_table *table, struct hwy_arena *arena, uint64_t columns)
{
	const uint64_t name = HWY_COL_BIT(HWY_NAME), start = HWY_COL_BIT(HWY_START);
	const struct {
		bool is_wanted;
		struct span_column column;
	} derived[] = {
		{true,
		 {{"end", SQL_TIME, .description = "when the span ends: start + duration"},
		  SPAN_END,
		  0,
		  start | HWY_COL_BIT(HWY_DUR)}},
		{true,
		 {{"step", SQL_ROW,
		   .description =
			   "steps.id: the step of the span's process in which it starts; of device work by the "
			   "step's time on the device, of all else by its time on the CPU",
		   .is_hidden = true},
		  SPAN_STEP,
		  0,
		  start}},
		{(columns & name) != 0,
		 {{"name_id", SQL_NUMBER,
		   .description = "a number that spans of the same name have in common"},
		  SPAN_NAME_ID,
		  0,
		  name}},
		{(columns & HWY_COL_BIT(HWY_STACK)) != 0,
		 {{"stack_id", SQL_ROW, .description = "stacks.id"},
		  SPAN_STACK_ID,
		  0,
		  HWY_COL_BIT(HWY_STACK)}},
		{(table->kinds & HWY_KIND_BIT(HWY_API)) != 0,
		 {{"role", SQL_TEXT,
		   .description = "api: what the call does: launch, copy, sync, alloc …"},
		  SPAN_ROLE,
		  0,
		  name}},
		{(table->kinds & HWY_DEVICE_KINDS) != 0,
		 {{"class", SQL_TEXT, .description = "device work: compute, comm or memory"},
		  SPAN_CLASS,
		  0,
		  name}},
	};
	for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
		if (derived[i].is_wanted)
			add_column(table, arena, derived[i].column);
	for (uint32_t i = LANE_RANK; i < LANE_FACTS; i++)
		add_column(table, arena, (struct span_column){lane_facts[i], SPAN_LANE, i, 0});
}

static void fill_table(struct span_table *table, struct hwy_arena *arena, uint64_t columns)
{
	struct sql_column id = {"id", SQL_ROW, .description = "the span's number in the recording"};
	struct sql_column kind = {"kind", SQL_TEXT,
				  .description = "what the span is: kernel, copy, api, range …"};
	add_column(table, arena, (struct span_column){id, SPAN_ID, 0, 0});
	for (uint32_t i = 0; i < LANE_RANK; i++)
		add_column(table, arena, (struct span_column){lane_facts[i], SPAN_LANE, i, 0});
	for (int col = 0; col < HWY_COLS; col++)
		if (columns & HWY_COL_BIT(col))
			add_model_column(table, arena, (enum hwy_col)col);
	add_column(table, arena, (struct span_column){kind, SPAN_KIND, 0, 0});
	add_derived_columns(table, arena, columns);
}

void span_tables_make(struct span_table tables[SPAN_TABLES], struct hwy_arena *arena)
{
	const uint64_t common = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) |
				HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_LINK) |
				HWY_COL_BIT(HWY_BYTES) | HWY_COL_BIT(HWY_STACK) |
				HWY_COL_BIT(HWY_FLAGS);
	for (int kind = 0; kind < HWY_KINDS; kind++) {
		tables[kind] = (struct span_table){.name = hwy_kind_names[kind],
						   .about = kind_abouts[kind],
						   .kinds = HWY_KIND_BIT(kind)};
		fill_table(&tables[kind], arena, hwy_kind_columns[kind]);
	}
	tables[HWY_KINDS] = (struct span_table){
		.name = "spans",
		.about = "spans of all kinds, with the columns that most of them have",
		.kinds = HWY_KIND_BIT(HWY_KINDS) - 1};
	fill_table(&tables[HWY_KINDS], arena, common);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The correlation id of work is its call's, which need not be in memory. */
static struct hwy_cell correlation(struct sql_source *source, const struct hwy_strip *strip,
				   uint32_t row)
{
	uint32_t call, call_row;
	int64_t value = hwy_get(strip, HWY_CORR, row);
	if (hwy_get_index(strip, HWY_LINK, row, &call)) {
		const struct hwy_strip *calls = hwy_strip_of(source->trace, call, &call_row);
		uint32_t index = (uint32_t)(calls - source->trace->strips);
		if (!hwy_peek_near(source->trace, &source->peeks, index, HWY_CORR, call_row, &value,
				   &source->err))
			source->has_failed = true;
	}
	return value ? sql_int(value) : sql_none();
}

static struct hwy_cell model_cell(struct sql_source *source, const struct hwy_strip *strip,
				  enum hwy_col col, uint32_t row)
{
	if (col == HWY_START || col == HWY_DUR) /* the columns that most queries read */
		return sql_int(hwy_get(strip, col, row));
	if (col == HWY_NAME)
		return sql_text(hwy_text(source->trace, hwy_get(strip, col, row)));
	if (col == HWY_CORR)
		return correlation(source, strip, row);
	int64_t payload_type = col == HWY_PAYLOAD ? hwy_get(strip, HWY_PAYLOAD_TYPE, row) : 0;
	struct hwy_cell cell =
		hwy_column_cell(source->trace, strip, col, hwy_get(strip, col, row), payload_type);
	return cell.type == HWY_CELL_TEXT ? sql_text(cell.text) : cell;
}

/* The steps of one process do not overlap on the device, and hardly on the CPU: the last that
 * begins at or before the span is its step, if the span starts before that step ends. */
static struct hwy_cell step_cell(const struct sql_source *source, const struct hwy_strip *strip,
				 uint32_t row)
{
	bool on_device = (HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) != 0;
	int64_t time = hwy_get(strip, HWY_START, row);
	int64_t process = lane_process(source->trace, strip->lane);
	uint32_t wanted = process == HWY_NONE ? FLOW_NO_PROCESS : (uint32_t)process;
	const struct sql_step *steps = source->steps;
	if (source->n_steps && steps[source->n_steps - 1].process == FLOW_NO_PROCESS)
		wanted = FLOW_NO_PROCESS;
	uint32_t first = HWY_FIRST(i, 0u, source->n_steps, steps[i].process >= wanted);
	uint32_t end = HWY_FIRST(i, 0u, source->n_steps, steps[i].process > wanted);
	uint32_t after = HWY_FIRST(i, first, end,
				   (on_device ? steps[i].device.from : steps[i].cpu.from) > time);
	if (after == first)
		return sql_none();
	const struct sql_step *step = &steps[after - 1];
	return time < (on_device ? step->device.to : step->cpu.to) ? sql_int(after - 1)
								   : sql_none();
}

static struct hwy_cell symbol_cell(const struct hwy_trace *trace, const struct hwy_symbol *symbol,
				   uint32_t part)
{
	if (!symbol)
		return sql_none();
	const int64_t names[] = {symbol->demangled, symbol->shortname, symbol->mangled};
	return sql_text(hwy_text(trace, names[part]));
}

static struct hwy_cell class_cell(struct hwy_trace *trace, const struct hwy_strip *strip,
				  uint32_t row)
{
	if (!(HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS))
		return sql_none();
	int64_t name = hwy_get(strip, HWY_NAME, row);
	return sql_textz(class_names[hwy_class(trace, (enum hwy_kind)strip->kind, name)]);
}

static struct hwy_cell role_cell(struct hwy_trace *trace, const struct hwy_strip *strip,
				 uint32_t row)
{
	if (strip->kind != HWY_API)
		return sql_none();
	return sql_textz(
		hwy_role_names[HWY_ROLE_OF(hwy_role(trace, hwy_get(strip, HWY_NAME, row)))]);
}

static struct hwy_cell shape_cell(const struct hwy_shape *shape, uint32_t part)
{
	return shape ? sql_int(((const int64_t *)(const void *)shape)[part]) : sql_none();
}

struct hwy_cell span_cell(struct sql_source *source, const struct span_column *column,
			  const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_trace *trace = source->trace;
	uint32_t index;
	switch (column->what) {
	case SPAN_ID: return sql_int((int64_t)strip->first + row);
	case SPAN_KIND: return sql_textz(hwy_kind_names[strip->kind]);
	case SPAN_LANE: return lane_fact(trace, strip->lane, (enum lane_fact)column->part);
	case SPAN_MODEL: return model_cell(source, strip, (enum hwy_col)column->part, row);
	case SPAN_SHAPE: return shape_cell(hwy_get_shape(trace, strip, row), column->part);
	case SPAN_SYMBOL:
		return symbol_cell(trace, hwy_get_symbol(trace, strip, row), column->part);
	case SPAN_STACK_ID:
		return hwy_get_index(strip, HWY_STACK, row, &index) ? sql_int(index) : sql_none();
	case SPAN_END: return sql_int(hwy_end(strip, row));
	case SPAN_NAME_ID: return sql_int(hwy_get(strip, HWY_NAME, row));
	case SPAN_STEP: return step_cell(source, strip, row);
	case SPAN_ROLE: return role_cell(trace, strip, row);
	case SPAN_CLASS: return class_cell(trace, strip, row);
	case SPAN_STACK: break;
	}
	return sql_none();
}

void span_stack_result(sqlite3_context *context, const struct hwy_trace *trace, int64_t stack)
{
	if (!hwy_ref_is_set(stack))
		return;
	sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
	for (bool is_first = true; hwy_ref_is_set(stack); is_first = false) {
		const struct hwy_frame *frame = hwy_stack_frame(trace, stack);
		struct hwy_text function = hwy_text(trace, frame->function);
		if (!is_first)
			sqlite3_str_appendchar(text, 1, ';');
		uint32_t length =
			function.length < SQL_LONGEST_TEXT ? function.length : SQL_LONGEST_TEXT;
		if (length)
			sqlite3_str_append(text, function.at, (int)length);
		else
			sqlite3_str_appendf(text, "0x%llx", (unsigned long long)frame->address);
		stack = hwy_stack_caller(trace, stack);
	}
	int rc = sqlite3_str_errcode(text), total = sqlite3_str_length(text);
	char *whole = sqlite3_str_finish(text);
	if (rc != SQLITE_OK)
		sqlite3_result_error_code(context, rc);
	else
		sqlite3_result_text(context, whole, total, sqlite3_free);
	if (rc != SQLITE_OK)
		sqlite3_free(whole);
}
