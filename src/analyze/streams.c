/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c - what each stream did: busy and idle time, what it waited for, its queue and its
 * launches.
 *
 * A gap is charged by the op that ends it, with HTA's rule: if the op was launched after the
 * stream had run dry, the gap is host wait; if the op was launched in time and began soon after,
 * kernel wait; else other. For HTA a stream has run dry at the end of the op before; here at the
 * latest end so far, so that ops which overlap on one stream make no negative gaps and the three
 * add up to the stream's idle time.
 */
#include <stdlib.h>

#include "analyze/breakdown.h"

struct along { /* the state of a walk along the ops of one stream */
	struct hwy_work *work;
	const struct hwy_breakdown_options *options;
	struct hwy_cover busy;
	struct queue_launches launches;
	struct hwy_map graphs; /* ids of the graph launches that are in 'launches' */
};

static void charge_gap(struct hwy_stream_part *part, const struct along *along,
		       struct hwy_interval gap, const struct hwy_call *call)
{
	int64_t length = gap.to - gap.from;
	if (call && call->at.from > gap.from)
		part->host_wait += length;
	else if (length < along->options->kernel_wait)
		part->kernel_wait += length;
	else
		part->other += length;
}

/* Adds the launch of one op to the queue. The nodes of a graph share a launch, which is added
 * with the first. */
static void add_launch(struct hwy_stream_part *part, struct along *along, enum hwy_kind kind,
		       struct hwy_interval at, const struct hwy_call *call)
{
	if (call->role == HWY_ROLE_GRAPH_LAUNCH) {
		bool fresh;
		hwy_map_put(&along->graphs, call->id, &fresh);
		if (!fresh)
			return;
	} else {
		int64_t length = call->at.to - call->at.from;
		bool is_short = length <= along->options->short_call && at.to - at.from < length;
		part->delays.short_ops += is_short;
		part->delays.short_kernels += is_short && kind == HWY_KERNEL;
	}
	queue_launches_add(&along->launches, call->at.from, at.from, at.from - call->at.to);
}

static void streams_count_kernel(struct hwy_stream_part *part, const struct along *along,
				 int64_t name)
{
	if (hwy_class_as_hta(along->work->trace, HWY_KERNEL, name) == HWY_COMM)
		part->n_comm++;
	else
		part->n_kernel++;
}

static void walk_stream(struct hwy_stream_part *part, struct along *along)
{
	struct hwy_walk walk = hwy_walk(along->work->trace, part->lane, HWY_DEVICE_KINDS);
	while (hwy_walk_next(&walk)) {
		struct hwy_interval whole, at, fresh;
		whole.from = hwy_get(walk.strip, HWY_START, walk.row);
		whole.to = whole.from + hwy_get(walk.strip, HWY_DUR, walk.row);
		if (!work_counts(along->work, walk.strip, walk.row, whole.from, whole.to, &at))
			continue;
		struct hwy_call call;
		bool has_call = work_call(along->work, walk.strip, walk.row, &call);
		if (along->busy.pieces && at.from > along->busy.reach)
			charge_gap(part, along, (struct hwy_interval){along->busy.reach, at.from},
				   has_call ? &call : NULL);
		if (!along->busy.pieces)
			part->from = at.from;
		cover_add(&along->busy, at.from, at.to, &fresh);
		part->n_ops++;
		if (walk.strip->kind == HWY_KERNEL)
			streams_count_kernel(part, along, hwy_get(walk.strip, HWY_NAME, walk.row));
		if (has_call)
			add_launch(part, along, (enum hwy_kind)walk.strip->kind, whole, &call);
	}
	part->to = along->busy.pieces ? along->busy.reach : 0;
	part->busy = along->busy.total;
}

static void measure_stream(struct hwy_work *work, const struct hwy_breakdown_options *options,
			   struct hwy_stream_part *part)
{
	struct along along = {.work = work, .options = options};
	walk_stream(part, &along);
	queue_measure(&along.launches, options->series, &part->queue);
	queue_delays_measure(&along.launches, options->late, &part->delays);
	queue_launches_free(&along.launches);
	hwy_map_free(&along.graphs);
}

struct stream_order { /* the sort key of streams in the result: device, process, stream number */
	int64_t device, process, number;
	uint32_t lane;
};

static struct stream_order order_of_lane(const struct hwy_trace *trace, uint32_t index)
{
	const struct hwy_lane *lane = &trace->lanes[index];
	bool has_stream = lane->stream >= 0 && lane->stream < trace->n_streams;
	return (struct stream_order){
		.device = lane->device == HWY_NONE ? INT64_MAX : lane->device,
		.process = lane->process,
		.number = has_stream ? trace->streams[lane->stream].number : HWY_NONE,
		.lane = index,
	};
}

static int by_stream_order(const void *left, const void *right)
{
	const struct stream_order *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->lane < b->lane ? -1 : a->lane > b->lane;
}

void streams_measure(struct hwy_work *work, const struct hwy_breakdown_options *options,
		     struct hwy_breakdown *breakdown)
{
	const struct hwy_trace *trace = work->trace;
	struct stream_order *orders = hwy_array(trace->n_strips, sizeof *orders);
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(work, &trace->strips[s]) &&
		    (n == 0 || orders[n - 1].lane != trace->strips[s].lane))
			orders[n++] = order_of_lane(trace, trace->strips[s].lane);
	if (n)
		qsort(orders, n, sizeof *orders, by_stream_order);
	breakdown->streams = hwy_zarray(n, sizeof *breakdown->streams);
	for (uint32_t i = 0; i < n; i++) {
		struct hwy_stream_part *part = &breakdown->streams[breakdown->n_streams];
		*part = (struct hwy_stream_part){.lane = orders[i].lane};
		measure_stream(work, options, part);
		if (part->n_ops)
			breakdown->n_streams++;
		else
			free(part->queue.series);
	}
	free(orders);
}
