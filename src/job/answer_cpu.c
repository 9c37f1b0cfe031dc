/* SPDX-License-Identifier: Apache-2.0 */
/* answer_cpu.c - what there is to say about a job whose ranks have no device work: what they
 * lose to each other; see answer.h.
 *
 * Without steps the window of a rank is the time from its first exchange to the end of its last
 * one. The verdict is 'comm' where the ranks lose LOST_SHARE of it to each other. A rank is to
 * blame for what others wait for it, but for what it waited itself meanwhile: that is the fault
 * of the one that it waited for. Threads are looked at one by one: what one thread waits for
 * does not hold up another.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/exchange_calls.h"
#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/search.h"
#include "base/strings.h"
#include "job/answer.h"

#define LOST_SHARE 0.1

/* The thread that made a call, as an index; -1 where that is not recorded. */
static int64_t thread_of(const struct hwy_trace *trace, int64_t span)
{
	uint32_t row;
	if (span < 0 || span >= trace->n_spans)
		return -1;
	int64_t thread = trace->lanes[hwy_strip_of(trace, (uint32_t)span, &row)->lane].thread;
	return thread >= 0 && thread < trace->n_threads ? thread : -1;
}

/* ---- the time of a rank ---------------------------------------------------------------------- */

struct thread_call { /* a call that communicates */
	int64_t thread;
	struct hwy_interval at;
};

static int by_thread_and_begin(const void *x, const void *y)
{
	const struct thread_call *a = x, *b = y;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->at.from > b->at.from) - (a->at.from < b->at.from);
}

/* Lists the calls that a trace's messages were asked for in, and those that waited for them: 2
 * for each message. A call of several messages is listed for each of them. */
static struct thread_call *list_thread_calls(struct hwy_trace *trace)
{
	size_t n = 2 * (size_t)trace->n_messages;
	struct thread_call *calls = hwy_array(n, sizeof *calls);
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		struct exchange_times times = exchange_times(trace, m);
		struct hwy_message asked = *m;
		asked.done = HWY_NONE;
		calls[2 * i] =
			(struct thread_call){thread_of(trace, m->span),
					     {times.post, exchange_times(trace, &asked).call.to}};
		calls[2 * i + 1] = (struct thread_call){
			thread_of(trace, times.is_nonblocking ? m->done : m->span), times.call};
	}
	if (n > 0)
		qsort(calls, n, sizeof *calls, by_thread_and_begin);
	return calls;
}

static void measure_rank(struct job_cpu_row *row, struct hwy_trace *trace)
{
	struct thread_call *calls = list_thread_calls(trace);
	size_t n = 2 * (size_t)trace->n_messages;
	for (size_t i = 0; i < n; row->threads++) {
		struct hwy_cover cover = {0};
		struct hwy_interval fresh;
		int64_t thread = calls[i].thread, first = calls[i].at.from;
		for (; i < n && calls[i].thread == thread; i++)
			cover_add(&cover, calls[i].at.from, calls[i].at.to, &fresh);
		row->comm += cover.total;
		row->window += cover.reach - first;
	}
	free(calls);
}

/* ---- whose fault it is ----------------------------------------------------------------------- */

/* A wait state with the thread that waits. Ordered by rank, thread and time, the waits of one
 * thread are disjoint: a thread is in one call at a time. */
struct thread_wait {
	int64_t thread;
	const struct wait_state *state;
};

struct cpu_blame {
	struct job_answer *answer;
	const struct ranks_member *members;
	struct thread_wait *waits;
	uint32_t n;
	struct exchange_calls *calls; /* by rank */
};

static int by_rank_and_thread(const void *x, const void *y)
{
	const struct thread_wait *a = x, *b = y;
	if (a->state->rank != b->state->rank)
		return a->state->rank < b->state->rank ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->state->at.from > b->state->at.from) - (a->state->at.from < b->state->at.from);
}

/* Whether a wait comes behind the time 'from' of a rank's thread, in the order of the waits. */
static bool ends_behind(const struct thread_wait *wait, uint32_t rank, int64_t thread, int64_t from)
{
	if (wait->state->rank != rank)
		return wait->state->rank > rank;
	return wait->thread != thread ? wait->thread > thread : wait->state->at.to > from;
}

/* The thread that the others waited for in a wait state. */
static int64_t thread_of_culprit(const struct cpu_blame *b, const struct wait_state *state)
{
	const struct hwy_trace *trace = b->members[state->culprit].analysis->trace;
	return state->culprit_message == FLOW_NONE
		       ? -1
		       : thread_of(trace, trace->messages[state->culprit_message].span);
}

/* Shares out the time [from, to) of a rank's own clock, in which another rank waited for a
 * thread of it: where the thread itself waited, the one that it waited for is to blame, and so
 * on; the rest is the rank's own fault. */
static void blame_thread(struct cpu_blame *b, uint32_t rank, int64_t thread, int64_t from,
			 int64_t to, int depth)
{
	int64_t left = to - from;
	uint32_t first = HWY_FIRST(i, 0u, b->n, ends_behind(&b->waits[i], rank, thread, from));
	for (uint32_t i = first; i < b->n && depth > 0; i++) {
		const struct wait_state *own = b->waits[i].state;
		if (own->rank != rank || b->waits[i].thread != thread || own->at.from >= to)
			break;
		int64_t begin = own->at.from > from ? own->at.from : from,
			end = own->at.to < to ? own->at.to : to;
		left -= end - begin;
		blame_thread(b, own->culprit, thread_of_culprit(b, own),
			     own->came - (own->at.to - begin), own->came - (own->at.to - end),
			     depth - 1);
	}
	struct job_cpu_row *row = &b->answer->cpu[rank];
	uint32_t ignored;
	row->costs += left;
	/* Waits are parts of calls: what is left of the calls is not waiting for others. */
	if (thread >= 0)
		row->exchanging += exchange_calls_in(&b->calls[rank], (uint32_t)thread,
						     (struct hwy_interval){from, to}, &ignored) -
				   (to - from - left);
}

static void blame_ranks(struct job_answer *answer, const struct ranks_member *members)
{
	enum { DEEPEST = 16 };
	const struct hwy_wait_states *states = &answer->states;
	struct cpu_blame b = {.answer = answer,
			      .members = members,
			      .waits = hwy_array(states->n, sizeof *b.waits),
			      .n = states->n,
			      .calls = hwy_zarray(answer->n, sizeof *b.calls)};
	for (uint32_t r = 0; r < answer->n; r++)
		exchange_calls_list(&b.calls[r], members[r].analysis->trace, ~HWY_DEVICE_KINDS);
	for (uint32_t i = 0; i < states->n; i++) {
		const struct wait_state *one = &states->states[i];
		b.waits[i] = (struct thread_wait){
			thread_of(members[one->rank].analysis->trace, one->span), one};
	}
	if (b.n > 0)
		qsort(b.waits, b.n, sizeof *b.waits, by_rank_and_thread);
	for (uint32_t i = 0; i < states->n; i++) {
		const struct wait_state *one = &states->states[i];
		blame_thread(&b, one->culprit, thread_of_culprit(&b, one),
			     one->came - (one->at.to - one->at.from), one->came, DEEPEST);
	}
	for (uint32_t r = 0; r < answer->n; r++)
		exchange_calls_free(&b.calls[r]);
	free(b.calls);
	free(b.waits);
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* The place of a call of a rank; its file is "" where nothing is known. */
static struct hwy_place place_of_call(const struct ranks_member *member, int64_t span)
{
	if (member->analysis->places && span >= 0 && span < member->analysis->trace->n_spans)
		return place_of(member->analysis->places, (uint32_t)span);
	return (struct hwy_place){.file = ""};
}

/* The name of the call in which a message was asked for ("MPI_Sendrecv"), else of the operation
 * ("Receive"). */
static const char *answer_cpu_call_name(struct hwy_trace *trace, const struct hwy_message *m)
{
	uint32_t row;
	struct hwy_err ignored;
	if (m->span < 0 || m->span >= trace->n_spans ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_CALL), HWY_COL_BIT(HWY_NAME), &ignored))
		return hwy_str(trace, m->name);
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)m->span, &row);
	return hwy_str(trace, strip->kind == HWY_CALL ? hwy_get(strip, HWY_NAME, row) : m->name);
}

/* Yields "FILE:LINE" of a place, at most n - 1 bytes of it; "" where the line is not known. */
static const char *say_line(char *text, size_t n, const struct hwy_place *place)
{
	text[0] = '\0';
	if (*place->file && place->line > 0)
		snprintf(text, n, "%s:%" PRId64, hwy_basename(place->file), place->line);
	return text;
}

/* Where a rank came late, as the end of a sentence: the line of its call. A call that does not
 * wait is short and mostly has no stack: then its name, and the line at which the others wait
 * for it. "" where nothing is known. */
static const char *say_lateness(char *text, size_t n, const struct ranks_member *members,
				const struct wait_state *state)
{
	char late[256], waits[256];
	text[0] = '\0';
	if (state->culprit_message == FLOW_NONE)
		return text;
	struct hwy_trace *trace = members[state->culprit].analysis->trace;
	const struct hwy_message *m = &trace->messages[state->culprit_message];
	struct hwy_place came = place_of_call(&members[state->culprit], m->span),
			 waited = place_of_call(&members[state->rank], state->span);
	say_line(late, sizeof late, &came);
	say_line(waits, sizeof waits, &waited);
	if (state->kind == WAIT_STALLED)
		snprintf(
			text, n,
			hwy_tr(", which asked in time, but whose data moves only while it is in the library%s%s"),
			hwy_tr(*waits ? "; others wait at " : ""), waits);
	else if (*late)
		snprintf(text, n, hwy_tr(", before it comes to %s"), late);
	else
		snprintf(text, n, hwy_tr(", before its %s%s%s"), answer_cpu_call_name(trace, m),
			 hwy_tr(*waits ? ", for which others wait at " : ""), waits);
	return text;
}

/* Where the rank that costs most came late: the place at which others lost most time to it; ""
 * where that is not known. */
static const char *place_of_worst(struct job_answer *answer, const struct ranks_member *members,
				  uint32_t worst)
{
	struct hwy_strings places;
	int64_t *lost = NULL;
	uint32_t cap = 0, n = 0, most = 0;
	hwy_strings_init(&places);
	for (uint32_t i = 0; i < answer->states.n; i++) {
		const struct wait_state *one = &answer->states.states[i];
		char text[768];
		if (one->culprit != worst)
			continue;
		uint32_t id = hwy_intern_z(&places, say_lateness(text, sizeof text, members, one));
		for (; n <= id; n++) {
			HWY_GROW(lost, n, cap);
			lost[n] = 0;
		}
		lost[id] += one->at.to - one->at.from;
		most = lost[id] > lost[most] ? id : most;
	}
	const char *place =
		n > 0 ? hwy_arena_format(&answer->arena, "%s", places.texts[most].at) : "";
	hwy_strings_free(&places);
	free(lost);
	return place;
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
	blame_ranks(answer, members);
	for (uint32_t r = 1; r < n; r++)
		worst = answer->cpu[r].costs > answer->cpu[worst].costs ? r : worst;
	double share = whole > 0 ? lost / whole : 0,
	       blamed = lost > 0 ? (double)answer->cpu[worst].costs / lost : 0;
	if (share < LOST_SHARE) {
		answer->says = hwy_arena_say(
			&answer->arena,
			"No rank has device work; the ranks lose %s of their time to each other.",
			hwy_say_share(share).text);
		return;
	}
	answer->word = VERDICT_COMM;
	answer->shares[VERDICT_COMM] = share;
	bool is_slow_itself = 2 * answer->cpu[worst].exchanging > answer->cpu[worst].costs;
	answer->says = hwy_arena_say(
		&answer->arena,
		"The ranks lose %s of their time to each other, %s of that to rank %" PRId64
		"%s.%s",
		hwy_say_share(share).text, hwy_say_share(blamed).text, members[worst].rank,
		place_of_worst(answer, members, worst),
		is_slow_itself
			? hwy_tr(" For most of that time this rank is in exchanges itself that are slow "
				 "to end, as with many bytes, or with more ranks than cores.")
			: "");
}
