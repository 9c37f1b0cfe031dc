/* SPDX-License-Identifier: Apache-2.0 */
/* serving.c - see serving.h. */
#include "analyze/serving.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantile.h"

const char *const serving_units[SERVING_UNITS] = {
	[SERVING_NONE] = "other",
	[SERVING_PREFILL] = "prefill",
	[SERVING_DECODE] = "decode",
	[SERVING_MIXED] = "mixed",
};

/* The number that follows the word in the name, or -1: 3 for "context_" in
 * "execute_context_3(96)_…". */
static long number_behind(const char *name, const char *word)
{
	const char *found = strstr(name, word);
	const char *digits = found ? found + strlen(word) : "";
	return isdigit((unsigned char)*digits) ? strtol(digits, NULL, 10) : -1;
}

/* The number that stands before the words in the name, or -1: 3 for " ctx reqs" in "…: 3 ctx
 * reqs, 5 gen reqs". */
static long number_before(const char *name, const char *words)
{
	const char *found = strstr(name, words);
	const char *digits = found;
	while (digits && digits > name && isdigit((unsigned char)digits[-1]))
		digits--;
	return digits != found ? strtol(digits, NULL, 10) : -1;
}

static enum serving_unit unit_of_counts(long prompts, long tokens)
{
	if (prompts > 0)
		return tokens > 0 ? SERVING_MIXED : SERVING_PREFILL;
	return tokens > 0 ? SERVING_DECODE : SERVING_NONE;
}

enum serving_unit serving_unit_of(const char *name)
{
	static const struct {
		const char *prompts, *tokens;
		long (*count)(const char *name, const char *words);
	} counted[] = {
		{"context_", "generation_", number_behind}, /* vLLM */
		{"new_", "cached_", number_behind},         /* vLLM, other versions */
		{" ctx reqs", " gen reqs", number_before},  /* TensorRT-LLM */
	};
	static const struct {
		const char *word;
		enum serving_unit unit;
	} words[] = {
		{"[EXTEND", SERVING_PREFILL}, /* SGLang */
		{"[MIXED", SERVING_MIXED},
		{"prefill", SERVING_PREFILL},
		{"decode", SERVING_DECODE},
	};
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
		long prompts = counted[i].count(name, counted[i].prompts);
		long tokens = counted[i].count(name, counted[i].tokens);
		if (prompts >= 0 && tokens >= 0)
			return unit_of_counts(prompts, tokens);
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i].word))
			return words[i].unit;
	return SERVING_NONE;
}

struct serving_times serving_times_of(const struct hwy_trace *trace, const struct hwy_phase *phase)
{
	struct serving_times times = {0};
	int64_t *lengths = hwy_array(phase->n_steady, sizeof *lengths);
	const struct phase_step *steady = &phase->steps[phase->first_steady];
	for (enum serving_unit unit = SERVING_PREFILL; unit < SERVING_UNITS; unit++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < phase->n_steady; i++) {
			if (steady[i].name == HWY_NONE ||
			    serving_unit_of(hwy_str(trace, steady[i].name)) != unit)
				continue;
			lengths[n] = steady[i].device.to - steady[i].device.from;
			times.total[unit] += lengths[n++];
		}
		hwy_sort(lengths, n);
		times.n[unit] = n;
		times.median[unit] = n ? hwy_median_upper(lengths, n) : 0;
	}
	free(lengths);
	return times;
}
