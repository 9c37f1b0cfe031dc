/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - see metrics.h. */
#include "compare/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"

/* ---- values ---------------------------------------------------------------------------------- */

static double step_time(const struct compare_summary *run, const struct compare_phase *phase,
			unsigned which)
{
	(void)run;
	const int64_t times[] = {phase->step, phase->p10, phase->p50,
				 phase->p90,  phase->p99, phase->longest};
	return (double)times[which];
}

static double part_share(const struct compare_summary *run, const struct compare_phase *phase,
			 unsigned part)
{
	(void)run;
	return phase->step ? (double)phase->parts[part] / (double)phase->step : 0;
}

static double busy_share(const struct compare_summary *run, const struct compare_phase *phase,
			 unsigned is_idle)
{
	double busy = 0;
	for (unsigned i = 0; i < PART_IDLE; i++)
		busy += part_share(run, phase, i);
	return is_idle ? 1 - busy : busy;
}

static double count_each(const struct compare_summary *run, const struct compare_phase *phase,
			 unsigned count)
{
	(void)run;
	return summary_count_per_step(phase, count);
}

static double findings_count(const struct compare_summary *run, const struct compare_phase *phase,
			     unsigned unused)
{
	(void)run, (void)unused;
	double n = 0;
	for (uint32_t i = 0; i < phase->n_findings; i++)
		n += !phase->findings[i].is_inside;
	return n;
}

static double lost(const struct compare_summary *run, const struct compare_phase *phase,
		   unsigned unused)
{
	(void)phase, (void)unused;
	return (double)run->lost;
}

#define STEP(name, which, about)                                                                   \
	{                                                                                          \
		"step." name, METRIC_TIME, false, false, about, which, step_time                   \
	}
#define SHARE(name, part, better, about)                                                           \
	{                                                                                          \
		name, METRIC_SHARE, true, better, about, part, part_share                          \
	}
#define IDLE(name, cause, about)                                                                   \
	{                                                                                          \
		"idle." name, METRIC_SHARE, true, false, about, PART_IDLE + cause, part_share      \
	}
#define COUNT(name, kind, count, about)                                                            \
	{                                                                                          \
		name, kind, true, false, about, count, count_each                                  \
	}

const struct metric metrics[] = {
	STEP("mean", 0, HWY_KEY("time of a step: window / steady steps")),
	STEP("p10", 1, HWY_KEY("a tenth of the steps are shorter")),
	STEP("p50", 2, HWY_KEY("the median step")),
	STEP("p90", 3, HWY_KEY("a tenth of the steps are longer")),
	STEP("p99", 4, HWY_KEY("a hundredth of the steps are longer")),
	STEP("max", 5, HWY_KEY("the longest step")),
	{"gpu.busy", METRIC_SHARE, true, true, HWY_KEY("share of the step the GPU works"), 0,
	 busy_share},
	{"gpu.idle", METRIC_SHARE, true, false, HWY_KEY("share of the step it does not"), 1,
	 busy_share},
	SHARE("gpu.compute", PART_COMPUTE, true, HWY_KEY("share of the step with kernels")),
	SHARE("gpu.exposed_comm", PART_COMM, false,
	      HWY_KEY("share with nothing but communication")),
	SHARE("gpu.exposed_copy", PART_COPY, false, HWY_KEY("share with nothing but copies")),
	SHARE("gpu.fill", PART_FILL, false, HWY_KEY("share with nothing but fills")),
	IDLE("blocked", GAP_BLOCKED,
	     HWY_KEY("share idle: the CPU was blocked in a call that waits for the GPU")),
	IDLE("launch", GAP_LAUNCH,
	     HWY_KEY("share idle: launching took longer than what was launched")),
	IDLE("input", GAP_INPUT, HWY_KEY("share idle: the CPU waited for input data")),
	IDLE("os", GAP_OS, HWY_KEY("share idle: the CPU was in the operating system")),
	IDLE("cpu", GAP_CPU, HWY_KEY("share idle: the CPU did other work")),
	IDLE("dependency", GAP_DEPENDENCY,
	     HWY_KEY("share idle: queued work waited for other work")),
	IDLE("alloc", GAP_ALLOC, HWY_KEY("share idle: memory was allocated or freed")),
	IDLE("module", GAP_MODULE, HWY_KEY("share idle: code was loaded")),
	IDLE("drain", GAP_DRAIN, HWY_KEY("share idle: outside of any step")),
	IDLE("unknown", GAP_UNKNOWN, HWY_KEY("share idle: no cause could be found")),
	IDLE("first_use", GAP_FIRST_USE,
	     HWY_KEY("share idle: code was compiled, tuned, captured or first loaded")),
	IDLE("missing", GAP_MISSING, HWY_KEY("share idle: records of the device are missing")),
	IDLE("comm", GAP_COMM, HWY_KEY("share idle: the CPU exchanged data with other ranks")),
	IDLE("gc", GAP_GC, HWY_KEY("share idle: Python collected garbage")),
	IDLE("gil", GAP_GIL,
	     HWY_KEY("share idle: the CPU waited for the lock of Python's threads")),
	COUNT("syncs_per_step", METRIC_COUNT, COUNT_WAITS,
	      HWY_KEY("calls that block until the GPU is done")),
	COUNT("launches_per_step", METRIC_COUNT, COUNT_LAUNCHES,
	      HWY_KEY("calls that enqueue kernels or graphs")),
	COUNT("graph_launches_per_step", METRIC_COUNT, COUNT_GRAPH_LAUNCHES,
	      HWY_KEY("of them, graphs")),
	COUNT("kernels_per_step", METRIC_COUNT, COUNT_KERNELS, HWY_KEY("kernels the GPU ran")),
	COUNT("copies_per_step", METRIC_COUNT, COUNT_COPIES, HWY_KEY("copies by the GPU")),
	COUNT("fills_per_step", METRIC_COUNT, COUNT_FILLS, HWY_KEY("memory fills")),
	COUNT("allocs_per_step", METRIC_COUNT, COUNT_ALLOCS,
	      HWY_KEY("calls that allocate or free memory")),
	COUNT("copies.bytes", METRIC_BYTES, COUNT_COPY_BYTES, HWY_KEY("bytes copied a step")),
	COUNT("copies.h2d_bytes", METRIC_BYTES, COUNT_H2D_BYTES,
	      HWY_KEY("bytes a step to the GPU")),
	COUNT("copies.d2h_bytes", METRIC_BYTES, COUNT_D2H_BYTES,
	      HWY_KEY("bytes a step from the GPU")),
	COUNT("copies.pageable", METRIC_COUNT, COUNT_PAGEABLE_COPIES,
	      HWY_KEY("copies a step from or to pageable memory")),
	COUNT("copies.pageable_bytes", METRIC_BYTES, COUNT_PAGEABLE_BYTES, HWY_KEY("their bytes")),
	{"waits.time", METRIC_TIME, false, false, HWY_KEY("time a step the CPU waits for the GPU"),
	 COUNT_WAITED, count_each},
	COUNT("job.late_ranks", METRIC_COUNT, COUNT_LATE_RANKS,
	      HWY_KEY("ranks of a job that are late again and again, or get slower with time")),
	COUNT("job.slow_links", METRIC_COUNT, COUNT_SLOW_LINKS,
	      HWY_KEY("links of a job that are slower than others like them")),
	{"job.waits", METRIC_TIME, false, false,
	 HWY_KEY("time a step that a rank of a job waits for others"), COUNT_RANK_WAITS,
	 count_each},
	{"findings.count", METRIC_COUNT, true, false, HWY_KEY("findings on the CPU side"), 0,
	 findings_count},
	{"lost_records", METRIC_COUNT, true, false, HWY_KEY("records the recorder lost"), 0, lost},
	{0},
};

/* ---- kernels --------------------------------------------------------------------------------- */

enum kernel_field { FIELD_MEAN, FIELD_TIME, FIELD_COUNT, FIELD_SHARE };

static const struct metric kernel_metrics[] = {
	{.name = "mean", .kind = METRIC_TIME, .which = FIELD_MEAN},
	{.name = "time", .kind = METRIC_TIME, .which = FIELD_TIME},
	{.name = "count", .kind = METRIC_COUNT, .is_stable = true, .which = FIELD_COUNT},
	{.name = "share", .kind = METRIC_SHARE, .is_stable = true, .which = FIELD_SHARE},
	{0},
};

static bool kernel_value(const struct metric_request *request, const struct compare_summary *run,
			 const struct compare_phase *phase, double *value, struct hwy_err *err)
{
	double count = 0, ns = 0;
	const struct compare_table *kernels = &phase->tables[TABLE_KERNELS];
	for (uint32_t i = 0; i < kernels->n; i++)
		if (strstr(kernels->rows[i].name, request->kernel)) {
			count += (double)kernels->rows[i].count;
			ns += (double)kernels->rows[i].ns;
		}
	if (!(count > 0))
		return hwy_fail(err, "%s: no kernel of its steps has '%s' in its name%s", run->file,
				request->kernel,
				kernels->left_out ? hwy_tr(" (the smallest are not kept)") : "");
	switch ((enum kernel_field)request->metric->which) {
	case FIELD_MEAN: *value = ns / count; break;
	case FIELD_TIME: *value = ns / phase->n_steady; break;
	case FIELD_COUNT: *value = count / phase->n_steady; break;
	case FIELD_SHARE: *value = phase->kernel_ns ? ns / (double)phase->kernel_ns : 0; break;
	}
	return true;
}

bool metric_value(const struct metric_request *request, const struct compare_summary *run,
		  const struct compare_phase *phase, double *value, struct hwy_err *err)
{
	if (request->kernel)
		return kernel_value(request, run, phase, value, err);
	*value = request->metric->value(run, phase, request->metric->which);
	return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const struct metric *find_in(const struct metric *list, const char *name)
{
	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}

static bool find_kernel(struct metric_request *request, metric_nearest *nearest,
			struct hwy_arena *arena, struct hwy_err *err)
{
	static const char *const fields[] = {"mean", "time", "count", "share", NULL};
	const char *begin = request->text + strlen("kernel["), *end = strrchr(begin, ']');
	char quote = *begin;
	if (!end || (quote != '"' && quote != '\'') || end - begin < 3 || end[-1] != quote ||
	    end[1] != '.')
		return hwy_fail(err, "'%s': kernels are written kernel[\"NAME\"].mean",
				request->text);
	request->kernel = hwy_arena_text(arena, begin + 1, (size_t)(end - begin) - 2);
	request->metric = find_in(kernel_metrics, end + 2);
	if (request->metric)
		return true;
	const char *near = nearest ? nearest(end + 2, fields) : NULL;
	return hwy_fail(err, "a kernel has no '%s'; %s%s%s", end + 2,
			hwy_tr(near ? "did you mean '" : "it has mean, time, count and share"),
			near ? near : "", hwy_tr(near ? "'?" : ""));
}

bool metric_find(struct metric_request *request, const char *text, size_t length,
		 metric_nearest *nearest, struct hwy_arena *arena, struct hwy_err *err)
{
	*request = (struct metric_request){.text = hwy_arena_text(arena, text, length)};
	if (strncmp(request->text, "kernel[", 7) == 0)
		return find_kernel(request, nearest, arena, err);
	request->metric = find_in(metrics, request->text);
	if (request->metric)
		return true;
	const char *known[sizeof metrics / sizeof *metrics + 2] = {0};
	size_t n = 0;
	for (; metrics[n].name; n++)
		known[n] = metrics[n].name;
	known[n++] = "findings.forbid";
	bool is_family = strcmp(request->text, "step") == 0;
	const char *near = is_family ? "step.p50" : nearest ? nearest(request->text, known) : NULL;
	if (near)
		return hwy_fail(err, "there is no metric '%s'; did you mean '%s'?", request->text,
				near);
	return hwy_fail(err, "there is no metric '%s'; 'headway gate --list' names them",
			request->text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Yields a number as an integer from 'least' up to what int64_t can hold; a budget may name any
 * number. */
static int64_t whole_number(double value, int64_t least)
{
	if (!(value > (double)least)) /* also where it is no number */
		return least;
	return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

struct hwy_words metric_text(enum metric_kind kind, double value)
{
	switch (kind) {
	case METRIC_TIME: return hwy_say_time3(whole_number(value, -INT64_MAX));
	case METRIC_SHARE: return hwy_say_share_1decimal(value);
	case METRIC_BYTES: return hwy_say_bytes3_to_gb((uint64_t)whole_number(value, 0));
	default: return hwy_say_count_3decimals(value);
	}
}

bool metric_read(enum metric_kind kind, const char *text, size_t length, double *value,
		 struct hwy_err *err)
{
	static const struct unit {
		const char *name;
		enum metric_kind kind;
		double factor;
	} units[] = {
		{"ns", METRIC_TIME, 1},         {"us", METRIC_TIME, 1e3},
		{"µs", METRIC_TIME, 1e3},       {"ms", METRIC_TIME, 1e6},
		{"s", METRIC_TIME, 1e9},        {"%", METRIC_SHARE, 0.01},
		{"B", METRIC_BYTES, 1},         {"kB", METRIC_BYTES, 1e3},
		{"KB", METRIC_BYTES, 1e3},      {"MB", METRIC_BYTES, 1e6},
		{"GB", METRIC_BYTES, 1e9},      {"KiB", METRIC_BYTES, 1024},
		{"MiB", METRIC_BYTES, 1 << 20}, {"GiB", METRIC_BYTES, 1 << 30},
	};
	static const char *const wanted[] = {
		HWY_KEY("a time such as 12ms"), HWY_KEY("a share such as 90%"),
		HWY_KEY("a plain number"), HWY_KEY("bytes such as 16MB")};
	char word[64];
	snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
	char *end;
	double number = strtod(word, &end);
	/* Refuse numbers that are negative, hexadecimal or infinite. */
	if (end - word > (ptrdiff_t)strspn(word, "0123456789.eE+"))
		end = word;
	const char *unit = end;
	while (isspace((unsigned char)*unit))
		unit++;
	bool good = end != word && isfinite(number) && isdigit((unsigned char)end[-1]);
	double factor = 1;
	if (good && *unit) {
		good = false;
		for (size_t i = 0; i < sizeof units / sizeof *units; i++)
			if (units[i].kind == kind && strcmp(unit, units[i].name) == 0) {
				factor = units[i].factor;
				good = true;
			}
	} else if (good && kind == METRIC_TIME) {
		good = number == 0; /* a time without a unit is accepted only where it is 0 */
	} else if (good && kind == METRIC_SHARE) {
		/* As a share, 90 would be 9000 %, and 1 a limit that nothing can break. */
		if (number >= 1)
			return hwy_fail(err, "%s: do you mean %s%%?", word, word);
	}
	if (!good)
		return hwy_fail(err, "'%s' is not %s", word, hwy_tr(wanted[kind]));
	*value = number * factor;
	return true;
}
