/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the definitions of the tables: for SQLite, and for people with the unit and the
 * meaning of each column. */
#include <stdio.h>

#include "base/lang.h"
#include "sql/span_columns.h"

static const char *sql_type(enum sql_means means)
{
	switch (means) {
	case SQL_TEXT:
	case SQL_WORD: return "TEXT";
	case SQL_REAL: return "REAL";
	default: return "INTEGER";
	}
}

static const char *sql_unit(enum sql_means means)
{
	switch (means) {
	case SQL_TIME: return hwy_tr("ns since time 0: ");
	case SQL_DURATION: return hwy_tr("ns: ");
	case SQL_BYTES: return hwy_tr("bytes: ");
	case SQL_FLAG: return hwy_tr("1 or 0: ");
	default: return "";
	}
}

static void put_z(struct hwy_bytes *text, const char *from)
{
	hwy_bytes_put(text, from, strlen(from));
}

/* Every name in quotes: "end" and "cast" are words of SQL. A column of any type has none in the
 * model (a counter's value may be an integer or not): its values stay as they are. */
static void declare_column(struct hwy_bytes *text, const struct sql_column *column, bool is_first)
{
	put_z(text, is_first ? "\"" : ", \"");
	put_z(text, column->name);
	put_z(text, "\" ");
	put_z(text, column->is_untyped ? "" : sql_type(column->means));
	put_z(text, column->is_hidden ? " HIDDEN" : "");
}

static const struct sql_column id_column = {"id", SQL_ROW, .description = "the row's number"};

void list_table_declare(const struct sql_table *table, struct hwy_bytes *text)
{
	put_z(text, "CREATE TABLE x(");
	declare_column(text, &id_column, true);
	for (uint32_t i = 0; i < table->n_columns; i++)
		declare_column(text, &table->columns[i], false);
	put_z(text, ")");
}

void span_table_declare(const struct span_table *table, struct hwy_bytes *text)
{
	put_z(text, "CREATE TABLE x(");
	for (uint32_t i = 0; i < table->n; i++)
		declare_column(text, &table->columns[i].as, i == 0);
	put_z(text, ")");
}

static void describe_head(struct hwy_bytes *text, const char *name, const char *about)
{
	put_z(text, text->n ? "\n-- " : "-- ");
	put_z(text, about);
	put_z(text, "\nCREATE TABLE ");
	put_z(text, name);
	put_z(text, " (\n");
}

static void describe_column(struct hwy_bytes *text, const struct sql_column *column, bool is_last)
{
	char line[96];
	snprintf(line, sizeof line, "  %s %s%s", column->name,
		 column->is_untyped ? "ANY" : sql_type(column->means), is_last ? "" : ",");
	char padded[128];
	snprintf(padded, sizeof padded, "%-32s -- ", line);
	put_z(text, padded);
	put_z(text, sql_unit(column->means));
	char meaning[512]; /* the key: a word such as "memory" may be said otherwise elsewhere */
	snprintf(meaning, sizeof meaning, "meaning|%s", column->description);
	put_z(text, hwy_tr_word(meaning));
	put_z(text, column->is_hidden ? hwy_tr("; not part of *") : "");
	put_z(text, "\n");
}

void schema_list(const struct sql_table *table, struct hwy_bytes *text)
{
	describe_head(text, table->name, table->about);
	describe_column(text, &id_column, table->n_columns == 0);
	for (uint32_t i = 0; i < table->n_columns; i++)
		describe_column(text, &table->columns[i], i + 1 == table->n_columns);
	put_z(text, ");\n");
}

void schema_spans(const struct span_table *table, struct hwy_bytes *text)
{
	describe_head(text, table->name, table->about);
	for (uint32_t i = 0; i < table->n; i++)
		describe_column(text, &table->columns[i].as, i + 1 == table->n);
	put_z(text, ");\n");
}
