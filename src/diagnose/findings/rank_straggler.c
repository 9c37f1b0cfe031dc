/* SPDX-License-Identifier: Apache-2.0 */
/* rank_straggler.c - several ranks of one program: who comes last to the collectives, and makes the
 * rest wait.
 *
 * A rank's wait in a collective is the length of its own kernel beyond that of the shortest kernel
 * (collectives.h). The straggler is the rank that waits least; the cost is the time a step that the
 * other ranks wait for it on average. The fix is worth what the ranks, replayed together, gain when
 * nobody waits for the straggler. Ranks that take part in no common collective do not count.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/collectives.h"
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"
#include "diagnose/fix_worth.h"
#include "whatif/joint.h"

static const char fix[] =
	"Look at that rank alone: what it does before its collectives takes longer. Usual "
	"causes are uneven batches, a slower loader or disk, a throttled GPU, or work that only rank 0 does, such as "
	"logging and check-points.";

static const struct hwy_phase *phase_of(const struct joint_rank *rank)
{
	const struct hwy_phases *phases = &rank->analysis->phases;
	return rank->phase < phases->n ? &phases->phases[rank->phase] : NULL;
}

void diagnose_take_from_comm(struct hwy_diagnosis *diagnosis, uint32_t phase, int64_t cost,
			     int64_t step)
{
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		struct hwy_finding *comm = &diagnosis->findings[i];
		if (comm->kind != &finding_comm_exposed || comm->phase != phase || comm->cost <= 0)
			continue;
		double part = comm->cost > cost ? 1 - (double)cost / (double)comm->cost : 0;
		for (uint32_t k = 0; k < comm->n_places; k++)
			comm->places[k].cost = (int64_t)((double)comm->places[k].cost * part);
		comm->cost = comm->cost > cost ? comm->cost - cost : 0;
		comm->share = (double)comm->cost / (double)step;
		if (comm->share >= HWY_WORTH_SHARE)
			return;
		memmove(comm, comm + 1, (--diagnosis->n - i) * sizeof *comm);
		return;
	}
}

/* Inserts a finding by its cost; findings of the main phase are the first of the list, and those
 * about what the verdict says stay before it, unless the verdict is communication. */
static void insert_by_cost(struct hwy_diagnosis *diagnosis, const struct hwy_finding *finding)
{
	HWY_GROW(diagnosis->findings, diagnosis->n, diagnosis->cap);
	uint32_t place = 0;
	while (place < diagnosis->n && diagnosis->findings[place].phase == finding->phase &&
	       !diagnosis->findings[place].kind->is_inside &&
	       (diagnosis->findings[place].cost > finding->cost ||
		(diagnosis->findings[place].word == diagnosis->verdict.word &&
		 diagnosis->verdict.word != finding->word)))
		place++;
	memmove(&diagnosis->findings[place + 1], &diagnosis->findings[place],
		(diagnosis->n++ - place) * sizeof *diagnosis->findings);
	diagnosis->findings[place] = *finding;
}

/* Replays together the ranks that share collectives, without waiting for 'rank'; false where
 * that is not possible. Where the replay explains too little to be shown, its gain still limits
 * the cost: *gain, in ns. */
static bool predict_without_rank(const struct joint_rank *ranks, uint32_t n,
				 const struct hwy_collectives *c, const char *rank,
				 struct hwy_arena *arena, struct hwy_predicted *predicted,
				 int64_t *gain)
{
	struct joint_rank *meeting = hwy_array(n, sizeof *meeting);
	struct joint joint;
	struct hwy_err err;
	uint32_t n_meeting = 0;
	bool can = true, decides = false;
	for (uint32_t r = 0; r < n; r++) {
		if (c->n_meetings[r] == 0)
			continue;
		can &= phase_of(&ranks[r]) != NULL;
		meeting[n_meeting++] = ranks[r];
	}
	if (can && joint_open(&joint, meeting, n_meeting, false, &err)) {
		struct whatif_edit edit = {edit_find("straggler"), rank};
		decides = fix_worth_of_edit(&joint.ranks[0], &edit, arena, predicted);
		*gain = decides ? predicted->before - predicted->step : INT64_MAX;
		if (joint.ranks[0].quality.residual > WHATIF_UNEXPLAINED_SHARE)
			*predicted = (struct hwy_predicted){0};
		joint_close(&joint);
	}
	free(meeting);
	return decides;
}

/* ns that the other ranks wait longer than the rank 'late', on average, over the whole
 * recording. */
static int64_t wait_for(const struct hwy_collectives *c, uint32_t n, uint32_t late)
{
	int64_t waited = 0, others = 0;
	for (uint32_t r = 0; r < n; r++) {
		if (r == late || c->n_meetings[r] == 0)
			continue;
		waited += c->waits[r] - c->waits[late];
		others++;
	}
	if (others == 0 || c->n_counted == 0)
		return 0;
	/* 'waits' covers only some of the collectives: the others are taken to wait as long on
	 * average. */
	return (int64_t)((double)waited / (double)others * c->n / c->n_counted);
}

bool diagnose_late(const struct joint_rank *ranks, uint32_t n, uint32_t own,
		   const struct hwy_collectives *c, const struct diagnose_lateness *late,
		   struct hwy_diagnosis *diagnosis)
{
	const struct hwy_phase *phase = phase_of(&ranks[own]);
	int64_t step = phase && phase->n_steps > 0 ? phase->mean : 0, gain;
	int64_t cost = late->cost < step ? late->cost : step;
	if (step <= 0 || (double)cost < HWY_WORTH_SHARE * (double)step)
		return false;
	struct hwy_finding finding = {
		.kind = late->kind,
		.phase = ranks[own].phase,
		.rank = late->rank < n ? ranks[late->rank].rank : HWY_NONE,
		.word = VERDICT_COMM,
		.confidence = late->confidence,
		.places = late->place,
		.n_places = late->place ? 1 : 0,
		.advice = hwy_tr(late->advice ? late->advice : fix),
		.says = late->says,
	};
	if (late->rank < n) {
		finding.edit = hwy_arena_say(&diagnosis->arena, "straggler:%lld",
					     (long long)ranks[late->rank].rank);
		const char *number = strchr(finding.edit, ':') + 1;
		if (predict_without_rank(ranks, n, c, number, &diagnosis->arena, &finding.predicted,
					 &gain))
			cost = gain < cost ? gain : cost;
	}
	/* Without the straggler the other ranks would wait for something else. */
	if ((double)cost < HWY_WORTH_SHARE * (double)step)
		return false;
	finding.cost = cost;
	finding.share = (double)cost / (double)step;
	insert_by_cost(diagnosis, &finding);
	return true;
}

static void accuse_rank(const struct joint_rank *ranks, uint32_t n, uint32_t late, uint32_t own,
			const struct hwy_collectives *c, struct hwy_diagnosis *diagnosis)
{
	const struct hwy_phase *phase = phase_of(&ranks[own]);
	if (!phase || phase->n_steps == 0)
		return;
	struct diagnose_lateness what = {
		.kind = &finding_rank_straggler,
		.rank = late,
		.cost = wait_for(c, n, late) / phase->n_steps,
		.confidence = HWY_MEDIUM,
	};
	what.says = hwy_arena_say(
		&diagnosis->arena,
		"Rank %lld comes last to the collectives: over %u of them the others wait %s a step for it.",
		(long long)ranks[late].rank, c->n, hwy_say_time3(what.cost).text);
	uint32_t before = diagnosis->n;
	if (!diagnose_late(ranks, n, own, c, &what, diagnosis))
		return;
	for (uint32_t i = 0; i <= before && i < diagnosis->n; i++)
		if (diagnosis->findings[i].kind == &finding_rank_straggler)
			what.cost = diagnosis->findings[i].cost;
	diagnose_take_from_comm(diagnosis, ranks[own].phase, what.cost, phase->mean);
}

void diagnose_ranks(const struct joint_rank *ranks, uint32_t n, uint32_t own,
		    struct hwy_diagnosis *diagnosis)
{
	struct collectives_rank *flows = hwy_array(n, sizeof *flows);
	struct hwy_collectives c;
	struct hwy_err err;
	for (uint32_t r = 0; r < n; r++)
		flows[r] = (struct collectives_rank){.flow = &ranks[r].analysis->flow,
						     .process = ranks[r].process};
	if (n > 1 && collectives_match(&c, flows, n, &err)) {
		uint32_t late = collectives_straggler(&c, n);
		if (late < n)
			accuse_rank(ranks, n, late, own, &c, diagnosis);
		collectives_free(&c);
	}
	free(flows);
}

const struct hwy_finding_kind finding_rank_straggler = {
	.id = "rank-straggler",
	.title = "one rank makes the others wait",
	.edit = "straggler",
};
