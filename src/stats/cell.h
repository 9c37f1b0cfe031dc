/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - the cells of a report's row: what the families of reports fill in. */
#ifndef HWY_STATS_CELL_H
#define HWY_STATS_CELL_H

#include "stats/stats.h"

static inline struct stats_cell cell_from_text(struct hwy_text text)
{
	return (struct stats_cell){.text = text};
}
static inline struct stats_cell cell_from_textz(const char *text)
{
	return (struct stats_cell){.text = {text, (uint32_t)strlen(text)}};
}
static inline struct stats_cell cell_number(int64_t number)
{
	return (struct stats_cell){.number = number};
}
static inline struct stats_cell cell_real(double real)
{
	return (struct stats_cell){.real = real};
}
static inline struct stats_cell cell_empty(void)
{
	return (struct stats_cell){.empty = true};
}
/* Yields a cell with a number; an empty cell for HWY_NONE, where the recording does not hold the
 * number. */
static inline struct stats_cell cell_number_or_empty(int64_t number)
{
	return (struct stats_cell){.number = number, .empty = number == HWY_NONE};
}
/* Yields a cell with the share of 'part' in 'whole' in percent; 0 where the whole is 0. */
static inline struct stats_cell cell_share(int64_t part, int64_t whole)
{
	return cell_real(whole ? 100.0 * (double)part / (double)whole : 0);
}

/* Yields a cell with the process id or the thread id of a lane; an empty cell where the recording
 * does not hold the id. */
struct stats_cell cell_pid(const struct hwy_trace *trace, uint32_t lane);
struct stats_cell cell_tid(const struct hwy_trace *trace, uint32_t lane);

#endif
