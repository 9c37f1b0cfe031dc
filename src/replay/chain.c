/* chain.c - see chain.h. Pieces are put together by class, name and place: names and places are compared by
 * their texts, so that the same line of two modules counts once. */
#include "replay/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "replay/steps.h"

struct finding {
	struct hwy_chain *chain;
	const struct hwy_analysis *analysis;
	const struct hwy_graph *graph;
	struct hwy_map at; /* hash of class, name and place -> link + 1 */
};

static uint32_t span_of(const struct finding *f, const struct path_piece *piece)
{
	const struct graph_node *node = &f->graph->nodes[piece->node];
	return node->kind == GRAPH_OP ? f->analysis->flow.ops[node->of].span
				      : f->analysis->flow.calls[node->of].span;
}

/* "step_10 > layer_3" as "step_# > layer_#": the same place in every step. */
static void fold_numbers(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		bool is_digit = *from >= '0' && *from <= '9';
		if (!is_digit)
			*to++ = *from;
		else if (to == text || to[-1] != '#')
			*to++ = '#';
	}
	*to = 0;
}

static const char *text_of_place(struct finding *f, uint32_t span)
{
	struct hwy_place at = place_of(f->analysis->places, span);
	char text[512];
	const char *slash = strrchr(at.file, '/');
	int length =
		*at.file ? snprintf(text, sizeof text, "%s:%lld %s", slash ? slash + 1 : at.file,
				    (long long)at.line, at.function)
			 : snprintf(text, sizeof text, "%s", at.range);
	if (length < 0)
		return "";
	if (!*at.file)
		fold_numbers(text);
	return hwy_arena_text(&f->chain->texts, text, strlen(text));
}

static uint32_t link_of(struct finding *f, const struct path_piece *piece)
{
	uint32_t row, span = span_of(f, piece);
	const struct hwy_strip *strip = hwy_strip_of(f->analysis->trace, span, &row);
	struct hwy_text name = hwy_text(f->analysis->trace, hwy_get(strip, HWY_NAME, row));
	const char *place = text_of_place(f, span);
	uint64_t key = hwy_mix(hwy_hash(name.at, name.length)) ^ hwy_hash(place, strlen(place)) ^
		       hwy_mix(piece->class);
	bool fresh;
	uint32_t *at = hwy_map_put(&f->at, key, &fresh);
	if (fresh) {
		struct hwy_chain *chain = f->chain;
		HWY_GROW(chain->links, chain->n, chain->cap);
		chain->links[chain->n++] = (struct chain_link){
			.name = hwy_arena_text(&chain->texts, name.at, name.length),
			.place = place,
			.class = piece->class,
		};
		*at = chain->n;
	}
	return *at - 1;
}

static int by_time(const void *a, const void *b)
{
	const struct chain_link *x = a, *y = b;
	return (x->time < y->time) - (x->time > y->time);
}

static void sum_up(struct finding *f, const struct hwy_path *path)
{
	for (uint32_t i = 0; i < path->n; i++) {
		uint32_t at = link_of(f, &path->pieces[i]); /* may move the list */
		struct chain_link *link = &f->chain->links[at];
		link->time += path->pieces[i].at.to - path->pieces[i].at.from;
		link->count++;
	}
	if (f->chain->n > 0)
		qsort(f->chain->links, f->chain->n, sizeof *f->chain->links, by_time);
}

/* ---- the rest ------------------------------------------------------------------------------------ */

static void measure_rest(struct finding *f, const struct hwy_path *path, const int64_t *ends,
			 uint32_t last)
{
	const struct hwy_graph *graph = f->graph;
	int64_t *slack = hwy_alloc((graph->n + 1) * sizeof *slack), work = 0;
	path_slack(graph, ends, last, slack);
	uint32_t n = 0;
	for (uint32_t i = 0; i <= last && i < graph->n; i++) {
		int64_t begin = replay_begin(graph, ends, i);
		if (graph->nodes[i].kind != GRAPH_OP || begin < path->window.from)
			continue;
		work += graph->nodes[i].length;
		if (slack[i] > 0 && slack[i] != INT64_MAX)
			slack[n++] = slack[i];
	}
	int64_t on_path =
		path->classes[PATH_COMPUTE] + path->classes[PATH_COMM] + path->classes[PATH_COPY];
	f->chain->work_on_path = work > 0 ? (double)on_path / (double)work : 0;
	qsort(slack, n, sizeof *slack, hwy_ascending);
	f->chain->slack = n > 0 ? slack[n / 2] : 0;
	free(slack);
}

static bool find_steps(const struct hwy_phase *phase, const struct step_time *steps, int64_t step,
		       uint32_t *first, uint32_t *last)
{
	*first = step >= 0 ? (uint32_t)step : phase->first_steady;
	*last = step >= 0 ? (uint32_t)step : phase->first_steady + phase->n_steady - 1;
	return phase->n_steps > 0 && (step >= 0 || phase->n_steady > 0) &&
	       steps[*first].begin != INT64_MAX && steps[*last].last != GRAPH_NONE;
}

bool chain_find(struct hwy_chain *chain, const struct hwy_analysis *analysis, uint32_t phase,
		int64_t step, struct hwy_err *err)
{
	*chain = (struct hwy_chain){0};
	struct whatif w = {.analysis = analysis,
			   .flow = &analysis->flow,
			   .phase = &analysis->phases.phases[phase]};
	if (!graph_build(&w.graph, &analysis->flow, err))
		return false;
	w.step_of = steps_of_ops(&analysis->flow, w.phase);
	int64_t *ends = hwy_alloc((w.graph.n + 1) * sizeof *ends);
	replay_run(&w.graph, ends);
	struct step_time *steps = steps_timed(&w, &w.graph, ends);
	uint32_t first, last;
	bool found = find_steps(w.phase, steps, step, &first, &last);
	if (found) {
		struct finding f = {.chain = chain, .analysis = analysis, .graph = &w.graph};
		struct hwy_path path;
		path_find(&path, &w.graph, ends, steps[last].last, false, steps[first].begin);
		chain->n_steps = last - first + 1;
		chain->length = path.window.to - path.window.from;
		memcpy(chain->classes, path.classes, sizeof chain->classes);
		sum_up(&f, &path);
		measure_rest(&f, &path, ends, steps[last].last);
		path_free(&path);
		hwy_map_free(&f.at);
	}
	free(steps);
	free(ends);
	whatif_close(&w);
	return found || hwy_fail(err, "no device work of the step has a recorded launch");
}

void chain_free(struct hwy_chain *chain)
{
	free(chain->links);
	hwy_arena_free(&chain->texts);
	*chain = (struct hwy_chain){0};
}
