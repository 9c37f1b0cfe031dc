/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_cpu.c - where the time of a program on the CPU alone went: what its busiest thread did,
 * in which lines samples were taken, and Python's garbage collections.
 *
 * A sample counts for the innermost line of Python on its stack, which is a line of the program;
 * for the innermost line at all where there is none. Each part is a line of text without its end;
 * a part of which the recording holds nothing writes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/lang.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/ref.h"
#include "base/say.h"
#include "cli/analyze_cpu.h"
#include "cli/analyze_print.h"
#include "stats/stats.h"

enum { LINES = 3 };

static void run_report(struct hwy_trace *trace, const char *report, const struct stats_sink *sink)
{
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
	struct hwy_err ignored;
	stats_run(trace, stats_find(report), &options, sink, &ignored);
}

/* ---- the busiest thread ---------------------------------------------------------------------- */

/* Columns of thread_state_sum, whose first rows are the thread that ran longest. */
enum { STATE_PID, STATE_TID, STATE_WORD, STATE_SHARE, STATE_TIME, STATE_NAME = 7 };

struct busiest {
	FILE *out;
	int64_t pid, tid;
	uint32_t rows;
	bool is_done; /* the rows of the first thread are over */
};

static void busiest_begin(void *self, const struct stats_column *columns, uint32_t n)
{
	(void)self;
	(void)columns;
	(void)n;
}

static void busiest_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct busiest *busiest = self;
	(void)n;
	if (busiest->rows == 0) {
		busiest->pid = cells[STATE_PID].number;
		busiest->tid = cells[STATE_TID].number;
		cli_put(busiest->out, cells[STATE_NAME].text.at, cells[STATE_NAME].text.length);
		fprintf(busiest->out, hwy_tr(" %lld: "), (long long)busiest->tid);
	}
	/* A process that became another program has a row for each state of each of them. */
	busiest->is_done |=
		cells[STATE_PID].number != busiest->pid ||
		cells[STATE_TID].number != busiest->tid ||
		(busiest->rows > 0 && strcmp(cells[STATE_WORD].text.at, "running") == 0);
	if (busiest->is_done)
		return;
	/* The report's word is a key of lang/, followed by a zero. */
	fprintf(busiest->out, hwy_tr("%s%s %s (%s)"), busiest->rows++ ? hwy_tr(", ") : "",
		hwy_tr(cells[STATE_WORD].text.at),
		hwy_say_share(cells[STATE_SHARE].real / 100).text,
		hwy_say_time3(cells[STATE_TIME].number).text);
}

void analyze_cpu_put_thread(FILE *out, struct hwy_trace *trace)
{
	struct busiest busiest = {.out = out};
	run_report(trace, "thread_state_sum",
		   &(struct stats_sink){&busiest, busiest_begin, busiest_row});
	if (busiest.rows)
		fputs(hwy_tr("; preempted is: able to run, without a CPU"), out);
}

/* ---- garbage collections --------------------------------------------------------------------- */

/* Columns of nvtx_sum. */
enum { RANGE_TIME = 1, RANGE_COUNT = 2, RANGE_NAME = 9 };

static void collections_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct analyze_collections *sum = self;
	if (n <= RANGE_NAME || !analyze_cpu_is_collection(cells[RANGE_NAME].text))
		return;
	sum->n += cells[RANGE_COUNT].number;
	sum->ns += cells[RANGE_TIME].number;
}

bool analyze_cpu_is_collection(struct hwy_text name)
{
	static const char whole[] = HWY_DOMAIN_PYTHON ":" HWY_COLLECTION_NAME;
	return name.length >= sizeof whole - 1 && memcmp(name.at, whole, sizeof whole - 1) == 0;
}

struct analyze_collections analyze_cpu_collections(struct hwy_trace *trace)
{
	struct analyze_collections sum = {0};
	run_report(trace, "nvtx_sum", &(struct stats_sink){&sum, busiest_begin, collections_row});
	return sum;
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct hot_line {
	struct hot_key {
		int64_t function, file, line; /* function and file are texts of the trace */
	} key;
	uint64_t samples;
};

struct hot_lines {
	struct hwy_index by_key;
	struct hot_line *list;
	uint32_t n, cap;
	uint64_t all; /* samples, with or without a line */
};

static const struct hwy_frame *frame_with_line(const struct hwy_trace *trace, int64_t index)
{
	const struct hwy_frame *frame =
		index >= 0 && index < trace->n_frames ? &trace->frames[index] : NULL;
	return frame && frame->line > 0 && *hwy_str(trace, frame->file) ? frame : NULL;
}

/* The frame that a sample with this stack counts for, or NULL. */
static const struct hwy_frame *line_of_stack(const struct hwy_trace *trace, uint32_t stack)
{
	const struct hwy_frame *innermost = NULL;
	for (int64_t ref = hwy_ref(stack); hwy_ref_is_set(ref);
	     ref = trace->stacks[hwy_ref_index(ref)].parent) {
		const struct hwy_frame *frame =
			frame_with_line(trace, trace->stacks[hwy_ref_index(ref)].frame);
		if (frame && frame->flags & HWY_FRAME_PYTHON)
			return frame;
		innermost = innermost ? innermost : frame;
	}
	return innermost;
}

static void add_line(struct hot_lines *lines, const struct hwy_frame *frame, uint64_t samples)
{
	struct hot_key key = {frame->function, frame->file, frame->line};
	bool fresh;
	uint32_t *number = hwy_index_put_element(&lines->by_key, lines->list, sizeof *lines->list,
						 &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(lines->list, lines->n, lines->cap);
		*number = lines->n;
		lines->list[lines->n++] = (struct hot_line){.key = key};
	}
	lines->list[*number].samples += samples;
}

static void count_lines(const struct hwy_trace *trace, struct hot_lines *lines)
{
	uint64_t *by_stack = hwy_zarray(trace->n_stacks, sizeof *by_stack);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SAMPLE && row < strip->rows; row++) {
			uint32_t stack;
			lines->all++;
			if (hwy_get_index(strip, HWY_STACK, row, &stack) && stack < trace->n_stacks)
				by_stack[stack]++;
		}
	}
	for (uint32_t stack = 0; stack < trace->n_stacks; stack++) {
		const struct hwy_frame *frame =
			by_stack[stack] ? line_of_stack(trace, stack) : NULL;
		if (frame)
			add_line(lines, frame, by_stack[stack]);
	}
	free(by_stack);
}

static int by_samples(const void *left, const void *right)
{
	const struct hot_line *a = left, *b = right;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return memcmp(&a->key, &b->key, sizeof a->key);
}

void analyze_cpu_put_lines(FILE *out, struct hwy_trace *trace)
{
	struct hot_lines lines = {0};
	struct hwy_err ignored;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_SAMPLE), HWY_COL_BIT(HWY_STACK), &ignored))
		return;
	count_lines(trace, &lines);
	if (lines.n)
		qsort(lines.list, lines.n, sizeof *lines.list, by_samples);
	for (uint32_t i = 0; i < lines.n && i < LINES; i++) {
		const struct hot_line *line = &lines.list[i];
		fputs(i ? hwy_tr(", ") : "", out);
		analyze_put_place(out, &(struct hwy_place){
					       .file = hwy_str(trace, line->key.file),
					       .line = line->key.line,
					       .function = hwy_str(trace, line->key.function),
					       .range = "",
					       .api = "",
				       });
		fprintf(out, " %s",
			hwy_say_part_1decimal((int64_t)line->samples, (int64_t)lines.all).text);
	}
	if (lines.n)
		fprintf(out, hwy_tr(" (%% %s)"), hwy_tr("of all samples"));
	hwy_index_free(&lines.by_key);
	free(lines.list);
}
