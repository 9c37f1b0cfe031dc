/* sqlite.h - what the parts of the SQLite export share: the schema of Nsight Systems' own exports, 3.20.
 *
 * A table is made with its first row; those that tools look for in every file are there always. Columns the
 * model does not keep are NULL, or 0 where they may not be.
 */
#ifndef HWY_EXPORT_SQLITE_SQLITE_H
#define HWY_EXPORT_SQLITE_SQLITE_H

#include <sqlite3.h>

#include "export/export_internal.h"

enum sql_id {
	SQL_STRINGS,
	SQL_RUNTIME,
	SQL_KERNEL,
	SQL_MEMCPY,
	SQL_MEMSET,
	SQL_GRAPH,
	SQL_SYNC,
	SQL_EVENT,
	SQL_MEMORY,
	SQL_PROFILER,
	SQL_OVERHEAD,
	SQL_NVTX,
	SQL_OSRT,
	SQL_SYSCALL,
	SQL_CUDNN,
	SQL_CUBLAS,
	SQL_MPI,
	SQL_CUDA_CHAINS,
	SQL_OS_CHAINS,
	SQL_SYSCALL_CHAINS,
	SQL_SAMPLE_CHAINS,
	SQL_SAMPLES,
	SQL_SCHED,
	SQL_METRICS,
	SQL_METRIC_NAMES,
	SQL_THREADS,
	SQL_PROCESSES,
	SQL_RANKS,
	SQL_GPU,
	SQL_DEVICE,
	SQL_CONTEXT,
	SQL_STREAM,
	SQL_STREAM_NAMES,
	SQL_ENVIRONMENT,
	SQL_START_TIME,
	SQL_DETAILS,
	SQL_DIAGNOSTIC,
	SQL_CAPTURE,
	SQL_EXPORT,
	SQL_TABLES
};

struct sql {
	struct export x;
	const char *path;
	sqlite3 *db;
	struct sql_table {
		sqlite3_stmt *insert;
		int columns;
	} tables[SQL_TABLES];
	uint8_t *used;        /* by text of the trace: it is in StringIds */
	uint8_t *chains[3];   /* by stack: CUDA's, the OS's, system calls' */
	int64_t *pids, *tids; /* by process, by thread: their global ids */
	struct hwy_map domains, categories;
	uint32_t n_domains, n_categories, n_names;
	int64_t sample; /* its number */
};

/* The next row of a table: its columns are NULL where they were not bound since the last one. */
sqlite3_stmt *sql_row(struct sql *s, enum sql_id table);
void sql_insert(struct sql *s, sqlite3_stmt *row);
/* All columns at once, as integers. */
void sql_integers(struct sql *s, enum sql_id table, const int64_t *values, int n);
#define SQL_NULL INT64_C(-0x7ffffffe4e554c4c) /* a number nobody has */
bool sql_failed(struct sql *s, int code);
bool sql_run(struct sql *s, const char *statement);

int64_t sql_text(struct sql *s, int64_t text);         /* its id in StringIds */
int64_t sql_own_text(struct sql *s, const char *text); /* likewise, of a text of ours */
void sql_bind_text(struct sql *s, sqlite3_stmt *row, int column, int64_t text); /* 0: NULL */

/* CUDA's number of a device in a process. */
int64_t sql_device(struct sql *s, int64_t process, int64_t device);
int64_t sql_lane_tid(struct sql *s, const struct hwy_lane *lane);
int64_t sql_lane_pid(struct sql *s, const struct hwy_lane *lane);

void sql_write_who(struct sql *s);                                 /* sqlite_ids.c */
void sql_write_about(struct sql *s);                               /* sqlite_meta.c */
void sql_write_enums(struct sql *s);                               /* sqlite_enums.c */
int sql_enum_value(const char *table, const char *label);          /* -1: none */
bool sql_write_cuda(struct sql *s, const struct hwy_strip *strip); /* false: not of this sort */
bool sql_write_host(struct sql *s, const struct hwy_strip *strip);
void sql_write_chains(struct sql *s);
void sql_write_domains(struct sql *s);

#endif
