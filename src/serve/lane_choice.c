/* SPDX-License-Identifier: Apache-2.0 */
/* lane_choice.c - see lane_choice.h. */
#include "serve/lane_choice.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "serve/tiles.h"

/* Reads a number at *text and moves on behind it. */
static bool read_lane(const char **text, uint32_t *lane)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(*text, &end, 10);
	if (!isdigit((unsigned char)**text) || errno || value > UINT32_MAX)
		return false;
	*text = end;
	*lane = (uint32_t)value;
	return true;
}

bool lane_choice_next(const char **text, uint32_t *first, uint32_t *last)
{
	const char *at = *text;
	if (!read_lane(&at, first))
		return false;
	*last = *first;
	if (*at == '-') {
		at++;
		if (!read_lane(&at, last) || *last < *first)
			return false;
	}
	/* A comma at the end of the list stays, because a run is expected behind it. */
	if (*at && (*at != ',' || !at[1]))
		return false;
	*text = at + (*at == ',');
	return true;
}

/* Chooses lanes and unions of streams by their numbers. */
static void lane_choice_add(const struct view_trace *view, uint8_t *chosen, uint32_t first,
			    uint32_t last)
{
	for (uint32_t lane = first; lane <= last && lane < view->trace->n_lanes; lane++)
		chosen[lane] = 1;
	for (uint32_t number = 0; number < view_unions(view); number++)
		for (uint32_t lane = 0;
		     (VIEW_HARDWARE | number) >= first && (VIEW_HARDWARE | number) <= last &&
		     lane < view->trace->n_lanes;
		     lane++)
			chosen[lane] |= hardware_has(view, number, lane);
}

bool lane_choice_read(const struct view_trace *view, const char *text, uint8_t **chosen,
		      struct hwy_err *err)
{
	*chosen = NULL;
	if (!text || !*text)
		return true;
	uint8_t *made = hwy_zarray((size_t)view->trace->n_lanes + 1, 1);
	uint32_t first, last;
	while (lane_choice_next(&text, &first, &last))
		lane_choice_add(view, made, first, last);
	if (*text) {
		free(made);
		return hwy_fail(err, "'lanes' must be numbers of lanes, such as 4-9,12");
	}
	*chosen = made;
	return true;
}
