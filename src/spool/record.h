/* record.h - the spool's wire format: what the target writes and the parent reads.
 *
 * A run has a directory. In it: `control` (struct rec_control, mapped by everyone), and one spool file a
 * thread that recorded anything, `PID.TID.N.spool`, N telling apart processes and threads that share
 * numbers over time. A spool is a row of chunks of REC_CHUNK_BYTES; each begins with a struct
 * rec_chunk and goes on in slots of 32 bytes. A record is a run of slots in one chunk; its first 8 bytes
 * are a struct rec_head. 'used' of a chunk is stored with release order after the record is whole, so a
 * reader never sees a part of one, whenever the writer died. The last chunk of a file may be shorter than
 * the others (a thread's first is begun with 32 KiB), but never shorter than its 'used'; a chunk with 'used'
 * below 2 is empty. A file that is a ring (rec_control.keep_s) holds chunks in any order, 'index' tells it;
 * definitions are then in another file of the thread, so that none is overwritten.
 *
 * Times are CLOCK_MONOTONIC ns. Ids of strings, shapes and code objects are numbers of the process, defined
 * by a record in any of its spools (read all spools of a process before resolving). A child after fork
 * without exec has spools and ids of its own. The parent has a spool too, `parent.spool`, whose chunks have
 * pid 0: what it knows about the run and the machine. Never change a record's meaning in place: add a type.
 */
#ifndef HWY_SPOOL_RECORD_H
#define HWY_SPOOL_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define REC_MAGIC UINT64_C(0x314c4f4f50535748) /* "HWSPOOL1" */
enum { REC_VERSION = 1, REC_SLOT = 32, REC_CHUNK_BYTES = 256 * 1024 };

struct rec_chunk { /* the first two slots of a chunk */
	uint64_t magic;
	uint32_t version;
	uint32_t pid, tid;
	uint32_t index; /* number of this chunk among all that its file ever had */
	uint32_t used; /* slots in use, those of this struct included; written with release order */
	uint32_t
		dropped; /* records that found no room (disk full) while the thread wrote to this chunk */
	int64_t opened; /* when the thread began to write to this chunk */
	uint64_t
		process; /* start time of the process, ns: pid and start time identify a process in a run */
	uint8_t spare[16];
};
static_assert(sizeof(struct rec_chunk) == 2 * REC_SLOT, "two slots");

struct rec_head {
	uint8_t type;   /* enum rec_type */
	uint8_t flags;  /* meaning depends on the type */
	uint16_t slots; /* length of the record in slots, the first one included */
	uint32_t value; /* meaning depends on the type */
};
static_assert(sizeof(struct rec_head) == 8, "a quarter slot");

enum {
	REC_EXIT_EXEC = 1, /* the process became another program (exec) */
	REC_EXIT_BARE =
		2, /* the process ended without exit handlers: records that CUPTI still had are lost */
};

enum rec_type {
	REC_NONE,
	/* definitions */
	REC_STRING, /* value: id; struct rec_string */
	REC_SHAPE,  /* value: id; struct rec_shape */
	REC_CODE,   /* value: id; struct rec_code */
	REC_PROCESS, /* struct rec_process: among the first records of a process; again when more is known,
		       * the last one stands */
	REC_EXIT, /* the process ended; flags: REC_EXIT_…, none: in good order; struct rec_time */
	REC_THREAD, /* value: tid; struct rec_name: the thread's name; flags 1: given by the program through
		       * NVTX (wins), 0: the kernel's; of several the last stands */
	REC_MODULE, /* struct rec_module: a mapped shared object */
	REC_DEVICE,
	REC_CONTEXT,
	REC_STREAM,
	/* events */
	REC_API, /* struct rec_api */
	REC_KERNEL,
	REC_COPY,
	REC_FILL,
	REC_GRAPH,
	REC_SYNC,
	REC_EVENT,
	REC_MEMORY,
	REC_OVERHEAD,
	REC_PUSH,
	REC_POP,
	REC_RANGE_START,
	REC_RANGE_END,
	REC_MARK, /* struct rec_range */
	REC_NAME, /* struct rec_naming: domain, category, cuda stream … */
	REC_PYTHON_STACK,
	REC_NATIVE_STACK, /* struct rec_stack */
	/* about the recording */
	REC_NOTE, /* value: severity 1 info, 2 warning, 3 error; struct rec_string: text for the report */
	REC_DROP,      /* struct rec_drop: something was lost, counted where it happened */
	REC_CLOCK,     /* struct rec_clock */
	REC_RECORDING, /* value: 1 recording begins here, 0 ends; struct rec_time */
	REC_PROPERTY,  /* value: string id of the name; struct rec_string: value */
	REC_STATUS,    /* by the parent: value: pid of a process that ended; struct rec_status */
	/* the CPU's side */
	REC_OS,     /* value: string id of the call's name; flags: REC_OS_…; struct rec_os */
	REC_SAMPLE, /* written by the parent; value: CPU; struct rec_sample */
	REC_SWITCH, /* written by the parent; value: CPU; flags: REC_SWITCH_…; struct rec_switch */
	REC_WAKEUP,  /* written by the parent; value: CPU; struct rec_wakeup */
	REC_DEPENDS, /* OpenCL: a command waits for others; struct rec_depends */
	REC_COMMAND, /* OpenCL: a command that ended, or a wait; flags: REC_COMMAND_…; struct rec_command */
	REC_TASK, /* written by the parent; value: pid; flags: REC_TASK_…; struct rec_task */
	REC_MAP,  /* written by the parent; value: pid; struct rec_map: code was mapped */
	REC_TYPES
};

struct rec_time {
	struct rec_head head;
	int64_t time;
	uint64_t spare[2];
};
struct rec_string {
	struct rec_head head;
	uint32_t length; /* bytes; longer texts are cut to fit one record (REC_MAX_TEXT) */
	char text[];     /* not terminated; from byte 12 on */
};
enum { REC_MAX_TEXT = 16 * 1024 };

struct rec_shape {
	struct rec_head head;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_shared, dynamic_shared, executed_shared, local_per_thread,
		local_total;
	uint32_t spare[7];
};
static_assert(sizeof(struct rec_shape) == 3 * REC_SLOT, "three slots");

struct rec_process {
	struct rec_head head;
	int64_t start; /* when registered; CLOCK_MONOTONIC */
	uint32_t pid, parent;
	uint32_t exe, command;           /* string ids; command: arguments joined by NUL */
	int32_t rank, local_rank, world; /* -1: the environment does not tell */
	uint32_t python;                 /* PY_VERSION_HEX once Python is loaded, else 0 */
	uint32_t host;                   /* string id */
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_process) == 2 * REC_SLOT, "two slots");

struct rec_name {
	struct rec_head head;
	uint32_t name; /* string id */
	uint32_t spare[5];
};
struct rec_module {
	struct rec_head head; /* flags 1: the main executable */
	uint64_t base, size;  /* load bias (dlpi_addr) and extent from it */
	uint64_t low;         /* the lowest address that is mapped */
	uint32_t path;        /* string id */
	uint8_t build_id_length;
	uint8_t build_id[20];
	uint8_t spare[7];
};
static_assert(sizeof(struct rec_module) == 2 * REC_SLOT, "two slots");

struct rec_device {
	struct rec_head head; /* value: CUDA ordinal in this process */
	uint8_t uuid[16];
	uint32_t name, bus; /* string ids */
	uint32_t compute_major, compute_minor, sms, clock_khz;
	uint64_t memory_bytes, memory_bandwidth; /* bytes, bytes/s */
	uint32_t l2_bytes, copy_engines, max_warps_per_sm, max_blocks_per_sm, max_threads_per_block;
	uint32_t registers_per_sm, registers_per_block, shared_per_sm, shared_per_block,
		threads_per_warp;
	uint32_t pcie_generation, pcie_width;
	uint8_t spare[16];
};
static_assert(sizeof(struct rec_device) == 4 * REC_SLOT, "four slots");

struct rec_context {
	struct rec_head head; /* value: context id */
	uint32_t device, null_stream,
		parent; /* parent: the context that a green context is part of, else 0 */
	uint32_t spare[3];
};
struct rec_stream {
	struct rec_head
		head; /* value: stream id; flags: 1 default (blocking), 2 non-blocking, 3 null; OpenCL's
			  * queues: REC_STREAM_… */
	uint32_t context;
	int32_t priority;
	uint32_t name; /* string id; 0: the stream has no name */
	uint32_t spare[3];
};

enum { REC_API_DRIVER = 1, REC_API_NO_TIME = 2, REC_API_OPENCL = 4 };
struct rec_api {
	struct rec_head
		head; /* value: cbid | result << 16; flags REC_API_DRIVER: driver, else runtime */
	int64_t start, duration;
	uint32_t correlation, tid;
};
static_assert(sizeof(struct rec_api) == REC_SLOT, "one slot");

/* A number below 65535 that may be missing: 0 is none, n + 1 is the number n. */
static inline uint16_t rec_ref(uint32_t number)
{
	return (uint16_t)(number + 1);
}

/* Device work: REC_KERNEL, REC_COPY, REC_FILL, REC_GRAPH. head.value is the string id of a kernel's mangled name; of a
 * copy, CUPTI's numbers copyKind | source's memory kind << 8 | target's memory kind << 16; of a fill, the value. Bit 0 of
 * head.flags of a copy or fill: it is asynchronous. */
struct rec_work {
	struct rec_head head;
	int64_t start, duration;
	uint32_t correlation, stream;
	uint32_t context;
	uint16_t device;
	uint16_t channel; /* rec_ref of the hardware channel */
	union {
		uint32_t shape;       /* kernel: shape id */
		uint32_t memory_kind; /* fill: CUPTI's number */
		uint32_t graph_exec;  /* graph: id of the instantiated graph */
		struct {              /* copy between devices: rec_ref of their ordinals */
			uint16_t source_device, target_device;
		};
	};
	uint32_t graph; /* graph id */
	uint64_t node;  /* graph node id */
	union {
		uint64_t bytes; /* copy, fill */
		struct {        /* kernel: CUPTI's numbers */
			uint8_t launch_type, channel_type;
		};
	};
};
static_assert(sizeof(struct rec_work) == 2 * REC_SLOT, "two slots");
static_assert(
	offsetof(struct rec_work, target_device) == offsetof(struct rec_work, shape) + 2 &&
		offsetof(struct rec_work, channel_type) == offsetof(struct rec_work, bytes) + 1,
	"spools keep the target's ordinal in the upper half, the channel type in the second byte");

struct rec_sync {             /* REC_SYNC and REC_EVENT */
	struct rec_head head; /* flags: sync: CUPTI's type; value: sync: return value */
	int64_t start,
		duration; /* event: device time or 0; CPU time in 'start' if that is all there is */
	uint32_t correlation, stream;
	uint32_t context, event;
	uint64_t event_sync;
	uint32_t device;
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_sync) == 2 * REC_SLOT, "two slots");

struct rec_memory {
	struct rec_head head; /* flags: 1 allocate, 2 release; value: CUPTI memory kind */
	int64_t time;
	uint64_t address, bytes, pool;
	uint32_t correlation, stream, context, device;
	uint32_t name; /* string id */
	uint32_t spare;
};
static_assert(sizeof(struct rec_memory) == 2 * REC_SLOT, "two slots");

enum { REC_OVERHEAD_STACK = 0x48 }; /* overhead kind of our own: the recorder took a stack */
struct rec_overhead {
	struct rec_head head; /* value: CUPTI's overhead kind, or REC_OVERHEAD_STACK */
	int64_t start, duration;
	uint32_t tid, correlation;
};

struct rec_range { /* NVTX; for POP only time and domain matter. Of one slot (head.slots) where there is neither
		    * colour nor payload: the second half then belongs to the next record */
	struct rec_head head; /* value: message string id (0: none) */
	int64_t time;
	uint64_t id;     /* joins start and end of a start/end range */
	uint32_t domain; /* 0: the default domain */
	uint32_t category;
	uint32_t color; /* ARGB, where bit 0 of head.flags is set */
	uint32_t
		payload_type; /* a number of enum hwy_payload_type (trace/model.h), 0: no payload */
	uint64_t payload;
	uint64_t spare[2];
};
static_assert(sizeof(struct rec_range) == 2 * REC_SLOT, "two slots");

enum rec_named {
	REC_NAMED_DOMAIN,
	REC_NAMED_CATEGORY,
	REC_NAMED_STREAM,
	REC_NAMED_CONTEXT,
	REC_NAMED_DEVICE,
	REC_NAMED_CALL
}; /* call: domain is CUPTI's (1 driver, 2 runtime) or 3 for OpenCL, number the cbid */
struct rec_naming {
	struct rec_head head; /* flags: enum rec_named; value: string id */
	uint32_t domain;      /* the domain of a category, or the domain that is named */
	uint32_t number;      /* what is named: category, stream id, context id, device or cbid */
	uint64_t handle;      /* of a stream whose id is not known: its CUstream */
	uint64_t spare;
};

struct rec_code { /* a Python code object; written once for each */
	struct rec_head head;
	uint32_t filename, name; /* string ids; the name is qualified where Python has that */
	int32_t first_line;
	uint32_t table_length; /* bytes of the line table, which follow from byte 32 on */
	uint32_t python;       /* PY_VERSION_HEX: the table's format depends on it */
	uint32_t spare;
	uint8_t table[];
};
struct rec_stack { /* what a call came from; joined to the call by tid and correlation id */
	struct rec_head head; /* flags: why (enum rec_why); value: python: number of frames */
	int64_t time;         /* when the call began */
	uint32_t tid, correlation;
	uint32_t count; /* python: frames that follow, innermost first; native: bytes of stack */
	uint32_t
		number; /* native: of this stack among the thread's, from 1; with count 0 the stack is the
				 * same as the one told under that number before; 0: has none */
	/* python: struct rec_frame[]; native: uint64_t rip, rsp, rbp, rbx, r12, r13, r14, r15, then the bytes
	 * of the stack from rsp on */
};
static_assert(sizeof(struct rec_stack) == REC_SLOT, "one slot");
struct rec_frame {
	uint32_t code;  /* code id */
	int32_t offset; /* bytes into the bytecode, or the line itself when the code has no table */
};
enum rec_why { REC_WHY_WAIT, REC_WHY_ALLOC, REC_WHY_LAUNCH, REC_WHY_OS };
enum { REC_STACK_BYTES = 8 * 1024, REC_STACK_REGS = 8, REC_MAX_FRAMES = 128 };

enum {
	REC_OS_WAKES = 1,      /* the call wakes other threads: kept however short it is */
	REC_OS_UNFINISHED = 2, /* the process or thread ended inside the call */
};
struct rec_os { /* a call into the operating system's libraries, by the thread whose spool this is */
	struct rec_head head;
	int64_t start, duration;
	uint64_t
		object; /* lock, condition, semaphore, thread: its address; files: kind and number of the
			  * inode behind the descriptor; processes: pid. Equal on both sides of a wake; 0: none */
};
static_assert(sizeof(struct rec_os) == REC_SLOT, "one slot");
struct rec_os_of { /* a REC_OS of two slots: told by another thread of the process, when it ended */
	struct rec_os os;
	uint32_t tid;
	uint32_t spare[7];
};
static_assert(sizeof(struct rec_os_of) == 2 * REC_SLOT, "two slots");

struct rec_sample { /* where a thread was */
	struct rec_head head;
	int64_t time;
	uint32_t pid, tid;
	uint64_t weight; /* ns or cycles that the sample stands for */
	uint32_t
		depth; /* addresses that follow, innermost first; the first 'kernel' of them in the kernel */
	uint32_t kernel;
	uint32_t
		bytes; /* after the addresses: registers as in rec_stack, then so many bytes of stack, padded to 8 */
	uint32_t frames; /* after those: struct rec_frame[] of Python, innermost first */
	uint32_t
		stack; /* of these bytes among all of the file, from 1; with 'bytes' 0 they are those told
			* under that number before; 0: there are no registers either */
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_sample) == 2 * REC_SLOT, "two slots");

enum {
	REC_SWITCH_IN = 1,      /* the thread runs from now on; without this flag it stops */
	REC_SWITCH_PREEMPT = 2, /* the thread stops although it could go on */
};
struct rec_switch { /* a thread got a CPU, or lost it */
	struct rec_head head;
	int64_t time;
	uint32_t pid, tid;
	uint64_t spare;
};
static_assert(sizeof(struct rec_switch) == REC_SLOT, "one slot");
struct rec_wakeup { /* a thread made another one able to run */
	struct rec_head head;
	int64_t time;
	uint32_t pid, tid;       /* the thread that was woken; pid 0: not known */
	uint32_t by_pid, by_tid; /* the thread that woke it */
};
static_assert(sizeof(struct rec_wakeup) == REC_SLOT, "one slot");
enum {
	REC_TASK_PROCESS = 1, /* a process begins, forked by 'parent' */
	REC_TASK_THREAD = 2,  /* a thread of the process begins */
	REC_TASK_END = 4,     /* the thread ends */
	REC_TASK_NAME = 8,    /* the thread has this name from now on */
	REC_TASK_EXEC = 16,   /* the process becomes the program with this name */
};
struct rec_task { /* an event in the life of a thread, as the kernel reports it */
	struct rec_head head;
	int64_t time;
	uint32_t tid, parent; /* parent: pid of the parent process; 0: not known */
	uint32_t name;        /* string id */
	uint32_t spare;
};
static_assert(sizeof(struct rec_task) == REC_SLOT, "one slot");
struct rec_map { /* a file's code in a process's memory */
	struct rec_head head;
	int64_t time; /* 0: mapped before the recording, or by the parent process */
	uint64_t start, size;
	uint64_t offset; /* where the mapped part begins in the file */
	uint32_t path;   /* string id */
	uint32_t spare[5];
};
static_assert(sizeof(struct rec_map) == 2 * REC_SLOT, "two slots");

struct rec_depends { /* an OpenCL command waits for other commands; all are told by correlation ids */
	struct rec_head head; /* value: number of ids that follow, from byte 16 on */
	uint32_t correlation;
	uint32_t spare;
	uint32_t on[];
};

enum {
	REC_COMMAND_KERNEL, /* value: string id of the name */
	REC_COMMAND_COPY,   /* value: as of REC_COPY */
	REC_COMMAND_FILL,   /* value: the first byte of the pattern */
	REC_COMMAND_MARK,   /* a marker, a barrier: takes part in dependencies and does nothing */
	REC_COMMAND_WAIT /* the program waited, from 'before' to 'after', for the queue (value 0) or for
			     * events (1); has no device times */
};
/* Numbers of OpenCL's devices, contexts (one for each device of a cl_context), shapes and calls begin here:
 * CUDA's in the same process are below. */
#define REC_OPENCL_DEVICE 0x4000u
#define REC_OPENCL_CONTEXT UINT32_C(0x40000000)
#define REC_OPENCL_SHAPE UINT32_C(0x40000000)
#define REC_OPENCL_CORRELATION UINT32_C(0x80000000)
/* Flags of the rec_stream of an OpenCL queue. */
enum { REC_STREAM_IN_ORDER = 4, REC_STREAM_OUT_OF_ORDER = 5 };
struct rec_command {
	struct rec_head head;
	int64_t before, after; /* when the call that enqueued the command began and returned */
	uint64_t queued, submitted, start,
		end;          /* on the device's own clock; ingest/ingest_opencl.c converts them */
	int64_t seen;         /* when the recorder saw that the command had ended */
	uint32_t correlation; /* correlation id of the call that enqueued it */
	uint32_t queue, context, device;
	uint32_t shape; /* of a kernel: shape id */
	uint32_t spare;
	uint64_t bytes; /* of a copy or a fill */
};
static_assert(sizeof(struct rec_command) == 3 * REC_SLOT, "three slots");

struct rec_drop {
	struct rec_head head;
	uint64_t count;
	int64_t time;
	uint32_t reason; /* string id */
	uint32_t spare;
};
struct rec_status {
	struct rec_head head;
	int64_t time;
	int32_t status; /* as wait() gives it */
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_status) == REC_SLOT, "one slot");
struct rec_clock {
	struct rec_head head;
	int64_t monotonic, raw, realtime;
};

/* The control page: what the parent tells the targets. The parent writes, targets read at any time. Fields marked
 * 'atomic' change during the run, the others are set before the first target starts. */
enum { REC_TRACE_CUDA = 1, REC_TRACE_NVTX = 2, REC_TRACE_OPENCL = 4, REC_TRACE_OSRT = 8 };
enum { REC_CAPTURE_NONE, REC_CAPTURE_PROFILER_API, REC_CAPTURE_NVTX };
enum { REC_CAPTURE_END_STOP, REC_CAPTURE_END_REPEAT, REC_CAPTURE_END_NONE };
struct rec_control {
	uint64_t magic;
	uint32_t version;
	uint32_t
		recording; /* atomic: 1: record, 0: do not; with a capture range the targets set it too */
	uint32_t
		finished; /* atomic: 1: the recording is over, targets finalise CUPTI and stay silent */
	uint32_t traces;      /* REC_TRACE_… */
	uint32_t graph_nodes; /* 1: record each node of a graph, 0: record graphs as a whole */
	uint32_t all_apis;
	uint32_t memory_usage;
	uint32_t leave_cupti;
	uint32_t capture; /* REC_CAPTURE_… */
	uint32_t
		capture_end; /* REC_CAPTURE_END_…: stop for good, wait for the next (at most 'repeats',
				  * 0: any number), or record on */
	uint32_t repeats;
	uint32_t launch_stacks; /* stacks of launches that are taken a second and thread; 0: none */
	int64_t stack_threshold; /* calls that take longer get a stack; ns */
	int64_t steps;           /* stop after so many steady steps, 0: no limit */
	int64_t started;         /* when the run began */
	uint32_t flush_ms;       /* how often CUPTI's buffers are asked for */
	uint32_t keep_s; /* not 0: spools are rings, chunks older than so many seconds are reused */
	char nvtx_range[256]; /* capture range "range@domain" */
	char library[1024];   /* path of the collect library, to inject again after exec */
	uint64_t
		dropped; /* atomic, written by targets: records lost by threads that had no chunk to count them in */
	uint32_t
		capturing; /* atomic, written by targets: open NVTX capture ranges of all processes */
	uint32_t reserved;
	int64_t os_threshold;       /* OS calls shorter than this are not kept; ns */
	int64_t os_stack_threshold; /* OS calls longer than this get a stack; ns, below 0: none does */
	uint8_t spare[584];
};
static_assert(sizeof(struct rec_control) % 64 == 0, "whole cache lines");

#endif
