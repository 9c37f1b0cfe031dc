/* SPDX-License-Identifier: Apache-2.0 */
/* edit_links.c - communication between ranks, faster or in fewer pieces. Waiting and transfer
 * can be told apart only where several ranks are known.
 *
 * faster-link: what a transfer takes beyond the quickest of the run, which is latency, takes
 * less. bucket: of N collectives of one stream or thread in a step the first N - 1 are left out,
 * and the last one carries their data, too: it takes what they took beyond the latency. What
 * waited for one of them waits for the last.
 */
#include <stdlib.h>

#include "base/lang.h"
#include "base/ref.h"
#include "base/search.h"
#include "whatif/edits/edits.h"
#include "whatif/joint.h"

/* ---- transfers ------------------------------------------------------------------------------- */

static void lower_to(int64_t *least, int64_t value)
{
	*least = value < *least ? value : *least;
}

/* The quickest transfer of any collective or message, ns: what is paid however little is sent. */
static int64_t quickest_transfer(const struct joint *joint)
{
	const struct links *links = &joint->links;
	int64_t least = INT64_MAX;
	for (uint32_t i = 0; i < links->n_parts; i++)
		lower_to(&least, links->parts[i].transfer);
	for (uint32_t i = 0; i < links->gates.n; i++) {
		const struct links_end *gate = &links->gates.items[i];
		lower_to(&least, joint->ranks[gate->rank].graph.nodes[gate->node].delay);
	}
	return least;
}

/* Sets the transfer of a part: the replay scales it as the length of the part's node is scaled. */
static void set_part_transfer(struct graph_node *node, const struct links_part *part, double to)
{
	if (part->transfer > 0)
		node->length =
			(int64_t)((double)node->length * (to / (double)part->transfer) + 0.5);
}

/* ---- faster-link ----------------------------------------------------------------------------- */

static bool read_factor(const char *arguments, double *factor)
{
	char *end;
	*factor = strtod(arguments, &end);
	return end > arguments && !*end && *factor >= 1 && *factor <= 1e6;
}

static bool check_factor(const char *arguments, struct hwy_err *err)
{
	double factor;
	return read_factor(arguments, &factor) ||
	       hwy_fail(
		       err,
		       hwy_tr("faster-link takes how many times as fast the link is: faster-link:2"));
}

static bool apply_faster_link(struct editing *e, const char *arguments, struct hwy_err *err)
{
	const struct joint *joint = e->w->joint;
	double factor;
	if (!joint || !read_factor(arguments, &factor))
		return hwy_fail(
			err, hwy_tr("waiting for other ranks and transfer can be told apart in the "
				    "recordings of several ranks only"));
	const struct links *links = &joint->links;
	int64_t latency = quickest_transfer(joint);
	uint32_t found = 0, last = GRAPH_NONE, rank = e->w->rank;
	for (uint32_t i = 0; i < links->n_parts; i++) {
		const struct links_part *part = &links->parts[i];
		if (part->rank != rank)
			continue;
		double to = (double)latency + (double)(part->transfer - latency) / factor;
		set_part_transfer(&e->graph->nodes[part->node], part, to);
		found++;
	}
	for (uint32_t i = links->gates.first[rank]; i < links->gates.first[rank + 1]; i++) {
		struct graph_node *node = &e->graph->nodes[links->gates.items[i].node];
		if (links->gates.items[i].node == last)
			continue;
		last = links->gates.items[i].node;
		if (node->delay > latency)
			node->delay = latency + (int64_t)((double)(node->delay - latency) / factor);
		found++;
	}
	return found > 0 || hwy_fail(err, hwy_tr("the rank exchanges nothing with the others"));
}

const struct edit_kind edit_faster_link = {
	.id = "faster-link",
	.arguments = ":X",
	.about = HWY_KEY(
		"what ranks exchange travels X times as fast; latency stays (several ranks)"),
	.only_removes = true,
	.needs_no_steps = true,
	.check = check_factor,
	.apply = apply_faster_link,
};

/* ---- bucket ---------------------------------------------------------------------------------- */

struct bucketing {
	struct editing *e;
	uint32_t size;
	int64_t latency;
	/* By node: a reference to the collective that carries the node's data now; unset for
	 * others. */
	uint32_t *carrier;
	/* The collectives of the bucket that is being filled; all of one lane or thread, and of
	 * one step. */
	uint32_t *nodes, n;
	uint32_t lane, step, found;
};

static bool is_in(const struct links_ends *ends, uint32_t rank, uint32_t node, uint32_t hub)
{
	uint32_t end = ends->first[rank + 1];
	uint32_t i = HWY_FIRST(k, ends->first[rank], end, ends->items[k].node >= node);
	while (i < end && ends->items[i].node == node && ends->items[i].hub != hub)
		i++;
	return i < end && ends->items[i].node == node;
}

/* Whether the end of a call waits for one collective that the call itself comes to: not for
 * messages, nor for several. */
static bool ends_collective(const struct editing *e, uint32_t leave)
{
	const struct links *links = &e->w->joint->links;
	uint32_t rank = e->w->rank, call = e->graph->nodes[leave].before[GRAPH_ORDER];
	uint32_t end = links->gates.first[rank + 1];
	uint32_t i =
		HWY_FIRST(k, links->gates.first[rank], end, links->gates.items[k].node >= leave);
	bool is_one = i < end && links->gates.items[i].node == leave &&
		      (i + 1 == end || links->gates.items[i + 1].node != leave);
	return is_one && call != GRAPH_NONE &&
	       is_in(&links->arrivals, rank, call, links->gates.items[i].hub);
}

/* Whether the node ends a collective: a kernel that meets others, or a call that waits for all. */
static bool is_collective(const struct editing *e, uint32_t node)
{
	const struct links *links = &e->w->joint->links;
	const struct graph_node *one = &e->graph->nodes[node];
	if (one->kind == GRAPH_OP)
		return hwy_ref32_is_set(links->part_of[e->w->rank][node]);
	return one->kind == GRAPH_LEAVE && ends_collective(e, node);
}

static int64_t transfer_of(const struct editing *e, uint32_t node)
{
	const struct links *links = &e->w->joint->links;
	if (e->graph->nodes[node].kind == GRAPH_LEAVE)
		return e->graph->nodes[node].delay;
	return links->parts[hwy_ref32_index(links->part_of[e->w->rank][node])].transfer;
}

/* Takes a collective out of its meeting and out of time. */
static void take_out_collective(struct editing *e, uint32_t node)
{
	struct graph_node *one = &e->graph->nodes[node];
	one->flags |= GRAPH_ALONE;
	if (one->kind == GRAPH_OP) {
		one->length = 0;
		return;
	}
	one->delay = 0;
	e->graph->nodes[one->before[GRAPH_ORDER]].flags |= GRAPH_ALONE;
}

/* Ends the bucket: its last collective carries the data of all. */
static void end_bucket(struct bucketing *b)
{
	const struct links *links = &b->e->w->joint->links;
	int64_t sum = 0;
	for (uint32_t i = 0; i < b->n; i++)
		sum += transfer_of(b->e, b->nodes[i]) - b->latency;
	if (b->n > 1) {
		uint32_t last = b->nodes[b->n - 1];
		struct graph_node *node = &b->e->graph->nodes[last];
		for (uint32_t i = 0; i + 1 < b->n; i++) {
			take_out_collective(b->e, b->nodes[i]);
			b->carrier[b->nodes[i]] = hwy_ref32(last);
		}
		if (node->kind == GRAPH_LEAVE)
			node->delay = sum + b->latency;
		else
			set_part_transfer(
				node,
				&links->parts[hwy_ref32_index(links->part_of[b->e->w->rank][last])],
				(double)(sum + b->latency));
		b->found += b->n - 1;
	}
	b->n = 0;
}

static uint32_t step_of_collective(const struct editing *e, uint32_t node, uint32_t *lane)
{
	const struct graph_node *one = &e->graph->nodes[node];
	bool is_op = one->kind == GRAPH_OP;
	uint32_t call = is_op ? e->flow->ops[one->flow_index].call : one->flow_index;
	*lane = is_op ? e->flow->ops[one->flow_index].lane
		      : UINT32_MAX - e->flow->calls[one->flow_index].thread;
	return call == FLOW_NONE || !e->w->phase ? HWY_REF_NONE : edit_step_of(e, call);
}

/* What waited for a collective that was taken out waits for the one that carries its data, where
 * that comes before. */
static void wait_for_carriers(struct bucketing *b)
{
	struct hwy_graph *graph = b->e->graph;
	for (uint32_t i = 0; i < graph->n; i++)
		for (int place = 0; place < GRAPH_PLACES; place++) {
			uint32_t before = graph->nodes[i].before[place];
			if (before == GRAPH_NONE || !hwy_ref32_is_set(b->carrier[before]))
				continue;
			uint32_t carrier = hwy_ref32_index(b->carrier[before]);
			if (carrier < i && !hwy_ref32_is_set(b->carrier[i]))
				graph_add_edge(graph, i, carrier, 0);
		}
	graph_settle(graph);
}

static bool check_bucket(const char *arguments, struct hwy_err *err)
{
	uint32_t size;
	const char *rest;
	return (edit_number(arguments, &size, &rest) && size >= 2 && !*rest) ||
	       hwy_fail(
		       err,
		       hwy_tr("bucket takes how many collectives become one, 2 at least: bucket:8"));
}

static bool apply_bucket(struct editing *e, const char *arguments, struct hwy_err *err)
{
	struct bucketing b = {.e = e};
	const char *rest;
	if (!e->w->joint || !edit_number(arguments, &b.size, &rest))
		return hwy_fail(
			err, hwy_tr("waiting for other ranks and transfer can be told apart in the "
				    "recordings of several ranks only"));
	b.latency = quickest_transfer(e->w->joint);
	b.nodes = hwy_array(b.size, sizeof *b.nodes);
	b.carrier = hwy_zarray(e->graph->n, sizeof *b.carrier);
	for (uint32_t i = 0; i < e->graph->n; i++) {
		if (!is_collective(e, i))
			continue;
		uint32_t lane, step = step_of_collective(e, i, &lane);
		if (b.n > 0 && (lane != b.lane || step != b.step))
			end_bucket(&b);
		b.lane = lane;
		b.step = step;
		b.nodes[b.n++] = i;
		if (b.n == b.size)
			end_bucket(&b);
	}
	end_bucket(&b);
	wait_for_carriers(&b);
	free(b.nodes);
	free(b.carrier);
	return b.found > 0 ||
	       hwy_fail(
		       err,
		       hwy_tr("no two collectives of a step follow each other on a stream or thread"));
}

const struct edit_kind edit_bucket = {
	.id = "bucket",
	.arguments = ":N",
	.about = HWY_KEY("N collectives of a step in a row are one (several ranks)"),
	.overlaps = true,
	.needs_no_steps = true,
	.check = check_bucket,
	.apply = apply_bucket,
};
