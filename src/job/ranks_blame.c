/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_blame.c - who waits for whom in a job, and whose fault that is; see ranks.h.
 *
 * A rank that comes late may have waited for others itself: in another communicator, or for a
 * message. What it waited since it and the rank that waits for it last met is not its fault, and
 * is taken from what it is blamed for.
 *
 * Where nothing that was exchanged is recorded, although the ranks communicate, waiting is
 * guessed: who communicates least in a step came last, and what the others communicate longer is
 * waiting for it.
 */
#include <stdlib.h>

#include "base/search.h"
#include "job/ranks.h"

struct blame {
	struct job_ranks *ranks;
	const struct ranks_member *members;
	const struct ranks_meetings *meetings;
	/* Parallel to meetings->by_member: the ns that the member waited in its collectives
	 * before this one. */
	int64_t *before;
	uint32_t *place;    /* for each arrival, its index in by_member */
	uint32_t *first_of; /* of meetings->waits, by member; n + 1 elements */
	int64_t *sums;      /* by late rank: ns in all that others wait by its fault */
};

/* ---- what a rank waited itself --------------------------------------------------------------- */

static void add_up_waits(struct blame *b)
{
	const struct ranks_meetings *m = b->meetings;
	b->before = hwy_array(m->n_arrivals, sizeof *b->before);
	b->place = hwy_array(m->n_arrivals, sizeof *b->place);
	b->first_of = hwy_zarray(b->ranks->n + 1, sizeof *b->first_of);
	b->sums = hwy_zarray(b->ranks->n, sizeof *b->sums);
	for (uint32_t r = 0; r < b->ranks->n; r++) {
		int64_t sum = 0;
		for (uint32_t i = m->first_of[r]; i < m->first_of[r + 1]; i++) {
			const struct ranks_arrival *one = &m->arrivals[m->by_member[i]];
			b->before[i] = sum;
			b->place[m->by_member[i]] = i;
			sum += m->meetings[one->meeting].counts ? one->added : 0;
		}
	}
	for (uint32_t i = 0; i < m->n_waits; i++)
		b->first_of[m->waits[i].member + 1]++;
	for (uint32_t r = 0; r < b->ranks->n; r++)
		b->first_of[r + 1] += b->first_of[r];
}

/* The ns that a rank waited for messages between two times of its own clock. */
static int64_t waited_for_messages(const struct blame *b, uint32_t member, int64_t from, int64_t to)
{
	const struct ranks_wait *waits = b->meetings->waits;
	uint32_t end = b->first_of[member + 1];
	int64_t sum = 0;
	for (uint32_t i = HWY_FIRST(k, b->first_of[member], end, waits[k].at.to > from);
	     i < end && waits[i].at.from < to; i++) {
		int64_t begin = waits[i].at.from > from ? waits[i].at.from : from;
		sum += (waits[i].at.to < to ? waits[i].at.to : to) - begin;
	}
	return sum;
}

static bool takes_part(const struct ranks_meetings *m, uint32_t meeting, uint32_t member)
{
	const struct ranks_meeting *one = &m->meetings[meeting];
	uint32_t end = one->first + one->n;
	uint32_t at = HWY_FIRST(i, one->first, end, m->arrivals[i].member >= member);
	return at < end && m->arrivals[at].member == member;
}

/* The ns that the rank of an arrival waited since it last met 'other', before this collective. */
static int64_t own_waiting(const struct blame *b, uint32_t arrival, uint32_t other)
{
	enum { MOST_LOOKS = 256 };
	const struct ranks_meetings *m = b->meetings;
	const struct ranks_arrival *own = &m->arrivals[arrival];
	uint32_t at = b->place[arrival], first = m->first_of[own->member], back = at;
	int64_t since = INT64_MIN;
	while (back > first && at - back < MOST_LOOKS) {
		const struct ranks_arrival *one = &m->arrivals[m->by_member[back - 1]];
		if (takes_part(m, one->meeting, other)) {
			since = one->to;
			break;
		}
		back--;
	}
	return b->before[at] - (back < at ? b->before[back] : b->before[at]) +
	       waited_for_messages(b, own->member, since, own->from);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* The job's step that a time of a rank lies in. */
static uint32_t job_step_at(const struct blame *b, uint32_t member, int64_t time)
{
	uint32_t step = ranks_step_at(&b->members[member], time),
		 first = b->ranks->first_step[member];
	return step != RANKS_NO_STEP && step >= first && step - first < b->ranks->n_steps
		       ? step - first
		       : RANKS_NO_STEP;
}

/* The step of a collective: that of the first of its ranks that can tell. */
static uint32_t step_of_meeting(const struct blame *b, const struct ranks_meeting *meeting)
{
	for (uint32_t k = 0; k < meeting->n; k++) {
		const struct ranks_arrival *one = &b->meetings->arrivals[meeting->first + k];
		if (ranks_step_at(&b->members[one->member], one->from) != RANKS_NO_STEP)
			return job_step_at(b, one->member, one->from);
	}
	return RANKS_NO_STEP;
}

static uint32_t arrival_of(const struct ranks_meetings *m, const struct ranks_meeting *meeting,
			   uint32_t member)
{
	return HWY_FIRST(i, meeting->first, meeting->first + meeting->n,
			 m->arrivals[i].member >= member);
}

/* Where all wait for all, a rank is late by what it waits less than the first to come: ranks
 * that come nearly as late as the last are late as well. Elsewhere it is late by what others
 * wait for it. What the first to come waits anyway, in a collective that goes on beside this
 * one, is not this one's. */
static void count_meeting(struct blame *b, const struct ranks_meeting *meeting, uint32_t step)
{
	struct job_ranks *ranks = b->ranks;
	const struct ranks_arrival *arrivals = b->meetings->arrivals,
				   *first = &arrivals[meeting->first];
	uint32_t end = meeting->first + meeting->n;
	for (uint32_t k = meeting->first; k < end; k++)
		first = arrivals[k].added > first->added ? &arrivals[k] : first;
	for (uint32_t k = meeting->first; k < end; k++) {
		const struct ranks_arrival *one = &arrivals[k];
		ranks->rows[one->member].n_meetings++;
		if (one->culprit != one->member) {
			uint32_t culprit = arrival_of(b->meetings, meeting, one->culprit);
			int64_t net = one->added - own_waiting(b, culprit, one->member);
			ranks->waits[(size_t)one->member * ranks->n + one->culprit] += one->added;
			b->sums[one->culprit] += net > 0 ? net : 0;
		}
		bool is_late = meeting->waits_for_all ? first->wait > one->wait
						      : one->member == first->culprit;
		int64_t less = meeting->waits_for_all ? first->wait - one->wait : first->added;
		int64_t late = !is_late ? 0 : less < first->added ? less : first->added;
		late -= late > 0 ? own_waiting(b, k, first->member) : 0;
		ranks->late[(size_t)one->member * ranks->n_steps + step] += late > 0 ? late : 0;
	}
	if (first->added > 0)
		ranks->rows[first->culprit].n_last++;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* what a rank waits for another one's messages in a step, without what that one waited itself */
struct fault {
	uint32_t culprit, step, member;
	int64_t ns;
};

static int by_culprit(const void *x, const void *y)
{
	const struct fault *a = x, *b = y;
	if (a->culprit != b->culprit)
		return a->culprit < b->culprit ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return (a->member > b->member) - (a->member < b->member);
}

/* A rank is late in a step by what the one waits that waits longest for its messages. */
static void add_faults(struct blame *b, struct fault *faults, uint32_t n)
{
	if (n > 0)
		qsort(faults, n, sizeof *faults, by_culprit);
	for (uint32_t i = 0; i < n;) {
		uint32_t culprit = faults[i].culprit, step = faults[i].step;
		int64_t most = 0;
		while (i < n && faults[i].culprit == culprit && faults[i].step == step) {
			int64_t sum = 0;
			for (uint32_t member = faults[i].member;
			     i < n && faults[i].culprit == culprit && faults[i].step == step &&
			     faults[i].member == member;
			     i++)
				sum += faults[i].ns;
			most = sum > most ? sum : most;
		}
		b->ranks->late[(size_t)culprit * b->ranks->n_steps + step] += most;
	}
}

static void count_messages(struct blame *b)
{
	const struct ranks_meetings *m = b->meetings;
	struct fault *faults = hwy_array(m->n_waits, sizeof *faults);
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_waits; i++) {
		const struct ranks_wait *wait = &m->waits[i];
		uint32_t step = job_step_at(b, wait->member, wait->at.from);
		int64_t ns = wait->at.to - wait->at.from;
		if (step == RANKS_NO_STEP || wait->culprit == wait->member)
			continue;
		b->ranks->waits[(size_t)wait->member * b->ranks->n + wait->culprit] += ns;
		b->ranks->n_messages++;
		b->ranks->rows[wait->member].n_messages++;
		b->ranks->rows[wait->culprit].n_messages++;
		/* Since the step began, the other one may have waited itself. */
		uint32_t own = ranks_step_at(&b->members[wait->culprit], wait->came);
		int64_t from =
			own == RANKS_NO_STEP
				? wait->came - ns
				: ranks_phase(&b->members[wait->culprit])->steps[own].device.from;
		int64_t net = ns - waited_for_messages(b, wait->culprit, from, wait->came);
		if (net <= 0)
			continue;
		b->sums[wait->culprit] += net;
		faults[n++] = (struct fault){wait->culprit, step, wait->member, net};
	}
	add_faults(b, faults, n);
	free(faults);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void ranks_count_waits(struct job_ranks *ranks, const struct ranks_member *members,
		       const struct ranks_meetings *meetings)
{
	struct blame b = {.ranks = ranks, .members = members, .meetings = meetings};
	if (ranks->n_steps == 0)
		return;
	add_up_waits(&b);
	for (uint32_t i = 0; i < meetings->n; i++) {
		uint32_t step = step_of_meeting(&b, &meetings->meetings[i]);
		if (!meetings->meetings[i].counts || step == RANKS_NO_STEP)
			continue;
		ranks->n_meetings++;
		count_meeting(&b, &meetings->meetings[i], step);
	}
	count_messages(&b);
	ranks->has_waited = ranks->n_meetings + ranks->n_messages > 0;
	for (size_t i = 0; i < (size_t)ranks->n * ranks->n; i++)
		ranks->waits[i] /= ranks->n_steps;
	uint32_t meeting = 0;
	for (uint32_t r = 0; r < ranks->n; r++)
		meeting += ranks_meets(&ranks->rows[r]);
	for (uint32_t r = 0; r < ranks->n; r++) {
		ranks->rows[r].blamed =
			meeting > 1 ? b.sums[r] / ranks->n_steps / (meeting - 1) : 0;
		for (uint32_t other = 0; other < ranks->n; other++)
			ranks->rows[r].waited += ranks->waits[(size_t)r * ranks->n + other];
	}
	free(b.before);
	free(b.place);
	free(b.first_of);
	free(b.sums);
}

/* ---- where nothing exchanged is recorded ----------------------------------------------------- */

/* Communication of a rank in a step: on the device, and idle time in which the CPU exchanges
 * data. */
static int64_t comm_in(const struct job_ranks *ranks, uint32_t member, uint32_t step)
{
	const int64_t *parts = &ranks->parts[((size_t)member * ranks->n_steps + step) * RANK_PARTS];
	return parts[RANK_TRANSFER] + parts[RANK_IDLE + GAP_COMM];
}

static void guess_step(struct job_ranks *ranks, uint32_t step, int64_t *sums)
{
	uint32_t last = ranks->n, first = ranks->n;
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!ranks->rows[r].is_judged)
			continue;
		last = last == ranks->n || comm_in(ranks, r, step) < comm_in(ranks, last, step)
			       ? r
			       : last;
		first = first == ranks->n || comm_in(ranks, r, step) > comm_in(ranks, first, step)
				? r
				: first;
	}
	int64_t least = comm_in(ranks, last, step), most = comm_in(ranks, first, step);
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!ranks->rows[r].is_judged)
			continue;
		int64_t *parts = &ranks->parts[((size_t)r * ranks->n_steps + step) * RANK_PARTS];
		int64_t own = comm_in(ranks, r, step), wait = own - least;
		int64_t idle =
			wait < parts[RANK_IDLE + GAP_COMM] ? wait : parts[RANK_IDLE + GAP_COMM];
		parts[RANK_IDLE + GAP_COMM] -= idle;
		parts[RANK_TRANSFER] -= wait - idle;
		parts[RANK_WAIT] += wait;
		ranks->late[(size_t)r * ranks->n_steps + step] = most - own;
		ranks->waits[(size_t)r * ranks->n + last] += wait;
		ranks->rows[r].n_messages++;
		sums[last] += wait;
	}
	ranks->rows[last].n_last++;
}

/* A rank of the job that does not communicate says nothing about the others. */
static bool all_communicate(const struct job_ranks *ranks)
{
	uint32_t judged = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		int64_t comm = 0;
		for (uint32_t s = 0; s < ranks->n_steps; s++)
			comm += comm_in(ranks, r, s);
		if (ranks->rows[r].is_judged &&
		    (double)comm < HWY_WORTH_SHARE * (double)ranks->rows[r].step * ranks->n_steps)
			return false;
		judged += ranks->rows[r].is_judged;
	}
	return judged > 1;
}

void ranks_guess_waits(struct job_ranks *ranks)
{
	if (ranks->has_waited || ranks->n_steps == 0 || !all_communicate(ranks))
		return;
	int64_t *sums = hwy_zarray(ranks->n, sizeof *sums);
	uint32_t judged = 0;
	for (uint32_t s = 0; s < ranks->n_steps; s++)
		guess_step(ranks, s, sums);
	for (uint32_t r = 0; r < ranks->n; r++)
		judged += ranks->rows[r].is_judged;
	for (size_t i = 0; i < (size_t)ranks->n * ranks->n; i++)
		ranks->waits[i] /= ranks->n_steps;
	for (uint32_t r = 0; r < ranks->n; r++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): two or more are judged */
		ranks->rows[r].blamed = sums[r] / ranks->n_steps / (judged - 1);
		for (uint32_t other = 0; other < ranks->n; other++)
			ranks->rows[r].waited += ranks->waits[(size_t)r * ranks->n + other];
	}
	ranks->is_guessed = ranks->has_waited = true;
	free(sums);
}
