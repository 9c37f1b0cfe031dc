/* SPDX-License-Identifier: Apache-2.0 */
/* span_table.c - the virtual tables of spans: which constraints of a query are used to skip
 * spans, and in which order they come.
 *
 * Used are: id, start, end and lane_id compared with numbers; name = 'text'; and everything that
 * is the same for all spans of a lane (pid, tid, device, stream, rank, kind …) = value. SQLite
 * checks each row again, so that a constraint whose value is of another type than the column may
 * be left out of the filter: rules of SQL about types stay SQLite's business.
 *
 * The plan that xBestIndex makes for xFilter is a text, "USED ORDER;VALUES": the columns that
 * are read, as hexadecimal bits of the table's columns; a column's number and 'u' or 'd' for
 * each term of the order; a column's number and '=', '<' or '>' for each value that xFilter
 * gets.
 */
#include <stdlib.h>

#include "sql/span_rows.h"

struct span_module { /* what xConnect gets */
	struct sql_source *source;
	const struct span_table *table;
};
struct span_vtab {
	sqlite3_vtab base;
	struct sql_source *source;
	const struct span_table *table;
	uint64_t rows;
	uint32_t strips;
};
struct span_cursor {
	sqlite3_vtab_cursor base;
	struct span_rows rows;
};

static int span_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **vtab, char **message)
{
	const struct span_module *module = aux;
	const struct hwy_trace *trace = module->source->trace;
	struct hwy_bytes text = {0};
	(void)argc, (void)argv, (void)message;
	span_table_declare(module->table, &text);
	hwy_bytes_put_byte(&text, 0);
	int rc = sqlite3_declare_vtab(db, (const char *)text.bytes);
	hwy_bytes_free(&text);
	if (rc != SQLITE_OK)
		return rc;
	struct span_vtab *spans = hwy_zalloc(sizeof *spans);
	spans->source = module->source;
	spans->table = module->table;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (module->table->kinds & HWY_KIND_BIT(trace->strips[s].kind)) {
			spans->rows += trace->strips[s].rows;
			spans->strips++;
		}
	*vtab = &spans->base;
	return SQLITE_OK;
}

static int span_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* How a constraint can be used: '=', '<' or '>' as sql_bounds_cut takes them, or 0: not at all. */
static char usable_as(const struct span_column *column, unsigned char op)
{
	char letter = 0;
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: letter = '='; break;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE: letter = '<'; break;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE: letter = '>'; break;
	default: return 0;
	}
	bool is_range = column->what == SPAN_ID || column->what == SPAN_END ||
			(column->what == SPAN_MODEL && column->part == HWY_START) ||
			(column->what == SPAN_LANE && column->part == LANE_ID);
	bool is_equal = column->what == SPAN_KIND || column->what == SPAN_NAME_ID ||
			column->what == SPAN_LANE ||
			(column->what == SPAN_MODEL && column->part == HWY_NAME);
	return is_range || (is_equal && letter == '=') ? letter : 0;
}

/* The share of the rows that is left behind a constraint, as a guess. */
static double share_left(const struct span_vtab *vtab, const struct span_column *column,
			 char letter)
{
	if (column->what == SPAN_ID && letter == '=')
		return 0;
	if (column->what == SPAN_MODEL && column->part == HWY_NAME)
		return 0.1; /* most rows are looked at all the same */
	if (column->what == SPAN_LANE && column->part == LANE_ID)
		return 1 / (vtab->strips + 1.0);
	if (column->what == SPAN_LANE || column->what == SPAN_KIND)
		return 0.25;
	return letter == '=' ? 0.001 : 0.1;
}

static bool is_binary(sqlite3_index_info *info, int i, const struct span_column *column)
{
	return column->as.means != SQL_TEXT ||
	       strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

/* Whether rows need only come in groups of equal ones, in any order: for GROUP BY and DISTINCT.
 * Versions of SQLite before 3.38 do not tell: the rows are sorted then, which serves as well. */
static bool wants_groups(sqlite3_index_info *info)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	int distinct = sqlite3_vtab_distinct(info);
	return distinct == 1 || distinct == 2;
#else
	(void)info;
	return false;
#endif
}

/* Adds the order in which the rows are to come to the plan, where it can be had: "COLUMN LETTER"
 * for each term, 'u' or 'd' for up or down. Rows of a GROUP BY may come in any order that keeps
 * equal ones together, so that a name may stand before other terms. */
static void plan_order(const struct span_vtab *vtab, sqlite3_index_info *info, sqlite3_str *plan)
{
	bool is_grouped = wants_groups(info), has_name = false;
	if (info->nOrderBy > SPAN_MOST_KEYS)
		return;
	for (int i = 0; i < info->nOrderBy; i++) {
		int index = info->aOrderBy[i].iColumn < 0 ? 0 : info->aOrderBy[i].iColumn;
		const struct span_column *column = &vtab->table->columns[index];
		bool is_name = column->what == SPAN_MODEL && column->part == HWY_NAME;
		bool is_id =
			column->what == SPAN_ID && info->nOrderBy == 1 && !info->aOrderBy[i].desc;
		bool is_shared = column->what == SPAN_LANE || column->what == SPAN_KIND;
		if ((has_name && !is_grouped) || !(is_name || is_id || is_shared))
			return;
		has_name |= is_name;
	}
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].iColumn > 0)
			sqlite3_str_appendf(plan, "%d%c", info->aOrderBy[i].iColumn,
					    info->aOrderBy[i].desc ? 'd' : 'u');
	info->orderByConsumed = info->nOrderBy > 0;
}

static int span_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct span_vtab *vtab = (struct span_vtab *)(void *)base;
	sqlite3_str *plan = sqlite3_str_new(NULL);
	double rows = (double)vtab->rows, looked_at = rows;
	int n = 0;
	sqlite3_str_appendf(plan, "%llx ", (unsigned long long)info->colUsed);
	plan_order(vtab, info, plan);
	sqlite3_str_appendchar(plan, 1, ';');
	for (int i = 0; i < info->nConstraint; i++) {
		if (!info->aConstraint[i].usable)
			continue;
		int index = info->aConstraint[i].iColumn < 0 ? 0 : info->aConstraint[i].iColumn;
		const struct span_column *column = &vtab->table->columns[index];
		char letter = usable_as(column, info->aConstraint[i].op);
		if (!letter || !is_binary(info, i, column))
			continue;
		info->aConstraintUsage[i].argvIndex = ++n;
		sqlite3_str_appendf(plan, " %d%c", index, letter);
		double left = share_left(vtab, column, letter);
		rows *= left;
		/* A name is looked for row by row. */
		looked_at *= column->what == SPAN_MODEL && column->part == HWY_NAME ? 0.5 : left;
		if (column->what == SPAN_ID && letter == '=')
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	}
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = looked_at + 10 + (n ? vtab->strips * 0.1 : 0);
	info->idxStr = sqlite3_str_finish(plan);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- the filter ------------------------------------------------------------------------------ */

static bool texts_equal(struct hwy_text text, sqlite3_value *value)
{
	const void *bytes = sqlite3_value_text(value);
	return bytes && (int)text.length == sqlite3_value_bytes(value) &&
	       memcmp(text.at, bytes, text.length) == 0;
}

/* Whether a value that all spans of a lane have may equal the constraint's. Values of different
 * types are left to SQLite. */
static bool may_equal(struct hwy_cell cell, sqlite3_value *value)
{
	int type = sqlite3_value_type(value);
	if (cell.type == HWY_CELL_NONE || type == SQLITE_NULL)
		return false;
	if (cell.type == HWY_CELL_INT && type == SQLITE_INTEGER)
		return cell.number == sqlite3_value_int64(value);
	if (cell.type == HWY_CELL_TEXT && type == SQLITE_TEXT)
		return texts_equal(cell.text, value);
	return true;
}

static void skip_lanes(struct span_rows *rows, const struct hwy_trace *trace, enum lane_fact fact,
		       sqlite3_value *value)
{
	if (!rows->skips)
		rows->skips = hwy_zarray(trace->n_lanes, sizeof *rows->skips);
	for (uint32_t lane = 0; lane < trace->n_lanes; lane++)
		if (!rows->skips[lane])
			rows->skips[lane] = !may_equal(lane_fact(trace, lane, fact), value);
}

static void filter_name(struct span_filter *filter, struct hwy_trace *trace, sqlite3_value *value)
{
	uint32_t id;
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return;
	const char *text = (const char *)sqlite3_value_text(value);
	if (!text ||
	    !hwy_strings_find(&trace->strings, text, (size_t)sqlite3_value_bytes(value), &id) ||
	    (filter->has_name && filter->name != id)) {
		filter->is_empty = true;
		return;
	}
	filter->has_name = true;
	filter->name = id;
}

static void filter_name_id(struct span_filter *filter, sqlite3_value *value)
{
	int64_t id = sqlite3_value_int64(value);
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return;
	filter->is_empty |= id < 0 || id > UINT32_MAX || (filter->has_name && filter->name != id);
	filter->has_name = true;
	filter->name = (uint32_t)id;
}

static void filter_kind(struct span_filter *filter, sqlite3_value *value)
{
	for (int kind = 0; kind < HWY_KINDS; kind++)
		if (!may_equal(sql_textz(hwy_kind_names[kind]), value))
			filter->kinds &= ~HWY_KIND_BIT(kind);
}

static void filter_by(struct span_cursor *cursor, struct span_filter *filter,
		      const struct span_column *column, char letter, sqlite3_value *value)
{
	struct hwy_trace *trace = ((struct span_vtab *)(void *)cursor->base.pVtab)->source->trace;
	switch (column->what) {
	case SPAN_ID: sql_bounds_cut(&filter->id, letter, value); break;
	case SPAN_END: sql_bounds_cut(&filter->end, letter, value); break;
	case SPAN_KIND: filter_kind(filter, value); break;
	case SPAN_NAME_ID: filter_name_id(filter, value); break;
	case SPAN_MODEL:
		if (column->part == HWY_START)
			sql_bounds_cut(&filter->start, letter, value);
		else
			filter_name(filter, trace, value);
		break;
	case SPAN_LANE:
		if (column->part == LANE_ID)
			sql_bounds_cut(&filter->lane, letter, value);
		else
			skip_lanes(&cursor->rows, trace, (enum lane_fact)column->part, value);
		break;
	default: break;
	}
}

/* The columns of the model that the used columns of the table are made of, and what else these
 * need. Bit 63 stands for all columns from 63 on. */
static bool gather_needs(const struct span_vtab *vtab, uint64_t used, uint64_t *needs,
			 struct hwy_err *err)
{
	*needs = 0;
	for (uint32_t i = 0; i < vtab->table->n; i++) {
		if (!(used >> (i < 63 ? i : 63) & 1))
			continue;
		*needs |= vtab->table->columns[i].needs;
		if (vtab->table->columns[i].what == SPAN_STEP &&
		    !sql_source_steps(vtab->source, err))
			return false;
	}
	return true;
}

/* Reads the order of a plan; *plan is moved behind its end. */
static struct span_order read_order(const struct span_table *table, char **plan)
{
	struct span_order order = {0};
	for (++*plan; **plan != ';'; ++*plan) {
		unsigned long index = strtoul(*plan, plan, 10);
		const struct span_column *column = &table->columns[index];
		bool falls = **plan == 'd';
		if (column->what == SPAN_MODEL) {
			order.by_name = true;
			order.name_falls = falls;
		} else {
			order.keys[order.n_keys++] = (struct span_key){column, falls};
		}
	}
	++*plan;
	return order;
}

static int span_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		       sqlite3_value **values)
{
	struct span_cursor *cursor = (struct span_cursor *)(void *)base;
	const struct span_vtab *vtab = (const struct span_vtab *)(const void *)base->pVtab;
	struct span_filter filter = {.kinds = vtab->table->kinds,
				     .id = SQL_UNBOUNDED,
				     .lane = SQL_UNBOUNDED,
				     .start = SQL_UNBOUNDED,
				     .end = SQL_UNBOUNDED};
	struct hwy_err err;
	uint64_t needs;
	char *rest;
	(void)number;
	uint64_t used = strtoull(plan, &rest, 16);
	struct span_order order = read_order(vtab->table, &rest);
	free(cursor->rows.skips);
	cursor->rows.skips = NULL;
	for (int i = 0; i < argc; i++) {
		unsigned long column = strtoul(rest, &rest, 10);
		filter_by(cursor, &filter, &vtab->table->columns[column], *rest++, values[i]);
	}
	if (!gather_needs(vtab, used, &needs, &err) ||
	    !span_rows_begin(&cursor->rows, vtab->source, &filter, needs, &order, &err))
		return sql_vtab_fail(base->pVtab, &err);
	return SQLITE_OK;
}

/* ---- the cursor ------------------------------------------------------------------------------ */

static int span_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	struct span_cursor *spans = hwy_zalloc(sizeof *spans);
	*cursor = &spans->base;
	return SQLITE_OK;
}

static int span_close(sqlite3_vtab_cursor *base)
{
	struct span_cursor *cursor = (struct span_cursor *)(void *)base;
	span_rows_free(&cursor->rows);
	free(cursor);
	return SQLITE_OK;
}

static int span_next(sqlite3_vtab_cursor *base)
{
	struct span_cursor *cursor = (struct span_cursor *)(void *)base;
	struct hwy_err err;
	return span_rows_next(&cursor->rows, &err) ? SQLITE_OK : sql_vtab_fail(base->pVtab, &err);
}

static int span_eof(sqlite3_vtab_cursor *base)
{
	return ((const struct span_cursor *)(const void *)base)->rows.is_done;
}

static int span_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
	const struct span_rows *rows = &((const struct span_cursor *)(const void *)base)->rows;
	struct span_vtab *vtab = (struct span_vtab *)(void *)base->pVtab;
	const struct span_column *column = &vtab->table->columns[index];
	if (column->what == SPAN_STACK) {
		span_stack_result(context, vtab->source->trace,
				  hwy_get(rows->strip, HWY_STACK, rows->row));
		return SQLITE_OK;
	}
	sql_result(context, span_cell(vtab->source, column, rows->strip, rows->row));
	if (!vtab->source->has_failed)
		return SQLITE_OK;
	vtab->source->has_failed = false;
	return sql_vtab_fail(base->pVtab, &vtab->source->err);
}

static int span_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	const struct span_rows *rows = &((const struct span_cursor *)(const void *)base)->rows;
	*rowid = (sqlite3_int64)rows->strip->first + rows->row;
	return SQLITE_OK;
}

static const sqlite3_module span_methods = {
	.xConnect = span_connect,
	.xBestIndex = span_best_index,
	.xDisconnect = span_disconnect,
	.xOpen = span_open,
	.xClose = span_close,
	.xFilter = span_filter,
	.xNext = span_next,
	.xEof = span_eof,
	.xColumn = span_column,
	.xRowid = span_rowid,
};

bool span_table_register(sqlite3 *db, struct sql_source *source, const struct span_table *table,
			 struct hwy_err *err)
{
	struct span_module *module = hwy_alloc(sizeof *module);
	*module = (struct span_module){source, table};
	if (sqlite3_create_module_v2(db, table->name, &span_methods, module, free) != SQLITE_OK)
		return hwy_fail(err, "table %s: %s", table->name, sqlite3_errmsg(db));
	return true;
}
