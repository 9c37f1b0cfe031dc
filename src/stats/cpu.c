/* cpu.c - the CPU's side: where samples were taken, and what threads did between them.
 *
 * A sample counts once for the function it was taken in (self) and once for each function on its stack
 * (total), however often that function calls itself. States are in three classes whatever the source calls
 * them: running, preempted (able to run, without a CPU) and waiting.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "stats/families.h"

/* ---- samples ----------------------------------------------------------------------------------- */

struct function {
	int64_t name, module; /* texts */
	int64_t self, total;
	uint32_t seen; /* the stack that was counted last, plus one */
};

struct functions {
	struct stats_run *run;
	struct hwy_map of; /* name, module -> index plus one */
	struct function *list;
	uint32_t n, cap;
	uint32_t *of_frame; /* frame of the trace -> index plus one */
	int64_t samples;
};

static uint32_t function_of(struct functions *functions, int64_t frame)
{
	const struct hwy_trace *trace = functions->run->trace;
	if (functions->of_frame[frame])
		return functions->of_frame[frame] - 1;
	const struct hwy_frame *one = &trace->frames[frame];
	uint64_t key = hwy_mix((uint64_t)one->function) ^ (uint64_t)one->module;
	bool fresh;
	uint32_t *at = hwy_map_put(&functions->of, key, &fresh);
	if (fresh) {
		HWY_GROW(functions->list, functions->n, functions->cap);
		functions->list[functions->n] =
			(struct function){.name = one->function, .module = one->module};
		*at = functions->n++;
	}
	functions->of_frame[frame] = *at + 1;
	return *at;
}

static void count_stack(struct functions *functions, uint32_t stack, int64_t samples)
{
	const struct hwy_trace *trace = functions->run->trace;
	bool innermost = true;
	for (int64_t at = stack + 1; at > 0 && at <= trace->n_stacks;
	     at = trace->stacks[at - 1].parent) {
		int64_t frame = trace->stacks[at - 1].frame;
		if (frame < 0 || frame >= trace->n_frames)
			break;
		uint32_t which = function_of(functions, frame);
		struct function *function = &functions->list[which];
		if (innermost)
			add_to(&function->self, samples);
		innermost = false;
		if (function->seen != stack + 1)
			add_to(&function->total, samples);
		function->seen = stack + 1;
	}
}

/* Samples of a stack are counted first: there are few stacks. */
static void count_samples(struct functions *functions)
{
	struct stats_run *run = functions->run;
	const struct hwy_trace *trace = run->trace;
	int64_t *of_stack = hwy_zalloc(((size_t)trace->n_stacks + 1) * sizeof *of_stack);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_SAMPLE && row < strip->rows; row++) {
			if (filter_is_on(&run->filter) &&
			    !filter_keeps(&run->filter, trace, strip, row))
				continue;
			int64_t stack = hwy_get(strip, HWY_STACK, row);
			of_stack[stack > 0 && stack <= trace->n_stacks ? stack : 0]++;
			functions->samples++;
		}
	}
	for (uint32_t stack = 0; stack < trace->n_stacks; stack++)
		if (of_stack[stack + 1])
			count_stack(functions, stack, of_stack[stack + 1]);
	free(of_stack);
}

static int by_self(const void *left, const void *right, void *self)
{
	const struct function *a = left, *b = right;
	const struct hwy_trace *trace = self;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	int order = strcmp(hwy_str(trace, a->name), hwy_str(trace, b->name));
	return order ? order : (a->module > b->module) - (a->module < b->module);
}

static struct stats_cell cpu_share(int64_t part, int64_t whole)
{
	return cell_real(whole ? 100.0 * (double)part / (double)whole : 0);
}

bool make_cpu_sample_sum(struct stats_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Self", STATS_PERCENT},  {"Self Samples", STATS_COUNT},
		{"Total", STATS_PERCENT}, {"Total Samples", STATS_COUNT},
		{"Function", STATS_TEXT}, {"Module", STATS_TEXT}};
	struct hwy_trace *trace = run->trace;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_SAMPLE),
		      HWY_COL_BIT(HWY_STACK) | filter_columns(&run->filter), err))
		return false;
	run_columns(run, columns, STATS_LENGTH(columns));
	struct functions functions = {.run = run};
	functions.of_frame = hwy_zalloc(((size_t)trace->n_frames + 1) * sizeof *functions.of_frame);
	count_samples(&functions);
	if (functions.n)
		qsort_r(functions.list, functions.n, sizeof *functions.list, by_self, trace);
	for (uint32_t i = 0; i < functions.n; i++) {
		const struct function *one = &functions.list[i];
		struct hwy_text name = hwy_text(trace, one->name);
		struct stats_cell cells[] = {
			cpu_share(one->self, functions.samples),
			cell_number(one->self),
			cpu_share(one->total, functions.samples),
			cell_number(one->total),
			name.length ? cell_text(name) : cell_textz("[unknown]"),
			cell_text(hwy_text(trace, one->module)),
		};
		run_row(run, cells);
	}
	hwy_map_free(&functions.of);
	free(functions.list);
	free(functions.of_frame);
	return true;
}

/* ---- states ------------------------------------------------------------------------------------ */

enum class { RUNNING, PREEMPTED, WAITING, CLASSES };
static const char *const class_names[CLASSES] = {"running", "preempted", "waiting"};

struct states { /* of a lane */
	uint32_t lane;
	int64_t time[CLASSES], count[CLASSES], life;
};

static enum class cpu_class_of(const struct hwy_trace *trace, int64_t name) {
	const char *text = hwy_str(trace, name); if (strcmp(text, "running") == 0) return RUNNING;
	return strcmp(text, "runnable") == 0 ? PREEMPTED : WAITING;
}

/* The part of a span that the window asked for has. */
static int64_t cpu_inside(const struct stats_run *run, int64_t start, int64_t duration)
{
	int64_t end = start + duration;
	if (start < run->filter.from)
		start = run->filter.from;
	if (end > run->filter.to)
		end = run->filter.to;
	return end > start ? end - start : 0;
}

static void count_states(const struct stats_run *run, const struct hwy_strip *strip,
			 struct states *states)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		if (filter_is_on(&run->filter) &&
		    !filter_keeps(&run->filter, run->trace, strip, row))
			continue;
		enum class class = cpu_class_of(run->trace, hwy_get(strip, HWY_NAME, row));
		int64_t start = hwy_get(strip, HWY_START, row),
			duration = hwy_get(strip, HWY_DUR, row);
		if (run->filter.timed)
			duration = cpu_inside(run, start, duration);
		states->count[class]++;
		add_to(&states->time[class], duration);
		add_to(&states->life, duration);
	}
}

static int by_running(const void *left, const void *right)
{
	const struct states *a = left, *b = right;
	if (a->time[RUNNING] != b->time[RUNNING])
		return a->time[RUNNING] < b->time[RUNNING] ? 1 : -1;
	return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static void yield_states(struct stats_run *run, const struct states *states)
{
	const struct hwy_trace *trace = run->trace;
	const struct hwy_thread *thread = report_lane_thread(trace, states->lane);
	for (int class = 0; class < CLASSES; class ++) {
		if (!states->count[class])
			continue;
		struct stats_cell cells[] = {
			pid_cell(trace, states->lane),
			tid_cell(trace, states->lane),
			cell_textz(class_names[class]),
			cpu_share(states->time[class], states->life),
			cell_number(states->time[class]),
			cell_number(states->count[class]),
			cell_real((double)states->time[class] / (double)states->count[class]),
			cell_text(hwy_text(trace, thread ? thread->name : HWY_NONE)),
		};
		run_row(run, cells);
	}
}

bool make_thread_state_sum(struct stats_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Pid", STATS_ID},        {"Tid", STATS_ID},          {"State", STATS_TEXT},
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
	run_columns(run, columns, STATS_LENGTH(columns));
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
