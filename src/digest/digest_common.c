/* SPDX-License-Identifier: Apache-2.0 */
/* digest_common.c - what accused ranks have in common: a host, a switch, a model of GPU, a place on their hosts; see digest_answer.h.
 *
 * Two ranks of a large job share a host by chance now and then, and a switch often. Something in common is told where drawing as many ranks
 * at random would hardly give so many of one value, whichever value it is. Of nested values (a host behind a switch) the narrower one that
 * covers as many is told.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "digest/digest_answer.h"
#include "digest/digest_outliers.h"

enum { MOST_LEVELS = 8 };

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

/* The value that a rank has, in the arena; "" where it is not known. Level: of switches, how many to leave out at the end. */
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

/* Late ranks; where nobody is late, those that get slower. The two may have different reasons, and are not mixed. */
static bool is_accused(const struct digest_answer *answer, uint32_t r)
{
	enum digest_state state = answer->job.ranks.n_late_ranks > 0 ? DIGEST_LATE : DIGEST_SLOWING;
	return answer->ranks[r].state == state;
}

static bool is_covered(const struct digest_answer *answer, const struct digest_common *wide)
{
	for (uint32_t i = 0; i < answer->n_common; i++) {
		const struct digest_common *one = &answer->common[i];
		uint32_t in = 0;
		for (uint32_t k = 0; k < wide->n; k++)
			for (uint32_t j = 0; j < one->n; j++)
				in += wide->ranks[k] == one->ranks[j];
		if (in == wide->n)
			return true;
	}
	return false;
}

static void look_at_values(struct digest_answer *answer, enum digest_shared what, uint32_t level,
			   uint32_t accused)
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
		if (values[i].n >= 2 && chance <= OUTLIERS_CHANCE &&
		    !is_covered(answer, &values[i]))
			answer->common[answer->n_common++] = values[i];
	}
	hwy_index_free(&by_value);
	free(values);
}

void digest_common_find(struct digest_answer *answer)
{
	uint32_t accused = 0;
	for (uint32_t r = 0; r < answer->n; r++)
		accused += is_accused(answer, r);
	/* Each value that is told has two accused ranks or more. */
	answer->common =
		hwy_arena_array(&answer->arena, (size_t)accused * (DIGEST_SHARED + MOST_LEVELS),
				sizeof *answer->common);
	if (accused < 2)
		return;
	look_at_values(answer, DIGEST_HOST, 0, accused);
	for (uint32_t level = 0; level < MOST_LEVELS; level++)
		look_at_values(answer, DIGEST_SWITCH, level, accused);
	look_at_values(answer, DIGEST_GPU, 0, accused);
	look_at_values(answer, DIGEST_LOCAL_RANK, 0, accused);
}
