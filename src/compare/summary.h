/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - what one run was like, in a few kB: what `diff` and `gate` compare and `baseline`
 * keeps.
 *
 * A summary holds the phases of a run, each with its step times, the exclusive states of the
 * devices a step, counts, kernels by folded name, and findings with their predictions; and the
 * facts about the machine that show whether two runs can be compared. It is made from an analysis
 * and a diagnosis, or read from a baseline file (docs/ci.md); both give the same numbers.
 *
 * The parts of a phase are integers that add up to its step time exactly (summary_share).
 */
#ifndef HWY_COMPARE_SUMMARY_H
#define HWY_COMPARE_SUMMARY_H

#include <stdio.h>

#include "diagnose/diagnose.h"

/* The states of a device, of which it is in one at a time; idle time is split by its cause. */
enum compare_part {
	PART_COMPUTE,
	PART_COMM,
	PART_COPY,
	PART_FILL,
	PART_IDLE, /* PART_IDLE + an enum gap_cause is the idle time of that cause */
	PARTS = PART_IDLE + GAP_CAUSES
};
/* The names of the parts for people: "compute", "exposed communication", "idle: blocked". */
const char *summary_part_name(unsigned part);
struct compare_phase;
/* Yields what holds the phase back (docs/verdict.md), from the parts of its step alone, which
 * baseline files have, too. */
enum verdict_word summary_verdict(const struct compare_phase *phase);
/* The names of the parts in files: "compute", "exposed_comm", "idle_blocked" … */
extern const char *const summary_part_keys[PARTS];

/* What is counted over the steady steps. New counts are appended; docs/ci.md and metrics.c name
 * them. */
enum compare_count {
	COUNT_WAITS,          /* blocking calls: synchronise calls and copies that block */
	COUNT_SYNCS,          /* blocking calls that waited for work that was still running */
	COUNT_WAITED,         /* ns that the CPU waited in blocking calls */
	COUNT_LAUNCHES,       /* calls that enqueue kernels or graphs */
	COUNT_GRAPH_LAUNCHES, /* calls that enqueue graphs */
	COUNT_KERNELS,
	COUNT_COPIES,
	COUNT_FILLS,
	COUNT_ALLOCS,     /* calls that allocate or free memory */
	COUNT_COPY_BYTES, /* bytes of copies in all directions */
	COUNT_H2D_BYTES,
	COUNT_D2H_BYTES,
	COUNT_PAGEABLE_COPIES,
	COUNT_PAGEABLE_BYTES,
	COUNT_HIDDEN, /* graphs that were recorded as one piece, without their kernels */
	/* Of a job, each times the steady steps of its typical rank; 0 for a rank alone. Filled
	 * in by the command line. */
	COUNT_LATE_RANKS, /* ranks that are late again and again, or get slower with time */
	COUNT_SLOW_LINKS,
	COUNT_RANK_WAITS, /* ns that a rank waits for others, mean or median over the ranks */
	COUNTS
};
extern const char *const summary_count_keys[COUNTS];

/* What a step is made of, by folded name. */
enum compare_table_kind {
	TABLE_KERNELS, /* kernels on the devices */
	TABLE_CALLS,   /* calls into the vendor's library that have a role (flow.h) */
	TABLE_RANGES,  /* annotations on the CPU */
	/* Modules of the model, and scopes outside of modules, by the device work that they
	 * launched; one occurrence is one step. */
	TABLE_MODULES,
	TABLES
};
/* the names of the tables in files: "kernels", … */
extern const char *const summary_table_names[TABLES];

struct compare_row {
	const char *name; /* the folded name (kernel_names.h) */
	uint64_t count;   /* how often the name occurs in the steady steps */
	int64_t ns;       /* ns of all occurrences, summed over devices or threads */
	double deviation; /* standard deviation of the length of one occurrence, in ns */
	double place;     /* mean position in the step: 0 is the step's begin, 1 its end */
	/* A reference (ref.h) to the longest occurrence's span; of a module, to its longest
	 * device work. Not set where the summary was read from a file, or is of a rank. */
	uint32_t span;
};

struct compare_table {
	struct compare_row *rows; /* the rows of the table, the row with most time first */
	uint32_t n;
	uint32_t left_out; /* how many names were left out because they take little time */
};

struct compare_wait {      /* calls that wait for the device, of one name and line */
	const char *call;  /* "clFinish" */
	const char *place; /* "train.py:54"; "" where the recording does not tell */
	uint64_t count;    /* in the steady steps */
};

struct compare_finding {
	const char *id, *title, *place;
	int64_t cost; /* ns that the finding costs a step */
	double share;
	bool is_inside; /* the finding is about the device's own work, as in hwy_finding_kind */
	struct compare_prediction { /* the fields are those of hwy_predicted */
		bool is_known;
		const char *edits;
		/* The ns of a step without the fix, with the fix, and the bar of 'step'. */
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
	const char *name; /* the common part of the steps' marks, or "" */
	bool repeats;     /* false where the whole recording is one step */
	uint32_t n_steps, n_steady, n_devices;
	int64_t step; /* ns: the window divided by the steady steps, rounded down */
	int64_t p10, p50, p90, p99, longest;
	int64_t parts[PARTS]; /* ns of a step by part; the values add up to 'step' */
	/* ns, the lengths of the steady steps in order; where there are more than COMPARE_VALUES
	 * steps, each value is the mean of 'group' neighbours. */
	int64_t *values;
	uint32_t n_values, group;
	int64_t counts[COUNTS];
	struct compare_table tables[TABLES];
	int64_t kernel_ns; /* ns of all kernels in the steady steps */
	/* Mean clock of the multiprocessors while the devices were busy in the steady steps; 0
	 * where it was not recorded. */
	int64_t busy_clock_hz;
	struct compare_finding *findings;
	uint32_t n_findings;
	/* The calls that wait, those that wait most often first; at most COMPARE_ROWS. */
	struct compare_wait *waits;
	uint32_t n_waits;
	/* ns a step of the critical path by class. This and 'plain' are filled in by the command
	 * line, which can replay. */
	struct {
		const char *name;
		int64_t ns;
	} path[COMPARE_PATH];
	uint32_t n_path;
	int64_t plain; /* ns a step without the cost of recording; 0 where not known */
};

struct compare_summary {
	const char *file;    /* the recording or baseline file that the summary comes from */
	const char *program; /* "train.py"; "" where the recording does not say */
	const char *command;
	const char *gpu; /* name of the first device */
	uint32_t n_gpus; /* how many GPUs were used */
	const char *driver, *cuda, *format, *traces, *graph_mode;
	int64_t clock_hz;             /* clock rate of the first device; 0 where it is not known */
	uint64_t lost;                /* records that the recorder lost */
	struct compare_phase *phases; /* the longest first; at most COMPARE_PHASES */
	uint32_t n;
	/* For each phase its index in the analysis; NULL where the summary was read from a file. */
	uint32_t *indexes;
	struct hwy_arena arena;
};

/* Makes a summary. Yields false, with one sentence in err, where there is no device work.
 * diagnosis: NULL for a summary without findings. */
bool summary_make(struct compare_summary *summary, const char *file, struct hwy_analysis *analysis,
		  const struct hwy_diagnosis *diagnosis, struct hwy_err *err);
/* A summary of n steady steps of the main phase, from the step 'first' on (0 is the first steady
 * step). */
bool summary_make_part(struct compare_summary *summary, const char *file,
		       struct hwy_analysis *analysis, uint32_t first, uint32_t n,
		       struct hwy_err *err);
void summary_free(struct compare_summary *summary);

/* Divides n totals by 'divisor' so that the results are integers which add up to the sum of the
 * totals / divisor, rounded down. Each result is the difference of two rounded cumulative sums,
 * less than 1 from its exact value. */
void summary_share(const int64_t *totals, uint32_t n, int64_t divisor, int64_t *shares);

/* Yields the mean over the steady steps of how often the counted event happened in one step. */
static inline double summary_count_per_step(const struct compare_phase *phase,
					    enum compare_count count)
{
	return phase->n_steady ? (double)phase->counts[count] / phase->n_steady : 0;
}

/* ---- baseline files (summary_file.c) --------------------------------------------------------- */

#define BASELINE_KEY "headway_baseline"
enum { BASELINE_VERSION = 1 };
void summary_write(FILE *out, const struct compare_summary *runs, uint32_t n);
/* Whether the beginning of a file is that of a baseline. */
bool summary_is_baseline(const char *text, size_t length);
/* The *n runs of a baseline file; each run, then the array, is to be freed. NULL with one sentence
 * where the file is damaged. */
struct compare_summary *summary_read(const char *file, const char *text, size_t length, uint32_t *n,
				     struct hwy_err *err);

/* summary_count.c: fills in counts, tables and kernel_ns. */
bool summary_count(struct compare_summary *summary, struct compare_phase *into,
		   struct hwy_analysis *analysis, const struct hwy_phase *phase,
		   const struct hwy_waits *waits, struct hwy_err *err);

#endif
