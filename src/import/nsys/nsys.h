/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.h - what the files of the reader of Nsight Systems exports share.
 *
 * An export is an SQLite file, and its tables and columns differ from release to release: a table
 * that is missing reads as one without rows, a missing column as NULL. nsys.c calls the parts of
 * the reader in order. The first failure is kept in 'err' and 'failed', and every later query then
 * yields no row.
 *
 * A "ref" is a reference of base/ref.h: 0 refers to nothing.
 */
#ifndef HWY_IMPORT_NSYS_NSYS_H
#define HWY_IMPORT_NSYS_NSYS_H

#include <sqlite3.h>

#include "base/ids.h"
#include "base/index.h"
#include "base/progress.h"
#include "base/ref.h"
#include "trace/builder.h"

/* What the importer keeps of a stream; nsys.streams has the order of the trace's streams. */
struct nsys_stream {
	/* The columns by which the export tells streams apart; their bytes are the key of
	 * nsys.stream_of. */
	struct nsys_stream_key {
		int64_t global_pid, device, context, green, number;
	} key;
	uint32_t process; /* index into the trace's processes */
};
struct nsys_call {     /* the call that a row of the wait or event table belongs to */
	uint32_t name; /* the call's name, a text of the trace; 0 until the call is read */
	int64_t start;
};

struct nsys {
	const char *path;
	sqlite3 *db;
	struct hwy_builder *b;
	struct hwy_trace *trace; /* the builder's trace, while it is built */
	struct hwy_err *err;
	bool failed;
	struct nsys_query *query;          /* the query that nsys_each runs */
	void (*add)(struct nsys_query *q); /* the function that nsys_each calls for each row */
	const struct hwy_progress *progress;
	/* Rows read so far, and a guess of all rows: for the progress only. */
	uint64_t rows, rows_total;

	/* The following fields are for texts. */
	sqlite3_stmt *string_stmt;
	struct hwy_ids strings; /* maps a StringIds.id to the ref of a text of the trace */
	bool strings_by_row;    /* StringIds.id is not the row id (see prepare_strings) */
	/* 'string_rows' maps a StringIds.id to its row id; used only with strings_by_row. */
	struct hwy_map string_rows;

	/* The following fields are for processes, threads, devices and streams: the maps yield
	 * indexes of the trace. */
	struct hwy_map process_of; /* maps globalPid >> 24 to a process */
	struct hwy_map thread_of;  /* maps a globalTid to a thread */
	int64_t last_tid;          /* globalTid of the row before */
	uint32_t last_thread;   /* thread of the row before; UINT32_MAX: there was no row before */
	struct hwy_map host_of; /* maps globalPid >> 48 to a host */
	struct hwy_index device_of; /* maps a struct pair_key of host and GPU id to a device */
	/* 'gpu_of' maps a struct pair_key of pid and CUDA ordinal to the GPU id of the export. */
	struct hwy_index gpu_of;
	struct hwy_index stream_of; /* maps a struct nsys_stream_key to a stream */
	struct nsys_stream *streams;
	uint32_t cap_streams;
	/* last_stream: the stream of the row before; UINT32_MAX: there was no row before. */
	uint32_t last_stream;
	/* 'fact_of' maps a struct fact_key of pid, context and stream number to an index into
	 * 'facts'. */
	struct hwy_index fact_of;
	struct nsys_stream_fact { /* what the tables of streams and contexts say about a stream */
		int64_t priority, flags;
		uint32_t name;
	} * facts;
	uint32_t n_facts, cap_facts;

	struct nsys_payloads *payloads; /* nsys_payload.c; NULL: payloads have no schemas */
	struct nsys_nodes *nodes;       /* nsys_nodes.c; NULL until device work refers to a node */

	/* Each of the four maps a call chain id to the ref of a stack of the trace. */
	struct hwy_ids cuda_chains, os_chains, sample_chains, syscall_chains;

	/* The following fields are for the calls that rows of the wait and event tables belong
	 * to. */
	struct hwy_map call_of; /* maps an nsys_call_key to an index into 'calls' */
	struct nsys_call *calls;
	uint32_t n_calls, cap_calls;
};

/* ---- nsys_db.c ---- */

enum { NSYS_COLUMNS = 40 }; /* more columns than any query has */

struct nsys_query {
	struct nsys *nsys;
	const char *table;
	sqlite3_stmt *stmt;
	sqlite3_value **values;           /* the values of the current row */
	sqlite3_value *own[NSYS_COLUMNS]; /* the values that 'values' points to in nsys_next */
	void *user;
	/* For the spans that are made of the rows: zeroed once for the query. Whoever adds spans
	 * sets the same columns for every span, also to 0, so that no value of the row before is
	 * left. */
	struct hwy_row row;
	bool stop;          /* set by the function that nsys_each calls, to end nsys_each early */
	uint64_t no_time;   /* rows that were left out because they have no usable time */
	uint64_t backwards; /* rows that end before they start, and got a duration of 0 */
};

bool nsys_db_open(struct nsys *n);
void nsys_db_close(struct nsys *n);
bool nsys_has_table(struct nsys *n, const char *table);
/* Begins a SELECT of columns of a table. 'columns' are names with single spaces between them. A
 * column that the table lacks reads as NULL, unless its name is marked: without a '!' column the
 * file is no export, without a '~' column the table is left out with a diagnostic. "?a,b,c" is 1
 * where any of the columns a, b, c is not NULL. 'rest' may hold WHERE or ORDER BY, over columns
 * marked '!' only. False when there is no such table, or on failure. */
bool nsys_select(struct nsys *n, struct nsys_query *q, const char *table, const char *columns,
		 const char *rest);
/* Goes to the next row; false at the end or on failure: then the query is closed and its bad rows
 * are reported. */
bool nsys_next(struct nsys_query *q);
/* Calls 'add' for every row of a table: for large tables, much faster than nsys_next. 'and' ("AND
 * …") may name a condition, but rows that do not fulfil it may come too. False when the end of the
 * table was not reached. */
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
/* Yields a column's integer; HWY_NONE for NULL. */
static inline int64_t nsys_int_or_none(struct nsys_query *q, int column)
{
	return nsys_null(q, column) ? HWY_NONE : nsys_int(q, column);
}
/* Yields a column's integer as a ref; HWY_REF_NONE for NULL. */
static inline int64_t nsys_ref(struct nsys_query *q, int column)
{
	int64_t value = nsys_int(q, column);
	/* hwy_ref is not used, because it takes no negative numbers: a damaged file may hold any
	 * number. */
	return value == 0 && nsys_null(q, column) ? HWY_REF_NONE : (int64_t)((uint64_t)value + 1);
}
/* Yields a text column as a text of the trace; 0 for NULL. */
uint32_t nsys_text(struct nsys_query *q, int column);
/* Yields the text of the trace for an id of the table StringIds; 0 for ids that do not exist. */
uint32_t nsys_string(struct nsys *n, int64_t id);
/* Yields the function of a frame by its id in StringIds: 0 where the text is only the frame's
 * address ("0x5ce7d4"). */
uint32_t nsys_function(struct nsys *n, int64_t id, int64_t address);
/* Yields the text of the trace for a column that holds an id of StringIds; 0 for NULL. */
static inline uint32_t nsys_string_of(struct nsys_query *q, int column)
{
	int64_t id = nsys_int(q, column);
	return id == 0 && nsys_null(q, column) ? 0 : nsys_string(q->nsys, id);
}
/* Sets START and DUR of q->row from columns 0 and 1; false when the row has no usable start, which
 * is counted. */
bool nsys_times(struct nsys_query *q);
/* Sets START of q->row from column 0, for a mark; false when the row has no usable time, which
 * is counted. */
bool nsys_moment(struct nsys_query *q);

/* ---- nsys_target.c: hosts, processes, threads, devices, streams ---- */

/* Reads the tables that decide which record a row belongs to; called before the spans are read. */
void nsys_read_target(struct nsys *n);
/* Reads names and properties for the records that spans refer to; called after the spans were
 * read. */
void nsys_name_target(struct nsys *n);
/* These yield indexes of the trace and make the record when it is first asked for. A global id is
 * as nsys_target.c describes it; 'ordinal' is CUDA's number of a device in its process, 'gpu' the
 * machine's number. */
uint32_t nsys_process(struct nsys *n, int64_t global_pid);
uint32_t nsys_thread(struct nsys *n, int64_t global_tid);
uint32_t nsys_host(struct nsys *n, int64_t global_id);
uint32_t nsys_device(struct nsys *n, uint32_t process, int64_t ordinal);
uint32_t nsys_gpu(struct nsys *n, uint32_t host, int64_t gpu);
/* Yields the trace's process of a global id; NULL: no event refers to the process. */
struct hwy_process *nsys_find_process(struct nsys *n, int64_t global_pid);
/* The stream of a row about device work; 'first' is the column of deviceId, and contextId,
 * greenContextId, streamId and globalPid follow it. */
uint32_t nsys_stream(struct nsys_query *q, int first);
/* Whether a number means "none" in a 32-bit column of the export. */
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
/* nsys_waits.c: before nsys_read_cuda, lists the calls whose names and starts nsys_read_waits will
 * need. */
void nsys_expect_calls(struct nsys *n);
/* nsys_waits.c: adds waits and CUDA events; called after nsys_read_cuda. */
void nsys_read_waits(struct nsys *n);
/* The key of nsys.call_of for a process of the trace; false: such a call is not kept, CUPTI has
 * correlation ids of 32 bits. */
static inline bool nsys_call_key(uint32_t process, int64_t correlation, uint64_t *key)
{
	*key = (uint64_t)process << 32 | (uint32_t)correlation;
	return correlation >= 0 && correlation <= UINT32_MAX;
}
/* nsys_nodes.c: device work refers to a node of a CUDA graph. */
void nsys_nodes_use(struct nsys *n, uint32_t process, int64_t id);
/* nsys_nodes.c: adds the nodes of CUDA graphs that device work refers to; called after
 * nsys_read_cuda. */
void nsys_read_nodes(struct nsys *n);
void nsys_nodes_free(struct nsys *n);
void nsys_read_nvtx(struct nsys *n);
/* nsys_payload.c: reads what the payloads of ranges have in them. */
void nsys_payloads_open(struct nsys *n);
/* nsys_payload.c: the payload of a range as a JSON object, a text of the trace; 0: there is
 * none, or its schema is not known. 'column' is binaryData. */
uint32_t nsys_payload_args(struct nsys_query *q, int column);
void nsys_payloads_close(struct nsys *n);
void nsys_read_cpu(struct nsys *n);
/* nsys_cpu.c: the lane of a thread's calls of a library. */
uint32_t nsys_library_lane(struct nsys *n, uint32_t thread, const char *library);
void nsys_read_mpi(struct nsys *n);
void nsys_read_sched(struct nsys *n);
void nsys_read_gpu_metrics(struct nsys *n);

#endif
