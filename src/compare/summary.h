/* summary.h - what one run was like, in a few kB: what `diff` and `gate` compare and `baseline` keeps.
 *
 * A summary holds the phases of a run, each with its step times, the exclusive states of the devices a step,
 * counts, kernels by folded name, and findings with their predictions, and the facts about the machine that
 * make two runs comparable. It is made from an analysis and a diagnosis, or read from a baseline file
 * (docs/ci.md); both give the same numbers.
 *
 * The parts of a phase are integers that add up to its step time exactly (summary_share).
 */
#ifndef HWY_COMPARE_SUMMARY_H
#define HWY_COMPARE_SUMMARY_H

#include <stdio.h>

#include "diagnose/diagnose.h"

/* The exclusive states of a device, idle time by cause. */
enum compare_part {
	PART_COMPUTE,
	PART_COMM,
	PART_COPY,
	PART_FILL,
	PART_IDLE, /* the first cause of gap_cause; the others follow */
	PARTS = PART_IDLE + GAP_CAUSES
};
/* "compute", "exposed communication", "idle: blocked" */
const char *summary_part_name(unsigned part);
const char *summary_part_key(
	unsigned part); /* for machines: "compute", "exposed_comm", "idle_blocked" */

/* Counted over the steady steps. Append; docs/ci.md and metrics.c name them. */
enum compare_count {
	COUNT_WAITS,          /* blocking calls: synchronise calls and copies that block */
	COUNT_SYNCS,          /* of them, those that waited for work that was still running */
	COUNT_WAITED,         /* ns the CPU waited in them */
	COUNT_LAUNCHES,       /* calls that enqueue kernels or graphs */
	COUNT_GRAPH_LAUNCHES, /* of them, graphs */
	COUNT_KERNELS,
	COUNT_COPIES,
	COUNT_FILLS,
	COUNT_ALLOCS,     /* calls that allocate or free */
	COUNT_COPY_BYTES, /* all directions */
	COUNT_H2D_BYTES,
	COUNT_D2H_BYTES,
	COUNT_PAGEABLE_COPIES,
	COUNT_PAGEABLE_BYTES,
	COUNT_HIDDEN, /* graphs recorded as one piece: their kernels are not told */
	COUNTS
};
extern const char *const summary_count_keys[COUNTS];

/* What a step is made of, by folded name. */
enum compare_table_kind {
	TABLE_KERNELS, /* on the devices */
	TABLE_CALLS,   /* into the vendor's library: those that have a role (flow.h) */
	TABLE_RANGES,  /* annotations on the CPU */
	TABLES
};
extern const char *const summary_table_names[TABLES]; /* "kernels", … */

struct compare_row {
	const char *name; /* folded */
	uint64_t count;   /* in the steady steps */
	int64_t ns;       /* likewise, summed over devices or threads */
	double deviation; /* of one's time from the mean, ns */
	double place;     /* mean position in its step: 0 first, 1 last */
};

struct compare_table {
	struct compare_row *rows; /* by time */
	uint32_t n;
	uint32_t left_out; /* names that were too small to keep */
};

struct compare_finding {
	const char *id, *title, *place;
	int64_t cost; /* ns a step */
	double share;
	bool is_inside; /* see hwy_finding_kind */
	struct {
		bool is_known;
		const char *edits;
		int64_t before, step, p10, p90;
		double speedup;
	} predicted;
};

enum {
	COMPARE_VALUES = 200,
	COMPARE_KERNELS = 32,
	COMPARE_ROWS = 12,
	COMPARE_PHASES = 4,
	COMPARE_PATH = 12
};

struct compare_phase {
	const char *name; /* the marks' common part, or "" */
	bool repeats;     /* false: nothing does, it is one step */
	uint32_t n_steps, n_steady, n_devices;
	int64_t step; /* ns: window / steady steps, rounded down */
	int64_t p10, p50, p90, p99, longest;
	int64_t parts[PARTS]; /* ns a step; add up to step */
	/* Lengths of the steady steps in order; where there are more than COMPARE_VALUES, means of 'group'
	 * neighbours. */
	int64_t *values;
	uint32_t n_values, group;
	int64_t counts[COUNTS];
	struct compare_table tables[TABLES];
	int64_t kernel_ns; /* of all kernels, in the steady steps */
	struct compare_finding *findings;
	uint32_t n_findings;
	/* Filled in by whoever can replay (the command line): ns a step of the critical path by class, and the
	 * step without the recorder's cost; 0: not known. */
	struct {
		const char *name;
		int64_t ns;
	} path[COMPARE_PATH];
	uint32_t n_path;
	int64_t plain;
};

struct compare_summary {
	const char *file;    /* where it was read from */
	const char *program; /* "train.py"; "" where the recording does not say */
	const char *command;
	const char *gpu; /* name of the first device */
	uint32_t n_gpus; /* that were used */
	const char *driver, *cuda, *format, *traces, *graph_mode;
	int64_t clock_hz;             /* 0: not known */
	uint64_t lost;                /* records */
	struct compare_phase *phases; /* the longest first; at most COMPARE_PHASES */
	uint32_t n;
	uint32_t *indexes; /* of the phases in the analysis it was made from; NULL when read */
	struct hwy_arena arena;
};

/* False with one sentence where there is no device work. 'diagnosis' may be NULL: no findings then. */
bool summary_make(struct compare_summary *summary, const char *file, struct hwy_analysis *analysis,
		  const struct hwy_diagnosis *diagnosis, struct hwy_err *err);
/* Of some of the steady steps of the main phase only: n from 'first' on, counted from the first steady one. */
bool summary_make_part(struct compare_summary *summary, const char *file,
		       struct hwy_analysis *analysis, uint32_t first, uint32_t n,
		       struct hwy_err *err);
void summary_free(struct compare_summary *summary);

/* Shares out total / divisor over n parts so that the shares are integers and add up to it, rounded down: each
 * is the difference of two rounded cumulative sums and so less than 1 from its exact value. */
void summary_share(const int64_t *totals, uint32_t n, int64_t divisor, int64_t *shares);

/* A count a step. */
static inline double summary_each(const struct compare_phase *phase, enum compare_count count)
{
	return phase->n_steady ? (double)phase->counts[count] / phase->n_steady : 0;
}

/* ---- baseline files (summary_write.c, summary_read.c) -------------------------------------------- */

#define BASELINE_KEY "headway_baseline"
enum { BASELINE_VERSION = 1 };
void summary_write(FILE *out, const struct compare_summary *runs, uint32_t n);
/* Whether the beginning of a file is that of a baseline. */
bool summary_is_baseline(const char *text, size_t length);
/* The runs it holds, to be freed one by one, then the array; NULL with one sentence where it is damaged. */
struct compare_summary *summary_read(const char *file, const char *text, size_t length, uint32_t *n,
				     struct hwy_err *err);

/* summary_count.c: fills in counts, tables and kernel_ns. */
bool summary_count(struct compare_summary *summary, struct compare_phase *into,
		   struct hwy_analysis *analysis, const struct hwy_phase *phase,
		   const struct hwy_waits *waits, struct hwy_err *err);

#endif
