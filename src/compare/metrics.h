/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - the numbers of a summary by name: what a gate can hold a run to.
 *
 * A name is one of 'metrics', or kernel["PART OF ITS NAME"].mean, .time, .count or .share. Stable
 * metrics do not depend on the speed of the machine: counts, bytes, findings and shares.
 */
#ifndef HWY_COMPARE_METRICS_H
#define HWY_COMPARE_METRICS_H

#include "base/say.h"
#include "compare/summary.h"

enum metric_kind { METRIC_TIME, METRIC_SHARE, METRIC_COUNT, METRIC_BYTES };

struct metric {
	const char *name;
	enum metric_kind kind;
	bool is_stable;
	bool more_is_better;
	const char *about;
	unsigned which; /* which time, part or count of its family the metric is */
	double (*value)(const struct compare_summary *run, const struct compare_phase *phase,
			unsigned which);
};
extern const struct metric metrics[]; /* all metrics; an element whose name is NULL ends the list */

struct metric_request {   /* a metric as somebody asked for it */
	const char *text; /* the request as the user wrote it */
	const struct metric *metric;
	const char *kernel; /* the part of a kernel's name in kernel["…"], else NULL */
};

/* Finds the known word that the user probably meant, or NULL; the command line passes
 * cli_nearest. */
typedef const char *metric_nearest(const char *word, const char *const *known);

/* Finds a metric by its name. False with one sentence that names the nearest known one. Texts are
 * in the arena. */
bool metric_find(struct metric_request *request, const char *text, size_t length,
		 metric_nearest *nearest, struct hwy_arena *arena, struct hwy_err *err);
/* The metric's value in a phase of a run. False where the run has no such kernel. */
bool metric_value(const struct metric_request *request, const struct compare_summary *run,
		  const struct compare_phase *phase, double *value, struct hwy_err *err);

/* Yields a value with its unit as text for people: "10.4 ms", "92.1 %", "12", "16.8 MB". */
struct hwy_words metric_text(enum metric_kind kind, double value);
/* Reads a value with its unit, "12ms", "90%", "0" or "16MB", for a metric of this kind; false with
 * one sentence. */
bool metric_read(enum metric_kind kind, const char *text, size_t length, double *value,
		 struct hwy_err *err);

#endif
