/* SPDX-License-Identifier: Apache-2.0 */
/* digest_late.c - ranks that are late again and again, and what that costs; see digest_answer.h.
 *
 * A rank is late in a bucket where its own time is beyond the threshold of all ranks in that
 * bucket (digest_outliers.h) by a worthwhile share of a step. It is accused where
 *   - the median of its lateness is beyond the threshold of all ranks' medians: it is a little late always; or
 *   - it is late in some buckets, at least FEWEST_LATE of them and more often than the others by more than chance, and that is worthwhile
 *     on average: it is late now and then; or
 *   - the median of its host's ranks, or of those behind its switch, is beyond the threshold of all hosts or switches, and the rank is
 *     late with them.
 * A rank that is late among its own kind, but not compared with the slowest kind, keeps nobody
 * waiting, and is not accused. If nobody is accused, but the latest of each step makes the
 * others wait, ranks take turns.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/quantile.h"
#include "digest/digest_answer.h"
#include "digest/digest_outliers.h"

enum { FEWEST_LATE = 3, FEWEST_IN_GROUP = 2, FEWEST_GROUPS = 4, MOST_LEVELS = 8 };
/* Differences below this share of a step are not believed, however alike the ranks are. */
#define LEAST_SHARE 0.0025

static bool counts(const struct digest_answer *answer, uint32_t r)
{
	return answer->ranks[r].state != DIGEST_NOT_JUDGED;
}

static int64_t least_spread(const struct digest_answer *answer)
{
	return (int64_t)(LEAST_SHARE * (double)answer->job.step);
}

/* ---- now and then ---------------------------------------------------------------------------- */

/* Counts in which buckets each rank is late; yields how many times ranks are in all. */
static uint64_t count_late_buckets(struct digest_answer *answer, int64_t *column)
{
	const struct digest_matrix *m = &answer->matrix;
	int64_t worth = digest_worth(answer);
	uint64_t all = 0;
	for (uint32_t b = 0; b < m->n_buckets; b++) {
		uint32_t n = 0;
		for (uint32_t r = 0; r < answer->n; r++)
			if (counts(answer, r) && m->late[(size_t)r * m->n_buckets + b] != HWY_NONE)
				column[n++] = m->late[(size_t)r * m->n_buckets + b];
		int64_t most = outliers_threshold(column, n, least_spread(answer));
		for (uint32_t r = 0; r < answer->n; r++) {
			int64_t late = m->late[(size_t)r * m->n_buckets + b];
			if (!counts(answer, r) || late == HWY_NONE || late <= most || late < worth)
				continue;
			answer->ranks[r].n_late++;
			answer->ranks[r].excess += late / m->n_buckets;
			all++;
		}
	}
	return all;
}

static void accuse_now_and_then(struct digest_answer *answer, uint64_t all)
{
	const struct digest_matrix *m = &answer->matrix;
	double others = answer->n_judged > 1 ? (double)m->n_buckets * (answer->n_judged - 1) : 1;
	for (uint32_t r = 0; r < answer->n; r++) {
		struct digest_judged *rank = &answer->ranks[r];
		if (!counts(answer, r) || rank->n_late < FEWEST_LATE ||
		    rank->excess < digest_worth(answer))
			continue;
		double p = (double)(all - rank->n_late) / others;
		if (answer->n_judged * outliers_binomial(m->n_buckets, rank->n_late, p) <=
		    OUTLIERS_CHANCE)
			rank->state = DIGEST_LATE;
	}
}

/* ---- always ---------------------------------------------------------------------------------- */

static void accuse_always(struct digest_answer *answer, int64_t *column)
{
	uint32_t n = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		if (counts(answer, r))
			column[n++] = answer->ranks[r].late;
	int64_t most = outliers_threshold(column, n, least_spread(answer));
	for (uint32_t r = 0; r < answer->n; r++)
		if (counts(answer, r) && answer->ranks[r].late > most &&
		    answer->ranks[r].late >= digest_worth(answer) &&
		    answer->matrix.n_buckets >= FEWEST_LATE)
			answer->ranks[r].state = DIGEST_LATE;
}

/* ---- hosts and switches ---------------------------------------------------------------------- */

/* The first 'level' names of a rank's place in the network, as a length of the text; 0 where it
 * has fewer. */
static size_t place_length(const char *topology, uint32_t level)
{
	size_t length = 0;
	for (uint32_t i = 0; i < level; i++) {
		if (i > 0 && topology[length] != '.')
			return 0;
		length += i > 0;
		length += strcspn(topology + length, ".");
	}
	return length;
}

struct group_median {
	uint32_t n, first; /* ranks of the group: members[first … first + n - 1] */
	int64_t late;
};

/* group[r] is the number of the rank's group below n_groups, or UINT32_MAX. */
static void accuse_groups(struct digest_answer *answer, const uint32_t *group, uint32_t n_groups,
			  int64_t *column)
{
	struct group_median *groups = hwy_zarray(n_groups, sizeof *groups);
	int64_t *medians = hwy_array(n_groups, sizeof *medians);
	uint32_t n = 0;
	for (uint32_t g = 0; g < n_groups; g++) {
		uint32_t in = 0;
		for (uint32_t r = 0; r < answer->n; r++)
			if (group[r] == g && counts(answer, r))
				column[in++] = answer->ranks[r].late;
		hwy_sort(column, in);
		groups[g] = (struct group_median){.n = in, .late = outliers_median(column, in)};
		if (in >= FEWEST_IN_GROUP)
			medians[n++] = groups[g].late;
	}
	int64_t most = outliers_threshold(medians, n, least_spread(answer));
	for (uint32_t r = 0; r < answer->n && n >= FEWEST_GROUPS; r++) {
		if (group[r] >= n_groups || !counts(answer, r))
			continue;
		const struct group_median *own = &groups[group[r]];
		if (own->n >= FEWEST_IN_GROUP && own->late > most &&
		    own->late >= digest_worth(answer) && 2 * answer->ranks[r].late >= own->late &&
		    answer->matrix.n_buckets >= FEWEST_LATE)
			answer->ranks[r].state = DIGEST_LATE;
	}
	free(groups);
	free(medians);
}

/* Numbers the groups of ranks whose texts begin alike for the length that 'length' gives; level
 * 0 is the host's name. */
static uint32_t number_groups(const struct digest_answer *answer, uint32_t level, uint32_t *group)
{
	struct hwy_index by_name = {0};
	uint32_t n = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		const struct rank_digest *digest = answer->ranks[r].digest;
		const char *name = level == 0 ? digest->host : digest->topology;
		size_t length = level == 0 ? strlen(name) : place_length(name, level);
		bool fresh;
		group[r] = UINT32_MAX;
		if (length == 0)
			continue;
		uint32_t *at = hwy_index_put(&by_name, name, length, &fresh);
		if (fresh)
			*at = n++;
		group[r] = *at;
	}
	hwy_index_free(&by_name);
	return n;
}

static void accuse_places(struct digest_answer *answer, int64_t *column)
{
	uint32_t *group = hwy_array(answer->n, sizeof *group);
	for (uint32_t level = 0; level < MOST_LEVELS; level++) {
		uint32_t n = number_groups(answer, level, group);
		/* Groups of one host each were looked at as ranks. */
		if (n >= FEWEST_GROUPS && (uint64_t)n * FEWEST_IN_GROUP <= answer->n)
			accuse_groups(answer, group, n, column);
		if (n == 0 && level > 0)
			break;
	}
	free(group);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* The longest that a bucket's own time usually is: the median of the role whose median is
 * longest. Who needs less than that keeps nobody waiting, however late it is among its own kind. */
static int64_t usual_longest(const struct digest_answer *answer, uint32_t b)
{
	const struct digest_matrix *m = &answer->matrix;
	int64_t longest = HWY_NONE;
	for (uint32_t r = 0; r < answer->n; r++) {
		size_t at = (size_t)r * m->n_buckets + b;
		bool has_role =
			!answer->roles[answer->ranks[r].role].is_rest || answer->n_roles == 1;
		if (!counts(answer, r) || m->late[at] == HWY_NONE || !has_role)
			continue;
		int64_t middle = m->own[at] - m->late[at];
		longest = middle > longest || longest == HWY_NONE ? middle : longest;
	}
	return longest;
}

static int64_t *find_usual_longest(const struct digest_answer *answer)
{
	int64_t *longest = hwy_array(answer->matrix.n_buckets, sizeof *longest);
	for (uint32_t b = 0; b < answer->matrix.n_buckets; b++)
		longest[b] = usual_longest(answer, b);
	return longest;
}

/* Takes back what is late only among its own kind, and so costs the job nothing. */
static void acquit_faster_roles(struct digest_answer *answer, const int64_t *longest)
{
	const struct digest_matrix *m = &answer->matrix;
	for (uint32_t r = 0; r < answer->n; r++) {
		int64_t sum = 0;
		for (uint32_t b = 0; b < m->n_buckets; b++) {
			int64_t own = m->own[(size_t)r * m->n_buckets + b];
			if (own != HWY_NONE && longest[b] != HWY_NONE && own > longest[b])
				sum += (own - longest[b]) / m->n_buckets;
		}
		if (answer->ranks[r].state == DIGEST_LATE && sum < digest_worth(answer))
			answer->ranks[r].state = DIGEST_IN_TIME;
	}
}

/* How long the latest rank of a bucket keeps the others waiting, among all or among those in
 * time. */
static int64_t latest_in(const struct digest_answer *answer, uint32_t b, int64_t longest,
			 bool only_in_time)
{
	const struct digest_matrix *m = &answer->matrix;
	int64_t latest = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		int64_t own = m->own[(size_t)r * m->n_buckets + b];
		if (!counts(answer, r) || own == HWY_NONE || longest == HWY_NONE ||
		    (only_in_time && answer->ranks[r].state != DIGEST_IN_TIME))
			continue;
		latest = own - longest > latest ? own - longest : latest;
	}
	return latest;
}

/* The steps in so many buckets; the last one may have fewer than the others. */
static uint32_t steps_in(const struct digest_answer *answer, uint32_t buckets)
{
	uint32_t most = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		most = answer->ranks[r].digest->steps.n > most ? answer->ranks[r].digest->steps.n
							       : most;
	uint64_t steps = (uint64_t)buckets << answer->matrix.shift;
	return steps < most ? (uint32_t)steps : most;
}

static void judge_lateness(struct digest_answer *answer, const int64_t *longest)
{
	struct job_ranks *ranks = &answer->job.ranks;
	const struct digest_matrix *m = &answer->matrix;
	int64_t gain = 0, turns = 0;
	uint32_t late_buckets = 0;
	for (uint32_t b = 0; b < m->n_buckets; b++) {
		int64_t all = latest_in(answer, b, longest[b], false),
			rest = latest_in(answer, b, longest[b], true);
		gain += all - rest;
		turns += rest;
		late_buckets += all >= digest_worth(answer);
	}
	answer->gain = m->n_buckets ? gain / m->n_buckets : 0;
	turns = m->n_buckets ? turns / m->n_buckets : 0;
	for (uint32_t r = 0; r < answer->n; r++)
		if (answer->ranks[r].state == DIGEST_LATE)
			ranks->late_ranks[ranks->n_late_ranks++] = r;
	ranks->n_steps = steps_in(answer, m->n_buckets);
	ranks->n_late_steps = steps_in(answer, late_buckets);
	bool has_few = m->n_buckets < FEWEST_LATE || late_buckets < FEWEST_LATE;
	ranks->lateness = RANKS_IN_TIME;
	if (ranks->n_late_ranks > 0)
		ranks->lateness = RANKS_REPEAT;
	else if (answer->n_judged > 1 && turns >= digest_worth(answer))
		ranks->lateness = has_few ? RANKS_FEW_STEPS : RANKS_TAKE_TURNS;
}

void digest_late_find(struct digest_answer *answer)
{
	int64_t *column = hwy_array(answer->n, sizeof *column);
	uint64_t all = count_late_buckets(answer, column);
	if (answer->n_judged > 1) {
		accuse_now_and_then(answer, all);
		accuse_always(answer, column);
		accuse_places(answer, column);
	}
	free(column);
	int64_t *longest = find_usual_longest(answer);
	acquit_faster_roles(answer, longest);
	digest_drift_find(answer);
	judge_lateness(answer, longest);
	free(longest);
}
