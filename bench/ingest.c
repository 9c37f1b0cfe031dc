/* SPDX-License-Identifier: Apache-2.0 */
/* ingest.c - how long a report takes after the program's end: bench_ingest LAUNCHES FILE.
 *
 * Makes a run of so many launches (a call, a kernel and one NVTX range for ten of them, two threads), reads
 * it, writes the report, and prints the seconds of both, the spans, and the bytes a span.
 */
#include <time.h>

#include "../tests/unit/make_spool.h"
#include "ingest/ingest.h"
#include "trace/file.h"

enum { THREADS = 2, NAMES = 40, SHAPES = 25 };

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void define(struct made_spool *spool)
{
	struct rec_process *process =
		put_record(spool, REC_PROCESS, 0, 0, sizeof(struct rec_process));
	process->start = SPOOL_EPOCH;
	process->pid = spool->pid;
	struct rec_naming *call = put_record(spool, REC_NAME, REC_NAMED_CALL, 1000, 32);
	call->domain = 2;
	call->number = 211;
	put_string(spool, 1000, "cudaLaunchKernel_v7000");
	put_string(spool, 1001, "step");
	for (uint32_t i = 1; i <= NAMES; i++) {
		char name[64];
		snprintf(name, sizeof name, "_Z8kernel%02uILi%uEEvPfS0_i", i, i);
		put_string(spool, i, name);
	}
	for (uint32_t i = 1; i <= SHAPES; i++) {
		struct rec_shape *shape =
			put_record(spool, REC_SHAPE, 0, i, sizeof(struct rec_shape));
		shape->grid[0] = i * 7;
		shape->block[0] = 256;
	}
}

static void launch(struct made_spool *spool, uint32_t i, uint32_t random)
{
	int64_t start = SPOOL_EPOCH + (int64_t)(i + 1) * 4500 + random % 400;
	struct rec_api *api = put_record(spool, REC_API, 0, 211, sizeof(struct rec_api));
	api->start = start;
	api->duration = 3000 + random % 900;
	api->correlation = i + 1;
	api->tid = spool->tid;
	struct rec_work *work =
		put_record(spool, REC_KERNEL, 0, 1 + random % NAMES, sizeof(struct rec_work));
	work->start = start + 6000 + random % 2000;
	work->duration = 1500 + random % 1000;
	work->correlation = i + 1;
	work->stream = 7;
	work->context = 1;
	work->shape = 1 + random % SHAPES;
	if (i % 10 == 0) {
		struct rec_range *push = put_record(spool, REC_PUSH, 0, 1001, REC_SLOT);
		push->time = start - 100;
	} else if (i % 10 == 9) {
		struct rec_range *pop = put_record(spool, REC_POP, 0, 0, REC_SLOT);
		pop->time = start + 5000;
	}
}

static void make(const struct made_run *run, uint32_t launches)
{
	uint32_t random = 1;
	for (uint32_t t = 0; t < THREADS; t++) {
		struct made_spool spool = make_spool(run, 100, 100 + t, 0);
		if (t == 0)
			define(&spool);
		for (uint32_t i = launches / THREADS * t; i < launches / THREADS * (t + 1); i++) {
			random = random * 1664525 + 1013904223;
			launch(&spool, i, random >> 8);
		}
		end_spool(&spool);
	}
	write_control(run);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	struct made_run run = make_run();
	make(&run, (uint32_t)strtoul(argv[1], NULL, 10));
	struct hwy_err err;
	double began = now();
	struct hwy_trace *trace = ingest_run(run.path, NULL, &err);
	double read = now();
	bool written = trace && hwy_file_write(trace, argv[2], true, NULL, &err);
	double done = now();
	remove_run(&run);
	struct stat about = {0};
	if (!written || stat(argv[2], &about) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%.3f %.3f %u %.2f\n", read - began, done - read, trace->n_spans,
	       (double)about.st_size / trace->n_spans);
	hwy_trace_free(trace);
	return 0;
}
