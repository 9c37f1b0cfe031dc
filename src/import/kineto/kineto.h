/* kineto.h - what the files of the Kineto reader share (kineto*.c); no other file includes this.
 *
 * An event is read in one go (kineto_event.c) into slices of the window, then made into spans by its
 * category: device work in kineto_device.c, the CPU's side in kineto_host.c. Who an event belongs to is
 * kineto_ids.c; what the file says about itself is kineto_meta.c.
 *
 * A device's events carry the device as their pid and do not say which process they are of. With one
 * process that calls the vendor's library, it is that one, and known only at the end: until then such
 * lanes, streams and contexts have HWY_NONE as their process. With several, kineto_hints.c finds out in a
 * pass of its own, and the file is read again.
 */
#ifndef HWY_IMPORT_KINETO_KINETO_H
#define HWY_IMPORT_KINETO_KINETO_H

#include "import/import.h"
#include "import/json_scan.h"
#include "import/source.h"
#include "trace/builder.h"

/* Names of arguments that mean something to us; the others are kept as text. */
enum kineto_key {
	KEY_OTHER,
	KEY_EXTERNAL,
	KEY_CORRELATION,
	KEY_DEVICE,
	KEY_STREAM,
	KEY_CONTEXT,
	KEY_QUEUED,
	KEY_CHANNEL,
	KEY_CHANNEL_TYPE,
	KEY_PRIORITY,
	KEY_GRID,
	KEY_BLOCK,
	KEY_REGISTERS,
	KEY_SHARED,
	KEY_GRAPH,
	KEY_GRAPH_NODE,
	KEY_BYTES,
	KEY_BANDWIDTH,
	KEY_FROM_DEVICE,
	KEY_TO_DEVICE,
	KEY_FROM_CONTEXT,
	KEY_TO_CONTEXT,
	KEY_SYNC_KIND,
	KEY_WAIT_STREAM,
	KEY_WAIT_RECORD,
	KEY_WAIT_EVENT,
	KEY_EVENT,
	KEY_PYTHON,
	KEY_PYTHON_PARENT,
	KEY_SEQUENCE,
	KEY_INDEX,
	KEY_RECORD_FUNCTION,
	KEY_DEVICE_TYPE,
	KEY_DEVICE_ID,
	KEY_ADDRESS,
	KEY_MEMORY_BYTES,
	KEY_ALLOCATED,
	KEY_RESERVED,
	KEY_NAME,
	KEY_LABELS,
	KEYS /* fewer than 64: sets of them are masks */
};

enum kineto_category {
	CAT_OTHER,
	CAT_KERNEL,
	CAT_COPY,
	CAT_FILL,
	CAT_API,
	CAT_OP,
	CAT_ANNOTATION,
	CAT_DEVICE_ANNOTATION,
	CAT_SYNC,
	CAT_EVENT,
	CAT_PYTHON,
	CAT_OVERHEAD,
	CAT_TRACE,
	CAT_LAUNCH_FLOW,
	CAT_FORWARD_FLOW,
};

struct kineto_arg {
	struct hwy_text key;
	struct scan_value value;
	enum kineto_key id;
};

struct kineto_event {
	struct hwy_text text; /* all of it */
	char phase;           /* 0: none */
	enum kineto_category category;
	int64_t ts, dur;
	bool has_ts, has_dur;
	struct scan_value cat, name, pid, tid, id;
	struct kineto_arg *args;
	uint32_t n_args, cap_args;
	uint16_t arg_of[KEYS]; /* index into args plus one; 0: there is none */
};

/* A pid or tid: a number, or a text (then number is HWY_NONE). Texts of digits are numbers. */
struct kineto_id {
	int64_t number;
	uint32_t text;
};

struct kineto_flow { /* one end of a forward-backward arrow */
	int64_t ts, id;
	uint32_t lane;
	bool is_end;
};

struct kineto_mark { /* a counter's value; counters wait for the end, when their type is known */
	int64_t ts, number;
	double real;
	uint32_t lane;
	bool is_real;
};

/* Why an event was left out. */
enum kineto_drop {
	DROP_NOT_JSON,
	DROP_NO_PHASE,
	DROP_NO_TIME,
	DROP_TIME_RANGE,
	DROP_PHASE,
	DROP_NO_PAIR,
	DROPS
};

/* What a pass over the file found out for the next one; empty for the first (kineto_hints.c). */
struct kineto_hints {
	bool ready;
	struct hwy_map owners;     /* correlation id -> index into pids, plus one */
	struct hwy_map shared;     /* correlation ids that several processes use */
	struct hwy_map devices;    /* a device's pid -> index into pids, plus one */
	struct hwy_map flows;      /* hash of pid, tid and ts -> index into flow_ids, plus one */
	struct hwy_map pid_places; /* pid -> index into pids */
	int64_t *pids, *flow_ids;
	struct kineto_work {
		int64_t device, correlation;
	} * work;
	uint32_t n_pids, cap_pids, n_flow_ids, cap_flow_ids, n_work, cap_work;
};

enum { KINETO_SLOTS = 256 };

struct kineto {
	struct hwy_builder *b;
	struct hwy_trace *trace;
	struct source source;
	const struct hwy_progress *progress;
	struct hwy_err *err;
	struct kineto_hints *hints;
	bool collecting;           /* this pass fills the hints and makes no trace */
	struct kineto_event event; /* the one being read; its memory is used again */
	char *scratch;             /* of scratch_size bytes, for texts that must be put together */
	size_t scratch_size;

	/* kineto_ids.c */
	struct hwy_map numbers, processes, text_processes, threads, text_threads, devices,
		text_devices;
	struct hwy_map contexts, streams, any_streams, names, labels, pairs[2];
	struct kineto_slot {
		int64_t pid, tid, context;
		uint32_t type, owner, lane_plus_one;
	} slots[KINETO_SLOTS]; /* lanes used lately */
	int64_t caller;        /* the process that calls the vendor's library, or HWY_NONE */
	int64_t first_host;    /* the first process with anything else on the CPU, or HWY_NONE */
	bool several_callers;
	struct kineto_late { /* lanes that get their thread when the process is known */
		int64_t tid;
		uint32_t lane;
	} * late_lanes;
	uint32_t n_late_lanes, cap_late_lanes;

	/* kineto_meta.c */
	int64_t base; /* baseTimeNanoseconds, or HWY_NONE */
	int64_t rank, world;

	/* kineto_edges.c, kineto_counters.c */
	struct kineto_flow *flows;
	uint32_t n_flows, cap_flows;
	struct kineto_mark *marks;
	uint32_t n_marks, cap_marks;

	/* kineto_pairs.c */
	struct hwy_map begin_of; /* a thread -> index into begins */
	struct kineto_begin **begins;
	uint32_t n_begins, cap_begins;

	uint64_t n_events, n_kept, n_launch_flows, n_work_without_id;
	uint64_t drops[DROPS];
	uint64_t first_bad; /* offset of the first event that was not JSON */
};

/* kineto.c: import_kineto with a window of a size to test. */
struct hwy_trace *import_kineto_window(const char *path, size_t window,
				       const struct hwy_progress *progress, struct hwy_err *err);

/* kineto_event.c */
/* Reads one element of the list of events; what is no object becomes an event without a phase. */
bool kineto_read_event(struct kineto *k, struct scan *scan);
void kineto_add_event(struct kineto *k);
struct kineto_id kineto_read_id(struct kineto *k, const struct scan_value *value);

/* kineto_args.c */
enum kineto_key kineto_key_of(const char *key, uint32_t length);
enum kineto_category kineto_category_of(const struct scan_value *cat);
/* A string's text without its escapes (valid until the next use of the scratch), and its number. */
struct hwy_text kineto_text(struct kineto *k, const struct scan_value *value);
uint32_t kineto_text_id(struct kineto *k, const struct scan_value *value);
void kineto_need_scratch(struct kineto *k, size_t bytes);
/* An argument of the event: whether it is an integer; the integer, or 0; the value, or NULL. */
bool kineto_arg(const struct kineto *k, enum kineto_key key, int64_t *number);
int64_t kineto_number(const struct kineto *k, enum kineto_key key);
const struct scan_value *kineto_value(const struct kineto *k, enum kineto_key key);
/* The arguments that are not in 'taken', as the text of a JSON object; 0 when none is left. */
uint32_t kineto_args_text(struct kineto *k, uint64_t taken);
#define KINETO_TAKES(key) (UINT64_C(1) << (key))

/* kineto_ids.c */
uint32_t kineto_thread_lane(struct kineto *k, enum hwy_lane_type type, uint32_t name);
uint32_t kineto_device_lane(struct kineto *k, enum hwy_lane_type type, int64_t process,
			    int64_t context, int64_t stream);
uint32_t kineto_process(struct kineto *k, struct kineto_id pid);
struct kineto_id kineto_number_in(struct kineto *k, struct kineto_id id);
uint32_t kineto_device(struct kineto *k, struct kineto_id pid);
uint32_t kineto_stream(struct kineto *k, int64_t process, uint32_t device, int64_t context,
		       int64_t number);
void kineto_add_metadata(struct kineto *k);
/* Gives every record its process and its name. */
void kineto_settle(struct kineto *k);
void kineto_free_who(struct kineto *k);

/* kineto_device.c, kineto_host.c */
void kineto_add_work(struct kineto *k);
void kineto_add_sync(struct kineto *k);
void kineto_add_cuda_event(struct kineto *k);
void kineto_add_device_annotation(struct kineto *k);
void kineto_add_call(struct kineto *k);
void kineto_add_op(struct kineto *k);
void kineto_add_annotation(struct kineto *k);
void kineto_add_python(struct kineto *k);
void kineto_add_overhead(struct kineto *k);
void kineto_add_other(struct kineto *k);
void kineto_add_instant(struct kineto *k);

/* kineto_pairs.c */
void kineto_keep_begin(struct kineto *k);
/* Makes one event of a begin and the end just read, which lives until free() of what is returned; NULL where
 * nothing began. */
struct kineto_begin *kineto_end_pair(struct kineto *k);
uint64_t kineto_free_begins(struct kineto *k); /* yields how many never ended */

/* kineto_counters.c */
void kineto_add_counter(struct kineto *k);
void kineto_add_marks(struct kineto *k);

/* kineto_meta.c */
/* A member of the top-level object that is not traceEvents. */
void kineto_add_member(struct kineto *k, struct hwy_text key, const struct scan_value *value);
void kineto_add_drops(struct kineto *k);
void kineto_add_diagnostic(struct kineto *k, int64_t severity, const char *text);

/* kineto_edges.c */
void kineto_keep_flow(struct kineto *k);
void kineto_add_edges(struct kineto *k, struct hwy_trace *trace, int64_t shift);

/* kineto_hints.c */
void kineto_collect(struct kineto *k);
void kineto_hints_done(struct kineto_hints *hints);
void kineto_hints_free(struct kineto_hints *hints);
int64_t kineto_owner(struct kineto *k, int64_t correlation, struct kineto_id device);
int64_t kineto_flow_correlation(struct kineto *k);

#endif
