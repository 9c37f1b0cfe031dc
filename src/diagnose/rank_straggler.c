/* rank_straggler.c - several ranks of one program: who comes last to the collectives, and makes the rest wait.
 *
 * A collective ends everywhere at about the same time; a rank that comes late has a short one. Collectives are
 * matched by name and end where the ranks' clocks agree (one host, or well kept clocks), else by name and order,
 * provided all ranks have as many of each. What a rank waits is the length of its part beyond the shortest. The
 * straggler is the rank that waits least; the cost is what the others wait for it, on average, a step.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

/* Ends this near are ends of one collective; kernels of two in a row are farther apart. */
#define SAME_END_NS 200000
/* As many must meet for clocks to be believed. */
#define MEET 0.3
#define FEWEST_MEETINGS 2

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
	int64_t end; /* on the wall clock where the trace has one */
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
	int64_t wall = flow->trace->wall == HWY_NONE ? 0 : flow->trace->wall;
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
			.end = (int64_t)((uint64_t)flow->ops[i].end + (uint64_t)wall),
		};
	}
	hwy_map_free(&counts);
	return list;
}

struct search {
	const struct hwy_trace *trace, *other; /* of 'one', and of the list */
	const struct rank_list *list;
	uint32_t near; /* the number of 'one' in its own list */
	bool by_end;
};

static bool is_same(const struct search *search, const struct collective *one,
		    const struct collective *other)
{
	if (search->by_end ? llabs(one->end - other->end) > SAME_END_NS : one->k != other->k)
		return false;
	return strcmp(hwy_str(search->trace, one->name), hwy_str(search->other, other->name)) == 0;
}

/* Ranks do the same things in the same order: looks near the same number first. */
static const struct collective *match(const struct search *search, const struct collective *one)
{
	enum { FAR = 256 };
	const struct rank_list *list = search->list;
	for (uint32_t off = 0; off <= FAR; off++) {
		uint32_t above = search->near + off, below = search->near - off - 1;
		if (above < list->n && is_same(search, one, &list->at[above]))
			return &list->at[above];
		if (off < search->near && below < list->n && is_same(search, one, &list->at[below]))
			return &list->at[below];
	}
	return NULL;
}

struct tally {
	int64_t *waits; /* by rank */
	uint32_t matched;
};

static void compare_all(const struct hwy_rank *ranks, const struct rank_list *lists, uint32_t n,
			bool by_end, struct tally *tally)
{
	int64_t *lengths = hwy_alloc(n * sizeof *lengths);
	memset(tally->waits, 0, n * sizeof *tally->waits);
	tally->matched = 0;
	for (uint32_t i = 0; i < lists[0].n; i++) {
		const struct collective *first = &lists[0].at[i];
		int64_t shortest = first->length;
		uint32_t r = 1;
		lengths[0] = first->length;
		for (; r < n; r++) {
			struct search search = {ranks[0].analysis->trace, ranks[r].analysis->trace,
						&lists[r], i, by_end};
			const struct collective *other = match(&search, first);
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

static void compare_ranks(const struct hwy_rank *ranks, const struct rank_list *lists, uint32_t n,
			  struct tally *tally)
{
	uint32_t fewest = lists[0].n;
	bool equal = true;
	for (uint32_t r = 1; r < n; r++) {
		equal &= lists[r].n == lists[0].n;
		fewest = lists[r].n < fewest ? lists[r].n : fewest;
	}
	compare_all(ranks, lists, n, true, tally);
	if (tally->matched >= FEWEST_MEETINGS && tally->matched >= MEET * fewest)
		return;
	if (equal)
		compare_all(ranks, lists, n, false, tally);
	else
		tally->matched = 0;
}

static uint32_t steps_of(const struct hwy_analysis *analysis)
{
	const struct hwy_phases *phases = &analysis->phases;
	return phases->main < phases->n && phases->phases[phases->main].n_steps
		       ? phases->phases[phases->main].n_steps
		       : 1;
}

/* The rank's own findings have claimed the same time as exposed communication; what is left of that may no
 * longer be worth a finding. */
static void take_from_comm(struct hwy_diagnosis *diagnosis, uint32_t phase, int64_t cost,
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
		if (comm->share >= HWY_WORTH)
			return;
		memmove(comm, comm + 1, (--diagnosis->n - i) * sizeof *comm);
		return;
	}
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
	take_from_comm(diagnosis, phases->main, cost, step);
	HWY_GROW(diagnosis->findings, diagnosis->n, diagnosis->cap);
	/* In its place by cost; the findings of the main phase are the first. */
	uint32_t place = 0;
	while (place < diagnosis->n && diagnosis->findings[place].phase == phases->main &&
	       !diagnosis->findings[place].kind->is_inside &&
	       diagnosis->findings[place].cost > cost)
		place++;
	memmove(&diagnosis->findings[place + 1], &diagnosis->findings[place],
		(diagnosis->n++ - place) * sizeof *diagnosis->findings);
	diagnosis->findings[place] = (struct hwy_finding){
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
		compare_ranks(ranks, lists, n, &tally);
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
};
