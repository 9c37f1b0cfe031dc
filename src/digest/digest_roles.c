/* SPDX-License-Identifier: Apache-2.0 */
/* digest_roles.c - which ranks do the same work, and how long each needs beyond them; see
 * digest_answer.h.
 *
 * The stages of a pipeline, or the ranks of experts, need different times by design. Ranks that
 * launch as many kernels, copies and collectives a step have one role; a role of fewer than
 * FEWEST_ALIKE ranks is none. Ranks without a role are compared with all.
 */
#include <math.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/quantile.h"
#include "digest/digest_answer.h"
#include "digest/digest_outliers.h"

enum { FEWEST_ALIKE = 8 };

static int64_t per_step(const struct compare_phase *phase, enum compare_count count)
{
	return llround(summary_count_per_step(phase, count));
}

static void role_key(const struct rank_digest *digest, int64_t key[4])
{
	const struct compare_phase *phase = digest_phase(digest);
	uint64_t collectives = 0;
	for (uint32_t i = 0; i < digest->n_exchanges; i++)
		collectives += digest->exchanges[i].way == DIGEST_COLLECTIVE
				       ? digest->exchanges[i].count
				       : 0;
	key[0] = phase ? per_step(phase, COUNT_KERNELS) : -1;
	key[1] = phase ? per_step(phase, COUNT_COPIES) : -1;
	key[2] = digest->steps.n ? (int64_t)(collectives / digest->steps.n) : 0;
	key[3] = digest->summary.n_gpus;
}

/* ---- how late each rank is ------------------------------------------------------------------- */

/* Own times beyond the median of the role, bucket by bucket. */
static void measure_lateness(struct digest_answer *answer)
{
	struct digest_matrix *m = &answer->matrix;
	int64_t *column = hwy_array(answer->n, sizeof *column);
	for (uint32_t b = 0; b < m->n_buckets; b++)
		for (uint32_t k = 0; k < answer->n_roles; k++) {
			uint32_t n = 0;
			for (uint32_t r = 0; r < answer->n; r++) {
				bool counts =
					answer->roles[k].is_rest || answer->ranks[r].role == k;
				int64_t own = m->own[(size_t)r * m->n_buckets + b];
				if (counts && own != HWY_NONE &&
				    answer->ranks[r].state != DIGEST_NOT_JUDGED)
					column[n++] = own;
			}
			hwy_sort(column, n);
			int64_t middle = outliers_median(column, n);
			for (uint32_t r = 0; r < answer->n; r++) {
				size_t at = (size_t)r * m->n_buckets + b;
				if (answer->ranks[r].role == k)
					m->late[at] = m->own[at] == HWY_NONE ? HWY_NONE
									     : m->own[at] - middle;
			}
		}
	free(column);
	column = hwy_array(m->n_buckets, sizeof *column);
	for (uint32_t r = 0; r < answer->n; r++) {
		uint32_t n = 0;
		for (uint32_t b = 0; b < m->n_buckets; b++)
			if (m->late[(size_t)r * m->n_buckets + b] != HWY_NONE)
				column[n++] = m->late[(size_t)r * m->n_buckets + b];
		hwy_sort(column, n);
		answer->ranks[r].late = hwy_median_between(column, n);
	}
	free(column);
}

/* ---- who does the same ----------------------------------------------------------------------- */

void digest_roles_find(struct digest_answer *answer)
{
	struct hwy_index by_key = {0};
	uint32_t *sizes = hwy_zarray(answer->n, sizeof *sizes),
		 *role = hwy_array(answer->n, sizeof *role), kinds = 0;
	int64_t key[4];
	for (uint32_t r = 0; r < answer->n; r++) {
		bool fresh;
		role_key(answer->ranks[r].digest, key);
		uint32_t *kind = hwy_index_put(&by_key, key, sizeof key, &fresh);
		if (fresh)
			*kind = kinds++;
		answer->ranks[r].role = *kind;
		sizes[*kind] += answer->ranks[r].state != DIGEST_NOT_JUDGED;
	}
	answer->roles = hwy_arena_array(&answer->arena, (size_t)kinds + 1, sizeof *answer->roles);
	for (uint32_t k = 0; k < kinds; k++)
		role[k] = sizes[k] >= FEWEST_ALIKE ? answer->n_roles++ : UINT32_MAX;
	bool has_rest = false;
	for (uint32_t r = 0; r < answer->n; r++) {
		uint32_t own = role[answer->ranks[r].role];
		has_rest |= own == UINT32_MAX;
		answer->ranks[r].role = own == UINT32_MAX ? answer->n_roles : own;
	}
	if (has_rest)
		answer->roles[answer->n_roles++].is_rest = true;
	hwy_index_free(&by_key);
	free(sizes);
	free(role);
	measure_lateness(answer);
}

struct own_time {
	int64_t own;
	uint32_t rank;
};

static int by_own(const void *a, const void *b)
{
	const struct own_time *x = a, *y = b;
	if (x->own != y->own)
		return x->own < y->own ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void digest_roles_settle(struct digest_answer *answer)
{
	struct own_time *times = hwy_array(answer->n, sizeof *times);
	for (uint32_t k = 0; k < answer->n_roles; k++) {
		struct digest_role *role = &answer->roles[k];
		uint32_t n = 0;
		for (uint32_t r = 0; r < answer->n; r++) {
			if (answer->ranks[r].role != k)
				continue;
			role->all++;
			if (answer->ranks[r].state == DIGEST_IN_TIME)
				times[n++] = (struct own_time){answer->ranks[r].own, r};
		}
		role->n = n;
		role->typical = answer->n;
		if (n == 0)
			continue;
		qsort(times, n, sizeof *times, by_own);
		role->typical = times[(n - 1) / 2].rank;
		role->own = times[(n - 1) / 2].own;
	}
	free(times);
}
