/* SPDX-License-Identifier: Apache-2.0 */
/* awkward.c - makes large recordings of awkward shapes: what is quick on a training loop must not be slow on them.
 *
 *   awkward SHAPE SPANS OUT.hwy
 *
 * The shapes are those of the table at the end; each is a function that adds what one step of it is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/builder.h"
#include "trace/file.h"

enum { NAMES = 4096 };

struct making {
	struct hwy_builder *b;
	uint32_t process, api, sync, *streams, n_streams;
	uint32_t *apis, n_apis; /* one of them, or as many as streams */
	uint32_t names[NAMES], launch, copy, wait, graph, alloc, record, stream_wait, step;
	int64_t cpu, *device; /* until when they are busy; by stream */
	int64_t corr;
	uint64_t n, most;
};

static struct hwy_ref add(struct making *m, uint32_t lane, enum hwy_kind kind, uint32_t name,
			  int64_t start, int64_t length, int64_t corr)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = length;
	row.v[HWY_NAME] = name;
	row.v[HWY_CORR] = corr;
	m->n++;
	return hwy_add_span(m->b, lane, kind, &row);
}

static void call(struct making *m, uint32_t name, int64_t length, int64_t corr)
{
	add(m, m->api, HWY_API, name, m->cpu, length, corr);
	m->cpu += length + 500;
}

/* Work of the call that was just made. */
static void work(struct making *m, uint32_t stream, uint32_t name, int64_t length)
{
	int64_t *free_at = &m->device[stream];
	int64_t start = *free_at + 700 > m->cpu + 2000 ? *free_at + 700 : m->cpu + 2000;
	add(m, m->streams[stream], HWY_KERNEL, name, start, length, m->corr);
	*free_at = start + length;
}

static void launch(struct making *m, uint32_t stream, uint32_t name, int64_t length)
{
	call(m, m->launch, 2000, ++m->corr);
	work(m, stream, name, length);
}

static void copy(struct making *m, uint32_t stream, enum hwy_direction direction)
{
	struct hwy_row row = {0};
	call(m, m->copy, 3000, ++m->corr);
	int64_t start = m->device[stream] > m->cpu + 2000 ? m->device[stream] : m->cpu + 2000;
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = 4000;
	row.v[HWY_CORR] = m->corr;
	row.v[HWY_BYTES] = 1 << 16;
	row.v[HWY_DIRECTION] = direction;
	row.v[HWY_SRC_MEMORY] = direction == HWY_H2D ? HWY_MEM_PINNED : HWY_MEM_DEVICE;
	row.v[HWY_DST_MEMORY] = direction == HWY_H2D ? HWY_MEM_DEVICE : HWY_MEM_PINNED;
	hwy_add_span(m->b, m->streams[stream], HWY_COPY, &row);
	m->device[stream] = start + 4000;
	m->n++;
}

static void await(struct making *m)
{
	int64_t until = m->cpu + 1000;
	for (uint32_t s = 0; s < m->n_streams; s++)
		until = m->device[s] + 2000 > until ? m->device[s] + 2000 : until;
	call(m, m->wait, until - m->cpu, 0);
}

/* ---- shapes --------------------------------------------------------------------------------------- */

/* A thousand loops, one after the other, each with kernels of its own. */
static void many_phases(struct making *m, uint64_t step)
{
	uint64_t loop = m->n * 1000 / m->most;
	for (uint32_t k = 0; k < 5 + loop % 7; k++)
		launch(m, 0, m->names[(loop * 11 + k) % NAMES], 5000);
	if (step % 2)
		copy(m, 0, HWY_D2H);
	await(m);
}

static void many_phases_with_marks(struct making *m, uint64_t step)
{
	char name[32];
	int64_t begin = m->cpu;
	uint64_t loop = m->n * 1000 / m->most;
	many_phases(m, step);
	snprintf(name, sizeof name, "%c%c loop step_%d", 'a' + (char)(loop % 26),
		 'a' + (char)(loop / 26), (int)(step % 1000));
	add(m, m->step, HWY_RANGE, hwy_text_id(m->b, name), begin, m->cpu - begin, 0);
}

/* A thousand processes that take turns, each with its own thread, stream and loop. */
static void many_processes(struct making *m, uint64_t step)
{
	m->api = m->apis[step % m->n_apis];
	launch(m, (uint32_t)(step % m->n_apis), m->names[step / m->n_apis % 3], 5000);
	if (step / m->n_apis % 9 == 8)
		call(m, m->wait, 5000, 0);
}

/* Nothing repeats: one step as long as the recording. */
static void one_step(struct making *m, uint64_t step)
{
	uint64_t dice = hwy_mix(step);
	launch(m, 0, m->names[dice % NAMES], 1000 + (int64_t)(dice >> 40) % 9000);
	if (dice % 5 == 0)
		copy(m, 0, dice % 2 ? HWY_D2H : HWY_H2D);
	if (dice % 7 == 0)
		await(m);
}

static void one_step_of_copies(struct making *m, uint64_t step)
{
	copy(m, 0, hwy_mix(step) % 2 ? HWY_D2H : HWY_H2D);
	if (hwy_mix(step) % 5 == 0)
		launch(m, 0, m->names[hwy_mix(step) % NAMES], 1000);
}

/* Calls that lie in each other, deeper and deeper, all of them waits. */
static void nested(struct making *m, uint64_t step)
{
	launch(m, 0, m->names[step % 4], 3000);
	add(m, m->api, HWY_API, m->wait, m->cpu, (int64_t)(m->most * 5000 - step * 4000), 0);
	m->cpu += 1000;
}

/* Waits on one thread that overlap as no program can make them. */
static void overlapping(struct making *m, uint64_t step)
{
	launch(m, 0, m->names[step % 4], 3000);
	add(m, m->api, HWY_API, m->wait, m->cpu, (int64_t)m->most * 1000, 0);
	m->cpu += 1000;
}

static void at_one_moment(struct making *m, uint64_t step)
{
	m->cpu = 1000;
	launch(m, 0, m->names[step % 4], 0);
	m->device[0] = 0;
}

static void many_streams(struct making *m, uint64_t step)
{
	launch(m, (uint32_t)(step % m->n_streams), m->names[step % 4], 3000);
	if (step % 3 == 0)
		call(m, m->wait, 3000, 0);
}

/* Every stream waits for the one before it. */
static void many_events(struct making *m, uint64_t step)
{
	struct hwy_row row = {0};
	uint32_t from = (uint32_t)(step % m->n_streams), to = (uint32_t)((step + 1) % m->n_streams);
	launch(m, from, m->names[step % 4], 3000);
	call(m, m->record, 1000, ++m->corr);
	row.v[HWY_START] = m->cpu;
	row.v[HWY_CORR] = m->corr;
	struct hwy_ref record = hwy_add_span(m->b, m->streams[from], HWY_EVENT, &row);
	call(m, m->stream_wait, 1000, ++m->corr);
	row.v[HWY_START] = m->cpu;
	row.v[HWY_CORR] = m->corr;
	row.v[HWY_SYNC_TYPE] = step % 2 ? HWY_SYNC_STREAM_WAIT : HWY_SYNC_EVENT;
	row.v[HWY_WAITED] = to + 1;
	hwy_add_edge(m->b, HWY_EDGE_EVENT, record, hwy_add_span(m->b, m->sync, HWY_SYNC, &row),
		     (int64_t)step);
	m->n += 2;
}

/* Every graph is built, launched once and forgotten. */
static void many_graphs(struct making *m, uint64_t step)
{
	call(m, m->alloc, 20000, 0);
	call(m, m->graph, 5000, ++m->corr);
	for (uint32_t k = 0; k < 10; k++) {
		struct hwy_row row = {0};
		row.v[HWY_START] = m->device[0] > m->cpu ? m->device[0] : m->cpu;
		row.v[HWY_DUR] = 2000;
		row.v[HWY_NAME] = m->names[k];
		row.v[HWY_CORR] = m->corr;
		row.v[HWY_GRAPH_ID] = (int64_t)step + 1;
		row.v[HWY_GRAPH_EXEC] = (int64_t)step + 2;
		row.v[HWY_GRAPH_NODE] = (int64_t)(step * 10 + k + 1);
		hwy_add_span(m->b, m->streams[0], HWY_KERNEL, &row);
		m->device[0] = row.v[HWY_START] + 2500;
		m->n++;
	}
}

static const struct shape {
	const char *name;
	uint32_t streams;
	int64_t flags; /* of the streams; the first is the default stream where they are of the blocking kind */
	void (*add)(struct making *m, uint64_t step);
} shapes[] = {
	{"phases", 1, 2, many_phases},          {"marks", 1, 2, many_phases_with_marks},
	{"processes", 1000, 2, many_processes}, {"one", 1, 2, one_step},
	{"copies", 1, 2, one_step_of_copies},   {"nested", 1, 2, nested},
	{"overlapping", 1, 2, overlapping},     {"moment", 1, 2, at_one_moment},
	{"streams", 2000, 2, many_streams},     {"barrier", 2000, 1, many_streams},
	{"events", 2000, 2, many_events},       {"graphs", 1, 2, many_graphs},
};

/* ---- */

static void open_streams(struct making *m, const struct shape *shape)
{
	struct hwy_trace *trace = hwy_builder_trace(m->b);
	uint32_t device = hwy_new_devices(m->b);
	trace->devices[device].ordinal = 0;
	trace->devices[device].sms = 132;
	trace->devices[device].name = hwy_text_id(m->b, "Awkward");
	m->n_streams = shape->streams;
	m->streams = calloc(m->n_streams, sizeof *m->streams);
	m->device = calloc(m->n_streams, sizeof *m->device);
	for (uint32_t s = 0; s < m->n_streams; s++) {
		uint32_t stream = hwy_new_streams(m->b);
		trace->streams[stream].process = m->n_apis > 1 ? s : 0;
		trace->streams[stream].device = device;
		trace->streams[stream].context = 1;
		trace->streams[stream].number = s + 1;
		trace->streams[stream].flags = shape->flags == 1 && s == 0 ? 3 : shape->flags;
		m->streams[s] = hwy_add_stream_lane(m->b, HWY_LANE_STREAM, stream);
		if (s == 0)
			m->sync = hwy_add_stream_lane(m->b, HWY_LANE_SYNC, stream);
	}
}

static struct making open_all(const struct shape *shape, uint64_t spans)
{
	struct making m = {.b = hwy_builder_new(), .most = spans};
	struct hwy_trace *trace = hwy_builder_trace(m.b);
	m.n_apis = shape->add == many_processes ? shape->streams : 1;
	m.apis = calloc(m.n_apis, sizeof *m.apis);
	for (uint32_t p = 0; p < m.n_apis; p++) {
		uint32_t process = hwy_new_processes(m.b), thread = hwy_new_threads(m.b);
		trace->processes[process].pid = 100 + p;
		trace->threads[thread].process = process;
		m.apis[p] = hwy_add_lane(m.b, hwy_lane_of(HWY_LANE_API, process, thread));
	}
	m.api = m.apis[0];
	m.step = hwy_add_lane(m.b, hwy_lane_of(HWY_LANE_RANGE, m.process, 0));
	open_streams(&m, shape);
	for (uint32_t i = 0; i < NAMES; i++) {
		char name[32];
		snprintf(name, sizeof name, "kernel_%" PRIu32, i);
		m.names[i] = hwy_text_id(m.b, name);
	}
	m.launch = hwy_text_id(m.b, "cudaLaunchKernel");
	m.copy = hwy_text_id(m.b, "cudaMemcpyAsync");
	m.wait = hwy_text_id(m.b, "cudaDeviceSynchronize");
	m.graph = hwy_text_id(m.b, "cudaGraphLaunch");
	m.alloc = hwy_text_id(m.b, "cudaGraphInstantiate");
	m.record = hwy_text_id(m.b, "cudaEventRecord");
	m.stream_wait = hwy_text_id(m.b, "cudaStreamWaitEvent");
	return m;
}

int main(int argc, char **argv)
{
	const struct shape *shape = NULL;
	for (size_t i = 0; argc == 4 && i < sizeof shapes / sizeof *shapes; i++)
		if (strcmp(shapes[i].name, argv[1]) == 0)
			shape = &shapes[i];
	uint64_t spans = shape ? strtoull(argv[2], NULL, 10) : 0;
	if (spans == 0) {
		fprintf(stderr, "usage: awkward SHAPE SPANS OUT.hwy; shapes:");
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			fprintf(stderr, " %s", shapes[i].name);
		return fprintf(stderr, "\n"), 2;
	}
	struct making m = open_all(shape, spans);
	for (uint64_t step = 0; m.n < spans; step++)
		shape->add(&m, step);
	struct hwy_err err;
	struct hwy_trace *trace = hwy_builder_finish(m.b, false);
	if (!hwy_file_write(trace, argv[3], true, NULL, &err))
		return fprintf(stderr, "awkward: %s: %s\n", argv[3], err.text), 2;
	hwy_trace_free(trace);
	free(m.streams);
	free(m.apis);
	free(m.device);
	return 0;
}
