/* SPDX-License-Identifier: Apache-2.0 */
/* job_clocks.c - finds how the clock of each rank stands to that of the first rank; see job_clock.h.
 *
 * Ranks are placed on the first rank's clock one after the other, each by the surest thing that ties it to a rank that has
 * its place: one CLOCK_MONOTONIC, then pings, then the ends of collectives, then the wall clocks. Ends of collectives are
 * matched more than once: a drift that one match reveals lets the next find more of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/clock_line.h"
#include "job/clock_repair.h"
#include "job/job_meetings.h"

/* The wall clocks of two recordings from one host are one clock, but for what the recorders' conversions take. */
#define ONE_WALL_CLOCK_NS 100000

struct placing {
	struct hwy_job *job;
	bool *is_placed;
	struct job_meetings meetings;
	bool has_meetings;
};

/* ---- one clock ---------------------------------------------------------------------------------- */

/* Where time 0 of the report lies on the CLOCK_MONOTONIC that it was recorded with, and which clock that is. */
struct own_clock {
	const char *id;
	int64_t epoch;
};

static bool own_clock_of(const struct hwy_trace *trace, struct own_clock *own)
{
	const char *epoch = hwy_property(trace, "clock.epoch_ns");
	char *end;
	own->id = hwy_property(trace, "clock.id");
	if (!own->id || !epoch)
		return false;
	own->epoch = strtoll(epoch, &end, 10);
	return *epoch && !*end && own->epoch > -HWY_TIME_LIMIT && own->epoch < HWY_TIME_LIMIT;
}

/* Places a rank that reads the clock of a rank which has its place already. */
static bool place_by_clock(struct placing *p, uint32_t r)
{
	struct job_recording *rank = &p->job->ranks[r];
	struct own_clock own, other;
	if (!own_clock_of(rank->trace, &own))
		return false;
	for (uint32_t q = 0; q < p->job->n; q++) {
		const struct job_recording *placed = &p->job->ranks[q];
		if (!p->is_placed[q] || !own_clock_of(placed->trace, &other) ||
		    strcmp(own.id, other.id) != 0)
			continue;
		int64_t apart = own.epoch - other.epoch;
		rank->clock = placed->clock;
		rank->clock.at -= apart;
		rank->clock.shift += apart;
		return true;
	}
	return false;
}

/* ---- comparisons of clocks ---------------------------------------------------------------------- */

struct point_list {
	struct clock_point *items;
	uint32_t n, cap;
};

static void add_point(struct point_list *list, int64_t time, int64_t on_first, int64_t error)
{
	HWY_GROW(list->items, list->n, list->cap);
	list->items[list->n++] = (struct clock_point){time, on_first - time, error};
}

/* When the rank was recorded, on its own clock. */
static bool recorded_extent(struct hwy_trace *trace, struct hwy_interval *extent,
			    struct hwy_err *err)
{
	*extent = (struct hwy_interval){0};
	if (!hwy_need(trace, UINT32_MAX, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err))
		return false;
	hwy_extent(trace, UINT32_MAX, &extent->from, &extent->to);
	return true;
}

/* The pings that a rank made to a placed rank, and those that the placed rank made to it. */
static void list_pings(const struct job_recording *rank, const struct job_recording *placed,
		       struct point_list *list)
{
	struct own_clock own, other;
	if (!own_clock_of(rank->trace, &own) || !own_clock_of(placed->trace, &other))
		return;
	for (uint32_t i = 0; i < rank->trace->n_pings; i++) {
		const struct hwy_ping *ping = &rank->trace->pings[i];
		if (ping->peer == placed->rank && ping->error >= 0 && ping->time != HWY_NONE)
			add_point(list, ping->time,
				  job_clock_map(&placed->clock, ping->peer_time - other.epoch),
				  ping->error);
	}
	for (uint32_t i = 0; i < placed->trace->n_pings; i++) {
		const struct hwy_ping *ping = &placed->trace->pings[i];
		if (ping->peer == rank->rank && ping->error >= 0 && ping->time != HWY_NONE)
			add_point(list, ping->peer_time - own.epoch,
				  job_clock_map(&placed->clock, ping->time), ping->error);
	}
}

/* The error of the placed rank's own clock adds to that of the comparison. */
static void finish_clock(struct job_recording *rank, const struct job_recording *placed,
			 enum job_clock_source source)
{
	rank->clock.source = source;
	rank->clock.error = placed->clock.error == HWY_NONE
				    ? HWY_NONE
				    : rank->clock.error + placed->clock.error;
}

static bool place_by_pings(struct placing *p, uint32_t r, bool *is_placed, struct hwy_err *err)
{
	struct job_recording *rank = &p->job->ranks[r];
	for (uint32_t q = 0; q < p->job->n && !*is_placed; q++) {
		struct point_list list = {0};
		struct hwy_interval extent;
		if (p->is_placed[q])
			list_pings(rank, &p->job->ranks[q], &list);
		bool done = list.n == 0 || recorded_extent(rank->trace, &extent, err);
		if (done && list.n > 0 &&
		    clock_line_of_measured(&rank->clock, list.items, list.n, extent)) {
			finish_clock(rank, &p->job->ranks[q], JOB_CLOCK_PINGS);
			*is_placed = true;
		}
		free(list.items);
		if (!done)
			return false;
	}
	return true;
}

/* The ends of the collectives that the two ranks have in common; of operations with a root they say nothing. */
static void list_ends(const struct placing *p, uint32_t r, uint32_t placed, struct point_list *list)
{
	const struct hwy_collectives *c = &p->meetings.collectives;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct meeting_part *own = NULL, *other = NULL;
		for (uint32_t k = c->meetings[i].first; k < c->meetings[i].first + c->meetings[i].n;
		     k++) {
			own = c->parts[k].rank == r ? &c->parts[k] : own;
			other = c->parts[k].rank == placed ? &c->parts[k] : other;
		}
		if (own && other && c->meetings[i].kind == EXCHANGE_ALL)
			add_point(list, own->at.to,
				  job_clock_map(&p->job->ranks[placed].clock, other->at.to), 0);
	}
}

/* Against the placed rank with which it has most collectives in common. */
static bool place_by_ends(struct placing *p, uint32_t r, bool *is_placed, struct hwy_err *err)
{
	struct job_recording *rank = &p->job->ranks[r];
	struct point_list best = {0};
	uint32_t with = 0;
	for (uint32_t q = 0; q < p->job->n; q++) {
		struct point_list list = {0};
		if (p->is_placed[q] && q != r)
			list_ends(p, r, q, &list);
		if (list.n > best.n) {
			struct point_list swap = best;
			best = list;
			list = swap;
			with = q;
		}
		free(list.items);
	}
	struct hwy_interval extent;
	bool done = best.n == 0 || recorded_extent(rank->trace, &extent, err);
	if (done && best.n > 0 && clock_line_of_noisy(&rank->clock, best.items, best.n, extent)) {
		finish_clock(rank, &p->job->ranks[with], JOB_CLOCK_COLLECTIVES);
		*is_placed = true;
	}
	free(best.items);
	return done;
}

static bool place_by_wall(struct placing *p, uint32_t r)
{
	const struct job_recording *first = &p->job->ranks[0];
	struct job_recording *rank = &p->job->ranks[r];
	int64_t apart;
	if (first->trace->wall == HWY_NONE || rank->trace->wall == HWY_NONE ||
	    __builtin_sub_overflow(rank->trace->wall, first->trace->wall, &apart) ||
	    llabs(apart) >= HWY_TIME_LIMIT)
		return false;
	bool is_one = *job_host(first) && strcmp(job_host(first), job_host(rank)) == 0;
	rank->clock = (struct job_clock){.source = JOB_CLOCK_WALL,
					 .shift = apart,
					 .error = is_one ? ONE_WALL_CLOCK_NS : HWY_NONE};
	return true;
}

/* ---- all ranks ---------------------------------------------------------------------------------- */

/* Places ranks by clocks and pings until nothing ties another one to those that have their place. */
static bool place_by_measures(struct placing *p, struct hwy_err *err)
{
	for (bool moved = true; moved;) {
		moved = false;
		for (uint32_t r = 0; r < p->job->n; r++) {
			if (p->is_placed[r])
				continue;
			p->is_placed[r] = place_by_clock(p, r);
			if (!p->is_placed[r] && !place_by_pings(p, r, &p->is_placed[r], err))
				return false;
			moved |= p->is_placed[r];
		}
	}
	return true;
}

static bool is_complete(const struct placing *p)
{
	uint32_t r = 0;
	while (r < p->job->n && p->is_placed[r])
		r++;
	return r == p->job->n;
}

static bool find_meetings(struct placing *p, bool has_clocks, struct hwy_err *err)
{
	if (p->has_meetings)
		return job_meetings_match(&p->meetings, has_clocks, err);
	p->has_meetings = job_meetings_find(&p->meetings, p->job, has_clocks, err);
	return p->has_meetings;
}

/* Places one rank after the other by ends of collectives; each may tie others to itself by clock or pings. */
static bool place_by_collectives(struct placing *p, struct hwy_err *err)
{
	for (uint32_t r = 0; r < p->job->n;) {
		bool was_placed = p->is_placed[r];
		if (!was_placed && !place_by_ends(p, r, &p->is_placed[r], err))
			return false;
		if (!was_placed && p->is_placed[r] && !place_by_measures(p, err))
			return false;
		r = was_placed || !p->is_placed[r] ? r + 1 : 0;
	}
	return true;
}

/* Once all clocks are known roughly, more ends can be matched, and the lines through them are surer. *more: some line now
 * goes through more ends. */
static bool place_again(struct placing *p, bool *more, struct hwy_err *err)
{
	*more = false;
	if (!find_meetings(p, true, err))
		return false;
	for (uint32_t r = 1; r < p->job->n; r++) {
		struct job_clock *clock = &p->job->ranks[r].clock, before = *clock;
		bool is_placed = false;
		if (before.source != JOB_CLOCK_COLLECTIVES)
			continue;
		p->is_placed[r] = false;
		if (!place_by_ends(p, r, &is_placed, err))
			return false;
		if (!is_placed || clock->n < before.n)
			*clock = before;
		*more |= clock->n > before.n;
		p->is_placed[r] = true;
	}
	return true;
}

static void place_the_rest(struct placing *p)
{
	for (uint32_t r = 0; r < p->job->n; r++) {
		struct job_recording *rank = &p->job->ranks[r];
		if (p->is_placed[r])
			continue;
		if (place_by_wall(p, r)) {
			if (rank->clock.error == HWY_NONE)
				job_problem(
					p->job,
					"rank %" PRId64
					": only the wall clocks tell how its times stand to rank %" PRId64
					"'s",
					rank->rank, p->job->ranks[0].rank);
			continue;
		}
		rank->clock = (struct job_clock){.source = JOB_CLOCK_UNKNOWN, .error = HWY_NONE};
		job_problem(p->job,
			    "rank %" PRId64 ": nothing tells how its clock stands to rank %" PRId64
			    "'s",
			    rank->rank, p->job->ranks[0].rank);
	}
}

static bool place_all(struct placing *p, struct hwy_err *err)
{
	p->job->ranks[0].clock = (struct job_clock){.source = JOB_CLOCK_SAME};
	p->is_placed[0] = true;
	if (!place_by_measures(p, err))
		return false;
	bool needs_ends = !is_complete(p);
	if (needs_ends && (!find_meetings(p, false, err) || !place_by_collectives(p, err)))
		return false;
	place_the_rest(p);
	enum { MOST_ROUNDS = 8 };
	bool more = needs_ends, done = true;
	for (int i = 0; i < MOST_ROUNDS && more && done; i++)
		done = place_again(p, &more, err);
	return done;
}

bool job_clocks_find(struct hwy_job *job, struct hwy_err *err)
{
	struct placing p = {.job = job, .is_placed = hwy_zarray(job->n, sizeof *p.is_placed)};
	bool done = place_all(&p, err);
	if (p.has_meetings)
		job_meetings_free(&p.meetings);
	free(p.is_placed);
	return done && clock_repair(job, err);
}
