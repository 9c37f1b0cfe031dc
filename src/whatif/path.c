/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - see path.h. */
#include "whatif/path_internal.h"
#include <string.h>

#include "base/lang.h"

#include <stdlib.h>

const char *const path_class_names[PATH_CLASSES] = {
	[PATH_CPU] = "cpu",     [PATH_LAUNCH] = "launch",    [PATH_CALL] = "calls",
	[PATH_WAIT] = "waits",  [PATH_COMPUTE] = "compute",  [PATH_COMM] = "comm",
	[PATH_COPY] = "copies", [PATH_NEXT] = "between-ops", [PATH_OTHER] = "other",
};

const char *path_class_word(const char *name)
{
	static const char *const words[PATH_CLASSES] = {
		[PATH_CPU] = HWY_KEY("path|cpu"),         [PATH_LAUNCH] = HWY_KEY("path|launch"),
		[PATH_CALL] = HWY_KEY("path|calls"),      [PATH_WAIT] = HWY_KEY("path|waits"),
		[PATH_COMPUTE] = HWY_KEY("path|compute"), [PATH_COMM] = HWY_KEY("path|comm"),
		[PATH_COPY] = HWY_KEY("path|copies"),     [PATH_NEXT] = HWY_KEY("path|between-ops"),
		[PATH_OTHER] = HWY_KEY("path|other"),
	};
	for (unsigned i = 0; i < PATH_CLASSES; i++)
		if (strcmp(name, path_class_names[i]) == 0)
			return hwy_tr_word(words[i]);
	return name;
}

/* ---- what held a node up --------------------------------------------------------------------- */

static void consider(struct path_binding *best, struct path_binding one)
{
	if (best->before == GRAPH_NONE || one.time + one.lag > best->time + best->lag)
		*best = one;
}

struct path_binding path_binding_of(const struct hwy_graph *graph, const int64_t *ends,
				    uint32_t index, uint32_t *extras)
{
	const struct graph_node *node = &graph->nodes[index];
	struct path_binding best = {.before = GRAPH_NONE};
	for (int place = 0; place < GRAPH_PLACES; place++) {
		uint32_t before = node->before[place];
		if (before == GRAPH_NONE)
			continue;
		int64_t length = graph->nodes[before].length;
		consider(&best,
			 (struct path_binding){
				 .before = before,
				 .time = ends[before] - graph_ahead_of_end(node, place, length),
				 .lag = graph_lag(node, place),
				 .place = place,
			 });
	}
	while (*extras > 0 && graph->extras[*extras - 1].node > index)
		--*extras;
	for (uint32_t i = *extras; i > 0 && graph->extras[i - 1].node == index; i--) {
		const struct graph_extra *extra = &graph->extras[i - 1];
		consider(&best, (struct path_binding){extra->before, ends[extra->before],
						      extra->lag, GRAPH_PLACES});
	}
	return best;
}

/* ---- classes --------------------------------------------------------------------------------- */

static enum path_class class_of_call(const struct flow_call *call)
{
	switch (call->role) {
	case HWY_ROLE_LAUNCH:
	case HWY_ROLE_GRAPH_LAUNCH:
	case HWY_ROLE_COPY:
	case HWY_ROLE_FILL: return PATH_LAUNCH;
	default: return PATH_CALL;
	}
}

enum path_class path_class_of_length(const struct hwy_graph *graph, const struct graph_node *node)
{
	if (node->kind != GRAPH_OP)
		return class_of_call(&graph->flow->calls[node->flow_index]);
	const struct flow_op *op = &graph->flow->ops[node->flow_index];
	if (op->kind == HWY_COPY)
		return PATH_COPY;
	return op->class == HWY_COMM ? PATH_COMM : PATH_COMPUTE;
}

enum path_class path_class_of_lag(const struct graph_node *node, int place)
{
	if (node->kind == GRAPH_RETURN)
		return PATH_WAIT;
	return node->kind == GRAPH_OP && place == GRAPH_CAUSE ? PATH_LAUNCH : PATH_NEXT;
}

enum path_class path_class_of_delay(const struct graph_node *node)
{
	if (node->kind == GRAPH_LEAVE)
		return PATH_COMM;
	return node->kind == GRAPH_CALL ? PATH_CPU : PATH_OTHER;
}

/* ---- the walk -------------------------------------------------------------------------------- */

struct walk {
	int64_t from; /* the begin of the window */
	void (*visit)(void *user, const struct path_piece *piece);
	void *user;
};

/* Visits a piece, cut off at the window's begin. Pieces come from the end of the window; false once
 * its begin is reached. */
static bool add_piece(const struct walk *walk, int64_t from, int64_t to, uint32_t node,
		      enum path_class class)
{
	bool is_last = from <= walk->from;
	if (is_last)
		from = walk->from;
	if (to > from)
		walk->visit(walk->user, &(struct path_piece){{from, to}, node, (uint8_t) class});
	return !is_last;
}

void path_visit(const struct hwy_graph *graph, const int64_t *ends, uint32_t last, int64_t from,
		void (*visit)(void *user, const struct path_piece *piece), void *user)
{
	struct walk walk = {from, visit, user};
	int64_t time = ends[last];
	uint32_t extras = graph->n_extras;
	bool goes_on = time > from;
	for (uint32_t current = last; goes_on;) {
		const struct graph_node *node = &graph->nodes[current];
		int64_t begin = replay_begin(graph, ends, current);
		if (time > begin)
			goes_on = add_piece(&walk, begin, time, current,
					    path_class_of_length(graph, node));
		struct path_binding by = path_binding_of(graph, ends, current, &extras);
		if (!goes_on)
			break;
		if (by.before == GRAPH_NONE) { /* no predecessor held the node up */
			add_piece(&walk, from, begin, current, PATH_OTHER);
			break;
		}
		int64_t ready = by.time + by.lag;
		goes_on = add_piece(&walk, ready, begin, current, path_class_of_delay(node)) &&
			  add_piece(&walk, by.time, ready, current,
				    path_class_of_lag(node, by.place));
		current = by.before;
		time = by.time;
	}
}

/* ---- the list -------------------------------------------------------------------------------- */

static void keep_piece(void *user, const struct path_piece *piece)
{
	struct hwy_path *path = user;
	HWY_GROW(path->pieces, path->n, path->cap);
	path->pieces[path->n++] = *piece;
	path->classes[piece->class] += piece->at.to - piece->at.from;
}

static void turn_around(struct hwy_path *path)
{
	for (uint32_t i = 0, j = path->n; i + 1 < j; i++) {
		struct path_piece piece = path->pieces[i];
		path->pieces[i] = path->pieces[--j];
		path->pieces[j] = piece;
	}
}

void path_find(struct hwy_path *path, const struct hwy_graph *graph, const int64_t *ends,
	       uint32_t last, int64_t from)
{
	*path = (struct hwy_path){.window = {from, ends[last] > from ? ends[last] : from}};
	path_visit(graph, ends, last, from, keep_piece, path);
	turn_around(path);
}

void path_free(struct hwy_path *path)
{
	free(path->pieces);
	*path = (struct hwy_path){0};
}

/* ---- slack ----------------------------------------------------------------------------------- */

static void lower(int64_t *late, int64_t to)
{
	if (to < *late)
		*late = to;
}

/* 'slack' holds the latest possible end of each node until the last loop subtracts the real one. */
void path_slack(const struct hwy_graph *graph, const int64_t *ends, uint32_t last, int64_t *slack)
{
	for (uint32_t i = 0; i < graph->n; i++)
		slack[i] = INT64_MAX;
	slack[last] = ends[last];
	uint32_t extra = graph->n_extras;
	for (uint32_t i = last + 1; i-- > 0;) {
		const struct graph_node *node = &graph->nodes[i];
		while (extra > 0 && graph->extras[extra - 1].node > i)
			extra--;
		if (slack[i] == INT64_MAX)
			continue;
		int64_t ready = slack[i] - node->length - node->delay;
		for (int place = 0; place < GRAPH_PLACES; place++) {
			uint32_t before = node->before[place];
			if (before == GRAPH_NONE)
				continue;
			int64_t length = graph->nodes[before].length;
			lower(&slack[before], ready - graph_lag(node, place) +
						      graph_ahead_of_end(node, place, length));
		}
		for (; extra > 0 && graph->extras[extra - 1].node == i; extra--)
			lower(&slack[graph->extras[extra - 1].before],
			      ready - graph->extras[extra - 1].lag);
	}
	for (uint32_t i = 0; i < graph->n; i++)
		if (slack[i] != INT64_MAX)
			slack[i] -= ends[i];
}
