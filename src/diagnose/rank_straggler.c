/* rank_straggler.c - several ranks of one program: who comes last to the collectives, and makes the rest wait.
 *
 * A collective ends everywhere at about the same time; a rank that comes late has a short one. Collectives are
 * matched by name and order (the k-th of a name on one rank with the k-th on the others). What a rank waits is
 * the length of its part beyond the shortest. The straggler is the rank that waits least; the cost is what the
 * others wait for it, on average, a step.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

/* The straggler waits at most this part of what the others wait; else they take turns at being late. */
#define CLEARLY 0.7

static const char fix[] =
	"Look at that rank alone (headway analyze of its file): what it does before its collectives takes longer. Usual "
	"causes are uneven batches, a slower loader or disk, a throttled GPU, or work that only rank 0 does, such as "
	"logging and check-points.";

struct collective {
	int64_t name; /* text of this rank's trace */
	uint32_t k;   /* how many of that name came before */
	int64_t length;
	uint32_t span;
};
struct rank_list {
	struct collective *at;
	uint32_t n, cap;
};

static struct rank_list list_collectives(const struct hwy_analysis *analysis)
{
	struct rank_list list = {0};
	struct hwy_map counts = {0};
	const struct hwy_flow *flow = &analysis->flow;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		uint32_t row;
		if (flow->ops[i].class != HWY_COMM)
			continue;
		const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[i].span, &row);
		int64_t name = hwy_get(strip, HWY_NAME, row);
		HWY_GROW(list.at, list.n, list.cap);
		list.at[list.n++] = (struct collective){
			.name = name,
			.k = (*hwy_map_put(&counts, (uint64_t)name, NULL))++,
			.length = flow->ops[i].end - flow->ops[i].start,
			.span = flow->ops[i].span,
		};
	}
	hwy_map_free(&counts);
	return list;
}

/* The collective of the same name and number, or NULL. */
static const struct collective *match(const struct hwy_trace *trace, const struct collective *one,
				      const struct hwy_trace *other, const struct rank_list *list,
				      uint32_t near)
{
	const char *name = hwy_str(trace, one->name);
	for (uint32_t step = 0; step < 2 * list->n; step++) {
		/* Ranks do the same things in the same order: look near the same number first. */
		uint32_t half = step / 2;
		uint32_t at = step % 2 ? near - half - 1 : near + half;
		if (at < list->n && list->at[at].k == one->k &&
		    strcmp(hwy_str(other, list->at[at].name), name) == 0)
			return &list->at[at];
		if (half > 256)
			break;
	}
	return NULL;
}

struct tally {
	int64_t *waits; /* by rank */
	uint32_t matched;
};

static void compare_all(const struct hwy_rank *ranks, const struct rank_list *lists, uint32_t n,
			struct tally *tally)
{
	int64_t *lengths = hwy_alloc(n * sizeof *lengths);
	for (uint32_t i = 0; i < lists[0].n; i++) {
		const struct collective *first = &lists[0].at[i];
		int64_t shortest = first->length;
		uint32_t r = 1;
		lengths[0] = first->length;
		for (; r < n; r++) {
			const struct collective *other =
				match(ranks[0].analysis->trace, first, ranks[r].analysis->trace,
				      &lists[r], i);
			if (!other)
				break;
			lengths[r] = other->length;
			shortest = other->length < shortest ? other->length : shortest;
		}
		if (r < n)
			continue;
		tally->matched++;
		for (r = 0; r < n; r++)
			tally->waits[r] += lengths[r] - shortest;
	}
	free(lengths);
}

static uint32_t steps_of(const struct hwy_analysis *analysis)
{
	const struct hwy_phases *phases = &analysis->phases;
	return phases->main < phases->n && phases->phases[phases->main].n_steps
		       ? phases->phases[phases->main].n_steps
		       : 1;
}

static void accuse(const struct hwy_rank *ranks, uint32_t n, uint32_t late, uint32_t at,
		   const struct tally *tally, struct hwy_diagnosis *diagnosis)
{
	const struct hwy_phases *phases = &ranks[at].analysis->phases;
	int64_t others = 0;
	for (uint32_t r = 0; r < n; r++)
		others += r == late ? 0 : tally->waits[r] - tally->waits[late];
	others /= n - 1;
	int64_t cost = others / steps_of(ranks[at].analysis);
	int64_t step = phases->main < phases->n ? phases->phases[phases->main].mean : 0;
	if (cost > step)
		cost = step;
	if (step <= 0 || (double)cost < HWY_WORTH * (double)step)
		return;
	/* The rank's own findings may have claimed the same time as exposed communication. */
	for (uint32_t i = 0; i < diagnosis->n; i++)
		if (diagnosis->findings[i].kind == &finding_comm_exposed &&
		    diagnosis->findings[i].phase == phases->main) {
			struct hwy_finding *comm = &diagnosis->findings[i];
			comm->cost = comm->cost > cost ? comm->cost - cost : 0;
			comm->share = (double)comm->cost / (double)step;
		}
	HWY_GROW(diagnosis->findings, diagnosis->n, diagnosis->cap);
	memmove(diagnosis->findings + 1, diagnosis->findings,
		diagnosis->n++ * sizeof *diagnosis->findings);
	diagnosis->findings[0] = (struct hwy_finding){
		.kind = &finding_rank_straggler,
		.phase = phases->main,
		.rank = ranks[late].rank,
		.cost = cost,
		.share = (double)cost / (double)step,
		.confidence = HWY_MEDIUM,
		.advice = fix,
		.edit = finding_rank_straggler.edit,
		.says = words_format(
			&diagnosis->arena,
			"Rank %lld comes last to the collectives: over %u of them the others wait %s a step "
			"for it.",
			(long long)ranks[late].rank, tally->matched, words_time(cost).at),
	};
}

void diagnose_ranks(const struct hwy_rank *ranks, uint32_t n, uint32_t at,
		    struct hwy_diagnosis *diagnosis)
{
	struct tally tally = {.waits = hwy_zalloc((n + 1u) * sizeof *tally.waits)};
	struct rank_list *lists = hwy_zalloc((n + 1u) * sizeof *lists);
	for (uint32_t r = 0; r < n; r++)
		lists[r] = list_collectives(ranks[r].analysis);
	if (n > 1)
		compare_all(ranks, lists, n, &tally);
	uint32_t late = 0, next = FLOW_NONE;
	for (uint32_t r = 1; r < n; r++)
		late = tally.waits[r] < tally.waits[late] ? r : late;
	for (uint32_t r = 0; r < n; r++)
		if (r != late && (next == FLOW_NONE || tally.waits[r] < tally.waits[next]))
			next = r;
	if (tally.matched && next != FLOW_NONE &&
	    (double)tally.waits[late] <= CLEARLY * (double)tally.waits[next])
		accuse(ranks, n, late, at, &tally, diagnosis);
	for (uint32_t r = 0; r < n; r++)
		free(lists[r].at);
	free(lists);
	free(tally.waits);
}

const struct hwy_finding_kind finding_rank_straggler = {
	.id = "rank-straggler",
	.title = "one rank makes the others wait",
	.edit = "even-ranks",
};
