/* SPDX-License-Identifier: Apache-2.0 */
/* perf_internal.h - what the files of perf.h share. All of it belongs to the reader thread once
 * that thread runs.
 */
#ifndef HWY_RUN_PERF_PERF_INTERNAL_H
#define HWY_RUN_PERF_PERF_INTERNAL_H

#include <linux/perf_event.h>
#include <pthread.h>

#include "base/hash.h"
#include "base/index.h"
#include "base/ref.h"
#include "run/perf/perf.h"
#include "run/perf/perf_spool.h"
#include "spool/control.h"
#include "spool/record.h"

struct perf_ring { /* the ring of one CPU, which the kernel writes to */
	int fd;    /* descriptor of the event that owns the ring */
	/* wakes: descriptor of the event of wake-ups, which writes to the same ring; -1: there
	 * is none. */
	int wakes;
	uint32_t cpu;
	/* The ring's control page, which the ring's data follow. */
	struct perf_event_mmap_page *page;
};

struct perf {
	struct perf_settings settings;
	const struct run *run;
	struct perf_ring *rings;
	uint32_t n_rings, cap_rings;
	uint64_t ring_bytes; /* bytes of a ring's data, a power of two */
	uint64_t sample_type;
	bool system_wide;
	uint64_t *wake_ids; /* ids of the events of wake-ups */
	uint32_t n_wake_ids, cap_wake_ids;
	/* wake_tid_offset: offset of the woken thread's tid in the tracepoint's record. */
	uint32_t wake_tid_offset;

	pthread_t thread;
	bool started;
	_Atomic bool is_stopped; /* the reading thread is to end */
	bool was_rescued;        /* the reading thread ended without memory */
	int stop;                /* eventfd that ends the reading thread */
	int prompt;              /* epoll descriptor over the rings and 'stop' */
	char *record_copy;       /* copy of a record that wraps around the ring's end */
	bool kept_before;        /* recording was on when the rings were read last */

	struct perf_spool *definitions, *events;
	struct hwy_index texts; /* maps a text to its id */
	uint32_t n_texts, n_codes, n_stacks;
	struct hwy_map process_of; /* maps a pid to the hwy_ref32 of a process in 'processes' */
	struct perf_process **processes;
	uint32_t n_processes, cap_processes;
	struct hwy_map thread_of; /* maps a tid to the hwy_ref32 of a thread in 'threads' */
	struct perf_stacks **threads;
	uint32_t n_threads, cap_threads;
	uint32_t pythons;   /* how many living processes have a Python interpreter */
	uint64_t throttled; /* how often the kernel held back samples */
	uint64_t lost;      /* records that the kernel had no room for in a ring */
};

/* ---- perf_open.c: events and rings ---- */

/* Opens events and rings; false, with a sentence in 'reason', when nothing can be opened. */
bool perf_open(struct perf *perf, char *reason, size_t size);
void perf_close(struct perf *perf);
/* How many records the kernel had no room for, by the counters of all events; 0 before Linux
 * 6.0. */
uint64_t perf_losses(const struct perf *perf);

/* ---- perf_records.c: the kernel's records become records of the spool ------------------------ */

/* Takes one record of the kernel. 'keep': samples and switches too, not only records about
 * processes and threads. */
void perf_records_take(struct perf *perf, const struct perf_event_header *record, bool keep);

/* ---- perf_spool.c; see perf_spool.h, too ---- */

/* The first text id in the spool of samples; the ids of the journal are below it. */
enum { PERF_FIRST_ID = 1 << 19 };

uint32_t perf_spool_text(struct perf *perf, const char *text, size_t length);
void perf_spool_drop(struct perf *perf, const char *reason, uint64_t count);

/* ---- perf_tasks.c: processes, and where their code is ---- */

struct perf_map {
	int64_t time;
	uint64_t start, end, offset;
	char *path; /* path of the mapped file; NULL: no file is mapped */
};
struct perf_process {
	uint32_t pid;
	int64_t since; /* ns of the process's last fork or exec */
	struct perf_map *maps;
	uint32_t n_maps, cap_maps;
	uint32_t recorded_maps; /* how many of 'maps' have a REC_MAP record */
	bool sorted;            /* 'ranges' was made from the present 'maps' */
	struct perf_range {
		uint64_t from, to;
	} * ranges; /* ranges of code, sorted by address, merged where they touch */
	uint32_t n_ranges, cap_ranges;
	/* One bit per 2 MiB of addresses (modulo the size of the table): the 2 MiB may have
	 * code. */
	uint8_t granules[1 << 13];
	uint32_t searched_maps; /* how many of 'maps' were searched for an interpreter */
	struct perf_python *python;
};
struct perf_process *perf_tasks_process(struct perf *perf, uint32_t pid);
void perf_tasks_fork(struct perf *perf, uint32_t pid, uint32_t parent, int64_t time);
void perf_tasks_exec(struct perf *perf, uint32_t pid, int64_t time);
void perf_tasks_exit(struct perf *perf, uint32_t pid);
void perf_tasks_map(struct perf *perf, uint32_t pid, struct perf_map map);
/* Records what the process has mapped; called before a sample of the process is kept. */
void perf_tasks_record_maps(struct perf *perf, struct perf_process *process);
bool perf_tasks_holds_code(struct perf_process *process, uint64_t address);
/* Records the names of all processes that exist already; for system-wide samples. */
void perf_tasks_record_all(struct perf *perf);
void perf_tasks_free(struct perf *perf);

/* ---- perf_stack.c: stacks that were recorded before ------------------------------------------ */

/* The number of a stack, and how many of its bytes are worth keeping; *is_kept: an equal stack was
 * recorded before. */
uint32_t perf_stack_number(struct perf *perf, struct perf_process *process, uint32_t tid,
			   uint64_t sp, const uint64_t *words, uint32_t *bytes, bool *is_kept);
/* Forgets the number of a stack whose sample found no room. */
void perf_stack_forget_number(struct perf *perf, uint32_t tid, uint32_t number);
void perf_stack_forget_thread(struct perf *perf, uint32_t tid);
void perf_stack_free(struct perf *perf);

/* ---- perf_python.c: the Python stack of a thread, read from outside ---- */

/* Looks for an interpreter in the files that were mapped since the last call. */
void perf_python_look(struct perf *perf, struct perf_process *process);
/* Reads the Python frames of a thread, innermost first; yields their number, 0 where anything is
 * in doubt. */
uint32_t perf_python_stack(struct perf *perf, struct perf_process *process, uint32_t tid,
			   struct rec_frame frames[REC_MAX_FRAMES]);
void perf_python_free(struct perf *perf, struct perf_process *process);

/* ---- perf_elf.c: symbols of a file ---- */

struct perf_symbol {
	const char *name;
	/* value: the symbol's address in the file's own numbering; 0: there is no such symbol. */
	uint64_t value;
};
/* Finds the values of symbols, and the address (in the file's own numbering) of the code that is
 * mapped from 'offset'. False when the file is no ELF file. */
bool perf_elf_find(const char *path, uint64_t offset, struct perf_symbol *symbols, uint32_t n,
		   uint64_t *address);

#endif
