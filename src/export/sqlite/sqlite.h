/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.h - what the parts of the SQLite export share: the schema of Nsight Systems' own exports,
 * 3.20.
 *
 * A table is created with its first row; tables that tools look for in every file always exist.
 * Columns for which a trace has no value are NULL, or 0 where NULL is not allowed.
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
	SQL_GRAPH_NODE,
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
	SQL_MPI_P2P,
	SQL_MPI_COLLECTIVES,
	SQL_MPI_WAITS,
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
	uint8_t *used; /* by text id of the trace: 1 where the text goes into StringIds */
	uint8_t *chains[SQLITE_CHAINS]; /* by stack: 1 where a call of this sort has the stack */
	int64_t *pids, *tids;           /* by process and by thread: the globalPid, the globalTid */
	struct hwy_map domains;         /* number of an NVTX domain, by its process and name */
	struct hwy_index categories; /* number of an NVTX category, by its struct sqlite_category */
	uint32_t n_domains, n_categories, n_names;
	int64_t sample; /* number of the sample that was written last */
	/* sqlite_libraries.c: messages by the span that waited for them; made with the first
	 * call of MPI. */
	struct hwy_message_index waited;
	bool has_waited;
};

/* Begins a row of a table. Columns to which the caller binds nothing are NULL. */
sqlite3_stmt *sqlite_row(struct sqlite *s, enum sqlite_table_id table);
void sqlite_insert(struct sqlite *s, sqlite3_stmt *row);
/* Inserts a row of n integers; SQL_NULL becomes NULL. */
void sqlite_integers(struct sqlite *s, enum sqlite_table_id table, const int64_t *values, int n);
#define SQL_NULL INT64_C(-0x7ffffffe4e554c4c) /* stands for NULL: no recording has this number */
bool sqlite_failed(struct sqlite *s, int code);
bool sqlite_run(struct sqlite *s, const char *statement);

/* Yields the id of a text of the trace in the table StringIds. */
int64_t sqlite_text(struct sqlite *s, int64_t text);
/* Yields the id in the table StringIds of a text that the export makes up. */
int64_t sqlite_own_text(struct sqlite *s, const char *text);
/* Binds a text of the trace to a column; text 0 becomes NULL. */
void sqlite_bind_text(struct sqlite *s, sqlite3_stmt *row, int column, int64_t text);

/* Yields the number that CUDA gives to a device in a process. */
int64_t sqlite_device(struct sqlite *s, int64_t process, int64_t device);
int64_t sqlite_lane_tid(struct sqlite *s, const struct hwy_lane *lane);
int64_t sqlite_lane_pid(struct sqlite *s, const struct hwy_lane *lane);

void sqlite_ids_write(struct sqlite *s);                      /* in sqlite_ids.c */
void sqlite_meta_write(struct sqlite *s);                     /* in sqlite_meta.c */
void sqlite_enums_write(struct sqlite *s);                    /* in sqlite_enums.c */
int sqlite_enums_value(const char *table, const char *label); /* -1 where no label matches */
/* Writes a strip of CUDA calls or device work; yields false where the strip holds other spans. */
bool sqlite_cuda_write(struct sqlite *s, const struct hwy_strip *strip);
void sqlite_cuda_write_nodes(struct sqlite *s);
bool sqlite_host_write(struct sqlite *s, const struct hwy_strip *strip);
/* Writes a strip of a library's calls; yields false where nsys has no table for the library. */
bool sqlite_libraries_write(struct sqlite *s, const struct hwy_strip *strip, int64_t tid);
void sqlite_libraries_close(struct sqlite *s);
void sqlite_host_write_chains(struct sqlite *s);
void sqlite_host_write_domains(struct sqlite *s);

#endif
