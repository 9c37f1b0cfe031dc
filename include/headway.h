/* headway.h - the public C API of libheadway: open a recording and look at what is in it.
 *
 * A recording is anything the headway program opens: a .hwy report, an nsys SQLite export, a PyTorch
 * profiler trace. In memory it is a trace: spans (something with a start and a duration) that stand in
 * order on lanes (a stream, a thread's API calls, the ranges of one NVTX domain, …). Times are ns on one
 * clock; time 0 is the trace's own.
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
 * Texts belong to the trace and live as long as it does. A trace may be used by one thread at a time.
 *
 * Compatibility. The library exports the functions below and nothing else; all names of this header
 * begin with headway_ or HEADWAY_. A trace and a cursor are opaque. The program provides the memory of
 * headway_lane_info and headway_span_info, so a new field in them is an incompatible change. Before
 * version 1.0 each minor version may be incompatible; the name of the shared library then has both
 * numbers (libheadway.so.0.1), so that no program is started with a library that does not fit it. From
 * 1.0 on only a major version may be. Functions may be added in any version.
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

/* A number the recording does not tell. */
#define HEADWAY_NONE INT64_MIN
/* A span id that is none. */
#define HEADWAY_NO_SPAN UINT32_MAX
/* For headway_cursor_open: lane after lane. */
#define HEADWAY_ALL_LANES UINT32_MAX

/* "0.1.0" */
HEADWAY_PUBLIC const char *headway_version(void);

struct headway_trace;

/* Opens a recording; what it is is decided by its content. NULL on failure: 'why' then holds one line with
 * the file, the place and the reason (cut to why_size; why may be NULL). */
HEADWAY_PUBLIC struct headway_trace *headway_trace_open(const char *path, char *why,
							size_t why_size);
HEADWAY_PUBLIC void headway_trace_close(struct headway_trace *trace); /* NULL is fine */

HEADWAY_PUBLIC uint32_t headway_trace_spans(const struct headway_trace *trace);
HEADWAY_PUBLIC uint32_t headway_trace_lanes(const struct headway_trace *trace);
/* Spans of one kind: "kernel", "api", … (headway_kind_name lists them); 0 for kinds that are not known. */
HEADWAY_PUBLIC uint32_t headway_trace_spans_of_kind(const struct headway_trace *trace,
						    const char *kind);
/* Wall-clock time of time 0, ns since 1970 (UTC), or HEADWAY_NONE. */
HEADWAY_PUBLIC int64_t headway_trace_wall(const struct headway_trace *trace);
/* A fact about the recording ("source.format", …), or NULL. */
HEADWAY_PUBLIC const char *headway_trace_property(const struct headway_trace *trace,
						  const char *name);

/* The kinds of spans, 0 … until NULL. */
HEADWAY_PUBLIC const char *headway_kind_name(unsigned index);

struct headway_lane_info {
	const char *type;   /* "stream", "api", "range", … */
	const char *name;   /* the NVTX domain, the counter; else "" */
	const char *thread; /* the thread's name, or "" */
	const char *device; /* the device's name, or "" */
	int64_t pid, tid;   /* or HEADWAY_NONE */
	int64_t ordinal;    /* of the device, or HEADWAY_NONE */
	int64_t stream;     /* the vendor's number of it, or HEADWAY_NONE */
	uint32_t spans;
};
/* False when there is no such lane. */
HEADWAY_PUBLIC bool headway_trace_lane(const struct headway_trace *trace, uint32_t lane,
				       struct headway_lane_info *info);

struct headway_span_info {
	uint32_t id; /* 0 … headway_trace_spans - 1 */
	uint32_t lane;
	int64_t start, dur;
	const char *kind; /* "kernel", "api", … */
	const char *name; /* kernels: demangled */
	uint32_t cause;   /* id of the API call that enqueued this work, or HEADWAY_NO_SPAN */
};

/* Reads spans in order of start (equal starts: the longer one first), lane by lane. */
struct headway_cursor;

/* 'lane' is a lane's index or HEADWAY_ALL_LANES; 'kind' is one kind's name, or NULL for all. NULL on failure (a
 * damaged report, an unknown kind), with the reason in 'why'. */
HEADWAY_PUBLIC struct headway_cursor *headway_cursor_open(struct headway_trace *trace,
							  uint32_t lane, const char *kind,
							  char *why, size_t why_size);
HEADWAY_PUBLIC bool headway_cursor_next(struct headway_cursor *cursor,
					struct headway_span_info *span);
HEADWAY_PUBLIC void headway_cursor_close(
	struct headway_cursor *cursor); /* before its trace; NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
