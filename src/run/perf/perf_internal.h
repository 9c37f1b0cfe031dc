/* perf_internal.h - what the files of perf.h share. All of it belongs to the reader thread once that runs. */
#ifndef HWY_RUN_PERF_PERF_INTERNAL_H
#define HWY_RUN_PERF_PERF_INTERNAL_H

#include <linux/perf_event.h>
#include <pthread.h>

#include "base/hash.h"
#include "run/perf/perf.h"
#include "spool/record.h"

struct perf_ring { /* of one CPU */
	int fd;    /* the event that owns the ring */
	int wakes; /* wake-ups, written to the same ring; -1: none */
	uint32_t cpu;
	struct perf_event_mmap_page *page; /* then the data */
};

struct perf {
	struct perf_settings settings;
	const struct run *run;
	struct perf_ring *rings;
	uint32_t n_rings, cap_rings;
	uint64_t ring_bytes; /* of data, a power of two */
	uint64_t sample_type;
	bool system_wide;
	uint64_t *wake_ids; /* of the events of wake-ups */
	uint32_t n_wake_ids, cap_wake_ids;
	uint32_t wake_tid_at; /* where the tracepoint's record has the woken thread */

	pthread_t thread;
	bool started;
	int stop;          /* eventfd */
	int prompt;        /* epoll: rings and 'stop' */
	char *record_copy; /* of a record that wraps */
	bool kept_before;  /* it was recording when the rings were last looked at */

	struct perf_spool *definitions, *events;
	struct hwy_map texts; /* hash -> id */
	uint32_t n_texts, n_codes, n_stacks;
	struct hwy_map process_of; /* pid -> index in 'processes' plus one */
	struct perf_process **processes;
	uint32_t n_processes, cap_processes;
	struct hwy_map thread_of; /* tid -> index in 'threads' plus one */
	struct perf_stacks **threads;
	uint32_t n_threads, cap_threads;
	uint32_t pythons;   /* living processes with an interpreter */
	uint64_t throttled; /* times */
	uint64_t lost;      /* records that the rings had no room for */
};

/* ---- perf_open.c: events and rings ---- */

/* False with a sentence when nothing can be opened. */
bool perf_open(struct perf *perf, char *reason, size_t size);
void perf_close(struct perf *perf);

/* ---- perf_records.c: what the kernel wrote becomes records of ours ---- */

/* 'keep': samples and switches too, not only who is who. */
void perf_take(struct perf *perf, const struct perf_event_header *record, bool keep);

/* ---- perf_spool.c ---- */

enum { PERF_FIRST_ID = 1 << 19 }; /* of texts: the journal's are below */

/* NULL when there is no room for it. keep_s: chunks older than this are used again; 0: none is.
 * clock: yields the time in ns, by which the age of a chunk is judged (run_now, or a test's own). */
struct perf_spool *perf_spool_open(const char *directory, const char *name, uint32_t keep_s,
				   int64_t (*clock)(void));
void perf_spool_close(struct perf_spool *spool);
/* Room for a record, zeroed but for its head; NULL (and counted) when there is none. */
void *perf_spool_reserve(struct perf_spool *spool, enum rec_type type, size_t bytes);
void perf_spool_publish(struct perf_spool *spool);
uint32_t perf_text(struct perf *perf, const char *text, size_t length);
void perf_drop(struct perf *perf, const char *reason, uint64_t count);

/* ---- perf_tasks.c: processes, and where their code is ---- */

struct perf_map {
	int64_t time;
	uint64_t start, end, offset;
	char *path; /* NULL: no file's */
};
struct perf_process {
	uint32_t pid;
	int64_t since; /* fork or exec */
	struct perf_map *maps;
	uint32_t n_maps, cap_maps;
	uint32_t told; /* maps that have their record */
	bool sorted;   /* 'ranges' is what 'maps' says */
	struct perf_range {
		uint64_t from, to;
	} * ranges; /* of code, by address, apart from each other */
	uint32_t n_ranges, cap_ranges;
	uint8_t granules[1 << 13]; /* a bit for each 2 MiB that may have code, modulo */
	uint32_t looked;           /* maps that were looked at for an interpreter */
	struct perf_python *python;
};
struct perf_process *perf_process_of(struct perf *perf, uint32_t pid);
void perf_process_fork(struct perf *perf, uint32_t pid, uint32_t parent, int64_t time);
void perf_process_exec(struct perf *perf, uint32_t pid, int64_t time);
void perf_process_exit(struct perf *perf, uint32_t pid);
void perf_process_map(struct perf *perf, uint32_t pid, struct perf_map map);
/* Before a sample of it is kept: what it has mapped is told. */
void perf_process_tell(struct perf *perf, struct perf_process *process);
bool perf_process_holds_code(struct perf_process *process, uint64_t address);
/* System-wide: everybody who is there already. */
void perf_process_list(struct perf *perf);
void perf_processes_free(struct perf *perf);

/* ---- perf_stack.c: stacks that were told before ---- */

/* The number of a stack, and how many of its bytes are worth keeping; *known: it was told before. */
uint32_t perf_stack(struct perf *perf, struct perf_process *process, uint32_t tid, uint64_t sp,
		    const uint64_t *words, uint32_t *bytes, bool *known);
/* It was not kept after all. */
void perf_stack_unlearn(struct perf *perf, uint32_t tid, uint32_t number);
void perf_stacks_forget(struct perf *perf, uint32_t tid);
void perf_stacks_free(struct perf *perf);

/* ---- perf_python.c: the Python stack of a thread, read from outside ---- */

/* Looks for an interpreter among what was mapped since it last looked. */
void perf_python_look(struct perf *perf, struct perf_process *process);
/* Innermost first; 0 where anything is in doubt. */
uint32_t perf_python_stack(struct perf *perf, struct perf_process *process, uint32_t tid,
			   struct rec_frame frames[REC_MAX_FRAMES]);
void perf_python_free(struct perf *perf, struct perf_process *process);

/* ---- perf_elf.c: symbols of a file ---- */

struct perf_symbol {
	const char *name;
	uint64_t value; /* as the file numbers addresses; 0: not there */
};
/* Also the address of the file's first byte of code mapped from 'offset'; false when it is no ELF file. */
bool perf_elf_find(const char *path, uint64_t offset, struct perf_symbol *symbols, uint32_t n,
		   uint64_t *address);

#endif
