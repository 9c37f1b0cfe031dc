/* SPDX-License-Identifier: Apache-2.0 */
/* job_map.c - how late each rank is in each step, as a map of cells; see job_print.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/job_print.h"

const double job_degrees[JOB_DEGREES] = {0, 0.02, 0.05, 0.15, 0.3};

static uint8_t degree_of(const struct job_view *job, uint32_t member, uint32_t from, uint32_t to)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	int64_t latest = 0;
	for (uint32_t s = from; s < to && s < ranks->n_steps; s++) {
		int64_t late = ranks->late[(size_t)member * ranks->n_steps + s];
		latest = late > latest ? late : latest;
	}
	double share = ranks->step > 0 ? (double)latest / (double)ranks->step : 0;
	uint8_t degree = 0;
	while (degree + 1 < JOB_DEGREES && share >= job_degrees[degree + 1])
		degree++;
	return degree;
}

static int64_t lateness_of(const struct job_ranks *ranks, uint32_t member)
{
	int64_t sum = 0;
	for (uint32_t s = 0; s < ranks->n_steps; s++)
		sum += ranks->late[(size_t)member * ranks->n_steps + s];
	return sum;
}

/* Chooses the ranks that are late by most, and keeps them in order. */
static void choose_members(struct job_map *map, const struct job_ranks *ranks, uint32_t rows)
{
	bool *chosen = hwy_zarray(ranks->n, sizeof *chosen);
	for (uint32_t k = 0; k < rows && k < ranks->n; k++) {
		uint32_t best = ranks->n;
		for (uint32_t r = 0; r < ranks->n; r++)
			if (!chosen[r] && (ranks->n <= rows || ranks->rows[r].n_late > 0) &&
			    (best == ranks->n || lateness_of(ranks, r) > lateness_of(ranks, best)))
				best = r;
		if (best == ranks->n)
			break;
		chosen[best] = true;
	}
	for (uint32_t r = 0; r < ranks->n; r++)
		if (chosen[r])
			map->members[map->rows++] = r;
	map->left_out = ranks->n - map->rows;
	free(chosen);
}

bool job_map_make(struct job_map *map, const struct job_view *job, uint32_t rows, uint32_t columns)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	*map = (struct job_map){0};
	if (ranks->n_steps < 2 || !ranks->has_waited || columns == 0)
		return false;
	map->group = (ranks->n_steps + columns - 1) / columns;
	map->columns = (ranks->n_steps + map->group - 1) / map->group;
	map->members = hwy_array(ranks->n, sizeof *map->members);
	choose_members(map, ranks, rows);
	map->cells = hwy_array((size_t)map->rows * map->columns, sizeof *map->cells);
	bool any = false;
	for (uint32_t r = 0; r < map->rows; r++)
		for (uint32_t c = 0; c < map->columns; c++) {
			uint8_t degree = degree_of(job, map->members[r], c * map->group,
						   (c + 1) * map->group);
			map->cells[(size_t)r * map->columns + c] = degree;
			any |= degree > 0;
		}
	if (!any)
		job_map_free(map);
	return any;
}

void job_map_free(struct job_map *map)
{
	free(map->members);
	free(map->cells);
	*map = (struct job_map){0};
}
