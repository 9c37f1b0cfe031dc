/* SPDX-License-Identifier: Apache-2.0 */
/* digest_matrix.c - the steps of all ranks side by side; see digest_answer.h.
 *
 * Buckets are made as wide as the widest that a rank has, and the job's buckets are those that
 * at least half of the ranks have. Steps with marks have their numbers. Others are counted by
 * each rank for itself, and a recording may begin later than another one: the date of the first
 * step then tells by how many steps, as long as the dates of all ranks fall on the grid of their
 * steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "digest/digest_answer.h"

/* A first step off the grid by more than this share of a step, for half of the ranks, and dates
 * say nothing. */
#define GRID_SHARE 0.2
/* Who lacks more than this share of the job's buckets is not judged. */
#define LACKING_SHARE 0.5

static const struct digest_steps *steps_of(const struct digest_answer *answer, uint32_t r)
{
	return &answer->ranks[r].digest->steps;
}

/* ---- by how many steps the ranks' numbers are apart ------------------------------------------ */

static bool all_have_numbers(const struct digest_answer *answer)
{
	for (uint32_t r = 0; r < answer->n; r++)
		if (steps_of(answer, r)->numbers == DIGEST_COUNTED)
			return false;
	return true;
}

/* Fills in offset[]: what to add to a rank's numbers to have those of the first rank with steps. */
static void match_by_clock(struct digest_answer *answer, int64_t *offset)
{
	const struct digest_steps *first = NULL;
	double *off = hwy_array(answer->n, sizeof *off);
	int64_t length = 0;
	uint32_t n = 0;
	bool is_known = true;
	for (uint32_t r = 0; r < answer->n && is_known; r++) {
		const struct digest_steps *steps = steps_of(answer, r);
		if (steps->n == 0)
			continue;
		is_known = steps->wall != HWY_NONE;
		if (!first) {
			first = steps;
			length = digest_step_of(answer->ranks[r].digest);
		}
		is_known = is_known && length > 0;
		if (!is_known)
			break;
		double later = (double)hwy_between(first->wall, steps->wall) / (double)length;
		double whole = round(later);
		off[n++] = fabs(later - whole);
		offset[r] = fabs(whole) < 1e9 ? (int64_t)whole + first->first - steps->first : 0;
	}
	hwy_sort_real(off, n);
	answer->matrix.is_by_clock = is_known && hwy_median_between_real(off, n) <= GRID_SHARE;
	answer->matrix.is_in_order = !answer->matrix.is_by_clock;
	for (uint32_t r = 0; r < answer->n && answer->matrix.is_in_order; r++)
		offset[r] = first ? first->first - steps_of(answer, r)->first : 0;
	free(off);
}

/* ---- the buckets that most ranks have -------------------------------------------------------- */

static int64_t bucket_of(const struct digest_steps *steps, int64_t offset, uint32_t shift)
{
	return (steps->first + offset) >> shift;
}

static void find_range(struct digest_answer *answer, const int64_t *offset)
{
	struct digest_matrix *m = &answer->matrix;
	int64_t *from = hwy_array(answer->n, sizeof *from), *to = hwy_array(answer->n, sizeof *to);
	uint32_t n = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		if (steps_of(answer, r)->n > 0 && steps_of(answer, r)->shift > m->shift)
			m->shift = steps_of(answer, r)->shift;
	for (uint32_t r = 0; r < answer->n; r++) {
		const struct digest_steps *steps = steps_of(answer, r);
		if (steps->n == 0)
			continue;
		from[n] = bucket_of(steps, offset[r], m->shift);
		to[n++] = ((steps->first + offset[r] + steps->n - 1) >> m->shift) + 1;
	}
	hwy_sort(from, n);
	hwy_sort(to, n);
	/* Where half have begun, to where half have ended. */
	int64_t begin = n ? hwy_median_upper(from, n) : 0, end = n ? to[(n - 1) / 2] : 0;
	m->n_buckets =
		end > begin && end - begin <= 2 * DIGEST_BUCKETS ? (uint32_t)(end - begin) : 0;
	m->first = begin << m->shift;
	free(from);
	free(to);
}

/* Adds the steps of one of a rank's buckets to a bucket of the job. A bucket of the job is a
 * whole number of the rank's, but for ranks whose numbers were moved: there the place of the
 * rank's bucket is rounded. */
static void add_bucket(struct digest_matrix *m, uint32_t r, const struct digest_steps *steps,
		       uint32_t b, int64_t offset, uint32_t *in)
{
	int64_t first = (((steps->first >> steps->shift) + b) << steps->shift);
	first = first > steps->first ? first : steps->first;
	int64_t bucket = ((first + offset) >> m->shift) - (m->first >> m->shift);
	uint32_t n = digest_bucket_steps(steps, b);
	if (bucket < 0 || bucket >= m->n_buckets)
		return;
	m->step[(size_t)r * m->n_buckets + (size_t)bucket] += steps->step[b] * n;
	m->own[(size_t)r * m->n_buckets + (size_t)bucket] += steps->own[b] * n;
	in[bucket] += n;
}

static void fill_rank(struct digest_answer *answer, uint32_t r, int64_t offset, uint32_t *in)
{
	struct digest_matrix *m = &answer->matrix;
	struct digest_judged *rank = &answer->ranks[r];
	const struct digest_steps *steps = steps_of(answer, r);
	uint32_t lacking = 0, whole = 1u << m->shift;
	int64_t sums[2] = {0, 0}, n = 0;
	memset(in, 0, m->n_buckets * sizeof *in);
	for (uint32_t b = 0; b < steps->n_buckets; b++)
		add_bucket(m, r, steps, b, offset, in);
	for (uint32_t b = 0; b < m->n_buckets; b++) {
		int64_t *step = &m->step[(size_t)r * m->n_buckets + b],
			*own = &m->own[(size_t)r * m->n_buckets + b];
		/* A mean over a few steps has another spread than that over a whole bucket. */
		bool has = in[b] > 0 && in[b] >= whole / 2;
		*step = has ? *step / in[b] : HWY_NONE;
		*own = has ? *own / in[b] : HWY_NONE;
		lacking += !has;
		sums[0] += has ? *step : 0;
		sums[1] += has ? *own : 0;
		n += has;
	}
	bool is_judged = n > 0 && lacking <= LACKING_SHARE * m->n_buckets;
	rank->state = is_judged ? DIGEST_IN_TIME : DIGEST_NOT_JUDGED;
	rank->step = n ? sums[0] / n : digest_step_of(rank->digest);
	rank->own = n ? sums[1] / n : steps->mean_own;
	answer->n_judged += is_judged;
}

static void find_usual(struct digest_answer *answer)
{
	struct digest_matrix *m = &answer->matrix;
	int64_t *column = hwy_array(answer->n, sizeof *column);
	m->usual = hwy_arena_array(&answer->arena, m->n_buckets, sizeof *m->usual);
	for (uint32_t b = 0; b < m->n_buckets; b++) {
		uint32_t n = 0;
		for (uint32_t r = 0; r < answer->n; r++)
			if (answer->ranks[r].state != DIGEST_NOT_JUDGED &&
			    m->step[(size_t)r * m->n_buckets + b] != HWY_NONE)
				column[n++] = m->step[(size_t)r * m->n_buckets + b];
		hwy_sort(column, n);
		m->usual[b] = hwy_median_between(column, n);
	}
	free(column);
}

void digest_matrix_make(struct digest_answer *answer)
{
	struct digest_matrix *m = &answer->matrix;
	int64_t *offset = hwy_zarray(answer->n, sizeof *offset);
	m->n = answer->n;
	if (!all_have_numbers(answer))
		match_by_clock(answer, offset);
	find_range(answer, offset);
	size_t cells = (size_t)answer->n * m->n_buckets;
	m->step = hwy_zarray(cells, sizeof *m->step);
	m->own = hwy_zarray(cells, sizeof *m->own);
	m->late = hwy_zarray(cells, sizeof *m->late);
	uint32_t *in = hwy_array(m->n_buckets, sizeof *in);
	for (uint32_t r = 0; r < answer->n; r++)
		fill_rank(answer, r, offset[r], in);
	find_usual(answer);
	free(in);
	free(offset);
}
