/* SPDX-License-Identifier: Apache-2.0 */
/* worker_job.c - see worker_job.h. */
#include "serve/worker_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "serve/answers.h"
#include "serve/headway_series.h"
#include "serve/view_ranks.h"

bool worker_job_open(struct worker_job *ranks, struct hwy_job *job,
		     const struct ranks_member *members, const struct job_answer *answer,
		     const struct view_trace *view, struct hwy_err *err)
{
	enum {
		WANTED = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME),
	};
	for (uint32_t r = 0; r <= job->n; r++)
		if (!hwy_need(r < job->n ? job->ranks[r].trace : view->trace, UINT32_MAX, WANTED,
			      err))
			return false;
	*ranks = (struct worker_job){.job = job,
				     .members = members,
				     .answer = answer,
				     .view = view,
				     .strips = hwy_zarray(job->n, sizeof *ranks->strips)};
	for (uint32_t r = 0; r < job->n; r++)
		ranks->strips[r] =
			hwy_zarray(job->ranks[r].trace->n_strips + 1, sizeof *ranks->strips[r]);
	return true;
}

void worker_job_close(struct worker_job *ranks)
{
	for (uint32_t r = 0; ranks->strips && r < ranks->job->n; r++)
		free(ranks->strips[r]);
	free(ranks->strips);
	*ranks = (struct worker_job){0};
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* A span as the job's trace must have it. */
struct sought {
	int64_t start, end;
	struct hwy_text name;
};

static bool text_equals(struct hwy_text a, struct hwy_text b)
{
	return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static int64_t find_on_strip(const struct hwy_trace *trace, const struct hwy_strip *strip,
			     const struct sought *sought)
{
	uint32_t row = HWY_FIRST(i, 0, strip->rows, hwy_get(strip, HWY_START, i) >= sought->start);
	for (; row < strip->rows && hwy_get(strip, HWY_START, row) == sought->start; row++)
		if (hwy_end(strip, row) == sought->end &&
		    text_equals(hwy_text(trace, hwy_get(strip, HWY_NAME, row)), sought->name))
			return (int64_t)strip->first + row;
	return HWY_NONE;
}

/* Whether a strip of the job's trace may be the given one of a rank. */
static bool is_of_rank(const struct hwy_trace *trace, const struct hwy_strip *strip, int64_t rank,
		       int64_t lane_type)
{
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	return lane->type == lane_type &&
	       (lane->process == HWY_NONE || trace->processes[lane->process].rank == rank);
}

int64_t worker_job_span(struct worker_job *ranks, uint32_t member, uint32_t span)
{
	const struct job_recording *rank = &ranks->job->ranks[member];
	const struct hwy_trace *trace = ranks->view->trace, *own = rank->trace;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(own, span, &row);
	uint32_t *known = &ranks->strips[member][strip - own->strips];
	const struct sought sought = {
		.start = job_clock_map(&rank->clock, hwy_get(strip, HWY_START, row)),
		.end = job_clock_map(&rank->clock, hwy_end(strip, row)),
		.name = hwy_text(own, hwy_get(strip, HWY_NAME, row)),
	};
	if (*known)
		return find_on_strip(trace, &trace->strips[*known - 1], &sought);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		int64_t found = HWY_NONE;
		if (trace->strips[s].kind == strip->kind && trace->strips[s].rows == strip->rows &&
		    is_of_rank(trace, &trace->strips[s], rank->rank, own->lanes[strip->lane].type))
			found = find_on_strip(trace, &trace->strips[s], &sought);
		if (found != HWY_NONE) {
			*known = s + 1;
			return found;
		}
	}
	return HWY_NONE;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* The index of a member among the view's ranks; RANKS_NOBODY where it is none. */
static uint32_t rank_index(const struct worker_job *ranks, uint32_t member)
{
	const struct view_trace *view = ranks->view;
	int64_t number = ranks->job->ranks[member].rank;
	uint32_t at = HWY_FIRST(i, 0, view->n_ranks, view->ranks[i] >= number);
	return at < view->n_ranks && view->ranks[at] == number ? at : RANKS_NOBODY;
}

int64_t worker_job_union(const struct worker_job *ranks, uint32_t member)
{
	const struct view_trace *view = ranks->view;
	uint32_t index = rank_index(ranks, member);
	return index != RANKS_NOBODY && ranks_shares_device(view, index)
		       ? (int64_t)view->trace->n_devices + index
		       : HWY_NONE;
}

/* Yields the number under which the viewer shows what is about a device of a rank's flow;
 * HWY_NONE where it does not. */
static int64_t shown_device(struct worker_job *ranks, uint32_t member, const uint32_t *owners,
			    uint32_t number)
{
	const struct hwy_flow *flow = &ranks->members[member].analysis->flow;
	const struct hwy_trace *trace = ranks->view->trace;
	uint32_t first = flow->devices[number].first, row;
	if (flow->devices[number].n == 0)
		return HWY_NONE;
	uint32_t op = flow->by_device ? flow->by_device[first] : first;
	int64_t span = worker_job_span(ranks, member, flow->ops[op].span);
	if (span == HWY_NONE)
		return HWY_NONE;
	int64_t device = trace->lanes[hwy_strip_of(trace, (uint32_t)span, &row)->lane].device;
	if (device != HWY_NONE && owners[device] == RANKS_SHARED)
		return worker_job_union(ranks, member);
	return device;
}

static void add_gap(struct worker_job *ranks, uint32_t member, const struct hwy_gap *gap,
		    uint8_t device, struct annotations *all)
{
	const struct hwy_flow *flow = &ranks->members[member].analysis->flow;
	const struct job_clock *clock = &ranks->job->ranks[member].clock;
	uint32_t blamed =
		gap->culprit != FLOW_NONE ? hwy_ref32(flow->calls[gap->culprit].span) : gap->span;
	int64_t span = blamed ? worker_job_span(ranks, member, blamed - 1) : HWY_NONE;
	HWY_GROW(all->v, all->n, all->cap);
	struct annotation *added = &all->v[all->n++];
	memset(added, 0, sizeof *added);
	added->from = job_clock_map(clock, gap->at.from) - ranks->view->origin;
	added->to = job_clock_map(clock, gap->at.to) - ranks->view->origin;
	added->span_ref = span == HWY_NONE ? 0 : hwy_ref32((uint32_t)span);
	added->cause = gap->cause;
	added->device = device;
}

void worker_job_add_gaps(struct worker_job *ranks, struct annotations *all)
{
	uint32_t *owners = hwy_array(ranks->view->trace->n_devices, sizeof *owners);
	ranks_find_owners(ranks->view, owners);
	for (uint32_t r = 0; r < ranks->job->n; r++) {
		const struct hwy_analysis *analysis = ranks->members[r].analysis;
		int64_t *shown = hwy_array(analysis->flow.n_devices, sizeof *shown);
		for (uint32_t d = 0; d < analysis->flow.n_devices; d++)
			shown[d] = shown_device(ranks, r, owners, d);
		for (uint32_t p = 0; p < analysis->phases.n; p++) {
			const struct hwy_gaps *gaps = &analysis->measures[p].gaps;
			for (uint32_t i = 0; i < gaps->n; i++) {
				int64_t device = shown[gaps->gaps[i].device];
				if (device >= 0 && device <= UINT8_MAX)
					add_gap(ranks, r, &gaps->gaps[i], (uint8_t)device, all);
			}
		}
		free(shown);
	}
	free(owners);
}

/* ---- headway --------------------------------------------------------------------------------- */

static int64_t map_of_rank(const void *clock, int64_t time)
{
	return job_clock_map(clock, time);
}

void worker_job_add_headway(struct worker_job *ranks, struct hwy_bytes *series)
{
	for (uint32_t r = 0; r < ranks->job->n; r++) {
		int64_t device = worker_job_union(ranks, r);
		const struct headway_clock clock = {.map = map_of_rank,
						    .self = &ranks->job->ranks[r].clock,
						    .origin = ranks->view->origin};
		if (device != HWY_NONE)
			headway_series_write(ranks->members[r].analysis, &clock, device, series);
	}
}
