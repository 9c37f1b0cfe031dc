/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - the annotations of one process in families of names that differ in numbers only:
 * step_0, step_1, step_2. */
#ifndef HWY_ANALYZE_MARKS_H
#define HWY_ANALYZE_MARKS_H

#include "analyze/phases/phases_internal.h"

struct mark {
	struct hwy_interval at; /* from the mark's begin to its end, in ns */
	int64_t name;           /* id of the text that names the mark */
	/* Places on the track: the first call at or after the mark's start, and the first at or
	 * after its end. */
	uint32_t place, after;
};

enum mark_rank {
	MARK_EPOCH, /* "epoch_3" holds many steps: used only where no other mark is found */
	MARK_OTHER, /* a name with a running number ("block_3"), or one name many times */
	MARK_STEP,  /* the name says that the mark is a step: step, iteration, batch, token … */
	MARK_TORCH, /* PyTorch's own mark for a step: ProfilerStep#3 */
};

struct mark_family {
	/* The family's marks in order of time; a mark that begins inside the mark before it is
	 * left out. */
	struct mark *marks;
	uint32_t n, cap;
	enum mark_rank rank;
	int64_t text; /* id of the text that names one of the family's marks */
	/* all marks of the family have this name; else the names differ in numbers */
	bool is_exact;
	bool is_asked; /* the user named this family with --step */
};

struct mark_families {
	struct mark_family *families;
	uint32_t n, cap;
};

/* Finds all families of the process that may be steps: they have three or more marks, a name
 * that says "step", or the name that the user gave in 'step'. */
void marks_gather(const struct phases_track *track, const char *step, struct mark_families *into);
void marks_free(struct mark_families *families);

/* Writes "'IO N', 'IO wait'": up to three names of ranges that begin with a text and are more
 * than it, their numbers as N; nothing where there are none. Names of ranges must be loaded. */
void marks_alike(const struct hwy_trace *trace, const char *begin, char *list, size_t size);
/* Whether a name says that its mark is a step or an epoch: "step_3", "ProfilerStep#3", "epoch
 * 1". */
bool mark_is_step(struct hwy_text name);
/* Whether an operator's name is what a user, or an optimizer, gave to record_function:
 * "Optimizer.step#Adam.step", "my part". Operators have a namespace ("aten::mm") or are one word
 * ("AddmmBackward0"). */
bool mark_is_scope(const char *name);
/* Yields the last number in a name; -1 where the name holds no number. */
int64_t mark_counter(struct hwy_text name);
/* Whether the mark of this name is an execution of a function that XLA compiled. */
bool mark_is_execution(struct hwy_text name);
/* Yields the length of a name up to its first number. */
uint32_t mark_common_length(struct hwy_text name);

#endif
