/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the words of a trace: kinds of spans, their columns, lanes, roles, and who is who.
 *
 * Everything is an int64_t: times are ns, sizes bytes, texts are ids of the trace's string table,
 * and references are indexes. This file and columns.c decide what the numbers mean; column.h how
 * they are kept. Numbers given here are written into .hwy files: append, never renumber
 * (docs/report-format.md).
 */
#ifndef HWY_TRACE_MODEL_H
#define HWY_TRACE_MODEL_H

#include <stdint.h>

/* The value of a field of a record (struct hwy_lane …) that is not known. Columns of spans use 0
 * instead. */
#define HWY_NONE INT64_MIN

/* Starts lie within ±HWY_TIME_LIMIT (73 years), durations are below twice that: the difference of
 * any two times, ends included, fits an int64_t. Readers leave out or cut spans beyond the
 * limits. */
#define HWY_TIME_LIMIT (INT64_C(1) << 61)

/* ---- spans ----------------------------------------------------------------------------------- */

enum hwy_kind {
	HWY_API,    /* a call into the vendor's library, on a thread */
	HWY_KERNEL, /* device work: a kernel */
	HWY_COPY,   /* device work: a copy; unified-memory migrations too (CAUSE is then set) */
	HWY_FILL,   /* device work: a memset */
	HWY_GRAPH,  /* device work: one launch of a whole graph whose nodes are not recorded */
	HWY_SYNC,   /* a wait as the driver recorded it; the API call that waits is an HWY_API */
	HWY_EVENT,  /* an event recorded on a stream: a mark */
	HWY_RANGE,  /* NVTX or a framework's annotation */
	HWY_OP,     /* a framework's operator */
	/* a call of a library (cuBLAS, MPI …), or a function of the program, from a tracer */
	HWY_CALL,
	HWY_OS,       /* a call into the operating system's libraries */
	HWY_STATE,    /* what a thread did: running on a CPU, or why it was not */
	HWY_MEMORY,   /* an allocation or a release: a mark */
	HWY_SAMPLE,   /* where a thread was at one moment: a mark with a stack */
	HWY_COUNTER,  /* a value from this moment on: a mark */
	HWY_OVERHEAD, /* time that the profiler or the vendor's library took for itself */
	HWY_KINDS
};
extern const char *const hwy_kind_names[HWY_KINDS];

#define HWY_KIND_BIT(kind) (1u << (kind))
/* The kinds of work that keep a device busy. */
#define HWY_DEVICE_KINDS                                                                           \
	(HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL) |              \
	 HWY_KIND_BIT(HWY_GRAPH))

/* The columns of spans. What each one means, and how it tells that a span has no value, is data:
 * hwy_columns in trace/columns.c. */
enum hwy_col {
	HWY_START,
	HWY_DUR,
	HWY_NAME,
	HWY_LINK,
	HWY_CORR,
	HWY_SHAPE,
	HWY_SYMBOL,
	HWY_GRAPH_ID,
	HWY_GRAPH_EXEC,
	HWY_GRAPH_NODE,
	HWY_CHANNEL,
	HWY_CHANNEL_TYPE,
	HWY_QUEUED,
	HWY_SUBMITTED,
	HWY_BYTES,
	HWY_DIRECTION,
	HWY_SRC_MEMORY,
	HWY_DST_MEMORY,
	HWY_SRC_DEVICE,
	HWY_DST_DEVICE,
	HWY_COUNT,
	HWY_VALUE,
	HWY_ADDRESS,
	HWY_POOL,
	HWY_OPERATION,
	HWY_RESULT,
	HWY_STACK,
	HWY_SYNC_TYPE,
	HWY_WAITED,
	HWY_EVENT_ID,
	HWY_EVENT_SYNC,
	HWY_CATEGORY,
	HWY_COLOR,
	HWY_PAYLOAD_TYPE,
	HWY_PAYLOAD,
	HWY_STYLE,
	HWY_END_THREAD,
	HWY_ROW,
	HWY_ARGS,
	HWY_EXTERNAL,
	HWY_SEQUENCE,
	HWY_CPU,
	HWY_REASON,
	HWY_CAUSE,
	HWY_NESTING,
	HWY_FLAGS,
	HWY_SRC_CONTEXT,
	HWY_DST_CONTEXT,
	HWY_WEIGHT,
	HWY_PARENT,
	HWY_LAUNCH_TYPE,
	HWY_COLS
};
/* By kind: the HWY_COL_BITs of the columns that spans of the kind may have. */
extern const uint64_t hwy_kind_columns[HWY_KINDS];

#define HWY_COL_BIT(col) (UINT64_C(1) << (col))

enum {
	HWY_FLAG_MARK = 1, /* the span is a moment: it has no duration */
	/* The end was not recorded; DUR reaches to the last event of the lane. */
	HWY_FLAG_UNFINISHED = 2,
	/* Of a range: the name is a registered string (nsys stores a textId instead of a text). */
	HWY_FLAG_REGISTERED = 4,
	/* Of an operator: not the framework's own, but a scope that a user or a library marked
	 * (record_function). */
	HWY_FLAG_SCOPE = 8,
	/* The flags of ranges that nsys leaves out of its tables. */
	HWY_FLAGS_NO_SPAN = HWY_FLAG_MARK | HWY_FLAG_UNFINISHED,
};

enum hwy_direction {
	HWY_DIR_UNKNOWN,
	HWY_H2D,
	HWY_D2H,
	HWY_H2A,
	HWY_A2H,
	HWY_A2A,
	HWY_A2D,
	HWY_D2A,
	HWY_D2D,
	HWY_H2H,
	HWY_P2P,
	/* UM: a migration of unified memory. */
	HWY_UM_H2D,
	HWY_UM_D2H,
	HWY_UM_D2D,
	HWY_DIRECTIONS
};
extern const char *const hwy_direction_names[HWY_DIRECTIONS]; /* "Host-to-Device", … */

enum hwy_memory_kind {
	HWY_MEM_NONE,
	HWY_MEM_PAGEABLE,
	HWY_MEM_PINNED,
	HWY_MEM_DEVICE,
	HWY_MEM_ARRAY,
	HWY_MEM_MANAGED,
	HWY_MEM_DEVICE_STATIC,
	HWY_MEM_MANAGED_STATIC,
	HWY_MEM_UNKNOWN,
	HWY_MEMORY_KINDS
};
extern const char *const hwy_memory_names[HWY_MEMORY_KINDS]; /* "Pageable", … */

enum hwy_launch_type {
	HWY_LAUNCH_NONE,
	HWY_LAUNCH_REGULAR,
	HWY_LAUNCH_COOPERATIVE,
	HWY_LAUNCH_COOPERATIVE_MULTI_DEVICE
};
enum hwy_operation { HWY_OP_NONE, HWY_ALLOCATE, HWY_RELEASE };
enum hwy_migration_cause {
	HWY_CAUSE_NONE,
	HWY_CAUSE_UNKNOWN,
	HWY_CAUSE_PREFETCH,
	HWY_CAUSE_FAULT,
	HWY_CAUSE_SPECULATIVE,
	HWY_CAUSE_EVICTION,
	HWY_CAUSE_ACCESS_COUNTERS
};
enum hwy_sync_type {
	HWY_SYNC_UNKNOWN,
	HWY_SYNC_EVENT,
	HWY_SYNC_STREAM_WAIT,
	HWY_SYNC_STREAM,
	HWY_SYNC_CONTEXT,
	HWY_SYNC_TYPES
};
extern const char *const hwy_sync_names[HWY_SYNC_TYPES];
/* The domain (name of the lane) of ranges that the Python interpreter caused by itself, and how
 * the name of a garbage collection begins; the number of its generation follows. */
#define HWY_DOMAIN_PYTHON "Python"
#define HWY_COLLECTION_NAME "gc generation "
/* The name of the OS span in which a thread waits for the lock that all threads of a Python
 * interpreter share. */
#define HWY_GIL_NAME "GIL"
enum hwy_style { HWY_STYLE_NONE, HWY_PUSHPOP, HWY_STARTEND, HWY_MARK };
enum hwy_payload_type {
	HWY_PAYLOAD_NONE,
	HWY_PAYLOAD_U64,
	HWY_PAYLOAD_I64,
	HWY_PAYLOAD_DOUBLE,
	HWY_PAYLOAD_U32,
	HWY_PAYLOAD_I32,
	HWY_PAYLOAD_FLOAT,
	HWY_PAYLOAD_JSON,
	HWY_PAYLOAD_BINARY
};

/* ---- roles and classes: derived from names, never stored ------------------------------------- */

enum hwy_role {
	HWY_ROLE_OTHER,
	HWY_ROLE_LAUNCH,
	HWY_ROLE_COPY,
	HWY_ROLE_FILL,
	HWY_ROLE_GRAPH_LAUNCH,
	HWY_ROLE_GRAPH_BUILD,
	HWY_ROLE_SYNC,
	HWY_ROLE_EVENT_RECORD,
	HWY_ROLE_STREAM_WAIT,
	HWY_ROLE_QUERY,
	HWY_ROLE_HOST_CALLBACK,
	HWY_ROLE_ALLOC,
	HWY_ROLE_FREE,
	HWY_ROLE_PIN,
	HWY_ROLE_MODULE,
	HWY_ROLE_COMM,
	HWY_ROLES
};
extern const char *const hwy_role_names[HWY_ROLES];
#define HWY_ROLE_BLOCKS 0x80 /* bit that is added to a role: the call blocks by contract */
#define HWY_ROLE_OF(role) ((enum hwy_role)((role)&0x7f))

enum hwy_class { HWY_COMPUTE, HWY_COMM, HWY_MEMCLASS, HWY_CLASSES };

/* ---- lanes ----------------------------------------------------------------------------------- */

enum hwy_lane_type {
	HWY_LANE_STREAM,   /* device work of one stream; spans may overlap */
	HWY_LANE_SYNC,     /* the driver's waits of one stream; spans may overlap */
	HWY_LANE_API,      /* calls of one thread; spans nest */
	HWY_LANE_OP,       /* operators of one thread; spans nest */
	HWY_LANE_RANGE,    /* push/pop ranges of one thread and NVTX domain; spans nest */
	HWY_LANE_STARTEND, /* start/end ranges of one process and NVTX domain; may overlap */
	HWY_LANE_CALL,    /* one thread's calls of a library, or its traced functions; spans nest */
	HWY_LANE_OS,      /* calls of one thread into system libraries; spans nest */
	HWY_LANE_STATE,   /* what one thread did: ran, or waited */
	HWY_LANE_SAMPLES, /* samples of one thread */
	HWY_LANE_MEMORY,  /* allocations of one process on one device, or on the host */
	HWY_LANE_COUNTER, /* one counter */
	HWY_LANE_OVERHEAD,     /* time that profiling took on one thread */
	HWY_LANE_DEVICE_RANGE, /* annotations that the source has projected onto a stream */
	HWY_LANE_TYPES
};
extern const char *const hwy_lane_type_names[HWY_LANE_TYPES];

/* ---- records: who is who. All fields are int64_t; the file stores field i as column i. ------- */

struct hwy_lane {
	int64_t type;    /* enum hwy_lane_type */
	int64_t process; /* index into processes, or HWY_NONE */
	int64_t thread;  /* index into threads, or HWY_NONE */
	int64_t device;  /* index into devices, or HWY_NONE */
	int64_t stream;  /* index into streams, or HWY_NONE */
	/* text: the name of the NVTX domain ("": the default one), of the counter, or of the
	 * library whose calls these are ("": the program's own functions). */
	int64_t name;
	int64_t unit;       /* text: the unit of a counter */
	int64_t value_type; /* of a counter: HWY_PAYLOAD_I64 or HWY_PAYLOAD_DOUBLE */
};
struct hwy_host {
	int64_t name, cpu, cpus, kernel, os, boot_id;
};
struct hwy_process {
	int64_t host; /* index into hosts */
	int64_t pid;
	int64_t parent; /* index into processes */
	int64_t name, command;
	int64_t start, end; /* when the process began and ended, ns */
	int64_t exit;       /* exit status as wait() gives it */
	int64_t rank, local_rank, world;
	int64_t labels;    /* text: the labels that a framework gave the process */
	int64_t source_id; /* the number that the source gave the process (nsys: globalPid) */
};
struct hwy_thread {
	int64_t process; /* index into processes */
	int64_t tid;
	int64_t name;
	int64_t priority;
	int64_t source_name; /* text: the source's name of the thread, where that is not a number */
};
struct hwy_device {
	int64_t host;
	int64_t ordinal; /* the number that people see: nsys's gpu id, Kineto's device */
	int64_t uuid, name, bus;
	int64_t compute_major, compute_minor;
	int64_t sms, threads_per_warp, max_warps_per_sm, max_blocks_per_sm, max_threads_per_block;
	int64_t registers_per_sm, registers_per_block;
	int64_t shared_per_sm, shared_per_block, shared_per_block_optin;
	int64_t l2_bytes, memory_bytes, memory_bandwidth; /* the bandwidth in bytes/s */
	int64_t clock_hz, copy_engines, pcie_generation, pcie_width;
	int64_t max_threads_per_sm;
};
struct hwy_context {
	int64_t process, device; /* indexes into processes, devices */
	int64_t number;          /* the vendor's id of the context */
	int64_t parent;          /* of a green context: the number of the context it is a part of */
	int64_t green;           /* 1 for a green context */
	int64_t null_stream;     /* the number of the default stream */
	int64_t sms;
	int64_t name;
};
enum { HWY_STREAM_IN_ORDER = 4, HWY_STREAM_OUT_OF_ORDER = 5 }; /* flags of OpenCL's queues */
struct hwy_stream {
	int64_t process, device; /* indexes into processes, devices */
	int64_t context;         /* the number of the stream's context */
	int64_t green;           /* the number of the stream's green context */
	int64_t number;          /* the vendor's id of the stream; HWY_NONE: the whole device */
	int64_t priority,
		flags; /* of CUDA: 0 unknown, 1 default (blocking), 2 non-blocking, 3 null; of OpenCL:
			* HWY_STREAM_… */
	int64_t name;
	int64_t ordinal; /* the device's number in the process: CUDA_VISIBLE_DEVICES changes it */
};
struct hwy_module {
	int64_t process, path, build_id, base, size;
};
/* The resources that a launch of a kernel requested; equal shapes share one record. */
struct hwy_shape {
	int64_t grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, cluster_y, cluster_z;
	int64_t registers, static_shared, dynamic_shared, executed_shared, local_per_thread,
		local_total;
};
struct hwy_symbol { /* the names of a kernel, as texts; equal symbols share one record */
	int64_t demangled, shortname, mangled;
};
struct hwy_frame { /* a function in a stack; equal frames share one record */
	/* Texts. The function is empty where only the address is known; the module is a shared
	 * object, or Python's source file. */
	int64_t function, module;
	int64_t file, line; /* the source file, a text, and the line in it */
	int64_t address;
	int64_t flags; /* HWY_FRAME_… */
};
enum {
	HWY_FRAME_PYTHON = 1,
	HWY_FRAME_KERNEL = 2,
	HWY_FRAME_UNRESOLVED = 4,
	/* The call of an nn.Module: the function is the module's path
	 * ("GPT.blocks.3.attention"), or its class where the path is not known; the module is
	 * its class. HWY_FRAME_PYTHON is set too. */
	HWY_FRAME_LAYER = 8,
};
/* A stack is its innermost frame and the stack of the caller: stacks are a trie. Use
 * hwy_stack_caller to go up. */
struct hwy_stack {
	/* hwy_ref of the caller's stack, which has a smaller index; 0 at the root */
	int64_t parent;
	int64_t frame; /* index into frames */
};
enum hwy_edge_kind {
	HWY_EDGE_EVENT,   /* from the record of an event to a wait for the event */
	HWY_EDGE_FORWARD, /* from a forward operator to its backward operator */
	HWY_EDGE_WAKE,
	HWY_EDGE_SPAWN,
	/* from the last rank to come to a collective to one that waits for it there */
	HWY_EDGE_COLLECTIVE,
	/* from a call to its work, where the source has an arrow but no correlation id */
	HWY_EDGE_LAUNCH,
	HWY_EDGE_MESSAGE, /* from the span that sends a message to the one that has received it */
	HWY_EDGE_KINDS
};
extern const char *const hwy_edge_kind_names[HWY_EDGE_KINDS];
struct hwy_edge {
	int64_t kind;     /* enum hwy_edge_kind */
	int64_t from, to; /* span ids */
	int64_t id;       /* the source's id of the arrow */
};
/* A node of a CUDA graph, as it was made: by a call on 'thread' at 'time', which may have been
 * captured. A node of an instantiated graph has the thread, time and stack of the node that it
 * is a copy of. Sorted by process and node: a process has at most one record of a node. */
struct hwy_node {
	int64_t process, thread; /* indexes into processes, threads */
	int64_t graph, node;     /* the vendor's ids, as in the columns GRAPH_ID and GRAPH_NODE */
	int64_t time;            /* ns */
	int64_t stack;           /* hwy_ref of the Python stack; 0: not known */
};
/* A node of a graph that runs after another one of the same graph; sorted by process, node and
 * after. */
struct hwy_node_edge {
	int64_t process, graph, node, after;
};
/* A kernel whose counters were measured: one launch, or the mean of 'launches' launches of one
 * name and shape. A row of 'measures' for each counter. The launch itself is not in the
 * recording: the program ran again for it, or another tool did. */
struct hwy_measured {
	/* text: the kernel's name as the recording has it (HWY_NAME of its spans) */
	int64_t kernel;
	int64_t shape;  /* index into shapes, or HWY_NONE */
	int64_t device; /* index into devices, or HWY_NONE */
	/* how many launches of this name and shape came before it; HWY_NONE: not known */
	int64_t ordinal;
	int64_t launches; /* how many launches the counters are the mean of */
	int64_t source;   /* text: "headway" or "ncu" */
};
struct hwy_measure {      /* the value of one counter of a measured kernel */
	int64_t measured; /* index into measured */
	int64_t metric;   /* text: the vendor's name of the counter, "dram__bytes_read.sum" */
	int64_t value; /* the bits of a double; not a number where the counter could not be read */
};
/* Samples of the program counters of a kernel's warps, on one line of its source. */
struct hwy_stalled_line {
	int64_t kernel;     /* text: the kernel's name, as in hwy_measured */
	int64_t file, line; /* text and number; HWY_NONE: the kernel has no line information */
	/* text: why the warps did not issue, "long_scoreboard"; "selected": they did */
	int64_t reason;
	int64_t samples;
};
enum hwy_message_kind {
	HWY_MESSAGE_SEND,
	HWY_MESSAGE_RECEIVE,
	HWY_MESSAGE_COLLECTIVE, /* barriers too: they move no bytes */
	HWY_MESSAGE_KINDS
};
/* What one rank exchanges with others: a message sent or received, or the rank's part in a
 * collective. Where the exchange is asked for by one call and awaited by another (MPI_Irecv,
 * MPI_Wait), 'span' is the first, 'done' the second. */
struct hwy_message {
	/* Span ids. span: what shows the exchange on the timeline: a call of MPI or gloo, or a
	 * kernel of NCCL; asked: the call or range that enqueued that kernel; done: the call
	 * that waited for the end. Each may be HWY_NONE. */
	int64_t span, asked, done;
	int64_t process; /* index into processes */
	int64_t group;   /* index into groups: the communicator */
	int64_t library; /* text: "MPI", "NCCL", "RCCL", "gloo" */
	int64_t kind;    /* enum hwy_message_kind */
	int64_t name;    /* text: the operation without its library: "AllReduce", "Send" */
	/* peer: the other rank of a message, the root of a collective that has one; a rank of
	 * the whole job. */
	int64_t peer, tag;
	int64_t sent, received;  /* bytes that this rank gives, and gets */
	int64_t count, datatype; /* number of elements, and a text */
	/* the number of a collective among those of its group on this rank, from 0 */
	int64_t sequence;
	int64_t algorithm, protocol; /* texts: "Ring", "LL128" */
	int64_t channels;
	/* When the rank asked for it, when it took part, and when it was done with it, ns. */
	int64_t posted, start, end;
	/* The ns of it in which the rank waited for its own GPU, for the other rank, and for the
	 * network, where a source tells. */
	int64_t wait_gpu, wait_peer, wait_network;
};
/* The clock of another rank, read over a connection: at 'time' of this recording the peer's
 * CLOCK_MONOTONIC showed 'peer_time', with an error of at most 'error'. The peer's report has
 * the property "clock.epoch_ns", its time 0 on that clock. */
struct hwy_ping {
	int64_t process;                /* index into processes: who asked */
	int64_t peer;                   /* the rank that answered */
	int64_t time, peer_time, error; /* ns */
};
struct hwy_group { /* a process group of a distributed run */
	int64_t process, name, description, backend, size; /* size: number of ranks */
	int64_t ranks;                                     /* text: the list of ranks */
};
struct hwy_clock { /* one moment, read on several clocks */
	int64_t host, monotonic, monotonic_raw, realtime, device, device_time;
};
/* a measured cost of profiling, or a time that the machine takes without it */
struct hwy_calibration {
	int64_t device, name, value, spread, unit; /* name and unit are texts */
};
struct hwy_drop { /* events that were lost */
	int64_t process, thread, source, reason, count, bytes, from, to;
};
struct hwy_diagnostic {                        /* a message of the recorder */
	int64_t time, severity, process, text; /* severity: 1 info, 2 warning, 3 error */
};
struct hwy_property { /* facts about the recording: "source.format", "driver", … */
	int64_t name, value;
};
struct hwy_result { /* a cached result: raw bytes in their own section */
	int64_t name, version, bytes;
};

#endif
