/* SPDX-License-Identifier: Apache-2.0 */
/* list_table.c - the virtual tables that are lists of rows: records of the trace, and results of
 * analyses.
 *
 * Rows come in order of 'id', which counts from 0. A query for one id, or for a range of ids,
 * reads only those rows, so that a join by id costs one look a row. Nothing is made before a
 * query uses the table.
 */
#include "sql/sql_tables.h"

#include <math.h>
#include <stdlib.h>

struct list_module { /* what xConnect gets */
	struct sql_source *source;
	const struct sql_table *table;
};
struct list_vtab {
	sqlite3_vtab base;
	struct sql_source *source;
	const struct sql_table *table;
	bool is_made;
	uint32_t rows;
};
struct list_cursor {
	sqlite3_vtab_cursor base;
	uint32_t row, end;
};

/* ---- cells ----------------------------------------------------------------------------------- */

/* The fields of a record: every record is a struct of int64_t. */
static const int64_t *record_fields(const struct hwy_trace *trace, enum hwy_table table,
				    uint32_t row)
{
	switch (table) {
#define X(type, field, section)                                                                    \
	case HWY_TABLE_##field: return (const int64_t *)(const void *)&trace->field[row];
		HWY_RECORDS(X)
#undef X
	case HWY_TABLE_NONE: break;
	}
	return NULL;
}

static struct hwy_cell field_cell(const struct hwy_trace *trace, const struct sql_column *column,
				  int64_t value)
{
	double real;
	if (value == HWY_NONE && column->means != SQL_REAL)
		return sql_none();
	switch (column->means) {
	case SQL_TEXT: return sql_text(hwy_text(trace, value));
	case SQL_WORD:
		return value >= 0 && value < column->n_words ? sql_textz(column->words[value])
							     : sql_int(value);
	case SQL_NATURAL: return value ? sql_int(value) : sql_none();
	case SQL_REF: return hwy_ref_is_set(value) ? sql_int(value - 1) : sql_none();
	case SQL_REAL:
		memcpy(&real, &value, sizeof real);
		return isnan(real) ? sql_none() : sql_real(real);
	default: return sql_int(value);
	}
}

struct hwy_cell list_cell(struct sql_source *source, const struct sql_table *table, uint32_t row,
			  uint32_t column)
{
	const struct sql_column *at = &table->columns[column];
	if (!at->field)
		return table->cell(source, row, column);
	const int64_t *fields = record_fields(source->trace, table->records, row);
	return field_cell(source->trace, at, fields[at->field - 1]);
}

void sql_result(sqlite3_context *context, struct hwy_cell cell)
{
	uint32_t length = cell.type == HWY_CELL_TEXT ? cell.text.length : 0;
	switch (cell.type) {
	case HWY_CELL_NONE: break; /* the result is NULL already */
	case HWY_CELL_INT: sqlite3_result_int64(context, cell.number); break;
	case HWY_CELL_UINT:
		/* SQL has no unsigned numbers: what does not fit is a floating-point number, as
		 * SQLite itself reads such digits. */
		if (cell.number < 0)
			sqlite3_result_double(context, (double)(uint64_t)cell.number);
		else
			sqlite3_result_int64(context, cell.number);
		break;
	case HWY_CELL_REAL: sqlite3_result_double(context, cell.real); break;
	case HWY_CELL_TEXT:
		length = length < SQL_LONGEST_TEXT ? length : SQL_LONGEST_TEXT;
		sqlite3_result_text(context, cell.text.at, (int)length, SQLITE_STATIC);
		break;
	}
}

/* ---- the virtual table ----------------------------------------------------------------------- */

static int list_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **vtab, char **message)
{
	const struct list_module *module = aux;
	struct hwy_bytes text = {0};
	(void)argc, (void)argv, (void)message;
	list_table_declare(module->table, &text);
	hwy_bytes_put_byte(&text, 0);
	int rc = sqlite3_declare_vtab(db, (const char *)text.bytes);
	hwy_bytes_free(&text);
	if (rc != SQLITE_OK)
		return rc;
	struct list_vtab *list = hwy_zalloc(sizeof *list);
	list->source = module->source;
	list->table = module->table;
	*vtab = &list->base;
	return SQLITE_OK;
}

static int list_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* The number of rows that is guessed for plans before the table is made. */
enum { GUESSED_ROWS = 1000 };

static double guess_rows(const struct list_vtab *list)
{
	if (list->is_made)
		return list->rows;
	if (list->table->records != HWY_TABLE_NONE)
		return hwy_table_rows(list->source->trace, list->table->records);
	return GUESSED_ROWS;
}

/* A letter of the plan for each constraint on 'id': '=', '<' (upper bound), '>' (lower bound). */
static char constraint_letter(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE: return '<';
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE: return '>';
	default: return 0;
	}
}

static int list_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	enum { MOST = 8 };
	struct list_vtab *list = (struct list_vtab *)(void *)vtab;
	double rows = guess_rows(list) + 1;
	char plan[MOST + 1] = {0};
	int n = 0;
	for (int i = 0; i < info->nConstraint && n < MOST; i++) {
		char letter = constraint_letter(info->aConstraint[i].op);
		if (info->aConstraint[i].iColumn > 0 || !info->aConstraint[i].usable || !letter)
			continue;
		plan[n++] = letter;
		info->aConstraintUsage[i].argvIndex = n;
		rows = letter == '=' ? 1 : rows / 4;
		if (letter == '=')
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	}
	info->idxStr = sqlite3_mprintf("%s", plan);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = rows + 10;
	info->orderByConsumed =
		info->nOrderBy == 1 && info->aOrderBy[0].iColumn <= 0 && !info->aOrderBy[0].desc;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int list_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	struct list_cursor *list = hwy_zalloc(sizeof *list);
	*cursor = &list->base;
	return SQLITE_OK;
}

static int list_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

int sql_vtab_fail(sqlite3_vtab *vtab, const struct hwy_err *err)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", err->text);
	return SQLITE_ERROR;
}

static bool list_make(struct list_vtab *list, struct hwy_err *err)
{
	if (list->is_made)
		return true;
	if (list->table->records != HWY_TABLE_NONE)
		list->rows = hwy_table_rows(list->source->trace, list->table->records);
	if (list->table->make && !list->table->make(list->source, &list->rows, err))
		return false;
	list->is_made = true;
	return true;
}

static int list_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		       sqlite3_value **values)
{
	struct list_cursor *at = (struct list_cursor *)(void *)cursor;
	struct list_vtab *list = (struct list_vtab *)(void *)cursor->pVtab;
	struct hwy_err err;
	struct sql_bounds ids = SQL_UNBOUNDED;
	(void)number;
	if (!list_make(list, &err))
		return sql_vtab_fail(cursor->pVtab, &err);
	for (int i = 0; i < argc && plan[i]; i++)
		sql_bounds_cut(&ids, plan[i], values[i]);
	at->row = ids.low <= 0 ? 0 : ids.low < list->rows ? (uint32_t)ids.low : list->rows;
	at->end = ids.high < 0 ? 0 : ids.high < list->rows ? (uint32_t)ids.high + 1 : list->rows;
	return SQLITE_OK;
}

static int list_next(sqlite3_vtab_cursor *cursor)
{
	((struct list_cursor *)(void *)cursor)->row++;
	return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *cursor)
{
	const struct list_cursor *at = (const struct list_cursor *)(const void *)cursor;
	return at->row >= at->end;
}

static int list_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	const struct list_cursor *at = (const struct list_cursor *)(const void *)cursor;
	const struct list_vtab *list = (const struct list_vtab *)(const void *)cursor->pVtab;
	if (column == 0)
		sqlite3_result_int64(context, at->row);
	else
		sql_result(context,
			   list_cell(list->source, list->table, at->row, (uint32_t)column - 1));
	return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = ((const struct list_cursor *)(const void *)cursor)->row;
	return SQLITE_OK;
}

/* Without xCreate a module is a table by itself, which no statement can create or drop. */
static const sqlite3_module list_methods = {
	.xConnect = list_connect,
	.xBestIndex = list_best_index,
	.xDisconnect = list_disconnect,
	.xOpen = list_open,
	.xClose = list_close,
	.xFilter = list_filter,
	.xNext = list_next,
	.xEof = list_eof,
	.xColumn = list_column,
	.xRowid = list_rowid,
};

bool list_table_register(sqlite3 *db, struct sql_source *source, const struct sql_table *table,
			 struct hwy_err *err)
{
	struct list_module *module = hwy_alloc(sizeof *module);
	*module = (struct list_module){source, table};
	if (sqlite3_create_module_v2(db, table->name, &list_methods, module, free) != SQLITE_OK)
		return hwy_fail(err, "table %s: %s", table->name, sqlite3_errmsg(db));
	return true;
}
