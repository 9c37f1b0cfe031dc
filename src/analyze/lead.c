/* SPDX-License-Identifier: Apache-2.0 */
/* lead.c - see lead.h.
 *
 * Three kinds of events happen in order of time: an op is enqueued (its call has returned, or
 * the op has begun before), begins, ends. Cursors yield them: one along each stream, merged, for
 * what is enqueued; one along the device's ops for what begins; a heap of the few running ops
 * for what ends. Between two events the count is constant and the work left falls by the number
 * of running ops each ns, so sums are exact and take time linear in the ops. Sums over time are
 * made op by op: an op is added as if it stayed until the window's end, and the rest is
 * subtracted when it ends. Count and work are largest right after an op was enqueued, so maxima
 * are looked for only there.
 */
#include "analyze/lead.h"

#include <stdlib.h>

#include "analyze/lanes.h"
#include "base/heap.h"

/* How many ops that begin after a moment are searched for ops that were enqueued before that
 * moment. */
enum { LATER_OPS = 4096 };

struct meter { /* the state of the walk along the events of one device */
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	struct hwy_lead *lead;
	uint32_t cells;
	/* The next five members hold the events that are still to come. */
	struct flow_lanes lanes;
	uint32_t *next_on;        /* for each lane, how many of the lane's ops were enqueued */
	struct hwy_heap enqueued; /* lanes, by the moment at which their next op is enqueued */
	const uint32_t *order;    /* the device's ops by start; NULL stands for 0, 1, 2 … */
	uint32_t next, n;         /* how many of the device's ops have begun, and how many it has */
	struct hwy_heap running;  /* the ops that run now, ordered by their end */
	/* The next members describe the current moment 'now'. */
	int64_t now;
	uint32_t count; /* how many ops are enqueued and not finished at 'now' */
	/* ns of enqueued ops that have not begun; sum of the ends of running ops. Both may wrap;
	 * work_at is right all the same, since it is a difference. */
	uint64_t waiting, ends;
	int64_t empty_since;
	bool rises;    /* an op was enqueued since the maxima were last compared */
	uint32_t cell; /* the point of the series that 'now' belongs to */
	/* Sums over time of the count, and of twice the work. The sums may wrap on the way, but the
	 * final values fit. */
	unsigned __int128 count_time, work_time;
};

/* ---- time goes by ---------------------------------------------------------------------------- */

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

/* Yields how many ns of the window come after a moment that is before the window's end. */
static uint64_t left_at(const struct meter *meter, int64_t moment)
{
	const struct hwy_interval *window = &meter->phase->window;
	return (uint64_t)(window->to - (moment > window->from ? moment : window->from));
}

/* Moves the present to the next event, and compares count and work as they were until then with
 * the maxima. */
static void pass_time(struct meter *meter, int64_t to)
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

/* Adds the time until now, in which nothing was enqueued, to the empty time. */
static void end_empty(struct meter *meter, int64_t until)
{
	const struct hwy_interval *window = &meter->phase->window;
	int64_t from = meter->empty_since > window->from ? meter->empty_since : window->from;
	if (until <= from)
		return;
	meter->lead->empty += until - from;
}

static void fall_to_zero(struct meter *meter)
{
	const struct hwy_interval *window = &meter->phase->window;
	meter->empty_since = meter->now;
	meter->lead->n_zero += meter->now >= window->from && meter->now < window->to;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t op_on(const struct meter *meter, uint32_t lane)
{
	return meter->flow->by_lane[meter->lanes.lanes[lane].first + meter->next_on[lane]];
}

static void enqueue(struct meter *meter)
{
	struct hwy_heap_entry *head = &meter->enqueued.at[0];
	uint32_t lane = head->what, op = op_on(meter, lane);
	uint64_t length = (uint64_t)(meter->flow->ops[op].end - meter->flow->ops[op].start);
	uint64_t left = left_at(meter, meter->now);
	if (meter->count++ == 0)
		end_empty(meter, meter->now);
	meter->rises = true;
	meter->waiting += length;
	meter->count_time += left;
	meter->work_time += (unsigned __int128)length * left * 2;
	if (++meter->next_on[lane] == meter->lanes.lanes[lane].n) {
		hwy_heap_drop(&meter->enqueued);
		return;
	}
	/* Ops of one stream are enqueued in their order, whatever the clocks say. */
	int64_t time = lanes_enqueued(meter->flow, &meter->flow->ops[op_on(meter, lane)]);
	head->time = time > meter->now ? time : meter->now;
	hwy_heap_sink(&meter->enqueued);
}

static void lead_begin(struct meter *meter, const struct flow_op *op, uint32_t index)
{
	uint64_t length = (uint64_t)(op->end - op->start), left = left_at(meter, op->start);
	/* The ns of the op that are left at the later of its begin and the window's, and at the
	 * earlier of its end and the window's. */
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
	hwy_heap_add(&meter->running, op->end, index);
	meter->next++;
}

static void lead_end(struct meter *meter)
{
	meter->ends -= (uint64_t)meter->running.at[0].time;
	meter->count_time -= left_at(meter, meter->now);
	hwy_heap_drop(&meter->running);
	if (--meter->count == 0)
		fall_to_zero(meter);
}

/* Processes the next event; at one moment ops are enqueued first, then begin, then end. Yields
 * false where no event is left. */
static bool next_event(struct meter *meter)
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
		pass_time(meter, time);
	meter->now = time;
	if (enqueued == time)
		do
			enqueue(meter);
		while (meter->enqueued.n && meter->enqueued.at[0].time == time);
	else if (begun == time)
		lead_begin(meter, &flow->ops[index], index);
	else
		lead_end(meter);
	return true;
}

/* ---- the lead in steps ----------------------------------------------------------------------- */

static double steps_ahead(const struct hwy_phase *phase)
{
	double sum = 0;
	uint32_t cpu = 0, n = 0; /* cpu is the index of the step that the CPU is in */
	for (uint32_t k = phase->first_steady; k < phase->first_steady + phase->n_steady; k++) {
		int64_t moment = phase->steps[k].device.from;
		while (cpu + 1 < phase->n_steps && phase->steps[cpu + 1].cpu.from <= moment)
			cpu++;
		const struct phase_step *step = &phase->steps[cpu];
		int64_t until = cpu + 1 < phase->n_steps ? step[1].cpu.from : step->cpu.to;
		double part = until > step->cpu.from ? (double)(moment - step->cpu.from) /
							       (double)(until - step->cpu.from)
						     : 0;
		part = part < 0 ? 0 : part > 1 ? 1 : part;
		sum += (double)cpu + part - (double)k;
		n++;
	}
	return n ? sum / n : 0;
}

/* ---- one device ------------------------------------------------------------------------------ */

/* All ops that begin or were enqueued before a time have a smaller index than this. A CPU that
 * is far ahead has enqueued many ops that begin later, and ops of several streams may alternate. */
static uint32_t ops_enqueued(const struct hwy_flow *flow, int64_t time)
{
	uint32_t end = flow_op_at(flow, time);
	for (uint32_t i = end; i < flow->n_ops && i - end < LATER_OPS; i++)
		if (lanes_enqueued(flow, &flow->ops[i]) < time)
			end = i + 1;
	return end;
}

static void open_meter(struct meter *meter, uint32_t device)
{
	const struct hwy_flow *flow = meter->flow;
	struct hwy_lead *lead = meter->lead;
	/* Ops that end before the window do not count, nor do ops that are enqueued after the
	 * window. */
	uint32_t first = flow_op_unfinished(flow, meter->phase->window.from);
	lanes_open(&meter->lanes, flow, device, first, ops_enqueued(flow, meter->phase->window.to));
	meter->next_on = hwy_zarray(meter->lanes.n, sizeof *meter->next_on);
	for (uint32_t l = 0; l < meter->lanes.n; l++)
		hwy_heap_add(&meter->enqueued, lanes_enqueued(flow, &flow->ops[op_on(meter, l)]),
			     l);
	meter->n = flow->devices[device].n;
	if (flow->by_device)
		meter->order = flow->by_device + flow->devices[device].first;
	meter->next = lanes_place(meter->order, meter->n, first);
	meter->now = meter->empty_since = INT64_MIN;
	meter->rises = true;
	if (meter->cells)
		lead->series = hwy_zarray(meter->cells, sizeof *lead->series);
	for (uint32_t i = 0; i < meter->cells; i++)
		lead->series[i].time = cell_start(meter, i);
	lead->n_series = meter->cells;
}

static void close_meter(struct meter *meter)
{
	lanes_close(&meter->lanes);
	free(meter->next_on);
	free(meter->enqueued.at);
	free(meter->running.at);
}

static void measure_device(struct meter *meter, uint32_t device)
{
	struct hwy_lead *lead = meter->lead;
	const struct hwy_interval *window = &meter->phase->window;
	int64_t length = window->to - window->from;
	*lead = (struct hwy_lead){0};
	if (length <= 0)
		return;
	open_meter(meter, device);
	while (next_event(meter))
		;
	pass_time(meter, window->to);
	if (meter->count == 0)
		end_empty(meter, window->to);
	lead->mean_count = (double)meter->count_time / (double)length;
	lead->mean_work = (int64_t)(meter->work_time / 2 / (uint64_t)length);
	lead->steps = steps_ahead(meter->phase);
	close_meter(meter);
}

void lead_measure(const struct hwy_flow *flow, const struct hwy_phase *phase, uint32_t cells,
		  struct hwy_lead *leads)
{
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		struct meter meter = {
			.flow = flow,
			.phase = phase,
			.lead = &leads[d],
			.cells = cells,
		};
		measure_device(&meter, d);
	}
}

void lead_free(struct hwy_lead *lead)
{
	free(lead->series);
	*lead = (struct hwy_lead){0};
}
