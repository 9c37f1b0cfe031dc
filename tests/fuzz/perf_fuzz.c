/* SPDX-License-Identifier: Apache-2.0 */
/* perf_fuzz.c - any bytes as what the kernel writes to a ring of perf events: kept or skipped, and what
 * is kept becomes a trace.
 *
 * The first byte of the input chooses the kind of samples (a chain of addresses, a copy of the
 * stack, neither); records as in the ring follow. The pids in records are made impossible ones, so
 * that no process of this machine is looked at.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_folder.h"
#include "make_spool.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { WAKE_ID = 77, NO_PID = 1 << 30 };

static struct made_run folder;

static void tidy_up(void)
{
	remove_run(&folder);
}

static int64_t standing_clock(void)
{
	return SPOOL_EPOCH;
}

/* Makes the pids of a record ones that no process has. */
static void move_pids(struct perf_event_header *record)
{
	char *parts = (char *)(record + 1);
	size_t room = record->size - sizeof *record;
	size_t at = record->type == PERF_RECORD_SAMPLE ? 16 : 0;
	for (size_t i = at; i + 4 <= room && i < at + 8; i += 4) {
		uint32_t pid;
		memcpy(&pid, parts + i, sizeof pid);
		pid = pid ? (pid & 7) | NO_PID : 0;
		memcpy(parts + i, &pid, sizeof pid);
	}
}

static void take_all(struct perf *perf, const uint8_t *bytes, size_t size)
{
	/* In the ring a record begins at a multiple of 8. */
	uint64_t aligned[(1 << 16) / sizeof(uint64_t)];
	while (size >= sizeof(struct perf_event_header)) {
		struct perf_event_header head;
		memcpy(&head, bytes, sizeof head);
		if (head.size < sizeof head || head.size > size)
			break;
		memcpy(aligned, bytes, head.size);
		move_pids((void *)aligned);
		perf_records_take(perf, (void *)aligned, true);
		bytes += head.size;
		size -= head.size;
	}
}

static void end_perf(struct perf *perf)
{
	perf_stack_free(perf);
	perf_tasks_free(perf);
	perf_spool_close(perf->definitions);
	perf_spool_close(perf->events);
	hwy_index_free(&perf->texts);
}

static void remove_spools(void)
{
	static const char *const names[] = {"perf.spool", "perf.0.spool"};
	for (int i = 0; i < 2; i++) {
		char path[512];
		snprintf(path, sizeof path, "%s/%s", folder.path, names[i]);
		unlink(path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint64_t types[] = {
		0, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER};
	uint64_t wakes[] = {WAKE_ID};
	if (size == 0)
		return 0;
	if (!folder.path[0]) {
		fuzz_use_memory();
		folder = make_run();
		write_control(&folder);
		atexit(tidy_up);
	}
	struct run run = {.directory = folder.path, .control = &folder.control};
	struct perf perf = {
		.run = &run,
		.sample_type = types[bytes[0] % 4],
		.wake_ids = wakes,
		.n_wake_ids = 1,
		.wake_tid_offset = 24,
		.definitions = perf_spool_open(folder.path, "perf.spool", 0, standing_clock),
		.events = perf_spool_open(folder.path, "perf.0.spool", 0, standing_clock),
	};
	assert(perf.definitions && perf.events);
	take_all(&perf, bytes + 1, size - 1);
	end_perf(&perf);
	struct hwy_err err;
	struct hwy_trace *trace = ingest_run(folder.path, NULL, &err);
	assert(trace);
	hwy_trace_free(trace);
	remove_spools();
	return 0;
}
