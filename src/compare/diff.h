/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h - what changed from one side to the other, whether the change is real, and how good
 * predictions were.
 *
 * A side is one run, or several runs of the same program. Findings and the critical path cannot be
 * averaged: those of the run with the middle step time are taken. Phases of two runs are matched by
 * the name of their marks, else by the kernels of their steps. The parts of the change are integers
 * that add up to the change exactly.
 */
#ifndef HWY_COMPARE_DIFF_H
#define HWY_COMPARE_DIFF_H

#include <assert.h>

#include "compare/job_diff.h"
#include "compare/statistics.h"
#include "compare/summary.h"

struct compare_side {
	const struct compare_summary **runs;
	uint32_t n;
	/* The members below are set by diff_prepare_side. */
	const struct compare_phase **phases; /* for each run, the phase that is compared */
	uint32_t middle;                     /* index of the run with the middle step time */
	/* The step and its parts in ns, as means over the runs; the parts add up to the step. */
	int64_t step, parts[PARTS];
};

/* A count or a number of bytes a step, on both sides. */
struct diff_count {
	enum compare_count count;
	double before, after; /* the value of one step on each side, as the mean over the runs */
};

enum row_change {
	ROW_SAME,
	ROW_SLOWER,
	ROW_FASTER,
	ROW_ADDED,
	ROW_REMOVED,
	ROW_MORE,  /* the kernel, call or range runs more often */
	ROW_FEWER, /* the kernel, call or range runs less often */
};
extern const char *const diff_row_change_names[];

struct diff_row { /* a kernel, a call or a range */
	/* Folded names on the two sides; NULL on a side that lacks the row. */
	const char *before, *after;
	bool is_renamed; /* the two names differ: they were matched by their place in the step */
	enum row_change change;
	int64_t ns_before, ns_after; /* ns that all launches of one step take */
	double count_before, count_after;
	double mean_before, mean_after; /* mean ns of one launch */
	/* The ids of the longest spans in the middle runs (struct compare_row); HWY_NONE: not
	 * known. */
	int64_t span_before, span_after;
};

enum finding_change { FINDING_GONE, FINDING_NEW, FINDING_CHANGED, FINDING_SAME };
extern const char *const diff_finding_change_names[];

enum prediction_grade {
	GRADE_NONE, /* nothing was predicted, or the finding is still there */
	/* The measured speedup lies inside the prediction's bar and has the predicted direction. */
	GRADE_RIGHT,
	GRADE_LESS,   /* the measured gain is smaller than predicted */
	GRADE_MORE,   /* the measured gain is larger than predicted */
	GRADE_SHARED, /* a costlier finding is gone too: the two gains cannot be told apart */
	GRADE_SLOWER, /* the program became slower, so something else changed as well */
	GRADE_NOISE,  /* the verdict is unknown: what was measured says nothing */
	GRADES,
};
extern const char *const diff_grade_names[];

struct diff_finding {
	/* The finding on each side; NULL on a side that lacks the finding. */
	const struct compare_finding *before, *after;
	enum finding_change change;
	/* The predicted speedup and the ends of its bar; 0 where nothing was predicted. */
	double predicted, low, high;
	double measured; /* the measured speedup */
	/* 'measured' leaves out the cost of recording, and so differs from the recorded speedup */
	bool without_recorder;
	enum prediction_grade grade;
};

struct diff_note { /* a fact that differs and makes the sides hard to compare */
	const char *what, *before, *after;
	/* what follows from it: "the comparison says little"; or ""; as 'what', a key of
	 * base/lang.h */
	const char *so;
};

struct compare_diff {
	struct compare_side *before, *after;
	struct difference step; /* the change of the step, in ns */
	int64_t change;         /* ns: after->step - before->step */
	int64_t parts[PARTS];   /* ns by which each part changed; the values add up to 'change' */
	unsigned order[PARTS];  /* the parts by the size of their change, the largest first */
	struct diff_count counts[COUNTS];
	struct diff_table {
		struct diff_row *rows; /* only rows that changed, the largest change first */
		uint32_t n;
	} tables[TABLES];
	/* The findings: first those that are gone, then new, changed and unchanged ones. */
	struct diff_finding *findings;
	uint32_t n_findings;
	const char *new_wait; /* the wait that the change added (summary_new_wait), or "" */
	struct diff_note *notes;
	uint32_t n_notes;
	/* The jobs of which the middle runs are typical ranks; NULL where a side is no job. */
	const struct job_diff *jobs;
	double similarity; /* 0 … 1: how much the kernels of the steps are alike */
	struct hwy_arena arena;
};

/* Compares two sides. Yields false, with one sentence in err, where nothing can be compared, e.g.
 * where nothing repeats in the only run of a side. run_noise: see statistics.h. */
bool diff_make(struct compare_diff *diff, struct compare_side *before, struct compare_side *after,
	       double run_noise, struct hwy_err *err);
/* Compares two halves of one run. Between them there is no noise from run to run; a change no
 * larger than that noise counts as none. */
bool diff_make_halves(struct compare_diff *diff, struct compare_side *first,
		      struct compare_side *second, double run_noise, struct hwy_err *err);
void diff_free(struct compare_diff *diff);
/* Whether the sides are recordings of different programs, by the programs' names and their
 * kernels. */
bool diff_is_other_program(const struct compare_diff *diff);

/* The same of two runs, by their longest phases. */
bool diff_are_other_programs(const struct compare_summary *a, const struct compare_summary *b);

/* Chooses each run's phase (the one most like 'wanted') and the middle run, and takes the means.
 * diff_make calls it. */
void diff_prepare_side(struct compare_side *side, const struct compare_phase *wanted,
		       struct hwy_arena *arena);

/* ---- the parts ------------------------------------------------------------------------------- */

/* The row of a table with this name, or NULL. */
const struct compare_row *diff_row(const struct compare_table *table, const char *name);
void diff_table(struct compare_diff *diff, enum compare_table_kind kind,
		double run_noise);             /* defined in diff_tables.c */
void diff_findings(struct compare_diff *diff); /* defined in diff_findings.c */
void diff_notes(struct compare_diff *diff);    /* defined in diff_notes.c */

static inline const struct compare_phase *side_phase(const struct compare_side *side)
{
	return side->phases[side->middle];
}
static inline const struct compare_summary *side_run(const struct compare_side *side)
{
	return side->runs[side->middle];
}
/* The finding as the earlier side has it, or as the later side has it where it is new. */
static inline const struct compare_finding *diff_finding_either(const struct diff_finding *finding)
{
	assert(finding->before || finding->after);
	return finding->before ? finding->before : finding->after;
}
/* The row's name on the earlier side, or on the later side where the row was added. */
static inline const char *diff_row_name(const struct diff_row *row)
{
	assert(row->before || row->after);
	return row->before ? row->before : row->after;
}

#endif
