/* SPDX-License-Identifier: Apache-2.0 */
/* answer_cpu.c - what there is to say about a job whose ranks have no device work: what they lose to each other; see answer.h.
 *
 * Without steps the window of a rank is the time from its first exchange to the end of its last one. The verdict is 'comm' where the
 * ranks lose LOST_SHARE of it to each other. A rank is to blame for what others wait for it, but for what it waited itself meanwhile:
 * that is the fault of the one that it waited for.
 */
#include <inttypes.h>

#include "base/path.h"
#include "base/say.h"
#include "base/search.h"
#include "job/answer.h"

#define LOST_SHARE 0.1

static void measure_rank(struct job_cpu_row *row, struct hwy_trace *trace)
{
	struct hwy_interval window = {INT64_MAX, INT64_MIN};
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		struct exchange_times times = exchange_times(trace, &trace->messages[i]);
		window.from = times.post < window.from ? times.post : window.from;
		window.to = times.call.to > window.to ? times.call.to : window.to;
		row->comm += times.call.to - times.call.from;
	}
	row->window = window.to > window.from ? window.to - window.from : 0;
	row->comm = row->comm < row->window ? row->comm : row->window;
}

/* Shares out the time [from, to) of a rank's own clock, in which another rank waited for it: where the rank itself waited, the one that
 * it waited for is to blame, and so on; the rest is its own fault. */
static void blame_rank(struct job_answer *answer, uint32_t rank, int64_t from, int64_t to,
		       int depth)
{
	const struct hwy_wait_states *states = &answer->states;
	int64_t left = to - from;
	uint32_t first =
		HWY_FIRST(i, 0u, states->n,
			  states->states[i].rank > rank || (states->states[i].rank == rank &&
							    states->states[i].at.to > from));
	for (uint32_t i = first; i < states->n && depth > 0; i++) {
		const struct wait_state *own = &states->states[i];
		if (own->rank != rank || own->at.from >= to)
			break;
		int64_t a = own->at.from > from ? own->at.from : from,
			b = own->at.to < to ? own->at.to : to;
		if (a >= b)
			continue;
		left -= b - a;
		blame_rank(answer, own->culprit, own->came - (own->at.to - a),
			   own->came - (own->at.to - b), depth - 1);
	}
	answer->cpu[rank].costs += left > 0 ? left : 0;
}

/* Where the rank that costs most came late: its call that ended the longest wait for it; "" where that is not known. */
static const char *place_of_worst(struct job_answer *answer, const struct ranks_member *members,
				  uint32_t worst)
{
	const struct wait_state *longest = NULL;
	for (uint32_t i = 0; i < answer->states.n; i++) {
		const struct wait_state *one = &answer->states.states[i];
		if (one->culprit == worst && one->culprit_message != FLOW_NONE &&
		    (!longest || one->at.to - one->at.from > longest->at.to - longest->at.from))
			longest = one;
	}
	struct hwy_trace *trace = members[worst].analysis->trace;
	int64_t span = longest ? trace->messages[longest->culprit_message].span : HWY_NONE;
	if (span < 0 || !members[worst].analysis->places)
		return "";
	struct hwy_place place = place_of(members[worst].analysis->places, (uint32_t)span);
	if (*place.file && place.line > 0)
		return hwy_arena_format(&answer->arena, ", before it comes to %s:%" PRId64,
					hwy_basename(place.file), place.line);
	return hwy_arena_format(&answer->arena, ", before its %s",
				hwy_str(trace, trace->messages[longest->culprit_message].name));
}

void answer_judge_cpu(struct job_answer *answer, const struct ranks_member *members)
{
	const struct hwy_wait_states *states = &answer->states;
	uint32_t n = answer->n, worst = 0;
	double lost = 0, whole = 0;
	if (answer->typical < n || states->n_meetings + states->n_messages == 0)
		return;
	answer->cpu = hwy_arena_array(&answer->arena, n, sizeof *answer->cpu);
	for (uint32_t r = 0; r < n; r++) {
		measure_rank(&answer->cpu[r], members[r].analysis->trace);
		for (uint32_t late = 0; late < n; late++)
			answer->cpu[r].waits += states->lost[(size_t)r * n + late];
		lost += (double)answer->cpu[r].waits;
		whole += (double)answer->cpu[r].window;
	}
	enum { DEEPEST = 16 };
	for (uint32_t i = 0; i < states->n; i++) {
		const struct wait_state *one = &states->states[i];
		blame_rank(answer, one->culprit, one->came - (one->at.to - one->at.from), one->came,
			   DEEPEST);
	}
	for (uint32_t r = 1; r < n; r++)
		worst = answer->cpu[r].costs > answer->cpu[worst].costs ? r : worst;
	double share = whole > 0 ? lost / whole : 0,
	       blamed = lost > 0 ? (double)answer->cpu[worst].costs / lost : 0;
	if (share < LOST_SHARE) {
		answer->says = hwy_arena_format(
			&answer->arena,
			"No rank has device work; the ranks lose %s of their time to each other.",
			hwy_say_share(share).text);
		return;
	}
	answer->word = VERDICT_COMM;
	answer->shares[VERDICT_COMM] = share;
	answer->says = hwy_arena_format(
		&answer->arena,
		"The ranks lose %s of their time to each other, %s of that to rank %" PRId64 "%s.",
		hwy_say_share(share).text, hwy_say_share(blamed).text, members[worst].rank,
		place_of_worst(answer, members, worst));
}
