/* predict.c - the step time of a phase in a replayed graph.
 *
 * A step begins with the first of its ops, wherever an edit has moved it; the mean runs from the begin of the
 * first steady step to the begin of the one after the last (or to the end of its work), as phases.h defines
 * it for the trace. So the unedited graph's mean is the phase's own, to the nanosecond. An edited graph's is
 * that, changed as much as the pace at which steps end.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/path.h"
#include "replay/steps.h"
#include "replay/whatif.h"

/* Doubt about a prediction, as a share of it: measured figures, and figures from a table. */
#define DOUBT_MEASURED 0.03
#define DOUBT_TABLE 0.08

enum {
	LEAST_STEPS = 3,
	EXCERPT = 60000, /* calls and ops in a graph: an edit then takes a few ms */
};

/* What a replay says about the steps. */
struct pace {
	int64_t mean; /* from the begin of the first steady step to the begin of the one after the last */
	double rate; /* ns from the end of a steady step's work to that of the next, on average; 0: too few */
	double spread; /* how sure that is: half the distance of the quartiles over the root of their number, as a
			* share */
	bool has_next;     /* the mean ends with the begin of another step */
	int64_t floor;     /* no step is shorter */
	const char *bound; /* the class that most of the critical path is */
};

static void measure_spread(struct pace *pace, const struct step_time *steps, uint32_t n)
{
	int64_t *lengths = hwy_alloc((n + 1) * sizeof *lengths);
	uint32_t known = 0, last = 0;
	for (uint32_t s = 1; s < n; s++) {
		if (steps[s].end ==
		    INT64_MIN) /* no work of its own: the next one's distance holds both */
			continue;
		lengths[known++] = steps[s].end - steps[last].end;
		last = s;
	}
	qsort(lengths, known, sizeof *lengths, hwy_ascending);
	double root = 1;
	while (root * root < known)
		root += 1;
	pace->spread =
		(double)(lengths[known * 3 / 4] - lengths[known / 4]) / 2 / root / pace->rate;
	free(lengths);
}

/* What most of the way through the steady steps is. */
static const char *bound_of(const struct hwy_graph *graph, const int64_t *ends,
			    const struct step_time *first, const struct step_time *last)
{
	struct hwy_path path;
	if (first->begin == INT64_MAX || last->last == GRAPH_NONE)
		return "";
	path_find(&path, graph, ends, last->last, false, first->begin);
	int most = 0;
	for (int class = 1; class < PATH_CLASSES; class ++)
		if (path.classes[class] > path.classes[most])
			most = class;
	path_free(&path);
	return path_class_names[most];
}

enum { UP, DOWN, WORK, TRACKS };

static unsigned track_of(const struct hwy_flow *flow, uint32_t op)
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
	int64_t *work = hwy_zalloc((flow->trace->n_lanes + 1) * TRACKS * sizeof *work), most = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t step = node->kind == GRAPH_OP ? w->step_of[node->of] : 0;
		/* Work that overlaps its predecessor shares the stream. */
		if (step <= first || step > first + n || (node->from_begin & 1 << GRAPH_ORDER))
			continue;
		int64_t *at = &work[flow->ops[node->of].lane * TRACKS + track_of(flow, node->of)];
		*at += node->length;
		most = *at > most ? *at : most;
	}
	free(work);
	return n > 0 ? most / n : 0;
}

static struct pace measure(const struct whatif *w, const struct hwy_graph *graph,
			   const int64_t *ends)
{
	const struct hwy_phase *phase = w->phase;
	struct step_time *steps = steps_timed(w, graph, ends);
	uint32_t first = phase->first_steady, n = phase->n_steady, after = first + n;
	struct pace pace = {0};
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
	pace.floor = busiest(w, graph);
	pace.bound = n > 0 ? bound_of(graph, ends, &steps[first], &steps[after - 1]) : "";
	free(steps);
	return pace;
}

/* ---- predictions ------------------------------------------------------------------------------- */

static struct pace replay_pace(const struct whatif *w, const struct hwy_graph *graph)
{
	int64_t *ends = hwy_alloc((graph->n + 1) * sizeof *ends);
	replay_run(graph, ends);
	struct pace pace = measure(w, graph, ends);
	free(ends);
	return pace;
}

/* From begin to begin where a step follows the steady ones. Where none does, the mean reaches from a begin to
 * an end, and steps that overlap more or less than before would count wrongly: then the pace of the steps' ends
 * tells by how much the mean changed. */
static int64_t step_of(const struct whatif *w, const struct pace *pace)
{
	if (!pace->has_next && w->base_rate > 0 && pace->rate > 0)
		return (int64_t)((double)w->base_mean * (pace->rate / w->base_rate));
	return pace->mean;
}

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
			node->from_begin = old->from_begin;
		}
	}
	graph->n_extras = kept;
}

bool whatif_apply(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		  struct hwy_graph *graph, char note[WHATIF_NOTE], struct hwy_err *err)
{
	*graph = graph_copy(&w->graph);
	struct editing editing = {
		.w = w, .flow = graph->flow, .graph = graph, .places = w->analysis->places};
	bool done = true;
	for (uint32_t i = 0; i < n && done; i++)
		done = edits[i].kind->apply(&editing, edits[i].arguments, err);
	if (done)
		keep_anchors(graph, &w->graph);
	else
		graph_free(graph);
	if (note)
		memcpy(note, editing.note, WHATIF_NOTE);
	return done;
}

static bool edited_step(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
			struct whatif_prediction *p, double *spread, struct hwy_err *err)
{
	struct hwy_graph copy;
	if (!whatif_apply(w, edits, n, &copy, NULL, err))
		return false;
	bool only_removes = true;
	for (uint32_t i = 0; i < n; i++)
		only_removes &= edits[i].kind->only_removes;
	struct pace pace = replay_pace(w, &copy);
	p->step = step_of(w, &pace);
	if (p->step < pace.floor)
		p->step = pace.floor;
	p->bound = pace.bound;
	*spread = pace.spread;
	if (only_removes && p->step > w->base_mean) /* they differ at the edges only */
		p->step = w->base_mean;
	graph_free(&copy);
	return true;
}

/* The same with the machine's figures a half lower and higher: what an edit assumes is not sure. */
static bool with_doubt(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		       double factor, int64_t *step, struct hwy_err *err)
{
	struct whatif other = *w;
	other.machine.graph_launch = (int64_t)((double)w->machine.graph_launch * factor);
	other.machine.graph_next = (int64_t)((double)w->machine.graph_next * factor);
	other.machine.h2d.latency = (int64_t)((double)w->machine.h2d.latency * factor);
	other.machine.d2h.latency = (int64_t)((double)w->machine.d2h.latency * factor);
	struct whatif_prediction p = {0};
	double unused;
	bool done = edited_step(&other, edits, n, &p, &unused, err);
	*step = p.step;
	return done;
}

bool whatif_predict(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		    struct whatif_prediction *p, struct hwy_err *err)
{
	int64_t low, high;
	double spread;
	if (!edited_step(w, edits, n, p, &spread, err) ||
	    !with_doubt(w, edits, n, 0.5, &low, err) || !with_doubt(w, edits, n, 1.5, &high, err))
		return false;
	double doubt = (w->machine.is_measured ? DOUBT_MEASURED : DOUBT_TABLE) + spread;
	low = low < p->step ? low : p->step;
	p->p10 = doubt < 1 ? (int64_t)((double)low * (1 - doubt)) : 0; /* no step takes less */
	p->p90 = (int64_t)((double)(high > p->step ? high : p->step) * (1 + doubt));
	p->speedup = p->step > 0 ? (double)w->base.step / (double)p->step : 1;
	return true;
}

/* ---- tipping points ------------------------------------------------------------------------------ */

static struct whatif scaled(const struct whatif *w, double factor)
{
	struct whatif other = *w;
	other.graph = graph_copy(&w->graph);
	for (uint32_t i = 0; i < other.graph.n; i++) {
		struct graph_node *node = &other.graph.nodes[i];
		if (node->kind == GRAPH_OP && w->step_of[node->of])
			node->length = (int64_t)((double)node->length * factor);
	}
	struct pace pace = replay_pace(&other, &other.graph);
	other.base_mean = pace.mean;
	other.base_rate = pace.rate;
	return other;
}

/* What the edit gains where the device has so many times its work, as a share of the step. */
static double gain_at(const struct whatif *w, const struct whatif_edit *edits, uint32_t n,
		      double factor)
{
	struct whatif other = scaled(w, factor);
	struct whatif_prediction p;
	struct hwy_err err;
	double unused, gain = 0;
	if (other.base_mean > 0 && edited_step(&other, edits, n, &p, &unused, &err))
		gain = 1 - (double)p.step / (double)other.base_mean;
	graph_free(&other.graph);
	return gain;
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

static bool open_graph(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase,
		       bool all, struct hwy_err *err)
{
	*w = (struct whatif){.analysis = analysis,
			     .phase_index = phase,
			     .excerpt = all ? NULL : excerpt_make(analysis, phase, EXCERPT)};
	w->flow = w->excerpt ? &w->excerpt->flow : &analysis->flow;
	w->phase = w->excerpt ? &w->excerpt->phase : &analysis->phases.phases[phase];
	w->gaps = w->excerpt ? &w->excerpt->gaps : &analysis->of[phase].gaps;
	if (!hwy_need(analysis->trace, HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP),
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), err) ||
	    !hwy_need(analysis->trace, HWY_KIND_BIT(HWY_COPY), HWY_COL_BIT(HWY_BYTES), err) ||
	    !graph_build(&w->graph, w->flow, err))
		return false;
	whatif_machine(&w->machine, analysis->trace);
	w->step_of = steps_of_ops(w->flow, w->phase);
	w->recorded = replay_pace(w, &w->graph).mean;
	if (w->recorded <= 0)
		return hwy_fail(err, "no device work of the steady steps has a recorded launch, so "
				     "there is nothing to replay");
	quality_measure(w);
	whatif_compensate(&w->graph, &w->machine);
	struct pace pace = replay_pace(w, &w->graph);
	w->base_mean = pace.mean;
	w->base_rate = pace.rate;
	return whatif_predict(w, NULL, 0, &w->base, err);
}

bool whatif_open(struct whatif *w, const struct hwy_analysis *analysis, uint32_t phase, bool all,
		 struct hwy_err *err)
{
	bool done = open_graph(w, analysis, phase, all, err);
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
