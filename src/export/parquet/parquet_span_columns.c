/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_span_columns.c - the columns of the CSV export, in its order, with '_' in place of
 * '-'; behind them the role of a call, the class of device work, and the id of the lane. A
 * counter's value is a double, and where it was recorded as a whole number that number stands in
 * "value_integer", too. */
#include "export/parquet/parquet_span_columns.h"

#include "trace/columns.h"

static const struct parquet_field owner_fields[] = {
	{"id", PARQUET_NUMBER, false},    {"pid", PARQUET_NUMBER, true},
	{"tid", PARQUET_NUMBER, true},    {"thread", PARQUET_TEXT, true},
	{"device", PARQUET_NUMBER, true}, {"context", PARQUET_NUMBER, true},
	{"stream", PARQUET_NUMBER, true}, {"lane", PARQUET_TEXT, false},
	{"domain", PARQUET_TEXT, true},
};
static const char *const shape_names[] = {
	"grid_x",        "grid_y",         "grid_z",          "block_x",          "block_y",
	"block_z",       "cluster_x",      "cluster_y",       "cluster_z",        "registers",
	"static_shared", "dynamic_shared", "executed_shared", "local_per_thread", "local_total"};
static const char *const symbol_names[] = {"demangled", "short", "mangled"};
enum {
	SHAPES = sizeof shape_names / sizeof *shape_names,
	SYMBOLS = sizeof symbol_names / sizeof *symbol_names,
};
_Static_assert(SPAN_OWNERS == sizeof owner_fields / sizeof *owner_fields, "as many fields");
_Static_assert(SHAPES == sizeof(struct hwy_shape) / sizeof(int64_t), "a name for each field");
_Static_assert(SYMBOLS == sizeof(struct hwy_symbol) / sizeof(int64_t), "a name for each field");

static void span_add_column(struct span_table *table, struct parquet_field field,
			    struct span_column column)
{
	char *name = table->names.names[table->n];
	snprintf(name, sizeof table->names.names[0], "%s", field.name);
	for (char *at = name; (at = strchr(at, '-'));)
		*at = '_';
	field.name = name;
	table->fields[table->n] = field;
	table->columns[table->n++] = column;
}

static struct parquet_field cell_field(enum hwy_col col)
{
	const struct hwy_column_info *info = &hwy_columns[col];
	bool is_text = info->meaning == HWY_MEANS_TEXT || info->meaning == HWY_MEANS_ENUM;
	return (struct parquet_field){info->name, is_text ? PARQUET_TEXT : PARQUET_NUMBER,
				      info->absence != HWY_ABSENT_NEVER};
}

static void span_add_value(struct span_table *table, int kind)
{
	if (kind != HWY_COUNTER) {
		span_add_column(table, cell_field(HWY_VALUE),
				(struct span_column){FROM_CELL, HWY_VALUE, 0});
		return;
	}
	span_add_column(table, (struct parquet_field){"value", PARQUET_REAL, false},
			(struct span_column){FROM_VALUE, HWY_VALUE, 0});
	span_add_column(table, (struct parquet_field){"value_integer", PARQUET_NUMBER, true},
			(struct span_column){FROM_WHOLE_VALUE, HWY_VALUE, 0});
}

static void add_columns_of(struct span_table *table, int kind, enum hwy_col col)
{
	struct parquet_field field = cell_field(col);
	struct span_column column = {FROM_CELL, col, 0};
	switch (col) {
	case HWY_SHAPE:
		for (unsigned i = 0; i < SHAPES; i++)
			span_add_column(
				table, (struct parquet_field){shape_names[i], PARQUET_NUMBER, true},
				(struct span_column){FROM_SHAPE, col, i});
		return;
	case HWY_SYMBOL:
		for (unsigned i = 0; i < SYMBOLS; i++)
			span_add_column(table,
					(struct parquet_field){symbol_names[i], PARQUET_TEXT, true},
					(struct span_column){FROM_SYMBOL, col, i});
		return;
	case HWY_VALUE: span_add_value(table, kind); return;
	case HWY_LINK: field.name = "call"; break;
	case HWY_CORR: column.source = FROM_CORRELATION; break;
	case HWY_START:
	case HWY_QUEUED:
	case HWY_SUBMITTED: column.source = FROM_TIME; break;
	case HWY_DUR: column.source = FROM_DURATION; break;
	case HWY_STACK:
		field.type = PARQUET_TEXT;
		column.source = FROM_STACK;
		break;
	case HWY_PAYLOAD:
		field.type = PARQUET_TEXT;
		column.source = FROM_PAYLOAD;
		break;
	default: break;
	}
	span_add_column(table, field, column);
}

void span_table_make(struct span_table *table, int kind)
{
	table->n = 0;
	for (unsigned i = 0; i < SPAN_OWNERS; i++)
		span_add_column(table, owner_fields[i], (struct span_column){FROM_ID + i, 0, 0});
	for (enum hwy_col col = 0; col < HWY_COLS; col++)
		if (hwy_kind_columns[kind] & HWY_COL_BIT(col))
			add_columns_of(table, kind, col);
	if (kind == HWY_API)
		span_add_column(table, (struct parquet_field){"role", PARQUET_TEXT, false},
				(struct span_column){FROM_ROLE, HWY_NAME, 0});
	if (HWY_DEVICE_KINDS & HWY_KIND_BIT(kind))
		span_add_column(table, (struct parquet_field){"class", PARQUET_TEXT, false},
				(struct span_column){FROM_CLASS, HWY_NAME, 0});
	span_add_column(table, (struct parquet_field){"lane_id", PARQUET_NUMBER, false},
			(struct span_column){FROM_LANE_ID, 0, 0});
}

void parquet_span_fields(int kind, struct parquet_field fields[PARQUET_MOST_FIELDS],
			 struct parquet_span_names *names, uint32_t *n)
{
	struct span_table table;
	span_table_make(&table, kind);
	*names = table.names;
	*n = table.n;
	for (uint32_t i = 0; i < table.n; i++) {
		fields[i] = table.fields[i];
		fields[i].name = names->names[i];
	}
}
