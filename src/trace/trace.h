/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - everything recorded, in memory, finished and immutable.
 *
 * Spans stand on lanes. The spans of one kind on one lane are a strip: columns of equal length,
 * sorted by start (ties: longer first). Strips are sorted by lane, then kind; span ids count
 * through them in that order, so a strip's rows are ids first … first+rows-1.
 *
 * A trace that was opened from a file holds no columns until hwy_need asks for them; after a
 * successful hwy_need reading cannot fail. Traces made by a builder hold everything.
 */
#ifndef HWY_TRACE_TRACE_H
#define HWY_TRACE_TRACE_H

#include "base/err.h"
#include "base/ref.h"
#include "base/strings.h"
#include "trace/column.h"
#include "trace/model.h"

struct hwy_strip {
	uint32_t lane;
	uint32_t kind; /* enum hwy_kind */
	uint32_t rows;
	uint32_t first;                       /* the span id of row 0 */
	struct hwy_column *columns[HWY_COLS]; /* NULL: every row is 0 */
};

/* Every table of records, once: X(type, field of the trace, section number in the file). Append
 * only; see docs/report-format.md. append_tables.c says what the fields of each table refer to. */
#define HWY_RECORDS(X)                                                                             \
	X(hwy_lane, lanes, 1)                                                                      \
	X(hwy_host, hosts, 2)                                                                      \
	X(hwy_process, processes, 3)                                                               \
	X(hwy_thread, threads, 4)                                                                  \
	X(hwy_device, devices, 5)                                                                  \
	X(hwy_context, contexts, 6)                                                                \
	X(hwy_stream, streams, 7)                                                                  \
	X(hwy_module, modules, 8)                                                                  \
	X(hwy_shape, shapes, 9)                                                                    \
	X(hwy_symbol, symbols, 10)                                                                 \
	X(hwy_frame, frames, 11)                                                                   \
	X(hwy_stack, stacks, 12)                                                                   \
	X(hwy_edge, edges, 13)                                                                     \
	X(hwy_group, groups, 14)                                                                   \
	X(hwy_clock, clocks, 15)                                                                   \
	X(hwy_calibration, calibrations, 16)                                                       \
	X(hwy_drop, drops, 17)                                                                     \
	X(hwy_diagnostic, diagnostics, 18)                                                         \
	X(hwy_property, properties, 19)                                                            \
	X(hwy_result, results, 20)                                                                 \
	X(hwy_node, nodes, 21)                                                                     \
	X(hwy_node_edge, node_edges, 22)                                                           \
	X(hwy_measured, measured, 23)                                                              \
	X(hwy_measure, measures, 24)                                                               \
	X(hwy_stalled_line, stalled_lines, 25)                                                     \
	X(hwy_message, messages, 26)                                                               \
	X(hwy_ping, pings, 27)

/* The tables of records, HWY_TABLE_lanes … HWY_TABLE_pings, numbered as in the file. */
enum hwy_table {
	HWY_TABLE_NONE,
#define X(type, field, section) HWY_TABLE_##field = (section),
	HWY_RECORDS(X)
#undef X
};

struct hwy_trace {
	struct hwy_strings strings;
#define X(type, field, section)                                                                    \
	struct type *field;                                                                        \
	uint32_t n_##field, cap_##field;
	HWY_RECORDS(X)
#undef X
	struct hwy_strip *strips;
	uint32_t n_strips, cap_strips;
	uint32_t n_spans;
	int64_t wall;   /* wall-clock ns (Unix) of time 0, or HWY_NONE */
	uint8_t *roles; /* by text id: what hwy_role yields for the name; 0xff: not computed yet */
	/* By text id: 1 where the text names a communication kernel; 0xff: not computed yet. */
	uint8_t *comm;
	void **result_bytes;   /* by result: its bytes; NULL until hwy_result_bytes has read them */
	struct hwy_file *file; /* the report that columns are read from, or NULL */
};

void hwy_trace_free(struct hwy_trace *trace);
uint32_t hwy_table_rows(const struct hwy_trace *trace, enum hwy_table table);

/* Loads the given columns of all strips of the given kinds, unless they are in memory already. */
bool hwy_need(struct hwy_trace *trace, uint32_t kinds, uint64_t columns, struct hwy_err *err);
/* hwy_need for one strip. */
bool hwy_need_strip(struct hwy_trace *trace, uint32_t strip, uint64_t columns, struct hwy_err *err);

/* hwy_need for the rows of one chunk; a row lies in chunk row >> HWY_CHUNK_BITS. */
bool hwy_need_chunk(struct hwy_trace *trace, uint32_t strip, uint32_t chunk, uint64_t columns,
		    struct hwy_err *err);
/* hwy_need for the n rows from 'first' on, and for the rows that share their chunks. */
bool hwy_need_rows(struct hwy_trace *trace, uint32_t strip, uint64_t columns, uint32_t first,
		   uint32_t n, struct hwy_err *err);

/* Frees the memory of columns that the report's file still has; hwy_need brings them back. For code
 * that goes through a trace once. Nobody else may be reading the trace meanwhile. */
void hwy_forget_strip(struct hwy_trace *trace, uint32_t strip, uint64_t columns);
void hwy_forget_chunk(struct hwy_trace *trace, uint32_t strip, uint32_t chunk, uint64_t columns);

static inline int64_t hwy_get(const struct hwy_strip *strip, enum hwy_col col, uint32_t row)
{
	const struct hwy_column *column = strip->columns[col];
	return column ? column_get(column, row) : 0;
}

/* Columns whose stored form is a reference (hwy_columns in trace/columns.h says which): 0 is none,
 * n + 1 is the number n. These four are the only readers of that form:
 *
 *   uint32_t call;
 *   if (hwy_get_index(strip, HWY_LINK, row, &call))
 *           printf("launched by span %u\n", call);
 *
 * While building, hwy_ref(index) of base/ref.h makes what row.v[HWY_LINK] takes. */
static inline bool hwy_ref_to_index(int64_t stored, uint32_t *index)
{
	if (!hwy_ref_is_set(stored) || stored > UINT32_MAX)
		return false;
	*index = (uint32_t)hwy_ref_index(stored);
	return true;
}

/* Yields in *number a stored reference as a 64-bit number: a handle above INT64_MAX comes out
 * negative. */
static inline bool hwy_ref_to_number(int64_t stored, int64_t *number)
{
	*number = (int64_t)((uint64_t)stored - 1);
	return stored != 0;
}

/* Yields in *index the span id or the record's index that a column refers to; false where the span
 * has none. */
static inline bool hwy_get_index(const struct hwy_strip *strip, enum hwy_col col, uint32_t row,
				 uint32_t *index)
{
	return hwy_ref_to_index(hwy_get(strip, col, row), index);
}

/* The number that a column stores as a reference: CHANNEL, EVENT_ID, EVENT_SYNC, SEQUENCE, CPU,
 * SRC_CONTEXT, DST_CONTEXT, PARENT; false where the span has none. */
static inline bool hwy_get_number(const struct hwy_strip *strip, enum hwy_col col, uint32_t row,
				  int64_t *number)
{
	return hwy_ref_to_number(hwy_get(strip, col, row), number);
}

/* Yield the launch shape or the names of a kernel, or the stream that a wait concerns; NULL where
 * not recorded. */
static inline const struct hwy_shape *hwy_get_shape(const struct hwy_trace *trace,
						    const struct hwy_strip *strip, uint32_t row)
{
	uint32_t index;
	return hwy_get_index(strip, HWY_SHAPE, row, &index) ? &trace->shapes[index] : NULL;
}

static inline const struct hwy_symbol *hwy_get_symbol(const struct hwy_trace *trace,
						      const struct hwy_strip *strip, uint32_t row)
{
	uint32_t index;
	return hwy_get_index(strip, HWY_SYMBOL, row, &index) ? &trace->symbols[index] : NULL;
}

static inline const struct hwy_stream *hwy_get_waited(const struct hwy_trace *trace,
						      const struct hwy_strip *strip, uint32_t row)
{
	uint32_t index;
	return hwy_get_index(strip, HWY_WAITED, row, &index) ? &trace->streams[index] : NULL;
}

/* The stack that called this one: a reference (base/ref.h) to a stack, like HWY_STACK of a span.
 *
 *   for (int64_t stack = hwy_get(strip, HWY_STACK, row); hwy_ref_is_set(stack);
 *        stack = hwy_stack_caller(trace, stack))
 *           puts(hwy_str(trace, hwy_stack_frame(trace, stack)->function)); */
static inline int64_t hwy_stack_caller(const struct hwy_trace *trace, int64_t stack)
{
	return trace->stacks[hwy_ref_index(stack)].parent;
}

static inline const struct hwy_frame *hwy_stack_frame(const struct hwy_trace *trace, int64_t stack)
{
	return &trace->frames[trace->stacks[hwy_ref_index(stack)].frame];
}

/* A column of colours holds ARGB with bit 32 set, so that black is not "none". */
#define HWY_COLOR_IS_SET (INT64_C(1) << 32)
static inline int64_t hwy_color(uint32_t argb)
{
	return (int64_t)argb | HWY_COLOR_IS_SET;
}
static inline bool hwy_get_color(const struct hwy_strip *strip, uint32_t row, uint32_t *argb)
{
	int64_t stored = hwy_get(strip, HWY_COLOR, row);
	*argb = (uint32_t)stored;
	return stored != 0;
}

/* Reads one value of a column that need not be in memory: its chunk is read, checked as hwy_need
 * does, and freed. For a look at one span of a large report. */
bool hwy_peek(struct hwy_trace *trace, uint32_t strip, enum hwy_col col, uint32_t row,
	      int64_t *value, struct hwy_err *err);

/* A cache for hwy_peek of rows near each other: it keeps the chunks that were read last. Zeroed
 * memory is empty. */
struct hwy_peeks {
	struct hwy_peeked {
		const struct hwy_column *column; /* NULL: this entry is free */
		uint32_t index;                  /* index of the chunk in its column */
		struct hwy_chunk chunk;          /* a copy of the chunk, with its data */
	} recent[64];
	uint32_t next, last; /* the entry to be replaced next, the entry that was found last */
};
bool hwy_peek_near(struct hwy_trace *trace, struct hwy_peeks *peeks, uint32_t strip,
		   enum hwy_col col, uint32_t row, int64_t *value, struct hwy_err *err);
void hwy_peeks_free(struct hwy_peeks *peeks);

/* Yields the ns from one time to another, INT64_MAX or INT64_MIN where they do not fit. Starts and
 * durations of spans are checked when a report is read and can be subtracted as they are; times in
 * records and in other columns can be anything. */
static inline int64_t hwy_between(int64_t from, int64_t to)
{
	int64_t length;
	if (__builtin_sub_overflow(to, from, &length))
		return to > from ? INT64_MAX : INT64_MIN;
	return length;
}

static inline int64_t hwy_end(const struct hwy_strip *strip, uint32_t row)
{
	return hwy_get(strip, HWY_START, row) + hwy_get(strip, HWY_DUR, row);
}

/* Whether a copy reads or writes host memory that is not pinned. */
static inline bool hwy_copies_pageable(const struct hwy_strip *strip, uint32_t row)
{
	return hwy_get(strip, HWY_SRC_MEMORY, row) == HWY_MEM_PAGEABLE ||
	       hwy_get(strip, HWY_DST_MEMORY, row) == HWY_MEM_PAGEABLE;
}
/* Yields the strip that holds the span with this id, and in *row the span's row in the strip. */
const struct hwy_strip *hwy_strip_of(const struct hwy_trace *trace, uint32_t id, uint32_t *row);
/* Yields the strip with the spans of a kind on a lane, or NULL. */
const struct hwy_strip *hwy_strip_on(const struct hwy_trace *trace, uint32_t lane,
				     enum hwy_kind kind);

/* Yields the text with this id; "" for HWY_NONE and for ids out of range. */
struct hwy_text hwy_text(const struct hwy_trace *trace, int64_t id);
const char *hwy_str(const struct hwy_trace *trace, int64_t id);
/* Whether the processes of the trace are of several ranks of a job: then people tell them by
 * their ranks. */
bool hwy_has_ranks(const struct hwy_trace *trace);
/* Yields the value of the property with this name, or NULL. */
const char *hwy_property(const struct hwy_trace *trace, const char *name);
/* Whether a device, an index into the trace's devices, is a CPU, which OpenCL ran the work on.
 * False where the device's type was not recorded. */
bool hwy_device_is_cpu(const struct hwy_trace *trace, int64_t device);
/* Whether all devices of the recording are CPUs. */
bool hwy_devices_are_cpus(const struct hwy_trace *trace);

/* Yields the correlation id of any span, linked or not (needs LINK and CORR, and CORR of
 * HWY_API). */
int64_t hwy_corr(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row);

/* Yields the role of an API call by its name: enum hwy_role, plus HWY_ROLE_BLOCKS where the call
 * blocks by contract. */
unsigned hwy_role(struct hwy_trace *trace, int64_t name);
/* Whether a lane has OpenCL's calls (its name is HWY_OPENCL) or the work of a queue of OpenCL:
 * tables of CUDA leave such lanes out. */
#define HWY_OPENCL "opencl"
bool hwy_lane_is_opencl(const struct hwy_trace *trace, uint32_t lane);
/* Whether a lane has calls of a library (cuBLAS, cuDNN, MPI …), which is the lane's name. Lanes
 * of the same type without a name have functions of the program itself, from a tracer: analyses
 * that look for the program's own code leave libraries out. */
bool hwy_lane_is_library(const struct hwy_trace *trace, uint32_t lane);
unsigned hwy_role_of_name(const char *name);
/* Yields the class of device work: a kernel's by its name; copies and fills are memory, graphs are
 * compute. */
enum hwy_class hwy_class(struct hwy_trace *trace, enum hwy_kind kind, int64_t name);
/* Yields the class as HTA counts it: only kernels of NCCL, RCCL and NVSHMEM communicate. */
enum hwy_class hwy_class_as_hta(struct hwy_trace *trace, enum hwy_kind kind, int64_t name);
/* Whether a kernel of this name communicates between devices: a library's, or a custom
 * collective. */
bool hwy_name_is_comm(const char *name);

/* First start and last end of the spans of the given kinds; false when there are none. Needs START
 * and DUR of these kinds. */
bool hwy_extent(const struct hwy_trace *trace, uint32_t kinds, int64_t *from, int64_t *to);

/* All spans of one lane (of the given kinds) in order of start, longer first:
 *   struct hwy_walk walk = hwy_walk(trace, lane, kinds);
 *   while (hwy_walk_next(&walk))
 *           puts(hwy_str(trace, hwy_get(walk.strip, HWY_NAME, walk.row)));
 * Needs START and DUR of the kinds that are walked. */
struct hwy_walk {
	const struct hwy_strip *strip; /* strip and row of the current span */
	uint32_t row;
	struct {
		const struct hwy_strip *strip;
		uint32_t next;
	} heads[HWY_KINDS];
	uint32_t n;
};
struct hwy_walk hwy_walk(const struct hwy_trace *trace, uint32_t lane, uint32_t kinds);
bool hwy_walk_next(struct hwy_walk *walk);

#endif
