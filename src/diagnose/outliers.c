/* SPDX-License-Identifier: Apache-2.0 */
/* outliers.c - steps whose length is far from the median, and which part of them makes the
 * difference.
 *
 * The parts of a step are its busy time and its idle time by cause. The part that makes the
 * difference is the one that exceeds its own median over the steady steps by most.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/quantile.h"
#include "base/ref.h"
#include "diagnose/case.h"

enum { MOST_OUTLIERS = 10, PARTS = GAP_CAUSES + 1, BUSY = GAP_CAUSES };

/* ns of each part of each steady step, over all devices: parts[step * PARTS + part]. To be
 * freed. */
static int64_t *outliers_measure(const struct hwy_case *c)
{
	const struct hwy_phase *phase = c->phase;
	int64_t *parts = hwy_zarray((size_t)phase->n_steady * PARTS, sizeof *parts);
	for (uint32_t i = 0; i < phase->n_steady; i++)
		parts[i * PARTS + BUSY] = phase->steps[phase->first_steady + i].busy;
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		uint32_t index = gap->step - phase->first_steady;
		if (gap->step >= phase->first_steady && index < phase->n_steady &&
		    c->uses[gap->device])
			parts[index * PARTS + gap->cause] += gap->at.to - gap->at.from;
	}
	return parts;
}

static void find_medians(const struct hwy_case *c, const int64_t *parts, int64_t medians[PARTS])
{
	uint32_t n = c->phase->n_steady;
	int64_t *column = hwy_array(n, sizeof *column);
	for (uint32_t part = 0; part < PARTS; part++) {
		for (uint32_t i = 0; i < n; i++)
			column[i] = parts[i * PARTS + part];
		hwy_sort(column, n);
		medians[part] = hwy_median_upper(column, n);
	}
	free(column);
}

/* Yields the name of the longest gap of a cause in a step; "" where that gap has no name. */
static const char *outliers_name_of(const struct hwy_case *c, uint32_t step, uint32_t cause)
{
	const struct hwy_gap *longest = NULL;
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->step == step && gap->cause == cause &&
		    (!longest || gap->at.to - gap->at.from > longest->at.to - longest->at.from))
			longest = gap;
	}
	if (!longest)
		return "";
	if (hwy_ref32_is_set(longest->span))
		return case_name(c, hwy_ref32_index(longest->span));
	return longest->culprit == FLOW_NONE ? ""
					     : case_name(c, c->flow->calls[longest->culprit].span);
}

static struct hwy_outlier explain(const struct hwy_case *c, uint32_t index, const int64_t *parts,
				  const int64_t *medians)
{
	uint32_t step = c->phase->first_steady + index, top = 0;
	const struct hwy_interval *window = &c->phase->steps[step].device;
	for (uint32_t part = 1; part < PARTS; part++)
		if (parts[index * PARTS + part] - medians[part] >
		    parts[index * PARTS + top] - medians[top])
			top = part;
	return (struct hwy_outlier){
		.step = step,
		.ns = window->to - window->from,
		.excess = parts[index * PARTS + top] - medians[top],
		.part = top == BUSY ? HWY_KEY("busy") : gap_cause_names[top],
		.name = top == BUSY ? "" : outliers_name_of(c, step, top),
	};
}

static int compare_outliers(const void *a, const void *b)
{
	const struct hwy_outlier *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->step > y->step) - (x->step < y->step);
}

void outliers_find(struct hwy_case *c, struct hwy_outlook *verdict)
{
	const struct hwy_phase *phase = c->phase;
	struct hwy_outlier *found = NULL;
	uint32_t n = 0, cap = 0;
	for (uint32_t i = 0; i < phase->n_steady; i++)
		if (phase->steps[phase->first_steady + i].is_outlier) {
			const struct hwy_interval *window =
				&phase->steps[phase->first_steady + i].device;
			HWY_GROW(found, n, cap);
			found[n++] =
				(struct hwy_outlier){.step = i, .ns = window->to - window->from};
		}
	if (n == 0)
		return;
	qsort(found, n, sizeof *found, compare_outliers);
	n = n < MOST_OUTLIERS ? n : MOST_OUTLIERS;
	int64_t medians[PARTS], *parts = outliers_measure(c);
	find_medians(c, parts, medians);
	verdict->outliers = hwy_arena_array(&c->diagnosis->arena, n, sizeof *verdict->outliers);
	verdict->n_outliers = n;
	for (uint32_t i = 0; i < n; i++)
		verdict->outliers[i] = explain(c, found[i].step, parts, medians);
	free(parts);
	free(found);
}
