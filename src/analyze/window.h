/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - the stretch of a recording that shows what a run is like: a few steps from the
 * middle. */
#ifndef HWY_ANALYZE_WINDOW_H
#define HWY_ANALYZE_WINDOW_H

#include "analyze/intervals.h"
#include "trace/trace.h"

struct hwy_window {
	struct hwy_interval at;
	uint32_t n_steps; /* how many steps the main phase has; 0 where nothing repeats */
	/* The first and the last step that the window shows, counted from 0; n_steps where no
	 * step is shown. */
	uint32_t first, last;
	/* The windows of these steps on the device, whose time the analyses count; empty where no
	 * step is shown. */
	struct hwy_interval steps;
	/* Ids of the texts of the first and the last step's marks, or HWY_NONE. */
	int64_t first_name, last_name;
};

/* The window of one step: 'step' is the number in the name of its mark, or counted from 0 where
 * marks have no numbers; a recording in which nothing repeats is step 0 as a whole. For HWY_NONE
 * the window of three typical steps, from the launch of their first work to the end of their
 * last, so that one sees how far the CPU is ahead; where nothing repeats, of some tens of
 * launches in the middle. 'marks' names the ranges that delimit steps, as phases_options.step;
 * NULL: they are chosen. False with a sentence where there is nothing to show or no such step. */
bool window_find(struct hwy_trace *trace, const char *marks, int64_t step,
		 struct hwy_window *window, struct hwy_err *err);

#endif
