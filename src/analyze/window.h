/* window.h - the stretch of a recording that shows what a run is like: a few steps of the middle. */
#ifndef HWY_ANALYZE_WINDOW_H
#define HWY_ANALYZE_WINDOW_H

#include "analyze/intervals.h"
#include "trace/trace.h"

struct hwy_window {
	struct hwy_interval at;
	uint32_t n_steps; /* of the main phase; 0: nothing repeats */
	uint32_t first,
		last; /* those that begin in the window, counted from 0; n_steps: none does */
	int64_t first_name, last_name; /* texts of their marks, or HWY_NONE */
};

/* 'marks': the ranges that delimit steps (phases_options.step), or NULL. 'step': the number in its mark's name, or counted from 0 where there are none. HWY_NONE: a typical one and
 * its neighbours, from the launch of the first one's work to the end of the last one's, so that a CPU that is
 * ahead is seen being ahead; where nothing repeats, some tens of launches in the middle of the device's work.
 * False where there is nothing to show or no such step. */
bool window_find(struct hwy_trace *trace, const char *marks, int64_t step,
		 struct hwy_window *window, struct hwy_err *err);

#endif
