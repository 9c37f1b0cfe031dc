/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - see workers.h. */
#include "diagnose/workers.h"

#include <string.h>

/* A worker that starts so much later than the worker before it belongs to another generation. */
#define GENERATION_NS INT64_C(1000000000)
/* Workers that lack a processor for this share of the time take it from each other. */
#define PREEMPTED_SHARE 0.1

static bool is_compiler(const struct hwy_trace *trace, const struct hwy_process *process)
{
	return first_use_is_compiler(hwy_str(trace, process->name)) ||
	       strstr(hwy_str(trace, process->command), "compile_worker") != NULL;
}

static bool is_worker(const struct hwy_case *c, uint32_t index)
{
	const struct hwy_process *process = &c->trace->processes[index];
	return process->parent == (int64_t)c->phase->process && process->start != HWY_NONE &&
	       process->start <= c->phase->window.to &&
	       (process->end == HWY_NONE || process->end >= c->phase->window.from) &&
	       !is_compiler(c->trace, process);
}

/* ns of a strip's spans of this name that lie inside the phase's window. */
static int64_t time_in_state(const struct hwy_case *c, const struct hwy_strip *strip,
			     const char *name)
{
	int64_t sum = 0;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row);
		from = from > c->phase->window.from ? from : c->phase->window.from;
		to = to < c->phase->window.to ? to : c->phase->window.to;
		if (to > from &&
		    strcmp(hwy_str(c->trace, hwy_get(strip, HWY_NAME, row)), name) == 0)
			sum += to - from;
	}
	return sum;
}

static void look_at_states(const struct hwy_case *c, struct workers *workers)
{
	struct hwy_err err;
	double window = (double)(c->phase->window.to - c->phase->window.from);
	int64_t runnable = 0, running = 0;
	if (!hwy_need(c->trace, HWY_KIND_BIT(HWY_STATE),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME), &err))
		return;
	for (uint32_t s = 0; s < c->trace->n_strips; s++) {
		const struct hwy_strip *strip = &c->trace->strips[s];
		int64_t process = c->trace->lanes[strip->lane].process;
		if (strip->kind != HWY_STATE || process < 0 || process >= c->trace->n_processes ||
		    !is_worker(c, (uint32_t)process))
			continue;
		workers->has_states = true;
		runnable += time_in_state(c, strip, "runnable");
		running += time_in_state(c, strip, "running");
	}
	if (window <= 0 || workers->n == 0)
		return;
	workers->preempted = (double)runnable / window / workers->n;
	workers->running = (double)running / window;
}

struct workers workers_find(const struct hwy_case *c)
{
	struct workers workers = {.cpus = HWY_NONE};
	const struct hwy_trace *trace = c->trace;
	int64_t newest = HWY_NONE;
	if (c->phase->process >= trace->n_processes)
		return workers;
	const struct hwy_process *own = &trace->processes[c->phase->process];
	workers.is_known = own->start != HWY_NONE;
	if (own->host >= 0 && own->host < trace->n_hosts)
		workers.cpus = trace->hosts[own->host].cpus;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		if (!is_worker(c, i))
			continue;
		int64_t start = trace->processes[i].start;
		workers.n++;
		if (newest == HWY_NONE || start > newest + GENERATION_NS)
			workers.generations++;
		newest = newest == HWY_NONE || start > newest ? start : newest;
	}
	workers.is_known |= workers.n > 0;
	if (workers.n)
		look_at_states(c, &workers);
	return workers;
}

bool workers_are_too_many(const struct workers *workers)
{
	return workers->cpus != HWY_NONE && workers->cpus > 0 && workers->n > workers->cpus &&
	       (!workers->has_states || workers->preempted >= PREEMPTED_SHARE);
}
