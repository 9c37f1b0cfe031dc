/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - the critical path of a phase, summed up: by class, and by what and where it is. */
#ifndef HWY_WHATIF_CHAIN_H
#define HWY_WHATIF_CHAIN_H

#include "analyze/analysis.h"
#include "whatif/path_cache.h"

struct chain_link { /* the pieces of a path that have one class, name and place */
	/* Name of the kernel or call; a copy without a name has its direction here. Of the CPU's
	 * own time the range, operator, function or OS call that fills it, or, where it is short
	 * or nothing does, the call that comes after it. */
	const char *name;
	bool is_before;    /* of the CPU's own time: 'name' is the call that comes after it */
	const char *place; /* "train.py:23 step", or the range; "" where neither is known */
	int64_t time;      /* ns of the path that all pieces of the link take together */
	uint64_t count;    /* how many pieces of the path the link has */
	uint8_t class;     /* enum path_class */
};

struct hwy_chain {
	uint32_t n_steps;
	int64_t length; /* ns of the path's window, which ends with the last device work */
	int64_t step;   /* ns of a step, with the idle time after the step's last device work */
	/* The ns of the path by enum path_class; the values add up to 'length'. */
	int64_t classes[PATH_CLASSES];
	struct chain_link *links; /* the links of the path, the link with most time first */
	uint32_t n, cap;
	double work_on_path; /* share of the device's work in the window that is on the path */
	int64_t slack;       /* ns, median slack of the device work that is not on the path */
	struct hwy_arena texts;
};

/* Sums up the path through one step of the phase, counted from 0, or through all steady steps where
 * 'step' is -1. The times are the recorded ones: the recorder's cost is part of them. */
bool chain_find(struct hwy_chain *chain, const struct hwy_analysis *analysis, uint32_t phase,
		int64_t step, struct hwy_err *err);
void chain_free(struct hwy_chain *chain);

/* The name of a span; of copies, fills and graphs without a name the direction or the kind. */
struct hwy_text chain_name_of(const struct hwy_trace *trace, uint32_t span);
/* Where a span comes from: "train.py:23 step", else its range with the numbers replaced; ""
 * where neither is known. */
enum { CHAIN_PLACE = 512 };
void chain_put_place(const struct hwy_analysis *analysis, uint32_t span, char text[CHAIN_PLACE]);

#endif
