/* SPDX-License-Identifier: Apache-2.0 */
/* edit_streams.c - work moves to other streams: copies to streams of their own, or chunks to
 * several streams.
 *
 * Each resource keeps its order: copies of one direction follow each other, and so do kernels that
 * fill the device. A trace does not show which work is independent. So a chunk is a copy to the
 * device with the work that follows on its stream up to the next such copy, and chunks are assumed
 * not to depend on each other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"

enum { UP, DOWN, WORK, TRACKS };
/* How much longer copies take beside copies of the other direction (H200, PCIe 5). */
enum { SHARED_LINK_PERCENT = 8 };

static unsigned stream_track_of(const struct editing *e, uint32_t op)
{
	if (e->flow->ops[op].kind != HWY_COPY)
		return WORK;
	int64_t direction = edit_copy_of(e, op).direction;
	return direction == HWY_H2D || direction == HWY_H2A ? UP
	       : direction == HWY_D2H                       ? DOWN
							    : WORK;
}

static bool is_edited(const struct editing *e, const struct graph_node *node)
{
	if (node->kind != GRAPH_OP)
		return false;
	uint32_t call = e->flow->ops[node->flow_index].call;
	return call != FLOW_NONE && edit_step_of(e, call) > 0;
}

/* Puts an op behind another on its new stream. A copy then begins without a delay, and takes longer
 * where copies of both directions share the link. */
static void follow(struct editing *e, uint32_t index, uint32_t before, bool both_ways)
{
	struct graph_node *node = &e->graph->nodes[index];
	uint32_t was = node->before[GRAPH_ORDER];
	node->before[GRAPH_ORDER] = before;
	node->flags &= (uint8_t)~GRAPH_FROM_BEGIN(GRAPH_ORDER);
	if (before != was)
		graph_forget_overlap(node);
	if (stream_track_of(e, node->flow_index) == WORK)
		return;
	node->delay = 0;
	if (both_ways)
		node->length += node->length * SHARED_LINK_PERCENT / 100;
}

/* Yields a set of bits: the tracks (UP, DOWN, WORK) on which the phase has ops. */
static unsigned tracks_of(const struct editing *e)
{
	unsigned seen = 0;
	for (uint32_t i = 0; i < e->graph->n; i++)
		if (is_edited(e, &e->graph->nodes[i]))
			seen |= 1u << stream_track_of(e, e->graph->nodes[i].flow_index);
	return seen;
}

/* Whether the phase copies to the device and from it. */
static bool goes_both_ways(unsigned tracks)
{
	return (tracks >> UP & 1) && (tracks >> DOWN & 1);
}

/* ---- copies on their own streams ------------------------------------------------------------- */

struct copy_lane {
	uint32_t last[TRACKS]; /* the last node of each track */
	/* The last kernel of each of the two chunks before: a copy to the device must wait for the
	 * older one, because two buffers are used in turn. */
	uint32_t work[2];
};

static void move_copy(struct editing *e, struct copy_lane *lane, uint32_t index, bool both_ways)
{
	unsigned track = stream_track_of(e, e->graph->nodes[index].flow_index);
	follow(e, index, lane->last[track], both_ways);
	if (track == UP) {
		graph_add_edge(e->graph, index, lane->work[0], 0);
		lane->work[0] = lane->work[1];
		lane->work[1] = lane->last[WORK];
	} else {
		graph_add_edge(e->graph, index, lane->last[track == WORK ? UP : WORK], 0);
	}
	lane->last[track] = index;
}

static bool apply_copy_stream(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	unsigned tracks = tracks_of(e);
	if (!(tracks & (1u << UP | 1u << DOWN)))
		return hwy_fail(err, hwy_tr("the phase has no copies to or from the host"));
	bool both_ways = goes_both_ways(tracks);
	uint32_t n = e->flow->trace->n_lanes;
	struct copy_lane *lanes = hwy_array(n, sizeof *lanes);
	memset(lanes, 0xff, n * sizeof *lanes); /* all become GRAPH_NONE */
	for (uint32_t i = 0; i < e->graph->n; i++) {
		if (!is_edited(e, &e->graph->nodes[i]))
			continue;
		move_copy(e, &lanes[e->flow->ops[e->graph->nodes[i].flow_index].lane], i,
			  both_ways);
	}
	free(lanes);
	graph_settle(e->graph);
	return true;
}

const struct edit_kind edit_copy_stream = {
	.id = "copy-stream",
	.arguments = "",
	.overlaps = true,
	.about = HWY_KEY("copies run on streams of their own, with two buffers in turn"),
	.apply = apply_copy_stream,
};

/* ---- several streams ------------------------------------------------------------------------- */

enum { MOST_STREAMS = 64 };

struct spread_lane {
	uint32_t stream;             /* the stream that the current chunk is on */
	uint32_t last[MOST_STREAMS]; /* the last node on each stream */
	uint32_t work;               /* the last kernel on any of the streams */
	bool in_copy;                /* the current chunk consists of copies to the device so far */
};

static void spread(struct editing *e, struct spread_lane *lane, uint32_t streams, uint32_t index,
		   bool both_ways)
{
	unsigned track = stream_track_of(e, e->graph->nodes[index].flow_index);
	if (track == UP && !lane->in_copy)
		lane->stream = (lane->stream + 1) % streams;
	lane->in_copy = track == UP;
	follow(e, index, lane->last[lane->stream], both_ways);
	if (track == WORK) {
		graph_add_edge(e->graph, index, lane->work, 0);
		lane->work = index;
	}
	lane->last[lane->stream] = index;
}

static bool read_streams(const char *arguments, uint32_t *streams, struct hwy_err *err)
{
	const char *rest;
	return (edit_number(arguments, streams, &rest) && !*rest && *streams <= MOST_STREAMS) ||
	       hwy_fail(err, hwy_tr("streams needs a number from 1 to %d: streams:4"),
			MOST_STREAMS);
}

static bool check_streams(const char *arguments, struct hwy_err *err)
{
	uint32_t streams;
	return read_streams(arguments, &streams, err);
}

static bool apply_streams(struct editing *e, const char *arguments, struct hwy_err *err)
{
	uint32_t streams, n = e->flow->trace->n_lanes;
	if (!read_streams(arguments, &streams, err))
		return false;
	unsigned tracks = tracks_of(e);
	if (!(tracks >> UP & 1))
		return hwy_fail(
			err, hwy_tr("the phase copies nothing to the device: no chunks to spread"));
	bool both_ways = streams > 1 && goes_both_ways(tracks);
	struct spread_lane *lanes = hwy_array(n, sizeof *lanes);
	memset(lanes, 0xff, n * sizeof *lanes); /* all become GRAPH_NONE */
	for (uint32_t i = 0; i < n; i++)
		lanes[i].stream = 0, lanes[i].in_copy = false;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		if (!is_edited(e, &e->graph->nodes[i]))
			continue;
		spread(e, &lanes[e->flow->ops[e->graph->nodes[i].flow_index].lane], streams, i,
		       both_ways);
	}
	free(lanes);
	graph_settle(e->graph);
	return true;
}

const struct edit_kind edit_streams = {
	.id = "streams",
	.arguments = ":N",
	.overlaps = true,
	.about = HWY_KEY("chunks (copy in, compute, copy out) are spread over N streams"),
	.check = check_streams,
	.apply = apply_streams,
};

/* ---- no barrier ------------------------------------------------------------------------------ */

/* Whether an op waits for the node 'before' only because of the legacy default stream: one of the
 * two is on that stream, the other on a stream that blocks with it. */
static bool is_barrier(const struct editing *e, uint32_t op, uint32_t before)
{
	if (before == GRAPH_NONE || e->graph->nodes[before].kind != GRAPH_OP)
		return false;
	const struct hwy_trace *trace = e->flow->trace;
	int64_t own = trace->lanes[e->flow->ops[op].lane].stream;
	int64_t other = trace->lanes[e->flow->ops[e->graph->nodes[before].flow_index].lane].stream;
	if (own < 0 || other < 0 || own == other)
		return false;
	int64_t a = trace->streams[own].flags, b = trace->streams[other].flags;
	return (a == 3 && b == 1) || (a == 1 && b == 3);
}

static bool apply_no_barrier(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	uint32_t found = 0, kept = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (!is_edited(e, node) ||
		    !is_barrier(e, node->flow_index, node->before[GRAPH_OTHER]))
			continue;
		node->before[GRAPH_OTHER] = GRAPH_NONE;
		found++;
	}
	for (uint32_t i = 0; i < e->graph->n_extras; i++) {
		const struct graph_extra *extra = &e->graph->extras[i];
		const struct graph_node *node = &e->graph->nodes[extra->node];
		if (is_edited(e, node) && is_barrier(e, node->flow_index, extra->before))
			found++;
		else
			e->graph->extras[kept++] = *extra;
	}
	e->graph->n_extras = kept;
	return found > 0 ||
	       hwy_fail(err, hwy_tr("the default stream holds nothing of the phase up"));
}

const struct edit_kind edit_no_barrier = {
	.id = "no-barrier",
	.arguments = "",
	.overlaps = true,
	.about = HWY_KEY("streams are non-blocking: the default stream no longer orders them"),
	.only_removes = true,
	.apply = apply_no_barrier,
};
