/* SPDX-License-Identifier: Apache-2.0 */
/* parquet.h - a trace as Parquet files, one a table: what the files of this folder share.
 *
 * Each table is FOLDER/table=NAME/part-0.parquet. Tables of spans (parquet_spans.c) are named
 * after their kind and have the columns of the CSV export, '_' in place of '-', so that SQL
 * needs no quotes; tables of records (parquet_records.c) after the report's tables;
 * parquet_analysis.c adds what Headway found out. A table without rows is not written.
 */
#ifndef HWY_EXPORT_PARQUET_PARQUET_H
#define HWY_EXPORT_PARQUET_PARQUET_H

#include "export/export_internal.h"
#include "export/parquet/parquet_file.h"

/* A row group of spans: 16 chunks of a report's columns. */
enum { PARQUET_GROUP_ROWS = 1 << 18, PARQUET_MOST_FACTS = 16, PARQUET_MOST_FIELDS = 64 };

struct parquet {
	struct export x;
	const char *folder;
	struct parquet_packer *packer;
	struct parquet_key_value facts[PARQUET_MOST_FACTS];
	uint32_t n_facts;
	struct hwy_arena texts;
	/* Of one row group: the values of a column. */
	int64_t *values, *more;
	bool *is_null;
	struct hwy_bytes stack;                    /* the text of a stack */
	const struct hwy_column_info *enumeration; /* of the column whose values are named */
	char number[24];                           /* the text of a value without a name */
};

/* A time of the trace on the clock that the options ask for. */
int64_t parquet_time(const struct parquet *p, int64_t time);
/* The text of an id of the trace, or of one that the export made up. */
struct hwy_text parquet_text_of(void *p, int64_t id);

/* Creates FOLDER/table=NAME/part-0.parquet. */
bool parquet_table_open(struct parquet *p, struct parquet_file *file, struct parquet_table *table);
/* Closes it, and counts the file, its rows and its bytes. */
bool parquet_table_close(struct parquet *p, struct parquet_file *file);

/* A table whose cells are asked for one by one. */
struct parquet_cells {
	const char *name;
	const struct parquet_field *fields;
	uint32_t n_fields, rows;
	/* Yields the cell: a number, the bits of a double, or the id of a text (export_text);
	 * false where there is no value. */
	bool (*cell)(struct parquet *p, const void *user, uint32_t row, uint32_t field,
		     int64_t *value);
	const void *user;
};
/* Writes the table, unless it has no rows. */
bool parquet_cells_write(struct parquet *p, const struct parquet_cells *cells);

/* Each writes the tables that have rows. False, with a sentence in x.err, where that fails. */
bool parquet_spans_write(struct parquet *p);
bool parquet_records_write(struct parquet *p);
bool parquet_analysis_write(struct parquet *p);
/* Writes the table 'ranks', which has one row; the other tables are there already. */
bool parquet_rank_write(struct parquet *p);

/* The functions of a stack (a reference, base/ref.h), from the innermost to the outermost, with
 * semicolons between them; valid until the next call. */
struct hwy_text parquet_stack_text(void *p, int64_t stack);

/* ---- the schema, for the documentation and its test ------------------------------------------ */

/* A table of spans. Names of columns live in 'names'. */
struct parquet_span_names {
	char names[PARQUET_MOST_FIELDS][24];
};
void parquet_span_fields(int kind, struct parquet_field fields[PARQUET_MOST_FIELDS],
			 struct parquet_span_names *names, uint32_t *n);
/* The tables of records, that of the rank, and those of the analysis: the name of table number
 * i, or NULL behind the last. */
const char *parquet_record_fields(uint32_t i, struct parquet_field fields[PARQUET_MOST_FIELDS],
				  uint32_t *n);
const char *parquet_rank_fields(struct parquet_field fields[PARQUET_MOST_FIELDS], uint32_t *n);
const char *parquet_analysis_fields(uint32_t i, struct parquet_field fields[PARQUET_MOST_FIELDS],
				    uint32_t *n);

#endif
