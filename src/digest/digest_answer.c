/* SPDX-License-Identifier: Apache-2.0 */
/* digest_answer.c - see digest_answer.h. */
#include "digest/digest_answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/lang.h"
#include "base/quantile.h"
#include "base/say.h"
#include "diagnose/findings/findings.h"
#include "digest/digest_outliers.h"
#include "job/job.h"

const char *const digest_state_names[] = {"in-time", "late", "slowing", "not-judged"};

/* Without device work: ranks that wait for each other for less of their time have no verdict. */
#define LOST_SHARE 0.1
/* Where nobody is late, so few percent of the ranks communicate less than the transfer needs. */
enum { TRANSFER_PERCENT = 5 };

int64_t digest_worth(const struct digest_answer *answer)
{
	int64_t worth = (int64_t)(HWY_WORTH_SHARE * (double)answer->job.step);
	return worth > 0 ? worth : 1;
}

void digest_answer_problem(struct digest_answer *answer, const char *format, ...)
{
	va_list args;
	char *text;
	va_start(args, format);
	if (vasprintf(&text, hwy_tr(format), args) >= 0) {
		HWY_GROW(answer->problems, answer->n_problems, answer->cap_problems);
		answer->problems[answer->n_problems++] = text;
	}
	va_end(args);
}

/* ---- who is there ---------------------------------------------------------------------------- */

static void take_ranks(struct digest_answer *answer, const struct digest_set *set)
{
	struct job_ranks *ranks = &answer->job.ranks;
	answer->ranks = hwy_arena_array(&answer->arena, set->n, sizeof *answer->ranks);
	answer->world = HWY_NONE;
	for (uint32_t i = 0; i < set->n; i++) {
		const struct rank_digest *digest = &set->ranks[i].digest;
		answer->world = digest->world > answer->world ? digest->world : answer->world;
		if (set->ranks[i].is_stale)
			continue;
		answer->ranks[answer->n++].digest = digest;
		answer->has_devices |= digest->summary.n > 0;
	}
	answer->job.n = ranks->n = answer->n;
	answer->job.typical = answer->n;
	ranks->rows = hwy_zarray(answer->n, sizeof *ranks->rows);
	ranks->late_ranks = hwy_zarray(answer->n, sizeof *ranks->late_ranks);
	for (uint32_t r = 0; r < answer->n; r++) {
		ranks->rows[r].rank = answer->ranks[r].digest->rank;
		ranks->rows[r].host = answer->ranks[r].digest->host;
	}
}

/* The text that most ranks have, and how many different ones there are. */
static const char *most_common(const struct digest_answer *answer,
			       const char *(*text)(const struct rank_digest *), uint32_t *kinds)
{
	struct hwy_index counts = {0};
	const char *best = "";
	uint32_t most = 0;
	*kinds = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		const char *one = text(answer->ranks[r].digest);
		bool fresh;
		if (!*one)
			continue;
		uint32_t *n = hwy_index_put(&counts, one, strlen(one), &fresh);
		*kinds += fresh;
		if (++*n > most) {
			most = *n;
			best = one;
		}
	}
	hwy_index_free(&counts);
	return best;
}

static const char *host_of(const struct rank_digest *digest)
{
	return digest->host;
}
static const char *gpu_of(const struct rank_digest *digest)
{
	return digest->summary.gpu;
}
static const char *program_of(const struct rank_digest *digest)
{
	return digest->summary.program;
}

/* ---- parts of a step ------------------------------------------------------------------------- */

static int64_t comm_of(const struct rank_digest *digest)
{
	const struct compare_phase *phase = digest_phase(digest);
	if (phase)
		return phase->parts[PART_COMM] + phase->parts[PART_IDLE + GAP_COMM];
	return digest->steps.n ? digest->comm / digest->steps.n : 0;
}

/* What the exchanges themselves need: what the late ranks communicate, who wait for nobody;
 * where nobody is late, what those communicate that do so least. */
static int64_t find_transfer(struct digest_answer *answer)
{
	int64_t *values = hwy_array(answer->n, sizeof *values);
	const struct job_ranks *ranks = &answer->job.ranks;
	uint32_t n = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		bool counts = ranks->n_late_ranks > 0 ? answer->ranks[r].state == DIGEST_LATE
						      : answer->ranks[r].state != DIGEST_NOT_JUDGED;
		if (counts)
			values[n++] = comm_of(answer->ranks[r].digest);
	}
	hwy_sort(values, n);
	int64_t transfer = ranks->n_late_ranks > 0 ? hwy_median_between(values, n)
			   : n < OUTLIERS_FEW      ? hwy_rank_below(values, n, 0)
						   : hwy_rank_below(values, n, TRANSFER_PERCENT);
	free(values);
	return transfer;
}

/* The longest own time of any rank, by bucket; to be freed. */
static int64_t *longest_own(const struct digest_answer *answer)
{
	const struct digest_matrix *m = &answer->matrix;
	int64_t *longest = hwy_zarray(m->n_buckets, sizeof *longest);
	for (uint32_t r = 0; r < answer->n; r++)
		for (uint32_t b = 0; b < m->n_buckets; b++) {
			int64_t own = m->own[(size_t)r * m->n_buckets + b];
			if (answer->ranks[r].state != DIGEST_NOT_JUDGED && own > longest[b])
				longest[b] = own;
		}
	return longest;
}

/* What a rank waits where another one is late each time: over a whole run all ranks communicate
 * equally long, but in each bucket a rank communicates longer by what its own time is shorter
 * than the longest. */
static int64_t wait_by_turns(const struct digest_answer *answer, uint32_t r, const int64_t *longest)
{
	const struct digest_matrix *m = &answer->matrix;
	int64_t sum = 0, n = 0;
	for (uint32_t b = 0; b < m->n_buckets; b++) {
		int64_t own = m->own[(size_t)r * m->n_buckets + b];
		if (own == HWY_NONE)
			continue;
		sum += longest[b] - own;
		n++;
	}
	return n ? sum / n : 0;
}

static void fill_row(struct digest_answer *answer, uint32_t r, const int64_t *longest)
{
	struct rank_row *row = &answer->job.ranks.rows[r];
	const struct digest_judged *rank = &answer->ranks[r];
	const struct compare_phase *phase = digest_phase(rank->digest);
	int64_t comm = comm_of(rank->digest), wait = comm - answer->transfer;
	row->is_judged = rank->state != DIGEST_NOT_JUDGED;
	row->hidden = rank->digest->hidden;
	if (row->is_judged && answer->job.ranks.lateness == RANKS_TAKE_TURNS) {
		int64_t turns = wait_by_turns(answer, r, longest);
		wait = turns < comm ? turns : comm;
	}
	wait = wait < 0 || answer->n_judged < 2 ? 0 : wait;
	row->parts[RANK_WAIT] = row->waited = wait;
	row->parts[RANK_TRANSFER] = comm - wait;
	if (phase) {
		row->parts[RANK_COMPUTE] = phase->parts[PART_COMPUTE];
		row->parts[RANK_COPY] = phase->parts[PART_COPY] + phase->parts[PART_FILL];
		for (unsigned c = 0; c < GAP_CAUSES; c++)
			if (c != GAP_COMM)
				row->parts[RANK_IDLE + c] = phase->parts[PART_IDLE + c];
		row->step = phase->step;
	} else {
		row->step = digest_step_of(rank->digest);
		row->parts[RANK_IDLE + GAP_CPU] = row->step - comm;
	}
	/* Too few steps to accuse anybody are enough to say who came latest in them. */
	if (rank->state == DIGEST_LATE || answer->job.ranks.lateness == RANKS_FEW_STEPS)
		row->blamed = rank->late > rank->excess ? rank->late : rank->excess;
	row->blamed = row->blamed > 0 ? row->blamed : 0;
	row->n_late = rank->n_late << answer->matrix.shift;
	row->n_meetings = comm > 0;
	row->busy = row->step > 0 ? (double)row->parts[RANK_COMPUTE] / (double)row->step : 0;
}

static void fill_rows(struct digest_answer *answer)
{
	struct job_ranks *ranks = &answer->job.ranks;
	int64_t *waits = hwy_array(answer->n, sizeof *waits), most = 0, waiting = 0;
	double compute = 0;
	uint32_t n = 0;
	int64_t *longest = longest_own(answer);
	answer->transfer = find_transfer(answer);
	for (uint32_t r = 0; r < answer->n; r++) {
		fill_row(answer, r, longest);
		const struct rank_row *row = &ranks->rows[r];
		compute += (double)row->parts[RANK_COMPUTE];
		most = row->parts[RANK_COMPUTE] > most ? row->parts[RANK_COMPUTE] : most;
		waiting += row->is_judged ? row->parts[RANK_WAIT] / answer->n_judged : 0;
		if (answer->ranks[r].state == DIGEST_IN_TIME)
			waits[n++] = row->parts[RANK_WAIT];
	}
	hwy_sort(waits, n);
	answer->wait = hwy_median_between(waits, n);
	ranks->step = answer->job.step;
	ranks->waiting = waiting;
	ranks->has_waited = ranks->is_guessed = answer->n_judged > 1;
	if (answer->n > 0 && most > 0)
		ranks->imbalance = 1 - compute / answer->n / (double)most;
	free(waits);
	free(longest);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void find_verdict(struct digest_answer *answer)
{
	struct job_answer *job = &answer->job;
	uint32_t n = 0, best = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		const struct digest_judged *rank = &answer->ranks[r];
		if (rank->state == DIGEST_LATE || rank->digest->summary.n == 0)
			continue;
		for (unsigned w = 0; w < VERDICTS; w++)
			job->shares[w] += rank->digest->shares[w];
		n++;
	}
	for (unsigned w = 0; w < VERDICTS; w++)
		job->shares[w] = n ? job->shares[w] / n : 0;
	job->word = n ? verdict_choose(job->shares) : VERDICT_NO_DEVICE_WORK;
	for (uint32_t k = 1; k < answer->n_roles; k++)
		if (answer->roles[k].n > answer->roles[best].n)
			best = k;
	if (answer->n_roles > 0)
		job->typical = answer->roles[best].typical;
	if (answer->has_devices || job->step <= 0)
		return;
	double share = (double)answer->wait / (double)job->step;
	job->word = share >= LOST_SHARE ? VERDICT_COMM : VERDICT_NO_DEVICE_WORK;
	job->shares[VERDICT_COMM] = (double)(answer->wait + answer->transfer) / (double)job->step;
}

/* ---- findings -------------------------------------------------------------------------------- */

static struct digest_finding *finding_of(struct digest_answer *answer, uint32_t *cap,
					 const char *id)
{
	for (uint32_t i = 0; i < answer->n_findings; i++)
		if (strcmp(answer->findings[i].id, id) == 0)
			return &answer->findings[i];
	HWY_GROW(answer->findings, answer->n_findings, *cap);
	struct digest_finding *fresh = &answer->findings[answer->n_findings++];
	*fresh = (struct digest_finding){.id = id, .title = "", .place = "", .says = ""};
	fresh->ranks = hwy_arena_array(&answer->arena, answer->n, sizeof *fresh->ranks);
	return fresh;
}

static void add_rank_findings(struct digest_answer *answer, uint32_t *cap, uint32_t r)
{
	const struct rank_digest *digest = answer->ranks[r].digest;
	const struct compare_phase *phase = digest_phase(digest);
	for (uint32_t i = 0; phase && i < phase->n_findings; i++) {
		const struct compare_finding *from = &phase->findings[i];
		struct digest_finding *to = finding_of(answer, cap, from->id);
		if (to->n == 0 || to->ranks[to->n - 1] != r)
			to->ranks[to->n++] = r;
		to->least = to->n == 1 || from->cost < to->least ? from->cost : to->least;
		to->cost += from->cost / (answer->n ? answer->n : 1);
		if (to->n > 1 && from->cost <= to->most)
			continue;
		to->most = from->cost;
		to->worst = r;
		to->title = from->title;
		to->place = from->place;
		to->says = digest->says[i];
		to->is_inside = from->is_inside;
		to->word = digest->words[i];
	}
}

static int by_importance(const void *a, const void *b)
{
	const struct digest_finding *x = a, *y = b;
	if (x->is_inside != y->is_inside)
		return x->is_inside ? 1 : -1;
	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return strcmp(x->id, y->id);
}

/* A finding about ranks together: 'ranks' are those to blame. */
static void add_joint(struct digest_answer *answer, uint32_t *cap,
		      const struct hwy_finding_kind *kind, const uint32_t *ranks, uint32_t n,
		      int64_t cost, const char *says)
{
	struct digest_finding *one = finding_of(answer, cap, kind->id);
	one->title = kind->title;
	one->says = says;
	one->cost = one->least = one->most = cost;
	one->word = VERDICT_COMM;
	for (one->n = 0; one->n < n && one->n < answer->n; one->n++)
		one->ranks[one->n] = ranks[one->n];
	one->worst = n ? ranks[0] : answer->job.typical;
}

/* Waiting that late ranks are to blame for is not communication's fault. What is left and not
 * worth a word is dropped. */
static void take_waiting(struct digest_answer *answer)
{
	uint32_t kept = 0;
	bool is_explained = answer->job.ranks.lateness == RANKS_REPEAT ||
			    answer->job.ranks.lateness == RANKS_TAKE_TURNS;
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		struct digest_finding one = answer->findings[i];
		if (is_explained && strcmp(one.id, finding_comm_exposed.id) == 0) {
			one.cost -= answer->wait;
			one.least -= answer->wait < one.least ? answer->wait : one.least;
			one.most -= answer->wait < one.most ? answer->wait : one.most;
			if (one.cost < digest_worth(answer))
				continue;
		}
		answer->findings[kept++] = one;
	}
	answer->n_findings = kept;
}

static void merge_findings(struct digest_answer *answer)
{
	const struct job_ranks *ranks = &answer->job.ranks;
	uint32_t cap = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		add_rank_findings(answer, &cap, r);
	take_waiting(answer);
	if (ranks->lateness == RANKS_REPEAT)
		add_joint(answer, &cap, &finding_rank_straggler, ranks->late_ranks,
			  ranks->n_late_ranks, answer->gain, answer->job.late_says);
	else if (ranks->lateness == RANKS_TAKE_TURNS)
		add_joint(answer, &cap, &finding_late_by_turns, NULL, 0, answer->wait,
			  answer->job.late_says);
	if (answer->n_slow > 0) {
		uint32_t ends[2] = {answer->links[0].from, answer->links[0].to};
		add_joint(answer, &cap, &finding_slow_link, ends, 2, answer->links[0].cost,
			  answer->link_says);
	}
	if (answer->n_findings > 0)
		qsort(answer->findings, answer->n_findings, sizeof *answer->findings,
		      by_importance);
}

/* ---- what to know before --------------------------------------------------------------------- */

static void name_ranks(struct digest_answer *answer, const int64_t *ranks, uint32_t n,
		       const char *what)
{
	if (n == 0)
		return;
	char *list = job_rank_list(ranks, n);
	digest_answer_problem(answer, "%s %s: %s", hwy_say_count_grouped(n).text, hwy_tr(what),
			      list);
	free(list);
}

static void note_problems(struct digest_answer *answer, const struct digest_set *set)
{
	int64_t world = answer->world > 0 && answer->world <= UINT32_MAX ? answer->world : 0;
	int64_t *ranks = hwy_array((size_t)world + set->n, sizeof *ranks);
	uint32_t n = 0, at = 0;
	for (int64_t rank = 0; rank < world; rank++) {
		while (at < set->n && set->ranks[at].digest.rank < rank)
			at++;
		if (at == set->n || set->ranks[at].digest.rank != rank)
			ranks[n++] = rank;
	}
	name_ranks(answer, ranks, n,
		   n == 1 ? HWY_KEY("rank has no digest here")
			  : HWY_KEY("ranks have no digest here"));
	n = 0;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->ranks[i].is_stale)
			ranks[n++] = set->ranks[i].digest.rank;
	name_ranks(answer, ranks, n,
		   HWY_KEY("left out, because the report is newer than the digest"));
	n = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		if (answer->ranks[r].state == DIGEST_NOT_JUDGED)
			ranks[n++] = answer->ranks[r].digest->rank;
	name_ranks(answer, ranks, n,
		   HWY_KEY("not judged, for lack of steps in common with the others"));
	n = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		if (answer->ranks[r].digest->dropped > 0)
			ranks[n++] = answer->ranks[r].digest->rank;
	name_ranks(answer, ranks, n,
		   n == 1 ? HWY_KEY("rank lost records") : HWY_KEY("ranks lost records"));
	free(ranks);
	if (answer->matrix.is_in_order && answer->matrix.n_buckets > 0 && answer->n > 1)
		digest_answer_problem(
			answer,
			"steps have no numbers, and the dates of the ranks do not fit their steps: "
			"the first steps of all ranks are taken for the same");
	for (uint32_t i = 0; i < set->n_problems; i++)
		digest_answer_problem(answer, "left out: %s", set->problems[i]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int64_t mean_step(const struct digest_answer *answer)
{
	int64_t *steps = hwy_array(answer->n, sizeof *steps);
	uint32_t n = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		if (digest_step_of(answer->ranks[r].digest) > 0)
			steps[n++] = digest_step_of(answer->ranks[r].digest);
	/* The median: a rank that recorded something else does not move it. */
	hwy_sort(steps, n);
	int64_t step = hwy_median_between(steps, n);
	free(steps);
	return step;
}

void digest_answer_make(struct digest_answer *answer, const struct digest_set *set)
{
	uint32_t kinds;
	*answer = (struct digest_answer){.clock_says = "", .gain_says = ""};
	take_ranks(answer, set);
	answer->id = set->n > 0 ? set->ranks[0].digest.job : "";
	answer->program = most_common(answer, program_of, &kinds);
	answer->gpu = most_common(answer, gpu_of, &kinds);
	most_common(answer, host_of, &answer->n_hosts);
	answer->job.step = mean_step(answer);
	digest_matrix_make(answer);
	digest_roles_find(answer);
	digest_late_find(answer);
	digest_roles_settle(answer);
	fill_rows(answer);
	find_verdict(answer);
	digest_common_find(answer);
	digest_cause_find(answer);
	digest_links_find(answer);
	digest_words_say(answer);
	merge_findings(answer);
	note_problems(answer, set);
}

void digest_answer_free(struct digest_answer *answer)
{
	for (uint32_t i = 0; i < answer->n_problems; i++)
		free(answer->problems[i]);
	free(answer->problems);
	free(answer->matrix.step);
	free(answer->matrix.own);
	free(answer->matrix.late);
	free(answer->links);
	free(answer->findings);
	job_answer_free(&answer->job);
	hwy_arena_free(&answer->arena);
	*answer = (struct digest_answer){0};
}
