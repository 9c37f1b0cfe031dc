/* ingest_internal.h - what the parts of the reader of runs share.
 *
 * Two passes over the records. The first notes definitions: ids are of a process and may be defined in any
 * of its spools. Then who is who is settled (target.c). The second pass makes spans. Times become relative
 * to the run's start ('epoch') where they leave a record.
 */
#ifndef HWY_INGEST_INGEST_INTERNAL_H
#define HWY_INGEST_INGEST_INTERNAL_H

#include "base/ids.h"
#include "base/progress.h"
#include "ingest/spools.h"
#include "trace/builder.h"

#define INGEST_NO_LANE UINT32_MAX

struct ingest_texts {      /* of a process: defined by pointer, interned when first used */
	struct hwy_ids at; /* id -> index + 1 */
	struct ingest_text {
		const struct rec_string *record;
		uint32_t text, symbol; /* plus one; 0: not asked for yet */
	} * list;
	uint32_t n, cap;
};

struct ingest_list { /* records to be looked at later */
	const void **at;
	uint32_t n, cap;
};

struct ingest_process { /* one image: after exec there is another */
	uint32_t pid;
	uint32_t record; /* in the trace; UINT32_MAX: nothing of it is worth one */
	const struct rec_process *said;
	const struct rec_status *status; /* as the parent saw it end */
	int64_t opened;                  /* its first spool */
	int64_t start, end;              /* HWY_NONE: not known */
	int64_t last;                    /* the last time seen in its records */
	bool exited, execed;
	bool in_order;                  /* it exited through its exit handlers */
	struct ingest_process *becomes; /* this one is only its beginning */
	uint64_t events;

	struct ingest_texts texts;
	struct hwy_ids shapes; /* id -> shape + 1 */
	struct hwy_ids codes;  /* id -> index in 'code' + 1 */
	struct ingest_list code;
	struct ingest_list modules, devices, contexts, streams, names, threads;

	struct hwy_map thread_of;      /* tid -> thread */
	struct hwy_map device_of;      /* ordinal -> device + 1 */
	struct hwy_map stream_of;      /* context, stream -> stream + 1 */
	struct hwy_map stream_facts;   /* context, stream -> index in 'streams' + 1 */
	struct hwy_map parent_context; /* green context -> its parent + 1 */
	struct hwy_map context_device; /* context -> the device's ordinal */
	struct hwy_map null_streams;   /* context, stream -> 1 */
	struct hwy_map stream_names;   /* stream -> text */
	struct hwy_ids calls[3];       /* runtime, driver, OpenCL: cbid -> text + 1 */
	struct hwy_map domains;        /* domain -> text + 1 */
	struct hwy_map categories;     /* domain, category -> text + 1 */
	struct hwy_map stacks; /* correlation, or time of OS calls -> index in ingest.stacks + 1 */
	struct hwy_map told;   /* tid << 32 | number of a native stack -> the same */
	struct unwinder *unwinder;
	/* as the kernel told it, where samples were taken */
	int64_t began;                /* forked or exec'ed, before it could register; 0: not told */
	const struct rec_task *named; /* NULL: not told, or it registered */
	uint32_t parent;              /* pid; 0: not told */
	struct ingest_list maps;
};

struct ingest_thread {    /* parallel to the trace's threads */
	uint32_t process; /* of ours */
	uint32_t api;     /* lane */
	uint32_t opencl;  /* lane of its OpenCL calls */
	bool named;       /* by the program itself */
};
struct ingest_stream {       /* parallel to the trace's streams */
	uint32_t work, sync; /* lanes */
};

struct ingest_stack { /* what a call came from */
	const struct rec_stack *python, *native;
	uint32_t stack; /* in the trace, plus one; 0: none, or not made yet */
	bool made;
	uint32_t next; /* another thread's with the same correlation id, plus one */
	int64_t time;  /* of the call's start; OS calls are joined by it */
};

enum { INGEST_MOST_FRAMES = 512, INGEST_MOST_CHAIN = 256 };
struct ingest_frames {
	uint32_t at[INGEST_MOST_FRAMES]; /* in the trace, innermost first */
	uint32_t n;
	bool is_sample; /* not of a call */
};

struct ingest {
	struct spools spools;
	struct hwy_builder *b;
	struct hwy_trace *trace; /* of the builder */
	const struct hwy_progress *progress;
	int64_t epoch;   /* what time 0 is on CLOCK_MONOTONIC */
	int64_t run_end; /* the last time seen */
	int64_t cut;     /* events that ended before are not kept (--keep-last); INT64_MIN: all are */
	int64_t recording_changed; /* when recording last began or ended */
	int64_t recording_end;     /* when recording ended for good, or INT64_MAX */

	struct ingest_process *processes;
	uint32_t n_processes, cap_processes;
	struct hwy_map process_of; /* pid, identity -> process */
	struct ingest_process run; /* the parent's own spool */
	struct ingest_list statuses, clocks;
	struct ingest_list notes, drops, properties; /* with their processes: */
	struct ingest_list note_of, drop_of, property_of;

	struct ingest_thread *threads;
	uint32_t cap_threads;
	struct ingest_stream *streams;
	uint32_t cap_streams;
	uint32_t host;

	struct ingest_stack *stacks;
	uint32_t n_stacks, cap_stacks;
	struct binaries *binaries; /* NULL: nothing was looked up yet */

	struct hwy_row
		rows[HWY_KINDS]; /* kept between records of a kind: each sets all it ever sets */
	uint64_t no_time;        /* events without a time, or with one that cannot be */
	uint64_t old;            /* left out by --keep-last */
	struct cuda_waits *waits;
	struct opencl_state *opencl;
	struct nvtx_state *nvtx;
	struct os_calls *os;
	struct lives *lives;     /* NULL: no word of the kernel's */
	struct samples *samples; /* NULL: none */
	struct sched *sched;
};

/* ---- ingest.c ---- */

void ingest_list_add(struct ingest_list *list, const void *record);
/* The text of a process's string id; 0 for none and for ids nobody defined. */
uint32_t ingest_text(struct ingest *in, struct ingest_process *process, uint32_t id);
struct ingest_text *ingest_text_entry(struct ingest_process *process, uint32_t id);
void ingest_drop(struct ingest *in, int64_t process, int64_t thread, const char *source,
		 uint32_t reason, uint64_t count, int64_t time);
void ingest_say(struct ingest *in, int severity, int64_t process, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Whether a time can be one of this run; and what it is on the report's clock, or HWY_NONE. */
bool ingest_is_time(const struct ingest *in, int64_t time);
int64_t ingest_moment(const struct ingest *in, int64_t time);
/* START and DUR on the report's clock; false when the span is to be left out. */
bool ingest_times(struct ingest *in, int64_t start, int64_t duration, struct hwy_row *row);

/* ---- target.c: who is who ---- */

void target_settle(struct ingest *in); /* after the first pass */
/* Words joined by NUL as one line, quoted where a shell would split them. */
uint32_t target_command(struct ingest *in, const struct rec_string *words);
/* The image that started this one; NULL: not of this run. */
struct ingest_process *target_parent(struct ingest *in, const struct ingest_process *process);
void target_free(struct ingest_process *process);
uint32_t target_thread(struct ingest *in, uint32_t process, uint32_t tid);
uint32_t target_device(struct ingest *in, struct ingest_process *process, uint32_t ordinal);
/* The stream of a record; 'number' UINT32_MAX: none in particular. */
uint32_t target_stream(struct ingest *in, struct ingest_process *process, uint32_t device,
		       uint32_t context, uint32_t number);
uint32_t target_work_lane(struct ingest *in, uint32_t stream);
uint32_t target_sync_lane(struct ingest *in, uint32_t stream);

/* ---- run_meta.c: the machine, the run, what the collectors said ---- */

void about_settle(struct ingest *in); /* before target_settle: the host */
void about_report(struct ingest *in); /* last */

/* ---- ingest_cuda.c: calls and device work; driver_waits.c: syncs and events ---- */

void cuda_add(struct ingest *in, uint32_t process, const struct rec_head *record);
void waits_add(struct ingest *in, struct ingest_process *process, const struct rec_head *record);
void waits_note_call(struct ingest *in, const struct ingest_process *process,
		     const struct rec_api *call);
void waits_want(struct ingest *in, struct ingest_process *process, const struct rec_sync *event);
void waits_finish(struct ingest *in);
/* A kernel's symbol by the id of its name, plus one; 0: none. */
uint32_t cuda_symbol(struct ingest *in, struct ingest_process *process, uint32_t name);
int64_t cuda_memory_kind(uint32_t kind); /* enum hwy_memory_kind of CUPTI's number */

/* ---- ingest_opencl.c: commands, waits, dependencies ---- */

void opencl_add(struct ingest *in, uint32_t process, const struct rec_head *record);
void opencl_finish(struct ingest *in);

/* ---- ingest_nvtx.c ---- */

void nvtx_add(struct ingest *in, uint32_t process, uint32_t tid, const struct rec_range *record);
void nvtx_file_ends(struct ingest *in, uint32_t process, uint32_t tid);
void nvtx_finish(struct ingest *in);

/* ---- os.c ---- */

void os_add(struct ingest *in, uint32_t process, uint32_t tid, const struct rec_os *record);
void os_finish(struct ingest *in);

/* ---- stacks.c ---- */

void stacks_note(struct ingest *in, struct ingest_process *process, const struct rec_stack *record);
/* Frames, innermost first, and the stack they make: plus one, 0: empty. */
struct unwinder *stacks_unwinder(struct ingest *in, struct ingest_process *process);
void stacks_add_frame(struct ingest *in, struct ingest_frames *frames,
		      const struct hwy_frame *frame);
void stacks_add_native(struct ingest *in, struct ingest_process *process, const uint64_t *addresses,
		       uint32_t n, bool has_python, struct ingest_frames *frames);
void stacks_add_python(struct ingest *in, struct ingest_process *process,
		       const struct rec_frame *list, uint32_t n, struct ingest_frames *frames);
uint32_t stacks_join(struct ingest *in, const struct ingest_frames *frames);
/* The trace's stack of a call, plus one; 0: none. tid 0: whatever thread. */
uint32_t stacks_of(struct ingest *in, struct ingest_process *process, uint32_t tid,
		   uint32_t correlation);
/* The same of an OS call, which has no correlation id: by when it began, on the records' clock. */
uint32_t stacks_of_os(struct ingest *in, struct ingest_process *process, uint32_t tid,
		      int64_t start);

/* ---- task_lifetimes.c: processes and threads as the kernel told of them, where samples were taken ---- */

void task_lifetimes_note(struct ingest *in,
			 const struct rec_head *record); /* first pass: any of the parent's */
void task_lifetimes_recording(struct ingest *in, const struct rec_time *record);
void task_lifetimes_resolve(struct ingest *in); /* before target_settle: who did not register */
void task_lifetimes_attach_modules(struct ingest *in); /* after it */
/* The process that had this pid then; UINT32_MAX: none. */
uint32_t task_lifetimes_image(const struct ingest *in, uint32_t pid, int64_t time);
void task_lifetimes_add_modules(struct ingest *in, struct ingest_process *process);
void task_lifetimes_name_threads(struct ingest *in);
void task_lifetimes_free(struct ingest *in);
/* The times in which the run was recording: windows in order, whose number it yields. */
struct task_lifetimes_window {
	int64_t from, to;
};
uint32_t task_lifetimes_windows(const struct ingest *in,
				const struct task_lifetimes_window **windows);
bool task_lifetimes_is_recorded(const struct ingest *in, int64_t time);
/* Whatever the kernel told of begins, ends and execs. */
uint32_t task_lifetimes_tasks(const struct ingest *in, const void *const **tasks);
/* The lane of a thread's samples or states. */
uint32_t task_lifetimes_lane(struct ingest *in, enum hwy_lane_type type, uint32_t thread);

/* ---- samples.c, sched.c ---- */

void samples_note(struct ingest *in, uint32_t file, const struct rec_sample *record);
void samples_add(struct ingest *in, uint32_t file, const struct rec_sample *record);
void samples_free(struct ingest *in);
void sched_add(struct ingest *in, const struct rec_head *record);
void sched_finish(struct ingest *in);

#endif
