/* SPDX-License-Identifier: Apache-2.0 */
/* worker_flame.c - the worker's side of the request 'flame': a trie of call paths as columns, or
 * the longest spans of one of its nodes.
 *
 * A question is "KIND FROM TO STEPS PYTHON NODE LANES": see flame_question. The trie is bounded:
 * what would be thinner than a tenth of a pixel is merged, and its sums stay exact
 * (analyze/flame.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flame.h"
#include "base/ref.h"
#include "serve/lane_choice.h"
#include "serve/worker.h"

enum {
	MOST_NODES = 8192,
	MOST_SPANS = 64,          /* the longest spans of one node that are sent */
	TENTHS_OF_PIXELS = 40000, /* a screen of 4000 pixels has so many */
};

struct flame_question {
	unsigned kind;     /* enum flame_kind */
	int64_t from, to;  /* times of the trace; -1: all of it */
	unsigned steps;    /* 1: the steady steps of the main phase instead */
	unsigned python;   /* 1: of a stack that has functions of Python, only these are shown */
	int64_t node;      /* the longest spans of this node are wanted; -1: the trie */
	const char *lanes; /* "4-9,12"; "-": all */
};

static bool read_question(const char *text, struct flame_question *q, struct hwy_err *err)
{
	int n = 0;
	if (sscanf(text, "%u %" SCNd64 " %" SCNd64 " %u %u %" SCNd64 " %n", &q->kind, &q->from,
		   &q->to, &q->steps, &q->python, &q->node, &n) < 6 ||
	    q->kind >= FLAME_KINDS)
		return hwy_fail(err, "not a question about a flame graph");
	q->lanes = text + n;
	return true;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

/* The chosen lanes of a trace, and the threads that they belong to; to be freed. */
struct chosen_lanes {
	uint8_t *lanes, *threads;
};

static struct chosen_lanes choose_lanes(const struct hwy_trace *trace, const char *text)
{
	struct chosen_lanes chosen = {0};
	if (strcmp(text, "-") == 0)
		return chosen;
	chosen.lanes = hwy_zarray(trace->n_lanes, 1);
	chosen.threads = hwy_zarray(trace->n_threads, 1);
	uint32_t first, last;
	while (lane_choice_next(&text, &first, &last))
		for (uint32_t l = first; l <= last && l < trace->n_lanes; l++) {
			int64_t thread = trace->lanes[l].thread;
			chosen.lanes[l] = 1;
			if (thread >= 0 && thread < trace->n_threads)
				chosen.threads[thread] = 1;
		}
	return chosen;
}

/* The steady steps of the main phase, as `headway tree --phase` takes them; NULL where nothing
 * repeats. */
static const struct hwy_phase *steady_phase(const struct hwy_analysis *analysis)
{
	const struct hwy_phases *phases = &analysis->phases;
	return phases->main < phases->n ? &phases->phases[phases->main] : NULL;
}

static struct flame_options flame_options_of(const struct hwy_analysis *analysis,
					     const struct flame_question *q,
					     const struct chosen_lanes *chosen)
{
	struct flame_options options = {.kind = (enum flame_kind)q->kind,
					.device = {HWY_NONE, HWY_NONE},
					.cpu = {HWY_NONE, HWY_NONE},
					.lanes = {chosen->lanes, chosen->threads},
					.only_python = q->python != 0};
	const struct hwy_phase *phase = q->steps ? steady_phase(analysis) : NULL;
	if (phase) {
		const struct phase_step *first = &phase->steps[phase->first_steady];
		const struct phase_step *last = first + (phase->n_steady ? phase->n_steady - 1 : 0);
		options.device = phase->window;
		options.cpu = (struct hwy_interval){first->cpu.from, last->cpu.to};
	} else if (q->from != HWY_NONE || q->to != HWY_NONE) {
		options.device = options.cpu = (struct hwy_interval){q->from, q->to};
	}
	return options;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void flame_put_texts(struct hwy_json *json, const struct hwy_flame *flame)
{
	/* Only texts of nodes that were not merged; the others are empty, so that ids stay what
	 * they are. */
	uint8_t *used = hwy_zarray(flame->texts.n + 1, 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < flame->n; i++) {
		uint32_t name = flame->nodes[i].name, place = flame->nodes[i].place;
		used[name] = used[place] = 1;
		n = name >= n ? name + 1 : n;
		n = place >= n ? place + 1 : n;
	}
	json_key(json, "texts");
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		span_names_put(json, used[i] ? flame->texts.texts[i] : (struct hwy_text){"", 0});
	json_end_array(json);
	free(used);
}

/* Writes one number of each node as an array. */
#define PUT_COLUMN(json, flame, key, value)                                                        \
	do {                                                                                       \
		json_key(json, key);                                                               \
		json_begin_array(json);                                                            \
		for (uint32_t i = 0; i < (flame)->n; i++) {                                        \
			const struct flame_node *node = &(flame)->nodes[i];                        \
			json_int(json, value);                                                     \
		}                                                                                  \
		json_end_array(json);                                                              \
	} while (0)

static void put_weights(struct hwy_json *json, const struct hwy_flame *flame)
{
	json_key(json, "self");
	json_begin_object(json);
	for (unsigned w = 0; w < flame->n_weights; w++)
		PUT_COLUMN(json, flame, flame_weight_names[flame->kind][w], node->self[w]);
	json_end_object(json);
}

static void put_trie(struct hwy_json *json, const struct hwy_flame *flame)
{
	json_put_text(json, "kind", flame_kind_names[flame->kind]);
	json_put_int(json, "frames", flame->n_before);
	json_put_int(json, "merged", flame->n_merged);
	json_put_int(json, "unknown", (int64_t)flame->unknown);
	flame_put_texts(json, flame);
	json_key(json, "nodes");
	json_begin_object(json);
	PUT_COLUMN(json, flame, "outer", node->outer);
	PUT_COLUMN(json, flame, "kind", node->kind);
	PUT_COLUMN(json, flame, "name", node->name);
	PUT_COLUMN(json, flame, "place", node->place);
	PUT_COLUMN(json, flame, "count", node->count);
	PUT_COLUMN(json, flame, "merged", node->merged);
	PUT_COLUMN(json, flame, "span", (int64_t)node->span - 1);
	json_end_object(json);
	put_weights(json, flame);
}

static void flame_put_spans(struct hwy_json *json, const struct flame_spans *spans)
{
	json_put_int(json, "count", (int64_t)spans->all);
	json_key(json, "spans");
	json_begin_array(json);
	for (uint32_t i = 0; i < spans->n; i++)
		json_int(json, spans->v[i].span);
	json_end_array(json);
}

/* The spans of a node are found by making the flame again: only then is it known which node the
 * page means. */
static bool answer_spans(const struct hwy_analysis *analysis, struct hwy_json *json,
			 struct flame_options *options, const struct hwy_flame *flame, int64_t node,
			 struct hwy_err *err)
{
	if (node >= flame->n)
		return hwy_fail(err, "there is no frame %" PRId64, node);
	if (flame->before[node] == UINT32_MAX)
		return hwy_fail(err, "this stands for several frames");
	struct flame_span found[MOST_SPANS];
	struct flame_spans spans = {.v = found, .most = MOST_SPANS};
	struct hwy_flame again;
	options->spans = &spans;
	options->of_node = flame->before[node];
	bool done = flame_make(&again, &analysis->flow, options, err);
	options->spans = NULL;
	if (!done)
		return false;
	flame_put_spans(json, &spans);
	flame_free(&again);
	return true;
}

static bool answer_flame(const struct hwy_analysis *analysis, struct hwy_json *json,
			 const struct flame_question *q, struct hwy_err *err)
{
	struct chosen_lanes chosen = choose_lanes(analysis->trace, q->lanes);
	struct flame_options options = flame_options_of(analysis, q, &chosen);
	const struct hwy_phase *phase = q->steps ? steady_phase(analysis) : NULL;
	struct hwy_flame flame;
	bool done = flame_make(&flame, &analysis->flow, &options, err);
	if (done) {
		flame_prune(&flame, MOST_NODES, 1.0 / TENTHS_OF_PIXELS);
		json_put_int(json, "steps", phase ? phase->n_steady : 0);
		if (q->node < 0)
			put_trie(json, &flame);
		else
			done = answer_spans(analysis, json, &options, &flame, q->node, err);
		flame_free(&flame);
	}
	free(chosen.lanes);
	free(chosen.threads);
	return done;
}

void worker_flame(FILE *out, const struct hwy_analysis *analysis, const char *question)
{
	struct hwy_err err = {0};
	struct flame_question q;
	struct hwy_json json = {.out = out};
	json_begin_object(&json);
	if (!read_question(question, &q, &err) || !answer_flame(analysis, &json, &q, &err))
		json_put_text(&json, "error", err.text);
	json_end_object(&json);
}
