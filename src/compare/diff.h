/* diff.h - what changed from one side to the other, whether it is real, and what had been predicted.
 *
 * A side is one run, or several runs of the same program; what cannot be averaged (findings, the critical path)
 * is that of the run with the middle step time. Phases are matched: by the name of their marks, else by what
 * kernels their steps are made of. The parts of the change are integers that add up to it exactly.
 */
#ifndef HWY_COMPARE_DIFF_H
#define HWY_COMPARE_DIFF_H

#include "compare/statistics.h"
#include "compare/summary.h"

struct compare_side {
	const struct compare_summary **runs;
	uint32_t n;
	/* set by diff_prepare_side: */
	const struct compare_phase **phases; /* of each run: the one that is compared */
	uint32_t middle;                     /* the run with the middle step time */
	int64_t step, parts[PARTS];          /* ns: means over the runs; parts add up to step */
};

/* A number a step beside the split; not a part of it. */
struct diff_count {
	enum compare_count count;
	double before, after; /* a step, means over the runs */
};

enum row_change {
	ROW_SAME,
	ROW_SLOWER,
	ROW_FASTER,
	ROW_ADDED,
	ROW_REMOVED,
	ROW_MORE,  /* more often */
	ROW_FEWER, /* less often */
};
extern const char *const diff_row_change_names[];

struct diff_row {                   /* a kernel, a call or a range */
	const char *before, *after; /* folded names, NULL: not there */
	bool is_renamed;            /* matched by its place in the step */
	enum row_change change;
	int64_t ns_before, ns_after; /* a step, of all of them */
	double count_before, count_after;
	double mean_before, mean_after; /* of one, ns */
};

enum finding_change { FINDING_GONE, FINDING_NEW, FINDING_CHANGED, FINDING_SAME };
extern const char *const diff_finding_change_names[];

enum prediction_grade {
	GRADE_NONE, /* nothing was predicted, or it was not tried */
	GRADE_RIGHT, /* the measured gain lies in the predicted bar, the measurement's own doubt allowed for */
	GRADE_LESS, /* it gained less than predicted */
	GRADE_MORE,
	GRADE_SHARED, /* gone together with a costlier one: the gain cannot be told apart */
};
extern const char *const diff_grade_names[];

struct diff_finding {
	const struct compare_finding *before, *after; /* NULL: not there */
	enum finding_change change;
	double predicted, low, high; /* speedup; 0: nothing was predicted */
	double measured;             /* speedup */
	bool without_recorder;       /* it is without the recorder's cost, and another for that */
	enum prediction_grade grade;
};

struct diff_note { /* what makes the sides hard to compare */
	const char *what, *before, *after;
};

struct compare_diff {
	struct compare_side *before, *after;
	struct difference step; /* ns */
	int64_t change;         /* after->step - before->step */
	int64_t parts[PARTS];   /* add up to change */
	unsigned order[PARTS];  /* parts by size of their change, the cause first */
	struct diff_count counts[COUNTS];
	struct diff_table {
		struct diff_row *rows; /* those that changed, the largest change first */
		uint32_t n;
	} tables[TABLES];
	struct diff_finding *findings; /* gone, new, changed; same ones last */
	uint32_t n_findings;
	struct diff_note *notes;
	uint32_t n_notes;
	double similarity; /* 0 … 1: how much the kernels of the steps are alike */
	struct hwy_arena arena;
};

/* False with one sentence where nothing can be compared: nothing repeats in a run that stands alone. */
bool diff_make(struct compare_diff *diff, struct compare_side *before, struct compare_side *after,
	       double run_noise, struct hwy_err *err);
/* The halves of one run: no noise from run to run lies between them, and what moves them by no more than that is no
 * difference. */
bool diff_make_halves(struct compare_diff *diff, struct compare_side *first,
		      struct compare_side *second, double run_noise, struct hwy_err *err);
void diff_free(struct compare_diff *diff);
/* The sides are recordings of different programs, by name and by kernels. */
bool diff_is_other_program(const struct compare_diff *diff);

/* Chooses each run's phase (the one most like 'wanted') and the middle run, and takes the means; diff_make does. */
void diff_prepare_side(struct compare_side *side, const struct compare_phase *wanted,
		       struct hwy_arena *arena);

/* ---- the parts ------------------------------------------------------------------------------------ */

/* The row of a name, or NULL. */
const struct compare_row *diff_row(const struct compare_table *table, const char *name);
void diff_table(struct compare_diff *diff, enum compare_table_kind kind,
		double run_noise);             /* diff_tables.c */
void diff_findings(struct compare_diff *diff); /* diff_findings.c */
void diff_notes(struct compare_diff *diff);    /* diff_notes.c */

static inline const struct compare_phase *side_phase(const struct compare_side *side)
{
	return side->phases[side->middle];
}
static inline const struct compare_summary *side_run(const struct compare_side *side)
{
	return side->runs[side->middle];
}

#endif
