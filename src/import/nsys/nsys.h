/* nsys.h - what the parts of the reader of Nsight Systems exports share.
 *
 * The export is an SQLite file whose tables and columns came and went over the years; a table or a column
 * that is not there is normal and reads as "no rows" or NULL. The parts run in the order nsys.c gives; the
 * first failure is kept in 'err' and 'failed', and every later query then yields nothing.
 */
#ifndef HWY_IMPORT_NSYS_NSYS_H
#define HWY_IMPORT_NSYS_NSYS_H

#include <sqlite3.h>

#include "base/progress.h"
#include "trace/builder.h"

/* Numbers of the export (text ids, call chains) to our own; 0: none. Small numbers stand in an array. */
struct nsys_ids {
	uint32_t *dense;
	uint32_t n;
	struct hwy_map sparse;
};
uint32_t *nsys_ids_put(struct nsys_ids *ids, int64_t id);
uint32_t nsys_ids_get(const struct nsys_ids *ids, int64_t id);
void nsys_ids_free(struct nsys_ids *ids);

#define NSYS_NO_LANE UINT32_MAX

struct nsys_thread { /* parallel to the trace's threads */
	uint32_t process;
	uint32_t api, os, samples, state;
};
struct nsys_stream { /* parallel to the trace's streams */
	int64_t global_pid, device, context, green, number;
	uint32_t process;
	uint32_t work, sync; /* lanes */
	uint32_t next;       /* the next one with the same hash, plus one */
};
struct nsys_call {     /* an api call that a sync or event row belongs to */
	uint32_t name; /* text; 0: not seen */
	int64_t start;
};

struct nsys {
	const char *path;
	sqlite3 *db;
	struct hwy_builder *b;
	struct hwy_trace *trace; /* of the builder */
	struct hwy_err *err;
	bool failed;
	struct nsys_query *query; /* of nsys_each */
	void (*add)(struct nsys_query *q);
	const struct hwy_progress *progress;
	uint64_t rows, rows_total;

	/* texts */
	sqlite3_stmt *string_stmt;
	struct nsys_ids strings;    /* StringIds.id -> text id + 1 */
	struct hwy_map string_rows; /* id -> rowid, only where id is not the row id */
	bool strings_by_row;

	/* who is who */
	struct hwy_map process_of; /* globalPid >> 24 -> process */
	struct hwy_map thread_of;  /* globalTid -> thread */
	int64_t last_tid;          /* the thread of the row before */
	uint32_t last_thread;      /* or UINT32_MAX */
	struct nsys_thread *threads;
	uint32_t cap_threads;
	struct hwy_map host_of;   /* globalPid >> 48 -> host */
	struct hwy_map device_of; /* host, gpu id -> device */
	struct hwy_map gpu_of;    /* pid, CUDA ordinal -> gpu id */
	struct hwy_map stream_of; /* hash -> stream + 1 */
	struct nsys_stream *streams;
	uint32_t cap_streams;
	uint32_t last_stream;        /* the stream of the row before, or UINT32_MAX */
	struct hwy_map stream_facts; /* pid, context, stream -> index of facts + 1 */
	struct nsys_stream_fact {
		int64_t priority, flags;
		uint32_t name;
	} * facts;
	uint32_t n_facts, cap_facts;

	/* stacks: call chain id -> stack + 1 */
	struct nsys_ids cuda_chains, os_chains, sample_chains, syscall_chains;

	/* calls of sync and event rows: process, correlation id -> index of calls */
	struct hwy_map call_of;
	struct nsys_call *calls;
	uint32_t n_calls, cap_calls;
};

/* ---- nsys_db.c ---- */

enum { NSYS_COLUMNS = 40 }; /* more than any query has */

struct nsys_query {
	struct nsys *nsys;
	const char *table;
	sqlite3_stmt *stmt;
	sqlite3_value **values; /* of the current row */
	sqlite3_value *own[NSYS_COLUMNS];
	void *user;
	struct hwy_row row;          /* zeroed at first, for the spans made of the rows */
	bool stop;                   /* set by a row to end nsys_each early */
	uint64_t no_time, backwards; /* rows that were left out, or got a duration of 0 */
};

bool nsys_db_open(struct nsys *n);
void nsys_db_close(struct nsys *n);
bool nsys_has_table(struct nsys *n, const char *table);
/* SELECT of the columns (names between single spaces) of a table. A column that is not there reads as NULL;
 * one marked '!' must be there; without one marked '~' the table is left out, with a note; "?a,b,c" is 1 where any
 * of these is not NULL. 'rest' may hold WHERE or ORDER BY (only over columns marked '!'). False when there is no such table, or on failure. */
bool nsys_select(struct nsys *n, struct nsys_query *q, const char *table, const char *columns,
		 const char *rest);
/* The next row; false at the end or on failure, and then the query is closed and its bad rows are noted. */
bool nsys_next(struct nsys_query *q);
/* Hands every row of a table to 'add': for large tables, much cheaper than nsys_next. 'and' ("AND …") may
 * name a condition, but rows for which it does not hold may come too. False when it did not reach the end. */
bool nsys_each(struct nsys *n, const char *table, const char *columns, const char *and,
	       void (*add)(struct nsys_query *q), void *user);

static inline int64_t nsys_int(struct nsys_query *q, int column)
{
	return sqlite3_value_int64(q->values[column]);
}
static inline bool nsys_null(struct nsys_query *q, int column)
{
	return sqlite3_value_type(q->values[column]) == SQLITE_NULL;
}
/* HWY_NONE for NULL */
static inline int64_t nsys_int_or_none(struct nsys_query *q, int column)
{
	return nsys_null(q, column) ? HWY_NONE : nsys_int(q, column);
}
/* 0 for NULL, else the value plus one */
static inline int64_t nsys_int_plus_one(struct nsys_query *q, int column)
{
	int64_t value = nsys_int(q, column);
	/* unsigned: a damaged file may hold the largest number */
	return value == 0 && nsys_null(q, column) ? 0 : (int64_t)((uint64_t)value + 1);
}
/* A text column as a text id; 0 for NULL. */
uint32_t nsys_text(struct nsys_query *q, int column);
/* A column that refers to StringIds; 0 for NULL and ids that do not exist. */
uint32_t nsys_string(struct nsys *n, int64_t id);
/* The same for a frame's function: 0 where the text is nothing but its address ("0x5ce7d4"). */
uint32_t nsys_function(struct nsys *n, int64_t id, int64_t address);
static inline uint32_t nsys_string_of(struct nsys_query *q, int column)
{
	int64_t id = nsys_int(q, column);
	return id == 0 && nsys_null(q, column) ? 0 : nsys_string(q->nsys, id);
}
/* START and DUR of q->row from columns 0 and 1; false when the row has no usable start. */
bool nsys_times(struct nsys_query *q);
/* The same for marks: START from column 0. */
bool nsys_moment(struct nsys_query *q);

/* ---- nsys_target.c: who is who ---- */

void nsys_read_target(struct nsys *n); /* before the spans */
void nsys_name_target(struct nsys *n); /* after them: only who occurs gets a name */
uint32_t nsys_process(struct nsys *n, int64_t global_pid);
uint32_t nsys_thread(struct nsys *n, int64_t global_tid);
uint32_t nsys_host(struct nsys *n, int64_t global_id);
uint32_t nsys_device(struct nsys *n, uint32_t process, int64_t ordinal);
uint32_t nsys_gpu(struct nsys *n, uint32_t host, int64_t gpu);
/* The stream of a device row; 'first' is the column of deviceId, followed by contextId, greenContextId,
 * streamId, globalPid. */
uint32_t nsys_stream(struct nsys_query *q, int first);
uint32_t nsys_work_lane(struct nsys *n, uint32_t stream);
uint32_t nsys_sync_lane(struct nsys *n, uint32_t stream);
/* A lane of a thread: *cached is NSYS_NO_LANE until it is made. */
uint32_t nsys_thread_lane(struct nsys *n, uint32_t thread, enum hwy_lane_type type,
			  uint32_t *cached);
/* What the export calls "none" in 32-bit columns. */
static inline bool nsys_is_none(int64_t value)
{
	return value == 4294967295 || value == -1;
}

/* ---- nsys_meta.c ---- */

void nsys_read_meta(struct nsys *n);
void nsys_read_diagnostics(struct nsys *n);

/* ---- nsys_stacks.c, nsys_cuda.c, nsys_nvtx.c, nsys_cpu.c ---- */

void nsys_read_stacks(struct nsys *n);
void nsys_read_cuda(struct nsys *n);
void nsys_read_waits(
	struct nsys *n); /* nsys_waits.c: syncs and events; wants the calls of nsys_read_cuda */
void nsys_want_calls(struct nsys *n);
void nsys_read_nvtx(struct nsys *n);
void nsys_read_cpu(struct nsys *n);
void nsys_read_sched(struct nsys *n);
void nsys_read_gpu_metrics(struct nsys *n);

#endif
