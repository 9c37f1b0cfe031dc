/* gaps_cause.c - why a gap is there: the rules of the design, in its order. See gaps_cause.h.
 *
 * A is the call that enqueued the op X that ends the gap, made by thread T.
 *
 * Rule 2, exactly. A wait emptied the queue when the device ran dry while it lasted and the process had
 * enqueued nothing by its end. The headway there was is the work that the device did in the meantime; what the
 * wait cost the CPU is its length: by so much it would be earlier without. Two things make up for it: an op that stood
 * in the queue for as long as that work took (headway is back at its level), and idle time (had the CPU not waited,
 * it would have been late all the same). So a gap is charged to the latest wait after which the device has not
 * yet idled, up to the middle of this gap, for longer than the wait lasted. A short wait in a loop that cannot keep
 * up is thus never blamed, and a long one is blamed until the CPU has its lead again.
 */
#include "analyze/gaps/gaps_cause.h"

#include <stdlib.h>

#define LAUNCHING 250000 /* ns: a process that launches at least this often launches all the time */
#define SLACK 2000 /* ns by which a call's end and its work's end may seem to be in disorder */
enum {
	MOST_BACK = 4096,  /* calls looked at to find the one before */
	OTHERS_BACK = 256, /* calls among which another thread's is looked for */
	COPY_SOON = 8      /* ops among which a copy to the device tells that it was input */
};

void gaps_judge_open(struct gaps_judge *judge, int64_t from)
{
	judge->next = flow_call_at(judge->flow, from);
	/* Those that began before and still run. */
	judge->next = judge->next > MOST_BACK ? judge->next - MOST_BACK : 0;
}

void gaps_judge_close(struct gaps_judge *judge)
{
	free(judge->noted);
	free(judge->running.at);
	free(judge->found);
}

/* ---- rule 2: waits ------------------------------------------------------------------------------- */

/* Takes notice of the blocking calls that began before the gap's end. */
static void note_blocking(struct gaps_judge *judge, struct hwy_interval gap)
{
	const struct hwy_flow *flow = judge->flow;
	for (; judge->next < flow->n_calls && flow->calls[judge->next].start < gap.to;
	     judge->next++) {
		const struct flow_call *call = &flow->calls[judge->next];
		if (!call->blocks || call->end + SLACK < gap.from)
			continue;
		int64_t idle = judge->idle + (call->start > gap.from ? call->start - gap.from : 0);
		HWY_GROW(judge->noted, judge->n_noted, judge->cap_noted);
		hwy_heap_add(&judge->running, call->end, judge->n_noted);
		judge->noted[judge->n_noted++] = (struct gaps_blocking){judge->next, idle};
	}
}

static void open_wait(struct gaps_judge *judge, struct gaps_wait wait)
{
	if (judge->n_waits == GAPS_OPEN) {
		for (uint32_t i = 1; i < GAPS_OPEN; i++)
			judge->waits[i - 1] = judge->waits[i];
		judge->n_waits--;
	}
	judge->waits[judge->n_waits++] = wait;
}

static int compare_noted(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* The device ran dry at 'from', and A was made afterwards: by which waits? Of those that had returned by A. */
static void find_waits(struct gaps_judge *judge, int64_t from, const struct flow_call *a)
{
	const struct flow_call *calls = judge->flow->calls;
	struct hwy_heap *running = &judge->running;
	judge->n_found = 0;
	for (;
	     running->n && (running->at[0].time <= a->start || running->at[0].time + SLACK < from);
	     hwy_heap_drop(running)) {
		HWY_GROW(judge->found, judge->n_found, judge->cap_found);
		judge->found[judge->n_found++] = running->at[0].what;
	}
	if (judge->n_found > 1)
		qsort(judge->found, judge->n_found, sizeof *judge->found, compare_noted);
	for (uint32_t i = 0; i < judge->n_found; i++) {
		const struct gaps_blocking *one = &judge->noted[judge->found[i]];
		const struct flow_call *call = &calls[one->call];
		if (call->end + SLACK < from)
			continue;
		if (call->start > from || call->end > a->start || call->process != a->process) {
			hwy_heap_add(running, call->end, judge->found[i]);
			continue;
		}
		int64_t until = from < call->end ? from : call->end;
		int64_t worked = until - call->start - (judge->idle - one->idle);
		if (worked > 0)
			open_wait(judge, (struct gaps_wait){one->call, worked, judge->idle});
	}
}

static void forget_waits(struct gaps_judge *judge, int64_t lead, int64_t since)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < judge->n_waits; i++) {
		const struct gaps_wait *wait = &judge->waits[i];
		const struct flow_call *call = &judge->flow->calls[wait->call];
		bool regained = lead >= wait->worked && call->end <= since;
		if (!regained && judge->idle - wait->idle < call->end - call->start)
			judge->waits[kept++] = *wait;
	}
	judge->n_waits = kept;
}

void gaps_judge_regain(struct gaps_judge *judge, const struct flow_op *op)
{
	if (judge->n_waits == 0 || op->call == FLOW_NONE)
		return;
	const struct flow_call *call = &judge->flow->calls[op->call];
	forget_waits(judge, op->start - call->end - judge->flow->latency, call->start);
}

/* The latest wait that this gap may be charged to. */
static uint32_t blamed_wait(const struct gaps_judge *judge, int64_t length,
			    const struct flow_call *a)
{
	for (uint32_t i = judge->n_waits; i-- > 0;) {
		const struct gaps_wait *wait = &judge->waits[i];
		const struct flow_call *call = &judge->flow->calls[wait->call];
		if (call->process == a->process && call->end <= a->start &&
		    judge->idle - wait->idle + length / 2 <= call->end - call->start)
			return wait->call;
	}
	return FLOW_NONE;
}

/* ---- rules 3 and 4: what the process did since its previous launch -------------------------------- */

static bool gaps_cause_enqueues(const struct flow_call *call)
{
	return call->op != FLOW_NONE || call->role == HWY_ROLE_LAUNCH ||
	       call->role == HWY_ROLE_GRAPH_LAUNCH || call->role == HWY_ROLE_COPY ||
	       call->role == HWY_ROLE_FILL;
}

struct since {             /* the calls between the process's previous launch and A, and inside A */
	uint32_t previous; /* launch, or FLOW_NONE */
	int64_t from;      /* its end; INT64_MIN where there is none */
	int64_t alloc, module, waits, calls; /* ns in them, outside A */
	int64_t alloc_inside, module_inside;
	uint32_t longest_alloc, longest_module, longest_wait, longest;
};

/* More than half of it; no sum of times can overflow here. */
static bool is_most(int64_t part, int64_t whole)
{
	return part > whole - part;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t length_of(const struct hwy_flow *flow, uint32_t call)
{
	return call == FLOW_NONE ? -1 : flow->calls[call].end - flow->calls[call].start;
}

static void keep_longest(const struct hwy_flow *flow, uint32_t call, uint32_t *longest)
{
	if (length_of(flow, call) > length_of(flow, *longest))
		*longest = call;
}

static void add_preparing(const struct hwy_flow *flow, uint32_t at, int64_t length, int64_t *alloc,
			  int64_t *module, struct since *since)
{
	switch (flow->calls[at].role) {
	case HWY_ROLE_ALLOC:
	case HWY_ROLE_FREE:
	case HWY_ROLE_PIN:
		*alloc = plus(*alloc, length);
		keep_longest(flow, at, &since->longest_alloc);
		break;
	case HWY_ROLE_MODULE:
		*module = plus(*module, length);
		keep_longest(flow, at, &since->longest_module);
		break;
	default: break;
	}
}

static void add_between(const struct hwy_flow *flow, uint32_t at, int64_t until,
			struct since *since)
{
	const struct flow_call *call = &flow->calls[at];
	int64_t to = call->end < until ? call->end : until;
	int64_t from = call->start > since->from ? call->start : since->from;
	if (to <= from)
		return;
	since->calls = plus(since->calls, to - from);
	keep_longest(flow, at, &since->longest);
	if (call->role == HWY_ROLE_SYNC) {
		since->waits = plus(since->waits, to - from);
		keep_longest(flow, at, &since->longest_wait);
	}
	add_preparing(flow, at, to - from, &since->alloc, &since->module, since);
}

static struct since since_previous(const struct hwy_flow *flow, uint32_t a)
{
	const struct flow_call *call = &flow->calls[a];
	struct since since = {.previous = FLOW_NONE,
			      .from = INT64_MIN,
			      .longest_alloc = FLOW_NONE,
			      .longest_module = FLOW_NONE,
			      .longest_wait = FLOW_NONE,
			      .longest = FLOW_NONE};
	uint32_t first = a;
	while (first > 0 && a - first < MOST_BACK) {
		const struct flow_call *one = &flow->calls[--first];
		if (one->process != call->process || !gaps_cause_enqueues(one))
			continue;
		since.previous = first;
		since.from = one->end;
		break;
	}
	for (uint32_t i = first; i < a; i++)
		if (flow->calls[i].process == call->process && i != since.previous)
			add_between(flow, i, call->start, &since);
	for (uint32_t i = a + 1; i < flow->n_calls && flow->calls[i].start < call->end; i++)
		if (flow->calls[i].thread == call->thread && flow->calls[i].end <= call->end)
			add_preparing(flow, i, flow->calls[i].end - flow->calls[i].start,
				      &since.alloc_inside, &since.module_inside, &since);
	return since;
}

/* Rule 3. Where there is no launch before, the gap itself is the time that counts. */
static bool is_preparing(const struct since *since, const struct flow_call *a, int64_t gap_from,
			 struct hwy_gap *gap)
{
	int64_t from = since->from == INT64_MIN ? gap_from : since->from;
	int64_t before = a->start > from ? a->start - from : 0;
	int64_t alloc = since->alloc, module = since->module, all = before;
	if (!is_most(plus(alloc, module), all)) { /* or with what A itself did */
		alloc = plus(alloc, since->alloc_inside);
		module = plus(module, since->module_inside);
		all = plus(all, a->end - a->start);
	}
	if ((alloc == 0 && module == 0) || !is_most(plus(alloc, module), all))
		return false;
	bool is_alloc = alloc >= module;
	gap->cause = is_alloc ? GAP_ALLOC : GAP_MODULE;
	gap->culprit = is_alloc ? since->longest_alloc : since->longest_module;
	return true;
}

/* ---- rule 5 -------------------------------------------------------------------------------------- */

static int64_t column_of(const struct gaps_judge *judge, uint32_t i, enum hwy_col col)
{
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(judge->flow->trace, gaps_op(judge, i)->span, &row);
	return hwy_get(strip, col, row);
}

static bool is_to_device(const struct gaps_judge *judge, uint32_t i)
{
	if (gaps_op(judge, i)->kind != HWY_COPY)
		return false;
	int64_t direction = column_of(judge, i, HWY_DIRECTION);
	return direction == HWY_H2D || direction == HWY_H2A || direction == HWY_UM_H2D;
}

static bool copy_follows(const struct gaps_judge *judge, uint32_t i)
{
	for (uint32_t at = i; at < judge->n && at < i + COPY_SOON; at++)
		if (is_to_device(judge, at))
			return true;
	return false;
}

/* Op i copies to the device, and not what had just been copied from it. */
static bool brings_data(const struct gaps_judge *judge, uint32_t i)
{
	if (!is_to_device(judge, i))
		return false;
	int64_t bytes = column_of(judge, i, HWY_BYTES);
	for (uint32_t at = i; at > 0 && i - at < COPY_SOON; at--)
		if (gaps_op(judge, at - 1)->kind == HWY_COPY &&
		    column_of(judge, at - 1, HWY_DIRECTION) == HWY_D2H &&
		    column_of(judge, at - 1, HWY_BYTES) >= bytes / 4)
			return false;
	return true;
}

/* The thread of A's process that made the last call before it, other than A's own; or FLOW_NONE. */
static uint32_t other_thread(const struct hwy_flow *flow, const struct flow_call *a)
{
	uint32_t index = (uint32_t)(a - flow->calls);
	for (uint32_t i = index; i > 0 && index - i < OTHERS_BACK; i--)
		if (flow->calls[i - 1].process == a->process &&
		    flow->calls[i - 1].thread != a->thread)
			return flow->calls[i - 1].thread;
	return FLOW_NONE;
}

/* The CPU did not launch: between the previous launch and A, as far as the device was idle by then. */
static void judge_cpu(struct gaps_judge *judge, uint32_t i, const struct flow_call *a,
		      const struct since *since, struct hwy_gap *gap)
{
	const struct hwy_flow *flow = judge->flow;
	struct hwy_interval at = {gap->at.from > since->from ? gap->at.from : since->from,
				  a->start};
	int64_t length = at.to - at.from;
	if (is_most(gap->at.to - gap->at.from - length,
		    gap->at.to - gap->at.from)) { /* the time went into A itself */
		gap->cause = GAP_LAUNCH;
		gap->culprit = gaps_op(judge, i)->call;
		return;
	}
	/* It waited for another device. Where there is none it was only late to return. */
	if (flow->n_devices > 1 && is_most(since->waits, length)) {
		gap->cause = GAP_BLOCKED;
		gap->culprit = since->longest_wait;
		return;
	}
	struct gaps_absence absence = {
		.thread = a->thread,
		.other = other_thread(flow, a),
		.at = at,
		.copy_follows = copy_follows(judge, i),
		.brings_data = brings_data(judge, i),
	};
	gap->cause = (uint8_t)gaps_cpu_cause(judge->cpu, &absence, &gap->span);
	if (gap->cause == GAP_CPU && is_most(since->calls, length))
		gap->span = flow->calls[since->longest].span + 1;
}

/* ---- all rules ----------------------------------------------------------------------------------- */

/* When the work was surely in the queue: its call had returned; or, where the call returns only with or after its
 * work, had begun; or another node of the same graph had. */
static int64_t enqueued_by(const struct hwy_flow *flow, const struct flow_call *a,
			   const struct flow_op *x)
{
	if (a->end <= x->start)
		return a->end;
	if (a->role == HWY_ROLE_GRAPH_LAUNCH && flow->ops[a->op].start < x->start)
		return flow->ops[a->op].start - flow->latency;
	return a->blocks ? a->start : a->end;
}

static void judge_linked(struct gaps_judge *judge, uint32_t i, struct hwy_gap *gap)
{
	const struct flow_op *x = gaps_op(judge, i);
	const struct flow_call *a = &judge->flow->calls[x->call];
	find_waits(judge, gap->at.from, a);
	if (enqueued_by(judge->flow, a, x) + judge->flow->latency <= gap->at.from) {
		gap->cause = GAP_DEPENDENCY;
		return;
	}
	uint32_t wait = blamed_wait(judge, gap->at.to - gap->at.from, a);
	if (wait != FLOW_NONE) {
		gap->cause = GAP_BLOCKED;
		gap->culprit = wait;
		return;
	}
	struct since since = since_previous(judge->flow, x->call);
	if (is_preparing(&since, a, gap->at.from, gap))
		return;
	if (since.previous != FLOW_NONE && a->start - since.from < LAUNCHING) {
		gap->cause = GAP_LAUNCH;
		gap->culprit = x->call;
		return;
	}
	judge_cpu(judge, i, a, &since, gap);
}

void gaps_judge_gap(struct gaps_judge *judge, uint32_t i, int64_t from, struct hwy_gap *gap)
{
	const struct flow_op *x = gaps_op(judge, i);
	struct hwy_interval shown = gap->at;
	gap->at = (struct hwy_interval){from, x->start};
	note_blocking(judge, gap->at);
	if (x->call == FLOW_NONE)
		gap->cause = GAP_UNKNOWN;
	else
		judge_linked(judge, i, gap);
	judge->idle += gap->at.to - gap->at.from;
	if (judge->n_waits)
		forget_waits(judge, INT64_MIN, INT64_MIN);
	gap->at = shown;
}
