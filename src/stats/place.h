/* place.h - where in the program a call was made, in one line. */
#ifndef HWY_STATS_PLACE_H
#define HWY_STATS_PLACE_H

#include "stats/enclosing.h"

struct place {
	const struct stats_run *run;
	struct enclosing *around; /* the thread's lanes of calls, operators and ranges */
	uint32_t n, cap;
	struct word_buffer buffer;
};

/* Brings in what it needs. */
bool place_need(struct stats_run *run, struct hwy_err *err);
/* Begins a thread: its calls must then be asked for in order. */
void place_begin(struct place *place, const struct stats_run *run, int64_t thread);
/* The innermost frame that is the program's own, where the call has a stack; else the innermost traced
 * function, operator or range around it. Numbers in ranges' names become '*', so that step_1 and step_2 are
 * one place. "" when nothing is known. The text is valid until the next question. */
struct hwy_text place_of(struct place *place, const struct hwy_strip *call, uint32_t row);
void place_end(struct place *place);

#endif
