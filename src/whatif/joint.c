/* SPDX-License-Identifier: Apache-2.0 */
/* joint.c - see joint.h.
 *
 * Ranks are replayed in turns: each in its stored order until a node depends on the end of a
 * collective that other ranks have not come to. As the recorded times are consistent, some rank can
 * always go on. An edit could make ranks wait for each other in a circle; then the meeting that the
 * first of them waits for ends without the missing ranks.
 */
#include "whatif/joint.h"

#include <stdlib.h>

#include "base/ref.h"

/* ---- the replay ----------------------------------------------------------------------------------- */

struct meeting_state {
	int64_t last;     /* the latest arrival so far, on the first rank's clock */
	uint32_t missing; /* how many ranks have not begun their part of the collective yet */
	bool is_over;
};

struct part_state {
	int64_t begin;   /* when the part begins, in ns on the clock of the part's rank */
	int64_t length;  /* ns that the part's node takes in the edited graph */
	bool is_pending; /* the part has begun, and its collective is not over */
};

struct replaying {
	const struct joint *joint;
	struct hwy_graph *graphs;
	int64_t **ends;
	struct meeting_state *meetings;
	struct part_state *parts;
	/* For each rank the next node to replay, and the node's next extra edge. */
	uint32_t *next_node, *next_extra;
};

static int64_t shift_of(const struct joint *joint, uint32_t rank)
{
	return joint->collectives.shift[rank];
}

/* Ends a part whose meeting is over: the transfer follows the last arrival, scaled as edits have
 * scaled the part. */
static void joint_leave(struct replaying *r, uint32_t index)
{
	const struct joint_part *part = &r->joint->parts[index];
	struct part_state *state = &r->parts[index];
	int64_t last = r->meetings[part->meeting].last - shift_of(r->joint, part->rank);
	int64_t transfer = part->transfer;
	if (state->length != part->length && part->length > 0)
		transfer = (int64_t)((double)transfer *
				     ((double)state->length / (double)part->length));
	int64_t end = (last > state->begin ? last : state->begin) + transfer;
	r->graphs[part->rank].nodes[part->node].length = end - state->begin;
	r->ends[part->rank][part->node] = end;
	state->is_pending = false;
}

static void end_meeting(struct replaying *r, uint32_t meeting)
{
	r->meetings[meeting].is_over = true;
	for (uint32_t i = r->joint->first[meeting]; i < r->joint->first[meeting + 1]; i++)
		if (r->parts[i].is_pending)
			joint_leave(r, i);
}

/* A rank that waits in a collective has length 0 until the last rank arrives, so that nodes which
 * depend on its begin can already be replayed. */
static void arrive(struct replaying *r, uint32_t index, int64_t begin)
{
	const struct joint_part *part = &r->joint->parts[index];
	struct graph_node *node = &r->graphs[part->rank].nodes[part->node];
	struct meeting_state *meeting = &r->meetings[part->meeting];
	int64_t time = begin + shift_of(r->joint, part->rank);
	r->parts[index] = (struct part_state){begin, node->length, true};
	node->length = 0;
	r->ends[part->rank][part->node] = begin;
	if (meeting->is_over) {
		joint_leave(r, index);
	} else if (!r->graphs[part->rank].is_unwaited) {
		meeting->last = time > meeting->last ? time : meeting->last;
		if (--meeting->missing == 0)
			end_meeting(r, part->meeting);
	}
}

/* Whether the end of a node is not known yet because it is a part of *meeting, which is not
 * over. */
static bool is_open(const struct replaying *r, uint32_t rank, uint32_t node, uint32_t *meeting)
{
	uint32_t part = node == GRAPH_NONE ? HWY_REF_NONE : r->joint->part_of[rank][node];
	if (!hwy_ref32_is_set(part) || !r->parts[hwy_ref32_index(part)].is_pending)
		return false;
	*meeting = r->joint->parts[hwy_ref32_index(part)].meeting;
	return true;
}

static bool is_held_up(const struct replaying *r, uint32_t rank, uint32_t *meeting)
{
	const struct hwy_graph *graph = &r->graphs[rank];
	const struct graph_node *node = &graph->nodes[r->next_node[rank]];
	for (int place = 0; place < GRAPH_PLACES; place++)
		if (!graph_counts_from_begin(node, place) &&
		    is_open(r, rank, node->before[place], meeting))
			return true;
	for (uint32_t i = r->next_extra[rank];
	     i < graph->n_extras && graph->extras[i].node == r->next_node[rank]; i++)
		if (is_open(r, rank, graph->extras[i].before, meeting))
			return true;
	return false;
}

/* Replays a rank until a node waits for a collective that is not over; *meeting becomes that collective. */
static void go_on(struct replaying *r, uint32_t rank, uint32_t *meeting)
{
	struct hwy_graph *graph = &r->graphs[rank];
	int64_t *ends = r->ends[rank];
	for (; r->next_node[rank] < graph->n && !is_held_up(r, rank, meeting);
	     r->next_node[rank]++) {
		uint32_t i = r->next_node[rank], *extra = &r->next_extra[rank];
		int64_t ready = replay_ready(graph, &graph->nodes[i], ends);
		for (; *extra < graph->n_extras && graph->extras[*extra].node == i; ++*extra) {
			const struct graph_extra *one = &graph->extras[*extra];
			if (ends[one->before] + one->lag > ready)
				ready = ends[one->before] + one->lag;
		}
		int64_t begin = (ready == INT64_MIN ? 0 : ready) + graph->nodes[i].delay;
		uint32_t part = r->joint->part_of[rank][i];
		if (hwy_ref32_is_set(part))
			arrive(r, hwy_ref32_index(part), begin);
		else
			ends[i] = begin + graph->nodes[i].length;
	}
}

static void start_meetings(struct replaying *r)
{
	for (uint32_t m = 0; m < r->joint->n_meetings; m++) {
		r->meetings[m].last = INT64_MIN / 2;
		for (uint32_t i = r->joint->first[m]; i < r->joint->first[m + 1]; i++)
			r->meetings[m].missing += !r->graphs[r->joint->parts[i].rank].is_unwaited;
	}
}

static void take_turns(struct replaying *r)
{
	for (bool is_done = false; !is_done;) {
		bool moved = false;
		uint32_t stuck = 0, meeting = 0;
		is_done = true;
		for (uint32_t rank = 0; rank < r->joint->n; rank++) {
			uint32_t from = r->next_node[rank];
			go_on(r, rank, &meeting);
			moved |= r->next_node[rank] > from;
			if (r->next_node[rank] < r->graphs[rank].n && is_done)
				stuck = meeting;
			is_done &= r->next_node[rank] == r->graphs[rank].n;
		}
		if (!moved && !is_done)
			end_meeting(r, stuck);
	}
	/* No node of any rank waits for the collectives that are left: end them. */
	for (uint32_t m = 0; m < r->joint->n_meetings; m++)
		if (!r->meetings[m].is_over)
			end_meeting(r, m);
}

int64_t **joint_replay(const struct joint *joint, struct hwy_graph *graphs)
{
	struct replaying r = {
		.joint = joint,
		.graphs = graphs,
		.ends = hwy_array(joint->n, sizeof *r.ends),
		.meetings = hwy_zarray(joint->n_meetings, sizeof *r.meetings),
		.parts = hwy_zarray(joint->n_parts, sizeof *r.parts),
		.next_node = hwy_zarray(joint->n, sizeof *r.next_node),
		.next_extra = hwy_zarray(joint->n, sizeof *r.next_extra),
	};
	for (uint32_t i = 0; i < joint->n; i++)
		r.ends[i] = hwy_array(graphs[i].n, sizeof **r.ends);
	start_meetings(&r);
	take_turns(&r);
	free(r.meetings);
	free(r.parts);
	free(r.next_node);
	free(r.next_extra);
	return r.ends;
}

/* ---- the collectives ------------------------------------------------------------------------------ */

/* The node of an op of the whole recording; GRAPH_NONE where the graph is of an excerpt without
 * it. */
static uint32_t node_of(const struct whatif *w, uint32_t op)
{
	if (w->excerpt)
		op = excerpt_op(w->flow, &w->analysis->flow.ops[op]);
	return op == FLOW_NONE ? GRAPH_NONE : graph_op(&w->graph, op);
}

static void add_meeting(struct joint *joint, const struct hwy_meeting *meeting)
{
	uint32_t first = joint->n_parts;
	int64_t last = INT64_MIN;
	for (uint32_t i = meeting->first; i < meeting->first + meeting->n; i++) {
		const struct meeting_part *from = &joint->collectives.parts[i];
		if (from->op == FLOW_NONE)
			continue;
		const struct flow_op *op = &joint->ranks[from->rank].analysis->flow.ops[from->op];
		uint32_t node = node_of(&joint->ranks[from->rank], from->op);
		if (node == GRAPH_NONE)
			continue;
		int64_t shift = shift_of(joint, from->rank);
		last = op->start + shift > last ? op->start + shift : last;
		joint->parts[joint->n_parts++] = (struct joint_part){.rank = from->rank,
								     .node = node,
								     .meeting = joint->n_meetings,
								     .length = op->end - op->start,
								     .transfer = op->end + shift};
	}
	if (joint->n_parts - first < 2) {
		joint->n_parts = first;
		return;
	}
	for (uint32_t i = first; i < joint->n_parts; i++) {
		struct joint_part *part = &joint->parts[i];
		part->transfer -= last;
		joint->part_of[part->rank][part->node] = hwy_ref32(i);
	}
	joint->first[joint->n_meetings++] = first;
}

static void add_meetings(struct joint *joint)
{
	const struct hwy_collectives *c = &joint->collectives;
	joint->parts = hwy_array(c->n_parts, sizeof *joint->parts);
	/* first[n] is the end of the last collective's parts */
	joint->first = hwy_array(c->n + 1, sizeof *joint->first);
	joint->part_of = hwy_array(joint->n, sizeof *joint->part_of);
	for (uint32_t r = 0; r < joint->n; r++)
		joint->part_of[r] = hwy_zarray(joint->ranks[r].graph.n, sizeof **joint->part_of);
	for (uint32_t i = 0; i < c->n; i++)
		add_meeting(joint, &c->meetings[i]);
	joint->first[joint->n_meetings] = joint->n_parts;
}

/* The number of nodes whose end differs between the joint replay and the replay of each rank alone:
 * 0, or a bug. */
static uint32_t count_different(const struct joint *joint)
{
	uint32_t different = 0;
	struct hwy_graph *graphs = hwy_array(joint->n, sizeof *graphs);
	for (uint32_t r = 0; r < joint->n; r++)
		graphs[r] = graph_copy(&joint->ranks[r].graph);
	int64_t **together = joint_replay(joint, graphs);
	for (uint32_t r = 0; r < joint->n; r++) {
		const struct hwy_graph *graph = &joint->ranks[r].graph;
		int64_t *alone = hwy_array(graph->n, sizeof *alone);
		replay_run(graph, alone);
		for (uint32_t i = 0; i < graph->n; i++)
			different += alone[i] != together[r][i];
		free(alone);
		free(together[r]);
		graph_free(&graphs[r]);
	}
	free(together);
	free(graphs);
	return different;
}

/* ---- opening -------------------------------------------------------------------------------------- */

/* The window of the first rank's excerpt on another rank's clock, half a step wider on both
 * sides. */
static struct hwy_interval window_of(const struct joint *joint, const struct whatif *w,
				     uint32_t rank)
{
	const struct hwy_phase *phase = w->phase;
	const struct phase_step *last = &phase->steps[phase->first_steady + phase->n_steady - 1];
	int64_t shift = shift_of(joint, rank), half = phase->mean / 2;
	return (struct hwy_interval){
		phase->steps[phase->first_steady].device.from - shift - half,
		last->device.from - shift + half,
	};
}

static bool open_ranks(struct joint *joint, const struct joint_rank *ranks, bool all,
		       struct hwy_err *err)
{
	for (uint32_t r = 0; r < joint->n; r++) {
		struct whatif *w = &joint->ranks[r];
		const struct whatif *first = &joint->ranks[0];
		struct hwy_interval window = {0};
		if (r > 0)
			window = window_of(joint, first, r);
		bool is_whole = all || (r > 0 && !first->excerpt);
		if (!whatif_build(w, ranks[r].analysis, ranks[r].phase, is_whole,
				  r > 0 ? &window : NULL, err))
			return false;
		w->joint = joint;
		w->rank = r;
		joint->numbers[r] = ranks[r].rank;
	}
	return true;
}

enum { FEWEST_STEPS = 3 }; /* with fewer steps the ranks of a run have no common pace */

/* Gives all ranks the recorded step of the slowest rank and the worst quality of any rank. */
static void share_quality(struct joint *joint)
{
	struct whatif worst = joint->ranks[0];
	joint->has_pace = true;
	for (uint32_t r = 0; r < joint->n; r++)
		joint->has_pace &= joint->ranks[r].phase->n_steady >= FEWEST_STEPS;
	worst.quality.differ = count_different(joint);
	for (uint32_t r = 0; r < joint->n; r++) {
		const struct whatif *w = &joint->ranks[r];
		if (joint->has_pace && w->recorded > worst.recorded)
			worst.recorded = w->recorded;
		worst.quality.differ += w->quality.differ;
		if (w->quality.residual > worst.quality.residual)
			worst.quality.residual = w->quality.residual;
		if (w->quality.contradicted > worst.quality.contradicted)
			worst.quality.contradicted = w->quality.contradicted;
		if (w->quality.steps_predict < 0 || worst.quality.steps_predict < 0)
			worst.quality.steps_predict = -1;
		else if (w->quality.steps_predict > worst.quality.steps_predict)
			worst.quality.steps_predict = w->quality.steps_predict;
	}
	for (uint32_t r = 0; r < joint->n; r++) {
		if (joint->has_pace)
			joint->ranks[r].recorded = worst.recorded;
		joint->ranks[r].quality = worst.quality;
	}
}

static bool joint_open_all(struct joint *joint, const struct joint_rank *ranks, bool all,
			   struct hwy_err *err)
{
	struct collectives_rank *flows = hwy_array(joint->n, sizeof *flows);
	for (uint32_t r = 0; r < joint->n; r++)
		flows[r] = (struct collectives_rank){.flow = &ranks[r].analysis->flow,
						     .process = ranks[r].process};
	bool done = collectives_match(&joint->collectives, flows, joint->n, err);
	free(flows);
	if (!done || !open_ranks(joint, ranks, all, err))
		return false;
	add_meetings(joint);
	if (joint->n_meetings == 0)
		return hwy_fail(
			err,
			"the ranks have no collective in common: their clocks and order cannot be told");
	share_quality(joint);
	return whatif_base(&joint->ranks[0], err);
}

static double length_of(const struct hwy_phase *phase)
{
	return (double)phase->mean * phase->n_steps;
}

struct joint_rank *joint_ranks_of(struct hwy_analysis *analysis, uint32_t *n)
{
	const struct hwy_trace *trace = analysis->trace;
	const struct hwy_phases *phases = &analysis->phases;
	struct joint_rank *ranks = hwy_array(trace->n_processes, sizeof *ranks);
	uint8_t *communicates = hwy_zarray(trace->n_processes, sizeof *communicates);
	for (uint32_t i = 0; i < analysis->flow.n_ops; i++) {
		int64_t process = trace->lanes[analysis->flow.ops[i].lane].process;
		if (analysis->flow.ops[i].class == HWY_COMM && process >= 0)
			communicates[process] = 1;
	}
	*n = 0;
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		uint32_t longest = phases->n;
		for (uint32_t i = 0; i < phases->n && communicates[p]; i++)
			if (phases->phases[i].process == p &&
			    (longest == phases->n ||
			     length_of(&phases->phases[i]) > length_of(&phases->phases[longest])))
				longest = i;
		int64_t rank = trace->processes[p].rank;
		if (longest < phases->n)
			ranks[(*n)++] = (struct joint_rank){rank == HWY_NONE ? p : rank, analysis,
							    longest, p};
	}
	free(communicates);
	if (*n > 1)
		return ranks;
	free(ranks);
	return NULL;
}

bool joint_open(struct joint *joint, const struct joint_rank *ranks, uint32_t n, bool all,
		struct hwy_err *err)
{
	*joint = (struct joint){.ranks = hwy_zarray(n, sizeof *joint->ranks),
				.numbers = hwy_zarray(n, sizeof *joint->numbers),
				.n = n};
	bool done = joint_open_all(joint, ranks, all, err);
	if (!done)
		joint_close(joint);
	return done;
}

void joint_close(struct joint *joint)
{
	for (uint32_t r = 0; r < joint->n; r++) {
		whatif_close(&joint->ranks[r]);
		if (joint->part_of)
			free(joint->part_of[r]);
	}
	free(joint->part_of);
	free(joint->first);
	free(joint->parts);
	free(joint->ranks);
	free(joint->numbers);
	collectives_free(&joint->collectives);
	*joint = (struct joint){0};
}
