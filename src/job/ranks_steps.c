/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_steps.c - the steps that the ranks of a job have in common, and who is late in them; see
 * ranks.h.
 *
 * Recordings may begin at different steps. Each collective that two ranks share lies in a step
 * of either; the difference of the two numbers that most collectives have is how far the numbers
 * of these ranks are apart.
 */
#include <stdlib.h>

#include "base/quantile.h"
#include "base/search.h"
#include "job/ranks.h"

/* So many pairs of rank and step are compared, so that a long run of many ranks does not fill
 * the memory. */
enum { MOST_CELLS = 1000000 };

/* ---- meetings -------------------------------------------------------------------------------- */

void ranks_meetings_add(struct ranks_meetings *meetings, const struct ranks_arrival *arrivals,
			uint32_t n, bool waits_for_all)
{
	uint32_t first = meetings->n_arrivals;
	for (uint32_t k = 0; k < n; k++) {
		HWY_GROW(meetings->arrivals, meetings->n_arrivals, meetings->cap_arrivals);
		meetings->arrivals[meetings->n_arrivals] = arrivals[k];
		meetings->arrivals[meetings->n_arrivals++].meeting = meetings->n;
	}
	HWY_GROW(meetings->meetings, meetings->n, meetings->cap);
	meetings->meetings[meetings->n++] =
		(struct ranks_meeting){.first = first, .n = n, .waits_for_all = waits_for_all};
}

/* Sets what each collective adds to the waiting of a member, whose collectives are in order of
 * time. */
static void count_once(struct ranks_meetings *meetings, uint32_t member)
{
	int64_t until = INT64_MIN;
	for (uint32_t i = meetings->first_of[member]; i < meetings->first_of[member + 1]; i++) {
		struct ranks_arrival *one = &meetings->arrivals[meetings->by_member[i]];
		int64_t from = one->from > until ? one->from : until, to = one->from + one->wait;
		one->added = to > from ? to - from : 0;
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it has this arrival */
		if (meetings->meetings[one->meeting].counts && to > until)
			until = to;
	}
}

void ranks_meetings_done(struct ranks_meetings *meetings, uint32_t n_members)
{
	bool *has_met = hwy_zarray(n_members, sizeof *has_met);
	uint32_t *at = hwy_zarray(n_members + 1, sizeof *at);
	for (uint32_t i = 0; i < meetings->n; i++) {
		struct ranks_meeting *meeting = &meetings->meetings[i];
		meeting->counts = true;
		for (uint32_t k = 0; k < meeting->n; k++)
			meeting->counts &= has_met[meetings->arrivals[meeting->first + k].member];
		for (uint32_t k = 0; k < meeting->n; k++)
			has_met[meetings->arrivals[meeting->first + k].member] = true;
	}
	for (uint32_t i = 0; i < meetings->n_arrivals; i++)
		at[meetings->arrivals[i].member + 1]++;
	for (uint32_t r = 0; r < n_members; r++)
		at[r + 1] += at[r];
	meetings->first_of = hwy_copy_array(at, n_members + 1, sizeof *at);
	meetings->by_member = hwy_array(meetings->n_arrivals, sizeof *meetings->by_member);
	for (uint32_t i = 0; i < meetings->n_arrivals; i++)
		meetings->by_member[at[meetings->arrivals[i].member]++] = i;
	for (uint32_t r = 0; r < n_members; r++)
		count_once(meetings, r);
	free(at);
	free(has_met);
}

/* How far apart the ends of a collective commonly are on the ranks' common clock: what is
 * shorter than that is no waiting, but what is not known about the clocks and about the
 * collective's own pace. */
static int64_t usual_spread(const struct hwy_collectives *c)
{
	int64_t *spreads = hwy_array(c->n, sizeof *spreads);
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		int64_t first = INT64_MAX, last = INT64_MIN;
		if (c->meetings[i].kind != EXCHANGE_ALL)
			continue;
		for (uint32_t k = 0; k < c->meetings[i].n; k++) {
			int64_t end = collectives_at(&c->parts[c->meetings[i].first + k]).to;
			first = end < first ? end : first;
			last = end > last ? end : last;
		}
		spreads[n++] = last - first;
	}
	hwy_sort(spreads, n);
	int64_t usual = hwy_median_upper(spreads, n);
	free(spreads);
	return usual;
}

/* What one rank waits in a collective. Two things bound it: the last arrival, which is as sure
 * as the clocks are, and how much longer the rank's part is than the shortest one, which no
 * clock can spoil. */
static struct ranks_arrival arrival_of_part(const struct hwy_collectives *c,
					    const struct hwy_meeting *meeting, uint32_t index,
					    int64_t uncertain)
{
	const struct meeting_part *part = &c->parts[index];
	uint32_t culprit = index;
	int64_t awaited = collectives_awaited(c, meeting, index, &culprit);
	int64_t began = collectives_at(part).from, length = part->at.to - part->at.from;
	int64_t most =
		meeting->kind == EXCHANGE_ALL ? length - meeting->transfer + uncertain : length;
	int64_t wait = awaited > began ? awaited - began : 0;
	most = most < length ? most : length;
	wait = wait > most ? most : wait;
	wait = wait > uncertain ? wait : 0;
	return (struct ranks_arrival){
		.member = part->rank,
		.culprit = wait > 0 ? c->parts[culprit].rank : part->rank,
		.from = part->at.from,
		.to = part->at.to,
		.wait = wait,
	};
}

struct ranks_meetings ranks_meetings_of(const struct hwy_collectives *c, uint32_t n)
{
	struct ranks_meetings all = {.uncertain = usual_spread(c)};
	struct ranks_arrival *arrivals = hwy_array(n, sizeof *arrivals);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct hwy_meeting *from = &c->meetings[i];
		for (uint32_t k = 0; k < from->n; k++)
			arrivals[k] = arrival_of_part(c, from, from->first + k, all.uncertain);
		ranks_meetings_add(&all, arrivals, from->n, from->kind == EXCHANGE_ALL);
	}
	ranks_meetings_done(&all, n);
	free(arrivals);
	return all;
}

void ranks_meetings_add_messages(struct ranks_meetings *meetings,
				 const struct hwy_wait_states *states)
{
	for (uint32_t i = 0; i < states->n; i++) {
		const struct wait_state *state = &states->states[i];
		if (state->kind == WAIT_AT_BARRIER || state->kind == WAIT_AT_COLLECTIVE ||
		    state->at.to - state->at.from <= meetings->uncertain)
			continue;
		HWY_GROW(meetings->waits, meetings->n_waits, meetings->cap_waits);
		meetings->waits[meetings->n_waits++] =
			(struct ranks_wait){state->rank, state->culprit, state->at, state->came};
	}
}

void ranks_meetings_free(struct ranks_meetings *meetings)
{
	free(meetings->meetings);
	free(meetings->arrivals);
	free(meetings->by_member);
	free(meetings->first_of);
	free(meetings->waits);
	*meetings = (struct ranks_meetings){0};
}

/* ---- which steps the ranks have in common ---------------------------------------------------- */

uint32_t ranks_step_at(const struct ranks_member *member, int64_t time)
{
	const struct hwy_phase *phase = ranks_phase(member);
	uint32_t n = phase ? phase->n_steps : 0;
	uint32_t step = HWY_FIRST(i, 0u, n, phase->steps[i].device.to > time);
	return step < n && phase->steps[step].device.from <= time ? step : RANKS_NO_STEP;
}

/* The value that occurs most often; the values are sorted. */
static int64_t most_frequent(const int64_t *sorted, uint32_t n)
{
	int64_t best = 0;
	uint32_t most = 0;
	for (uint32_t i = 0, from = 0; i < n; i++) {
		from = i > 0 && sorted[i] != sorted[i - 1] ? i : from;
		if (i - from + 1 > most) {
			most = i - from + 1;
			best = sorted[i];
		}
	}
	return best;
}

/* The first of a meeting's arrivals by the order of the members. */
static const struct ranks_arrival *anchor_of(const struct ranks_meetings *meetings,
					     uint32_t meeting)
{
	const struct ranks_meeting *one = &meetings->meetings[meeting];
	const struct ranks_arrival *first = &meetings->arrivals[one->first];
	for (uint32_t k = 1; k < one->n; k++)
		if (meetings->arrivals[one->first + k].member < first->member)
			first = &meetings->arrivals[one->first + k];
	return first;
}

/* The same by the clocks: which step of the first rank lies in the middle of the rank's middle
 * step. 0 where the clocks are not known well enough. */
static int64_t offset_by_clock(const struct ranks_member *members, uint32_t member)
{
	const struct hwy_phase *phase = ranks_phase(&members[member]);
	const struct job_clock *clock = members[member].clock;
	if (member == 0 || !phase || !clock || clock->source == JOB_CLOCK_UNKNOWN ||
	    (clock->source != JOB_CLOCK_SAME &&
	     (clock->error == HWY_NONE || clock->error > phase->mean / 4)))
		return 0;
	uint32_t middle = phase->first_steady + phase->n_steady / 2;
	const struct hwy_interval *at = &phase->steps[middle].device;
	uint32_t step = ranks_step_at(&members[0],
				      job_clock_map(clock, at->from + (at->to - at->from) / 2));
	return step == RANKS_NO_STEP ? 0 : (int64_t)middle - step;
}

/* How many steps the numbers of a rank are behind those of the first rank, by the collectives
 * that it shares with ranks before it; offset[] of those is known. 0 where it shares none. */
static int64_t offset_of(const struct ranks_member *members, const struct ranks_meetings *meetings,
			 const int64_t *offset, uint32_t member)
{
	uint32_t first = meetings->first_of[member], end = meetings->first_of[member + 1], n = 0;
	int64_t *differences = hwy_array(end - first, sizeof *differences);
	for (uint32_t i = first; i < end; i++) {
		const struct ranks_arrival *own = &meetings->arrivals[meetings->by_member[i]];
		const struct ranks_arrival *anchor = anchor_of(meetings, own->meeting);
		if (anchor->member >= member)
			continue;
		uint32_t s = ranks_step_at(&members[anchor->member], anchor->from);
		uint32_t t = ranks_step_at(&members[member], own->from);
		if (s != RANKS_NO_STEP && t != RANKS_NO_STEP)
			differences[n++] = (int64_t)t - s + offset[anchor->member];
	}
	if (n > 0)
		hwy_sort(differences, n);
	int64_t most = n > 0 ? most_frequent(differences, n) : offset_by_clock(members, member);
	free(differences);
	return most;
}

void ranks_find_steps(struct job_ranks *ranks, const struct ranks_member *members,
		      const struct ranks_meetings *meetings)
{
	int64_t *offset = hwy_zarray(ranks->n, sizeof *offset);
	int64_t from = INT64_MIN, to = INT64_MAX;
	for (uint32_t r = 0; r < ranks->n; r++) {
		const struct hwy_phase *phase = ranks_phase(&members[r]);
		if (!phase)
			continue;
		offset[r] = offset_of(members, meetings, offset, r);
		int64_t first = (int64_t)phase->first_steady - offset[r];
		from = first > from ? first : from;
		to = first + phase->n_steady < to ? first + phase->n_steady : to;
	}
	int64_t n = from < to && from != INT64_MIN ? to - from : 0;
	int64_t most = MOST_CELLS / (ranks->n > 0 ? ranks->n : 1) + 1;
	ranks->is_cut = n > most;
	ranks->n_steps = (uint32_t)(ranks->is_cut ? most : n);
	for (uint32_t r = 0; r < ranks->n && ranks->n_steps > 0; r++)
		ranks->first_step[r] = ranks_phase(&members[r]) ? (uint32_t)(from + offset[r]) : 0;
	free(offset);
}
