/* SPDX-License-Identifier: Apache-2.0 */
/* folded.c - one line for each different stack, with a number, for flame graphs: "main;train;step
 * 12".
 *
 * CPU: the number of samples, under the process, the thread and the functions of the stack,
 * outermost first. GPU: device time in ns, under the process, the ranges and operators around the
 * call that enqueued the work (numbers in their names are replaced: step_7 becomes step_#), the
 * stack of the call, the call, and the name of the work.
 */
#include <stdlib.h>

#include "base/search.h"
#include "export/export_internal.h"
#include "export/out.h"

struct folded {
	struct export x;
	struct out out;
	struct hwy_strings lines; /* every different line */
	uint64_t *counts;         /* by id of a line: samples, or ns */
	uint32_t cap;
	char *line;
	size_t n, room;
	struct around *around; /* by thread: its ranges and operators */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_frame(struct folded *f, struct hwy_text text, bool fold_numbers)
{
	if (f->n + text.length + 2 > f->room) {
		f->room = (f->n + text.length + 2) * 2;
		f->line = hwy_realloc(f->line, f->room);
	}
	if (f->n)
		f->line[f->n++] = ';';
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.at[i];
		bool digit = c >= '0' && c <= '9';
		if (fold_numbers && digit && f->line[f->n - 1] == '#')
			continue;
		/* A semicolon would end the frame, a newline the whole line. */
		f->line[f->n++] = fold_numbers && digit   ? '#'
				  : c == ';'              ? ':'
				  : (unsigned char)c < 32 ? ' '
							  : c;
	}
}

static void add_z(struct folded *f, const char *text)
{
	add_frame(f, (struct hwy_text){text, (uint32_t)strlen(text)}, false);
}

static void count_line(struct folded *f, uint64_t count)
{
	uint32_t id = hwy_intern(&f->lines, f->line ? f->line : "", f->n);
	if (id >= f->cap) {
		uint32_t cap = f->cap;
		f->cap = id * 2 + 1024;
		f->counts = hwy_resize(f->counts, f->cap, sizeof *f->counts);
		memset(f->counts + cap, 0, (f->cap - cap) * sizeof *f->counts);
	}
	f->counts[id] += count;
}

static void add_stack(struct folded *f, int64_t stack)
{
	enum { DEEPEST = 4096 };
	int64_t way[DEEPEST];
	int n = 0;
	while (hwy_ref_is_set(stack) && n < DEEPEST) {
		way[n++] = stack;
		stack = hwy_stack_caller(f->x.trace, stack);
	}
	while (n-- > 0)
		add_frame(f, export_text(&f->x, export_frame_name(&f->x, way[n])), false);
}

static void begin_line(struct folded *f, const struct hwy_lane *lane, bool with_thread)
{
	const struct hwy_trace *trace = f->x.trace;
	const struct hwy_process *process = export_process(trace, lane->process);
	const struct hwy_thread *thread = export_thread(trace, lane->thread);
	char text[160];
	f->n = 0;
	if (process && process->pid != HWY_NONE)
		snprintf(text, sizeof text, "%.80s %lld",
			 process->name > 0 ? hwy_str(trace, process->name) : "process",
			 (long long)process->pid);
	else
		snprintf(text, sizeof text, "process");
	add_z(f, text);
	if (!with_thread || !thread)
		return;
	snprintf(text, sizeof text, "%.80s %lld",
		 thread->name > 0 ? hwy_str(trace, thread->name) : "thread",
		 (long long)thread->tid);
	add_z(f, text);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void fold_samples(struct folded *f, const struct hwy_strip *strip)
{
	if (strip->kind != HWY_SAMPLE)
		return;
	struct export_rows rows = export_rows(&f->x, strip, HWY_COL_BIT(HWY_STACK));
	while (export_next(&rows)) {
		begin_line(f, &f->x.trace->lanes[strip->lane], true);
		add_stack(f, hwy_get(strip, HWY_STACK, rows.row));
		count_line(f, 1);
		export_wrote(&f->x);
	}
}

/* ---- device time ----------------------------------------------------------------------------- */

/* The ranges and operators of a thread, sorted by start, each with its parent. What encloses a
 * moment is found by a binary search for the moment and then by following the parents. */
struct around {
	struct outer {
		int64_t start, end, name;
		/* Reference (base/ref.h) to the innermost span in 'v' that encloses this span. */
		uint32_t parent_ref;
	} * v;
	uint32_t n, cap;
};

static int folded_by_start(const void *left, const void *right)
{
	const struct outer *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

static void folded_settle(struct around *around)
{
	if (around->n)
		qsort(around->v, around->n, sizeof *around->v, folded_by_start);
	for (uint32_t i = 1; i < around->n; i++) {
		/* The parent of a span is the span before it, or a span that encloses the span
		 * before it. */
		uint32_t ref = hwy_ref32(i - 1);
		while (hwy_ref32_is_set(ref) &&
		       around->v[hwy_ref32_index(ref)].end < around->v[i].end)
			ref = around->v[hwy_ref32_index(ref)].parent_ref;
		around->v[i].parent_ref = ref;
	}
}

static void folded_gather(struct folded *f)
{
	struct hwy_trace *trace = f->x.trace;
	uint32_t kinds = HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP);
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			   HWY_COL_BIT(HWY_FLAGS);
	f->around = hwy_zarray(trace->n_threads, sizeof *f->around);
	if (!hwy_need(trace, kinds, columns, f->x.err)) {
		f->x.failed = true;
		return;
	}
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		const struct hwy_lane *lane = &trace->lanes[strip->lane];
		if (!(kinds & HWY_KIND_BIT(strip->kind)) || !export_thread(trace, lane->thread) ||
		    lane->type == HWY_LANE_STARTEND)
			continue;
		struct around *around = &f->around[lane->thread];
		for (uint32_t row = 0; row < strip->rows; row++) {
			if (hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK)
				continue;
			HWY_GROW(around->v, around->n, around->cap);
			around->v[around->n++] =
				(struct outer){hwy_get(strip, HWY_START, row), hwy_end(strip, row),
					       hwy_get(strip, HWY_NAME, row), 0};
		}
		hwy_forget_strip(trace, s, columns);
	}
	for (uint32_t i = 0; i < trace->n_threads; i++)
		folded_settle(&f->around[i]);
}

static void add_around(struct folded *f, const struct around *around, int64_t start, int64_t end)
{
	enum { DEEPEST = 1024 };
	int64_t way[DEEPEST];
	uint32_t n_begun = HWY_FIRST(i, 0, around->n, around->v[i].start > start);
	uint32_t ref = n_begun ? hwy_ref32(n_begun - 1) : HWY_REF_NONE;
	int n = 0;
	while (hwy_ref32_is_set(ref) && n < DEEPEST) {
		const struct outer *outer = &around->v[hwy_ref32_index(ref)];
		if (outer->end >= end)
			way[n++] = outer->name;
		ref = outer->parent_ref;
	}
	while (n-- > 0)
		add_frame(f, hwy_text(f->x.trace, way[n]), true);
}

static void folded_add_call(struct folded *f, uint32_t id)
{
	const struct hwy_trace *trace = f->x.trace;
	uint32_t row;
	const struct hwy_strip *call = hwy_strip_of(trace, id, &row);
	int64_t thread = trace->lanes[call->lane].thread;
	int64_t start = export_peek(&f->x, call, HWY_START, row);
	if (export_thread(trace, thread))
		add_around(f, &f->around[thread], start,
			   start + export_peek(&f->x, call, HWY_DUR, row));
	add_stack(f, export_peek(&f->x, call, HWY_STACK, row));
	add_frame(f, hwy_text(trace, export_peek(&f->x, call, HWY_NAME, row)), false);
}

static void fold_work(struct folded *f, const struct hwy_strip *strip)
{
	if (!(HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
		return;
	struct export_rows rows =
		export_rows(&f->x, strip, EXPORT_NAME_COLUMNS | HWY_COL_BIT(HWY_LINK));
	while (export_next(&rows)) {
		uint32_t call;
		begin_line(f, &f->x.trace->lanes[strip->lane], false);
		if (hwy_get_index(strip, HWY_LINK, rows.row, &call))
			folded_add_call(f, call);
		add_frame(f, export_text(&f->x, export_name(&f->x, strip, rows.row)), false);
		count_line(f, (uint64_t)hwy_get(strip, HWY_DUR, rows.row));
		export_wrote(&f->x);
	}
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool has_samples(const struct folded *f)
{
	for (uint32_t s = 0; s < f->x.trace->n_strips; s++)
		if (f->x.trace->strips[s].kind == HWY_SAMPLE &&
		    export_keeps_strip(&f->x, &f->x.trace->strips[s]))
			return true;
	return false;
}

static void fold(struct folded *f, bool cpu)
{
	if (!cpu)
		folded_gather(f);
	for (uint32_t s = 0; s < f->x.trace->n_strips && !f->x.failed; s++)
		(cpu ? fold_samples : fold_work)(f, &f->x.trace->strips[s]);
	for (uint32_t i = 0; i < f->lines.n && i < f->cap; i++) {
		if (!f->counts[i])
			continue;
		out_bytes(&f->out, f->lines.texts[i].at, f->lines.texts[i].length);
		out_char(&f->out, ' ');
		out_int(&f->out, (int64_t)f->counts[i]);
		out_char(&f->out, '\n');
	}
	f->x.result->note =
		cpu ? "CPU samples, counted" : "device time in ns, under what enqueued it";
}

bool export_folded(struct hwy_trace *trace, FILE *out, bool gzip,
		   const struct export_options *options, const struct hwy_progress *progress,
		   struct export_result *result, struct hwy_err *err)
{
	struct folded f = {0};
	if (!export_open(&f.x, trace, options, progress, result, err))
		return false;
	out_open(&f.out, out, gzip);
	hwy_strings_init(&f.lines);
	bool cpu = options->folding == EXPORT_FOLD_CPU ||
		   (options->folding == EXPORT_FOLD_AUTO && has_samples(&f));
	fold(&f, cpu);
	bool ok = out_close(&f.out, options->target, err) && !f.x.failed;
	for (uint32_t i = 0; f.around && i < trace->n_threads; i++)
		free(f.around[i].v);
	free(f.around);
	free(f.counts);
	free(f.line);
	hwy_strings_free(&f.lines);
	export_close(&f.x);
	return ok;
}
