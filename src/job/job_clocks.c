/* SPDX-License-Identifier: Apache-2.0 */
/* job_clocks.c - finds how the clock of each rank stands to that of the first rank; see
 * job_clock.h.
 *
 * Ranks are placed on the first rank's clock one after the other, each by the surest thing that
 * ties it to a rank that has its place: one CLOCK_MONOTONIC, then pings, then the ends of
 * collectives, then the wall clocks. Ends of collectives are matched more than once: a drift
 * that one match reveals lets the next find more of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "job/clock_line.h"
#include "job/clock_repair.h"
#include "job/job_meetings.h"

/* The wall clocks of two recordings from one host are one clock, but for what the recorders'
 * conversions take. */
#define ONE_WALL_CLOCK_NS 100000

struct placing {
	struct hwy_job *job;
	bool *is_placed;
	struct job_meetings meetings;
	bool has_meetings;
};

/* ---- one clock ------------------------------------------------------------------------------- */

/* Where time 0 of the report lies on the CLOCK_MONOTONIC that it was recorded with, and which
 * clock that is. */
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

/* ---- comparisons of clocks ------------------------------------------------------------------- */

struct comparisons { /* of a rank with one that is placed */
	struct clock_bound *bounds;
	struct clock_point *points;
	uint32_t n_bounds, cap_bounds, n_points, cap_points;
};

static void add_bound(struct comparisons *c, int64_t time, int64_t low, int64_t high)
{
	HWY_GROW(c->bounds, c->n_bounds, c->cap_bounds);
	c->bounds[c->n_bounds++] = (struct clock_bound){time, low, high};
}

static void add_bounds(struct comparisons *c, const struct comparisons *more)
{
	for (uint32_t i = 0; i < more->n_bounds; i++)
		add_bound(c, more->bounds[i].time, more->bounds[i].low, more->bounds[i].high);
}

static void comparisons_free(struct comparisons *c)
{
	free(c->bounds);
	free(c->points);
	*c = (struct comparisons){0};
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

/* Widens the bounds that came from a placed rank by what that rank's clock may be wrong. */
static void widen_bounds(struct comparisons *c, int64_t error)
{
	for (uint32_t i = 0; i < c->n_bounds; i++) {
		if (c->bounds[i].low != CLOCK_OPEN_LOW)
			c->bounds[i].low -= error;
		if (c->bounds[i].high != CLOCK_OPEN_HIGH)
			c->bounds[i].high += error;
	}
}

/* The pings that a rank made to a placed rank, and those that the placed rank made to it. */
static void list_pings(const struct job_recording *rank, const struct job_recording *placed,
		       struct comparisons *c)
{
	struct own_clock own, other;
	if (!own_clock_of(rank->trace, &own) || !own_clock_of(placed->trace, &other))
		return;
	for (uint32_t i = 0; i < rank->trace->n_pings; i++) {
		const struct hwy_ping *ping = &rank->trace->pings[i];
		if (ping->peer != placed->rank || ping->error < 0 || ping->time == HWY_NONE)
			continue;
		int64_t offset =
			job_clock_map(&placed->clock, ping->peer_time - other.epoch) - ping->time;
		add_bound(c, ping->time, offset - ping->error, offset + ping->error);
	}
	for (uint32_t i = 0; i < placed->trace->n_pings; i++) {
		const struct hwy_ping *ping = &placed->trace->pings[i];
		if (ping->peer != rank->rank || ping->error < 0 || ping->time == HWY_NONE)
			continue;
		int64_t time = ping->peer_time - own.epoch;
		int64_t offset = job_clock_map(&placed->clock, ping->time) - time;
		add_bound(c, time, offset - ping->error, offset + ping->error);
	}
}

/* Compares two parts of one collective. Their ends lie together; and neither ends before the
 * other has begun. */
static void compare_parts(struct comparisons *c, const struct meeting_part *own,
			  const struct meeting_part *other, const struct job_clock *clock)
{
	int64_t begin = job_clock_map(clock, other->at.from),
		end = job_clock_map(clock, other->at.to);
	HWY_GROW(c->points, c->n_points, c->cap_points);
	c->points[c->n_points++] = (struct clock_point){own->at.to, end - own->at.to};
	add_bound(c, own->at.to, begin - own->at.to, CLOCK_OPEN_HIGH);
	add_bound(c, own->at.from, CLOCK_OPEN_LOW, end - own->at.from);
}

/* The collectives that the two ranks have in common; those with a root say nothing about clocks. */
static void list_ends(const struct placing *p, uint32_t r, uint32_t placed, struct comparisons *c)
{
	const struct hwy_collectives *all = &p->meetings.collectives;
	for (uint32_t i = 0; i < all->n; i++) {
		const struct hwy_meeting *meeting = &all->meetings[i];
		const struct meeting_part *own = NULL, *other = NULL;
		for (uint32_t k = meeting->first; k < meeting->first + meeting->n; k++) {
			own = all->parts[k].rank == r ? &all->parts[k] : own;
			other = all->parts[k].rank == placed ? &all->parts[k] : other;
		}
		if (own && other && meeting->kind == EXCHANGE_ALL)
			compare_parts(c, own, other, &p->job->ranks[placed].clock);
	}
}

/* The messages between the two ranks: none is received before it was sent. */
static void list_messages(const struct placing *p, uint32_t r, uint32_t placed,
			  struct comparisons *c)
{
	const struct job_recording *rank = &p->job->ranks[r], *other = &p->job->ranks[placed];
	for (uint32_t i = 0; i < p->meetings.p2p.n; i++) {
		const struct p2p_pair *pair = &p->meetings.p2p.pairs[i];
		bool is_to = pair->sender == placed && pair->receiver == r;
		if (!is_to && !(pair->sender == r && pair->receiver == placed))
			continue;
		const struct hwy_trace *from = is_to ? other->trace : rank->trace;
		const struct hwy_trace *to = is_to ? rank->trace : other->trace;
		int64_t sent = exchange_times(from, &from->messages[pair->send]).post;
		int64_t received = exchange_times(to, &to->messages[pair->receive]).call.to;
		if (is_to)
			add_bound(c, received, job_clock_map(&other->clock, sent) - received,
				  CLOCK_OPEN_HIGH);
		else
			add_bound(c, sent, CLOCK_OPEN_LOW,
				  job_clock_map(&other->clock, received) - sent);
	}
}

/* Compares a rank with all placed ranks. The points are those of *with, the placed rank with
 * which it has most collectives in common: the ends of different ranks do not lie on one line. */
static void compare_all(const struct placing *p, uint32_t r, struct comparisons *c, uint32_t *with)
{
	for (uint32_t q = 0; q < p->job->n; q++) {
		const struct job_clock *clock = &p->job->ranks[q].clock;
		struct comparisons one = {0};
		if (!p->is_placed[q] || q == r || clock->error == HWY_NONE)
			continue;
		list_ends(p, r, q, &one);
		list_messages(p, r, q, &one);
		widen_bounds(&one, clock->error);
		add_bounds(c, &one);
		if (one.n_points > c->n_points) {
			free(c->points);
			c->points = one.points;
			c->n_points = one.n_points;
			one.points = NULL;
			*with = q;
		}
		comparisons_free(&one);
	}
}

/* The line through the ends of collectives, or the one within the bounds of all exchanges: what
 * is surer, and the second where the first would let something end before it began. 'error' is
 * that of the rank whose ends are compared. */
static bool line_of_exchanges(struct job_clock *clock, const struct comparisons *c, int64_t error,
			      struct hwy_interval extent)
{
	struct job_clock bounded, middle;
	bool has_middle = clock_line_of_points(&middle, c->points, c->n_points, extent);
	bool is_bounded = clock_line_of_bounds(&bounded, c->bounds, c->n_bounds, extent);
	if (!has_middle && !is_bounded)
		return false;
	middle.error += has_middle ? error : 0;
	bool takes_bounded = is_bounded && (!has_middle || bounded.error < middle.error ||
					    !clock_line_is_within(&middle, c->bounds, c->n_bounds));
	*clock = takes_bounded ? bounded : middle;
	clock->source = JOB_CLOCK_COLLECTIVES;
	clock->n = c->n_points > 0 ? c->n_points : c->n_bounds;
	return true;
}

static bool place_by_ends(struct placing *p, uint32_t r, bool *is_placed, struct hwy_err *err)
{
	struct job_recording *rank = &p->job->ranks[r];
	struct comparisons all = {0};
	uint32_t with = 0;
	compare_all(p, r, &all, &with);
	struct hwy_interval extent;
	bool done = all.n_bounds == 0 || recorded_extent(rank->trace, &extent, err);
	if (done && all.n_bounds > 0)
		*is_placed |= line_of_exchanges(&rank->clock, &all, p->job->ranks[with].clock.error,
						extent);
	comparisons_free(&all);
	return done;
}

static bool find_meetings(struct placing *p, bool has_clocks, struct hwy_err *err)
{
	if (p->has_meetings)
		return job_meetings_match(&p->meetings, has_clocks, err);
	p->has_meetings = job_meetings_find(&p->meetings, p->job, has_clocks, err);
	return p->has_meetings;
}

/* By pings, and by what the ranks exchange where that agrees with them. */
static bool place_by_pings(struct placing *p, uint32_t r, bool *is_placed, struct hwy_err *err)
{
	struct job_recording *rank = &p->job->ranks[r];
	struct comparisons pings = {0}, all = {0};
	struct hwy_interval extent;
	uint32_t with;
	for (uint32_t q = 0; q < p->job->n; q++) {
		const struct job_recording *placed = &p->job->ranks[q];
		struct comparisons one = {0};
		if (!p->is_placed[q] || placed->clock.error == HWY_NONE)
			continue;
		list_pings(rank, placed, &one);
		widen_bounds(&one, placed->clock.error);
		add_bounds(&pings, &one);
		comparisons_free(&one);
	}
	bool done = pings.n_bounds == 0 || (recorded_extent(rank->trace, &extent, err) &&
					    (p->has_meetings || find_meetings(p, false, err)));
	if (done && pings.n_bounds > 0) {
		add_bounds(&all, &pings);
		compare_all(p, r, &all, &with);
		*is_placed =
			clock_line_of_bounds(&rank->clock, all.bounds, all.n_bounds, extent) ||
			clock_line_of_bounds(&rank->clock, pings.bounds, pings.n_bounds, extent);
		rank->clock.source = JOB_CLOCK_PINGS;
		rank->clock.n = pings.n_bounds;
	}
	comparisons_free(&pings);
	comparisons_free(&all);
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

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Places ranks by clocks and pings until nothing ties another one to those that have their
 * place. */
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

/* Places one rank after the other by ends of collectives; each may tie others to itself by clock
 * or pings. */
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

/* Once all clocks are known roughly, more ends can be matched, and the lines through them are
 * surer. *more: some line now goes through more ends. */
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

/* Says of the ranks with this source, and no known error, what is wrong with their clocks. */
static void tell_unsure(struct hwy_job *job, enum job_clock_source source, const char *what)
{
	int64_t *ranks = hwy_array(job->n, sizeof *ranks);
	uint32_t n = 0;
	for (uint32_t r = 0; r < job->n; r++)
		if (job->ranks[r].clock.source == source && job->ranks[r].clock.error == HWY_NONE)
			ranks[n++] = job->ranks[r].rank;
	if (n > 0) {
		char *list = job_rank_list(ranks, n);
		job_problem(job, "rank%s %s: %s rank %" PRId64 "'s", n == 1 ? "" : "s", list,
			    hwy_tr(what), job->ranks[0].rank);
		free(list);
	}
	free(ranks);
}

static void place_the_rest(struct placing *p)
{
	for (uint32_t r = 0; r < p->job->n; r++)
		if (!p->is_placed[r] && !place_by_wall(p, r))
			p->job->ranks[r].clock =
				(struct job_clock){.source = JOB_CLOCK_UNKNOWN, .error = HWY_NONE};
	tell_unsure(p->job, JOB_CLOCK_WALL,
		    HWY_KEY("only the wall clocks tell how their times stand to"));
	tell_unsure(p->job, JOB_CLOCK_UNKNOWN, HWY_KEY("nothing tells how their clocks stand to"));
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
