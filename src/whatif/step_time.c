/* SPDX-License-Identifier: Apache-2.0 */
/* step_time.c - see step_time.h.
 *
 * A step begins with the first of its ops, wherever an edit has moved that op. Where the phase's
 * window begins before the first op of its first step, that step begins as long after the call
 * before as it did in the recording: an edit that removes CPU work before the first op shortens the
 * step. The same holds for the end of the window. The mean runs from the begin of the first steady
 * step to the begin of the step after the last steady one (or to the end of the work, where there
 * is no such step), as phases.h defines it for the trace. So the mean of the unedited graph is the
 * phase's own, to the nanosecond.
 */
#include "whatif/step_time.h"

#include <math.h>
#include <stdlib.h>

#include "base/quantile.h"
#include "base/ref.h"
#include "whatif/path.h"

enum { LEAST_STEPS = 3 }; /* with fewer steps no pace from step to step is measured */

static void measure_spread(struct pace *pace, const struct step_time *steps, uint32_t n)
{
	int64_t *lengths = hwy_array(n, sizeof *lengths);
	uint32_t n_lengths = 0, last = 0;
	for (uint32_t s = 1; s < n; s++) {
		/* A step without device work has no end of its own: the next length then spans
		 * two steps. */
		if (steps[s].end == INT64_MIN)
			continue;
		lengths[n_lengths++] = steps[s].end - steps[last].end;
		last = s;
	}
	hwy_sort(lengths, n_lengths);
	int64_t between_quartiles =
		hwy_rank_above(lengths, n_lengths, 75) - hwy_rank_above(lengths, n_lengths, 25);
	pace->spread = (double)between_quartiles / 2 / ceil(sqrt(n_lengths)) / pace->rate;
	free(lengths);
}

/* Sets 'bound' and 'host' from the critical path through the steady steps. */
static void measure_path(struct pace *pace, const struct hwy_graph *graph, const int64_t *ends,
			 const struct step_time *first, const struct step_time *last)
{
	struct hwy_path path;
	if (first->begin == INT64_MAX || last->last == GRAPH_NONE)
		return;
	path_find(&path, graph, ends, last->last, first->begin);
	int most = 0;
	int64_t all = 0;
	for (int class = 0; class < PATH_CLASSES; class ++) {
		all += path.classes[class];
		if (path.classes[class] > path.classes[most])
			most = class;
	}
	int64_t device =
		path.classes[PATH_COMPUTE] + path.classes[PATH_COMM] + path.classes[PATH_COPY];
	pace->bound = path_class_names[most];
	pace->host = all > 0 ? (double)(all - device) / (double)all : 0;
	path_free(&path);
}

enum { UP, DOWN, WORK, TRACKS };

static unsigned step_time_track_of(const struct hwy_flow *flow, uint32_t op)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[op].span, &row);
	int64_t direction = flow->ops[op].kind == HWY_COPY ? hwy_get(strip, HWY_DIRECTION, row)
							   : HWY_DIR_UNKNOWN;
	return direction == HWY_H2D ? UP : direction == HWY_D2H ? DOWN : WORK;
}

struct stream_track {  /* a stream's kernels, or its copies of one direction */
	int64_t work;  /* ns of work of the steady steps, overlaps counted once */
	int64_t reach; /* the latest recorded end of an op so far; INT64_MIN before the first op */
	/* Of the op that ends at 'reach': its length in the edited graph, and whether it is of a
	 * steady step. */
	int64_t length;
	bool is_steady;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Adds the op's length in the edited graph. Where the op and the op before it overlapped in the
 * recording, the time is counted to the op: a step's window ends where the next step begins,
 * even where its last op goes on. */
static void track_add(struct stream_track *track, const struct flow_op *op, int64_t length,
		      bool is_steady)
{
	if (track->reach > op->start && track->is_steady) {
		int64_t overlap = least(op->end, track->reach) - op->start;
		track->work -= least(overlap, least(length, track->length));
	}
	track->work += is_steady ? length : 0;
	if (op->end < track->reach)
		return;
	track->reach = op->end;
	track->length = length;
	track->is_steady = is_steady;
}

/* ns a step that the busiest stream works, with kernels or with copies of one direction: no fix
 * gets below that, whichever stream the work moves to. */
static int64_t busiest(const struct whatif *w, const struct hwy_graph *graph)
{
	const struct hwy_flow *flow = graph->flow;
	uint32_t first = w->phase->first_steady, n = w->phase->n_steady;
	size_t n_tracks = (size_t)flow->trace->n_lanes * TRACKS;
	struct stream_track *tracks = hwy_array(n_tracks, sizeof *tracks);
	for (size_t t = 0; t < n_tracks; t++)
		tracks[t] = (struct stream_track){.reach = INT64_MIN};
	for (uint32_t i = 0; i < graph->n; i++) { /* nodes are in order of their recorded begins */
		const struct graph_node *node = &graph->nodes[i];
		if (node->kind != GRAPH_OP)
			continue;
		const struct flow_op *op = &flow->ops[node->flow_index];
		uint32_t step = w->step_of[node->flow_index];
		track_add(&tracks[op->lane * TRACKS + step_time_track_of(flow, node->flow_index)],
			  op, node->length, step > first && step <= first + n);
	}
	int64_t most = 0;
	for (size_t t = 0; t < n_tracks; t++)
		most = tracks[t].work > most ? tracks[t].work : most;
	free(tracks);
	return n > 0 ? most / n : 0;
}

/* ns a step that a device works: the lengths in the edited graph, less the time for which work
 * overlapped in the recording. The most of all devices. */
static int64_t recorded_chain(const struct whatif *w, const struct hwy_graph *graph)
{
	const struct hwy_flow *flow = graph->flow;
	uint32_t first = w->phase->first_steady, n = w->phase->n_steady;
	int64_t *work = hwy_zarray(flow->n_devices, sizeof *work), most = 0;
	int64_t *reach = hwy_array(flow->n_devices, sizeof *reach);
	for (uint32_t d = 0; d < flow->n_devices; d++)
		reach[d] = INT64_MIN;
	for (uint32_t i = 0; i < graph->n; i++) { /* nodes are in order of their recorded begins */
		const struct graph_node *node = &graph->nodes[i];
		uint32_t step = node->kind == GRAPH_OP ? w->step_of[node->flow_index] : 0;
		if (step <= first || step > first + n)
			continue;
		const struct flow_op *op = &flow->ops[node->flow_index];
		int64_t end = op->end < reach[op->device] ? op->end : reach[op->device];
		int64_t overlap = end > op->start ? end - op->start : 0;
		work[op->device] += node->length > overlap ? node->length - overlap : 0;
		reach[op->device] = op->end > reach[op->device] ? op->end : reach[op->device];
		most = work[op->device] > most ? work[op->device] : most;
	}
	free(work);
	free(reach);
	return n > 0 ? most / n : 0;
}

struct pace step_time_measure(const struct whatif *w, const struct hwy_graph *graph,
			      const int64_t *ends, bool with_bound)
{
	const struct hwy_phase *phase = w->phase;
	struct step_time *steps = replayed_steps_time(w, graph, ends);
	uint32_t first = phase->first_steady, n = phase->n_steady, after = first + n;
	struct pace pace = {.bound = ""};
	bool has_next = after < phase->n_steps && steps[after].begin != INT64_MAX;
	int64_t to = has_next ? steps[after].begin : INT64_MIN;
	for (uint32_t s = first; s < after && !has_next; s++)
		to = steps[s].end > to ? steps[s].end : to;
	if (!has_next && w->tail.is_set && after == phase->n_steps) {
		int64_t tail = replayed_steps_moment(&w->tail, ends);
		to = tail > to ? tail : to;
	}
	pace.has_next = has_next;
	if (n > 0 && steps[first].begin != INT64_MAX)
		pace.mean = (to - steps[first].begin) / n;
	if (n >= LEAST_STEPS && steps[first].end != INT64_MIN &&
	    steps[after - 1].end > steps[first].end)
		pace.rate = (double)(steps[after - 1].end - steps[first].end) / (n - 1);
	if (pace.rate > 0)
		measure_spread(&pace, steps + first, n);
	pace.is_unwaited = graph->is_unwaited;
	pace.floor = busiest(w, graph);
	pace.chain = w->is_order_unknown ? recorded_chain(w, graph) : 0;
	if (n > 0 && with_bound)
		measure_path(&pace, graph, ends, &steps[first], &steps[after - 1]);
	free(steps);
	return pace;
}
