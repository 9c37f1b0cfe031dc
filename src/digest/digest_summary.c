/* SPDX-License-Identifier: Apache-2.0 */
/* digest_summary.c - see digest_summary.h. The lengths of steps are medians over the ranks: a
 * step of the job, not of one rank. */
#include "digest/digest_summary.h"

#include <string.h>

bool digest_summary_of(struct compare_summary *summary, const struct digest_answer *answer,
		       const char *file)
{
	const struct digest_matrix *m = &answer->matrix;
	uint32_t typical = answer->job.typical;
	if (typical >= answer->n || answer->ranks[typical].digest->summary.n == 0)
		return false;
	*summary = answer->ranks[typical].digest->summary;
	summary->arena = (struct hwy_arena){0};
	summary->file = hwy_arena_text(&summary->arena, file, strlen(file));
	summary->indexes = NULL;
	summary->phases =
		hwy_arena_copy_array(&summary->arena, summary->phases, 1, sizeof *summary->phases);
	summary->lost = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		summary->lost += answer->ranks[r].digest->dropped;
	struct compare_phase *phase = &summary->phases[0];
	uint32_t join = (m->n_buckets + COMPARE_VALUES - 1) / COMPARE_VALUES;
	join = join > 0 ? join : 1;
	phase->group = join << m->shift;
	phase->n_values = m->n_buckets / join;
	phase->values = hwy_arena_array(&summary->arena, phase->n_values, sizeof *phase->values);
	for (uint32_t i = 0; i < phase->n_values; i++)
		for (uint32_t k = 0; k < join; k++)
			phase->values[i] += m->usual[i * join + k] / join;
	return true;
}
