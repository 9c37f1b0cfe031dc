/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - see ranks.h. */
#include "job/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"

/* What each part is called, as keys of hwy_tr_word. */
static const char *const part_names[RANK_PARTS] = {
	[RANK_COMPUTE] = HWY_KEY("part|compute"),
	[RANK_TRANSFER] = HWY_KEY("part|transfer"),
	[RANK_WAIT] = HWY_KEY("part|waiting"),
	[RANK_START] = HWY_KEY("part|start"),
	[RANK_COPY] = HWY_KEY("part|copies"),
	[RANK_IDLE + GAP_BLOCKED] = HWY_KEY("part|idle (blocked)"),
	[RANK_IDLE + GAP_LAUNCH] = HWY_KEY("part|idle (launch)"),
	[RANK_IDLE + GAP_INPUT] = HWY_KEY("part|idle (input)"),
	[RANK_IDLE + GAP_OS] = HWY_KEY("part|idle (os)"),
	[RANK_IDLE + GAP_CPU] = HWY_KEY("part|idle (cpu)"),
	[RANK_IDLE + GAP_DEPENDENCY] = HWY_KEY("part|idle (dependency)"),
	[RANK_IDLE + GAP_ALLOC] = HWY_KEY("part|idle (alloc)"),
	[RANK_IDLE + GAP_MODULE] = HWY_KEY("part|idle (module)"),
	[RANK_IDLE + GAP_DRAIN] = HWY_KEY("part|idle (drain)"),
	[RANK_IDLE + GAP_UNKNOWN] = HWY_KEY("part|idle (unknown)"),
	[RANK_IDLE + GAP_FIRST_USE] = HWY_KEY("part|idle (first-use)"),
	[RANK_IDLE + GAP_MISSING] = HWY_KEY("part|idle (missing)"),
	[RANK_IDLE + GAP_COMM] = HWY_KEY("part|idle (comm)"),
	[RANK_IDLE + GAP_GC] = HWY_KEY("part|idle (gc)"),
	[RANK_IDLE + GAP_GIL] = HWY_KEY("part|idle (gil)"),
};

const char *ranks_part_name(unsigned part)
{
	return part < RANK_PARTS && part_names[part] ? strchr(part_names[part], '|') + 1 : "";
}

const char *ranks_part_word(unsigned part)
{
	return part < RANK_PARTS && part_names[part] ? hwy_tr_word(part_names[part]) : "";
}

const char *const ranks_lateness_names[] = {
	[RANKS_IN_TIME] = "in-time",        [RANKS_REPEAT] = "repeats",
	[RANKS_TAKE_TURNS] = "takes-turns", [RANKS_EARLY] = "early",
	[RANKS_FEW_STEPS] = "few-steps",
};

bool ranks_compare(struct job_ranks *ranks, const struct ranks_member *members, uint32_t n,
		   const struct ranks_meetings *meetings, struct hwy_err *err)
{
	*ranks = (struct job_ranks){.n = n};
	ranks->rows = hwy_zarray(n, sizeof *ranks->rows);
	ranks->first_step = hwy_zarray(n, sizeof *ranks->first_step);
	ranks->waits = hwy_zarray((size_t)n * n, sizeof *ranks->waits);
	ranks->late_ranks = hwy_zarray(n, sizeof *ranks->late_ranks);
	for (uint32_t r = 0; r < n; r++) {
		ranks->rows[r].rank = members[r].rank;
		ranks->rows[r].host = members[r].host ? members[r].host : "";
	}
	ranks_find_steps(ranks, members, meetings);
	size_t cells = (size_t)n * ranks->n_steps;
	ranks->late = hwy_zarray(cells, sizeof *ranks->late);
	ranks->length = hwy_zarray(cells, sizeof *ranks->length);
	ranks->parts = hwy_zarray(cells, RANK_PARTS * sizeof *ranks->parts);
	ranks_count_waits(ranks, members, meetings);
	ranks_measure(ranks, members, meetings);
	ranks_judge(ranks);
	if (ranks_find_cause(ranks, members, err))
		return true;
	ranks_free(ranks);
	return false;
}

void ranks_free(struct job_ranks *ranks)
{
	free(ranks->rows);
	free(ranks->first_step);
	free(ranks->late);
	free(ranks->parts);
	free(ranks->length);
	free(ranks->waits);
	free(ranks->late_ranks);
	hwy_arena_free(&ranks->arena);
	*ranks = (struct job_ranks){0};
}
