/* SPDX-License-Identifier: Apache-2.0 */
/* digest_cause.c - why late ranks are late, as far as digests tell: which part of their step is
 * longer than that of ranks in time with the same role, what their kernels do, and how fast
 * their clocks run; see digest_answer.h. */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/quantile.h"
#include "base/say.h"
#include "digest/digest_answer.h"

/* A clock below this share of the others' is slower; a limit that held clocks down for this
 * share of the time more is a reason. */
#define SLOW_CLOCK 0.97
#define HELD_SHARE 0.05

/* Ranks to blame: late ones, else those that get slower. */
static bool is_to_blame(const struct digest_answer *answer, uint32_t r)
{
	enum digest_state state = answer->job.ranks.n_late_ranks > 0 ? DIGEST_LATE : DIGEST_SLOWING;
	return answer->ranks[r].state == state;
}

/* The median of a value over the ranks in time with the role of rank r, or over all where the
 * role has none. */
static int64_t usual_of(const struct digest_answer *answer, uint32_t r,
			int64_t (*value)(const struct digest_answer *answer, uint32_t r,
					 unsigned which),
			unsigned which)
{
	int64_t *values = hwy_array(answer->n, sizeof *values);
	uint32_t n = 0, role = answer->ranks[r].role;
	bool all = answer->roles[role].is_rest || answer->roles[role].n == 0;
	for (uint32_t k = 0; k < answer->n; k++)
		if (answer->ranks[k].state == DIGEST_IN_TIME &&
		    (all || answer->ranks[k].role == role))
			values[n++] = value(answer, k, which);
	hwy_sort(values, n);
	int64_t usual = hwy_median_between(values, n);
	free(values);
	return usual;
}

static int64_t part_value(const struct digest_answer *answer, uint32_t r, unsigned part)
{
	return answer->job.ranks.rows[r].parts[part];
}

enum { VALUE_KERNEL_NS, VALUE_KERNELS, VALUE_THREADS, VALUE_CLOCK };

static int64_t work_value(const struct digest_answer *answer, uint32_t r, unsigned which)
{
	const struct rank_digest *digest = answer->ranks[r].digest;
	const struct compare_phase *phase = digest_phase(digest);
	if (which == VALUE_CLOCK)
		return phase && phase->busy_clock_hz > 0 ? phase->busy_clock_hz
							 : digest->clock_median_hz;
	if (!phase || phase->n_steady == 0)
		return 0;
	if (which == VALUE_KERNEL_NS)
		return phase->parts[PART_COMPUTE];
	return which == VALUE_KERNELS ? phase->counts[COUNT_KERNELS] / phase->n_steady
				      : digest->threads;
}

static double work_ratio(const struct digest_answer *answer, uint32_t r, unsigned which)
{
	int64_t usual = usual_of(answer, r, work_value, which);
	return usual > 0 ? (double)work_value(answer, r, which) / (double)usual : 0;
}

/* ---- the part that grows --------------------------------------------------------------------- */

static void find_part(struct digest_answer *answer, uint32_t member)
{
	struct ranks_cause *cause = &answer->job.ranks.cause;
	int64_t more = 0, best = 0;
	for (unsigned p = 0; p < RANK_PARTS; p++) {
		if (p == RANK_WAIT || p == RANK_TRANSFER || p == RANK_START)
			continue;
		int64_t grows =
			part_value(answer, member, p) - usual_of(answer, member, part_value, p);
		more += grows > 0 ? grows : 0;
		if (grows <= best)
			continue;
		best = grows;
		cause->part = p;
	}
	cause->is_known = best > 0 && 2 * best >= more && answer->has_devices;
	cause->more = best;
	cause->share = more > 0 ? (double)best / (double)more : 0;
}

/* ns a step of a kernel of this name; 0 where the digest does not list it. */
static int64_t kernel_ns(const struct rank_digest *digest, const char *name)
{
	const struct compare_phase *phase = digest_phase(digest);
	for (uint32_t i = 0; phase && i < phase->tables[TABLE_KERNELS].n; i++)
		if (strcmp(phase->tables[TABLE_KERNELS].rows[i].name, name) == 0 && phase->n_steady)
			return phase->tables[TABLE_KERNELS].rows[i].ns / phase->n_steady;
	return 0;
}

/* The kernel that takes longer by most than on the typical rank of the role. */
static void find_longer_kernel(struct digest_answer *answer, uint32_t member)
{
	struct ranks_cause *cause = &answer->job.ranks.cause;
	const struct rank_digest *digest = answer->ranks[member].digest;
	const struct compare_phase *phase = digest_phase(digest);
	uint32_t typical = answer->roles[answer->ranks[member].role].typical;
	int64_t most = 0;
	typical = typical < answer->n ? typical : answer->job.typical;
	for (uint32_t i = 0; phase && typical < answer->n && i < phase->tables[TABLE_KERNELS].n;
	     i++) {
		const char *name = phase->tables[TABLE_KERNELS].rows[i].name;
		int64_t usual = kernel_ns(answer->ranks[typical].digest, name);
		int64_t more = usual > 0 ? kernel_ns(digest, name) - usual : 0;
		if (more <= most || hwy_name_is_comm(name))
			continue;
		most = more;
		cause->kernel = name;
	}
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* The limit that held the clocks of a rank down for longest, and the share of its steady steps;
 * CLOCK_LIMITS where none did. */
static unsigned longest_limit(const struct rank_digest *digest, double *share)
{
	const struct compare_phase *phase = digest_phase(digest);
	unsigned best = CLOCK_LIMITS;
	double window = phase ? (double)phase->step * phase->n_steady : 0;
	*share = 0;
	for (unsigned i = 0; i < CLOCK_LIMITS && window > 0; i++) {
		double one = digest->held_down[i] > 0 ? (double)digest->held_down[i] / window : 0;
		one = one < 1 ? one : 1;
		if (one <= *share)
			continue;
		*share = one;
		best = i;
	}
	return best;
}

static const char *say_clock(struct digest_answer *answer, uint32_t member)
{
	int64_t own = work_value(answer, member, VALUE_CLOCK),
		usual = usual_of(answer, member, work_value, VALUE_CLOCK);
	uint32_t typical = answer->job.typical;
	double share, others = 0;
	unsigned limit = longest_limit(answer->ranks[member].digest, &share);
	if (typical < answer->n)
		longest_limit(answer->ranks[typical].digest, &others);
	if (own <= 0 || usual <= 0 || (double)own >= SLOW_CLOCK * (double)usual)
		return "";
	bool is_held = limit < CLOCK_LIMITS && share >= others + HELD_SHARE;
	return hwy_arena_say(
		&answer->arena,
		"The GPU of rank %lld runs at %.2f GHz, the others' at %.2f GHz%s%s%s%s%s.",
		(long long)answer->ranks[member].digest->rank, (double)own / 1e9,
		(double)usual / 1e9, hwy_tr(is_held ? "; it is held down by " : ""),
		is_held ? hwy_tr(device_clocks_words[limit]) : "", hwy_tr(is_held ? " for " : ""),
		is_held ? hwy_say_share(share).text : "", hwy_tr(is_held ? " of the time" : ""));
}

void digest_cause_find(struct digest_answer *answer)
{
	struct ranks_cause *cause = &answer->job.ranks.cause;
	uint32_t member = answer->n;
	cause->doing = cause->kernel = "";
	answer->clock_says = "";
	for (uint32_t r = 0; r < answer->n; r++)
		if (is_to_blame(answer, r) &&
		    (member == answer->n || answer->ranks[r].late > answer->ranks[member].late))
			member = r;
	if (member == answer->n || answer->roles == NULL)
		return;
	cause->member = member;
	find_part(answer, member);
	if (!cause->is_known)
		return;
	if (cause->part == RANK_COMPUTE) {
		cause->kernel_time = work_ratio(answer, member, VALUE_KERNEL_NS);
		cause->kernel_count = work_ratio(answer, member, VALUE_KERNELS);
		cause->threads = work_ratio(answer, member, VALUE_THREADS);
		find_longer_kernel(answer, member);
		answer->clock_says = say_clock(answer, member);
	}
}
