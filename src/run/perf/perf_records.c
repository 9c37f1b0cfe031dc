/* SPDX-License-Identifier: Apache-2.0 */
/* perf_records.c - reads one record of the kernel after the other: samples, switches, and who is
 * who.
 *
 * The layouts are those of linux/perf_event.h for the sample_type that perf_open asked for. A
 * record comes from the kernel, so its parts are where they must be; lengths are checked
 * nevertheless.
 */
#include <string.h>

#include "run/perf/perf_internal.h"
#include "run/run.h"

enum { MOST_ADDRESSES = 256, REGISTERS = REC_STACK_REGS };

/* A sample that is older than this (ns) when it is read gets no Python stack: the thread has
 * gone on since. */
static const int64_t FRESH_ENOUGH_NS = 3 * 1000 * 1000;

struct parts { /* the rest of a record, from the next byte to read on */
	const char *next, *end;
};

/* Reads 'size' bytes. Where a record is too short, 'into' stays as it is, and later reads find
 * nothing. */
static void take_bytes_into(struct parts *parts, void *into, size_t size)
{
	size_t left = (size_t)(parts->end - parts->next);
	if (size <= left)
		memcpy(into, parts->next, size);
	parts->next += size <= left ? size : left;
}

static uint64_t take64(struct parts *parts)
{
	uint64_t value = 0;
	take_bytes_into(parts, &value, sizeof value);
	return value;
}

static uint32_t take32(struct parts *parts)
{
	uint32_t value = 0;
	take_bytes_into(parts, &value, sizeof value);
	return value;
}

static const void *take_bytes(struct parts *parts, uint64_t bytes)
{
	const void *taken = parts->next;
	if (bytes > (uint64_t)(parts->end - parts->next))
		return NULL;
	parts->next += bytes;
	return taken;
}

/* The fields at the end of every record that is no sample: pid, tid, time, cpu, id. */
struct trailer {
	uint32_t pid, tid;
	int64_t time;
	uint32_t cpu;
};
enum { TRAILER_BYTES = 32 };

static struct trailer read_trailer(const struct perf_event_header *record)
{
	const char *end = (const char *)record + record->size;
	struct trailer trailer = {0};
	if (record->size < sizeof *record + TRAILER_BYTES)
		return trailer;
	struct parts parts = {end - TRAILER_BYTES, end};
	trailer.pid = take32(&parts);
	trailer.tid = take32(&parts);
	trailer.time = (int64_t)take64(&parts);
	trailer.cpu = take32(&parts);
	return trailer;
}

/* ---- who is who ------------------------------------------------------------------------------ */

static void put_task(struct perf *perf, uint8_t flags, uint32_t pid, uint32_t tid, uint32_t parent,
		     const char *name, int64_t time)
{
	uint32_t text = name ? perf_spool_text(perf, name, strlen(name)) : 0;
	struct rec_task *record =
		perf_spool_reserve(perf->definitions, REC_TASK, sizeof(struct rec_task));
	if (!record)
		return;
	record->head.value = pid;
	record->head.flags = flags;
	record->time = time;
	record->tid = tid;
	record->parent = parent;
	record->name = text;
	perf_spool_publish(perf->definitions);
}

static void take_name(struct perf *perf, const struct perf_event_header *record, struct parts parts)
{
	uint32_t pid = take32(&parts), tid = take32(&parts);
	struct trailer trailer = read_trailer(record);
	char name[64] = "";
	size_t room = (size_t)(parts.end - parts.next);
	memcpy(name, parts.next, strnlen(parts.next, room < 63 ? room : 63));
	bool exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	if (exec) {
		perf_tasks_exec(perf, pid, trailer.time);
		perf_stack_forget_thread(perf, tid);
	}
	put_task(perf, exec ? REC_TASK_EXEC | REC_TASK_NAME : REC_TASK_NAME, pid, tid, 0, name,
		 trailer.time);
}

static void take_fork_or_exit(struct perf *perf, const struct perf_event_header *record,
			      struct parts parts)
{
	uint32_t pid = take32(&parts), parent = take32(&parts), tid = take32(&parts);
	take32(&parts);
	int64_t time = (int64_t)take64(&parts);
	bool fork = record->type == PERF_RECORD_FORK;
	uint8_t flags = !fork ? REC_TASK_END : pid == parent ? REC_TASK_THREAD : REC_TASK_PROCESS;
	put_task(perf, flags, pid, tid, parent, NULL, time);
	if (flags == REC_TASK_PROCESS)
		perf_tasks_fork(perf, pid, parent, time);
	if (!fork)
		perf_stack_forget_thread(perf, tid);
	/* The first thread of a process has ended. Other threads may live on, but nothing more is
	 * learned about the process then. */
	if (!fork && pid == tid)
		perf_tasks_exit(perf, pid);
}

static void take_map(struct perf *perf, const struct perf_event_header *record, struct parts parts)
{
	uint32_t pid = take32(&parts);
	take32(&parts); /* skips the tid */
	uint64_t start = take64(&parts), size = take64(&parts), offset = take64(&parts);
	/* Skips device, inode, generation and rights, or the build id. */
	if (record->type == PERF_RECORD_MMAP2)
		take_bytes(&parts, 32);
	size_t room = (size_t)(parts.end - parts.next);
	if (!memchr(parts.next, 0, room) || size > UINT64_MAX - start)
		return;
	char path[4096];
	strncpy(path, parts.next, sizeof path - 1);
	path[sizeof path - 1] = '\0';
	struct perf_map map = {
		.time = read_trailer(record).time,
		.start = start,
		.end = start + size,
		.offset = offset,
		/* Names like "//anon" and "[vdso]" are no files. */
		.path = path[0] == '/' && path[1] != '/' ? path : NULL,
	};
	perf_tasks_map(perf, pid, map);
}

/* ---- scheduling ------------------------------------------------------------------------------ */

static void take_switch(struct perf *perf, const struct perf_event_header *record)
{
	struct trailer trailer = read_trailer(record);
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	if (trailer.pid == 0)
		return; /* pid 0 is the idle thread */
	struct rec_switch *put =
		perf_spool_reserve(perf->events, REC_SWITCH, sizeof(struct rec_switch));
	if (!put)
		return;
	put->head.value = trailer.cpu;
	put->head.flags = !out ? REC_SWITCH_IN : 0;
	if (out && (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT))
		put->head.flags = REC_SWITCH_PREEMPT;
	put->time = trailer.time;
	put->pid = trailer.pid;
	put->tid = trailer.tid;
	perf_spool_publish(perf->events);
}

static void put_wakeup(struct perf *perf, uint32_t pid, uint32_t tid, int64_t time, uint32_t cpu,
		       struct parts *parts)
{
	uint32_t size = take32(parts), woken;
	const char *raw = take_bytes(parts, size);
	if (!raw || size < perf->wake_tid_offset + sizeof woken)
		return;
	memcpy(&woken, raw + perf->wake_tid_offset, sizeof woken);
	struct rec_wakeup *put =
		perf_spool_reserve(perf->events, REC_WAKEUP, sizeof(struct rec_wakeup));
	if (!put)
		return;
	put->head.value = cpu;
	put->time = time;
	put->tid = woken;
	put->by_pid = pid;
	put->by_tid = tid;
	perf_spool_publish(perf->events);
}

/* ---- samples --------------------------------------------------------------------------------- */

struct sample {
	uint32_t pid, tid, cpu;
	int64_t time;
	uint64_t weight;
	uint64_t addresses[MOST_ADDRESSES];
	uint32_t depth, kernel;
	uint64_t registers[REGISTERS];
	bool has_registers;
	const uint64_t *words; /* the copy of the stack's words, in the ring */
	uint32_t bytes, stack;
};

static void take_chain(struct parts *parts, struct sample *sample)
{
	uint64_t n = take64(parts);
	bool in_kernel = false;
	for (uint64_t i = 0; i < n && parts->next < parts->end; i++) {
		uint64_t address = take64(parts);
		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			in_kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		if (sample->depth == MOST_ADDRESSES)
			continue;
		sample->addresses[sample->depth++] = address;
		sample->kernel += in_kernel;
	}
}

/* The registers come in ascending order of their bits: BX, BP, SP, IP, R12 to R15. They are kept in
 * the order of rec_stack. */
static void take_registers(struct parts *parts, struct sample *sample)
{
	static const int place[REGISTERS] = {3, 2, 1, 0, 4, 5, 6, 7};
	if (take64(parts) == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	for (int i = 0; i < REGISTERS; i++)
		sample->registers[place[i]] = take64(parts);
	sample->has_registers = true;
}

static void take_stack(struct parts *parts, struct sample *sample)
{
	uint64_t size = take64(parts);
	const uint64_t *words = size ? take_bytes(parts, size) : NULL;
	uint64_t copied = size ? take64(parts) : 0;
	if (!words || !sample->has_registers)
		return;
	sample->words = words;
	sample->bytes = (uint32_t)(copied < size ? copied : size) & ~7u;
}

static bool keep_sample(struct perf *perf, const struct sample *sample,
			const struct rec_frame *frames, uint32_t n_frames)
{
	uint32_t chain = sample->depth * (uint32_t)sizeof *sample->addresses;
	uint32_t registers = sample->stack ? (uint32_t)sizeof sample->registers : 0;
	size_t size = sizeof(struct rec_sample) + chain + registers + sample->bytes +
		      n_frames * sizeof *frames;
	struct rec_sample *put = perf_spool_reserve(perf->events, REC_SAMPLE, size);
	if (!put)
		return false;
	put->head.value = sample->cpu;
	put->time = sample->time;
	put->pid = sample->pid;
	put->tid = sample->tid;
	put->weight = sample->weight;
	put->depth = sample->depth;
	put->kernel = sample->kernel;
	put->bytes = sample->bytes;
	put->stack = sample->stack;
	put->frames = n_frames;
	char *to = (char *)(put + 1);
	memcpy(to, sample->addresses, chain);
	to += chain;
	memcpy(to, sample->registers, registers);
	to += registers;
	if (sample->bytes)
		memcpy(to, sample->words, sample->bytes);
	memcpy(to + sample->bytes, frames, n_frames * sizeof *frames);
	perf_spool_publish(perf->events);
	return true;
}

static void finish_sample(struct perf *perf, struct sample *sample)
{
	struct rec_frame frames[REC_MAX_FRAMES];
	uint32_t n_frames = 0;
	struct perf_process *process = perf_tasks_process(perf, sample->pid);
	if (sample->depth || sample->has_registers)
		perf_python_look(perf, process);
	if (process->python && run_now() - sample->time < FRESH_ENOUGH_NS)
		n_frames = perf_python_stack(perf, process, sample->tid, frames);
	perf_tasks_record_maps(perf, process);
	bool is_kept = true;
	if (sample->words)
		sample->stack = perf_stack_number(perf, process, sample->tid, sample->registers[1],
						  sample->words, &sample->bytes, &is_kept);
	if (is_kept)
		sample->bytes = 0;
	if (!keep_sample(perf, sample, frames, n_frames) && sample->stack && !is_kept)
		perf_stack_forget_number(perf, sample->tid, sample->stack);
}

static bool is_wakeup(const struct perf *perf, uint64_t id)
{
	for (uint32_t i = 0; i < perf->n_wake_ids; i++)
		if (perf->wake_ids[i] == id)
			return true;
	return false;
}

static void take_sample(struct perf *perf, const struct perf_event_header *record,
			struct parts parts)
{
	uint64_t id = take64(&parts), ip = take64(&parts);
	struct sample sample = {.depth = 0};
	sample.pid = take32(&parts);
	sample.tid = take32(&parts);
	sample.time = (int64_t)take64(&parts);
	sample.cpu = take32(&parts);
	take32(&parts);
	if (is_wakeup(perf, id)) {
		put_wakeup(perf, sample.pid, sample.tid, sample.time, sample.cpu, &parts);
		return;
	}
	if (sample.pid == 0)
		return;
	sample.weight = take64(&parts);
	if (perf->sample_type & PERF_SAMPLE_CALLCHAIN) {
		take_chain(&parts, &sample);
	} else {
		sample.addresses[sample.depth++] = ip;
		sample.kernel =
			(record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	}
	if (perf->sample_type & PERF_SAMPLE_REGS_USER)
		take_registers(&parts, &sample);
	if (perf->sample_type & PERF_SAMPLE_STACK_USER)
		take_stack(&parts, &sample);
	finish_sample(perf, &sample);
}

void perf_records_take(struct perf *perf, const struct perf_event_header *record, bool keep)
{
	struct parts parts = {(const char *)(record + 1), (const char *)record + record->size};
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (keep)
			take_sample(perf, record, parts);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (keep)
			take_switch(perf, record);
		break;
	case PERF_RECORD_COMM: take_name(perf, record, parts); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: take_fork_or_exit(perf, record, parts); break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: take_map(perf, record, parts); break;
	case PERF_RECORD_LOST:
		take64(&parts);
		perf->lost += take64(&parts);
		break;
	case PERF_RECORD_LOST_SAMPLES: perf->lost += take64(&parts); break;
	case PERF_RECORD_THROTTLE: perf->throttled++; break;
	default: break;
	}
}
