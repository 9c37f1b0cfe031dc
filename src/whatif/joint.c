/* SPDX-License-Identifier: Apache-2.0 */
/* joint.c - see joint.h. */
#include "whatif/joint.h"

#include <stdlib.h>

#include "base/ref.h"

/* ---- opening --------------------------------------------------------------------------------- */

static int64_t shift_of(const struct joint *joint, uint32_t rank)
{
	return joint->collectives.shift[rank];
}

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
		bool first_is_whole = !first->excerpt || first->excerpt->is_whole;
		struct whatif_extent extent = {
			.is_whole = all || (r > 0 && first_is_whole),
			.window = r > 0 ? &window : NULL,
			.has_comm_calls = true,
			.process = ranks[r].process,
		};
		if (!whatif_build(w, ranks[r].analysis, ranks[r].phase, &extent, err))
			return false;
		w->joint = joint;
		w->rank = r;
		joint->numbers[r] = ranks[r].rank;
	}
	return true;
}

static bool join_graphs(struct joint *joint, const struct collectives_rank *members,
			struct hwy_err *err)
{
	struct hwy_p2p p2p;
	if (!p2p_match(&p2p, members, joint->n, err))
		return false;
	struct links_rank *ranks = hwy_array(joint->n, sizeof *ranks);
	for (uint32_t r = 0; r < joint->n; r++) {
		struct whatif *w = &joint->ranks[r];
		ranks[r] = (struct links_rank){.graph = &w->graph,
					       .whole = &w->analysis->flow,
					       .call_of = w->excerpt ? &w->excerpt->comm.call_of
								     : NULL};
	}
	links_build(&joint->links, ranks, joint->n, members, &joint->collectives, &p2p);
	joint->differ = links_count_different(&joint->links, ranks);
	p2p_free(&p2p);
	free(ranks);
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
	worst.quality.differ = joint->differ;
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

/* One graph of everything that is recorded of each rank. */
static bool open_runs(struct joint *joint, const struct joint_rank *ranks, struct hwy_err *err)
{
	for (uint32_t r = 0; r < joint->n; r++) {
		struct whatif *w = &joint->ranks[r];
		*w = (struct whatif){.analysis = ranks[r].analysis,
				     .joint = joint,
				     .rank = r,
				     .lead_call = GRAPH_NONE,
				     .scale = 1};
		w->excerpt = excerpt_of_run(&ranks[r].analysis->flow, ranks[r].process, err);
		if (!w->excerpt || !graph_build(&w->graph, &w->excerpt->flow, err))
			return false;
		w->flow = &w->excerpt->flow;
		joint->numbers[r] = ranks[r].rank;
	}
	return true;
}

static bool joint_open_all(struct joint *joint, const struct joint_rank *ranks, bool has_steps,
			   bool all, struct hwy_err *err)
{
	struct collectives_rank *members = hwy_array(joint->n, sizeof *members);
	for (uint32_t r = 0; r < joint->n; r++) {
		members[r] = (struct collectives_rank){
			.flow = &ranks[r].analysis->flow,
			.process = ranks[r].process,
			.clock = ranks[r].clock,
			.number = ranks[r].rank >= 0 ? hwy_ref(ranks[r].rank) : HWY_REF_NONE};
		joint->clocks[r] = ranks[r].clock;
	}
	bool done =
		collectives_match(&joint->collectives, members, joint->n, err) &&
		(has_steps ? open_ranks(joint, ranks, all, err) : open_runs(joint, ranks, err)) &&
		join_graphs(joint, members, err);
	free(members);
	if (!done)
		return false;
	bool is_joined =
		joint->links.n_meetings > 0 || (ranks[0].clock && joint->links.n_messages > 0);
	if (!is_joined)
		return hwy_fail(
			err,
			"the ranks have no collective in common: their clocks and order cannot be told");
	if (!has_steps)
		return true;
	share_quality(joint);
	return whatif_base(&joint->ranks[0], err);
}

static double length_of(const struct hwy_phase *phase)
{
	return (double)phase->mean * phase->n_steps;
}

/* Whether a call on the CPU shows the message. The ranks of one recording are on one clock; but
 * where only kernels meet, their ends set the clocks all the same: clocks of devices are not
 * quite one. */
static bool is_call(const struct hwy_trace *trace, const struct hwy_message *message)
{
	uint32_t row;
	return message->span >= 0 && message->span < trace->n_spans &&
	       hwy_strip_of(trace, (uint32_t)message->span, &row)->kind != HWY_KERNEL;
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
	bool has_calls = false;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		int64_t process = trace->messages[i].process;
		if (process >= 0 && process < trace->n_processes)
			communicates[process] = 1;
		has_calls |= is_call(trace, &trace->messages[i]);
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
			ranks[(*n)++] = (struct joint_rank){
				.rank = rank == HWY_NONE ? p : rank,
				.analysis = analysis,
				.phase = longest,
				.process = p,
				.clock = has_calls ? &exchange_same_clock : NULL};
	}
	free(communicates);
	if (*n > 1)
		return ranks;
	free(ranks);
	return NULL;
}

static bool joint_open_new(struct joint *joint, const struct joint_rank *ranks, uint32_t n,
			   bool has_steps, bool all, struct hwy_err *err)
{
	*joint = (struct joint){.ranks = hwy_zarray(n, sizeof *joint->ranks),
				.numbers = hwy_zarray(n, sizeof *joint->numbers),
				.clocks = hwy_zarray(n, sizeof *joint->clocks),
				.n = n};
	bool done = joint_open_all(joint, ranks, has_steps, all, err);
	if (!done)
		joint_close(joint);
	return done;
}

bool joint_open(struct joint *joint, const struct joint_rank *ranks, uint32_t n, bool all,
		struct hwy_err *err)
{
	return joint_open_new(joint, ranks, n, true, all, err);
}

bool joint_open_run(struct joint *joint, const struct joint_rank *ranks, uint32_t n,
		    struct hwy_err *err)
{
	return joint_open_new(joint, ranks, n, false, true, err);
}

/* The time that is judged, on the first rank's clock: its steady steps, else from the moment at
 * which all ranks have come to something. Before that, waiting only shows which rank started
 * first. */
static struct hwy_interval judged_window(const struct joint *joint)
{
	const struct hwy_phase *phase = joint->ranks[0].phase;
	struct hwy_interval window = {INT64_MIN + 1, INT64_MAX};
	if (phase && phase->n_steady > 0) {
		window.from = phase->steps[phase->first_steady].device.from;
		window.to = phase->steps[phase->first_steady + phase->n_steady - 1].device.to;
		return window;
	}
	for (uint32_t r = 0; r < joint->n; r++) {
		const struct links_ends *arrivals = &joint->links.arrivals;
		if (arrivals->first[r] == arrivals->first[r + 1])
			continue;
		const struct links_end *first = &arrivals->items[arrivals->first[r]];
		int64_t came = graph_measured(&joint->ranks[r].graph, first->node) + first->shift;
		window.from = came + 1 > window.from ? came + 1 : window.from;
	}
	return window;
}

uint32_t joint_straggler(const struct joint *joint)
{
	struct hwy_graph **graphs = hwy_array(joint->n, sizeof *graphs);
	for (uint32_t r = 0; r < joint->n; r++)
		graphs[r] = &joint->ranks[r].graph;
	uint32_t late = links_straggler(&joint->links, graphs, judged_window(joint));
	free(graphs);
	return late;
}

void joint_close(struct joint *joint)
{
	for (uint32_t r = 0; r < joint->n; r++)
		whatif_close(&joint->ranks[r]);
	links_free(&joint->links);
	free(joint->ranks);
	free(joint->numbers);
	free(joint->clocks);
	collectives_free(&joint->collectives);
	*joint = (struct joint){0};
}
