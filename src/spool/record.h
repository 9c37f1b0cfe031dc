/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - the spool's wire format: what the target writes and the parent reads.
 *
 * A run has a directory. In it: `control` and `state` (control.h), and spool files,
 * `PID.TID.N.spool`, N telling apart processes and threads that share numbers over time. One
 * thread at a time writes to a spool; when it has ended, a later thread of the process goes on
 * in the same file. 'tid' of a chunk is the thread that began the chunk; a REC_OWNER in the
 * chunk says whose the records after it are.
 *
 * A spool is a row of chunks of REC_CHUNK_BYTES; each begins with a struct rec_chunk and goes on
 * in slots of 32 bytes. A record is a run of slots in one chunk; its first 8 bytes are a struct
 * rec_head. 'used' of a chunk is stored with release order after the record is whole, so a
 * reader never sees a part of one, whenever the writer died. The last chunk of a file may be
 * shorter than the others (the first is begun with a few KiB), but never shorter than its
 * 'used'; a chunk with 'used' below 2 is empty. A file that is a ring (rec_control.keep_s) holds
 * chunks in any order, 'index' tells it; definitions are then in another file of the thread, so
 * that none is overwritten.
 *
 * Where the disk runs short, the parent gives the events of old chunks back to it: it joins
 * their slots to records of type REC_NONE, whose slots after the first may be holes of the file.
 * Definitions stay where they are.
 *
 * Times are CLOCK_MONOTONIC ns. Ids of strings, shapes and code objects are numbers of the
 * process, defined by a record in any of its spools (read all spools of a process before
 * resolving). A child after fork without exec has spools and ids of its own. The parent has a
 * spool too, `parent.spool`, whose chunks have pid 0: what it knows about the run and the
 * machine. Never change a record's meaning in place: add a type.
 */
#ifndef HWY_SPOOL_RECORD_H
#define HWY_SPOOL_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define REC_MAGIC UINT64_C(0x314c4f4f50535748) /* "HWSPOOL1" */
/* Version 2 has REC_OWNER and the last four fields of struct rec_chunk; all else is as in
 * version 1, which is still read. */
enum { REC_VERSION = 2, REC_OLDEST_VERSION = 1, REC_SLOT = 32, REC_CHUNK_BYTES = 256 * 1024 };

struct rec_chunk { /* the first two slots of a chunk */
	uint64_t magic;
	uint32_t version;
	uint32_t pid, tid;
	uint32_t index; /* number of this chunk among all that its file ever had */
	/* used: slots in use, the two slots of struct rec_chunk included; written with release
	 * order. */
	uint32_t used;
	/* dropped: records that found no room while the thread wrote to this chunk. */
	uint32_t dropped;
	int64_t opened; /* ns when the thread began to write to this chunk */
	/* Start time of the process, ns: pid and start time identify a process in a run. */
	uint64_t process;
	/* full: ns when the file was first refused room for a chunk after this one; 0: it was
	 * not. */
	int64_t full;
	/* given_back: events of this chunk whose room the parent gave back to the disk. */
	uint32_t given_back;
	uint8_t why; /* enum rec_full: why the room was refused at 'full' */
	uint8_t spare[3];
};
static_assert(sizeof(struct rec_chunk) == 2 * REC_SLOT, "two slots");

struct rec_head {
	uint8_t type;   /* enum rec_type */
	uint8_t flags;  /* flags of the record; their meaning depends on the type */
	uint16_t slots; /* length of the record in slots, the first one included */
	uint32_t value; /* a number whose meaning depends on the type */
};
static_assert(sizeof(struct rec_head) == 8, "a quarter slot");

enum {
	REC_EXIT_EXEC = 1, /* the process became another program (exec) */
	/* The process ended without exit handlers: records that CUPTI still had are lost. */
	REC_EXIT_BARE = 2,
};

/* Why a spool gets no more room; never renumber. */
enum rec_full {
	REC_FULL_NO,
	REC_FULL_DISK,        /* the disk's reserve would be touched, or nothing is free */
	REC_FULL_BOUND,       /* the run has as many bytes of spools as it may have (max_bytes) */
	REC_FULL_FILE_SIZE,   /* the program's limit on the size of files (RLIMIT_FSIZE) */
	REC_FULL_DESCRIPTORS, /* the program has as many open files as it may have */
	REC_FULL_REACH,       /* the run directory cannot be reached from the program */
	REC_FULL_MEMORY,      /* the chunk cannot be mapped */
	REC_FULL_REASONS
};

enum rec_type {
	/* No record: it was withdrawn, or its room was given back. Readers skip its slots and
	 * look at none but the first. */
	REC_NONE,
	/* ---- records that define texts, processes, threads and devices ---- */
	REC_STRING, /* struct rec_string: a text; head.value is its id */
	REC_SHAPE,  /* struct rec_shape: a kernel's launch configuration; head.value is its id */
	REC_CODE,   /* struct rec_code: a Python code object; head.value is its id */
	/* struct rec_process: who the process is. It is among the first records of a process,
	 * and is written again when more is known: the last one counts. */
	REC_PROCESS,
	/* struct rec_time: the process ended; head.flags are REC_EXIT_…, 0: it ended in good
	 * order. */
	REC_EXIT,
	/* struct rec_name: a thread's name; head.value is the tid. head.flags 1: the program
	 * gave the name through NVTX, 0: the name is the kernel's. A name of the program wins;
	 * else the last name counts. */
	REC_THREAD,
	REC_MODULE, /* struct rec_module: a shared object is mapped */
	REC_DEVICE,
	REC_CONTEXT,
	REC_STREAM,
	/* ---- records of events ---- */
	REC_API, /* struct rec_api: a call of CUDA or OpenCL */
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
	REC_MARK, /* struct rec_range: an NVTX mark */
	/* struct rec_naming: the name of a domain, category, stream, context, device or call. */
	REC_NAME,
	REC_PYTHON_STACK,
	REC_NATIVE_STACK, /* struct rec_stack: the native stack of a call */
	/* ---- records about the recording ---- */
	/* struct rec_string: a text for the report; head.value is its severity: 1 info, 2
	 * warning, 3 error. */
	REC_NOTE,
	REC_DROP,      /* struct rec_drop: how many records were lost, and why */
	REC_CLOCK,     /* struct rec_clock: the system's clocks, read together */
	REC_RECORDING, /* struct rec_time: recording begins (head.value 1) or ends (head.value 0) */
	/* struct rec_string: the value of a property; head.value is the string id of its name. */
	REC_PROPERTY,
	/* struct rec_status, written by the parent: a process ended; head.value is its pid. */
	REC_STATUS,
	/* ---- records about CPUs, threads and OpenCL commands ---- */
	/* struct rec_os: an OS call; head.value is the string id of its name, head.flags are
	 * REC_OS_… */
	REC_OS,
	/* struct rec_sample, written by the parent: a CPU sample; head.value is the CPU. */
	REC_SAMPLE,
	/* struct rec_switch, written by the parent: a thread got or lost the CPU head.value;
	 * head.flags are REC_SWITCH_… */
	REC_SWITCH,
	/* struct rec_wakeup, written by the parent: a thread was woken; head.value is the CPU. */
	REC_WAKEUP,
	REC_DEPENDS, /* struct rec_depends: an OpenCL command waits for other commands */
	/* struct rec_command: an OpenCL command that ended, or a wait; head.flags are
	 * REC_COMMAND_… */
	REC_COMMAND,
	/* struct rec_task, written by the parent: a thread's life; head.value is the pid,
	 * head.flags are REC_TASK_… */
	REC_TASK,
	REC_MAP, /* struct rec_map, written by the parent: code was mapped; head.value is the pid */
	/* struct rec_time: the records after this one are of the thread head.value, which begins
	 * to write here. The thread before it has ended. */
	REC_OWNER,
	/* struct rec_time, written by the parent: spools get no more room from now on;
	 * head.value is the reason (enum rec_full), REC_FULL_NO: there is room again. */
	REC_ROOM,
	/* Only a struct rec_head: who wrote this record was interrupted by a signal handler that
	 * did not return, or was cancelled. What is behind the head means nothing. */
	REC_INTERRUPTED,
	/* ---- records about frameworks and Python; their structs are in record_frameworks.h ---- */
	/* struct rec_operator: an operator of PyTorch that ended; head.value is the string id of
	 * its name, head.flags is its scope, a number of at::RecordScope. */
	REC_OPERATOR,
	/* struct rec_place: where operators and graph nodes came from, a Python stack;
	 * head.value is its id. */
	REC_PLACE,
	/* struct rec_layer: an nn.Module of PyTorch; head.value is its id. Written again when
	 * its path becomes known, which happens once: the one with a path counts. */
	REC_LAYER,
	/* struct rec_node: a node of a CUDA graph was made, or depends on another one;
	 * head.flags is an enum rec_node_event. */
	REC_NODE,
	/* struct rec_collection: a run of Python's garbage collector; head.value is the
	 * generation. */
	REC_COLLECTION,
	/* ---- records about devices, seen from outside the program; their structs are in record_counters.h ---- */
	/* struct rec_counter_device: a device of the machine; head.value is its number */
	REC_COUNTER_DEVICE,
	/* struct rec_counter_lane: a value over time; head.value is the lane's number */
	REC_COUNTER_LANE,
	/* struct rec_counter_value: the value of the lane head.value from now on */
	REC_COUNTER_VALUE,
	REC_COUNTER_ROW, /* struct rec_counter_row: the values of lanes from head.value on */
	/* struct rec_counter_total: what the device head.value has counted so far */
	REC_COUNTER_TOTAL,
	/* ---- records about NCCL; their structs are in record_nccl.h ---- */
	REC_NCCL_COMM,  /* struct rec_nccl_comm: a communicator */
	REC_NCCL_EVENT, /* struct rec_nccl_event: a call, or an operation that was planned */
	REC_NCCL_END,   /* struct rec_nccl_end: a call ended */
	/* struct rec_nccl_channel: a kernel worked at an operation on one channel */
	REC_NCCL_CHANNEL,
	REC_NCCL_PROXY, /* struct rec_nccl_proxy: a proxy thread moved the data of one channel */
	/* ---- records about libraries and NVTX's extensions; the structs of the last three are in record_nvtx.h ---- */
	/* struct rec_call: a call of a library; head.value is the string id of its name */
	REC_CALL,
	/* struct rec_nvtx_definition: a schema, an enumeration, a counter or a scope */
	REC_NVTX_DEFINITION,
	REC_NVTX_PAYLOAD, /* struct rec_nvtx_payload: data of an NVTX event */
	REC_NVTX_SAMPLE,  /* struct rec_nvtx_sample: a value of a counter */
	/* ---- records about MPI; their structs are in record_mpi.h ---- */
	REC_MPI, /* struct rec_mpi: a call of MPI; head.value is the string id of its name */
	REC_COMMUNICATOR, /* struct rec_communicator: who belongs to it; head.value is its number */
	REC_PING, /* struct rec_ping: another rank's clock was read; head.value is that rank */
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
	char text[];     /* the text without a terminating 0 byte, from byte 12 of the record on */
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
	int64_t start; /* ns on CLOCK_MONOTONIC when the process registered */
	uint32_t pid, parent;
	uint32_t exe, command;           /* string ids; 'command' has the arguments joined by NUL */
	int32_t rank, local_rank, world; /* -1: the environment does not name the rank */
	uint32_t python;                 /* PY_VERSION_HEX once Python is loaded, else 0 */
	uint32_t host;                   /* string id of the host's name */
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_process) == 2 * REC_SLOT, "two slots");

struct rec_name {
	struct rec_head head;
	uint32_t name; /* string id of the thread's name */
	uint32_t spare[5];
};
struct rec_module {
	struct rec_head head; /* head.flags 1: this is the main executable */
	uint64_t base, size;  /* load bias (dlpi_addr), and the length in bytes from there */
	uint64_t low;         /* the lowest address of the module that is mapped */
	uint32_t path;        /* string id of the module's path */
	uint8_t build_id_length;
	uint8_t build_id[20];
	uint8_t spare[7];
};
static_assert(sizeof(struct rec_module) == 2 * REC_SLOT, "two slots");

struct rec_device {
	struct rec_head head; /* head.value: the device's CUDA ordinal in this process */
	uint8_t uuid[16];
	uint32_t name, bus; /* string ids of the device's name and its PCI bus id */
	uint32_t compute_major, compute_minor, sms, clock_khz;
	/* memory_bytes in bytes, memory_bandwidth in bytes/s. */
	uint64_t memory_bytes, memory_bandwidth;
	uint32_t l2_bytes, copy_engines, max_warps_per_sm, max_blocks_per_sm, max_threads_per_block;
	uint32_t registers_per_sm, registers_per_block, shared_per_sm, shared_per_block,
		threads_per_warp;
	uint32_t pcie_generation, pcie_width;
	uint8_t spare[16];
};
static_assert(sizeof(struct rec_device) == 4 * REC_SLOT, "four slots");

struct rec_context {
	struct rec_head head; /* head.value: the context's id */
	uint32_t device, null_stream;
	/* parent: the context that a green context is part of; 0: this is no green context. */
	uint32_t parent;
	uint32_t spare[3];
};
struct rec_stream {
	struct rec_head
		head; /* value: stream id; flags: 1 default (blocking), 2 non-blocking, 3 null; OpenCL's
			  * queues: REC_STREAM_… */
	uint32_t context;
	int32_t priority;
	uint32_t name; /* string id of the stream's name; 0: the stream has no name */
	uint32_t spare[3];
};

enum { REC_API_DRIVER = 1, REC_API_NO_TIME = 2, REC_API_OPENCL = 4 };
struct rec_api {
	/* head.value: cbid | result << 16; head.flags REC_API_DRIVER: a driver call, else a
	 * runtime call. */
	struct rec_head head;
	int64_t start, duration;
	uint32_t correlation, tid;
};
static_assert(sizeof(struct rec_api) == REC_SLOT, "one slot");

/* Packs a number below 65535 that may be missing: 0 stands for none, n + 1 for the number n. */
static inline uint16_t rec_ref(uint32_t number)
{
	return (uint16_t)(number + 1);
}

/* Device work: REC_KERNEL, REC_COPY, REC_FILL, REC_GRAPH. head.value is the string id of a
 * kernel's mangled name; of a copy, CUPTI's numbers copyKind | source's memory kind << 8 |
 * target's memory kind << 16; of a fill, the value. Bit 0 of head.flags of a copy or fill: it is
 * asynchronous. */
struct rec_work {
	struct rec_head head;
	int64_t start, duration;
	uint32_t correlation, stream;
	uint32_t context;
	uint16_t device;
	uint16_t channel; /* rec_ref of the hardware channel */
	union {
		uint32_t shape;       /* of a kernel: the id of its shape */
		uint32_t memory_kind; /* of a fill: CUPTI's number of the memory kind */
		uint32_t graph_exec;  /* of a graph: the id of the instantiated graph */
		/* The ordinals of the two devices of a copy between devices, as rec_ref packs
		 * them. */
		struct {
			uint16_t source_device, target_device;
		};
	};
	uint32_t graph; /* id of the graph that the work belongs to */
	uint64_t node;  /* id of the graph node that the work belongs to */
	union {
		uint64_t bytes; /* of a copy or fill: its size in bytes */
		struct { /* of a kernel: CUPTI's numbers of its launch type and channel type */
			uint8_t launch_type, channel_type;
		};
	};
};
static_assert(sizeof(struct rec_work) == 2 * REC_SLOT, "two slots");
static_assert(
	offsetof(struct rec_work, target_device) == offsetof(struct rec_work, shape) + 2 &&
		offsetof(struct rec_work, channel_type) == offsetof(struct rec_work, bytes) + 1,
	"spools keep the target's ordinal in the upper half, the channel type in the second byte");

struct rec_sync { /* the record of REC_SYNC (a wait) and REC_EVENT (a CUDA event) */
	/* Of a wait: head.flags is CUPTI's type of wait, head.value the call's return value. */
	struct rec_head head;
	/* Of an event: 'duration' is the device's time, or 0; 'start' is the CPU's time where only
	 * that is known. */
	int64_t start, duration;
	uint32_t correlation, stream;
	uint32_t context, event;
	uint64_t event_sync;
	uint32_t device;
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_sync) == 2 * REC_SLOT, "two slots");

struct rec_memory {
	/* head.flags: 1 allocates, 2 releases; head.value: CUPTI's memory kind. */
	struct rec_head head;
	int64_t time;
	uint64_t address, bytes, pool;
	uint32_t correlation, stream, context, device;
	uint32_t name; /* string id of the symbol's name that CUPTI gives; 0: none */
	uint32_t spare;
};
static_assert(sizeof(struct rec_memory) == 2 * REC_SLOT, "two slots");

/* An overhead kind that CUPTI does not have: the recorder took a stack. */
enum { REC_OVERHEAD_STACK = 0x48 };
struct rec_overhead {
	struct rec_head head; /* head.value: CUPTI's overhead kind, or REC_OVERHEAD_STACK */
	int64_t start, duration;
	uint32_t tid, correlation;
};

/* An NVTX range or mark. REC_POP uses only 'time' and 'domain'. A record with neither colour nor
 * payload has one slot (head.slots): its second half is missing, and the next record stands
 * there. */
struct rec_range {
	struct rec_head head; /* head.value: string id of the message; 0: no message */
	int64_t time;
	uint64_t id;     /* the number that start and end of a start/end range share */
	uint32_t domain; /* number of the NVTX domain; 0: the default domain */
	uint32_t category;
	uint32_t color; /* the colour as ARGB, where bit 0 of head.flags is set */
	/* payload_type: a number of enum hwy_payload_type (trace/model.h), 0: no payload. */
	uint32_t payload_type;
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
	/* REC_NAMED_CALL: 'domain' is 1 (driver), 2 (runtime) or 3 (OpenCL), 'number' the call's
	 * cbid. */
	REC_NAMED_CALL
};
struct rec_naming {
	struct rec_head head; /* head.flags: enum rec_named; head.value: string id of the name */
	uint32_t domain;      /* the domain of a category, or the domain that gets the name */
	/* number: the category, stream id, context id, device or cbid that gets the name. */
	uint32_t number;
	uint64_t handle; /* CUstream of a stream whose id is not known */
	uint64_t spare;
};

struct rec_code { /* a Python code object; each code object is written once */
	struct rec_head head;
	/* 'filename' and 'name' are string ids; 'name' is the qualified name where the Python
	 * version has one. */
	uint32_t filename, name;
	int32_t first_line;
	/* table_length: bytes of the line table, which follows from byte 32 of the record on. */
	uint32_t table_length;
	uint32_t python; /* PY_VERSION_HEX, on which the format of the line table depends */
	uint32_t spare;
	uint8_t table[];
};
struct rec_stack { /* the stack of a call; tid and correlation id say which call */
	/* head.flags: why the stack was taken (enum rec_why); head.value of a Python stack:
	 * number of frames. */
	struct rec_head head;
	int64_t time; /* ns when the call began */
	uint32_t tid, correlation;
	/* count: Python: frames that follow, innermost first; native: bytes of stack that
	 * follow. */
	uint32_t count;
	/* The number of a native stack in its file, from 1; 0: the stack has no number. A record
	 * with count 0 repeats the stack that was last recorded with the same number in the
	 * file, perhaps by a thread that had the spool before. */
	uint32_t number;
	/* What follows. Python: struct rec_frame[]; native: uint64_t rip, rsp, rbp, rbx, r12,
	 * r13, r14, r15, then the bytes of the stack from rsp on */
};
static_assert(sizeof(struct rec_stack) == REC_SLOT, "one slot");
struct rec_frame {
	uint32_t code; /* id of the frame's code object (struct rec_code) */
	/* offset: bytes into the bytecode, or the source line when the code object has no line
	 * table. */
	int32_t offset;
};
enum rec_why { REC_WHY_WAIT, REC_WHY_ALLOC, REC_WHY_LAUNCH, REC_WHY_OS, REC_WHY_COLLECTION };
enum { REC_STACK_BYTES = 8 * 1024, REC_STACK_REGS = 8, REC_MAX_FRAMES = 128 };

enum {
	REC_OS_WAKES = 1, /* the call wakes other threads, so that it is kept however short it is */
	REC_OS_UNFINISHED = 2, /* the process or thread ended inside the call */
	/* what the call waits for or wakes is a condition of Python's global interpreter lock */
	REC_OS_GIL = 4,
	REC_OS_TIMED_OUT = 8, /* such a wait ended because its time was over */
};
/* a call into the operating system's libraries, by the thread whose spool this is */
struct rec_os {
	struct rec_head head;
	int64_t start, duration;
	/* What the call waits for or wakes, 0: nothing. A lock, condition, semaphore or thread
	 * is named by its address, a file by the kind and number of its inode, a process by its
	 * pid. The waiting call and the waking call have the same object. */
	uint64_t object;
};
static_assert(sizeof(struct rec_os) == REC_SLOT, "one slot");
/* A REC_OS of two slots, written by another thread of the process when thread 'tid' ended. */
struct rec_os_of {
	struct rec_os os;
	uint32_t tid;
	uint32_t spare[7];
};
static_assert(sizeof(struct rec_os_of) == 2 * REC_SLOT, "two slots");

/* head.flags of a rec_call: no call, but the arguments of the call of this name that the
 * thread's next range of a library is. */
enum { REC_CALL_ARGUMENTS = 1 };
/* a call of a library that a wrapper recorded, by the thread whose spool this is */
struct rec_call {
	struct rec_head head;
	int64_t start, duration;
	uint32_t library; /* string id of the library's name, "cuFFT" */
	uint32_t args;    /* string id of a JSON object with the arguments; 0: none */
};
static_assert(sizeof(struct rec_call) == REC_SLOT, "one slot");

struct rec_sample { /* a CPU sample: where a thread was executing */
	struct rec_head head;
	int64_t time;
	uint32_t pid, tid;
	uint64_t weight; /* ns or cycles that the sample stands for */
	/* depth: addresses that follow, innermost first; the first 'kernel' addresses lie in the
	 * kernel. */
	uint32_t depth;
	uint32_t kernel;
	/* Behind the addresses follow the registers as in rec_stack, then 'bytes' bytes of the
	 * stack, padded to a multiple of 8. */
	uint32_t bytes;
	/* Behind the stack's bytes follow 'frames' Python frames (struct rec_frame), innermost
	 * first. */
	uint32_t frames;
	/* The number of this copy of a stack in the file, from 1; 0: the sample has neither
	 * registers nor bytes. A sample with 'bytes' 0 repeats the copy that was recorded with
	 * the same number before. */
	uint32_t stack;
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_sample) == 2 * REC_SLOT, "two slots");

enum {
	REC_SWITCH_IN = 1, /* the thread runs from now on; without this flag the thread stops */
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
	uint32_t pid, tid;       /* the thread that was woken; pid 0: the process is not known */
	uint32_t by_pid, by_tid; /* the thread that woke the other thread */
};
static_assert(sizeof(struct rec_wakeup) == REC_SLOT, "one slot");
enum {
	REC_TASK_PROCESS = 1, /* a process begins, forked by the process 'parent' */
	REC_TASK_THREAD = 2,  /* a thread of the process begins */
	REC_TASK_END = 4,     /* the thread ends */
	REC_TASK_NAME = 8,    /* the thread has the name 'name' from now on */
	REC_TASK_EXEC = 16,   /* the process becomes the program with the name 'name' */
};
struct rec_task { /* an event in the life of a thread, as the kernel reports it */
	struct rec_head head;
	int64_t time;
	uint32_t tid, parent; /* 'parent' is the pid of the parent process; 0: not known */
	uint32_t name;        /* string id of the thread's or program's name */
	uint32_t spare;
};
static_assert(sizeof(struct rec_task) == REC_SLOT, "one slot");
struct rec_map { /* code of a file is mapped into a process's memory */
	struct rec_head head;
	/* time: ns; 0: the code was mapped before the recording, or by the parent process. */
	int64_t time;
	uint64_t start, size;
	uint64_t offset; /* where the mapped part begins in the file */
	uint32_t path;   /* string id of the file's path */
	uint32_t spare[5];
};
static_assert(sizeof(struct rec_map) == 2 * REC_SLOT, "two slots");

/* An OpenCL command waits for other commands; all commands are named by correlation ids. */
struct rec_depends {
	/* head.value: number of correlation ids that follow from byte 16 on. */
	struct rec_head head;
	uint32_t correlation;
	uint32_t spare;
	uint32_t on[];
};

enum {
	REC_COMMAND_KERNEL, /* head.value: string id of the kernel's name */
	REC_COMMAND_COPY,   /* head.value: the kinds of the copy, as in REC_COPY */
	REC_COMMAND_FILL,   /* head.value: the first byte of the pattern */
	REC_COMMAND_MARK, /* a marker or barrier: other commands wait for it, and it does no work */
	/* The program waited, from 'before' to 'after', for the queue (head.value 0) or for
	 * events (1). A wait has no device times. */
	REC_COMMAND_WAIT
};
/* Numbers of OpenCL's devices, contexts (one for each device of a cl_context), shapes and calls
 * begin here: CUDA's in the same process are below. */
#define REC_OPENCL_DEVICE 0x4000u
#define REC_OPENCL_CONTEXT UINT32_C(0x40000000)
#define REC_OPENCL_SHAPE UINT32_C(0x40000000)
#define REC_OPENCL_CORRELATION UINT32_C(0x80000000)
/* Flags of the rec_stream of an OpenCL queue. */
enum { REC_STREAM_IN_ORDER = 4, REC_STREAM_OUT_OF_ORDER = 5 };
struct rec_command {
	struct rec_head head;
	/* 'before', 'after': ns when the call that enqueued the command began, and when the call
	 * returned. */
	int64_t before, after;
	/* The command's four times are on the device's own clock; ingest/ingest_opencl.c converts
	 * them. */
	uint64_t queued, submitted, start, end;
	int64_t seen;         /* ns when the recorder saw that the command had ended */
	uint32_t correlation; /* correlation id of the call that enqueued the command */
	uint32_t queue, context, device;
	uint32_t shape; /* of a kernel: the id of its shape */
	uint32_t spare;
	uint64_t bytes; /* of a copy or fill: its size in bytes */
};
static_assert(sizeof(struct rec_command) == 3 * REC_SLOT, "three slots");

struct rec_drop {
	struct rec_head head;
	uint64_t count;
	int64_t time;
	uint32_t reason; /* string id of the reason for the loss */
	uint32_t spare;
};
struct rec_status {
	struct rec_head head;
	int64_t time;
	int32_t status; /* the process's status as wait() gives it */
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_status) == REC_SLOT, "one slot");
struct rec_clock {
	struct rec_head head;
	int64_t monotonic, raw, realtime;
};

#endif
