/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_cpu.c - what the CPU of a late rank does longer than the CPU of a rank that is in time;
 * see ranks.h.
 *
 * In the steps in which the one is late and the other is not, the time of ranges, operators,
 * functions and calls into the system is added up by name, on the threads that launch. Of the
 * names whose time grows by nearly as much as that of any, the innermost says it best: the one
 * with the least time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "job/ranks.h"

/* Names whose time grows by this share of what the fastest growing one does are candidates. */
#define NEARLY_SHARE 0.7
/* A name that grows by a smaller share of the lateness does not explain it. */
#define EXPLAINS_SHARE 0.4
enum { MOST_STEPS = 64 };

struct cpu_name {
	double ns[2];    /* of the rank in time, of the late rank */
	uint32_t span;   /* the longest one of the late rank */
	int64_t longest; /* ns */
};

struct cpu_names {
	struct hwy_index index;
	struct cpu_name *items;
	uint32_t n, cap;
	uint32_t n_steps;
};

/* From a step's first call or mark to the next step's. */
static struct hwy_interval cpu_window(const struct hwy_phase *phase, uint32_t step)
{
	struct hwy_interval at = phase->steps[step].cpu;
	if (step + 1 < phase->n_steps && phase->steps[step + 1].cpu.from > at.from)
		at.to = phase->steps[step + 1].cpu.from;
	return at;
}

static void add_span(struct cpu_names *names, const struct hwy_trace *trace,
		     const struct hwy_strip *strip, uint32_t row, int64_t ns, bool late)
{
	char key[256];
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	size_t length = name.length < sizeof key - 1 ? name.length : sizeof key - 1;
	key[0] = (char)strip->kind;
	if (length > 0)
		memcpy(key + 1, name.at, length);
	bool fresh;
	uint32_t *at = hwy_index_put(&names->index, key, length + 1, &fresh);
	if (fresh) {
		HWY_GROW(names->items, names->n, names->cap);
		*at = names->n;
		names->items[names->n++] = (struct cpu_name){0};
	}
	struct cpu_name *item = &names->items[*at];
	item->ns[late] += (double)ns;
	if (late && ns > item->longest) {
		item->longest = ns;
		item->span = strip->first + row;
	}
}

static void ranks_add_strip(struct cpu_names *names, const struct hwy_trace *trace,
			    const struct hwy_strip *strip, const struct hwy_interval *windows,
			    uint32_t n, bool late)
{
	uint32_t w = 0;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row), ns = 0;
		while (w < n && windows[w].to <= from)
			w++;
		for (uint32_t k = w; k < n && windows[k].from < to; k++) {
			int64_t a = from > windows[k].from ? from : windows[k].from;
			int64_t b = to < windows[k].to ? to : windows[k].to;
			ns += b > a ? b - a : 0;
		}
		if (ns > 0)
			add_span(names, trace, strip, row, ns, late);
	}
}

/* Whether a thread launches work in the phase; one byte a thread. */
static bool *threads_that_launch(const struct ranks_member *member)
{
	const struct hwy_flow *flow = &member->analysis->flow;
	const struct hwy_phase *phase = ranks_phase(member);
	bool *launches = hwy_zarray(flow->trace->n_threads, sizeof *launches);
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->op != FLOW_NONE && call->thread < flow->trace->n_threads &&
		    call->process == phase->process)
			launches[call->thread] = true;
	}
	return launches;
}

static bool add_rank(struct cpu_names *names, const struct ranks_member *member,
		     const struct hwy_interval *windows, uint32_t n, bool late, struct hwy_err *err)
{
	struct hwy_trace *trace = member->analysis->trace;
	bool *launches = threads_that_launch(member), done = true;
	uint32_t kinds = HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL) |
			 HWY_KIND_BIT(HWY_OS);
	for (uint32_t i = 0; i < trace->n_strips && done; i++) {
		const struct hwy_strip *strip = &trace->strips[i];
		int64_t thread = trace->lanes[strip->lane].thread;
		if (!(HWY_KIND_BIT(strip->kind) & kinds) || thread == HWY_NONE || !launches[thread])
			continue;
		done = hwy_need_strip(
			trace, i,
			HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME), err);
		if (done)
			ranks_add_strip(names, trace, strip, windows, n, late);
	}
	free(launches);
	return done;
}

/* The time of a rank's CPU for a step: with what it does before the step's first call, where
 * that made the rank late. */
static struct hwy_interval cpu_time(const struct job_ranks *ranks,
				    const struct ranks_member *members, uint32_t member,
				    uint32_t step)
{
	const struct hwy_phase *phase = ranks_phase(&members[member]);
	uint32_t own = ranks->first_step[member] + step;
	struct hwy_interval at = cpu_window(phase, own);
	if (ranks->cause.is_before)
		at.from = cpu_window(phase, own - 1).from;
	return at;
}

/* The steps in which 'late' is late and 'other' is not, as windows of both, which do not
 * overlap; yields how many. */
static uint32_t list_windows(const struct job_ranks *ranks, const struct ranks_member *members,
			     uint32_t late, uint32_t other,
			     struct hwy_interval (*windows)[MOST_STEPS])
{
	uint32_t n = 0;
	for (uint32_t s = ranks->cause.is_before; s < ranks->n_steps && n < MOST_STEPS; s++) {
		struct hwy_interval own = cpu_time(ranks, members, late, s),
				    its = cpu_time(ranks, members, other, s);
		bool overlaps = n > 0 && (own.from < windows[1][n - 1].to ||
					  its.from < windows[0][n - 1].to);
		if (!ranks_is_late(ranks, late, s) || ranks_is_late(ranks, other, s) || overlaps)
			continue;
		windows[0][n] = its;
		windows[1][n++] = own;
	}
	return n;
}

/* The rank that is least often late; ranks->n where there is none to compare with. */
static uint32_t most_punctual(const struct job_ranks *ranks, uint32_t late)
{
	uint32_t best = ranks->n;
	for (uint32_t r = 0; r < ranks->n; r++)
		if (r != late && ranks->rows[r].is_judged && ranks_meets(&ranks->rows[r]) &&
		    (best == ranks->n || ranks->rows[r].n_late < ranks->rows[best].n_late))
			best = r;
	return best;
}

static void choose_name(struct job_ranks *ranks, const struct ranks_member *members,
			const struct cpu_names *names)
{
	struct ranks_cause *cause = &ranks->cause;
	const struct cpu_name *best = NULL;
	double most = 0;
	for (uint32_t i = 0; i < names->n; i++) {
		double more = names->items[i].ns[1] - names->items[i].ns[0];
		most = more > most ? more : most;
	}
	if (most < EXPLAINS_SHARE * (double)cause->more * names->n_steps)
		return;
	for (uint32_t i = 0; i < names->n; i++) {
		const struct cpu_name *one = &names->items[i];
		if (one->ns[1] - one->ns[0] >= NEARLY_SHARE * most &&
		    (!best || one->ns[1] < best->ns[1]))
			best = one;
	}
	if (!best)
		return;
	const struct hwy_trace *trace = members[cause->member].analysis->trace;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, best->span, &row);
	cause->doing = hwy_str(trace, hwy_get(strip, HWY_NAME, row));
	cause->doing_more = (int64_t)((best->ns[1] - best->ns[0]) / names->n_steps);
	struct hwy_place place = place_of(members[cause->member].analysis->places, best->span);
	/* A line that is known says more than an operator without one. */
	bool has_line = *place.file && place.line > 0,
	     had_line = cause->has_place && *cause->place.file && cause->place.line > 0;
	if (has_line || !had_line) {
		cause->place = place;
		cause->after_line = 0;
		cause->is_before_place = false;
	}
	cause->has_place = true;
}

bool ranks_find_doing(struct job_ranks *ranks, const struct ranks_member *members,
		      struct hwy_err *err)
{
	struct hwy_interval windows[2][MOST_STEPS];
	struct cpu_names names = {0};
	uint32_t late = ranks->cause.member, other = most_punctual(ranks, late);
	names.n_steps = other < ranks->n ? list_windows(ranks, members, late, other, windows) : 0;
	bool done = names.n_steps == 0 ||
		    (add_rank(&names, &members[other], windows[0], names.n_steps, false, err) &&
		     add_rank(&names, &members[late], windows[1], names.n_steps, true, err));
	if (done && names.n > 0)
		choose_name(ranks, members, &names);
	hwy_index_free(&names.index);
	free(names.items);
	return done;
}
