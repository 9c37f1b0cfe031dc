/* SPDX-License-Identifier: Apache-2.0 */
/* wait_states.c - see wait_states.h.
 *
 * Every meeting and every pair of messages yields candidates: a call, and a time until which it
 * may have waited. Sorted by call, the candidate of each call that ends last becomes the state,
 * and a stall is cut to what comes after it. All comparisons are made on the clock of the rank
 * that waits.
 */
#include "analyze/wait_states.h"

#include <stdlib.h>

#include "base/search.h"

const char *const wait_state_names[WAIT_STATE_KINDS] = {
	[WAIT_LATE_SENDER] = "late-sender",    [WAIT_LATE_RECEIVER] = "late-receiver",
	[WAIT_AT_BARRIER] = "wait-at-barrier", [WAIT_AT_COLLECTIVE] = "wait-at-collective",
	[WAIT_STALLED] = "progress-stalled",
};

/* The calls of a rank's library in order of start, those of all threads: outside of them no
 * message makes progress. */
struct library_calls {
	/* 'to' is the latest end of this call and of those before it, so that one look tells
	 * whether any thread is still in a call. */
	struct hwy_interval *items;
	uint32_t n, cap;
};

struct finding_waits {
	struct hwy_wait_states *found;
	const struct collectives_rank *ranks;
	const struct hwy_collectives *c;
	struct wait_state *candidates;
	uint32_t n, cap;
	struct library_calls *calls; /* by rank */
};

static int64_t to_common(const struct finding_waits *f, uint32_t rank, int64_t time)
{
	const struct exchange_clock *clock = f->ranks[rank].clock;
	return clock ? clock->map(clock->user, time) : time + f->c->shift[rank];
}

/* A time of one rank on the clock of another, near the time 'near' of that clock. */
static int64_t on_clock_of(const struct finding_waits *f, uint32_t to, int64_t near, uint32_t from,
			   int64_t time)
{
	return to_common(f, from, time) - (to_common(f, to, near) - near);
}

static const struct hwy_message *message_of(const struct finding_waits *f, uint32_t rank,
					    uint32_t index)
{
	return &collectives_trace(&f->ranks[rank])->messages[index];
}

static struct exchange_times times_of(const struct finding_waits *f, uint32_t rank, uint32_t index)
{
	return exchange_times(collectives_trace(&f->ranks[rank]), message_of(f, rank, index));
}

static int64_t awaiting_span(const struct hwy_message *m)
{
	return m->done != HWY_NONE ? m->done : m->span;
}

static void suspect(struct finding_waits *f, struct wait_state state)
{
	if (state.at.to <= state.at.from)
		return;
	HWY_GROW(f->candidates, f->n, f->cap);
	f->candidates[f->n++] = state;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static int64_t span_of_op(const struct finding_waits *f, const struct meeting_part *part)
{
	return part->op == FLOW_NONE ? HWY_NONE : f->ranks[part->rank].flow->ops[part->op].span;
}

static void look_at_part(struct finding_waits *f, const struct hwy_meeting *meeting, uint32_t index)
{
	const struct meeting_part *part = &f->c->parts[index];
	uint32_t late = index;
	int64_t awaited = collectives_awaited(f->c, meeting, index, &late);
	if (late == index)
		return;
	const struct meeting_part *culprit = &f->c->parts[late];
	struct wait_state state = {
		.kind = meeting->is_barrier ? WAIT_AT_BARRIER : WAIT_AT_COLLECTIVE,
		.rank = part->rank,
		.culprit = culprit->rank,
		.at = {part->at.from, awaited - part->shift},
		.came = culprit->at.from,
		.message = part->message,
		.culprit_message = culprit->message,
		.span = span_of_op(f, part),
	};
	state.is_device = part->op != FLOW_NONE;
	int64_t end = part->at.to;
	if (part->message != FLOW_NONE) {
		struct exchange_times times = times_of(f, part->rank, part->message);
		state.is_device = times.is_device;
		state.at.from = times.call.from;
		end = times.call.to;
		state.span = awaiting_span(message_of(f, part->rank, part->message));
	}
	state.at.to = state.at.to < end ? state.at.to : end;
	suspect(f, state);
}

static void look_at_meetings(struct finding_waits *f, uint32_t n)
{
	bool *has_met = hwy_zarray(n, sizeof *has_met); /* with kernels */
	for (uint32_t i = 0; i < f->c->n; i++) {
		const struct hwy_meeting *meeting = &f->c->meetings[i];
		bool counts = true;
		uint32_t end = meeting->first + meeting->n;
		for (uint32_t k = meeting->first; k < end; k++)
			counts &= f->c->parts[k].op == FLOW_NONE || has_met[f->c->parts[k].rank];
		for (uint32_t k = meeting->first; k < end; k++) {
			has_met[f->c->parts[k].rank] |= f->c->parts[k].op != FLOW_NONE;
			if (counts)
				look_at_part(f, meeting, k);
		}
	}
	free(has_met);
	f->found->n_meetings = f->c->n;
	f->found->n_contradicted = f->c->n_contradicted;
}

/* ---- calls of the library -------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct hwy_interval *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

/* Lists the calls on the lanes that have calls of messages. */
static bool list_calls(struct library_calls *list, const struct collectives_rank *rank,
		       struct hwy_err *err)
{
	struct hwy_trace *trace = collectives_trace(rank);
	uint8_t *has_calls = hwy_zarray(trace->n_lanes, sizeof *has_calls);
	bool done = hwy_need(trace, HWY_KIND_BIT(HWY_CALL),
			     HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err);
	for (uint32_t i = 0; i < trace->n_messages && done; i++) {
		uint32_t row;
		const struct hwy_message *m = &trace->messages[i];
		if (m->span >= 0 && m->span < trace->n_spans && collectives_is_of(rank, m->process))
			has_calls[hwy_strip_of(trace, (uint32_t)m->span, &row)->lane] = 1;
	}
	for (uint32_t s = 0; s < trace->n_strips && done; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0;
		     strip->kind == HWY_CALL && has_calls[strip->lane] && row < strip->rows;
		     row++) {
			HWY_GROW(list->items, list->n, list->cap);
			list->items[list->n++] = (struct hwy_interval){
				hwy_get(strip, HWY_START, row), hwy_end(strip, row)};
		}
	}
	free(has_calls);
	if (list->n > 0)
		qsort(list->items, list->n, sizeof *list->items, by_begin);
	for (uint32_t i = 1; i < list->n; i++)
		if (list->items[i].to < list->items[i - 1].to)
			list->items[i].to = list->items[i - 1].to;
	return done;
}

/* When the rank calls its library next after 'time'; 'time' where it is in a call then,
 * INT64_MAX where it never calls again. */
static int64_t next_call(const struct library_calls *list, int64_t time)
{
	uint32_t next = HWY_FIRST(i, 0, list->n, list->items[i].from > time);
	if (next > 0 && list->items[next - 1].to > time)
		return time;
	return next < list->n ? list->items[next].from : INT64_MAX;
}

/* ---- messages -------------------------------------------------------------------------------- */

struct side { /* one side of a message */
	uint32_t rank, message;
	struct exchange_times times;
};

static struct wait_state state_of(const struct finding_waits *f, const struct side *waits,
				  const struct side *other, enum wait_state_kind kind)
{
	return (struct wait_state){
		.kind = (uint8_t)kind,
		.rank = waits->rank,
		.culprit = other->rank,
		.is_device = waits->times.is_device,
		.at = {waits->times.call.from, waits->times.call.from},
		.came = other->times.post,
		.message = waits->message,
		.culprit_message = other->message,
		.span = awaiting_span(message_of(f, waits->rank, waits->message)),
	};
}

/* Both have asked, and the data waits for the other rank to come back to the library. More time
 * must have passed before than after that rank came back: else the message may simply have been
 * on its way. */
static void look_for_stall(struct finding_waits *f, const struct side *waits,
			   const struct side *other)
{
	const struct hwy_interval *call = &waits->times.call;
	const struct hwy_message *m = message_of(f, other->rank, other->message);
	struct hwy_trace *trace = collectives_trace(&f->ranks[other->rank]);
	uint32_t row;
	if (!other->times.is_nonblocking || waits->times.is_device || m->span < 0 ||
	    m->span >= trace->n_spans)
		return;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)m->span, &row);
	int64_t asked = on_clock_of(f, waits->rank, call->from, other->rank, hwy_end(strip, row));
	int64_t from = asked > call->from ? asked : call->from;
	if (from >= call->to)
		return;
	int64_t then = on_clock_of(f, other->rank, other->times.post, waits->rank, from);
	int64_t back = next_call(&f->calls[other->rank], then);
	if (back <= then || back == INT64_MAX)
		return;
	int64_t to = on_clock_of(f, waits->rank, from, other->rank, back);
	if (to > call->to || call->to - to >= to - from)
		return;
	struct wait_state state = state_of(f, waits, other, WAIT_STALLED);
	state.at = (struct hwy_interval){from, to};
	state.came = back;
	suspect(f, state);
}

static void look_at_pair(struct finding_waits *f, const struct p2p_pair *pair)
{
	struct side send = {pair->sender, pair->send, times_of(f, pair->sender, pair->send)};
	struct side receive = {pair->receiver, pair->receive,
			       times_of(f, pair->receiver, pair->receive)};
	int64_t sent =
		on_clock_of(f, receive.rank, receive.times.call.from, send.rank, send.times.post);
	int64_t asked =
		on_clock_of(f, send.rank, send.times.call.from, receive.rank, receive.times.post);
	if (receive.times.call.to < sent) { /* received before it was sent */
		f->found->n_contradicted++;
		return;
	}
	f->found->n_messages++;
	struct wait_state late = state_of(f, &receive, &send, WAIT_LATE_SENDER);
	late.at.to = sent;
	suspect(f, late);
	late = state_of(f, &send, &receive, WAIT_LATE_RECEIVER);
	late.at.to = asked;
	if (asked < send.times.call.to)
		suspect(f, late);
	look_for_stall(f, &receive, &send);
	look_for_stall(f, &send, &receive);
}

/* ---- one state a call ------------------------------------------------------------------------ */

static int by_call(const void *a, const void *b)
{
	const struct wait_state *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->span != y->span)
		return x->span < y->span ? -1 : 1;
	if (x->span == HWY_NONE && x->message != y->message)
		return x->message < y->message ? -1 : 1;
	if ((x->kind == WAIT_STALLED) != (y->kind == WAIT_STALLED))
		return x->kind == WAIT_STALLED ? 1 : -1;
	return (x->at.to > y->at.to) - (x->at.to < y->at.to);
}

static int by_rank_and_time(const void *a, const void *b)
{
	const struct wait_state *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->at.from != y->at.from)
		return x->at.from < y->at.from ? -1 : 1;
	return (x->at.to > y->at.to) - (x->at.to < y->at.to);
}

static bool is_one_call(const struct wait_state *x, const struct wait_state *y)
{
	return x->rank == y->rank && x->span == y->span &&
	       (x->span != HWY_NONE || x->message == y->message);
}

static void keep_state(struct hwy_wait_states *found, const struct wait_state *state)
{
	HWY_GROW(found->states, found->n, found->cap);
	found->states[found->n++] = *state;
	int64_t lost = state->at.to - state->at.from;
	found->lost[(size_t)state->rank * found->n_ranks + state->culprit] += lost;
	found->by_kind[(size_t)state->rank * WAIT_STATE_KINDS + state->kind] += lost;
}

/* Of each call the last candidate of the first four kinds, and the last stall. */
static void choose_states(struct finding_waits *f)
{
	if (f->n > 0)
		qsort(f->candidates, f->n, sizeof *f->candidates, by_call);
	int64_t until = INT64_MIN; /* the end of the call's state, on the rank's clock */
	for (uint32_t i = 0; i < f->n; i++) {
		struct wait_state *one = &f->candidates[i], *next = one + 1;
		bool is_last = i + 1 == f->n || !is_one_call(one, next);
		if (one->kind == WAIT_STALLED && one->at.from < until)
			one->at.from = until;
		bool decides = is_last || (one->kind != WAIT_STALLED && next->kind == WAIT_STALLED);
		if (decides && one->at.to > one->at.from)
			keep_state(f->found, one);
		if (decides)
			until = is_last ? INT64_MIN : one->at.to;
	}
	if (f->found->n > 0)
		qsort(f->found->states, f->found->n, sizeof *f->found->states, by_rank_and_time);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool look_at_messages(struct finding_waits *f, uint32_t n, struct hwy_err *err)
{
	struct hwy_p2p p2p;
	bool done = p2p_match(&p2p, f->ranks, n, err);
	if (!done)
		return false;
	for (uint32_t r = 0; r < n && done && p2p.n > 0; r++)
		done = list_calls(&f->calls[r], &f->ranks[r], err);
	for (uint32_t i = 0; i < p2p.n && done; i++)
		look_at_pair(f, &p2p.pairs[i]);
	f->found->n_unpaired = p2p.n_unpaired;
	p2p_free(&p2p);
	return done;
}

bool wait_states_of(struct hwy_wait_states *found, const struct collectives_rank *ranks, uint32_t n,
		    const struct hwy_collectives *c, struct hwy_err *err)
{
	*found = (struct hwy_wait_states){
		.n_ranks = n,
		.lost = hwy_zarray((size_t)n * n, sizeof *found->lost),
		.by_kind = hwy_zarray((size_t)n * WAIT_STATE_KINDS, sizeof *found->by_kind)};
	struct finding_waits f = {
		.found = found, .ranks = ranks, .c = c, .calls = hwy_zarray(n, sizeof *f.calls)};
	look_at_meetings(&f, n);
	bool done = look_at_messages(&f, n, err);
	if (done)
		choose_states(&f);
	else
		wait_states_free(found);
	for (uint32_t r = 0; r < n; r++)
		free(f.calls[r].items);
	free(f.calls);
	free(f.candidates);
	return done;
}

bool wait_states_find(struct hwy_wait_states *found, const struct collectives_rank *ranks,
		      uint32_t n, struct hwy_err *err)
{
	struct hwy_collectives c;
	if (!collectives_match(&c, ranks, n, err))
		return false;
	bool done = wait_states_of(found, ranks, n, &c, err);
	collectives_free(&c);
	return done;
}

void wait_states_free(struct hwy_wait_states *found)
{
	free(found->states);
	free(found->lost);
	free(found->by_kind);
	*found = (struct hwy_wait_states){0};
}
