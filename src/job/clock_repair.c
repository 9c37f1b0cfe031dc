/* SPDX-License-Identifier: Apache-2.0 */
/* clock_repair.c - see clock_repair.h. A controlled logical clock.
 *
 * The events of each rank, in order of time, either feed a gate (a send, an arrival at a
 * collective) or wait for one (the end of a receive, the departure from a collective). A gate
 * opens when all that feed it have happened, at the latest of their times. All ranks are gone
 * through together, so that an event is looked at after everything that it depends on. An event
 * that waits and would come before its gate is moved to the gate's time, and so are the later
 * events of the rank, by less and less: the clock then runs slower by 1 / RECOVERY until the
 * correction is used up.
 */
#include "job/clock_repair.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/say.h"
#include "job/job_meetings.h"

enum { RECOVERY = 100 };
/* How far the two sides of an exchange may be in conflict before the match is doubted: this many
 * times the claimed errors, and so many ns. */
#define DOUBT_TIMES 4
#define DOUBT_NS 1000000
/* Wall clocks that nobody keeps in step are not farther apart than this. */
#define WALL_ERROR_NS 1000000000

#define NO_GATE UINT32_MAX

struct repair_event {
	int64_t time; /* on the first rank's clock, before the repair */
	uint32_t gate;
	bool waits; /* else it feeds the gate */
};

struct repair_gate {
	uint32_t missing; /* events that must still feed it */
	int64_t time, error;
};

struct repair_rank {
	struct repair_event *events;
	uint32_t n, cap, next;
	int64_t last, later; /* time and correction of the event before */
	struct job_repair *repairs;
	uint32_t n_repairs, cap_repairs;
	int64_t error;
	bool is_unknown; /* its times cannot be compared with those of others */
};

struct repairing {
	struct repair_rank *ranks;
	uint32_t n;
	struct repair_gate *gates;
	uint32_t n_gates, cap_gates;
	uint32_t n_repaired, n_doubted;
	int64_t worst;
};

/* ---- events and gates ------------------------------------------------------------------------ */

static uint32_t add_gate(struct repairing *r)
{
	HWY_GROW(r->gates, r->n_gates, r->cap_gates);
	r->gates[r->n_gates] = (struct repair_gate){.time = INT64_MIN};
	return r->n_gates++;
}

static void add_repair_event(struct repairing *r, uint32_t rank, int64_t time, uint32_t gate,
			     bool waits)
{
	struct repair_rank *to = &r->ranks[rank];
	if (to->is_unknown)
		return;
	HWY_GROW(to->events, to->n, to->cap);
	to->events[to->n++] = (struct repair_event){time, gate, waits};
	r->gates[gate].missing += !waits;
}

static void add_collectives(struct repairing *r, const struct hwy_job *job,
			    const struct hwy_collectives *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct hwy_meeting *meeting = &c->meetings[i];
		bool is_from = meeting->kind == EXCHANGE_FROM_ROOT;
		bool is_to = meeting->kind == EXCHANGE_TO_ROOT;
		if ((meeting->kind != EXCHANGE_ALL && !is_from && !is_to) ||
		    ((is_from || is_to) && meeting->root == FLOW_NONE))
			continue;
		uint32_t gate = add_gate(r);
		for (uint32_t k = meeting->first; k < meeting->first + meeting->n; k++) {
			const struct meeting_part *part = &c->parts[k];
			const struct job_clock *clock = &job->ranks[part->rank].clock;
			bool is_root = k == meeting->root;
			if (is_from ? is_root : !(is_to && is_root))
				add_repair_event(r, part->rank, job_clock_map(clock, part->at.from),
						 gate, false);
			if (is_to ? is_root : !(is_from && is_root))
				add_repair_event(r, part->rank, job_clock_map(clock, part->at.to),
						 gate, true);
		}
	}
}

static void add_messages(struct repairing *r, const struct hwy_job *job, const struct hwy_p2p *p2p)
{
	for (uint32_t i = 0; i < p2p->n; i++) {
		const struct p2p_pair *pair = &p2p->pairs[i];
		const struct job_recording *sender = &job->ranks[pair->sender];
		const struct job_recording *receiver = &job->ranks[pair->receiver];
		struct exchange_times sent =
			exchange_times(sender->trace, &sender->trace->messages[pair->send]);
		struct exchange_times received =
			exchange_times(receiver->trace, &receiver->trace->messages[pair->receive]);
		if (pair->sender == pair->receiver)
			continue;
		uint32_t gate = add_gate(r);
		add_repair_event(r, pair->sender, job_clock_map(&sender->clock, sent.post), gate,
				 false);
		add_repair_event(r, pair->receiver,
				 job_clock_map(&receiver->clock, received.call.to), gate, true);
	}
}

static int repair_by_time(const void *left, const void *right)
{
	const struct repair_event *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->waits - b->waits; /* what feeds comes first: it must not wait for its neighbour */
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Keeps the correction as a point of the rank's clock, where it is one or ends one. */
static void note_repair(struct repair_rank *rank, int64_t time, int64_t later)
{
	struct job_repair *last = rank->n_repairs ? &rank->repairs[rank->n_repairs - 1] : NULL;
	if (last && last->time == time) {
		last->later = later > last->later ? later : last->later;
		return;
	}
	HWY_GROW(rank->repairs, rank->n_repairs, rank->cap_repairs);
	rank->repairs[rank->n_repairs++] = (struct job_repair){time, later};
}

static void repair_event(struct repairing *r, struct repair_rank *rank,
			 const struct repair_event *event)
{
	struct repair_gate *gate = &r->gates[event->gate];
	int64_t used = rank->later > 0 ? (event->time - rank->last) / RECOVERY : 0;
	int64_t later = rank->later > used ? rank->later - used : 0;
	if (!event->waits) {
		gate->missing--;
		gate->time = event->time + later > gate->time ? event->time + later : gate->time;
		gate->error = rank->error > gate->error ? rank->error : gate->error;
	} else if (gate->missing == 0 && gate->time > event->time + later) {
		int64_t early = gate->time - event->time;
		if (early > DOUBT_TIMES * (rank->error + gate->error) + DOUBT_NS) {
			r->n_doubted++;
		} else {
			r->n_repaired++;
			r->worst = early - later > r->worst ? early - later : r->worst;
			later = early;
		}
	}
	if (rank->later > 0 || later > 0) {
		if (rank->n_repairs == 0 || rank->repairs[rank->n_repairs - 1].time < rank->last)
			note_repair(rank, rank->last, rank->later);
		note_repair(rank, event->time, later);
	}
	rank->last = event->time;
	rank->later = later;
}

/* Goes through a rank's events until one waits for a gate that is not open yet; yields whether
 * any was passed. */
static bool pass_events(struct repairing *r, struct repair_rank *rank)
{
	uint32_t from = rank->next;
	while (rank->next < rank->n) {
		const struct repair_event *event = &rank->events[rank->next];
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an event names a gate */
		if (event->waits && r->gates[event->gate].missing > 0)
			break;
		if (rank->next == 0)
			rank->last = event->time;
		repair_event(r, rank, event);
		rank->next++;
	}
	return rank->next > from;
}

/* Where every rank waits for another, some exchange was matched wrongly: the earliest event that
 * waits does not. */
static bool pass_one(struct repairing *r)
{
	struct repair_rank *first = NULL;
	for (uint32_t i = 0; i < r->n; i++) {
		struct repair_rank *rank = &r->ranks[i];
		if (rank->next < rank->n &&
		    (!first || rank->events[rank->next].time < first->events[first->next].time))
			first = rank;
	}
	if (!first)
		return false;
	repair_event(r, first, &first->events[first->next]);
	first->next++;
	r->n_doubted++;
	return true;
}

static void sweep(struct repairing *r)
{
	for (bool moved = true; moved;) {
		moved = false;
		for (uint32_t i = 0; i < r->n; i++)
			moved |= pass_events(r, &r->ranks[i]);
		if (!moved)
			moved = pass_one(r);
	}
}

/* ---- the job --------------------------------------------------------------------------------- */

static bool is_one_clock(const struct hwy_job *job)
{
	uint32_t r = 0;
	while (r < job->n && job->ranks[r].clock.source == JOB_CLOCK_SAME)
		r++;
	return r == job->n;
}

static bool exchanges(const struct hwy_job *job)
{
	uint32_t r = 0;
	while (r < job->n && job->ranks[r].trace->n_messages == 0)
		r++;
	return r < job->n;
}

static void take_repairs(struct repairing *r, struct hwy_job *job)
{
	for (uint32_t i = 0; i < r->n; i++) {
		job->ranks[i].clock.repairs = r->ranks[i].repairs;
		job->ranks[i].clock.n_repairs = r->ranks[i].n_repairs;
		free(r->ranks[i].events);
	}
	if (r->n_repaired > 0)
		job_problem(job,
			    "%" PRIu32
			    " messages or collectives seemed to end before they were sent or the "
			    "last rank had come, by up to %s: the clocks were put right there",
			    r->n_repaired, hwy_say_time3(r->worst).text);
	if (r->n_doubted > 0)
		job_problem(job,
			    "%" PRIu32
			    " messages or collectives contradict the clocks of their ranks by far "
			    "more than these can be wrong",
			    r->n_doubted);
}

bool clock_repair(struct hwy_job *job, struct hwy_err *err)
{
	struct job_meetings meetings;
	if (is_one_clock(job) || !exchanges(job))
		return true;
	/* Not on the job's clocks: what contradicts them would not be matched. */
	if (!job_meetings_find(&meetings, job, false, err))
		return false;
	struct repairing r = {.ranks = hwy_zarray(job->n, sizeof *r.ranks), .n = job->n};
	for (uint32_t i = 0; i < r.n; i++)
		r.ranks[i].error =
			job->ranks[i].clock.error == HWY_NONE ? 0 : job->ranks[i].clock.error;
	add_collectives(&r, job, &meetings.collectives);
	add_messages(&r, job, &meetings.p2p);
	job_meetings_free(&meetings);
	for (uint32_t i = 0; i < r.n; i++)
		if (r.ranks[i].n > 0)
			qsort(r.ranks[i].events, r.ranks[i].n, sizeof *r.ranks[i].events,
			      repair_by_time);
	sweep(&r);
	take_repairs(&r, job);
	free(r.ranks);
	free(r.gates);
	return true;
}
