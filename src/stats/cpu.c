/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - reports about the CPU: in which functions samples were taken, and how long threads ran
 * or waited.
 *
 * A sample counts once for the function it was taken in (self) and once for each function on its
 * stack (total), however often that function calls itself. A thread's states are put into three
 * classes: running, preempted (able to run, without a CPU) and waiting.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/lang.h"
#include "base/mem.h"
#include "base/ref.h"
#include "stats/families.h"

/* ---- samples --------------------------------------------------------------------------------- */

struct function {
	struct function_key {
		int64_t name, module; /* ids of the texts of the function's name and module */
	} key;
	int64_t self, total; /* how many samples end in the function, and how many hold it */
	uint32_t last_stack; /* reference to the stack that was counted last */
};

struct functions {
	struct report_run *run;
	struct hwy_index by_key; /* finds the elements of 'list' by their keys */
	struct function *list;
	uint32_t n, cap;
	uint32_t *by_frame; /* for each frame of the trace a reference into 'list' */
	int64_t samples;
};

static uint32_t function_of(struct functions *functions, int64_t frame)
{
	const struct hwy_trace *trace = functions->run->trace;
	if (hwy_ref32_is_set(functions->by_frame[frame]))
		return hwy_ref32_index(functions->by_frame[frame]);
	struct function_key key = {trace->frames[frame].function, trace->frames[frame].module};
	bool fresh;
	uint32_t *index = hwy_index_put_element(&functions->by_key, functions->list,
						sizeof *functions->list, &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(functions->list, functions->n, functions->cap);
		*index = functions->n;
		functions->list[functions->n++] = (struct function){.key = key};
	}
	functions->by_frame[frame] = hwy_ref32(*index);
	return *index;
}

static void count_stack(struct functions *functions, uint32_t stack, int64_t samples)
{
	const struct hwy_trace *trace = functions->run->trace;
	bool innermost = true;
	for (int64_t ref = hwy_ref(stack); hwy_ref_is_set(ref) && ref <= trace->n_stacks;
	     ref = trace->stacks[hwy_ref_index(ref)].parent) {
		int64_t frame = trace->stacks[hwy_ref_index(ref)].frame;
		if (frame < 0 || frame >= trace->n_frames)
			break;
		uint32_t which = function_of(functions, frame);
		assert(functions->list);
		struct function *function = &functions->list[which];
		if (innermost)
			hwy_add_saturating(&function->self, samples);
		innermost = false;
		if (function->last_stack != hwy_ref32(stack))
			hwy_add_saturating(&function->total, samples);
		function->last_stack = hwy_ref32(stack);
	}
}

/* Counts the samples of each stack first and then looks at each stack once: there are far fewer
 * stacks. */
static void count_samples(struct functions *functions)
{
	struct report_run *run = functions->run;
	const struct hwy_trace *trace = run->trace;
	/* For each stack, how many samples have it. */
	int64_t *samples = hwy_zarray(trace->n_stacks, sizeof *samples);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SAMPLE && row < strip->rows; row++) {
			uint32_t stack;
			if (!report_keeps(run, strip, row))
				continue;
			functions->samples++;
			if (hwy_get_index(strip, HWY_STACK, row, &stack) && stack < trace->n_stacks)
				samples[stack]++;
		}
	}
	for (uint32_t stack = 0; stack < trace->n_stacks; stack++)
		if (samples[stack])
			count_stack(functions, stack, samples[stack]);
	free(samples);
}

static int by_self(const void *left, const void *right, void *self)
{
	const struct function *a = left, *b = right;
	const struct hwy_trace *trace = self;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	int order = strcmp(hwy_str(trace, a->key.name), hwy_str(trace, b->key.name));
	return order ? order : (a->key.module > b->key.module) - (a->key.module < b->key.module);
}

bool make_cpu_sample_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Self", STATS_PERCENT},  {"Self Samples", STATS_COUNT},
		{"Total", STATS_PERCENT}, {"Total Samples", STATS_COUNT},
		{"Function", STATS_TEXT}, {"Module", STATS_TEXT}};
	struct hwy_trace *trace = run->trace;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_SAMPLE),
		      HWY_COL_BIT(HWY_STACK) | filter_columns(&run->filter), err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	struct functions functions = {.run = run};
	functions.by_frame = hwy_zarray(trace->n_frames, sizeof *functions.by_frame);
	count_samples(&functions);
	if (functions.n)
		qsort_r(functions.list, functions.n, sizeof *functions.list, by_self, trace);
	for (uint32_t i = 0; i < functions.n; i++) {
		const struct function *one = &functions.list[i];
		struct hwy_text name = hwy_text(trace, one->key.name);
		struct stats_cell cells[] = {
			cell_share(one->self, functions.samples),
			cell_number(one->self),
			cell_share(one->total, functions.samples),
			cell_number(one->total),
			name.length ? cell_from_text(name) : cell_from_textz("[unknown]"),
			cell_from_text(hwy_text(trace, one->key.module)),
		};
		report_row(run, cells);
	}
	hwy_index_free(&functions.by_key);
	free(functions.list);
	free(functions.by_frame);
	return true;
}

/* ---- states ---------------------------------------------------------------------------------- */

enum { RUNNING, PREEMPTED, WAITING, CLASSES };
static const char *const class_names[CLASSES] = {HWY_KEY("running"), HWY_KEY("preempted"),
						 HWY_KEY("waiting")};

struct states { /* the states of one thread */
	uint32_t lane;
	/* For each class of states, the ns and the number of states. */
	int64_t time[CLASSES], count[CLASSES];
	int64_t life; /* ns in all classes together */
};

static unsigned class_of_state(const struct hwy_trace *trace, int64_t name)
{
	const char *text = hwy_str(trace, name);
	if (strcmp(text, "running") == 0)
		return RUNNING;
	return strcmp(text, "runnable") == 0 ? PREEMPTED : WAITING;
}

/* How much of the span [start, start + duration) lies inside the filter's window, in ns. */
static int64_t ns_inside_window(const struct report_run *run, int64_t start, int64_t duration)
{
	int64_t end = start + duration;
	if (start < run->filter.from)
		start = run->filter.from;
	if (end > run->filter.to)
		end = run->filter.to;
	return end > start ? end - start : 0;
}

static void count_states(const struct report_run *run, const struct hwy_strip *strip,
			 struct states *states)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		if (!report_keeps(run, strip, row))
			continue;
		unsigned class = class_of_state(run->trace, hwy_get(strip, HWY_NAME, row));
		int64_t start = hwy_get(strip, HWY_START, row),
			duration = hwy_get(strip, HWY_DUR, row);
		if (run->filter.timed)
			duration = ns_inside_window(run, start, duration);
		states->count[class]++;
		hwy_add_saturating(&states->time[class], duration);
		hwy_add_saturating(&states->life, duration);
	}
}

static int by_running(const void *left, const void *right)
{
	const struct states *a = left, *b = right;
	if (a->time[RUNNING] != b->time[RUNNING])
		return a->time[RUNNING] < b->time[RUNNING] ? 1 : -1;
	return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static void yield_states(struct report_run *run, const struct states *states)
{
	const struct hwy_trace *trace = run->trace;
	const struct hwy_thread *thread = report_lane_thread(trace, states->lane);
	for (unsigned class = 0; class < CLASSES; class ++) {
		if (!states->count[class])
			continue;
		struct stats_cell cells[] = {
			cell_pid(trace, states->lane),
			cell_tid(trace, states->lane),
			cell_from_textz(class_names[class]),
			cell_share(states->time[class], states->life),
			cell_number(states->time[class]),
			cell_number(states->count[class]),
			cell_real((double)states->time[class] / (double)states->count[class]),
			cell_from_text(hwy_text(trace, thread ? thread->name : HWY_NONE)),
		};
		report_row(run, cells);
	}
}

bool make_thread_state_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Pid", STATS_ID},        {"Tid", STATS_ID},          {"State", STATS_WORD},
		{"Time", STATS_PERCENT},  {"Total", STATS_TIME},      {"Instances", STATS_COUNT},
		{"Avg", STATS_TIME_MEAN}, {"Thread Name", STATS_TEXT}};
	const struct hwy_trace *trace = run->trace;
	struct states *list = NULL;
	uint32_t n = 0, cap = 0;
	if (!hwy_need(run->trace, HWY_KIND_BIT(HWY_STATE),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
			      filter_columns(&run->filter),
		      err))
		return false;
	report_columns(run, columns, STATS_LENGTH(columns));
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		if (trace->strips[s].kind != HWY_STATE)
			continue;
		HWY_GROW(list, n, cap);
		list[n] = (struct states){.lane = trace->strips[s].lane};
		count_states(run, &trace->strips[s], &list[n++]);
	}
	if (n)
		qsort(list, n, sizeof *list, by_running);
	for (uint32_t i = 0; i < n; i++)
		yield_states(run, &list[i]);
	free(list);
	return true;
}
