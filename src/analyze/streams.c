/* streams.c - what each stream did: busy and idle, who kept it waiting, its queue and its launches.
 *
 * A gap belongs to the op that ends it. HTA's rule: launched after the stream had run dry, it is
 * the host's (host wait); launched in time and begun soon after, the device's (kernel wait); else
 * other. HTA takes "run dry" as the end of the op before; here it is the latest end so far, so that
 * ops which overlap on one stream make no negative gaps and the three add up to the stream's idle
 * time.
 */
#include <stdlib.h>

#include "analyze/breakdown.h"

struct along { /* what a walk along one stream carries */
	struct hwy_work *work;
	const struct hwy_breakdown_options *options;
	struct hwy_cover busy;
	struct hwy_launches launches;
	struct hwy_map graphs; /* graph launches that have their entry in the queue */
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

/* The queue's entry and the delay of one op. Nodes of a graph share a launch and make one entry,
 * the first of them. */
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
	launches_add(&along->launches, call->at.from, at.from, at.from - call->at.to);
}

static void streams_count_kernel(struct hwy_stream_part *part, const struct along *along,
				 int64_t name)
{
	if (hwy_class(along->work->trace, HWY_KERNEL, name) == HWY_COMM)
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
	delays_measure(&along.launches, options->late, &part->delays);
	launches_free(&along.launches);
	hwy_map_free(&along.graphs);
}

struct place { /* where a stream stands in the result */
	int64_t device, process, number;
	uint32_t lane;
};

static struct place streams_place_of(const struct hwy_trace *trace, uint32_t index)
{
	const struct hwy_lane *lane = &trace->lanes[index];
	bool known = lane->stream >= 0 && lane->stream < trace->n_streams;
	return (struct place){
		.device = lane->device == HWY_NONE ? INT64_MAX : lane->device,
		.process = lane->process,
		.number = known ? trace->streams[lane->stream].number : HWY_NONE,
		.lane = index,
	};
}

static int streams_by_place(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
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
	struct place *places = hwy_alloc((trace->n_strips + 1) * sizeof *places);
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(work, &trace->strips[s]) &&
		    (n == 0 || places[n - 1].lane != trace->strips[s].lane))
			places[n++] = streams_place_of(trace, trace->strips[s].lane);
	if (n)
		qsort(places, n, sizeof *places, streams_by_place);
	breakdown->streams = hwy_zalloc((n + 1) * sizeof *breakdown->streams);
	for (uint32_t i = 0; i < n; i++) {
		struct hwy_stream_part *part = &breakdown->streams[breakdown->n_streams];
		*part = (struct hwy_stream_part){.lane = places[i].lane};
		measure_stream(work, options, part);
		if (part->n_ops)
			breakdown->n_streams++;
		else
			free(part->queue.series);
	}
	free(places);
}
