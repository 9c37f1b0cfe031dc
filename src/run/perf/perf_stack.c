/* perf_stack.c - copies of stacks that were kept before need not be kept again.
 *
 * 8 KiB a sample would be nearly all of a recording. A stack is the same as an earlier one of its thread if it
 * begins at the same address and all words that then pointed into code still have their values: return
 * addresses are among them, so the chain of callers is the same. Such a stack is told by its number; the
 * registers are told each time. Behind the last word that points into code there is no caller to be found:
 * that end is not kept at all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"

enum { KNOWN = 16, MOST_WORDS = 192 };

struct known { /* empty: number 0 */
	uint64_t sp;
	uint32_t number;
	uint32_t bytes, words;
	uint16_t at[MOST_WORDS]; /* indexes of the words that point into code */
	uint64_t word[MOST_WORDS];
};

struct perf_stacks { /* of one thread */
	uint32_t next;
	struct known known[KNOWN];
};

static struct perf_stacks *stacks_of(struct perf *perf, uint32_t tid)
{
	uint32_t *at = hwy_map_put(&perf->thread_of, tid, NULL);
	if (!*at) {
		HWY_GROW(perf->threads, perf->n_threads, perf->cap_threads);
		perf->threads[perf->n_threads++] = NULL;
		*at = perf->n_threads;
	}
	if (!perf->threads[*at - 1])
		perf->threads[*at - 1] = hwy_zalloc(sizeof(struct perf_stacks));
	return perf->threads[*at - 1];
}

void perf_stacks_forget(struct perf *perf, uint32_t tid)
{
	const uint32_t *at = hwy_map_get(&perf->thread_of, tid);
	if (!at)
		return;
	free(perf->threads[*at - 1]);
	perf->threads[*at - 1] = NULL;
}

void perf_stacks_free(struct perf *perf)
{
	for (uint32_t i = 0; i < perf->n_threads; i++)
		free(perf->threads[i]);
	free(perf->threads);
	hwy_map_free(&perf->thread_of);
}

static bool perf_stack_is_same(const struct known *known, uint64_t sp, const uint64_t *words,
			       uint32_t bytes)
{
	if (!known->number || known->sp != sp || known->bytes > bytes)
		return false;
	for (uint32_t i = 0; i < known->words; i++)
		if (words[known->at[i]] != known->word[i])
			return false;
	return true;
}

uint32_t perf_stack(struct perf *perf, struct perf_process *process, uint32_t tid, uint64_t sp,
		    const uint64_t *words, uint32_t *bytes, bool *known)
{
	struct perf_stacks *stacks = stacks_of(perf, tid);
	bool ring = perf->run->control->keep_s; /* what was told before may be gone */
	*known = true;
	for (uint32_t i = 0; !ring && i < KNOWN; i++)
		if (perf_stack_is_same(&stacks->known[i], sp, words, *bytes))
			return stacks->known[i].number;
	*known = false;
	struct known *place = &stacks->known[stacks->next];
	*place = (struct known){.sp = sp};
	uint32_t n = *bytes / 8, end = 0, seen = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!perf_process_holds_code(process, words[i]))
			continue;
		if (seen < MOST_WORDS) {
			place->at[seen] = (uint16_t)i;
			place->word[seen] = words[i];
		}
		seen++;
		end = i + 1;
	}
	*bytes = end * 8;
	uint32_t number = ++perf->n_stacks;
	if (seen > MOST_WORDS) /* too many to be told apart from others */
		return number;
	place->words = seen;
	place->bytes = *bytes;
	place->number = number;
	stacks->next = (stacks->next + 1) % KNOWN;
	return number;
}

void perf_stack_unlearn(struct perf *perf, uint32_t tid, uint32_t number)
{
	struct perf_stacks *stacks = stacks_of(perf, tid);
	for (uint32_t i = 0; i < KNOWN; i++)
		if (stacks->known[i].number == number)
			stacks->known[i].number = 0;
}
