/* SPDX-License-Identifier: Apache-2.0 */
/* rank.c - see rank.h. */
#include "whatif/rank.h"

#include <stdlib.h>

#define LEAST_GAIN_SHARE 0.005

static int by_step(const void *a, const void *b)
{
	const struct rank_entry *x = a, *y = b;
	return (x->alone.step > y->alone.step) - (x->alone.step < y->alone.step);
}

/* Yields the entry that gains most together with the entries in the stack; rank->n where no entry
 * gains LEAST_GAIN_SHARE. */
static uint32_t best_beside(const struct rank *rank, const struct whatif *w,
			    struct whatif_edit *edits, int64_t step,
			    struct whatif_prediction *prediction)
{
	uint32_t best = rank->n;
	int64_t least = step - (int64_t)((double)w->base.step * LEAST_GAIN_SHARE);
	for (uint32_t i = 0; i < rank->n; i++) {
		struct whatif_prediction one;
		struct hwy_err err;
		edits[rank->n_stack] = rank->entries[i].edit;
		if (rank->entries[i].is_stacked ||
		    !whatif_predict(w, edits, rank->n_stack + 1, &one, &err) || one.step >= least)
			continue;
		least = one.step;
		best = i;
		*prediction = one;
	}
	return best;
}

static void stack_up(struct rank *rank, const struct whatif *w)
{
	struct whatif_edit *edits = hwy_array(rank->n, sizeof *edits);
	int64_t step = w->base.step;
	rank->stack = hwy_array(rank->n, sizeof *rank->stack);
	while (rank->n_stack < rank->n) {
		struct whatif_prediction prediction;
		uint32_t best = best_beside(rank, w, edits, step, &prediction);
		if (best == rank->n)
			break;
		struct rank_entry *entry = &rank->entries[best];
		entry->is_stacked = true;
		entry->stacked = prediction;
		step = prediction.step;
		edits[rank->n_stack] = entry->edit;
		rank->stack[rank->n_stack++] = best;
	}
	free(edits);
}

void rank_edits(struct rank *rank, const struct whatif *w, const struct whatif_edit *candidates,
		uint32_t n)
{
	*rank = (struct rank){.entries = hwy_zarray(n, sizeof *rank->entries)};
	for (uint32_t i = 0; i < n; i++) {
		struct hwy_err err;
		struct rank_entry *entry = &rank->entries[rank->n];
		entry->edit = candidates[i];
		if (whatif_predict(w, &candidates[i], 1, &entry->alone, &err))
			rank->n++;
	}
	qsort(rank->entries, rank->n, sizeof *rank->entries, by_step);
	stack_up(rank, w);
}

void rank_free(struct rank *rank)
{
	free(rank->entries);
	free(rank->stack);
	*rank = (struct rank){0};
}
