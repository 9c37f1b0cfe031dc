/* SPDX-License-Identifier: Apache-2.0 */
/* perf_stack.c - recognises stacks that were recorded before, so that they need not be recorded
 * again.
 *
 * 8 KiB a sample would be nearly all of a recording. A stack is the same as an earlier one of its
 * thread if it begins at the same address and all words that pointed into code then still have
 * their values: return addresses are among these words, so the chain of callers is the same. Such a
 * stack is recorded as the earlier stack's number; the registers are recorded each time. Behind the
 * last word that points into code there is no caller to be found: that end of a stack is not kept
 * at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"

enum { KEPT_STACKS = 16, MOST_WORDS = 192 };

struct kept_stack { /* a stack that was recorded whole; number 0: the place is empty */
	uint64_t sp;
	uint32_t number;
	uint32_t bytes, words;
	uint16_t index[MOST_WORDS]; /* indexes of the words in the stack that point into code */
	uint64_t word[MOST_WORDS];
};

struct perf_stacks {   /* the stacks that are kept of one thread */
	uint32_t next; /* index in 'kept' of the place that is overwritten next */
	struct kept_stack kept[KEPT_STACKS];
};

static struct perf_stacks *thread_stacks(struct perf *perf, uint32_t tid)
{
	uint32_t *ref = hwy_map_put(&perf->thread_of, tid, NULL);
	if (!hwy_ref32_is_set(*ref)) {
		HWY_GROW(perf->threads, perf->n_threads, perf->cap_threads);
		*ref = hwy_ref32(perf->n_threads);
		perf->threads[perf->n_threads++] = NULL;
	}
	struct perf_stacks **stacks = &perf->threads[hwy_ref32_index(*ref)];
	if (!*stacks)
		*stacks = hwy_zalloc(sizeof **stacks);
	return *stacks;
}

void perf_stack_forget_thread(struct perf *perf, uint32_t tid)
{
	const uint32_t *ref = hwy_map_get(&perf->thread_of, tid);
	if (!ref)
		return;
	struct perf_stacks **stacks = &perf->threads[hwy_ref32_index(*ref)];
	free(*stacks);
	*stacks = NULL;
}

void perf_stack_free(struct perf *perf)
{
	for (uint32_t i = 0; i < perf->n_threads; i++)
		free(perf->threads[i]);
	free(perf->threads);
	hwy_map_free(&perf->thread_of);
}

static bool perf_stack_is_same(const struct kept_stack *kept, uint64_t sp, const uint64_t *words,
			       uint32_t bytes)
{
	if (!kept->number || kept->sp != sp || kept->bytes > bytes)
		return false;
	for (uint32_t i = 0; i < kept->words; i++)
		if (words[kept->index[i]] != kept->word[i])
			return false;
	return true;
}

uint32_t perf_stack_number(struct perf *perf, struct perf_process *process, uint32_t tid,
			   uint64_t sp, const uint64_t *words, uint32_t *bytes, bool *is_kept)
{
	struct perf_stacks *stacks = thread_stacks(perf, tid);
	/* A ring may have overwritten a stack that was recorded before. */
	bool ring = perf->run->control->keep_s;
	*is_kept = true;
	for (uint32_t i = 0; !ring && i < KEPT_STACKS; i++)
		if (perf_stack_is_same(&stacks->kept[i], sp, words, *bytes))
			return stacks->kept[i].number;
	*is_kept = false;
	struct kept_stack *place = &stacks->kept[stacks->next];
	*place = (struct kept_stack){.sp = sp};
	uint32_t n = *bytes / 8, end = 0, seen = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!perf_tasks_holds_code(process, words[i]))
			continue;
		if (seen < MOST_WORDS) {
			place->index[seen] = (uint16_t)i;
			place->word[seen] = words[i];
		}
		seen++;
		end = i + 1;
	}
	*bytes = end * 8;
	uint32_t number = ++perf->n_stacks;
	/* Too many words point into code to compare all: the stack is not kept. */
	if (seen > MOST_WORDS)
		return number;
	place->words = seen;
	place->bytes = *bytes;
	place->number = number;
	stacks->next = (stacks->next + 1) % KEPT_STACKS;
	return number;
}

void perf_stack_forget_number(struct perf *perf, uint32_t tid, uint32_t number)
{
	struct perf_stacks *stacks = thread_stacks(perf, tid);
	for (uint32_t i = 0; i < KEPT_STACKS; i++)
		if (stacks->kept[i].number == number)
			stacks->kept[i].number = 0;
}
