/* SPDX-License-Identifier: Apache-2.0 */
/* picture_ranges.c - the names in a picture: what the program called its own stretches of time.
 *
 * One lane is chosen: the thread's and the domain's whose ranges cover most of the window;
 * operators where there are no ranges. Of its levels of nesting the outermost that says more
 * than one thing is shown, and the one below where its names have room. The same ranges name the
 * device's work, by the time it was launched: a CPU that is ahead shows as two rows that say
 * different things at one moment.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "cli/picture/picture.h"

/* Cells that the ranges of a level must have on average: ROOM to be shown at all, MORE_ROOM to be
 * shown as the second level, and for operators. */
enum { LEVELS = 6, ROOM = 2, MORE_ROOM = 5 };

struct picture_names {
	const struct hwy_trace *trace;
	int64_t thread, process;
	int64_t from, to; /* the window of time that is shown, ns */
	uint32_t cells;
	struct picture_label *levels[LEVELS]; /* all ranges of a level, disjoint and in order */
	uint32_t n[LEVELS], cap[LEVELS];
	uint32_t seen[LEVELS]; /* by level: number of ranges that touch the window */
	int64_t time[LEVELS];  /* by level: ns of the window that its ranges cover */
	uint32_t level;        /* the level that is shown */
	bool both;             /* the level 'level' + 1 is shown too */
};

static bool meets(const struct picture_names *names, int64_t from, int64_t to)
{
	return from < names->to && to > names->from;
}

/* Yields how many ns of the window the spans of a strip cover. */
static int64_t time_inside(const struct picture_names *names, const struct hwy_strip *strip)
{
	struct hwy_cover cover = {0};
	struct hwy_interval fresh;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row);
		if (from >= names->to)
			break;
		if (!meets(names, from, to))
			continue;
		from = from > names->from ? from : names->from;
		cover_add(&cover, from, to < names->to ? to : names->to, &fresh);
	}
	return cover.total;
}

/* The strip whose spans cover most of the window, among strips of the threads' processes; or
 * NULL. */
static const struct hwy_strip *picture_ranges_choose(const struct picture_names *names,
						     enum hwy_kind kind, enum hwy_lane_type type,
						     const int64_t *threads, uint32_t n)
{
	const struct hwy_trace *trace = names->trace;
	const struct hwy_strip *best = NULL;
	int64_t most = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		const struct hwy_lane *lane = &trace->lanes[strip->lane];
		bool ours = false;
		for (uint32_t i = 0; i < n; i++)
			ours = ours || lane->process == trace->threads[threads[i]].process;
		if (strip->kind != kind || lane->type != type || !ours)
			continue;
		int64_t time = time_inside(names, strip);
		if (time > most) {
			most = time;
			best = strip;
		}
	}
	return best;
}

/* Sorts the ranges of a lane by their level of nesting: a range that begins before another ended is
 * inside it. */
static void sort_into_levels(struct picture_names *names, const struct hwy_strip *strip)
{
	int64_t ends[LEVELS];
	uint32_t depth = 0;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row);
		while (depth && ends[depth - 1] <= from)
			depth--;
		if (depth == LEVELS || to == from)
			continue;
		uint32_t l = depth;
		ends[depth++] = to;
		HWY_GROW(names->levels[l], names->n[l], names->cap[l]);
		names->levels[l][names->n[l]++] =
			(struct picture_label){{from, to}, hwy_get(strip, HWY_NAME, row)};
		if (!meets(names, from, to))
			continue;
		names->seen[l]++;
		names->time[l] += (to < names->to ? to : names->to) -
				  (from > names->from ? from : names->from);
	}
}

static bool has_room(const struct picture_names *names, uint32_t level, uint32_t fewest, int room)
{
	if (level >= LEVELS || names->seen[level] < fewest)
		return false;
	__int128 cells = (__int128)names->time[level] * names->cells / (names->to - names->from);
	return cells >= (__int128)room * names->seen[level];
}

/* Chooses the level to show. Yields false where no level has room for the names of its ranges. */
static bool choose_level(struct picture_names *names, int room)
{
	for (uint32_t fewest = 2; fewest >= 1; fewest--)
		for (uint32_t level = 0; level < LEVELS; level++)
			if (has_room(names, level, fewest, room)) {
				names->level = level;
				names->both = has_room(names, level + 1, 2, MORE_ROOM);
				return true;
			}
	return false;
}

static void forget_levels(struct picture_names *names)
{
	for (uint32_t l = 0; l < LEVELS; l++) {
		free(names->levels[l]);
		names->levels[l] = NULL;
		names->n[l] = names->cap[l] = names->seen[l] = 0;
		names->time[l] = 0;
	}
}

static bool use_strip(struct picture_names *names, const struct hwy_strip *strip, int room)
{
	if (!strip)
		return false;
	names->thread = names->trace->lanes[strip->lane].thread;
	names->process = names->trace->lanes[strip->lane].process;
	sort_into_levels(names, strip);
	if (choose_level(names, room))
		return true;
	forget_levels(names);
	return false;
}

bool picture_names_find(struct hwy_trace *trace, const struct hwy_picture *picture,
			const int64_t *threads, uint32_t n, struct picture_names **found,
			struct hwy_err *err)
{
	uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	*found = NULL;
	if (!hwy_need(trace, HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP), columns, err))
		return false;
	struct picture_names *names = hwy_zalloc(sizeof *names);
	names->trace = trace;
	names->from = picture->from;
	names->to = picture->to;
	names->cells = picture->cells;
	if (!use_strip(names, picture_ranges_choose(names, HWY_RANGE, HWY_LANE_RANGE, threads, n),
		       ROOM) &&
	    !use_strip(names, picture_ranges_choose(names, HWY_OP, HWY_LANE_OP, threads, n),
		       MORE_ROOM)) {
		free(names);
		return true;
	}
	*found = names;
	return true;
}

int64_t picture_names_thread(const struct picture_names *names)
{
	return names->thread;
}

/* Yields the index of the first range of a level that ends after 'time', or the number of
 * ranges. */
static uint32_t first_after(const struct picture_names *names, uint32_t level, int64_t time)
{
	const struct picture_label *ranges = names->levels[level];
	return HWY_FIRST(i, 0u, names->n[level], ranges[i].at.to > time);
}

void picture_add_ranges(struct hwy_picture *picture, const struct picture_names *names)
{
	for (uint32_t level = names->level; level <= names->level + names->both; level++) {
		struct picture_row *row = picture_add(picture, PICTURE_RANGES, names->thread);
		for (uint32_t i = first_after(names, level, names->from);
		     i < names->n[level] && names->levels[level][i].at.from < names->to; i++) {
			struct picture_label label = names->levels[level][i];
			if (label.at.from < names->from)
				label.at.from = names->from;
			if (label.at.to > names->to)
				label.at.to = names->to;
			picture_add_label(row, label.at, label.name);
		}
	}
}

/* Streams overlap: work of an earlier range may start after work of a later one. It then
 * lengthens the label of the later range, since labels are in order. */
void picture_add_launched(const struct picture_names *names, struct picture_row *row,
			  uint32_t *range, struct hwy_interval at, int64_t process,
			  int64_t launched)
{
	const struct picture_label *level = names->levels[names->level];
	uint32_t i = first_after(names, names->level, launched);
	if (process != names->process || i == names->n[names->level] || level[i].at.from > launched)
		return;
	struct picture_label *last = row->n_labels ? &row->labels[row->n_labels - 1] : NULL;
	if (last && i <= *range) {
		if (at.to > last->at.to)
			last->at.to = at.to;
		return;
	}
	if (last && last->at.to > at.from)
		last->at.to = at.from;
	picture_add_label(row, at, level[i].name);
	*range = i;
}

void picture_names_free(struct picture_names *names)
{
	if (names)
		forget_levels(names);
	free(names);
}
