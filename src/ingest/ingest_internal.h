/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_internal.h - what the files of the reader of runs share.
 *
 * All records are read twice. The first pass notes definitions, because an id belongs to a process
 * and may be defined in any of its spools. Then the trace gets its processes, threads, devices and
 * contexts (target.c). The second pass makes spans. Times in records are on CLOCK_MONOTONIC; spans
 * and trace records have times relative to the run's start ('epoch').
 *
 * A "ref" is a reference of base/ref.h: 0 refers to nothing. A "process" that is a uint32_t is an
 * index into ingest.processes, unless its name says that it is an index into the trace.
 */
#ifndef HWY_INGEST_INGEST_INTERNAL_H
#define HWY_INGEST_INGEST_INTERNAL_H

#include "base/ids.h"
#include "base/index.h"
#include "base/progress.h"
#include "base/ref.h"
#include "ingest/ingest.h"
#include "ingest/spools.h"
#include "spool/record_frameworks.h"
#include "spool/record_nvtx.h"
#include "trace/builder.h"

#define INGEST_NO_LANE UINT32_MAX

/* The texts that one process defined: kept as pointers into the spool, interned when they are first
 * used. */
struct ingest_texts {
	struct hwy_ids refs; /* maps a string id to the ref of a text in 'list' */
	struct ingest_text {
		const struct rec_string *record;
		uint32_t text_ref; /* ref of the trace's texts; 0 until the text is first used */
		/* symbol_ref: ref of the trace's symbols; 0 until the text is first used as a
		 * symbol. */
		uint32_t symbol_ref;
	} * list;
	uint32_t n, cap;
};

struct ingest_list { /* a list of records of the spools, kept to be read later */
	const void **items;
	uint32_t n, cap;
};

/* One image of a program: after exec the same pid is another struct ingest_process. */
struct ingest_process {
	uint32_t pid;
	/* record: index of the process in the trace; UINT32_MAX: the process is not in the
	 * trace. */
	uint32_t record;
	/* registration: NULL: the process has no record of the collect library. */
	const struct rec_process *registration;
	/* The process's exit status, seen by the parent; NULL: the parent saw no end. */
	const struct rec_status *status;
	int64_t opened; /* ns when the first spool of the process was opened */
	/* Start and end of the process in ns; HWY_NONE until target.c finds them out. */
	int64_t start, end;
	int64_t last;      /* the last time in any record of the process */
	uint32_t next_ref; /* ref of ingest.processes: another image with the same pid */
	bool exited, execed;
	bool has_nccl_comms; /* NCCL's plugin tells of the communicators */
	bool in_order;       /* the process ended through its exit handlers */
	/* becomes: the image that this image became by exec before it recorded anything. */
	struct ingest_process *becomes;
	uint64_t events;
	uint64_t interrupted; /* records that were lost to signal handlers */

	struct ingest_texts texts;
	struct hwy_ids shapes; /* maps a shape id to the ref of a shape of the trace */
	struct hwy_ids codes;  /* maps a code id to the ref of a record in 'code' */
	struct ingest_list code;
	struct hwy_ids places; /* maps a place id to the ref of a record in 'place' */
	struct ingest_list place;
	struct hwy_map place_stacks; /* maps a place id to the ref of a stack of the trace */
	struct ingest_list layer;    /* all records of nn.Modules */
	struct hwy_ids
		layers; /* maps a module's id to the ref of its record in 'layer' that counts */
	bool has_layer_index; /* 'layers' is filled */
	/* NVTX: schemas, enumerations, counters and scopes, and which of them has an id
	 * (nvtx_schemas.c). */
	struct ingest_list nvtx_definitions;
	struct hwy_index nvtx_definition_of;
	struct ingest_list modules, devices, contexts, streams, names, threads;
	struct ingest_list communicators; /* of MPI */

	struct hwy_map thread_of; /* maps a tid to a thread of the trace */
	struct hwy_map device_of; /* maps a CUDA ordinal to the ref of a device of the trace */
	/* 'stream_of' maps context and stream number to the ref of a stream of the trace. */
	struct hwy_map stream_of;
	/* 'stream_facts' maps context and stream number to the ref of a record in 'streams'. */
	struct hwy_map stream_facts;
	struct hwy_map parent_context; /* maps a green context to its parent context */
	struct hwy_map context_device; /* maps a context to the CUDA ordinal of its device */
	struct hwy_map null_streams; /* a set: context and stream number of every default stream */
	/* 'stream_names' maps a stream number to the string id of the stream's name. */
	struct hwy_map stream_names;
	/* calls: for runtime, driver and OpenCL: each maps a callback id to the ref of a text of
	 * the trace. */
	struct hwy_ids calls[3];
	struct hwy_map domains; /* maps an NVTX domain to the ref of a text of the trace */
	/* 'categories' maps NVTX domain and category to the ref of a text of the trace. */
	struct hwy_map categories;
	/* Maps a correlation id, or the time of an OS call, to a ref of ingest.stacks. */
	struct hwy_map stacks;
	/* 'numbered_stacks' maps file and number of a native stack to a ref of ingest.stacks. */
	struct hwy_map numbered_stacks;
	struct unwinder *unwinder;

	/* The following fields hold what the kernel reported (perf events), where the run took
	 * CPU samples. */
	/* began: ns of the fork or exec, before the process could register; 0: not reported. */
	int64_t began;
	/* named: the kernel's report that has the process's name; NULL: no report has, or the
	 * process registered. */
	const struct rec_task *named;
	uint32_t parent; /* pid of the parent process; 0: not reported */
	struct ingest_list maps;
};

/* What ingest keeps of a thread; ingest.threads has the order of the trace's threads. */
struct ingest_thread {
	uint32_t process;
	uint32_t opencl; /* lane of the thread's OpenCL calls, or INGEST_NO_LANE */
	bool named;      /* the program itself named the thread */
};

/* The stack of one call, in the form in which the spool has it. */
struct ingest_stack {
	const struct rec_stack *python, *native;
	/* stack_ref: ref of the trace's stacks; 0: the stack is not made yet, or is empty. */
	uint32_t stack_ref;
	bool made;
	/* next_ref: ref of ingest.stacks: another thread's stack with the same correlation id. */
	uint32_t next_ref;
	/* The thread that made the call; 'native' may be an equal stack of another thread. */
	uint32_t tid;
	int64_t time; /* ns when the call began; the stack of an OS call is found by this time */
};

enum { INGEST_MOST_FRAMES = 512, INGEST_MOST_CHAIN = 256 };
struct ingest_frames {
	uint32_t frames[INGEST_MOST_FRAMES]; /* indexes of the trace's frames, innermost first */
	uint32_t n;
	bool is_sample; /* true: the stack of a CPU sample; false: the stack of a call */
};

struct ingest {
	struct spools spools;
	struct hwy_builder *b;
	struct hwy_trace *trace; /* the builder's trace, while it is built */
	const struct hwy_progress *progress;
	int64_t epoch;   /* the run's start on CLOCK_MONOTONIC: time 0 of the trace */
	int64_t run_end; /* the last time in any record of the run */
	/* ns; events that ended before 'cut' are left out (--keep-last); INT64_MIN: all are
	 * kept. */
	int64_t cut;
	int64_t recording_changed; /* ns when recording last began or ended */
	/* recording_end: ns when recording ended for good; INT64_MAX: recording did not end. */
	int64_t recording_end;

	struct ingest_process *processes;
	uint32_t n_processes, cap_processes;
	/* 'process_of' maps a struct process_key (ingest.c) to an index into 'processes'. */
	struct hwy_index process_of;
	struct hwy_map python_lanes; /* maps a thread of the trace to the lane of its collections */
	struct hwy_map image_of;     /* maps a pid to the ref of its first image in 'processes' */
	struct ingest_process run;   /* owner of the definitions in the parent's own spool */
	struct ingest_list statuses, clocks;
	struct ingest_list rooms; /* the parent's records of when spools got no more room */
	/* The chunk that record i stands in, which tells its process, is item i of the list below
	 * it. */
	struct ingest_list notes, drops, properties;
	struct ingest_list note_chunks, drop_chunks, property_chunks;

	struct ingest_thread *threads;
	uint32_t cap_threads;
	uint32_t host; /* index of the trace's only host */

	enum ingest_stacks wanted_stacks;
	struct ingest_stack *stacks;
	uint32_t n_stacks, cap_stacks;
	/* files: the ELF files that were read; NULL until an address is first looked up. */
	struct unwind_files *files;

	/* rows: one row for each kind, zeroed once and used again for every span of the kind:
	 * clearing all columns for each record would take longer than filling in the few that
	 * the kind has. The contract: code that adds spans of a kind through its row here sets
	 * the same columns for every span, also to 0. */
	struct hwy_row rows[HWY_KINDS];
	uint64_t no_time; /* events without a time, or with a time that cannot be one of this run */
	uint64_t old;     /* events that --keep-last leaves out */

	/* Each of these structs is the state of one file of this room (waits: driver_waits.c);
	 * it is NULL until the first record that the file reads. */
	struct driver_waits *waits;
	struct ingest_opencl *opencl;
	struct ingest_nvtx *nvtx;
	struct nvtx_schemas *schemas;
	struct nvtx_values *nvtx_values;
	struct ingest_nodes *nodes;
	struct ingest_counters *counters;
	struct ingest_nccl *nccl;
	struct ingest_mpi *mpi;
	struct os_calls *os;
	struct operators *operators;
	struct task_lifetimes *lifetimes;
	struct samples *samples;
	struct sched *sched;
};

/* ---- ingest.c ---- */

void ingest_list_add(struct ingest_list *list, const void *record);
/* Yields the trace's text for a process's string id; 0, the empty text, where nobody defined the
 * id. */
uint32_t ingest_text(struct ingest *in, struct ingest_process *process, uint32_t id);
/* Yields a process's text by its string id; NULL where nobody defined the id. */
struct ingest_text *ingest_text_entry(struct ingest_process *process, uint32_t id);
/* Yields the owner of a chunk's definitions: the chunk's process, or ingest.run for the parent's
 * chunks. */
struct ingest_process *ingest_owner(struct ingest *in, const struct spool_chunk *chunk);
/* Counts lost records. 'process' and 'thread' are indexes of the trace, or HWY_NONE; 'reason' is
 * a text of the trace. */
void ingest_drop(struct ingest *in, int64_t process, int64_t thread, const char *source,
		 uint32_t reason, uint64_t count, int64_t time);
void ingest_note_diagnostic(struct ingest *in, int severity, int64_t process, const char *format,
			    ...) __attribute__((format(printf, 4, 5)));
/* Whether a record's time is within a year of the run's start. */
bool ingest_is_time(const struct ingest *in, int64_t time);
/* Yields a record's time on the trace's clock; HWY_NONE where the time cannot be one of this
 * run. */
int64_t ingest_moment(const struct ingest *in, int64_t time);
/* Yields the duration of a record in ns; 0 where it cannot be one, since the record is damaged. */
#define INGEST_YEAR_NS (INT64_C(365) * 24 * 3600 * 1000000000)
static inline int64_t ingest_duration(int64_t duration)
{
	return duration >= 0 && duration <= INGEST_YEAR_NS ? duration : 0;
}
/* Sets START and DUR on the trace's clock; false when the span is to be left out, which is
 * counted. */
bool ingest_times(struct ingest *in, int64_t start, int64_t duration, struct hwy_row *row);

/* record_times.c: when the event of a record ended; 0 for records without a time, or with a time
 * that cannot be one of this run. */
int64_t ingest_end_of(const struct ingest *in, const struct rec_head *record);

/* ---- target.c: processes, threads, devices, contexts, streams ---- */

/* Gives the trace its processes, threads, devices and contexts, and every process its start and
 * end. */
void target_make_records(struct ingest *in);
/* Yields words that are joined by NUL as one line, quoted where a shell would split them; the
 * line is a text of the trace. */
uint32_t target_command(struct ingest *in, const struct rec_string *words);
/* Yields the image that started 'process'; NULL: the parent process does not belong to this run. */
struct ingest_process *target_parent(struct ingest *in, const struct ingest_process *process);
void target_free_process(struct ingest_process *process);
/* target_thread, target_device and target_stream yield indexes of the trace, and make the record
 * when it is first asked for. */
uint32_t target_thread(struct ingest *in, uint32_t process, uint32_t tid);
uint32_t target_device(struct ingest *in, struct ingest_process *process, uint32_t ordinal);
/* Yields the trace's text of a device's uuid. */
uint32_t target_uuid_text(struct ingest *in, const uint8_t uuid[16]);
/* Yields a stream by its number; UINT32_MAX as 'number' means no stream in particular. */
uint32_t target_stream(struct ingest *in, struct ingest_process *process, uint32_t device,
		       uint32_t context, uint32_t number);

/* ---- run_meta.c: the machine, the run, notes of the collectors, losses ---- */

void run_meta_add_host(struct ingest *in);
void run_meta_report(struct ingest *in);

/* ---- losses.c: records that found no room, or whose room was given back ---- */

void losses_report(struct ingest *in);
/* unrecorded.c: says how many programs of the run recorded nothing, and why. */
void unrecorded_report(struct ingest *in);

/* ---- ingest_cuda.c: calls and device work ---- */

void ingest_cuda_add(struct ingest *in, uint32_t process, const struct rec_head *record);
/* Ref of the trace's symbols for a kernel, by the string id of its mangled name; 0 where the id is
 * not defined. */
uint32_t ingest_cuda_symbol(struct ingest *in, struct ingest_process *process, uint32_t name);
/* Yields the enum hwy_memory_kind for CUPTI's number of a memory kind. */
int64_t ingest_cuda_memory_kind(uint32_t kind);

/* ---- driver_waits.c: waits inside the driver, and CUDA events ---- */

/* First pass: an event without a time of its own will need the start of the call that recorded
 * it. */
void driver_waits_expect_call(struct ingest *in, struct ingest_process *process,
			      const struct rec_sync *event);
/* Second pass, called for every call: keeps the call's start where an event needs it. */
void driver_waits_note_call(struct ingest *in, const struct ingest_process *process,
			    const struct rec_api *call);
/* Second pass: adds the span of a wait, keeps an event for driver_waits_finish. */
void driver_waits_add(struct ingest *in, struct ingest_process *process,
		      const struct rec_head *record);
/* Adds the events, and the edges from events to waits; called after the last call was read. */
void driver_waits_finish(struct ingest *in);

/* ---- ingest_opencl.c: commands, waits, dependencies ---- */

void ingest_opencl_add(struct ingest *in, uint32_t process, const struct rec_head *record);
void ingest_opencl_finish(struct ingest *in);

/* ---- ingest_nccl.c: communicators, calls and operations of NCCL ---- */

void ingest_nccl_add(struct ingest *in, uint32_t process, uint32_t tid,
		     const struct rec_head *record);
/* Second pass, for every kernel of a run with -t nccl: keeps those of NCCL's. 'name' is a text
 * of the trace. */
void ingest_nccl_note_kernel(struct ingest *in, uint32_t process, const struct rec_work *work,
			     int64_t name, struct hwy_ref span);
/* Second pass: a call that NCCL told through NVTX, with its start on CLOCK_MONOTONIC. */
void ingest_nccl_note_call(struct ingest *in, uint32_t process, uint32_t tid, int64_t start,
			   int64_t duration, struct hwy_ref span);
void ingest_nccl_finish(struct ingest *in);

/* ---- ingest_nodes.c: nodes of CUDA graphs ---- */

/* Device work refers to a node of a graph of this process. */
void ingest_nodes_use(struct ingest *in, uint32_t process, uint64_t id);
void ingest_nodes_add(struct ingest *in, uint32_t process, uint32_t tid,
		      const struct rec_node *record);
/* Gives the trace its nodes and their edges; called after the last record was read. */
void ingest_nodes_finish(struct ingest *in);

/* ---- ingest_mpi.c: calls of MPI, messages, clocks of other ranks ---- */

struct rec_communicator;
void ingest_mpi_add(struct ingest *in, uint32_t process, uint32_t tid,
		    const struct rec_head *record);
void ingest_mpi_finish(struct ingest *in);
/* What the process said about MPI_COMM_WORLD; NULL: nothing. */
const struct rec_communicator *ingest_mpi_world(const struct ingest_process *process);

/* ---- ingest_counters.c: values of GPUs, seen from outside the program ---- */

/* First pass: a record of the watcher (REC_COUNTER_…), from a chunk of the parent. */
void ingest_counters_note(struct ingest *in, const struct rec_head *record,
			  const struct spool_chunk *chunk);
/* Adds the lanes of the devices that the program used; called after the last record was read. */
void ingest_counters_finish(struct ingest *in);
/* Adds the properties of these devices, and forgets what was noted. */
void ingest_counters_report(struct ingest *in);

/* ---- ingest_nvtx.c ---- */

void ingest_nvtx_add(struct ingest *in, uint32_t process, uint32_t tid,
		     const struct rec_range *record);
/* Ends the ranges that a thread left open; called after the last chunk of the thread's spool
 * file. */
void ingest_nvtx_end_file(struct ingest *in, uint32_t process, uint32_t tid);
void ingest_nvtx_finish(struct ingest *in);

/* A payload of an event that follows in the same file. */
void ingest_nvtx_payload(struct ingest *in, const struct rec_nvtx_payload *record);

/* The arguments of a library's call whose range follows in the same file. */
void ingest_nvtx_expect(struct ingest *in, uint32_t process, const struct rec_call *record);

/* ---- nvtx_schemas.c: see nvtx_schemas.h ---- */

void nvtx_schemas_note(struct ingest_process *process, const struct rec_nvtx_definition *record);

/* ---- nvtx_values.c: counters of NVTX ---- */

void nvtx_values_add(struct ingest *in, uint32_t process, const struct rec_nvtx_sample *record);
void nvtx_values_finish(struct ingest *in);

/* ---- library_calls.c ---- */

/* Adds a REC_CALL; hands a REC_NVTX_PAYLOAD or REC_NVTX_SAMPLE to the file that reads it. */
void library_calls_add(struct ingest *in, uint32_t process, uint32_t tid,
		       const struct rec_head *record);
/* Yields the lane of a thread for calls of a library. */
uint32_t library_calls_lane(struct ingest *in, uint32_t process, uint32_t tid, const char *library);

/* ---- ingest_python.c ---- */

void ingest_python_add(struct ingest *in, uint32_t process, uint32_t tid,
		       const struct rec_collection *record);

/* ---- os.c ---- */

void os_add(struct ingest *in, uint32_t process, uint32_t tid, const struct rec_os *record);
void os_finish(struct ingest *in);

/* ---- stacks.c ---- */

void stacks_note(struct ingest *in, struct ingest_process *process, uint32_t file,
		 const struct rec_stack *record);
/* Yields the unwinder of a process, with all modules of the process; makes the unwinder at the
 * first call. */
struct unwinder *stacks_unwinder(struct ingest *in, struct ingest_process *process);
/* stacks_add_frame, stacks_add_native and stacks_add_python append frames to 'frames', innermost
 * first. */
void stacks_add_frame(struct ingest *in, struct ingest_frames *frames,
		      const struct hwy_frame *frame);
void stacks_add_native(struct ingest *in, struct ingest_process *process, const uint64_t *addresses,
		       uint32_t n, bool has_python, struct ingest_frames *frames);
void stacks_add_python(struct ingest *in, struct ingest_process *process,
		       const struct rec_frame *list, uint32_t n, struct ingest_frames *frames);
/* Yields the ref of the trace's stack that has these frames; 0 where there is no frame. */
uint32_t stacks_join(struct ingest *in, const struct ingest_frames *frames);
/* Yields the ref of the trace's stack for a CUDA or OpenCL call; 0: the call has no stack. tid 0
 * means any thread. */
uint32_t stacks_find_call(struct ingest *in, struct ingest_process *process, uint32_t tid,
			  uint32_t correlation);
/* Yields the ref of the trace's stack for an OS call or a garbage collection, found by its start
 * on CLOCK_MONOTONIC; 0: it has no stack. */
uint32_t stacks_find_at(struct ingest *in, struct ingest_process *process, uint32_t tid,
			int64_t start);

/* ---- task_lifetimes.c: processes and threads as the kernel reported them (perf events) ---- */

/* First pass: a sample, a switch, a task's begin or end, or mapped code, from the parent's
 * spool. */
void task_lifetimes_note_record(struct ingest *in, const struct rec_head *record);
void task_lifetimes_note_recording(struct ingest *in, const struct rec_time *record);
/* Adds the images that did not register to ingest.processes, and corrects when the registered
 * images began. */
void task_lifetimes_add_images(struct ingest *in);
/* Makes task_lifetimes_find ready, and gives every process the code that was mapped in the
 * process. */
void task_lifetimes_index_images(struct ingest *in);
/* Yields the process that had this pid at this time; UINT32_MAX: the trace has no such process. */
uint32_t task_lifetimes_find(const struct ingest *in, uint32_t pid, int64_t time);
/* Adds the code that the kernel saw mapped to the process's unwinder. */
void task_lifetimes_add_modules(struct ingest *in, struct ingest_process *process);
void task_lifetimes_name_threads(struct ingest *in);
void task_lifetimes_free(struct ingest *in);
/* A window is a time in which the run was recording; task_lifetimes_windows yields their number,
 * ascending. */
struct task_lifetimes_window {
	int64_t from, to;
};
uint32_t task_lifetimes_windows(const struct ingest *in,
				const struct task_lifetimes_window **windows);
bool task_lifetimes_is_recorded(const struct ingest *in, int64_t time);
/* Gives the kernel's reports of begins, ends and execs (struct rec_task); yields their number. */
uint32_t task_lifetimes_tasks(const struct ingest *in, const void *const **tasks);

/* ---- samples.c, sched.c: what the parent's spool tells about the CPUs ---- */

/* First pass: keeps a sample whose copy of the stack later samples refer to. */
void samples_note(struct ingest *in, uint32_t file, const struct rec_sample *record);
void samples_add(struct ingest *in, uint32_t file, const struct rec_sample *record);
void samples_free(struct ingest *in);
void sched_add(struct ingest *in, const struct rec_head *record);
void sched_finish(struct ingest *in);

#endif
