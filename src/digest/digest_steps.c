/* SPDX-License-Identifier: Apache-2.0 */
/* digest_steps.c - the steps of a rank in order, as a few hundred buckets of equal width; see
 * digest.h.
 *
 * Buckets are aligned to multiples of their width, which is a power of two: those of two ranks
 * fall together, and two of one width are one of the next.
 */
#include <stdlib.h>
#include <string.h>

#include "digest/digest.h"
#include "job/ranks.h"

/* A step is stored in so many parts: finer differences are noise. */
enum { RESOLUTION_BITS = 13 };

uint32_t digest_bucket_steps(const struct digest_steps *steps, uint32_t bucket)
{
	int64_t width = (int64_t)1 << steps->shift;
	int64_t from = ((steps->first >> steps->shift) + bucket) << steps->shift, to = from + width;
	int64_t end = steps->first + steps->n;
	from = from > steps->first ? from : steps->first;
	to = to < end ? to : end;
	return to > from ? (uint32_t)(to - from) : 0;
}

static int64_t rounded(int64_t value, int64_t unit)
{
	return (value + unit / 2) / unit * unit;
}

void digest_fill_buckets(struct rank_digest *digest, const int64_t *lengths, const int64_t *own,
			 uint32_t n, int64_t first)
{
	struct digest_steps *steps = &digest->steps;
	int64_t sum = 0, sum_own = 0;
	steps->first = first;
	steps->n = n;
	steps->shift = 0;
	while (((first + n - 1) >> steps->shift) - (first >> steps->shift) >= DIGEST_BUCKETS)
		steps->shift++;
	steps->n_buckets =
		(uint32_t)(((first + n - 1) >> steps->shift) - (first >> steps->shift) + 1);
	steps->step = hwy_arena_array(&digest->arena, steps->n_buckets, sizeof *steps->step);
	steps->own = hwy_arena_array(&digest->arena, steps->n_buckets, sizeof *steps->own);
	for (uint32_t i = 0; i < n; i++) {
		int64_t bucket = ((first + i) >> steps->shift) - (first >> steps->shift);
		steps->step[bucket] += lengths[i];
		steps->own[bucket] += own[i];
		sum += lengths[i];
		sum_own += own[i];
	}
	steps->mean_own = n ? sum_own / n : 0;
	int64_t unit = n ? (sum / n) >> RESOLUTION_BITS : 0;
	unit = unit > 0 ? unit : 1;
	for (uint32_t b = 0; b < steps->n_buckets; b++) {
		int64_t in = digest_bucket_steps(steps, b);
		in = in > 0 ? in : 1; /* no bucket is empty */
		steps->step[b] = rounded(steps->step[b] / in, unit);
		steps->own[b] = rounded(steps->own[b] / in, unit);
	}
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The number at the end of a mark's name, "step_7"; -1 where there is none. */
static int64_t number_of_mark(const char *name)
{
	size_t length = strlen(name), digits = 0;
	while (digits < length && name[length - digits - 1] >= '0' &&
	       name[length - digits - 1] <= '9')
		digits++;
	return digits > 0 && digits < 16 ? strtoll(name + length - digits, NULL, 10) : -1;
}

/* The number of the first steady step by its mark; -1 where the marks do not count one by one. */
static int64_t first_mark(const struct hwy_trace *trace, const struct hwy_phase *phase)
{
	int64_t first = -1;
	for (uint32_t i = 0; i < phase->n_steady; i++) {
		const struct phase_step *step = &phase->steps[phase->first_steady + i];
		int64_t number =
			step->name == HWY_NONE ? -1 : number_of_mark(hwy_str(trace, step->name));
		first = i == 0 ? number : first;
		if (number < 0 || number != first + i)
			return -1;
	}
	return first;
}

/* ---- lengths --------------------------------------------------------------------------------- */

bool digest_note_steps(struct rank_digest *digest, struct hwy_analysis *analysis,
		       struct hwy_err *err)
{
	struct ranks_member member = {
		.rank = digest->rank,
		.analysis = analysis,
		.phase = analysis->phases.main,
		.process = FLOW_NO_PROCESS,
		.host = "",
	};
	const struct hwy_phase *phase = ranks_phase(&member);
	struct ranks_meetings nobody = {0};
	struct job_ranks ranks;
	if (!phase)
		return true;
	ranks_meetings_done(&nobody, 1);
	bool done = ranks_compare(&ranks, &member, 1, &nobody, err);
	ranks_meetings_free(&nobody);
	if (!done)
		return false;
	int64_t *own = hwy_array(ranks.n_steps, sizeof *own);
	for (uint32_t s = 0; s < ranks.n_steps; s++) {
		const int64_t *parts = &ranks.parts[(size_t)s * RANK_PARTS];
		own[s] = ranks.length[s] - parts[RANK_TRANSFER] - parts[RANK_IDLE + GAP_COMM];
	}
	if (ranks.n_steps > 0) {
		int64_t mark = first_mark(analysis->trace, phase);
		int64_t began = phase->steps[ranks.first_step[0]].device.from, wall;
		digest_fill_buckets(digest, ranks.length, own, ranks.n_steps,
				    mark >= 0 ? mark : ranks.first_step[0]);
		digest->steps.numbers = mark >= 0 ? DIGEST_MARKED : DIGEST_COUNTED;
		digest->hidden = ranks.rows[0].hidden;
		if (analysis->trace->wall != HWY_NONE &&
		    !__builtin_add_overflow(analysis->trace->wall, began, &wall))
			digest->steps.wall = wall;
	}
	free(own);
	ranks_free(&ranks);
	return true;
}
