/* sqlite.h - what the parts of the SQLite export share: the schema of Nsight Systems' own exports, 3.20.
 *
 * A table is made with its first row; those that tools look for in every file are there always. Columns the
 * model does not keep are NULL, or 0 where they may not be.
 */
#ifndef HWY_EXPORT_SQLITE_SQLITE_H
#define HWY_EXPORT_SQLITE_SQLITE_H

#include <sqlite3.h>

#include "base/index.h"
#include "export/export_internal.h"

enum sqlite_table_id {
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

enum sqlite_chains { SQLITE_CUDA_CHAINS, SQLITE_OS_CHAINS, SQLITE_SYSCALL_CHAINS, SQLITE_CHAINS };

struct sqlite {
	struct export x;
	const char *path;
	sqlite3 *db;
	struct sqlite_table {
		sqlite3_stmt *insert;
		int columns;
	} tables[SQL_TABLES];
	uint8_t *used;                  /* by text of the trace: it is in StringIds */
	uint8_t *chains[SQLITE_CHAINS]; /* by stack: 1 where a call of this sort has the stack */
	int64_t *pids, *tids;           /* by process, by thread: their global ids */
	struct hwy_map domains;         /* process and name of an NVTX domain -> its number */
	struct hwy_index categories;    /* struct sqlite_category -> its number */
	uint32_t n_domains, n_categories, n_names;
	int64_t sample; /* its number */
};

/* The next row of a table: its columns are NULL where they were not bound since the last one. */
sqlite3_stmt *sqlite_row(struct sqlite *s, enum sqlite_table_id table);
void sqlite_insert(struct sqlite *s, sqlite3_stmt *row);
/* All columns at once, as integers. */
void sqlite_integers(struct sqlite *s, enum sqlite_table_id table, const int64_t *values, int n);
#define SQL_NULL INT64_C(-0x7ffffffe4e554c4c) /* a number nobody has */
bool sqlite_failed(struct sqlite *s, int code);
bool sqlite_run(struct sqlite *s, const char *statement);

int64_t sqlite_text(struct sqlite *s, int64_t text);         /* its id in StringIds */
int64_t sqlite_own_text(struct sqlite *s, const char *text); /* likewise, of a text of ours */
void sqlite_bind_text(struct sqlite *s, sqlite3_stmt *row, int column, int64_t text); /* 0: NULL */

/* CUDA's number of a device in a process. */
int64_t sqlite_device(struct sqlite *s, int64_t process, int64_t device);
int64_t sqlite_lane_tid(struct sqlite *s, const struct hwy_lane *lane);
int64_t sqlite_lane_pid(struct sqlite *s, const struct hwy_lane *lane);

void sqlite_write_who(struct sqlite *s);                     /* sqlite_ids.c */
void sqlite_write_about(struct sqlite *s);                   /* sqlite_meta.c */
void sqlite_write_enums(struct sqlite *s);                   /* sqlite_enums.c */
int sqlite_enum_value(const char *table, const char *label); /* -1: none */
bool sqlite_write_cuda(struct sqlite *s,
		       const struct hwy_strip *strip); /* false: not of this sort */
bool sqlite_write_host(struct sqlite *s, const struct hwy_strip *strip);
void sqlite_write_chains(struct sqlite *s);
void sqlite_write_domains(struct sqlite *s);

#endif
