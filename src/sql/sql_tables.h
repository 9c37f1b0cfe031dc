/* SPDX-License-Identifier: Apache-2.0 */
/* sql_tables.h - what a table of `headway sql` is, and what all tables share.
 *
 * There are two sorts. Span tables (span_table.c) are made of the model's columns and know how
 * to skip what a query does not ask for. All others are lists: a number of rows, and a function
 * that yields one cell. To add a list: a file table_NAME.c with one struct sql_table, its
 * declaration at the end of this header, its line in table_list.c.
 */
#ifndef HWY_SQL_SQL_TABLES_H
#define HWY_SQL_SQL_TABLES_H

#include <sqlite3.h>

#include "diagnose/diagnose.h"
#include "sql/bounds.h"
#include "sql/sql.h"

/* Longer texts are cut: a query that makes a text of that length or longer fails, so that one
 * row cannot take all memory. */
enum { SQL_LONGEST_TEXT = 1000000 };

/* The meaning of a column: its type and unit in SQL, and how the field of a record becomes a
 * value. */
enum sql_means {
	SQL_NUMBER,
	SQL_NATURAL,  /* a number; 0: not known */
	SQL_TIME,     /* ns since time 0 of the recording */
	SQL_DURATION, /* ns */
	SQL_BYTES,
	SQL_FLAG, /* 1 or 0 */
	SQL_ROW,  /* the id of a row of another table */
	SQL_REF,  /* the same; the record holds a reference (base/ref.h): n + 1 stands for n */
	SQL_REAL, /* a floating-point number; the record holds its bits */
	SQL_TEXT,
	SQL_WORD, /* a text; the record holds an index into 'words' */
};

struct sql_column {
	const char *name;
	enum sql_means means;
	const char *description;
	/* Of a list of records: 1 + the number of the record's field that holds the value; 0:
	 * the function 'cell' yields it. */
	uint32_t field;
	const char *const *words; /* of SQL_WORD */
	uint32_t n_words;
	bool is_untyped; /* values are of several types */
	bool is_hidden;  /* not part of '*': finding it out takes time */
};
/* The field of a record as a struct sql_column wants it. */
#define SQL_FIELD(type, member)                                                                    \
	.field = 1 + (uint32_t)(offsetof(struct type, member) / sizeof(int64_t))
#define SQL_WORDS(list) .words = (list), .n_words = sizeof(list) / sizeof *(list)

struct sql_source;
struct sql_table {
	const char *name;
	const char *about; /* what a row is */
	/* without 'id', the row's number, which every list has as its first column */
	const struct sql_column *columns;
	uint32_t n_columns;
	enum hwy_table
		records; /* the rows are these records; HWY_TABLE_NONE: 'make' tells their number */
	/* Loads what the cells need, when the table is used for the first time, and yields the
	 * number of rows. May be NULL for records. */
	bool (*make)(struct sql_source *source, uint32_t *rows, struct hwy_err *err);
	/* Yields the cell of a column that has no field. */
	struct hwy_cell (*cell)(struct sql_source *source, uint32_t row, uint32_t column);
};
#define SQL_COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof *(list)

/* One step of a phase, for the column 'step' of spans. */
struct sql_step {
	struct hwy_interval cpu, device;
	uint32_t process; /* index into the trace's processes, or FLOW_NO_PROCESS */
	uint32_t phase, number;
};

/* One gap: its phase, and its number among the gaps of the phase. */
struct sql_gap {
	uint32_t phase, number;
};

/* A bucket of steps, a finding or an exchange of a rank: the rank's digest, and the number
 * there. */
struct sql_digest_part {
	uint32_t rank, number;
};
struct sql_digest_parts {
	struct sql_digest_part *items;
	uint32_t n, cap;
};

struct digest_set;
struct span_table;
struct sql_tally;   /* table_names.c */
struct sql_counter; /* table_counters.c */
struct sql_rank;    /* table_ranks.c */

/* What the tables read: the trace, and what was found out about it so far. */
struct sql_source {
	struct hwy_trace *trace;
	struct hwy_analysis *analysis;   /* NULL until sql_source_analysis */
	struct hwy_diagnosis *diagnosis; /* NULL until sql_source_diagnosis */
	struct sql_step *steps;          /* by process, then by time; the rows of the table steps */
	uint32_t n_steps;
	struct sql_gap *gaps; /* the rows of the table gaps */
	uint32_t n_gaps;
	struct sql_tally *tallies; /* the rows of the table names */
	uint32_t n_tallies, first_kernel;
	struct sql_counter *counters;
	uint32_t n_counters;
	struct sql_rank *ranks;
	uint32_t n_ranks;
	const struct digest_set *digests; /* NULL where there are none */
	struct sql_digest_parts digest_buckets, digest_findings, digest_exchanges;
	struct hwy_peeks peeks; /* for columns of calls that device work is linked with */
	struct hwy_err err;     /* why a cell could not be read, where has_failed */
	bool has_failed;
	int64_t **ends; /* by strip: the latest end of each chunk; NULL until span_ends is asked */
	struct hwy_arena arena;
};

/* sql_source.c: what several tables need. Each is found when it is first asked for; false with a
 * sentence where the recording cannot be read. */
bool sql_source_analysis(struct sql_source *source, struct hwy_err *err);
bool sql_source_diagnosis(struct sql_source *source, struct hwy_err *err);
bool sql_source_steps(struct sql_source *source, struct hwy_err *err);
/* Whether the process of a phase has streams on a device, an index into flow.devices. Other
 * devices count for other phases. */
bool sql_phase_has_device(const struct sql_source *source, uint32_t phase, uint32_t device);
void sql_source_close(struct sql_source *source);

/* Cells. */
static inline struct hwy_cell sql_none(void)
{
	return (struct hwy_cell){0};
}
static inline struct hwy_cell sql_int(int64_t number)
{
	return (struct hwy_cell){.type = HWY_CELL_INT, .number = number};
}
static inline struct hwy_cell sql_known(int64_t number)
{
	return number == HWY_NONE ? sql_none() : sql_int(number);
}
static inline struct hwy_cell sql_real(double real)
{
	return (struct hwy_cell){.type = HWY_CELL_REAL, .real = real};
}
/* A text; an empty one is not known. */
static inline struct hwy_cell sql_text(struct hwy_text text)
{
	return text.length ? (struct hwy_cell){.type = HWY_CELL_TEXT, .text = text} : sql_none();
}
static inline struct hwy_cell sql_textz(const char *text)
{
	return text ? sql_text((struct hwy_text){text, (uint32_t)strlen(text)}) : sql_none();
}
/* Hands a cell to SQLite. The cell's text must live as long as the source. */
void sql_result(sqlite3_context *context, struct hwy_cell cell);

/* lane_facts.c: whose spans a lane has, as columns of span tables, in the order of the CSV
 * export. */
enum lane_fact {
	LANE_PID,
	LANE_TID,
	LANE_THREAD,
	LANE_DEVICE,
	LANE_CONTEXT,
	LANE_STREAM,
	LANE_TYPE,
	LANE_DOMAIN,
	LANE_RANK,
	LANE_ID,
	LANE_PROCESS_ID,
	LANE_THREAD_ID,
	LANE_DEVICE_ID,
	LANE_STREAM_ID,
	LANE_FACTS
};
extern const struct sql_column lane_facts[LANE_FACTS];
struct hwy_cell lane_fact(const struct hwy_trace *trace, uint32_t lane, enum lane_fact fact);
/* The process of a lane, also where only its thread or its stream tells; an index, or HWY_NONE. */
int64_t lane_process(const struct hwy_trace *trace, uint32_t lane);
/* The record with an index, or NULL where the index is HWY_NONE or out of range. */
const struct hwy_process *sql_process(const struct hwy_trace *trace, int64_t index);

/* Makes a sentence the error of a virtual table; yields the code to return. */
int sql_vtab_fail(sqlite3_vtab *vtab, const struct hwy_err *err);

/* schema.c: adds "CREATE TABLE name(…)"; described: with a comment for each column. */
void list_table_declare(const struct sql_table *table, struct hwy_bytes *text);
void schema_list(const struct sql_table *table, struct hwy_bytes *text);
void schema_spans(const struct span_table *table, struct hwy_bytes *text);
void span_table_declare(const struct span_table *table, struct hwy_bytes *text);

/* list_table.c and span_table.c: register their tables with a connection; false with a sentence. */
bool list_table_register(sqlite3 *db, struct sql_source *source, const struct sql_table *table,
			 struct hwy_err *err);
bool span_table_register(sqlite3 *db, struct sql_source *source, const struct span_table *table,
			 struct hwy_err *err);
struct hwy_cell list_cell(struct sql_source *source, const struct sql_table *table, uint32_t row,
			  uint32_t column);

/* table_list.c: all lists; the last element is NULL. */
extern const struct sql_table *const sql_lists[];

extern const struct sql_table table_lanes, table_hosts, table_processes, table_threads,
	table_devices, table_contexts, table_streams, table_modules, table_frames, table_stacks,
	table_edges, table_groups, table_drops, table_diagnostics, table_properties, table_measured,
	table_measures, table_messages, table_phases, table_steps, table_gaps, table_findings,
	table_names, table_kernels, table_counters, table_ranks, table_clocks, table_calibrations,
	table_pings, table_nodes, table_node_edges, table_stalled_lines, table_verdict,
	table_digests, table_digest_steps, table_digest_findings, table_digest_exchanges;

#endif
