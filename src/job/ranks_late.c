/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_late.c - ranks that are late again and again, told from ranks that are late by turns;
 * see ranks.h.
 *
 * A step counts as late where its latest rank comes LATE_SHARE of a step after the first. Late
 * in it are all ranks that come at least HALF_AS_LATE times as late as the latest: ranks on one
 * slow host are late together. A rank repeats where it is late in REPEAT_SHARE of the late
 * steps, and where that would hardly come about if chance chose the late ranks of each step.
 */
#include <math.h>
#include <stdlib.h>

#include "job/ranks.h"

#define LATE_SHARE 0.02
#define HALF_AS_LATE 0.5
/* Where waiting is guessed, less than this share of the step is not worth a word. */
#define GUESSED_SHARE 0.1
#define REPEAT_SHARE 0.6
/* How probable it may be at most that chance made some rank look like one that repeats. */
#define CHANCE 0.05
/* With fewer late steps nothing can be told about repeating. */
enum { FEWEST_LATE_STEPS = 3 };

static int64_t late_in(const struct job_ranks *ranks, uint32_t member, uint32_t step)
{
	return ranks->late[(size_t)member * ranks->n_steps + step];
}

static int64_t latest_in(const struct job_ranks *ranks, uint32_t step)
{
	int64_t latest = 0;
	for (uint32_t r = 0; r < ranks->n; r++)
		latest = late_in(ranks, r, step) > latest ? late_in(ranks, r, step) : latest;
	return latest;
}

static bool is_late_step(const struct job_ranks *ranks, int64_t latest)
{
	return latest > 0 && (double)latest >= LATE_SHARE * (double)ranks->step;
}

bool ranks_is_late(const struct job_ranks *ranks, uint32_t member, uint32_t step)
{
	int64_t latest = latest_in(ranks, step);
	return is_late_step(ranks, latest) &&
	       (double)late_in(ranks, member, step) >= HALF_AS_LATE * (double)latest;
}

/* The probability of k or more among n, each with probability p. */
static double tail(uint32_t n, uint32_t k, double p)
{
	double sum = 0;
	for (uint32_t i = k; i <= n && p > 0 && p < 1; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
			   (n - i) * log1p(-p));
	return p >= 1 || k == 0 ? 1 : sum;
}

/* Counts the late steps, and for each rank those in which it is late; yields how many times
 * ranks are late in all. */
static uint64_t count_late(struct job_ranks *ranks)
{
	uint64_t all = 0;
	for (uint32_t s = 0; s < ranks->n_steps; s++) {
		int64_t latest = latest_in(ranks, s);
		if (!is_late_step(ranks, latest))
			continue;
		ranks->n_late_steps++;
		for (uint32_t r = 0; r < ranks->n; r++) {
			bool is_late =
				(double)late_in(ranks, r, s) >= HALF_AS_LATE * (double)latest;
			ranks->rows[r].n_late += is_late;
			all += is_late;
		}
	}
	return all;
}

/* Lists the ranks of which 'late' is true or false: late in REPEAT_SHARE of the late steps. */
static void list_ranks(struct job_ranks *ranks, bool late)
{
	ranks->n_late_ranks = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		bool often = ranks->rows[r].n_late >= REPEAT_SHARE * ranks->n_late_steps;
		if (ranks_meets(&ranks->rows[r]) && often == late)
			ranks->late_ranks[ranks->n_late_ranks++] = r;
	}
}

static uint32_t count_meeting_ranks(const struct job_ranks *ranks)
{
	uint32_t n = 0;
	for (uint32_t r = 0; r < ranks->n; r++)
		n += ranks_meets(&ranks->rows[r]);
	return n;
}

static enum ranks_lateness judge_steps(struct job_ranks *ranks)
{
	uint64_t all = count_late(ranks);
	uint32_t n = count_meeting_ranks(ranks);
	if (ranks->n_late_steps < FEWEST_LATE_STEPS || n == 0)
		return RANKS_FEW_STEPS;
	list_ranks(ranks, true);
	if (ranks->n_late_ranks == 0)
		return RANKS_TAKE_TURNS;
	if (2 * ranks->n_late_ranks > n) {
		list_ranks(ranks, false);
		return ranks->n_late_ranks > 0 ? RANKS_EARLY : RANKS_TAKE_TURNS;
	}
	/* By chance each rank would be late as often as the mean rank is. */
	double p = (double)all / ((double)ranks->n_late_steps * n);
	uint32_t most = 0;
	for (uint32_t i = 0; i < ranks->n_late_ranks; i++)
		most = ranks->rows[ranks->late_ranks[i]].n_late > most
			       ? ranks->rows[ranks->late_ranks[i]].n_late
			       : most;
	if (n * tail(ranks->n_late_steps, most, p) <= CHANCE)
		return RANKS_REPEAT;
	ranks->n_late_ranks = 0;
	return RANKS_FEW_STEPS;
}

void ranks_judge(struct job_ranks *ranks)
{
	double compute = 0;
	for (uint32_t s = 0; s < ranks->n_steps; s++) {
		int64_t sum = 0, most = 0;
		uint32_t n = 0;
		for (uint32_t r = 0; r < ranks->n; r++) {
			int64_t one = ranks->parts[((size_t)r * ranks->n_steps + s) * RANK_PARTS +
						   RANK_COMPUTE];
			sum += one;
			most = one > most ? one : most;
			n += ranks->rows[r].is_judged;
		}
		compute += most > 0 && n > 0 ? 1 - (double)sum / n / (double)most : 0;
	}
	ranks->imbalance = ranks->n_steps > 0 ? compute / ranks->n_steps : 0;
	uint32_t n = count_meeting_ranks(ranks);
	enum ranks_lateness lateness = judge_steps(ranks);
	/* Of n ranks at most n - 1 wait at a time. */
	double waiting = n > 1 ? (double)ranks->waiting * ranks->n / (n - 1) : 0;
	double least = ranks->is_guessed ? GUESSED_SHARE : HWY_WORTH_SHARE;
	bool is_worth = ranks->step > 0 && waiting >= least * (double)ranks->step;
	ranks->lateness = is_worth ? lateness : RANKS_IN_TIME;
	if (!is_worth)
		ranks->n_late_ranks = 0;
}
