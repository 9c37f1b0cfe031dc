/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - small programs for tests: calls and device work on two clocks, the CPU's and the streams', as a real
 * program would make them. Times are µs. Where a test wants to write down every time itself, use make_trace.h.
 *
 *   struct program p = program_new();
 *   for (int step = 0; step < 20; step++) {
 *           program_step(&p, step);            the mark "step_N"
 *           program_launch(&p, 0, "k", 100);   stream 0: returns after 5 µs, the kernel takes 100
 *           program_sync(&p, 0);
 *   }
 *   struct diagnosed d = program_diagnose(&p);
 *   assert_non_null(accused(&d, "sync-in-loop"));
 *   diagnosed_free(&d);
 */
#ifndef HWY_TESTS_PROGRAM_H
#define HWY_TESTS_PROGRAM_H

#include "make_trace.h"

#include "diagnose/diagnose.h"

enum { PROGRAM_STREAMS = 8, PROGRAM_THREADS = 4, LAUNCH_US = 5, LATENCY_US = 3 };

struct program {
	struct hwy_builder *builder;
	uint32_t process, device, host;
	uint32_t threads[PROGRAM_THREADS], api[PROGRAM_THREADS], range, op, os;
	uint32_t streams[PROGRAM_STREAMS], lanes[PROGRAM_STREAMS];
	int64_t latency,
		between; /* ns from a call's end to its work's begin, and between two pieces of work */
	int64_t cpu;     /* now, ns */
	int64_t stream_free[PROGRAM_STREAMS]; /* ns */
	int64_t step_from;
	int step, thread;
	int64_t corr;
	uint32_t shape; /* of the next kernels, plus one; 0: none */
};

static inline struct hwy_trace *program_trace(struct program *p)
{
	return hwy_builder_trace(p->builder);
}

/* A process of its own with a device of its own, in the builder's trace. */
static inline void program_begin_process(struct program *p, int64_t pid, int64_t ordinal)
{
	p->process = hwy_new_processes(p->builder);
	program_trace(p)->processes[p->process].pid = pid;
	program_trace(p)->processes[p->process].host = p->host;
	program_trace(p)->processes[p->process].command = hwy_text_id(p->builder, "./program");
	p->device = hwy_new_devices(p->builder);
	struct hwy_device *device = &program_trace(p)->devices[p->device];
	device->ordinal = ordinal;
	device->name = hwy_text_id(p->builder, "Toy");
	device->sms = 100;
	device->compute_major = 9;
	device->compute_minor = 0;
	for (int t = 0; t < PROGRAM_THREADS; t++) {
		p->threads[t] = hwy_new_threads(p->builder);
		program_trace(p)->threads[p->threads[t]].process = p->process;
		program_trace(p)->threads[p->threads[t]].tid = pid + t;
		p->api[t] = hwy_add_lane(p->builder,
					 hwy_lane_of(HWY_LANE_API, p->process, p->threads[t]));
	}
	p->range = hwy_add_lane(p->builder, hwy_lane_of(HWY_LANE_RANGE, p->process, p->threads[0]));
	p->op = hwy_add_lane(p->builder, hwy_lane_of(HWY_LANE_OP, p->process, p->threads[0]));
	p->os = hwy_add_lane(p->builder, hwy_lane_of(HWY_LANE_OS, p->process, p->threads[0]));
	for (int s = 0; s < PROGRAM_STREAMS; s++) {
		p->streams[s] = hwy_new_streams(p->builder);
		struct hwy_stream *stream = &program_trace(p)->streams[p->streams[s]];
		stream->process = p->process;
		stream->device = p->device;
		stream->number = s + 7;
		stream->context = 1;
		stream->priority = 0;
		stream->flags = 2;
		p->lanes[s] = hwy_add_stream_lane(p->builder, HWY_LANE_STREAM, p->streams[s]);
	}
}

static inline struct program program_new(void)
{
	struct program p = {.builder = hwy_builder_new(),
			    .step = -1,
			    .latency = US(LATENCY_US),
			    .between = US(1),
			    .cpu = US(1000)};
	p.host = hwy_new_hosts(p.builder);
	program_trace(&p)->hosts[p.host].cpus = 8;
	program_begin_process(&p, 100, 0);
	return p;
}

/* A second process in the trace of the first, at the same time, on another device. */
static inline struct program program_beside(const struct program *first)
{
	struct program p = *first;
	program_begin_process(&p, 200, 1);
	return p;
}

/* Another thread of the same process, at the same time, with marks of its own. */
static inline struct program program_thread(const struct program *first, int thread)
{
	struct program p = *first;
	p.thread = thread;
	p.range =
		hwy_add_lane(p.builder, hwy_lane_of(HWY_LANE_RANGE, p.process, p.threads[thread]));
	p.corr = 1000000 * thread;
	return p;
}

static inline void program_span(struct program *p, uint32_t lane, enum hwy_kind kind, int64_t from,
				int64_t to, const char *name)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = from;
	row.v[HWY_DUR] = to - from;
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	hwy_add_span(p->builder, lane, kind, &row);
}

/* An api call; the clock moves on. */
static inline void program_call_until(struct program *p, const char *name, int64_t end)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = p->cpu;
	row.v[HWY_DUR] = end - p->cpu;
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	row.v[HWY_CORR] = ++p->corr;
	hwy_add_span(p->builder, p->api[p->thread], HWY_API, &row);
	p->cpu = end;
}
static inline void program_call(struct program *p, const char *name, int64_t us)
{
	program_call_until(p, name, p->cpu + US(us));
}

/* Ends the mark of the step before, and begins the next. */
static inline void program_end_step(struct program *p)
{
	char name[32];
	if (p->step < 0)
		return;
	snprintf(name, sizeof name, "step_%d", p->step);
	program_span(p, p->range, HWY_RANGE, p->step_from, p->cpu, name);
	p->step = -1;
}
static inline void program_step(struct program *p, int step)
{
	program_end_step(p);
	p->cpu += 100;
	p->step = step;
	p->step_from = p->cpu;
	p->cpu += 100;
}

/* A mark from a time in ns until now; 'format' has the number. */
static inline void program_mark(struct program *p, int64_t from, const char *format, int number)
{
	char name[64];
	snprintf(name, sizeof name, format, number); /* NOLINT: a test's own format */
	program_span(p, p->range, HWY_RANGE, from, p->cpu, name);
}

/* CPU work without a name; or in the operating system. */
static inline void program_compute(struct program *p, int64_t us)
{
	p->cpu += US(us);
}
static inline void program_os(struct program *p, const char *name, int64_t us)
{
	program_span(p, p->os, HWY_OS, p->cpu, p->cpu + US(us), name);
	p->cpu += US(us);
}

/* When work can begin on a stream that a call enqueues which begins now. */
static inline int64_t program_ready(const struct program *p, int stream, int64_t call_us)
{
	int64_t enqueued = p->cpu + US(call_us) + p->latency;
	int64_t free = p->stream_free[stream] + p->between;
	return enqueued > free ? enqueued : free;
}

/* Work on a stream: enqueued by a call of 'call_us', runs when the stream is free. Yields its end. */
static inline int64_t program_work(struct program *p, int stream, const char *call, int64_t call_us,
				   enum hwy_kind kind, struct hwy_row row, int64_t ns)
{
	int64_t start = program_ready(p, stream, call_us);
	program_call(p, call, call_us);
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = ns;
	row.v[HWY_CORR] = p->corr;
	row.v[HWY_SHAPE] = p->shape;
	hwy_add_span(p->builder, p->lanes[stream], kind, &row);
	p->stream_free[stream] = start + ns;
	return start + ns;
}

static inline int64_t program_launch_ns(struct program *p, int stream, const char *name, int64_t ns)
{
	struct hwy_row row = {0};
	row.v[HWY_NAME] = hwy_text_id(p->builder, name);
	return program_work(p, stream, "cudaLaunchKernel", LAUNCH_US, HWY_KERNEL, row, ns);
}
static inline int64_t program_launch(struct program *p, int stream, const char *name, int64_t us)
{
	return program_launch_ns(p, stream, name, US(us));
}

static inline void program_blocks(struct program *p, int64_t blocks)
{
	struct hwy_shape shape = {.grid_x = blocks,
				  .grid_y = 1,
				  .grid_z = 1,
				  .block_x = 128,
				  .block_y = 1,
				  .block_z = 1};
	p->shape = blocks ? hwy_add_shape(p->builder, &shape) + 1 : 0;
}

static inline struct hwy_row program_copy_row(enum hwy_direction direction, uint64_t bytes,
					      enum hwy_memory_kind host)
{
	struct hwy_row row = {0};
	bool in = direction == HWY_H2D;
	row.v[HWY_BYTES] = (int64_t)bytes;
	row.v[HWY_DIRECTION] = direction;
	row.v[HWY_SRC_MEMORY] = in ? host : HWY_MEM_DEVICE;
	row.v[HWY_DST_MEMORY] = in ? HWY_MEM_DEVICE : host;
	return row;
}

/* 'blocks': a synchronise call follows that lasts until the copy has ended. */
static inline void program_copy(struct program *p, int stream, enum hwy_direction direction,
				uint64_t bytes, enum hwy_memory_kind host, int64_t us, bool blocks)
{
	int64_t end = program_work(p, stream, "cudaMemcpyAsync", LAUNCH_US, HWY_COPY,
				   program_copy_row(direction, bytes, host), US(us));
	if (blocks)
		program_call_until(p, "cudaStreamSynchronize", end + 1000);
}

/* A copy whose own call lasts until it has ended. */
static inline void program_copy_by(struct program *p, const char *call, int stream,
				   enum hwy_direction direction, uint64_t bytes,
				   enum hwy_memory_kind host, int64_t us)
{
	struct hwy_row row = program_copy_row(direction, bytes, host);
	row.v[HWY_START] = program_ready(p, stream, LAUNCH_US);
	row.v[HWY_DUR] = US(us);
	p->stream_free[stream] = row.v[HWY_START] + US(us);
	program_call_until(p, call, p->stream_free[stream] + 2000);
	row.v[HWY_CORR] = p->corr;
	hwy_add_span(p->builder, p->lanes[stream], HWY_COPY, &row);
}
static inline void program_copy_held(struct program *p, int stream, enum hwy_direction direction,
				     uint64_t bytes, enum hwy_memory_kind host, int64_t us)
{
	program_copy_by(p, "cudaMemcpyAsync", stream, direction, bytes, host, us);
}

static inline void program_sync(struct program *p, int stream)
{
	int64_t end = p->stream_free[stream] + 2000;
	program_call_until(p, "cudaStreamSynchronize", end > p->cpu + 2000 ? end : p->cpu + 2000);
}

/* A call that waits for all streams. */
static inline void program_wait(struct program *p, const char *name)
{
	int64_t end = p->cpu;
	for (int s = 0; s < PROGRAM_STREAMS; s++)
		end = p->stream_free[s] > end ? p->stream_free[s] : end;
	program_call_until(p, name, end + 2000);
}

/* ---- the diagnosis -------------------------------------------------------------------------------- */

struct diagnosed {
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	struct hwy_diagnosis diagnosis;
};

/* Checks what holds of every diagnosis: causes and states add up, costs do not exceed the step. */
static inline void diagnosed_check(const struct diagnosed *d)
{
	const struct hwy_phases *phases = &d->analysis.phases;
	for (uint32_t i = 0; i < phases->n; i++) {
		int64_t sum = 0;
		for (uint32_t f = 0; f < d->diagnosis.n; f++)
			if (d->diagnosis.findings[f].phase == i)
				sum += d->diagnosis.findings[f].cost;
		assert_true(sum <= phases->phases[i].mean);
		for (uint32_t k = 0; k < d->analysis.flow.n_devices; k++) {
			const struct gap_states *s = &d->analysis.measures[i].gaps.devices[k];
			int64_t causes = 0;
			for (unsigned c = 0; c < GAP_CAUSES; c++)
				causes += s->causes[c];
			assert_int_equal(causes, s->idle);
			assert_int_equal(s->compute + s->exposed_comm + s->exposed_copy + s->fill +
						 s->idle,
					 s->window);
		}
	}
}

static inline struct diagnosed program_diagnose(struct program *p)
{
	struct diagnosed d = {0};
	struct hwy_err err = {""};
	struct analysis_options options = {0};
	program_end_step(p);
	d.trace = hwy_builder_finish(p->builder, false);
	if (!analysis_make(&d.analysis, d.trace, &options, &err) ||
	    !diagnose(&d.analysis, &d.diagnosis, &err))
		fail_msg("%s", err.text);
	diagnosed_check(&d);
	return d;
}

static inline void diagnosed_free(struct diagnosed *d)
{
	diagnosis_free(&d->diagnosis);
	analysis_free(&d->analysis);
	hwy_trace_free(d->trace);
}

static inline const struct hwy_finding *accused(const struct diagnosed *d, const char *id)
{
	for (uint32_t i = 0; i < d->diagnosis.n; i++)
		if (strcmp(d->diagnosis.findings[i].kind->id, id) == 0)
			return &d->diagnosis.findings[i];
	return NULL;
}
static inline const struct hwy_finding *acquitted(const struct diagnosed *d, const char *id)
{
	for (uint32_t i = 0; i < d->diagnosis.n_acquitted; i++)
		if (strcmp(d->diagnosis.acquitted[i].kind->id, id) == 0)
			return &d->diagnosis.acquitted[i];
	return NULL;
}

/* Prints what was found: for a test that fails. */
static inline void diagnosed_print(const struct diagnosed *d)
{
	const struct hwy_phases *phases = &d->analysis.phases;
	for (uint32_t i = 0; i < phases->n; i++) {
		const struct gap_states *s = &d->analysis.measures[i].gaps.devices[0];
		print_message("phase %u: %u steps, %u steady, %lld ns\n", i,
			      phases->phases[i].n_steps, phases->phases[i].n_steady,
			      (long long)phases->phases[i].mean);
		for (unsigned c = 0; c < GAP_CAUSES; c++)
			if (s->causes[c])
				print_message("  %s %lld of %lld\n", gap_cause_names[c],
					      (long long)s->causes[c], (long long)s->window);
	}
	for (uint32_t i = 0; i < d->diagnosis.n; i++)
		print_message("  accused %s %.3f %s\n", d->diagnosis.findings[i].kind->id,
			      d->diagnosis.findings[i].share, d->diagnosis.findings[i].says);
	for (uint32_t i = 0; i < d->diagnosis.n_acquitted; i++)
		print_message("  acquitted %s %s\n", d->diagnosis.acquitted[i].kind->id,
			      d->diagnosis.acquitted[i].says);
}

#define ASSERT_ACCUSED(d, id)                                                                      \
	do {                                                                                       \
		if (!accused(d, id)) {                                                             \
			diagnosed_print(d);                                                        \
			fail_msg("%s is missing", id);                                             \
		}                                                                                  \
	} while (0)
#define ASSERT_NOT_ACCUSED(d, id)                                                                  \
	do {                                                                                       \
		if (accused(d, id)) {                                                              \
			diagnosed_print(d);                                                        \
			fail_msg("%s is accused", id);                                             \
		}                                                                                  \
	} while (0)

#endif
