/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - see answer.h. */
#include "job/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"

/* ---- collectives ----------------------------------------------------------------------------- */

static int64_t map_time(const void *clock, int64_t time)
{
	return job_clock_map(clock, time);
}

static bool is_sure(const struct job_clock *clock)
{
	return clock && (clock->source == JOB_CLOCK_SAME || clock->source == JOB_CLOCK_PINGS ||
			 clock->source == JOB_CLOCK_COLLECTIVES);
}

/* The window of the job's steps on the first rank's clock: from the first rank's first step to
 * the last end of its last one. */
static bool job_window(const struct job_answer *answer, const struct ranks_member *members,
		       const struct collectives_rank *ranks, struct hwy_interval *window)
{
	for (uint32_t r = 0; r < answer->n && answer->ranks.n_steps > 0; r++) {
		const struct hwy_phase *phase = ranks_phase(&members[r]);
		if (!phase)
			continue;
		uint32_t first = answer->ranks.first_step[r],
			 last = first + answer->ranks.n_steps - 1;
		window->from = phase->steps[first].device.from;
		window->to = phase->steps[last].device.to;
		if (ranks[r].clock) {
			window->from = ranks[r].clock->map(ranks[r].clock->user, window->from);
			window->to = ranks[r].clock->map(ranks[r].clock->user, window->to);
		} else {
			window->from += answer->collectives.shift[r];
			window->to += answer->collectives.shift[r];
		}
		return window->from < window->to;
	}
	return false;
}

/* The critical path, where the recordings have few enough calls and ops for their graphs to be
 * made in a moment. */
static void find_path(struct job_answer *answer, const struct ranks_member *members,
		      const struct collectives_rank *ranks)
{
	enum { MOST_NODES = 4000000 };
	struct run_graphs graphs;
	struct hwy_interval window = {0, 0};
	struct hwy_err err;
	uint64_t nodes = 0;
	bool has_work = false;
	for (uint32_t r = 0; r < answer->n; r++)
		has_work |= ranks_phase(&members[r]) != NULL;
	for (uint32_t r = 0; r < answer->n; r++)
		nodes += members[r].analysis->flow.n_calls + members[r].analysis->flow.n_ops;
	/* Without exchanges the path of one rank would be taken for the job's. */
	if (answer->collectives.n + answer->states.n_messages == 0 || nodes > MOST_NODES ||
	    (!job_window(answer, members, ranks, &window) && has_work) ||
	    !run_graphs_open(&graphs, ranks, answer->n, &err))
		return;
	if (!run_path_find(&answer->path, &graphs, has_work ? &window : NULL))
		answer->path = (struct hwy_run_path){0};
	run_graphs_close(&graphs);
}

static bool match(struct job_answer *answer, const struct ranks_member *members,
		  const struct job_clock *const *clocks, struct hwy_err *err)
{
	struct collectives_rank *ranks = hwy_zarray(answer->n, sizeof *ranks);
	struct exchange_clock *maps = hwy_zarray(answer->n, sizeof *maps);
	bool are_sure = clocks != NULL;
	for (uint32_t r = 0; r < answer->n && are_sure; r++)
		are_sure = is_sure(clocks[r]);
	for (uint32_t r = 0; r < answer->n; r++) {
		if (are_sure)
			maps[r] = (struct exchange_clock){map_time, clocks[r]};
		ranks[r] = (struct collectives_rank){
			.flow = &members[r].analysis->flow,
			.process = members[r].process,
			.clock = are_sure ? &maps[r] : NULL,
			.number = members[r].rank >= 0 ? hwy_ref(members[r].rank) : 0,
		};
	}
	bool done = collectives_match(&answer->collectives, ranks, answer->n, err);
	if (done) {
		answer->meetings = ranks_meetings_of(&answer->collectives, answer->n);
		done = wait_states_of(&answer->states, ranks, answer->n, &answer->collectives, err);
		if (done)
			ranks_meetings_add_messages(&answer->meetings, &answer->states);
		done = done && routes_find(&answer->routes, members, answer->n, ranks,
					   &answer->collectives, err);
		if (done)
			done = ranks_compare(&answer->ranks, members, answer->n, &answer->meetings,
					     err);
		if (done)
			find_path(answer, members, ranks);
		else
			job_answer_free(answer);
	}
	free(ranks);
	free(maps);
	return done;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static bool is_straggler(const struct job_ranks *ranks, uint32_t member)
{
	for (uint32_t i = 0; ranks->lateness == RANKS_REPEAT && i < ranks->n_late_ranks; i++)
		if (ranks->late_ranks[i] == member)
			return true;
	return false;
}

/* Adds a rank's shares. Two things are known better than from its recording alone: waiting for
 * others that was taken for something else, which is taken from the other words, but from work;
 * and waiting in its first collective, which only shows when the recordings began and counts for
 * nothing. */
static void add_shares(const struct job_answer *answer, const struct ranks_member *member,
		       uint32_t index, double shares[VERDICTS])
{
	const struct rank_row *row = &answer->ranks.rows[index];
	double own[VERDICTS], step = row->is_judged && row->step > 0 ? (double)row->step : 1,
			      left = 0;
	memcpy(own, member->diagnosis->verdict.shares, sizeof own);
	double start = (double)row->parts[RANK_START] / step, comm = own[VERDICT_COMM] - start;
	double known = (double)(row->parts[RANK_WAIT] + row->parts[RANK_TRANSFER]) / step;
	double rest = 1 - own[VERDICT_COMM] - own[VERDICT_GPU];
	double more = known > comm ? known - comm : 0;
	more = more > rest ? rest : more;
	for (unsigned w = 0; w < VERDICTS && rest > 0; w++)
		if (w != VERDICT_COMM && w != VERDICT_GPU)
			own[w] *= 1 - more / rest;
	own[VERDICT_COMM] = comm > 0 ? comm + more : more;
	for (unsigned w = 0; w < VERDICTS; w++)
		left += own[w];
	for (unsigned w = 0; w < VERDICTS && left > 0; w++)
		shares[w] += own[w] / left;
}

static void find_verdict(struct job_answer *answer, const struct ranks_member *members)
{
	uint32_t n = 0;
	int64_t steps = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		const struct hwy_phase *phase = ranks_phase(&members[r]);
		if (!phase)
			continue;
		steps += answer->ranks.rows[r].is_judged ? answer->ranks.rows[r].step : phase->mean;
		if (!is_straggler(&answer->ranks, r))
			add_shares(answer, &members[r], r, answer->shares);
		n += !is_straggler(&answer->ranks, r);
	}
	uint32_t all = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		all += ranks_phase(&members[r]) != NULL;
	answer->step = all ? steps / all : 0;
	for (unsigned w = 0; w < VERDICTS; w++)
		answer->shares[w] = n ? answer->shares[w] / n : 0;
	answer->word = n ? verdict_choose(answer->shares) : VERDICT_NO_DEVICE_WORK;
}

/* The first rank that meets others and is in time; else the first with device work. */
static uint32_t find_typical(const struct job_answer *answer, const struct ranks_member *members)
{
	uint32_t typical = answer->n;
	bool meets = false;
	for (uint32_t r = 0; r < answer->n; r++) {
		bool better =
			answer->collectives.n_meetings[r] > 0 && !is_straggler(&answer->ranks, r);
		if (!ranks_phase(&members[r]) || (typical < answer->n && (meets || !better)))
			continue;
		typical = r;
		meets = better;
	}
	return typical;
}

/* ---- findings -------------------------------------------------------------------------------- */

/* ns a step that a rank which is in time waits for the late ones. */
static int64_t cost_of_lateness(const struct job_ranks *ranks)
{
	int64_t sum = 0;
	uint32_t n = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!ranks->rows[r].is_judged || !ranks_meets(&ranks->rows[r]) ||
		    is_straggler(ranks, r))
			continue;
		sum += ranks->rows[r].parts[RANK_WAIT];
		n++;
	}
	return n ? sum / n : 0;
}

/* Findings about communication do not pay for what the job knows better: waiting that late ranks
 * are to blame for, and waiting in the first collective. */
static void take_from_comm(const struct job_ranks *ranks, const struct ranks_member *members)
{
	bool is_explained = ranks->lateness == RANKS_REPEAT || ranks->lateness == RANKS_TAKE_TURNS;
	for (uint32_t r = 0; r < ranks->n; r++) {
		const struct hwy_phase *phase = ranks_phase(&members[r]);
		const struct rank_row *row = &ranks->rows[r];
		int64_t ns = row->parts[RANK_START] + (is_explained ? row->parts[RANK_WAIT] : 0);
		if (phase && phase->mean > 0 && ns > 0)
			diagnose_take_from_comm(members[r].diagnosis, members[r].phase, ns,
						phase->mean);
	}
}

static void accuse_late(struct job_answer *answer, const struct ranks_member *members)
{
	const struct job_ranks *ranks = &answer->ranks;
	if (ranks->lateness != RANKS_REPEAT && ranks->lateness != RANKS_TAKE_TURNS)
		return;
	struct hwy_diagnosis *diagnosis = members[answer->typical].diagnosis;
	struct joint_rank *joint = hwy_array(answer->n, sizeof *joint);
	bool repeats = ranks->lateness == RANKS_REPEAT;
	for (uint32_t r = 0; r < answer->n; r++)
		joint[r] = (struct joint_rank){.rank = members[r].rank,
					       .analysis = members[r].analysis,
					       .phase = members[r].phase,
					       .process = members[r].process};
	struct diagnose_lateness late = {
		.kind = repeats ? &finding_rank_straggler : &finding_late_by_turns,
		.rank = repeats && ranks->n_late_ranks == 1 ? ranks->late_ranks[0] : answer->n,
		.cost = cost_of_lateness(ranks),
		.says = answer->late_says,
		.advice = answer_advice(answer),
		.confidence = ranks->is_guessed ? HWY_MEDIUM : HWY_HIGH,
	};
	if (ranks->cause.is_known && ranks->cause.has_place) {
		late.place = hwy_arena_alloc(&answer->arena, sizeof *late.place);
		*late.place = (struct hwy_finding_place){
			.at = ranks->cause.place, .layer = "", .count = 0};
	}
	diagnose_late(joint, answer->n, answer->typical, &answer->collectives, &late, diagnosis);
	free(joint);
}

/* A slow route costs its ranks what it takes longer; one that costs most is named. */
static void accuse_link(struct job_answer *answer, const struct ranks_member *members)
{
	const struct job_route *route = answer->routes.n_slow ? &answer->routes.routes[0] : NULL;
	const struct hwy_phase *phase = ranks_phase(&members[answer->typical]);
	uint32_t steps = phase ? phase->n_steps : 0;
	if (!route || steps == 0)
		return;
	const struct ranks_member *typical = &members[answer->typical];
	struct joint_rank own = {.rank = typical->rank,
				 .analysis = typical->analysis,
				 .phase = typical->phase,
				 .process = typical->process};
	struct diagnose_lateness slow = {
		.kind = &finding_slow_link,
		.rank = 1,
		.cost = route->cost / steps,
		.says = answer_say_route(answer, route),
		.advice =
			"Look at the link between these ranks: its speed and width, errors of ports and cables, and which way the data "
			"takes. Ranks that exchange most belong on the fastest routes.\n"
			"  nvidia-smi topo -m; nvidia-smi nvlink -s; ibstat; NCCL_DEBUG=INFO",
		.confidence = HWY_MEDIUM,
	};
	diagnose_late(&own, 1, 0, &answer->collectives, &slow, members[answer->typical].diagnosis);
}

/* Findings about communication say that part of it may be waiting: here that is known. */
static void say_waiting(struct job_answer *answer, const struct ranks_member *members)
{
	static const char unknown[] = "Part of it may be waiting for slower ranks.";
	for (uint32_t r = 0; r < answer->n && answer->ranks.has_waited; r++)
		for (uint32_t i = 0; i < members[r].diagnosis->n; i++) {
			struct hwy_finding *finding = &members[r].diagnosis->findings[i];
			const char *at = strstr(finding->says, hwy_tr(unknown));
			int64_t waits = answer->ranks.rows[r].parts[RANK_WAIT];
			if (!at || finding->phase != members[r].phase ||
			    !answer->ranks.rows[r].is_judged)
				continue;
			bool is_much = (double)waits >= HWY_WORTH_SHARE / 2 * (double)answer->step;
			finding->says = hwy_arena_say(
				&answer->arena, "%.*s%s of it is waiting for other ranks.%s",
				(int)(at - finding->says), finding->says,
				is_much ? hwy_say_time3(waits).text : hwy_tr("Hardly any"),
				at + strlen(hwy_tr(unknown)));
		}
}

static bool is_about_ranks(const struct hwy_finding_kind *kind)
{
	return kind == &finding_rank_straggler || kind == &finding_late_by_turns ||
	       kind == &finding_slow_link;
}

static void add_finding(struct job_answer *answer, const struct hwy_finding *finding,
			uint32_t member)
{
	struct job_finding *entry = answer->findings, *end = entry + answer->n_findings;
	while (entry < end && entry->finding->kind != finding->kind)
		entry++;
	if (entry == end) {
		*entry = (struct job_finding){
			.finding = finding,
			.member = member,
			.least = finding->cost,
			.members =
				hwy_arena_array(&answer->arena, answer->n, sizeof *entry->members),
			.is_joint = is_about_ranks(finding->kind),
		};
		answer->n_findings++;
	}
	/* A phase may have two findings of one kind. */
	if (entry->n_members == 0 || entry->members[entry->n_members - 1] != member)
		entry->members[entry->n_members++] = member;
	entry->cost += finding->cost;
	entry->least = finding->cost < entry->least ? finding->cost : entry->least;
	if (finding->cost > entry->most) {
		entry->most = finding->cost;
		entry->finding = finding;
		entry->member = member;
	}
}

static int by_importance(const void *a, const void *b)
{
	const struct job_finding *x = a, *y = b;
	bool x_inside = x->finding->kind->is_inside, y_inside = y->finding->kind->is_inside;
	if (x_inside != y_inside)
		return x_inside ? 1 : -1;
	return (x->cost < y->cost) - (x->cost > y->cost);
}

/* The costliest finding about what the verdict says comes first, then the others by cost; those
 * about the device's own work last. */
static void sort_findings(struct job_answer *answer)
{
	if (answer->n_findings > 0)
		qsort(answer->findings, answer->n_findings, sizeof *answer->findings,
		      by_importance);
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		struct job_finding first = answer->findings[i];
		if (first.finding->word != answer->word || first.finding->kind->is_inside)
			continue;
		memmove(&answer->findings[1], &answer->findings[0], i * sizeof first);
		answer->findings[0] = first;
		return;
	}
}

static void merge_findings(struct job_answer *answer, const struct ranks_member *members)
{
	uint32_t kinds = 0, judged = 0;
	while (hwy_finding_kinds[kinds])
		kinds++;
	answer->findings = hwy_arena_array(&answer->arena, kinds, sizeof *answer->findings);
	for (uint32_t r = 0; r < answer->n; r++) {
		judged += ranks_phase(&members[r]) != NULL;
		for (uint32_t i = 0; i < members[r].diagnosis->n; i++)
			if (members[r].diagnosis->findings[i].phase == members[r].phase)
				add_finding(answer, &members[r].diagnosis->findings[i], r);
	}
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		struct job_finding *one = &answer->findings[i];
		one->cost = one->is_joint ? one->most : judged ? one->cost / judged : 0;
		one->share = answer->step > 0 ? (double)one->cost / (double)answer->step : 0;
		if (!one->is_joint)
			continue;
		bool is_link = one->finding->kind == &finding_slow_link;
		const uint32_t *blamed =
			is_link ? answer->routes.routes[0].members : answer->ranks.late_ranks;
		one->n_members =
			is_link ? answer->routes.routes[0].n_members : answer->ranks.n_late_ranks;
		for (uint32_t k = 0; k < one->n_members; k++)
			one->members[k] = blamed[k];
	}
	sort_findings(answer);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool job_answer_make(struct job_answer *answer, const struct ranks_member *members, uint32_t n,
		     const struct job_clock *const *clocks, struct hwy_err *err)
{
	*answer = (struct job_answer){.n = n};
	if (!match(answer, members, clocks, err))
		return false;
	answer->typical = find_typical(answer, members);
	find_verdict(answer, members);
	answer_say(answer, members);
	answer_judge_cpu(answer, members);
	take_from_comm(&answer->ranks, members);
	if (answer->typical < n) {
		accuse_late(answer, members);
		accuse_link(answer, members);
	}
	if (n > 0 && (answer->typical < n || answer->cpu)) {
		struct verdict *verdict = &members[answer_shown(answer)].diagnosis->verdict;
		verdict->word = answer->word;
		verdict->says = answer->says;
		memcpy(verdict->shares, answer->shares, sizeof verdict->shares);
	}
	say_waiting(answer, members);
	merge_findings(answer, members);
	return true;
}

void job_answer_free(struct job_answer *answer)
{
	collectives_free(&answer->collectives);
	wait_states_free(&answer->states);
	routes_free(&answer->routes);
	if (answer->path.n > 0)
		run_path_free(&answer->path);
	ranks_meetings_free(&answer->meetings);
	ranks_free(&answer->ranks);
	hwy_arena_free(&answer->arena);
	*answer = (struct job_answer){0};
}
