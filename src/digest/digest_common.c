/* SPDX-License-Identifier: Apache-2.0 */
/* digest_common.c - what accused ranks have in common: a host, a switch, a model of GPU, a place
 * on their hosts; see digest_answer.h.
 *
 * Two ranks of a large job share a host by chance now and then, and a switch often. Something in
 * common is told where drawing as many ranks at random would hardly give so many of one value,
 * whichever value it is. Of nested values (a host behind a switch) the widest is told nearly all
 * of whose ranks are accused, else the narrowest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "digest/digest_answer.h"
#include "digest/digest_outliers.h"

enum { MOST_LEVELS = 8 };
#define NEARLY_ALL 0.8

const char *const digest_shared_names[DIGEST_SHARED] = {
	[DIGEST_HOST] = "host",
	[DIGEST_SWITCH] = "switch",
	[DIGEST_GPU] = "GPU",
	[DIGEST_LOCAL_RANK] = "local rank",
};

const char *digest_switch_of(struct digest_answer *answer, const struct rank_digest *digest)
{
	const char *host = strrchr(digest->topology, '.');
	size_t length = host ? (size_t)(host - digest->topology) : 0;
	return hwy_arena_text(&answer->arena, digest->topology, length);
}

/* The value that a rank has, in the arena; "" where it is not known. Level: of switches, how
 * many to leave out at the end. */
static const char *value_of(struct digest_answer *answer, const struct rank_digest *digest,
			    enum digest_shared what, uint32_t level)
{
	if (what == DIGEST_HOST)
		return digest->host;
	if (what == DIGEST_GPU)
		return digest->summary.gpu;
	if (what == DIGEST_LOCAL_RANK)
		return digest->local_rank < 0 ? ""
					      : hwy_arena_format(&answer->arena, "%lld",
								 (long long)digest->local_rank);
	const char *place = digest_switch_of(answer, digest), *end = place + strlen(place);
	for (uint32_t i = 0; i < level && end > place; i++)
		while (end > place && *--end != '.')
			;
	return hwy_arena_text(&answer->arena, place, (size_t)(end - place));
}

/* Late ranks; where nobody is late, those that get slower. The two may have different reasons,
 * and are not mixed. */
static bool is_accused(const struct digest_answer *answer, uint32_t r)
{
	enum digest_state state = answer->job.ranks.n_late_ranks > 0 ? DIGEST_LATE : DIGEST_SLOWING;
	return answer->ranks[r].state == state;
}

/* ---- candidates ------------------------------------------------------------------------------ */

struct shared_values {
	struct digest_common *values; /* that chance hardly gives */
	uint32_t n, cap;
};

static void look_at_values(struct digest_answer *answer, struct shared_values *found,
			   enum digest_shared what, uint32_t level, uint32_t accused)
{
	struct hwy_index by_value = {0};
	struct digest_common *values = hwy_zarray(answer->n, sizeof *values);
	uint32_t n = 0, all = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		const char *value = value_of(answer, answer->ranks[r].digest, what, level);
		bool fresh;
		if (!*value || answer->ranks[r].state == DIGEST_NOT_JUDGED)
			continue;
		uint32_t *at = hwy_index_put(&by_value, value, strlen(value), &fresh);
		if (fresh) {
			values[n] = (struct digest_common){.what = what, .value = value};
			values[n].ranks =
				hwy_arena_array(&answer->arena, accused, sizeof *values[n].ranks);
			*at = n++;
		}
		values[*at].all++;
		all++;
		if (is_accused(answer, r))
			values[*at].ranks[values[*at].n++] = r;
	}
	for (uint32_t i = 0; i < n && n > 1; i++) {
		double chance = n * outliers_drawn(all, values[i].all, accused, values[i].n) *
				DIGEST_SHARED;
		if (values[i].n < 2 || chance > OUTLIERS_CHANCE)
			continue;
		HWY_GROW(found->values, found->n, found->cap);
		found->values[found->n++] = values[i];
	}
	hwy_index_free(&by_value);
	free(values);
}

/* ---- which of them to tell ------------------------------------------------------------------- */

static bool is_nearly_all(const struct digest_common *value)
{
	return value->n >= NEARLY_ALL * value->all;
}

/* Values nearly all of whose ranks are accused first, the largest first; then the narrowest. */
static int by_worth(const void *a, const void *b)
{
	const struct digest_common *x = a, *y = b;
	if (is_nearly_all(x) != is_nearly_all(y))
		return is_nearly_all(x) ? -1 : 1;
	if (is_nearly_all(x) && x->n != y->n)
		return x->n > y->n ? -1 : 1;
	if (x->all != y->all)
		return x->all < y->all ? -1 : 1;
	return x->what != y->what ? (x->what < y->what ? -1 : 1) : strcmp(x->value, y->value);
}

void digest_common_find(struct digest_answer *answer)
{
	struct shared_values found = {0};
	uint32_t accused = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		accused += is_accused(answer, r);
	if (accused < 2)
		return;
	look_at_values(answer, &found, DIGEST_HOST, 0, accused);
	for (uint32_t level = 0; level < MOST_LEVELS; level++)
		look_at_values(answer, &found, DIGEST_SWITCH, level, accused);
	look_at_values(answer, &found, DIGEST_GPU, 0, accused);
	look_at_values(answer, &found, DIGEST_LOCAL_RANK, 0, accused);
	if (found.n > 0)
		qsort(found.values, found.n, sizeof *found.values, by_worth);
	bool *is_told = hwy_zarray(answer->n, sizeof *is_told);
	answer->common = hwy_arena_array(&answer->arena, found.n, sizeof *answer->common);
	for (uint32_t i = 0; i < found.n; i++) {
		uint32_t fresh = 0;
		for (uint32_t k = 0; k < found.values[i].n; k++)
			fresh += !is_told[found.values[i].ranks[k]];
		if (fresh < 2)
			continue;
		for (uint32_t k = 0; k < found.values[i].n; k++)
			is_told[found.values[i].ranks[k]] = true;
		answer->common[answer->n_common++] = found.values[i];
	}
	free(is_told);
	free(found.values);
}
