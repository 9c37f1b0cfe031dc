/* SPDX-License-Identifier: Apache-2.0 */
/* quality.c - how far a graph can be believed: the time that it does not explain, and how well
 * steps predict each other.
 *
 * Replaying the unedited graph proves nothing: it is exact by construction. So every steady step is
 * replayed with the median durations that its calls and ops have over all steady steps. The
 * difference from the real length of the step is the least error that any prediction has.
 */
#include <stdlib.h>

#include "base/quantile.h"
#include "base/ref.h"
#include "whatif/replayed_steps.h"

enum { KINDS = GRAPH_KINDS };

/* The nodes of every steady step in a fixed order: nodes[step * per_step + place]; NULL where the
 * steps differ. */
struct aligned {
	uint32_t *nodes, per_step, n;
};

/* A reference (base/ref.h) to the steady step that a node belongs to, counted from the first steady
 * one. */
static uint32_t step_of_node(const struct whatif *w, const uint32_t *step_of_call, uint32_t node)
{
	const struct graph_node *one = &w->graph.nodes[node];
	uint32_t step =
		one->kind == GRAPH_OP ? w->step_of[one->flow_index] : step_of_call[one->flow_index];
	uint32_t first = w->phase->first_steady;
	return step > first && step <= first + w->phase->n_steady ? step - first : HWY_REF_NONE;
}

/* Aligns the steps' nodes kind by kind, so that calls and ops may interleave differently from step
 * to step. */
static struct aligned align(const struct whatif *w)
{
	struct aligned a = {.n = w->phase->n_steady};
	uint32_t *step_of_call = replayed_steps_by_call(w->graph.flow, w->phase);
	uint32_t *counts = hwy_zarray((size_t)a.n * KINDS, sizeof *counts);
	for (uint32_t i = 0; i < w->graph.n; i++) {
		uint32_t step = step_of_node(w, step_of_call, i);
		if (step > 0)
			counts[(step - 1) * KINDS + w->graph.nodes[i].kind]++;
	}
	bool is_same = a.n > 0;
	for (uint32_t s = 1; s < a.n; s++)
		for (int kind = 0; kind < KINDS; kind++)
			is_same &= counts[s * KINDS + (uint32_t)kind] == counts[kind];
	if (is_same) {
		uint32_t first[KINDS] = {0, counts[0], counts[0] + counts[1]};
		a.per_step = counts[0] + counts[1] + counts[2];
		a.nodes = hwy_array((size_t)a.n * a.per_step, sizeof *a.nodes);
		for (uint32_t i = 0; i < a.n * KINDS; i++)
			counts[i] = 0;
		for (uint32_t i = 0; i < w->graph.n; i++) {
			uint32_t step = step_of_node(w, step_of_call, i);
			unsigned kind = w->graph.nodes[i].kind;
			if (step > 0)
				a.nodes[(size_t)(step - 1) * a.per_step + first[kind] +
					counts[(step - 1) * KINDS + kind]++] = i;
		}
	}
	free(counts);
	free(step_of_call);
	return a;
}

static void use_medians(struct hwy_graph *graph, const struct aligned *a)
{
	int64_t *lengths = hwy_array(a->n, sizeof *lengths);
	int64_t *delays = hwy_array(a->n, sizeof *delays);
	for (uint32_t place = 0; place < a->per_step; place++) {
		for (uint32_t s = 0; s < a->n; s++) {
			const struct graph_node *node =
				&graph->nodes[a->nodes[(size_t)s * a->per_step + place]];
			lengths[s] = node->length;
			delays[s] = node->delay;
		}
		hwy_sort(lengths, a->n);
		hwy_sort(delays, a->n);
		for (uint32_t s = 0; s < a->n; s++) {
			struct graph_node *node =
				&graph->nodes[a->nodes[(size_t)s * a->per_step + place]];
			node->length = hwy_median_upper(lengths, a->n);
			if (node->before[GRAPH_ORDER] != GRAPH_NONE)
				node->delay = hwy_median_upper(delays, a->n);
		}
	}
	free(lengths);
	free(delays);
}

static double error_of_steps(const struct whatif *w, const struct hwy_graph *graph)
{
	int64_t *ends = hwy_array(graph->n, sizeof *ends);
	replay_run(&w->graph, ends);
	struct step_time *real = replayed_steps_time(w, &w->graph, ends);
	replay_run(graph, ends);
	struct step_time *replayed = replayed_steps_time(w, graph, ends);
	double *errors = hwy_array(w->phase->n_steady, sizeof *errors);
	uint32_t n = 0, first = w->phase->first_steady;
	for (uint32_t s = first; s + 1 < first + w->phase->n_steady; s++) {
		double was = (double)(real[s + 1].end - real[s].end);
		double is = (double)(replayed[s + 1].end - replayed[s].end);
		if (was > 0)
			errors[n++] = is > was ? is / was - 1 : 1 - is / was;
	}
	hwy_sort_real(errors, n);
	double median = hwy_median_upper_real(errors, n);
	free(errors);
	free(replayed);
	free(real);
	free(ends);
	return median;
}

/* Whether a node's delay is staging: the driver copies pageable memory through a buffer of its own,
 * before the copy begins or before its call returns. */
static bool is_staging(const struct hwy_flow *flow, const struct graph_node *node)
{
	uint32_t op = node->kind == GRAPH_OP ? node->flow_index : flow->calls[node->flow_index].op,
		 row;
	if (op == FLOW_NONE || flow->ops[op].kind != HWY_COPY)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[op].span, &row);
	return hwy_copies_pageable(strip, row);
}

/* The share of the steady steps' window in which an op or a return was delayed by something that no
 * edge explains. Delays of parallel streams and threads overlap, and count once: nodes stand in the
 * order in which their delays end, so that, from the last node to the first, only time before all
 * delays so far is new. */
static double residual_share(const struct whatif *w)
{
	struct hwy_interval window = w->phase->window;
	uint32_t *step_of_call = replayed_steps_by_call(w->graph.flow, w->phase);
	int64_t unexplained = 0, counted = window.to;
	for (uint32_t i = w->graph.n; i-- > 0;) {
		const struct graph_node *node = &w->graph.nodes[i];
		if (node->kind == GRAPH_CALL || node->kind == GRAPH_LEAVE ||
		    node->before[GRAPH_ORDER] == GRAPH_NONE || !step_of_node(w, step_of_call, i) ||
		    is_staging(w->graph.flow, node))
			continue;
		int64_t to = graph_measured(&w->graph, i), from = to - node->delay;
		to = to < counted ? to : counted;
		from = from > window.from ? from : window.from;
		if (from >= to)
			continue;
		unexplained += to - from;
		counted = from;
	}
	free(step_of_call);
	return unexplained > 0 ? (double)unexplained / (double)(window.to - window.from) : 0;
}

static uint32_t count_different(const struct hwy_graph *graph)
{
	int64_t *ends = hwy_array(graph->n, sizeof *ends);
	replay_run(graph, ends);
	uint32_t n = 0;
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		bool is_op = node->kind == GRAPH_OP;
		n += replay_begin(graph, ends, i) != graph_measured(graph, i) ||
		     (is_op && ends[i] != graph->flow->ops[node->flow_index].end);
	}
	free(ends);
	return n;
}

void quality_measure(struct whatif *w)
{
	const struct hwy_graph *graph = &w->graph;
	uint64_t edges = graph->n_edges + graph->n_contradicted;
	w->quality.residual = residual_share(w);
	w->quality.contradicted = edges > 0 ? (double)graph->n_contradicted / (double)edges : 0;
	w->quality.differ = count_different(graph);
	w->quality.steps_predict = -1;
	struct aligned a = align(w);
	if (a.nodes && a.n > 2) {
		struct hwy_graph copy = graph_copy(graph);
		use_medians(&copy, &a);
		w->quality.steps_predict = error_of_steps(w, &copy);
		graph_free(&copy);
	}
	free(a.nodes);
}
