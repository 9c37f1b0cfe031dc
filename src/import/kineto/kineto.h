/* SPDX-License-Identifier: Apache-2.0 */
/* kineto.h - what the files of the Kineto reader share (kineto*.c); no other file includes this
 * header.
 *
 * An event is read as a whole (kineto_event.c) into slices of the window, then made into spans by
 * its category: device work in kineto_device.c, events of the CPU in kineto_host.c. kineto_ids.c
 * finds the process, thread, device and stream of an event; kineto_meta.c reads the file's own
 * properties.
 *
 * Events of a device have the device as their pid and do not name their process. Where one process
 * calls the vendor's library, they belong to that process; it is known only at the end of the file,
 * so until then their lanes, streams and contexts have HWY_NONE as their process. Where several
 * processes call the library, kineto_hints.c finds the process of each event in a pass of its own,
 * and the file is read again.
 *
 * A "ref" is a reference of base/ref.h: 0 refers to nothing.
 */
#ifndef HWY_IMPORT_KINETO_KINETO_H
#define HWY_IMPORT_KINETO_KINETO_H

#include "base/index.h"
#include "base/ref.h"
#include "import/import.h"
#include "import/json_scan.h"
#include "import/source.h"
#include "trace/builder.h"

/* Names of arguments that become columns; other arguments (KEY_OTHER) are kept as text. */
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
	KEYS /* there may be at most 64 keys: a set of keys is a mask of 64 bits */
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
	/* calls of a library, as our own export writes them: the category is the library's name */
	CAT_LIBRARY,
};

struct kineto_arg {
	struct hwy_text key;
	struct scan_value value;
	enum kineto_key id;
};

struct kineto_event {
	struct hwy_text text; /* the JSON text of the whole event */
	char phase;           /* the letter of the member "ph"; 0: the event has no "ph" */
	enum kineto_category category;
	int64_t ts, dur;
	bool has_ts, has_dur;
	struct scan_value cat, name, pid, tid, id;
	struct kineto_arg *args;
	uint32_t n_args, cap_args;
	/* arg_refs: for each enum kineto_key the ref of the event's argument in 'args'. */
	uint16_t arg_refs[KEYS];
};

/* A pid or tid: a number, or a text of the trace (then the number is HWY_NONE). Texts of digits
 * count as numbers. */
struct kineto_id {
	int64_t number;
	uint32_t text;
};

struct kineto_flow { /* one end of an arrow from a forward to a backward operator */
	int64_t ts, id;
	uint32_t lane;
	bool is_end;
};

struct kineto_mark { /* a value of a counter, kept until the end of the file (kineto_counters.c) */
	int64_t ts, number;
	double real;
	uint32_t lane;
	bool is_real;
};

/* The reasons for which an event was left out. */
enum kineto_drop {
	DROP_NOT_JSON,
	DROP_NO_PHASE,
	DROP_NO_TIME,
	DROP_TIME_RANGE,
	DROP_PHASE,
	DROP_NO_PAIR,
	DROPS
};

/* What one pass over the file found out for the next pass (kineto_hints.c); empty in the first
 * pass. */
struct kineto_hints {
	bool ready;
	/* 'owners' maps a correlation id to the index into 'pids' of the process that uses the
	 * id. */
	struct hwy_map owners;
	struct hwy_map shared; /* a set: the correlation ids that several processes use */
	/* 'users' maps the pid of a device's events to the index into 'pids' of the process that
	 * uses the device. */
	struct hwy_map users;
	/* 'flows' maps the struct flow_key of an arrow's end to an index into 'flow_ids'. */
	struct hwy_index flows;
	/* 'texts' maps a pid or tid that is a text to a number, the same in all passes. */
	struct hwy_index texts;
	struct hwy_map pid_of; /* maps a pid to an index into 'pids' */
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
	bool collecting; /* this pass fills the hints and makes no trace */
	/* The current event; its memory is used again for the next event. */
	struct kineto_event event;
	char *scratch; /* buffer of scratch_size bytes, for texts that are made of several parts */
	size_t scratch_size;

	/* kineto_ids.c: indexes of the trace, by the file's ids; text_ maps are by texts of the
	 * trace */
	struct hwy_map processes, text_processes; /* both map a pid to a process */
	struct hwy_index threads;                 /* maps a struct thread_key to a thread */
	struct hwy_map text_threads; /* maps a process and a tid that is a text to a thread */
	/* Both map the pid of a device's events to a device. */
	struct hwy_map devices, text_devices;
	struct hwy_index contexts; /* maps a struct stream_key without stream to a context */
	struct hwy_index streams;  /* maps a struct stream_key to a stream */
	/* 'any_streams' maps a struct stream_key without context to the first stream of that
	 * number. */
	struct hwy_index any_streams;
	struct hwy_index names; /* maps a struct name_key to the name in a metadata event */
	struct hwy_map labels;  /* maps a pid to the label in a metadata event */
	/* A cache of lanes: most events have a lane that was used shortly before. */
	struct kineto_slot {
		int64_t pid, tid, context;
		uint32_t type, owner;
		uint32_t lane_ref;
	} slots[KINETO_SLOTS];
	int64_t caller; /* the process that calls CUDA, HIP or the like, or HWY_NONE */
	/* first_host: the first process with an event on the CPU that is no call of CUDA, HIP or
	 * the like, or HWY_NONE. */
	int64_t first_host;
	/* deviceProperties are being read: their ids are ordinals, not events' pids */
	bool is_listing;
	bool several_callers;
	struct kineto_late { /* a lane that gets its thread at the end, when the process is known */
		int64_t tid;
		uint32_t lane;
	} * late_lanes;
	uint32_t n_late_lanes, cap_late_lanes;

	/* The following fields are used by kineto_meta.c. */
	int64_t base; /* the file's baseTimeNanoseconds, or HWY_NONE */
	int64_t rank, world;

	/* The following fields are used by kineto_edges.c and kineto_counters.c. */
	struct kineto_flow *flows;
	uint32_t n_flows, cap_flows;
	struct kineto_mark *marks;
	uint32_t n_marks, cap_marks;

	/* The following fields are used by kineto_pairs.c. */
	/* 'begin_of' maps pid and tid as the file writes them to an index into 'begins'. */
	struct hwy_index begin_of;
	/* begins: the innermost open begin event of each thread; NULL: no begin event is open. */
	struct kineto_begin **begins;
	uint32_t n_begins, cap_begins;

	uint64_t n_foreign;        /* how many events have a category that no rule knows */
	uint32_t foreign_category; /* text of the trace: the first category that no rule knows */
	uint64_t n_events, n_kept, n_launch_flows, n_work_without_id;
	uint64_t drops[DROPS];
	uint64_t first_bad; /* offset of the first event that was not JSON */
};

/* kineto.c: import_kineto with a window of another size, for tests of what happens at the
 * window's end. */
struct hwy_trace *import_kineto_window(const char *path, size_t window,
				       const struct hwy_progress *progress, struct hwy_err *err);

/* The following functions are defined in kineto_event.c. */
/* Reads one element of the list of events; an element that is no object becomes an event without a
 * phase. */
bool kineto_read_event(struct kineto *k, struct scan *scan);
void kineto_add_event(struct kineto *k);
struct kineto_id kineto_read_id(struct kineto *k, const struct scan_value *value);

/* The following functions are defined in kineto_args.c. */
enum kineto_key kineto_key_of(const char *key, uint32_t length);
enum kineto_category kineto_category_of(const struct scan_value *cat);
/* Yields a string without its escapes; valid until the next use of the scratch buffer. */
struct hwy_text kineto_text(struct kineto *k, const struct scan_value *value);
/* Yields a string without its escapes as a text of the trace. */
uint32_t kineto_text_id(struct kineto *k, const struct scan_value *value);
void kineto_need_scratch(struct kineto *k, size_t bytes);
/* Reads an integer argument of the current event; false: the event has no argument of that name. */
bool kineto_arg(const struct kineto *k, enum kineto_key key, int64_t *number);
/* Yields an integer argument of the current event; 0: the event has no argument of that name. */
int64_t kineto_number(const struct kineto *k, enum kineto_key key);
/* Yields an argument of any type; NULL: the event has no argument of that name. */
const struct scan_value *kineto_value(const struct kineto *k, enum kineto_key key);
/* The arguments whose keys are not in the mask 'taken', as a JSON object; yields a text of the
 * trace, 0 when no argument is left. */
uint32_t kineto_args_text(struct kineto *k, uint64_t taken);
#define KINETO_TAKES(key) (UINT64_C(1) << (key))

/* The functions of kineto_ids.c yield indexes of the trace, and make the records when they are
 * first needed. */
/* Yields the lane of the thread that the current event names. */
uint32_t kineto_thread_lane(struct kineto *k, enum hwy_lane_type type, uint32_t name);
/* The lane of a stream of the device that the current event names; stream HWY_NONE: a lane of the
 * device. */
uint32_t kineto_device_lane(struct kineto *k, enum hwy_lane_type type, int64_t process,
			    int64_t context, int64_t stream);
uint32_t kineto_process(struct kineto *k, struct kineto_id pid);
/* The id itself where it is a number, else the first number in its text ("stream 7", "GPU 0
 * Counters"). */
struct kineto_id kineto_first_number(struct kineto *k, struct kineto_id id);
uint32_t kineto_device(struct kineto *k, struct kineto_id pid);
uint32_t kineto_stream(struct kineto *k, int64_t process, uint32_t device, int64_t context,
		       int64_t number);
void kineto_add_metadata(struct kineto *k);
/* Gives a process to every record without one, and names to all records; called at the end of
 * the file. */
void kineto_assign_processes(struct kineto *k);
/* Gives an AMD GPU that has work and is not listed the description of the listed ones, where all of
 * these are alike. */
void kineto_describe_devices(struct kineto *k);
/* Threads that AMD's GPUs for computing run together; NVIDIA's run 32. */
enum { AMD_WARP = 64 };
void kineto_free_ids(struct kineto *k);

/* The following functions are defined in kineto_device.c and kineto_host.c. */
void kineto_add_work(struct kineto *k);
void kineto_add_sync(struct kineto *k);
void kineto_add_cuda_event(struct kineto *k);
void kineto_add_device_annotation(struct kineto *k);
void kineto_add_call(struct kineto *k);
void kineto_add_op(struct kineto *k);
void kineto_add_annotation(struct kineto *k);
void kineto_add_python(struct kineto *k);
void kineto_add_library(struct kineto *k);
void kineto_add_overhead(struct kineto *k);
void kineto_add_other(struct kineto *k);
void kineto_add_instant(struct kineto *k);

/* The following functions are defined in kineto_pairs.c. */
void kineto_keep_begin(struct kineto *k);
/* Makes one event of the current event, an end, and its begin. The event points into the begin that
 * is returned, which the caller frees; NULL: nothing began on that thread. */
struct kineto_begin *kineto_end_pair(struct kineto *k);
uint64_t kineto_free_begins(struct kineto *k); /* yields how many begin events had no end */

/* The following functions are defined in kineto_counters.c. */
void kineto_add_counter(struct kineto *k);
void kineto_add_marks(struct kineto *k);

/* The following functions are defined in kineto_meta.c. */
/* Reads a member of the file's top-level object that is not traceEvents. */
void kineto_add_member(struct kineto *k, struct hwy_text key, const struct scan_value *value);
void kineto_add_drops(struct kineto *k);
void kineto_add_diagnostic(struct kineto *k, int64_t severity, const char *text);

/* The following functions are defined in kineto_edges.c. */
void kineto_keep_flow(struct kineto *k);
void kineto_add_edges(struct kineto *k, struct hwy_trace *trace, int64_t shift);

/* The following functions are defined in kineto_hints.c. */
/* Notes what the current event says about the owners of device work and the ends of arrows. */
void kineto_collect_hints(struct kineto *k);
/* Decides which process uses a device, and makes the hints ready; called after the first pass. */
void kineto_count_votes(struct kineto_hints *hints);
void kineto_hints_free(struct kineto_hints *hints);
/* Yields the process of device work; HWY_NONE: not known. 'device' is the pid of the work's
 * event. */
int64_t kineto_owner_process(struct kineto *k, int64_t correlation, struct kineto_id device);
/* The id of the arrow that begins or ends at the current event, which stands for a correlation id;
 * 0: none does. */
int64_t kineto_flow_correlation(struct kineto *k);

#endif
