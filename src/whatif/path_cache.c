/* SPDX-License-Identifier: Apache-2.0 */
/* path_cache.c - see path_cache.h.
 *
 * The bytes are int64_t, little-endian, in the order of put_path. What a reader can tell from the
 * spans is left out: nearly all pieces end where their span begins or ends, and spans of a class
 * follow each other. So a piece takes a fraction of a byte after compression. Everything that is
 * read is checked; a damaged or forged result is ignored and the paths are made anew.
 */
#include "whatif/path_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "trace/file.h"
#include "whatif/replayed_steps.h"

#define RESULT_NAME "critical-path"
/* To be raised when the graph, the phases or the paths of a recording change, or the meaning of the
 * bytes does. The version of Headway is compared too. */
enum { RESULT_VERSION = 2 };
enum { CLASS_BITS = 4 };
/* Paths of larger recordings are not kept: writing the report would take half a second longer. */
enum { MOST_CALLS_AND_OPS = 4000000 };
/* How a piece ends: at the end of its span, at the begin of its span, or value - ENDS_AFTER ns
 * after its own begin. */
enum { ENDS_AT_END, ENDS_AT_START, ENDS_AFTER };

static int64_t version(void)
{
	uint64_t release = hwy_hash(HEADWAY_VERSION, strlen(HEADWAY_VERSION));
	return (int64_t)RESULT_VERSION << 32 | (int64_t)(release & UINT32_MAX);
}

/* ---- making ---------------------------------------------------------------------------------- */

struct making {
	const struct hwy_flow *flow;
	struct hwy_graph graph;
	int64_t *ends;
};

static bool making_open(struct making *m, const struct hwy_flow *flow, struct hwy_err *err)
{
	*m = (struct making){.flow = flow};
	if (!graph_build(&m->graph, flow, err))
		return false;
	m->ends = hwy_array(m->graph.n, sizeof *m->ends);
	replay_run(&m->graph, m->ends);
	return true;
}

static void making_close(struct making *m)
{
	graph_free(&m->graph);
	free(m->ends);
}

static void measure_rest(struct cached_path *kept, const struct making *m, uint32_t last)
{
	const struct hwy_graph *graph = &m->graph;
	int64_t *slack = hwy_array(graph->n, sizeof *slack);
	path_slack(graph, m->ends, last, slack);
	uint32_t n = 0;
	for (uint32_t i = 0; i <= last && i < graph->n; i++) {
		int64_t begin = replay_begin(graph, m->ends, i);
		if (graph->nodes[i].kind != GRAPH_OP || begin < kept->window.from)
			continue;
		/* The sum of work is too large for int64_t, which only invented traces reach. */
		if (__builtin_add_overflow(kept->work, graph->nodes[i].length, &kept->work))
			kept->work = INT64_MAX;
		if (slack[i] > 0 && slack[i] != INT64_MAX)
			slack[n++] = slack[i];
	}
	hwy_sort(slack, n);
	kept->slack = hwy_median_upper(slack, n);
	free(slack);
}

static struct cached_piece piece_of(const struct making *m, const struct path_piece *piece)
{
	const struct graph_node *node = &m->graph.nodes[piece->node];
	return (struct cached_piece){
		.at = piece->at,
		.span = node->kind == GRAPH_OP ? m->flow->ops[node->flow_index].span
					       : m->flow->calls[node->flow_index].span,
		.class = piece->class,
	};
}

/* Finds when the path through n steps begins, and the node that it ends with; false without device
 * work. */
static bool find_ends(const struct making *m, const struct hwy_phase *phase, uint32_t first,
		      uint32_t n, int64_t *from, uint32_t *last)
{
	struct whatif w = {
		.flow = m->flow, .phase = phase, .step_of = replayed_steps_by_op(m->flow, phase)};
	struct step_time *steps = replayed_steps_time(&w, &m->graph, m->ends);
	bool found =
		n > 0 && steps[first].begin != INT64_MAX && steps[first + n - 1].last != GRAPH_NONE;
	if (found) {
		*from = steps[first].begin;
		*last = steps[first + n - 1].last;
	}
	free(steps);
	free(w.step_of);
	return found;
}

static void make_path(struct cached_path *kept, const struct making *m,
		      const struct hwy_phase *phase, uint32_t first, uint32_t n)
{
	int64_t from;
	uint32_t last;
	struct hwy_path path;
	*kept = (struct cached_path){.n_steps = n};
	if (!find_ends(m, phase, first, n, &from, &last))
		return;
	path_find(&path, &m->graph, m->ends, last, from);
	kept->window = path.window;
	kept->n = path.n;
	kept->pieces = hwy_array(path.n, sizeof *kept->pieces);
	for (uint32_t i = 0; i < path.n; i++)
		kept->pieces[i] = piece_of(m, &path.pieces[i]);
	measure_rest(kept, m, last);
	path_free(&path);
}

bool path_cache_step(struct cached_path *path, const struct hwy_flow *flow,
		     const struct hwy_phase *phase, uint32_t step, struct hwy_err *err)
{
	struct making m;
	*path = (struct cached_path){0};
	if (!making_open(&m, flow, err))
		return false;
	make_path(path, &m, phase, step, 1);
	making_close(&m);
	return true;
}

static bool make_all(struct cached_paths *kept, const struct hwy_flow *flow,
		     const struct hwy_phases *phases, struct hwy_err *err)
{
	struct making m;
	if (!making_open(&m, flow, err))
		return false;
	*kept = (struct cached_paths){.by_phase = hwy_zarray(phases->n, sizeof *kept->by_phase),
				      .n = phases->n};
	for (uint32_t i = 0; i < phases->n; i++) {
		const struct hwy_phase *phase = &phases->phases[i];
		make_path(&kept->by_phase[i], &m, phase, phase->first_steady, phase->n_steady);
	}
	making_close(&m);
	return true;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct values {
	int64_t *list;
	uint32_t n, cap;
};

static void path_cache_put(struct values *values, int64_t value)
{
	HWY_GROW(values->list, values->n, values->cap);
	values->list[values->n++] = value;
}

static struct hwy_interval path_cache_time_of(const struct hwy_trace *trace, uint32_t span)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	return (struct hwy_interval){hwy_get(strip, HWY_START, row), hwy_end(strip, row)};
}

static int64_t ending(const struct hwy_trace *trace, const struct cached_piece *piece)
{
	struct hwy_interval span = path_cache_time_of(trace, piece->span);
	return piece->at.to == span.to     ? ENDS_AT_END
	       : piece->at.to == span.from ? ENDS_AT_START
					   : ENDS_AFTER + piece->at.to - piece->at.from;
}

/* Layout: the phase (4 values), the path's totals (3), the number of pieces, then for each piece
 * the span it belongs to and its class, then for each piece how it ends. A span is stored as the
 * distance from the last span of its class. */
static void put_path(struct values *values, const struct hwy_trace *trace,
		     const struct hwy_phase *phase, const struct cached_path *path)
{
	int64_t last[1 << CLASS_BITS] = {0};
	path_cache_put(values, phase->first_steady);
	path_cache_put(values, phase->n_steady);
	path_cache_put(values, phase->window.from);
	path_cache_put(values, phase->window.to);
	path_cache_put(values, path->work);
	path_cache_put(values, path->slack);
	path_cache_put(values, path->window.from);
	path_cache_put(values, path->n);
	for (uint32_t i = 0; i < path->n; i++) {
		const struct cached_piece *piece = &path->pieces[i];
		int64_t step = piece->span - last[piece->class];
		last[piece->class] = piece->span;
		path_cache_put(values, step * (1 << CLASS_BITS) + piece->class);
	}
	for (uint32_t i = 0; i < path->n; i++)
		path_cache_put(values, ending(trace, &path->pieces[i]));
}

struct reading {
	const unsigned char *next;
	size_t left; /* values that can still be read */
	bool is_bad;
};

static int64_t get(struct reading *r)
{
	int64_t value = 0;
	if (r->left == 0) {
		r->is_bad = true;
		return 0;
	}
	memcpy(&value, r->next, sizeof value);
	r->next += sizeof value;
	r->left--;
	return value;
}

static bool is_same_phase(struct reading *r, const struct hwy_phase *phase)
{
	bool is_same = get(r) == phase->first_steady;
	is_same &= get(r) == phase->n_steady;
	is_same &= get(r) == phase->window.from;
	is_same &= get(r) == phase->window.to;
	return is_same && !r->is_bad;
}

static bool get_spans(struct reading *r, struct cached_path *path, uint32_t n_spans)
{
	int64_t last[1 << CLASS_BITS] = {0};
	for (uint32_t i = 0; i < path->n; i++) {
		int64_t value = get(r);
		unsigned class = (unsigned)(value & ((1 << CLASS_BITS) - 1));
		if (__builtin_add_overflow(last[class], value >> CLASS_BITS, &last[class]) ||
		    last[class] < 0 || last[class] >= n_spans || class >= PATH_CLASSES)
			return false;
		path->pieces[i].span = (uint32_t)last[class];
		path->pieces[i].class = (uint8_t) class;
	}
	return true;
}

static bool get_times(struct reading *r, struct cached_path *path, const struct hwy_trace *trace,
		      int64_t time)
{
	path->window.from = time;
	for (uint32_t i = 0; i < path->n; i++) {
		struct hwy_interval span = path_cache_time_of(trace, path->pieces[i].span);
		int64_t how = get(r), to = how == ENDS_AT_END ? span.to : span.from;
		if (how < 0 ||
		    (how >= ENDS_AFTER && __builtin_add_overflow(time, how - ENDS_AFTER, &to)) ||
		    to < time)
			return false;
		path->pieces[i].at = (struct hwy_interval){time, to};
		time = to;
	}
	path->window.to = time;
	return !r->is_bad && !__builtin_sub_overflow(time, path->window.from, &time);
}

static bool get_path(struct reading *r, const struct hwy_phase *phase, struct cached_path *path,
		     const struct hwy_trace *trace)
{
	if (!is_same_phase(r, phase))
		return false;
	path->n_steps = phase->n_steady;
	path->work = get(r);
	path->slack = get(r);
	int64_t from = get(r), n = get(r);
	if (r->is_bad || n < 0 || (uint64_t)n > r->left / 2)
		return false;
	path->n = (uint32_t)n;
	path->pieces = hwy_array(path->n, sizeof *path->pieces);
	return get_spans(r, path, trace->n_spans) && get_times(r, path, trace, from);
}

/* The index of the report's result with the paths; n_results where there is none. */
static uint32_t find_result(const struct hwy_trace *trace)
{
	uint32_t i = 0;
	while (i < trace->n_results &&
	       strcmp(hwy_str(trace, trace->results[i].name), RESULT_NAME) != 0)
		i++;
	return i;
}

static bool read_all(struct cached_paths *kept, struct hwy_trace *trace,
		     const struct hwy_phases *phases)
{
	uint32_t result = find_result(trace);
	struct hwy_err ignored;
	if (result == trace->n_results || trace->results[result].version != version())
		return false;
	struct reading r = {.next = hwy_result_bytes(trace, result, &ignored),
			    .left = (size_t)trace->results[result].bytes / sizeof(int64_t)};
	if (!r.next || get(&r) != phases->n)
		return false;
	*kept = (struct cached_paths){.by_phase = hwy_zarray(phases->n, sizeof *kept->by_phase),
				      .n = phases->n};
	bool is_good = true;
	for (uint32_t i = 0; i < phases->n && is_good; i++)
		is_good = get_path(&r, &phases->phases[i], &kept->by_phase[i], trace);
	if (!is_good)
		path_cache_close(kept);
	return is_good;
}

bool path_cache_open(struct cached_paths *kept, const struct hwy_flow *flow,
		     const struct hwy_phases *phases, struct hwy_err *err)
{
	*kept = (struct cached_paths){0};
	return phases->n == 0 || read_all(kept, flow->trace, phases) ||
	       make_all(kept, flow, phases, err);
}

struct visiting {
	const struct making *m;
	void (*visit)(void *user, const struct cached_piece *piece);
	void *user;
};

static void pass_on(void *user, const struct path_piece *piece)
{
	const struct visiting *v = user;
	struct cached_piece kept = piece_of(v->m, piece);
	v->visit(v->user, &kept);
}

bool path_cache_visit(const struct hwy_flow *flow, const struct hwy_phases *phases, uint32_t phase,
		      void (*visit)(void *user, const struct cached_piece *piece), void *user,
		      struct hwy_err *err)
{
	struct cached_paths kept = {0};
	struct making m;
	const struct hwy_phase *steps_of = &phases->phases[phase];
	int64_t from;
	uint32_t last;
	if (read_all(&kept, flow->trace, phases)) {
		for (uint32_t i = kept.by_phase[phase].n; i-- > 0;)
			visit(user, &kept.by_phase[phase].pieces[i]);
		path_cache_close(&kept);
		return true;
	}
	if (!making_open(&m, flow, err))
		return false;
	struct visiting v = {&m, visit, user};
	if (find_ends(&m, steps_of, steps_of->first_steady, steps_of->n_steady, &from, &last))
		path_visit(&m.graph, m.ends, last, from, pass_on, &v);
	making_close(&m);
	return true;
}

void path_cache_close(struct cached_paths *kept)
{
	for (uint32_t i = 0; i < kept->n; i++)
		free(kept->by_phase[i].pieces);
	free(kept->by_phase);
	*kept = (struct cached_paths){0};
}

/* ---- keeping --------------------------------------------------------------------------------- */

static void set_result(struct hwy_trace *trace, const struct values *values)
{
	uint32_t result = find_result(trace);
	size_t bytes = values->n * sizeof *values->list;
	if (result == trace->n_results) {
		HWY_GROW(trace->results, trace->n_results, trace->cap_results);
		trace->n_results++;
		trace->result_bytes = hwy_resize(trace->result_bytes, trace->n_results,
						 sizeof *trace->result_bytes);
		trace->result_bytes[result] = NULL;
	}
	free(trace->result_bytes[result]);
	trace->result_bytes[result] = hwy_copy(values->list, bytes);
	trace->results[result] =
		(struct hwy_result){.name = hwy_intern_z(&trace->strings, RESULT_NAME),
				    .version = version(),
				    .bytes = (int64_t)bytes};
}

static bool load_results(struct hwy_trace *trace)
{
	struct hwy_err ignored;
	for (uint32_t i = 0; i < trace->n_results; i++)
		if (!hwy_result_bytes(trace, i, &ignored))
			return false;
	return true;
}

void path_cache_add(struct hwy_trace *trace)
{
	struct hwy_flow flow;
	struct hwy_phases phases = {0};
	struct phases_options options = {0};
	struct cached_paths kept = {0};
	struct values values = {0};
	struct hwy_err ignored;
	if (!load_results(trace) || !flow_open(&flow, trace, &ignored))
		return;
	if ((uint64_t)flow.n_calls + flow.n_ops <= MOST_CALLS_AND_OPS &&
	    phases_find(&flow, &options, &phases, &ignored) && phases.n > 0 &&
	    path_cache_open(&kept, &flow, &phases, &ignored)) {
		path_cache_put(&values, phases.n);
		for (uint32_t i = 0; i < phases.n; i++)
			put_path(&values, trace, &phases.phases[i], &kept.by_phase[i]);
		set_result(trace, &values);
	}
	free(values.list);
	path_cache_close(&kept);
	phases_free(&phases);
	flow_close(&flow);
}
