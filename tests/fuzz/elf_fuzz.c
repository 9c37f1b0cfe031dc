/* SPDX-License-Identifier: Apache-2.0 */
/* elf_fuzz.c - any bytes as the file of a program that was profiled: its symbols, its tables for
 * unwinding and its lines are read or left out, never believed.
 *
 * A run is made once: a process that has the file mapped, CPU samples at addresses all over it, and
 * a copy of a stack to be unwound. Every input is that file. libdw, which reads the debug
 * information, is no code of ours, but what crashes it would crash us.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_folder.h"
#include "ingest/elf_functions.h"
#include "make_spool.h"
#include "run/perf/perf_internal.h"
#include "spool/preload.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Addresses: where the file is mapped, and what part of it the samples are in. */
#define BASE UINT64_C(0x10000000)
enum { MAPPED = 0x20000, CODE = 0x2c0, CODE_END = 0x400, STEP = 0x8, PID = 50, STACK = 0x7000 };
enum { MS = 1000 * 1000 };

static struct made_run folder;
static char file[512];

static void tidy_up(void)
{
	unlink(file);
	remove_run(&folder);
}

static void put_module(struct made_spool *app)
{
	struct rec_process *process = put_record(app, REC_PROCESS, 0, 0, sizeof *process);
	process->start = SPOOL_EPOCH;
	process->pid = PID;
	put_string(app, 1, file);
	struct rec_module *module = put_record(app, REC_MODULE, 1, 0, sizeof *module);
	module->base = module->low = BASE;
	module->size = MAPPED;
	module->path = 1;
}

/* A sample at an address, with a stack on which every other word is an address of the file. */
static void put_sample(struct made_spool *parent, int number, uint64_t address)
{
	uint64_t registers[REC_STACK_REGS] = {address, STACK, STACK + 64}, words[64];
	for (uint64_t i = 0; i < 64; i++)
		words[i] = i % 2 ? BASE + CODE + i * STEP : STACK + i * 8;
	struct rec_sample *sample = put_record(parent, REC_SAMPLE, 0, 3,
					       sizeof *sample + sizeof registers + sizeof words);
	sample->time = SPOOL_EPOCH + number * MS;
	sample->pid = sample->tid = PID;
	sample->weight = MS;
	sample->bytes = sizeof words;
	sample->stack = (uint32_t)number + 1;
	memcpy(sample + 1, registers, sizeof registers);
	memcpy((char *)(sample + 1) + sizeof registers, words, sizeof words);
}

static void make_folder(void)
{
	fuzz_use_memory();
	folder = make_run();
	folder.control.recording = 1;
	snprintf(file, sizeof file, "%s.elf", folder.path);
	atexit(tidy_up);
	write_control(&folder);
	struct made_spool app = make_spool(&folder, PID, PID, 0),
			  parent = make_spool(&folder, 0, 0, 0);
	put_module(&app);
	int number = 0;
	for (uint64_t at = CODE; at < CODE_END; at += 2 * STEP)
		put_sample(&parent, number++, BASE + at);
	end_spool(&app);
	end_spool(&parent);
}

static void find_symbols(void)
{
	struct elf_functions *functions = elf_functions_open(file);
	for (uint64_t at = 0; functions && at < 2 * CODE_END; at += STEP) {
		const char *name = elf_functions_find(functions, at);
		assert(!name || strlen(name) < 1 << 20);
	}
	elf_functions_close(functions);
	struct perf_symbol symbols[] = {{.name = "_PyRuntime"}, {.name = "main"}};
	uint64_t address;
	perf_elf_find(file, CODE, symbols, 2, &address);
	preload_fits_command(file);
	preload_refusal(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!file[0])
		make_folder();
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	find_symbols();
	struct hwy_err err;
	struct hwy_trace *trace = ingest_run(folder.path, NULL, &err);
	assert(trace);
	hwy_trace_free(trace);
	return 0;
}
