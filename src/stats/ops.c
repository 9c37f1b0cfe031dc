/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - a framework's operators, as torch's key_averages() lists them.
 *
 * The self CPU time of an operator is its time less that of the operators it called. Its GPU
 * time is that of the device work enqueued on its thread while it ran: self where no inner
 * operator was running, total in any case. An operator that calls itself counts in the total at
 * every level, as in torch.
 */
#include <stdlib.h>

#include "analyze/op_work/op_args.h"
#include "base/hash.h"
#include "base/ref.h"
#include "stats/families.h"
#include "stats/launches.h"

struct line { /* operators of one name (and one set of shapes) */
	int64_t name;
	/* Id of a text in ops.shapes; 0 where the report does not group by shapes. */
	uint32_t shapes;
	int64_t calls, self_cpu, total_cpu, self_gpu, total_gpu;
};
struct open { /* an operator that is running; times in ns */
	int64_t start, end, in_children, self_gpu, total_gpu;
	uint32_t row;
};
struct ops {
	struct report_run *run;
	struct launches launches;
	/* References to strips of calls: for each thread its first strip, for each strip the next
	 * strip of the same thread. */
	uint32_t *first_calls, *next_calls;
	struct hwy_map map; /* maps (shapes << 32 | name) to an index in 'lines' */
	struct line *lines;
	uint32_t n, cap;
	struct hwy_strings shapes;
	/* For each text of arguments a reference to the text of the shapes in 'shapes'. */
	uint32_t *shapes_of;
	struct open *stack; /* the operators that run, the innermost last */
	uint32_t depth, cap_stack;
};

static uint32_t shapes_of(struct ops *ops, const struct hwy_strip *strip, uint32_t row)
{
	if (!ops->run->options->shapes) /* without options->shapes HWY_ARGS is not loaded */
		return 0;
	uint64_t arguments = (uint64_t)hwy_get(strip, HWY_ARGS, row);
	if (arguments >= ops->run->trace->strings.n)
		return 0;
	if (ops->shapes_of[arguments] == 0) {
		struct hwy_text text =
			op_args_shapes(hwy_text(ops->run->trace, (int64_t)arguments));
		ops->shapes_of[arguments] =
			hwy_ref32(hwy_intern(&ops->shapes, text.at, text.length));
	}
	return hwy_ref32_index(ops->shapes_of[arguments]);
}

static struct line *ops_line_of(struct ops *ops, const struct hwy_strip *strip, uint32_t row)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	uint32_t shapes = shapes_of(ops, strip, row);
	bool fresh;
	uint32_t *line = hwy_map_put(&ops->map, (uint64_t)shapes << 32 | (uint32_t)name, &fresh);
	if (fresh) {
		HWY_GROW(ops->lines, ops->n, ops->cap);
		*line = ops->n;
		ops->lines[ops->n++] = (struct line){.name = name, .shapes = shapes};
	}
	return &ops->lines[*line];
}

/* Ends operators until the innermost one reaches beyond 'moment'. With 'cpu' the calls and the
 * CPU time of what ends are counted, without only the GPU time. */
static void pop_until(struct ops *ops, const struct hwy_strip *strip, int64_t moment, bool cpu)
{
	while (ops->depth && ops->stack[ops->depth - 1].end <= moment) {
		struct open *op = &ops->stack[--ops->depth];
		if (ops->depth)
			hwy_add_saturating(&ops->stack[ops->depth - 1].total_gpu, op->total_gpu);
		if (!filter_keeps(&ops->run->filter, ops->run->trace, strip, op->row))
			continue;
		struct line *line = ops_line_of(ops, strip, op->row);
		hwy_add_saturating(&line->self_gpu, op->self_gpu);
		hwy_add_saturating(&line->total_gpu, op->total_gpu);
		if (!cpu)
			continue;
		line->calls++;
		hwy_add_saturating(&line->total_cpu, op->end - op->start);
		hwy_add_saturating(&line->self_cpu, op->end - op->start - op->in_children);
	}
}

static void ops_push(struct ops *ops, const struct hwy_strip *strip, uint32_t row, bool cpu)
{
	struct open op = {
		.start = hwy_get(strip, HWY_START, row), .end = hwy_end(strip, row), .row = row};
	pop_until(ops, strip, op.start, cpu);
	if (ops->depth) {
		struct open *parent = &ops->stack[ops->depth - 1];
		/* An operator that outlasts its parent (two recorders, two clocks) is cut at the
		 * parent's end. */
		int64_t end = op.end < parent->end ? op.end : parent->end;
		hwy_add_saturating(&parent->in_children, end - op.start);
	}
	HWY_GROW(ops->stack, ops->depth, ops->cap_stack);
	ops->stack[ops->depth++] = op;
}

static int64_t device_time(const struct ops *ops, const struct hwy_strip *calls, uint32_t row)
{
	struct launched work = launches_by_call(&ops->launches, ops->run->trace, calls, row);
	int64_t total = 0;
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t span_row;
		const struct hwy_strip *strip =
			hwy_strip_of(ops->run->trace, work.spans[i], &span_row);
		hwy_add_saturating(&total, hwy_get(strip, HWY_DUR, span_row));
	}
	return total;
}

/* Visits operators and calls of one thread in one order of start. 'calls' may be NULL. */
static void ops_sweep(struct ops *ops, const struct hwy_strip *strip, const struct hwy_strip *calls,
		      bool cpu)
{
	uint32_t row = 0;
	for (uint32_t c = 0; calls && c < calls->rows; c++) {
		int64_t gpu = device_time(ops, calls, c);
		if (gpu == 0)
			continue;
		int64_t start = hwy_get(calls, HWY_START, c);
		while (row < strip->rows && hwy_get(strip, HWY_START, row) <= start)
			ops_push(ops, strip, row++, cpu);
		pop_until(ops, strip, start, cpu);
		if (ops->depth == 0)
			continue;
		hwy_add_saturating(&ops->stack[ops->depth - 1].self_gpu, gpu);
		hwy_add_saturating(&ops->stack[ops->depth - 1].total_gpu, gpu);
	}
	while (row < strip->rows)
		ops_push(ops, strip, row++, cpu);
	pop_until(ops, strip, INT64_MAX, cpu);
}

/* The thread's index in the trace; lanes without a thread share the index behind the last
 * thread's. */
static uint32_t thread_slot(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	int64_t thread = trace->lanes[strip->lane].thread;
	return thread >= 0 && thread < trace->n_threads ? (uint32_t)thread : trace->n_threads;
}

static void sweep_thread(struct ops *ops, const struct hwy_strip *strip)
{
	const struct hwy_trace *trace = ops->run->trace;
	uint32_t calls = ops->first_calls[thread_slot(trace, strip)];
	if (!hwy_ref32_is_set(calls)) {
		ops_sweep(ops, strip, NULL, true);
		return;
	}
	/* Where a thread has several strips of calls, the operators' CPU time counts in the
	 * first sweep only. */
	for (bool cpu = true; hwy_ref32_is_set(calls); cpu = false) {
		ops_sweep(ops, strip, &trace->strips[hwy_ref32_index(calls)], cpu);
		calls = ops->next_calls[hwy_ref32_index(calls)];
	}
}

static void find_calls(struct ops *ops)
{
	const struct hwy_trace *trace = ops->run->trace;
	/* The last element is for lanes without a thread. */
	ops->first_calls = hwy_zarray((size_t)trace->n_threads + 1, sizeof *ops->first_calls);
	ops->next_calls = hwy_zarray(trace->n_strips, sizeof *ops->next_calls);
	for (uint32_t s = trace->n_strips; s-- > 0;) {
		uint32_t *first = &ops->first_calls[thread_slot(trace, &trace->strips[s])];
		if (trace->strips[s].kind != HWY_API)
			continue;
		ops->next_calls[s] = *first;
		*first = hwy_ref32(s);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int by_self_time(const void *left, const void *right, void *self)
{
	const struct line *a = left, *b = right;
	const struct ops *ops = self;
	if (a->self_gpu != b->self_gpu)
		return a->self_gpu < b->self_gpu ? 1 : -1;
	if (a->self_cpu != b->self_cpu)
		return a->self_cpu < b->self_cpu ? 1 : -1;
	int order = strcmp(hwy_str(ops->run->trace, a->name), hwy_str(ops->run->trace, b->name));
	return order ? order : (a->shapes > b->shapes) - (a->shapes < b->shapes);
}

static void ops_yield(struct ops *ops)
{
	int64_t cpu = 0, gpu = 0;
	for (uint32_t i = 0; i < ops->n; i++) {
		hwy_add_saturating(&cpu, ops->lines[i].self_cpu);
		hwy_add_saturating(&gpu, ops->lines[i].self_gpu);
	}
	if (ops->n)
		qsort_r(ops->lines, ops->n, sizeof *ops->lines, by_self_time, ops);
	for (uint32_t i = 0; i < ops->n; i++) {
		const struct line *line = &ops->lines[i];
		if (line->calls == 0)
			continue;
		struct stats_cell cells[12] = {
			cell_share(line->self_gpu, gpu),
			cell_number(line->self_gpu),
			cell_number(line->total_gpu),
			cell_share(line->self_cpu, cpu),
			cell_number(line->self_cpu),
			cell_number(line->total_cpu),
			cell_real((double)line->total_cpu / (double)line->calls),
			cell_real((double)line->total_gpu / (double)line->calls),
			cell_number(line->calls),
		};
		uint32_t n = 9;
		cells[n++] = cell_from_text(hwy_text(ops->run->trace, line->name));
		if (ops->run->options->shapes)
			cells[n++] = cell_from_text(ops->shapes.texts[line->shapes]);
		report_row(ops->run, cells);
	}
}

#define NUMBERS                                                                                    \
	{"Self GPU Time", STATS_PERCENT}, {"Self GPU", STATS_TIME}, {"Total GPU", STATS_TIME},     \
		{"Self CPU Time", STATS_PERCENT}, {"Self CPU", STATS_TIME},                        \
		{"Total CPU", STATS_TIME}, {"CPU Avg", STATS_TIME_MEAN},                           \
		{"GPU Avg", STATS_TIME_MEAN},                                                      \
	{                                                                                          \
		"Calls", STATS_COUNT                                                               \
	}

bool make_op_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {NUMBERS, {"Name", STATS_TEXT}};
	static const struct stats_column with_shapes[] = {
		NUMBERS, {"Name", STATS_TEXT}, {"Input Shapes", STATS_TEXT}};
	struct hwy_trace *trace = run->trace;
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_OP),
		      timed | HWY_COL_BIT(HWY_NAME) |
			      (run->options->shapes ? HWY_COL_BIT(HWY_ARGS) : 0),
		      err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_START), err) ||
	    !hwy_need(trace, HWY_DEVICE_KINDS, timed, err))
		return false;
	if (run->options->shapes)
		report_columns(run, with_shapes, STATS_LENGTH(with_shapes));
	else
		report_columns(run, columns, STATS_LENGTH(columns));
	struct ops ops = {.run = run};
	if (!launches_open(&ops.launches, run, HWY_DEVICE_KINDS, err)) {
		launches_close(&ops.launches);
		return false;
	}
	hwy_strings_init(&ops.shapes);
	if (run->options->shapes)
		ops.shapes_of = hwy_zarray(trace->strings.n, sizeof *ops.shapes_of);
	find_calls(&ops);
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_OP)
			sweep_thread(&ops, &trace->strips[s]);
	ops_yield(&ops);
	launches_close(&ops.launches);
	hwy_map_free(&ops.map);
	hwy_strings_free(&ops.shapes);
	free(ops.first_calls);
	free(ops.next_calls);
	free(ops.shapes_of);
	free(ops.lines);
	free(ops.stack);
	return true;
}
