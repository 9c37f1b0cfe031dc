/* step_time.c - the step time of a phase in a replayed graph.
 *
 * A step begins with the first of its ops, wherever an edit has moved it; the mean runs from the begin of the
 * first steady step to the begin of the one after the last (or to the end of its work), as phases.h defines
 * it for the trace. So the unedited graph's mean is the phase's own, to the nanosecond. An edited graph's is
 * that, changed as much as the pace at which steps end. An excerpt's steps are scaled to the mean of all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "whatif/joint.h"
#include "whatif/path.h"
#include "whatif/replayed_steps.h"

/* Doubt about a prediction, as a share of it: of any; of one that changes the whole step, more where the CPU then makes
 * the step; and where costs are from a table. Three of four were as near as that on an H200 (docs/whatif.md). */
#define DOUBT_SHARE 0.04
#define DOUBT_CHANGE_SHARE 0.08
#define DOUBT_HOST_SHARE 0.20
#define DOUBT_TABLE_SHARE 0.05

enum {
	LEAST_STEPS = 3,
	EXCERPT_CALLS_AND_OPS = 60000, /* calls and ops in a graph: an edit then takes a few ms */
};

/* What a replay says about the steps. */
struct pace {
	int64_t mean; /* from the begin of the first steady step to the begin of the one after the last */
	double rate; /* ns from the end of a steady step's work to that of the next, on average; 0: too few */
	double spread; /* how sure that is: half the distance of the quartiles over the root of their number, as a
			* share */
	bool has_next;     /* the mean ends with the begin of another step */
	bool is_unwaited;  /* the others no longer wait for this rank: its own pace says nothing */
	int64_t floor;     /* no step is shorter */
	const char *bound; /* the class that most of the critical path is */
	double host;       /* the share of that path which is not the device's work */
};

static void measure_spread(struct pace *pace, const struct step_time *steps, uint32_t n)
{
	int64_t *lengths = hwy_array(n, sizeof *lengths);
	uint32_t n_lengths = 0, last = 0;
	for (uint32_t s = 1; s < n; s++) {
		if (steps[s].end ==
		    INT64_MIN) /* no work of its own: the next one's distance holds both */
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

/* What the way through the steady steps is made of. */
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

/* The kernels, or the copies of one direction, of the stream that has most of them, a step: no fix gets below
 * that, whatever stream they move to. */
static int64_t busiest(const struct whatif *w, const struct hwy_graph *graph)
{
	const struct hwy_flow *flow = graph->flow;
	uint32_t first = w->phase->first_steady, n = w->phase->n_steady;
	int64_t *work = hwy_zarray((size_t)flow->trace->n_lanes * TRACKS, sizeof *work), most = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t step = node->kind == GRAPH_OP ? w->step_of[node->flow_index] : 0;
		/* Work that overlaps its predecessor shares the stream. */
		if (step <= first || step > first + n || graph_counts_from_begin(node, GRAPH_ORDER))
			continue;
		int64_t *sum = &work[flow->ops[node->flow_index].lane * TRACKS +
				     step_time_track_of(flow, node->flow_index)];
		*sum += node->length;
		most = *sum > most ? *sum : most;
	}
	free(work);
	return n > 0 ? most / n : 0;
}

static struct pace step_time_measure(const struct whatif *w, const struct hwy_graph *graph,
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
	if (n > 0 && with_bound)
		measure_path(&pace, graph, ends, &steps[first], &steps[after - 1]);
	free(steps);
	return pace;
}

/* ---- edited graphs ----------------------------------------------------------------------------- */

static bool has_place(const struct graph_node *node)
{
	bool found = false;
	for (int place = 0; place < GRAPH_PLACES; place++)
		found |= node->before[place] != GRAPH_NONE;
	return found;
}

/* The delay of a node without predecessors is a time, of any other a duration; no edit turns one into the other.
 * A node that lost all it had to wait for keeps what it had, one that never had any does not get some. */
static void keep_anchors(struct hwy_graph *graph, const struct hwy_graph *was)
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
			node->delay = old->delay;
		if (is_anchor || !has_any) {
			memcpy(node->before, old->before, sizeof node->before);
			memcpy(node->lag, old->lag, sizeof node->lag);
			node->flags = old->flags;
		}
	}
	graph->n_extras = kept;
}

/* What is taken to be otherwise than recorded. */
struct assumption {
	double machine; /* its figures, as edits use them, so many times as large */
	double work;    /* the device's, so many times as long */
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

/* An edit is made on every rank that it applies to; it must be one at least. */
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

/* The edited graphs of all ranks, each to be freed; none after a failure. */
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
			keep_anchors(&graphs[r], &all[r].graph);
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

/* ---- predictions ------------------------------------------------------------------------------- */

static struct pace replay_pace(const struct whatif *w, const struct hwy_graph *graph,
			       bool with_bound)
{
	int64_t *ends = hwy_array(graph->n, sizeof *ends);
	replay_run(graph, ends);
	struct pace pace = step_time_measure(w, graph, ends, with_bound);
	free(ends);
	return pace;
}

/* The paces of all ranks, replayed together; to be freed. NULL when no rank can be edited so. */
static struct pace *edited_paces(const struct whatif *w, const struct whatif_edit *edits,
				 uint32_t n, const struct assumption *a, struct hwy_err *err)
{
	uint32_t ranks;
	const struct whatif *all = ranks_of(w, &ranks);
	struct hwy_graph *graphs = edit_all(w, edits, n, a, NULL, err);
	if (!graphs)
		return NULL;
	struct pace *paces = hwy_zarray(ranks, sizeof *paces);
	bool with_bound = a == &as_is; /* nobody asks what fills a step that is only assumed */
	if (w->joint) {
		int64_t **ends = joint_replay(w->joint, graphs);
		for (uint32_t r = 0; r < ranks; r++) {
			paces[r] = step_time_measure(&all[r], &graphs[r], ends[r], with_bound);
			free(ends[r]);
		}
		free(ends);
	} else {
		paces[0] = replay_pace(w, graphs, with_bound);
	}
	for (uint32_t r = 0; r < ranks; r++)
		graph_free(&graphs[r]);
	free(graphs);
	return paces;
}

/* From begin to begin where a step follows the steady ones. Where none does, the mean reaches from a begin to
 * an end, and steps that overlap more or less than before would count wrongly: then the pace of the steps' ends
 * tells by how much the mean changed. So it does for several ranks, whose recordings do not begin together. */
static int64_t step_of(const struct whatif *w, const struct pace *pace, const struct pace *base)
{
	if ((!pace->has_next || w->joint) && base->rate > 0 && pace->rate > 0)
		return (int64_t)((double)base->mean * (pace->rate / base->rate));
	return pace->mean;
}

/* The step of a run is that of its slowest rank; NULL: the base itself. */
static int64_t slowest(const struct whatif *w, const struct pace *paces, const struct pace *base,
		       const struct pace **which)
{
	uint32_t ranks;
	int64_t most = INT64_MIN;
	const struct whatif *all = ranks_of(w, &ranks);
	for (uint32_t r = 0; r < ranks; r++) {
		int64_t step = step_of(w, &paces[r], &base[r]);
		step = step > paces[r].floor ? step : paces[r].floor;
		if (all[r].scale != 1)
			step = (int64_t)((double)step * all[r].scale);
		if (paces[r].is_unwaited || step <= most)
			continue;
		most = step;
		if (which)
			*which = &paces[r];
	}
	return most;
}

/* The step with these edits, and the pace of the rank that sets it; -1 when they do not apply. */
static int64_t edited_step(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
			   const struct assumption *a, const struct pace *base, struct pace *pace,
			   struct hwy_err *err)
{
	struct pace *paces = edited_paces(w, edits, n, a, err);
	if (!paces)
		return -1;
	bool only_removes = true;
	for (uint32_t i = 0; i < n; i++)
		only_removes &= edits[i].kind->only_removes;
	const struct pace *which = paces;
	int64_t step = slowest(w, paces, base, &which), most = slowest(w, base, base, NULL);
	if (only_removes && step > most) /* they differ at the edges only */
		step = most;
	*pace = *which;
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

/* The bar: what an edit assumes about the machine is not sure, so it is tried a half lower and higher. */
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
		DOUBT_SHARE + (w->machine.is_measured ? 0 : DOUBT_TABLE_SHARE) + pace.spread +
		change(w->base.step, step) * (DOUBT_CHANGE_SHARE + DOUBT_HOST_SHARE * pace.host);
	p->step = step;
	p->bound = pace.bound;
	low = low < step ? low : step;
	p->p10 = doubt < 1 ? (int64_t)((double)low * (1 - doubt)) : 0; /* no step takes less */
	p->p90 = (int64_t)((double)(high > step ? high : step) * (1 + doubt));
	p->speedup = step > 0 ? (double)w->base.step / (double)step : 1;
	return true;
}

/* ---- tipping points ------------------------------------------------------------------------------ */

/* What the edit gains where the device has so many times its work, as a share of the step. */
static double gain_at(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		      double factor)
{
	struct assumption more = {.machine = 1, .work = factor};
	struct hwy_err err;
	struct pace ignored, *base = edited_paces(w, NULL, 0, &more, &err);
	int64_t before = slowest(w, base, base, NULL);
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

/* ---- opening ------------------------------------------------------------------------------------- */

bool whatif_build(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		  const struct hwy_interval *window, struct hwy_err *err)
{
	*w = (struct whatif){
		.analysis = analysis,
		.phase_index = phase,
		.excerpt =
			all ? NULL : excerpt_make(analysis, phase, EXCERPT_CALLS_AND_OPS, window)};
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
	w->recorded = replay_pace(w, &w->graph, false).mean;
	if (w->recorded <= 0)
		return hwy_fail(err, "no device work of the steady steps has a recorded launch, so "
				     "there is nothing to replay");
	quality_measure(w);
	w->scale = 1;
	if (w->excerpt) {
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
		costs_take_out(&all[r].graph, &all[r].machine);
	struct pace *paces = edited_paces(w, NULL, 0, &as_is, err);
	for (uint32_t r = 0; paces && r < ranks; r++) {
		all[r].base_mean = paces[r].mean;
		all[r].base_rate = paces[r].rate;
	}
	free(paces);
	if (!paces || !whatif_predict(w, NULL, 0, &w->base, err))
		return false;
	for (uint32_t r = 0; r < ranks; r++)
		all[r].base = w->base;
	return true;
}

bool whatif_open(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		 struct hwy_err *err)
{
	bool done = whatif_build(w, analysis, phase, all, NULL, err) && whatif_base(w, err);
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
