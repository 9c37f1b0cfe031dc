/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.c - opens a phase for predictions, edits its graph, and predicts its step time.
 *
 * A prediction is the phase's mean step, changed as much as the edit changes the pace at which
 * steps end in the replay. The steps of an excerpt are scaled to the mean of all steps.
 */
#include "whatif/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "whatif/joint.h"
#include "whatif/replayed_steps.h"
#include "whatif/step_time.h"

/* The half width of a prediction's bar, as a share of the predicted step, is a sum of these. On an
 * H200 three of four measured steps lay inside the bar (docs/whatif.md). */
#define DOUBT_SHARE 0.04 /* every prediction has this doubt */
/* Doubt per share by which the edit changes the step. */
#define DOUBT_CHANGE_SHARE 0.08
/* Doubt per share by which the edit changes the step, times the critical path's share on the
 * host. */
#define DOUBT_HOST_SHARE 0.20
#define DOUBT_TABLE_SHARE 0.05   /* added where the costs of recording come from a table */
#define DOUBT_SAMPLES_SHARE 0.20 /* added where samples were taken: their cost is not known */

/* An excerpt's graph has at most so many calls and ops, so that an edit takes a few ms. */
enum { EXCERPT_CALLS_AND_OPS = 60000 };

/* ---- edited graphs --------------------------------------------------------------------------- */

static bool has_place(const struct graph_node *node)
{
	bool found = false;
	for (int place = 0; place < GRAPH_PLACES; place++)
		found |= node->before[place] != GRAPH_NONE;
	return found;
}

/* Restores the predecessors of nodes that an edit has left without any, and removes those of
 * nodes that never had any: the delay of a node without predecessors is a moment, that of any
 * other node a duration. Only the CPU's work between the begin of the window and the first call
 * may have been shortened, by lead_cut. */
static void keep_anchors(struct hwy_graph *graph, const struct hwy_graph *was, uint32_t lead_call,
			 int64_t lead_cut)
{
	uint32_t extra = 0, kept = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		struct graph_node *node = &graph->nodes[i];
		const struct graph_node *old = &was->nodes[i];
		bool is_anchor = !has_place(old), has_any = has_place(node);
		for (; extra < graph->n_extras && graph->extras[extra].node == i; extra++) {
			has_any = true;
			if (!is_anchor)
				graph->extras[kept++] = graph->extras[extra];
		}
		if (is_anchor)
			node->delay = old->delay - (i == lead_call ? lead_cut : 0);
		if (is_anchor || !has_any) {
			memcpy(node->before, old->before, sizeof node->before);
			memcpy(node->lag, old->lag, sizeof node->lag);
			node->flags = old->flags;
		}
	}
	graph->n_extras = kept;
}

/* How a prediction assumes the program or the machine to differ from the recording. */
struct assumption {
	double machine; /* factor on the machine's latencies that edits use */
	double work;    /* factor on the length of all device work */
};
static const struct assumption as_is = {1, 1};

static const struct whatif *ranks_of(const struct whatif *w, uint32_t *n)
{
	*n = w->joint ? w->joint->n : 1;
	return w->joint ? w->joint->ranks : w;
}

static struct whatif assume(const struct whatif *w, const struct assumption *a)
{
	struct whatif other = *w;
	other.machine.graph_launch = (int64_t)((double)w->machine.graph_launch * a->machine);
	other.machine.graph_next = (int64_t)((double)w->machine.graph_next * a->machine);
	other.machine.own_work = a->machine > 1   ? w->machine.own_work / 2
				 : a->machine < 1 ? w->machine.own_work * 2
						  : w->machine.own_work;
	other.machine.h2d.latency = (int64_t)((double)w->machine.h2d.latency * a->machine);
	other.machine.d2h.latency = (int64_t)((double)w->machine.d2h.latency * a->machine);
	return other;
}

static struct hwy_graph copy_scaled(const struct whatif *w, double work)
{
	struct hwy_graph copy = graph_copy(&w->graph);
	for (uint32_t i = 0; work != 1 && i < copy.n; i++) {
		struct graph_node *node = &copy.nodes[i];
		if (node->kind == GRAPH_OP && w->step_of[node->flow_index])
			node->length = (int64_t)((double)node->length * work);
	}
	return copy;
}

/* Makes each edit on every rank that it applies to; false where an edit applies to no rank. */
static bool apply_each(struct editing *e, uint32_t ranks, const struct whatif_edit *edits,
		       uint32_t n, struct hwy_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		bool applies = false;
		for (uint32_t r = 0; r < ranks; r++)
			applies |= edits[i].kind->apply(&e[r], edits[i].arguments, err);
		if (!applies)
			return false;
	}
	return true;
}

/* The edited graphs of all ranks; each, and the list, is to be freed. NULL where an edit does not
 * apply. */
static struct hwy_graph *edit_all(const struct whatif *w, const struct whatif_edit *edits,
				  uint32_t n, const struct assumption *a, char *note,
				  struct hwy_err *err)
{
	uint32_t ranks;
	const struct whatif *all = ranks_of(w, &ranks);
	struct hwy_graph *graphs = hwy_zarray(ranks, sizeof *graphs);
	struct whatif *others = hwy_zarray(ranks, sizeof *others);
	struct editing *e = hwy_zarray(ranks, sizeof *e);
	for (uint32_t r = 0; r < ranks; r++) {
		others[r] = assume(&all[r], a);
		graphs[r] = copy_scaled(&all[r], a->work);
		e[r] = (struct editing){.w = &others[r],
					.flow = graphs[r].flow,
					.graph = &graphs[r],
					.places = all[r].analysis->places};
	}
	bool done = apply_each(e, ranks, edits, n, err);
	for (uint32_t r = 0; r < ranks; r++) {
		if (done)
			keep_anchors(&graphs[r], &all[r].graph, all[r].lead_call, e[r].lead_cut);
		else
			graph_free(&graphs[r]);
		if (note && &all[r] == w)
			memcpy(note, e[r].note, WHATIF_NOTE);
	}
	free(others);
	free(e);
	if (done)
		return graphs;
	free(graphs);
	return NULL;
}

bool whatif_apply(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		  struct hwy_graph *graph, char note[WHATIF_NOTE], struct hwy_err *err)
{
	uint32_t ranks;
	const struct whatif *all = ranks_of(w, &ranks);
	struct hwy_graph *graphs = edit_all(w, edits, n, &as_is, note, err);
	for (uint32_t r = 0; graphs && r < ranks; r++)
		if (&all[r] == w)
			*graph = graphs[r];
		else
			graph_free(&graphs[r]);
	free(graphs);
	return graphs != NULL;
}

bool whatif_replay_edits(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
			 struct hwy_graph *graph, int64_t **ends, char note[WHATIF_NOTE],
			 struct hwy_err *err)
{
	uint32_t ranks;
	const struct whatif *all = ranks_of(w, &ranks);
	struct hwy_graph *graphs = edit_all(w, edits, n, &as_is, note, err);
	if (!graphs)
		return false;
	struct links_times times = {0};
	if (w->joint)
		times = links_replay(&w->joint->links, graphs);
	for (uint32_t r = 0; r < ranks; r++) {
		if (&all[r] != w) {
			graph_free(&graphs[r]);
			continue;
		}
		*graph = graphs[r];
		*ends = hwy_array(graph->n, sizeof **ends);
		if (w->joint)
			memcpy(*ends, times.ends[r], graph->n * sizeof **ends);
		else
			replay_run(graph, *ends);
	}
	if (w->joint)
		links_times_free(&times, ranks);
	free(graphs);
	return true;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static struct pace replay_pace(const struct whatif *w, const struct hwy_graph *graph,
			       bool with_bound)
{
	int64_t *ends = hwy_array(graph->n, sizeof *ends);
	replay_run(graph, ends);
	struct pace pace = step_time_measure(w, graph, ends, with_bound);
	free(ends);
	return pace;
}

/* Yields the paces of all ranks, replayed together, which the caller frees; NULL where the edits
 * apply to no rank. */
static struct pace *edited_paces(const struct whatif *w, const struct whatif_edit *edits,
				 uint32_t n, const struct assumption *a, struct hwy_err *err)
{
	uint32_t ranks;
	const struct whatif *all = ranks_of(w, &ranks);
	struct hwy_graph *graphs = edit_all(w, edits, n, a, NULL, err);
	if (!graphs)
		return NULL;
	struct pace *paces = hwy_zarray(ranks, sizeof *paces);
	bool with_bound = a == &as_is; /* 'bound' is never shown for an assumption */
	if (w->joint) {
		struct links_times times = links_replay(&w->joint->links, graphs);
		for (uint32_t r = 0; r < ranks; r++)
			paces[r] =
				step_time_measure(&all[r], &graphs[r], times.ends[r], with_bound);
		links_times_free(&times, ranks);
	} else {
		paces[0] = replay_pace(w, graphs, with_bound);
	}
	for (uint32_t r = 0; r < ranks; r++)
		graph_free(&graphs[r]);
	free(graphs);
	return paces;
}

/* The edited mean step in ns. Where no step follows the steady ones, the mean reaches from a begin
 * to an end, and would be wrong where steps overlap more or less than before; then the unedited
 * mean is scaled by the change of the pace of the steps' ends. So it is for several ranks, whose
 * recordings do not begin together. */
static int64_t step_of(const struct whatif *w, const struct pace *pace, const struct pace *base)
{
	if ((!pace->has_next || w->joint) && base->rate > 0 && pace->rate > 0)
		return (int64_t)((double)base->mean * (pace->rate / base->rate));
	return pace->mean;
}

/* Whether the run has steps enough for all ranks to have one pace. In fewer steps the time that
 * a rank waits for others depends on when each rank was recorded from: then the run's step is
 * that of the rank that is looked at. */
static bool joint_has_pace(const struct whatif *w)
{
	return !w->joint || w->joint->has_pace;
}

/* The step of a run: the step of its slowest rank, in ns. *which (may be NULL) becomes the pace
 * of that rank. overlaps: an edit lets work overlap more than in the recording. */
static int64_t slowest(const struct whatif *w, const struct pace *paces, const struct pace *base,
		       bool overlaps, const struct pace **which)
{
	uint32_t ranks;
	int64_t most = INT64_MIN;
	const struct whatif *all = ranks_of(w, &ranks);
	bool has_pace = joint_has_pace(w);
	for (uint32_t r = 0; r < ranks; r++) {
		if (!has_pace && r != w->rank)
			continue;
		int64_t step = step_of(w, &paces[r], &base[r]);
		step = step > paces[r].floor ? step : paces[r].floor;
		step = overlaps || step > paces[r].chain ? step : paces[r].chain;
		if (all[r].scale != 1)
			step = (int64_t)((double)step * all[r].scale);
		if ((paces[r].is_unwaited && has_pace) || step <= most)
			continue;
		most = step;
		if (which)
			*which = &paces[r];
	}
	return most;
}

/* The step with these edits in ns, and the pace of the rank that decides it; -1 where the edits do
 * not apply. */
static int64_t edited_step(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
			   const struct assumption *a, const struct pace *base, struct pace *pace,
			   struct hwy_err *err)
{
	struct pace *paces = edited_paces(w, edits, n, a, err);
	if (!paces)
		return -1;
	bool only_removes = true, overlaps = false;
	for (uint32_t i = 0; i < n; i++) {
		only_removes &= edits[i].kind->only_removes;
		overlaps |= edits[i].kind->overlaps;
	}
	const struct pace *which = paces;
	int64_t step = slowest(w, paces, base, overlaps, &which);
	int64_t most = slowest(w, base, base, overlaps, NULL);
	/* Removed work cannot slow the program down: a longer step comes from the first or the
	 * last step only. */
	if (only_removes && step > most)
		step = most;
	*pace = *which;
	if (overlaps)
		pace->chain = 0;
	free(paces);
	return step;
}

static struct pace *base_paces(const struct whatif *w)
{
	uint32_t ranks;
	const struct whatif *all = ranks_of(w, &ranks);
	struct pace *base = hwy_zarray(ranks, sizeof *base);
	for (uint32_t r = 0; r < ranks; r++)
		base[r] = (struct pace){.mean = all[r].base_mean, .rate = all[r].base_rate};
	return base;
}

static double change(int64_t from, int64_t to)
{
	double more = (double)(from > to ? from : to), less = (double)(from > to ? to : from);
	return more > 0 ? (more - less) / more : 0;
}

/* For the bar of a prediction the machine's latencies are assumed to be half as large, and one and
 * a half times. */
bool whatif_predict(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		    struct whatif_prediction *p, struct hwy_err *err)
{
	static const struct assumption fast = {.machine = 0.5, .work = 1};
	static const struct assumption slow = {.machine = 1.5, .work = 1};
	struct pace pace, ignored, *base = base_paces(w);
	int64_t step = edited_step(w, edits, n, &as_is, base, &pace, err), low = -1, high = -1;
	if (step >= 0) {
		low = edited_step(w, edits, n, &fast, base, &ignored, err);
		high = edited_step(w, edits, n, &slow, base, &ignored, err);
	}
	free(base);
	if (step < 0 || low < 0 || high < 0)
		return false;
	double doubt =
		DOUBT_SHARE + (w->machine.is_measured ? 0 : DOUBT_TABLE_SHARE) +
		(w->machine.has_samples ? DOUBT_SAMPLES_SHARE : 0) + pace.spread +
		change(w->base.step, step) * (DOUBT_CHANGE_SHARE + DOUBT_HOST_SHARE * pace.host);
	p->step = step;
	p->bound = pace.bound;
	low = low < step ? low : step;
	/* A step cannot take less than 0 ns. */
	p->p10 = doubt < 1 ? (int64_t)((double)low * (1 - doubt)) : 0;
	int64_t chain = (int64_t)((double)pace.chain * w->scale);
	/* No step is shorter than 'chain', the device's own work in a step: neither is the bar. */
	if (p->p10 < chain)
		p->p10 = chain < step ? chain : step;
	p->p90 = (int64_t)((double)(high > step ? high : step) * (1 + doubt));
	p->speedup = step > 0 ? (double)w->base.step / (double)step : 1;
	return true;
}

/* ---- runs without steps ---------------------------------------------------------------------- */

/* From the first begin to the last end on the first rank's clock. */
static int64_t length_of_run(const struct joint *joint, const struct hwy_graph *graphs,
			     const struct links_times *times)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (uint32_t r = 0; r < joint->n; r++)
		for (uint32_t i = 0; i < graphs[r].n && !graphs[r].is_unwaited; i++) {
			const struct exchange_clock *clock = joint->clocks[r];
			int64_t at = graph_measured(&graphs[r], i);
			int64_t shift = clock ? clock->map(clock->user, at) - at
					      : joint->collectives.shift[r];
			int64_t end = times->ends[r][i] + shift;
			int64_t begin = end - graphs[r].nodes[i].length;
			first = begin < first ? begin : first;
			last = end > last ? end : last;
		}
	return last > first ? last - first : 0;
}

bool whatif_run_length(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		       int64_t *length, struct hwy_err *err)
{
	for (uint32_t i = 0; i < n; i++)
		if (!edits[i].kind->needs_no_steps)
			return hwy_fail(err, hwy_tr("%s is about device work, and there is none"),
					edits[i].kind->id);
	struct hwy_graph *graphs = edit_all(w, edits, n, &as_is, NULL, err);
	if (!graphs)
		return false;
	struct links_times times = links_replay(&w->joint->links, graphs);
	*length = length_of_run(w->joint, graphs, &times);
	links_times_free(&times, w->joint->n);
	for (uint32_t r = 0; r < w->joint->n; r++)
		graph_free(&graphs[r]);
	free(graphs);
	return true;
}

/* ---- tipping points -------------------------------------------------------------------------- */

/* What the edits gain, as a share of the step, where all device work is 'factor' times as long. */
static double gain_at(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		      double factor)
{
	struct assumption more = {.machine = 1, .work = factor};
	struct hwy_err err;
	struct pace ignored, *base = edited_paces(w, NULL, 0, &more, &err);
	int64_t before = slowest(w, base, base, false, NULL);
	int64_t after = edited_step(w, edits, n, &more, base, &ignored, &err);
	free(base);
	return before > 0 && after >= 0 ? 1 - (double)after / (double)before : 0;
}

static int64_t work_of_step(const struct whatif *w)
{
	uint32_t first = w->phase->first_steady, n = w->phase->n_steady;
	int64_t work = 0;
	for (uint32_t i = 0; i < w->flow->n_ops; i++)
		if (w->step_of[i] > first && w->step_of[i] <= first + n)
			work += w->flow->ops[i].end - w->flow->ops[i].start;
	return n > 0 ? work / n : 0;
}

int64_t whatif_tipping(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		       double share)
{
	double low = 1, high = 2;
	if (gain_at(w, edits, n, low) >= share)
		return 0;
	while (gain_at(w, edits, n, high) < share) {
		low = high;
		high *= 2;
		if (high > 128)
			return INT64_MAX;
	}
	for (int i = 0; i < 5; i++) {
		double middle = (low + high) / 2;
		if (gain_at(w, edits, n, middle) >= share)
			high = middle;
		else
			low = middle;
	}
	return (int64_t)((double)work_of_step(w) * high);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Whether the recording leaves open which work waits for work of another stream: several streams
 * work, and the source has not recorded the events that programs order streams by. PyTorch's
 * profiler records them only on request. */
static bool is_order_unknown(const struct hwy_graph *graph)
{
	const struct hwy_flow *flow = graph->flow;
	bool makes_waits = false, has_streams = false;
	for (uint32_t i = 0; i < flow->n_calls; i++)
		makes_waits |= flow->calls[i].role == HWY_ROLE_STREAM_WAIT;
	for (uint32_t i = 1; i < flow->n_ops; i++)
		has_streams |= flow->ops[i].device == flow->ops[0].device &&
			       flow->ops[i].lane != flow->ops[0].lane;
	const char *format = hwy_property(flow->trace, "source.format");
	bool lacks_waits = makes_waits || (format && strcmp(format, "kineto") == 0);
	return has_streams && lacks_waits && !graph->has_stream_waits;
}

static void find_window(struct whatif *w)
{
	int64_t *ends = hwy_array(w->graph.n, sizeof *ends);
	replay_run(&w->graph, ends);
	replayed_steps_find_window(w, ends);
	free(ends);
}

bool whatif_build(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase,
		  const struct whatif_extent *extent, struct hwy_err *err)
{
	*w = (struct whatif){.analysis = analysis,
			     .phase_index = phase,
			     .excerpt = extent->is_whole ? NULL
							 : excerpt_make(analysis, phase,
									EXCERPT_CALLS_AND_OPS,
									extent->window)};
	if (extent->has_comm_calls &&
	    !excerpt_add_comm(&w->excerpt, analysis, phase, extent->process, err))
		return false;
	w->flow = w->excerpt ? &w->excerpt->flow : &analysis->flow;
	w->phase = w->excerpt ? &w->excerpt->phase : &analysis->phases.phases[phase];
	w->gaps = w->excerpt ? &w->excerpt->gaps : &analysis->measures[phase].gaps;
	if (!hwy_need(analysis->trace,
		      HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_OVERHEAD),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err) ||
	    !hwy_need(analysis->trace, HWY_KIND_BIT(HWY_COPY), HWY_COL_BIT(HWY_BYTES), err) ||
	    !graph_build(&w->graph, w->flow, err))
		return false;
	machine_model_find(&w->machine, analysis->trace);
	w->step_of = replayed_steps_by_op(w->flow, w->phase);
	find_window(w);
	w->is_order_unknown = is_order_unknown(&w->graph);
	w->recorded = replay_pace(w, &w->graph, false).mean;
	if (w->recorded <= 0)
		return hwy_fail(err, "no device work of the steady steps has a recorded launch, so "
				     "there is nothing to replay");
	quality_measure(w);
	w->scale = 1;
	if (w->excerpt && !w->excerpt->is_whole) {
		int64_t mean = analysis->phases.phases[phase].mean;
		w->scale = (double)mean / (double)w->recorded;
		w->recorded = mean;
	}
	return true;
}

bool whatif_base(struct whatif *w, struct hwy_err *err)
{
	uint32_t ranks;
	struct whatif *all = w->joint ? w->joint->ranks : w;
	ranks_of(w, &ranks);
	for (uint32_t r = 0; r < ranks; r++)
		costs_take_out(&all[r]);
	struct pace *paces = edited_paces(w, NULL, 0, &as_is, err);
	for (uint32_t r = 0; paces && r < ranks; r++) {
		all[r].base_mean = paces[r].mean;
		all[r].base_rate = paces[r].rate;
	}
	free(paces);
	if (!paces || !whatif_predict(w, NULL, 0, &w->base, err))
		return false;
	bool done = true;
	for (uint32_t r = 0; r < ranks; r++)
		if (joint_has_pace(w))
			all[r].base = w->base;
		else
			done &= whatif_predict(&all[r], NULL, 0, &all[r].base, err);
	return done;
}

bool whatif_open(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		 struct hwy_err *err)
{
	struct whatif_extent extent = {.is_whole = all};
	bool done = whatif_build(w, analysis, phase, &extent, err) && whatif_base(w, err);
	if (!done)
		whatif_close(w);
	return done;
}

void whatif_close(struct whatif *w)
{
	graph_free(&w->graph);
	free(w->step_of);
	excerpt_free(w->excerpt);
	*w = (struct whatif){0};
}
