/* chain.h - the critical path of a phase, summed up: by class, and by what and where it is. */
#ifndef HWY_WHATIF_CHAIN_H
#define HWY_WHATIF_CHAIN_H

#include "analyze/analysis.h"
#include "whatif/path_cache.h"

struct chain_link {        /* all pieces of one class, name and place */
	const char *name;  /* of the kernel or call; a copy's direction, or what it is */
	const char *place; /* "train.py:23 step", or the range; "" where not known */
	int64_t time;
	uint64_t count;
	uint8_t class; /* enum path_class */
};

struct hwy_chain {
	uint32_t n_steps;
	int64_t length;                /* of the window, which ends with the last work */
	int64_t step;                  /* what a step takes, with what comes after its work */
	int64_t classes[PATH_CLASSES]; /* add up to it */
	struct chain_link *links;      /* the longest first */
	uint32_t n, cap;
	double work_on_path; /* share of the device's work in the window */
	int64_t slack;       /* median slack of the work that is not on the path */
	struct hwy_arena texts;
};

/* Through the steady steps, or through one step of the phase (from 0; -1: the steady ones). As recorded: the
 * recorder's cost is in it. */
bool chain_find(struct hwy_chain *chain, const struct hwy_analysis *analysis, uint32_t phase,
		int64_t step, struct hwy_err *err);
void chain_free(struct hwy_chain *chain);

#endif
