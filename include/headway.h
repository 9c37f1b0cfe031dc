/* headway.h - the public C API of libheadway: open a recording and look at what is in it.
 *
 * A recording is anything the headway program opens: a .hwy report, an nsys SQLite export, a PyTorch
 * profiler trace. In memory it is a trace: spans (something with a start and a duration) that stand in
 * order on lanes (a stream, a thread's API calls, the ranges of one NVTX domain, …). Times are ns on one
 * clock; time 0 is the trace's own.
 *
 *	char why[256];
 *	struct hwy_trace *trace = hwy_trace_open("run.sqlite", why, sizeof why);
 *	if (!trace)
 *		return fprintf(stderr, "%s\n", why), 2;
 *	struct hwy_cursor *cursor = hwy_cursor_open(trace, HWY_ALL_LANES, NULL, why, sizeof why);
 *	struct hwy_span_info span;
 *	while (hwy_cursor_next(cursor, &span))
 *		printf("%lld %lld %s %s\n", (long long)span.start, (long long)span.dur, span.kind,
 *		       span.name);
 *	hwy_cursor_close(cursor);
 *	hwy_trace_close(trace);
 *
 * cc prog.c $(pkg-config --cflags --libs headway)
 *
 * Texts belong to the trace and live as long as it does. A trace may be used by one thread at a time.
 */
#ifndef HEADWAY_H
#define HEADWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HWY_PUBLIC __attribute__((visibility("default")))

/* A number the recording does not tell. */
#define HWY_NONE INT64_MIN
/* A span id that is none. */
#define HWY_NO_SPAN UINT32_MAX
/* For hwy_cursor_open: lane after lane. */
#define HWY_ALL_LANES UINT32_MAX

/* "0.1.0" */
HWY_PUBLIC const char *hwy_version(void);

struct hwy_trace;

/* Opens a recording; what it is is decided by its content. NULL on failure: 'why' then holds one line with
 * the file, the place and the reason (cut to why_size; why may be NULL). */
HWY_PUBLIC struct hwy_trace *hwy_trace_open(const char *path, char *why, size_t why_size);
HWY_PUBLIC void hwy_trace_close(struct hwy_trace *trace); /* NULL is fine */

HWY_PUBLIC uint32_t hwy_trace_spans(const struct hwy_trace *trace);
HWY_PUBLIC uint32_t hwy_trace_lanes(const struct hwy_trace *trace);
/* Spans of one kind: "kernel", "api", … (hwy_kind_name lists them); 0 for kinds that are not known. */
HWY_PUBLIC uint32_t hwy_trace_spans_of_kind(const struct hwy_trace *trace, const char *kind);
/* Wall-clock time of time 0, ns since 1970 (UTC), or HWY_NONE. */
HWY_PUBLIC int64_t hwy_trace_wall(const struct hwy_trace *trace);
/* A fact about the recording ("source.format", …), or NULL. */
HWY_PUBLIC const char *hwy_trace_property(const struct hwy_trace *trace, const char *name);

/* The kinds of spans, 0 … until NULL. */
HWY_PUBLIC const char *hwy_kind_name(unsigned index);

struct hwy_lane_info {
	const char *type;   /* "stream", "api", "range", … */
	const char *name;   /* the NVTX domain, the counter; else "" */
	const char *thread; /* the thread's name, or "" */
	const char *device; /* the device's name, or "" */
	int64_t pid, tid;   /* or HWY_NONE */
	int64_t ordinal;    /* of the device, or HWY_NONE */
	int64_t stream;     /* the vendor's number of it, or HWY_NONE */
	uint32_t spans;
};
/* False when there is no such lane. */
HWY_PUBLIC bool hwy_trace_lane(const struct hwy_trace *trace, uint32_t lane,
			       struct hwy_lane_info *info);

struct hwy_span_info {
	uint32_t id; /* 0 … hwy_trace_spans - 1 */
	uint32_t lane;
	int64_t start, dur;
	const char *kind; /* "kernel", "api", … */
	const char *name; /* kernels: demangled */
	uint32_t cause;   /* id of the API call that enqueued this work, or HWY_NO_SPAN */
};

/* Reads spans in order of start (equal starts: the longer one first), lane by lane. */
struct hwy_cursor;

/* 'lane' is a lane's index or HWY_ALL_LANES; 'kind' is one kind's name, or NULL for all. NULL on failure (a
 * damaged report, an unknown kind), with the reason in 'why'. */
HWY_PUBLIC struct hwy_cursor *hwy_cursor_open(struct hwy_trace *trace, uint32_t lane,
					      const char *kind, char *why, size_t why_size);
HWY_PUBLIC bool hwy_cursor_next(struct hwy_cursor *cursor, struct hwy_span_info *span);
HWY_PUBLIC void hwy_cursor_close(struct hwy_cursor *cursor); /* before its trace; NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
