/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_cause.c - why a gap is there: the rules of docs/gaps.md, in their order. See
 * gaps_cause.h.
 *
 * As on that page, X is the op that ends the gap (x in the code), A is the call that enqueued X
 * (a in the code), and T is the thread that made A.
 */
#include "analyze/gaps/gaps_cause.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "base/ref.h"

/* A process with less than LAUNCHING_NS from launch to launch launches all the time. In a phase
 * with LAUNCHING_PER_STEP launches a step or more, whose framework takes longer for each, the
 * limit is LAUNCHING_TIMES the usual time from launch to launch, up to LAUNCHING_MOST_NS. */
#define LAUNCHING_NS 250000
#define LAUNCHING_TIMES 4
#define LAUNCHING_MOST_NS 2000000
#define LAUNCHING_PER_STEP 16
/* the clocks differ: a wait may seem to end up to this long before its work */
#define SLACK_NS 2000
/* A device does not pause for this long by itself between two ops that are both in its queue,
 * and a wait returns sooner than this after the work that it waited for has ended. */
#define MISSING_NS 500000
/* A smaller copy to the device is a parameter, a token or a flag, not the data of a step. */
#define INPUT_LEAST_BYTES 4096
enum {
	/* At most so many calls are searched for a process's previous launch. */
	MOST_CALLS_BACK = 4096,
	/* At most so many calls are searched for a call of another thread. */
	OTHERS_CALLS_BACK = 256,
	CALLS_AROUND = 4,  /* the stacks of so many calls before a gap are searched for a loader */
	COPY_SOON_OPS = 8, /* a copy to the device within so many ops brings input */
	/* So many launches of a phase suffice to tell how often the phase launches. */
	ENOUGH_DISTANCES = 4096,
};

int64_t gaps_launching_ns(const struct hwy_flow *flow, const struct hwy_phase *phase)
{
	if (phase->launches_per_step < LAUNCHING_PER_STEP)
		return LAUNCHING_NS;
	int64_t distances[ENOUGH_DISTANCES], end = INT64_MIN;
	uint32_t n = 0;
	for (uint32_t i = flow_call_at(flow, phase->window.from);
	     i < flow->n_calls && n < ENOUGH_DISTANCES; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->process != phase->process || call->op == FLOW_NONE)
			continue;
		if (end != INT64_MIN && call->start > end)
			distances[n++] = call->start - end;
		end = call->end;
	}
	hwy_sort(distances, n);
	int64_t often = LAUNCHING_TIMES * hwy_median_upper(distances, n);
	often = often < LAUNCHING_MOST_NS ? often : LAUNCHING_MOST_NS;
	return often > LAUNCHING_NS ? often : LAUNCHING_NS;
}

void gaps_judge_open(struct gaps_judge *judge, int64_t from)
{
	judge->next = flow_call_at(judge->flow, from);
	/* Begin with earlier calls, because a wait that began before 'from' may still run. */
	judge->next = judge->next > MOST_CALLS_BACK ? judge->next - MOST_CALLS_BACK : 0;
}

void gaps_judge_close(struct gaps_judge *judge)
{
	free(judge->noted);
	free(judge->running.at);
	free(judge->found);
}

/* ---- rule 4: waits --------------------------------------------------------------------------- */

/* Notes the blocking calls that began before the gap's end and were not noted yet. */
static void note_blocking(struct gaps_judge *judge, struct hwy_interval gap)
{
	const struct hwy_flow *flow = judge->flow;
	for (; judge->next < flow->n_calls && flow->calls[judge->next].start < gap.to;
	     judge->next++) {
		const struct flow_call *call = &flow->calls[judge->next];
		if (!call->blocks || call->end + SLACK_NS < gap.from)
			continue;
		int64_t idle = judge->idle + (call->start > gap.from ? call->start - gap.from : 0);
		HWY_GROW(judge->noted, judge->n_noted, judge->cap_noted);
		hwy_heap_add(&judge->running, call->end, judge->n_noted);
		judge->noted[judge->n_noted++] = (struct gaps_blocking){judge->next, idle};
	}
}

/* Remembers a wait that emptied the queue, and forgets the oldest one where there are too many. */
static void remember_wait(struct gaps_judge *judge, struct gaps_wait wait)
{
	if (judge->n_waits == GAPS_MOST_WAITS) {
		for (uint32_t i = 1; i < GAPS_MOST_WAITS; i++)
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

/* Remembers the waits that let the device run dry at 'from': waits of A's process that ran then,
 * had returned when A was made, and during which the device worked. */
static void find_waits(struct gaps_judge *judge, int64_t from, const struct flow_call *a)
{
	const struct flow_call *calls = judge->flow->calls;
	struct hwy_heap *running = &judge->running;
	judge->n_found = 0;
	for (; running->n &&
	       (running->at[0].time <= a->start || running->at[0].time + SLACK_NS < from);
	     hwy_heap_drop(running)) {
		HWY_GROW(judge->found, judge->n_found, judge->cap_found);
		judge->found[judge->n_found++] = running->at[0].what;
	}
	if (judge->n_found > 1)
		qsort(judge->found, judge->n_found, sizeof *judge->found, compare_noted);
	for (uint32_t i = 0; i < judge->n_found; i++) {
		const struct gaps_blocking *one = &judge->noted[judge->found[i]];
		const struct flow_call *call = &calls[one->call];
		if (call->end + SLACK_NS < from)
			continue;
		if (call->start > from || call->end > a->start || call->process != a->process) {
			hwy_heap_add(running, call->end, judge->found[i]);
			continue;
		}
		int64_t until = from < call->end ? from : call->end;
		int64_t worked = until - call->start - (judge->idle - one->idle);
		if (worked > 0)
			remember_wait(judge, (struct gaps_wait){one->call, worked, judge->idle});
	}
}

/* Forgets the waits that can no longer be blamed: the device has idled for longer than the wait
 * lasted; or an op whose call was made at 'since', after the wait, stood in the queue for 'lead'
 * ns, as long as the device had worked during the wait. */
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

/* The latest wait that a gap of this length before A may be charged to, as an index of a call;
 * FLOW_NONE where there is none. */
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

/* ---- rules 3 and 5: what the process did since its previous launch --------------------------- */

/* Whether the call enqueued device work, or is of a role that enqueues device work. */
static bool gaps_cause_enqueues(const struct flow_call *call)
{
	return call->op != FLOW_NONE || call->role == HWY_ROLE_LAUNCH ||
	       call->role == HWY_ROLE_GRAPH_LAUNCH || call->role == HWY_ROLE_COPY ||
	       call->role == HWY_ROLE_FILL;
}

struct since {             /* what a process did between its previous launch and A, and inside A */
	uint32_t previous; /* index of the previous launch in flow.calls, or FLOW_NONE */
	int64_t from;      /* the end of the previous launch; INT64_MIN where there is none */
	/* Ns before call A that were spent in calls which allocate, load a module or wait, and
	 * in all calls. */
	int64_t alloc, module, waits, calls;
	/* Ns inside call A that were spent in calls which allocate or load a module. */
	int64_t alloc_inside, module_inside;
	/* Indexes into flow.calls, or FLOW_NONE. */
	uint32_t longest_alloc, longest_module, longest_wait, longest;
};

/* Whether the part is more than half of the whole. Written so that no sum of times can overflow. */
static bool is_most(int64_t part, int64_t whole)
{
	return part > whole - part;
}

/* a + b, or INT64_MAX where the sum is larger: broken recordings hold times of any length. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* How long a call lasted in ns; -1 for FLOW_NONE. */
static int64_t length_of(const struct hwy_flow *flow, uint32_t call)
{
	return call == FLOW_NONE ? -1 : flow->calls[call].end - flow->calls[call].start;
}

static void keep_longest(const struct hwy_flow *flow, uint32_t call, uint32_t *longest)
{
	if (length_of(flow, call) > length_of(flow, *longest))
		*longest = call;
}

/* Adds the length of a call that allocates or loads a module to *alloc or *module. */
static void add_preparing(const struct hwy_flow *flow, uint32_t index, int64_t length,
			  int64_t *alloc, int64_t *module, struct since *since)
{
	switch (flow->calls[index].role) {
	case HWY_ROLE_ALLOC:
	case HWY_ROLE_FREE:
	case HWY_ROLE_PIN:
		*alloc = plus(*alloc, length);
		keep_longest(flow, index, &since->longest_alloc);
		break;
	case HWY_ROLE_MODULE:
		*module = plus(*module, length);
		keep_longest(flow, index, &since->longest_module);
		break;
	default: break;
	}
}

/* Adds the part of a call that lies between the previous launch and 'until'. */
static void add_between(const struct hwy_flow *flow, uint32_t index, int64_t until,
			struct since *since)
{
	const struct flow_call *call = &flow->calls[index];
	int64_t to = call->end < until ? call->end : until;
	int64_t from = call->start > since->from ? call->start : since->from;
	if (to <= from)
		return;
	since->calls = plus(since->calls, to - from);
	keep_longest(flow, index, &since->longest);
	if (call->role == HWY_ROLE_SYNC) {
		since->waits = plus(since->waits, to - from);
		keep_longest(flow, index, &since->longest_wait);
	}
	add_preparing(flow, index, to - from, &since->alloc, &since->module, since);
}

/* Sums up what the process of call a did between its previous launch and a, and inside a. */
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
	while (first > 0 && a - first < MOST_CALLS_BACK) {
		const struct flow_call *earlier = &flow->calls[--first];
		if (earlier->process != call->process || !gaps_cause_enqueues(earlier))
			continue;
		since.previous = first;
		since.from = earlier->end;
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

/* Rule 3: allocations or module loads took most of the time since the previous launch. Where the
 * process had launched nothing before, the time since the gap's begin counts. */
static bool is_preparing(const struct since *since, const struct flow_call *a, int64_t gap_from,
			 struct hwy_gap *gap)
{
	int64_t from = since->from == INT64_MIN ? gap_from : since->from;
	int64_t before = a->start > from ? a->start - from : 0;
	int64_t alloc = since->alloc, module = since->module, all = before;
	if (!is_most(plus(alloc, module), all)) { /* count the time inside call A, too */
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

/* ---- rule 6 ---------------------------------------------------------------------------------- */

/* Yields a column's value for op i of the judge's order. */
static int64_t column_of(const struct gaps_judge *judge, uint32_t i, enum hwy_col col)
{
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(judge->flow->trace, gaps_op(judge, i)->span, &row);
	return hwy_get(strip, col, row);
}

/* Whether op i of the judge's order copies from the host to the device. */
static bool is_to_device(const struct gaps_judge *judge, uint32_t i)
{
	if (gaps_op(judge, i)->kind != HWY_COPY)
		return false;
	int64_t direction = column_of(judge, i, HWY_DIRECTION);
	return direction == HWY_H2D || direction == HWY_H2A || direction == HWY_UM_H2D;
}

/* Whether op i of the judge's order, or one of the next few ops, copies to the device. */
static bool copy_follows(const struct gaps_judge *judge, uint32_t i)
{
	for (uint32_t next = i; next < judge->n && next < i + COPY_SOON_OPS; next++)
		if (is_to_device(judge, next))
			return true;
	return false;
}

/* How many bytes op i of the judge's order, and the copies right after it, copy to the device
 * before the device computes. A batch comes in several copies: its labels are small and often
 * come first. */
static int64_t bytes_before_compute(const struct gaps_judge *judge, uint32_t i)
{
	int64_t bytes = 0;
	for (uint32_t next = i; next < judge->n && next < i + COPY_SOON_OPS; next++) {
		enum hwy_kind kind = gaps_op(judge, next)->kind;
		if (kind != HWY_COPY && kind != HWY_FILL)
			break;
		if (is_to_device(judge, next))
			bytes = plus(bytes, column_of(judge, next, HWY_BYTES));
	}
	return bytes;
}

/* Whether op i of the judge's order begins to copy new data to the device: not data that had
 * just been copied from the device. */
static bool brings_data(const struct gaps_judge *judge, uint32_t i)
{
	if (!is_to_device(judge, i))
		return false;
	int64_t bytes = bytes_before_compute(judge, i);
	if (bytes < INPUT_LEAST_BYTES)
		return false;
	for (uint32_t after = i; after > 0 && i - after < COPY_SOON_OPS; after--)
		if (gaps_op(judge, after - 1)->kind == HWY_COPY &&
		    column_of(judge, after - 1, HWY_DIRECTION) == HWY_D2H &&
		    column_of(judge, after - 1, HWY_BYTES) >= bytes / 4)
			return false;
	return true;
}

/* The thread, other than A's own, that made the last call of A's process before A; or FLOW_NONE. */
static uint32_t other_thread(const struct hwy_flow *flow, const struct flow_call *a)
{
	uint32_t index = (uint32_t)(a - flow->calls);
	for (uint32_t i = index; i > 0 && index - i < OTHERS_CALLS_BACK; i--)
		if (flow->calls[i - 1].process == a->process &&
		    flow->calls[i - 1].thread != a->thread)
			return flow->calls[i - 1].thread;
	return FLOW_NONE;
}

bool gaps_thread_is_transport(const struct hwy_trace *trace, uint32_t thread)
{
	static const char *const names[] = {"gloo", "mpi", "ucx"};
	for (size_t n = 0; thread < trace->n_threads && n < sizeof names / sizeof *names; n++)
		if (strcasestr(hwy_str(trace, trace->threads[thread].name), names[n]))
			return true;
	return false;
}

/* Whether A, or the last call of A's process before A, was made by a thread that exchanges data
 * with other ranks. Gloo copies gradients from the device, sends them, and copies what it
 * received back: the device idles meanwhile. */
static bool calls_from_transport(const struct hwy_flow *flow, const struct flow_call *a)
{
	uint32_t index = (uint32_t)(a - flow->calls), before = FLOW_NONE;
	for (uint32_t i = index; i > 0 && index - i < OTHERS_CALLS_BACK && before == FLOW_NONE; i--)
		if (flow->calls[i - 1].process == a->process)
			before = flow->calls[i - 1].thread;
	return gaps_thread_is_transport(flow->trace, a->thread) ||
	       gaps_thread_is_transport(flow->trace, before);
}

/* The first of the last few calls of A's thread, A included, that was made inside a loader, or
 * NULL. Hugging Face's loader moves one batch to the device and then loads the next one, before
 * the program goes on. */
static const struct flow_call *loading_call(const struct gaps_judge *judge,
					    const struct flow_call *a)
{
	const struct hwy_flow *flow = judge->flow;
	uint32_t index = (uint32_t)(a - flow->calls);
	uint32_t first = index > CALLS_AROUND ? index - CALLS_AROUND : 0;
	for (uint32_t i = first; i <= index; i++)
		if (flow->calls[i].thread == a->thread &&
		    gaps_cpu_calls_from_loader(judge->cpu, &flow->calls[i]))
			return &flow->calls[i];
	return NULL;
}

/* Rule 6: what the CPU did instead of launching, between the previous launch and A, while the
 * device was idle. */
static void judge_cpu(struct gaps_judge *judge, uint32_t i, const struct flow_call *a,
		      const struct since *since, struct hwy_gap *gap)
{
	const struct hwy_flow *flow = judge->flow;
	struct hwy_interval at = {gap->at.from > since->from ? gap->at.from : since->from,
				  a->start};
	int64_t length = at.to - at.from;
	/* Most of the gap passed inside the launch A itself. */
	if (is_most(gap->at.to - gap->at.from - length, gap->at.to - gap->at.from)) {
		gap->cause = GAP_LAUNCH;
		gap->culprit = gaps_op(judge, i)->call;
		return;
	}
	/* With several devices, the CPU may have waited for another device. With one device, a wait
	 * that ends after the device's last op only returned late. */
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
	if (gap->cause == GAP_GC || gap->cause == GAP_GIL || gap->cause == GAP_COMM)
		return;
	/* A thread of a transport (gloo, MPI) copies data of other ranks to the device: such
	 * data is no input. */
	if (gap->cause == GAP_INPUT && !gaps_thread_is_transport(flow->trace, a->thread))
		return;
	const struct flow_call *loading;
	if (calls_from_transport(flow, a)) {
		gap->cause = GAP_COMM;
		gap->span = hwy_ref32(a->span);
	} else if (gap->cause == GAP_CPU && since->longest_module != FLOW_NONE) {
		/* A module was loaded after the gap began, so the CPU was busy compiling or
		 * reading that code. */
		gap->cause = GAP_FIRST_USE;
		gap->span = hwy_ref32(flow->calls[since->longest_module].span);
	} else if ((loading = loading_call(judge, a))) {
		gap->cause = GAP_INPUT;
		gap->span = hwy_ref32(loading->span);
	} else if (gap->cause == GAP_CPU && is_most(since->calls, length)) {
		gap->span = hwy_ref32(flow->calls[since->longest].span);
	}
}

/* ---- all rules ------------------------------------------------------------------------------- */

/* The moment by which X was surely in the queue: the end of A; or the start of A, where A
 * returns only with or after X; or the start of the first node of X's graph, less the latency. */
static int64_t enqueued_by(const struct hwy_flow *flow, const struct flow_call *a,
			   const struct flow_op *x)
{
	if (a->end <= x->start)
		return a->end;
	if (a->role == HWY_ROLE_GRAPH_LAUNCH && flow->ops[a->op].start < x->start)
		return flow->ops[a->op].start - flow->latency;
	return a->blocks ? a->start : a->end;
}

/* Whether any device works at a moment: an op that starts next may have waited for that work. */
static bool any_device_works(const struct hwy_flow *flow, int64_t moment)
{
	for (uint32_t i = flow_op_unfinished(flow, moment);
	     i < flow->n_ops && flow->ops[i].start <= moment; i++)
		if (flow->ops[i].end > moment)
			return true;
	return false;
}

/* The device had work, and nothing was recorded that the work could have waited for. A GPU then
 * works on something that was not recorded. A CPU runs when the operating system lets it: other
 * threads had the processor. */
static void judge_stopped(const struct gaps_judge *judge, struct hwy_gap *gap)
{
	gap->cause = judge->is_cpu ? GAP_OS : GAP_MISSING;
	gap->is_preempted = judge->is_cpu;
	if (judge->is_cpu)
		gap->culprit = FLOW_NONE;
}

/* Rule 1: X was in the queue when the gap began. That nothing ran that X could have waited for is
 * said only where A had returned before the gap and does not block: a copy from pageable memory
 * is still prepared by the CPU while its call runs. */
static void judge_queued(const struct gaps_judge *judge, const struct flow_call *a,
			 struct hwy_gap *gap)
{
	int64_t length = gap->at.to - gap->at.from;
	gap->cause = GAP_DEPENDENCY;
	if (length >= MISSING_NS && a->end <= gap->at.from && !a->blocks &&
	    !judge->flow->has_host_callbacks && !any_device_works(judge->flow, gap->at.to - 1))
		judge_stopped(judge, gap);
}

/* Whether X stood in the queue for most of a long gap, with nothing that it could have waited
 * for. */
static bool is_late_start(const struct gaps_judge *judge, int64_t queued, const struct hwy_gap *gap)
{
	int64_t length = gap->at.to - gap->at.from;
	return length >= MISSING_NS && is_most(gap->at.to - queued, length) &&
	       !any_device_works(judge->flow, gap->at.to - 1);
}

/* Rule 2: most of a long gap went into loading, compiling, tuning or capturing code. */
static bool is_first_use(const struct gaps_judge *judge, const struct flow_call *a,
			 struct hwy_gap *gap)
{
	const struct first_use *longest;
	int64_t length = gap->at.to - gap->at.from;
	if (length < MISSING_NS ||
	    !is_most(first_uses_in(&judge->flow->first_uses, a->process, gap->at, &longest),
		     length))
		return false;
	gap->cause = GAP_FIRST_USE;
	gap->span = longest->span == UINT32_MAX ? HWY_REF_NONE : hwy_ref32(longest->span);
	return true;
}

/* Rule 4: a wait emptied the queue, and the device has idled since. The wait is not to blame
 * where the CPU then prepared new data instead of launching, or where the wait went on although
 * nothing ran. */
static void judge_wait(struct gaps_judge *judge, uint32_t i, uint32_t wait,
		       const struct flow_call *a, const struct since *since, struct hwy_gap *gap)
{
	const struct flow_call *call = &judge->flow->calls[wait];
	int64_t length = gap->at.to - gap->at.from, idle_in_wait = call->end - gap->at.from;
	gap->culprit = wait;
	if (call->role == HWY_ROLE_ALLOC || call->role == HWY_ROLE_FREE ||
	    call->role == HWY_ROLE_PIN) {
		gap->cause = GAP_ALLOC;
	} else if (call->role == HWY_ROLE_SYNC && idle_in_wait >= MISSING_NS &&
		   is_most(idle_in_wait, length) && !any_device_works(judge->flow, call->end - 1)) {
		judge_stopped(judge, gap);
	} else {
		gap->cause = GAP_BLOCKED;
		struct hwy_interval at = {call->end > since->from ? call->end : since->from,
					  a->start};
		if (at.to - at.from < LAUNCHING_NS || !is_most(at.to - at.from, length))
			return;
		struct hwy_gap other = *gap;
		other.culprit = FLOW_NONE;
		judge_cpu(judge, i, a, since, &other);
		if (other.cause == GAP_INPUT && at.to - at.from > call->end - call->start)
			*gap = other;
		else
			gap->span = gaps_cpu_work(judge->cpu, a->thread, at);
	}
}

/* Asks the rules in their order for the cause of the gap before op i of the judge's order, whose
 * call was recorded. */
static void judge_linked(struct gaps_judge *judge, uint32_t i, struct hwy_gap *gap)
{
	const struct flow_op *x = gaps_op(judge, i);
	const struct flow_call *a = &judge->flow->calls[x->call];
	find_waits(judge, gap->at.from, a);
	int64_t queued = enqueued_by(judge->flow, a, x) + judge->flow->latency;
	if (queued <= gap->at.from) {
		judge_queued(judge, a, gap);
		return;
	}
	if (judge->is_cpu && is_late_start(judge, queued, gap)) {
		judge_stopped(judge, gap);
		return;
	}
	if (is_first_use(judge, a, gap))
		return;
	struct since since = since_previous(judge->flow, x->call);
	if (is_preparing(&since, a, gap->at.from, gap))
		return;
	uint32_t wait = blamed_wait(judge, gap->at.to - gap->at.from, a);
	if (wait != FLOW_NONE) {
		judge_wait(judge, i, wait, a, &since, gap);
		return;
	}
	if (since.previous != FLOW_NONE && a->start - since.from < judge->launching_ns) {
		gap->cause = GAP_LAUNCH;
		gap->culprit = x->call;
		return;
	}
	judge_cpu(judge, i, a, &since, gap);
}

void gaps_judge_gap(struct gaps_judge *judge, uint32_t i, int64_t from, struct hwy_gap *gap)
{
	const struct flow_op *x = gaps_op(judge, i);
	struct hwy_interval in_window = gap->at;
	gap->at = (struct hwy_interval){from, x->start};
	note_blocking(judge, gap->at);
	if (x->call == FLOW_NONE)
		gap->cause = GAP_UNKNOWN;
	else
		judge_linked(judge, i, gap);
	judge->idle += gap->at.to - gap->at.from;
	if (judge->n_waits)
		forget_waits(judge, INT64_MIN, INT64_MIN);
	gap->at = in_window;
}
