/* SPDX-License-Identifier: Apache-2.0 */
/* headway.h - the public C API of libheadway: open a recording and look at what is in it.
 *
 * A recording is anything the headway program opens: a .hwy report, an nsys SQLite export, a
 * PyTorch profiler trace. In memory it is a trace: spans (something with a start and a duration)
 * that stand in order on lanes (a stream, a thread's API calls, the ranges of one NVTX domain, …).
 * Times are ns on one clock; time 0 is the trace's own.
 *
 *	char why[256];
 *	struct headway_trace *trace = headway_trace_open("run.sqlite", why, sizeof why);
 *	if (!trace)
 *		return fprintf(stderr, "%s\n", why), 2;
 *	struct headway_cursor *cursor = headway_cursor_open(trace, HEADWAY_ALL_LANES, NULL, why, sizeof why);
 *	struct headway_span_info span;
 *	while (headway_cursor_next(cursor, &span))
 *		printf("%lld %lld %s %s\n", (long long)span.start, (long long)span.dur, span.kind,
 *		       span.name);
 *	headway_cursor_close(cursor);
 *	headway_trace_close(trace);
 *
 * cc prog.c $(pkg-config --cflags --libs headway)
 *
 * Texts belong to the trace and live as long as it does. A trace may be used by several threads at
 * a time, a cursor by one.
 *
 * Compatibility. The library exports the functions below and nothing else; all names of this header
 * begin with headway_ or HEADWAY_. A trace and a cursor are opaque. The program provides the memory
 * of headway_lane_info and headway_span_info, so a new field in them is an incompatible change.
 * Before version 1.0 each minor version may be incompatible; the name of the shared library then
 * has both numbers (libheadway.so.0.2), so that no program is started with a library that does not
 * fit it. From 1.0 on only a major version may be. Functions may be added in any version.
 */
#ifndef HEADWAY_H
#define HEADWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEADWAY_PUBLIC __attribute__((visibility("default")))

/* The value of a number that the recording does not contain. */
#define HEADWAY_NONE INT64_MIN
/* The value of a span id where there is no span. */
#define HEADWAY_NO_SPAN UINT32_MAX
/* An argument of headway_cursor_open: read all lanes, one after the other. */
#define HEADWAY_ALL_LANES UINT32_MAX

/* Yields the version of this library, such as "0.2.0". */
HEADWAY_PUBLIC const char *headway_version(void);
/* Chooses the language of the reasons that functions give: "en", "zh", or a locale such as
 * "zh_CN.UTF-8". False where there is none of that name: the language stays. Call this before the
 * first thread that uses the library. */
HEADWAY_PUBLIC bool headway_use_language(const char *name);

struct headway_trace;

/* Opens a recording; what it is is decided by its content. NULL on failure: 'why' then holds one
 * line with the file, the place and the reason (cut to why_size; why may be NULL). */
HEADWAY_PUBLIC struct headway_trace *headway_trace_open(const char *path, char *why,
							size_t why_size);
HEADWAY_PUBLIC void headway_trace_close(struct headway_trace *trace); /* NULL is allowed */

HEADWAY_PUBLIC uint32_t headway_trace_spans(const struct headway_trace *trace);
HEADWAY_PUBLIC uint32_t headway_trace_lanes(const struct headway_trace *trace);
/* Yields the number of spans of a kind ("kernel", "api", … see headway_kind_name); 0 for an unknown
 * kind. */
HEADWAY_PUBLIC uint32_t headway_trace_spans_of_kind(const struct headway_trace *trace,
						    const char *kind);
/* Yields the wall-clock time of the trace's time 0, in ns since 1970 (UTC), or HEADWAY_NONE. */
HEADWAY_PUBLIC int64_t headway_trace_wall(const struct headway_trace *trace);
/* Yields the value of a property of the recording ("source.format", …), or NULL. */
HEADWAY_PUBLIC const char *headway_trace_property(const struct headway_trace *trace,
						  const char *name);

/* Yields the name of the kind with this index, which counts from 0; NULL after the last kind. */
HEADWAY_PUBLIC const char *headway_kind_name(unsigned index);

struct headway_lane_info {
	const char *type;   /* "stream", "api", "range", … */
	const char *name;   /* the name of the NVTX domain or of the counter; other lanes: "" */
	const char *thread; /* the thread's name, or "" */
	const char *device; /* the device's name, or "" */
	int64_t pid, tid;   /* ids of process and thread, or HEADWAY_NONE */
	int64_t ordinal;    /* number of the device, or HEADWAY_NONE */
	int64_t stream;     /* the vendor's number of the stream, or HEADWAY_NONE */
	uint32_t spans;
};
/* Fills 'info' with the facts about a lane. Yields false where there is no such lane. */
HEADWAY_PUBLIC bool headway_trace_lane(const struct headway_trace *trace, uint32_t lane,
				       struct headway_lane_info *info);

struct headway_span_info {
	uint32_t id; /* 0 … headway_trace_spans - 1 */
	uint32_t lane;
	int64_t start, dur;
	const char *kind; /* "kernel", "api", … */
	const char *name; /* the name; of a kernel the demangled name */
	uint32_t cause;   /* id of the API call that enqueued this work, or HEADWAY_NO_SPAN */
};

/* A cursor reads the spans of a lane in order of start (of equal starts the longer span first),
 * then the next lane. */
struct headway_cursor;

/* 'lane' is a lane's index or HEADWAY_ALL_LANES; 'kind' is one kind's name, or NULL for all. NULL
 * on failure (a damaged report, an unknown kind), with the reason in 'why'. */
HEADWAY_PUBLIC struct headway_cursor *headway_cursor_open(struct headway_trace *trace,
							  uint32_t lane, const char *kind,
							  char *why, size_t why_size);
HEADWAY_PUBLIC bool headway_cursor_next(struct headway_cursor *cursor,
					struct headway_span_info *span);
/* Closes a cursor; call this before headway_trace_close. NULL is allowed. */
HEADWAY_PUBLIC void headway_cursor_close(struct headway_cursor *cursor);

/* ---- columns: the spans of one kind as arrays ---- */

/* Texts, one behind the other: text i is the bytes [offsets[i], offsets[i + 1]), in UTF-8. */
struct headway_words {
	const char *bytes;
	const int64_t *offsets; /* n + 1 of them */
	uint64_t n;
};

enum headway_values { HEADWAY_INTEGERS, HEADWAY_REALS };

/* A column of the spans of one kind, or of all spans, in the order of their ids. It belongs to the trace and lives as
 * long as it does. Fields may be added at the end. */
struct headway_column {
	const char *name;
	enum headway_values type;
	/* 'rows' numbers: int64_t, or double where the type is HEADWAY_REALS. 0 where the span has no
	 * value. Of a column with words: which of them. A column whose values have types of their own
	 * ("payload" of ranges, "value" of counters) has words where all of its values are texts, such
	 * as JSON; where numbers are among them, its texts are absent. */
	const void *values;
	/* A bit for each row, the lowest of a byte first: 1 where the span has a value. NULL: every span has one. */
	const uint8_t *present;
	uint64_t rows, absent;             /* absent: how many spans have no value */
	const struct headway_words *words; /* NULL: the values are numbers */
};

/* Yields the name of a column that this recording has for spans of a kind (NULL: for all spans); 'index' counts from 0;
 * NULL after the last one, and for an unknown kind. The names are those of
 * `headway sql`. */
HEADWAY_PUBLIC const char *headway_column_name(struct headway_trace *trace, const char *kind,
					       unsigned index);
/* Makes a column, or finds it where it was made before. NULL on failure (a damaged report, an unknown kind or column),
 * with the reason in 'why'. */
HEADWAY_PUBLIC const struct headway_column *headway_trace_column(struct headway_trace *trace,
								 const char *kind, const char *name,
								 char *why, size_t why_size);

/* The Arrow C data interface, by which tables go to other libraries without a copy
 * (https://arrow.apache.org/docs/format/CDataInterface.html). */
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

/* Fills both structs with a column of the spans of a kind (NULL: of all spans), or, where 'name' is NULL, with a struct
 * of all columns that headway_column_name names. The receiver calls their release functions, from any thread; the memory
 * stays valid until then, also after headway_trace_close. */
HEADWAY_PUBLIC bool headway_arrow_export(struct headway_trace *trace, const char *kind,
					 const char *name, struct ArrowSchema *schema,
					 struct ArrowArray *array, char *why, size_t why_size);
/* Fills a stream with one batch: all columns of the spans of a kind (NULL: of all spans). The stream is
 * used by one thread at a time. */
HEADWAY_PUBLIC bool headway_arrow_stream(struct headway_trace *trace, const char *kind,
					 struct ArrowArrayStream *stream, char *why,
					 size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
