/* lead.c - see lead.h.
 *
 * Three kinds of events in order of time: work is enqueued (its call has returned, or it has begun before that),
 * begins, ends. They come from three cursors: one for each stream, merged; the device's ops; and the ops that
 * run, of which there are few. Between two events the count is constant and the work left falls by the number of
 * running ops each ns, so that sums are exact and the whole is linear in the ops. Sums over time are made op by
 * op: what comes is added as if it stayed until the window's end, and taken away when it goes. Both are largest
 * right after something was enqueued, so that nothing is compared at the other events.
 */
#include "analyze/lead.h"

#include <stdlib.h>

#include "analyze/lanes.h"
#include "analyze/nest.h"
#include "base/hash.h"
#include "base/heap.h"

#define BIT(col) HWY_COL_BIT(HWY_##col)
enum { LATER = 4096 }; /* ops that begin before one that was enqueued earlier, at most */
#define SLACK 2000     /* ns by which a call's end and its work's end may seem to be in disorder */

struct meter {
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	struct hwy_lead *lead;
	uint32_t cells;
	/* events to come */
	struct flow_lanes lanes;
	uint32_t *next_on;        /* by lane: the op that is enqueued next */
	struct hwy_heap enqueued; /* of lanes, by that op's moment */
	const uint32_t *order;    /* of the device's ops by start; NULL: 0, 1, 2 … */
	uint32_t next, n;         /* the op that begins next */
	struct hwy_heap running;  /* ops, by end */
	/* the present */
	int64_t now;
	uint32_t count;
	/* ns of work not yet begun; sum of the ends of what runs. They may wrap: differences do not. */
	uint64_t waiting, ends;
	int64_t empty_since;
	bool rises; /* something was enqueued since the last look */
	uint32_t cell;
	/* Sums over time, the work's twice. They may wrap as well. */
	unsigned __int128 count_time, work_time;
	int64_t best_work;                  /* the largest lead so far, and what was then … */
	uint32_t best_enqueued, best_begun; /* … enqueued and begun last; ops */
	/* blocking calls around the present */
	uint32_t next_call;
	uint32_t *blocking, n_blocking, cap_blocking;
	struct hwy_map zeros; /* by name and stack of the call */
	uint32_t elsewhere;   /* of lead.zeros: those in no call, once there is one */
	uint32_t cap_zeros;
	uint32_t zero; /* of lead.zeros, while nothing is enqueued; FLOW_NONE otherwise */
};

/* ---- time goes by -------------------------------------------------------------------------------- */

static int64_t work_at(const struct meter *meter, int64_t time)
{
	return (int64_t)(meter->waiting + meter->ends - meter->running.n * (uint64_t)time);
}

static int64_t cell_start(const struct meter *meter, uint32_t cell)
{
	const struct hwy_interval *window = &meter->phase->window;
	double share = (double)cell / (double)meter->cells;
	return window->from + (int64_t)((double)(window->to - window->from) * share);
}

static void mark_cells(struct meter *meter, int64_t from, int64_t to)
{
	struct hwy_lead *lead = meter->lead;
	while (meter->cell < meter->cells) {
		struct lead_point *point = &lead->series[meter->cell];
		int64_t at = from > point->time ? from : point->time;
		int64_t end =
			meter->cell + 1 < meter->cells ? point[1].time : meter->phase->window.to;
		int64_t work = work_at(meter, at);
		if (at < end || at == from) {
			point->count = meter->count > point->count ? meter->count : point->count;
			point->work = work > point->work ? work : point->work;
		}
		if (to <= end)
			return;
		meter->cell++;
	}
}

/* The part of the window that is left at a moment, which is before its end. */
static uint64_t left_at(const struct meter *meter, int64_t moment)
{
	const struct hwy_interval *window = &meter->phase->window;
	return (uint64_t)(window->to - (moment > window->from ? moment : window->from));
}

/* Up to the next event: looks at what is enqueued now. */
static void pass(struct meter *meter, int64_t to)
{
	struct hwy_lead *lead = meter->lead;
	const struct hwy_interval *window = &meter->phase->window;
	int64_t from = meter->now > window->from ? meter->now : window->from;
	int64_t until = to < window->to ? to : window->to;
	meter->now = to;
	if (until <= from)
		return;
	int64_t work = work_at(meter, from);
	lead->max_count = meter->count > lead->max_count ? meter->count : lead->max_count;
	lead->max_work = work > lead->max_work ? work : lead->max_work;
	meter->rises = meter->cells > 0;
	mark_cells(meter, from, until);
}

/* Nothing was enqueued until now. */
static void end_empty(struct meter *meter, int64_t until)
{
	const struct hwy_interval *window = &meter->phase->window;
	int64_t from = meter->empty_since > window->from ? meter->empty_since : window->from;
	if (until <= from)
		return;
	meter->lead->empty += until - from;
	if (meter->zero != FLOW_NONE)
		meter->lead->zeros[meter->zero].idle += until - from;
}

/* ---- falling to zero ----------------------------------------------------------------------------- */

/* The latest call that blocks at this moment, or FLOW_NONE. Those before it may have ended: they are forgotten
 * once it has. */
static uint32_t blocking_at(struct meter *meter, int64_t moment)
{
	const struct flow_call *calls = meter->flow->calls;
	for (; meter->next_call < meter->flow->n_calls && calls[meter->next_call].start <= moment;
	     meter->next_call++) {
		const struct flow_call *call = &calls[meter->next_call];
		if (!call->blocks || call->end + SLACK < moment)
			continue;
		HWY_GROW(meter->blocking, meter->n_blocking, meter->cap_blocking);
		meter->blocking[meter->n_blocking++] = meter->next_call;
	}
	while (meter->n_blocking &&
	       calls[meter->blocking[meter->n_blocking - 1]].end + SLACK < moment)
		meter->n_blocking--;
	return meter->n_blocking ? meter->blocking[meter->n_blocking - 1] : FLOW_NONE;
}

static uint64_t key_of_call(const struct meter *meter, uint32_t call)
{
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(meter->flow->trace, meter->flow->calls[call].span, &row);
	return hwy_mix((uint64_t)hwy_get(strip, HWY_NAME, row) << 32 ^
		       (uint64_t)hwy_get(strip, HWY_STACK, row));
}

static void fall_to_zero(struct meter *meter)
{
	const struct hwy_interval *window = &meter->phase->window;
	struct hwy_lead *lead = meter->lead;
	meter->zero = FLOW_NONE;
	meter->empty_since = meter->now;
	if (meter->now < window->from || meter->now >= window->to)
		return;
	uint32_t call = blocking_at(meter, meter->now);
	bool fresh = meter->elsewhere == FLOW_NONE;
	uint32_t *at = &meter->elsewhere;
	if (call != FLOW_NONE)
		at = hwy_map_put(&meter->zeros, key_of_call(meter, call), &fresh);
	if (fresh) {
		HWY_GROW(lead->zeros, lead->n_zeros, meter->cap_zeros);
		*at = lead->n_zeros;
		lead->zeros[lead->n_zeros++] = (struct lead_zero){.call = call};
	}
	lead->n_zero++;
	lead->zeros[*at].n++;
	meter->zero = *at;
}

static int most_often_first(const void *left, const void *right)
{
	const struct lead_zero *a = left, *b = right;
	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->call > b->call) - (a->call < b->call);
}

/* ---- events -------------------------------------------------------------------------------------- */

static uint32_t op_on(const struct meter *meter, uint32_t lane)
{
	return meter->flow->by_lane[meter->lanes.lanes[lane].first + meter->next_on[lane]];
}

static void enqueue(struct meter *meter)
{
	struct heap_entry *head = &meter->enqueued.at[0];
	uint32_t lane = head->what, op = op_on(meter, lane);
	uint64_t length = (uint64_t)(meter->flow->ops[op].end - meter->flow->ops[op].start);
	uint64_t left = left_at(meter, meter->now);
	if (meter->count++ == 0)
		end_empty(meter, meter->now);
	meter->rises = true;
	meter->waiting += length;
	meter->count_time += left;
	meter->work_time += (unsigned __int128)length * left * 2;
	int64_t work = work_at(meter, meter->now);
	if (work > meter->best_work && meter->now >= meter->phase->window.from) {
		meter->best_work = work;
		meter->best_enqueued = op;
		meter->best_begun = meter->next;
	}
	if (++meter->next_on[lane] == meter->lanes.lanes[lane].n) {
		heap_drop(&meter->enqueued);
		return;
	}
	/* On one stream nothing is enqueued before what stands before it. */
	int64_t time = lanes_enqueued(meter->flow, &meter->flow->ops[op_on(meter, lane)]);
	head->time = time > meter->now ? time : meter->now;
	heap_sink(&meter->enqueued);
}

static void begin(struct meter *meter, const struct flow_op *op, uint32_t index)
{
	uint64_t length = (uint64_t)(op->end - op->start), left = left_at(meter, op->start);
	/* As much is left of it when the window begins or it does, and when the one or the other ends. */
	int64_t to = meter->phase->window.to;
	uint64_t first = (uint64_t)op->end - (uint64_t)to + left, last = 0;
	if (op->end > to)
		last = (uint64_t)(op->end - to);
	meter->waiting -= length;
	meter->ends += (uint64_t)op->end;
	meter->work_time -= (unsigned __int128)length * left * 2;
	if (op->end > meter->phase->window.from)
		meter->work_time +=
			(unsigned __int128)first * first - (unsigned __int128)last * last;
	heap_add(&meter->running, op->end, index);
	meter->next++;
}

static void end(struct meter *meter)
{
	meter->ends -= (uint64_t)meter->running.at[0].time;
	meter->count_time -= left_at(meter, meter->now);
	heap_drop(&meter->running);
	if (--meter->count == 0)
		fall_to_zero(meter);
}

/* What happens next; at one moment first what is enqueued, then what begins, then what ends. False: nothing. */
static bool happen(struct meter *meter)
{
	const struct hwy_flow *flow = meter->flow;
	uint32_t index = FLOW_NONE;
	int64_t enqueued = INT64_MAX, begun = INT64_MAX, ended = INT64_MAX;
	if (meter->enqueued.n)
		enqueued = meter->enqueued.at[0].time;
	if (meter->next < meter->n) {
		index = meter->order ? meter->order[meter->next] : meter->next;
		begun = flow->ops[index].start;
	}
	if (meter->running.n)
		ended = meter->running.at[0].time;
	int64_t time = enqueued < begun ? enqueued : begun;
	time = ended < time ? ended : time;
	if (time == INT64_MAX || time >= meter->phase->window.to)
		return false;
	if (meter->rises && time > meter->now)
		pass(meter, time);
	meter->now = time;
	if (enqueued == time)
		do
			enqueue(meter);
		while (meter->enqueued.n && meter->enqueued.at[0].time == time);
	else if (begun == time)
		begin(meter, &flow->ops[index], index);
	else
		end(meter);
	return true;
}

/* ---- the lead in steps, and its picture ----------------------------------------------------------- */

static double steps_ahead(const struct hwy_phase *phase)
{
	double sum = 0;
	uint32_t at = 0, n = 0; /* the step in which the CPU is */
	for (uint32_t k = phase->first_steady; k < phase->first_steady + phase->n_steady; k++) {
		int64_t moment = phase->steps[k].device.from;
		while (at + 1 < phase->n_steps && phase->steps[at + 1].cpu.from <= moment)
			at++;
		const struct phase_step *step = &phase->steps[at];
		int64_t until = at + 1 < phase->n_steps ? step[1].cpu.from : step->cpu.to;
		double part = until > step->cpu.from ? (double)(moment - step->cpu.from) /
							       (double)(until - step->cpu.from)
						     : 0;
		part = part < 0 ? 0 : part > 1 ? 1 : part;
		sum += (double)at + part - (double)k;
		n++;
	}
	return n ? sum / n : 0;
}

/* The innermost range of a thread around a call, if it is further inside than what is known. */
static void look_inside(struct hwy_nests *nests, uint32_t thread, const struct flow_call *call,
			int64_t *name, int64_t *latest)
{
	for (uint32_t i = nests->first[thread]; i < nests->first[thread + 1]; i++) {
		struct hwy_nest *nest = &nests->nests[i];
		uint32_t row = nest_around(nest, call->start, call->end);
		if (row == NEST_NONE || hwy_get(nest->strip, HWY_START, row) < *latest)
			continue;
		*latest = hwy_get(nest->strip, HWY_START, row);
		*name = hwy_get(nest->strip, HWY_NAME, row);
	}
}

/* The innermost range around the call that enqueued an op: of its thread, else of its process (PyTorch's
 * backward thread has none of its own), else its step's name. */
static int64_t range_around(struct hwy_nests *nests, const struct meter *meter, uint32_t op)
{
	const struct hwy_flow *flow = meter->flow;
	const struct hwy_phase *phase = meter->phase;
	uint32_t index = flow->ops[op].call, n = flow->trace->n_threads;
	if (index == FLOW_NONE)
		return HWY_NONE;
	const struct flow_call *call = &flow->calls[index];
	int64_t name = HWY_NONE, latest = INT64_MIN;
	if (call->thread < n)
		look_inside(nests, call->thread, call, &name, &latest);
	for (uint32_t t = 0; latest == INT64_MIN && t < n; t++)
		if (flow->trace->threads[t].process == call->process)
			look_inside(nests, t, call, &name, &latest);
	for (uint32_t k = 0; name == HWY_NONE && k < phase->n_steps; k++)
		if (index >= phase->steps[k].first_call &&
		    index - phase->steps[k].first_call < phase->steps[k].n_calls)
			name = phase->steps[k].name;
	return name;
}

static void draw(const struct meter *meter, struct hwy_nests *nests)
{
	if (meter->best_enqueued == FLOW_NONE || meter->n == 0)
		return;
	uint32_t begun = meter->best_begun ? meter->best_begun - 1 : 0;
	begun = meter->order ? meter->order[begun] : begun;
	meter->lead->cpu_at = range_around(nests, meter, meter->best_enqueued);
	meter->lead->device_at = range_around(nests, meter, begun);
}

/* ---- one device ---------------------------------------------------------------------------------- */

/* The end of the ops that were enqueued by a time, or begun: a CPU that is far ahead has enqueued many of those
 * that begin later, and streams may take turns. */
static uint32_t ops_enqueued(const struct hwy_flow *flow, int64_t time)
{
	uint32_t end = flow_op_at(flow, time);
	for (uint32_t i = end; i < flow->n_ops && i - end < LATER; i++)
		if (lanes_enqueued(flow, &flow->ops[i]) < time)
			end = i + 1;
	return end;
}

static void open_meter(struct meter *meter, uint32_t device)
{
	const struct hwy_flow *flow = meter->flow;
	struct hwy_lead *lead = meter->lead;
	/* What has ended before the window needs no counting, nor does what is enqueued after it. */
	uint32_t first = flow_op_unfinished(flow, meter->phase->window.from);
	lanes_open(&meter->lanes, flow, device, first, ops_enqueued(flow, meter->phase->window.to));
	meter->next_on = hwy_zalloc(((size_t)meter->lanes.n + 1) * sizeof *meter->next_on);
	for (uint32_t l = 0; l < meter->lanes.n; l++)
		heap_add(&meter->enqueued, lanes_enqueued(flow, &flow->ops[op_on(meter, l)]), l);
	meter->n = flow->devices[device].n;
	if (flow->by_device)
		meter->order = flow->by_device + flow->devices[device].first;
	meter->next = lanes_place(meter->order, meter->n, first);
	meter->now = meter->empty_since = INT64_MIN;
	meter->rises = true;
	if (meter->cells)
		lead->series = hwy_zalloc(meter->cells * sizeof *lead->series);
	for (uint32_t i = 0; i < meter->cells; i++)
		lead->series[i].time = cell_start(meter, i);
	lead->n_series = meter->cells;
}

static void close_meter(struct meter *meter)
{
	lanes_close(&meter->lanes);
	hwy_map_free(&meter->zeros);
	free(meter->next_on);
	free(meter->enqueued.at);
	free(meter->running.at);
	free(meter->blocking);
}

static void measure(struct meter *meter, uint32_t device, struct hwy_nests *nests)
{
	struct hwy_lead *lead = meter->lead;
	const struct hwy_interval *window = &meter->phase->window;
	int64_t length = window->to - window->from;
	*lead = (struct hwy_lead){.cpu_at = HWY_NONE, .device_at = HWY_NONE};
	if (length <= 0)
		return;
	open_meter(meter, device);
	while (happen(meter))
		;
	pass(meter, window->to);
	if (meter->count == 0)
		end_empty(meter, window->to);
	lead->mean_count = (double)meter->count_time / (double)length;
	lead->mean_work = (int64_t)(meter->work_time / 2 / (uint64_t)length);
	lead->steps = steps_ahead(meter->phase);
	if (lead->n_zeros)
		qsort(lead->zeros, lead->n_zeros, sizeof *lead->zeros, most_often_first);
	draw(meter, nests);
	close_meter(meter);
}

bool lead_measure(const struct hwy_flow *flow, const struct hwy_phase *phase, uint32_t cells,
		  struct hwy_lead *leads, struct hwy_err *err)
{
	struct hwy_nests nests;
	if (!hwy_need(flow->trace, HWY_KIND_BIT(HWY_RANGE), BIT(START) | BIT(DUR) | BIT(NAME),
		      err) ||
	    !hwy_need(flow->trace, HWY_KIND_BIT(HWY_API), BIT(STACK), err))
		return false;
	nests_open(&nests, flow->trace, HWY_KIND_BIT(HWY_RANGE));
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		struct meter meter = {
			.flow = flow,
			.phase = phase,
			.lead = &leads[d],
			.cells = cells,
			.best_enqueued = FLOW_NONE,
			.zero = FLOW_NONE,
			.elsewhere = FLOW_NONE,
		};
		measure(&meter, d, &nests);
	}
	nests_close(&nests);
	return true;
}

void lead_free(struct hwy_lead *lead)
{
	free(lead->zeros);
	free(lead->series);
	*lead = (struct hwy_lead){0};
}
