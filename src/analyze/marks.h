/* marks.h - the annotations of one process in families: step_0, step_1, step_2 are one. */
#ifndef HWY_ANALYZE_MARKS_H
#define HWY_ANALYZE_MARKS_H

#include "analyze/phases/phases_internal.h"

struct mark {
	struct hwy_interval at;
	int64_t name;
	uint32_t place, after; /* on the track: of the first call at or after its start, its end */
};

enum mark_rank {
	MARK_EPOCH, /* "epoch_3": many steps, where there is nothing better */
	MARK_OTHER, /* a name with a counter, or one that is repeated */
	MARK_STEP,  /* the name says so: step, iteration, batch, token … */
	MARK_TORCH, /* ProfilerStep#3 */
};

struct mark_family {
	struct mark *v; /* in order of time; one that begins inside the one before is left out */
	uint32_t n, cap;
	enum mark_rank rank;
	int64_t text;  /* one of its names */
	bool is_exact; /* all have that name; else they differ in numbers only */
	bool is_asked; /* the user named it */
};

struct mark_families {
	struct mark_family *v;
	uint32_t n, cap;
};

/* All families of the process that may be steps: three or more marks, or a name that says so. */
void marks_gather(const struct phases_track *track, const char *step, struct mark_families *into);
void marks_free(struct mark_families *families);

/* The number a name ends with or holds last; -1: none. */
int64_t mark_counter(struct hwy_text name);
/* Length of a name up to its first number. */
uint32_t mark_common_length(struct hwy_text name);

#endif
