/* SPDX-License-Identifier: Apache-2.0 */
/* compare_fuzz.c - baselines and budgets of any content: refused, or compared without harm. */
#include <stdlib.h>
#include <string.h>

#include "compare/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void try_budget(const char *text, size_t size, const struct compare_side *side)
{
	struct compare_budget budget;
	struct compare_gate gate = {0};
	struct hwy_err err;
	struct compare_side copy = *side;
	if (budget_read(&budget, "budget", text, size, NULL, &err) && side->n)
		(void)gate_budget(&gate, &budget, &copy, &err);
	gate_free(&gate);
	budget_free(&budget);
}

static void try_diff(struct compare_side *before, struct compare_side *after)
{
	struct compare_diff diff;
	struct compare_gate gate = {0};
	struct hwy_err err;
	struct metric_request wishes[64];
	uint32_t n = 0;
	for (; metrics[n].name && n < 64; n++)
		(void)metric_find(&wishes[n], metrics[n].name, strlen(metrics[n].name), NULL,
				  &gate.arena, &err);
	if (diff_make(&diff, before, after, STATISTICS_RUN_NOISE_BY_DRIFT, &err)) {
		int64_t sum = 0;
		for (unsigned i = 0; i < PARTS; i++)
			sum += diff.parts[i];
		if (sum != diff.change)
			abort();
		(void)gate_baseline(&gate, &diff, wishes, n, 0.03, &err);
	}
	gate_free(&gate);
	diff_free(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct hwy_err err;
	uint32_t n = 0;
	struct compare_summary *runs = NULL;
	if (summary_is_baseline(text, size))
		runs = summary_read("baseline", text, size, &n, &err);
	if (!runs) {
		try_budget(text, size, &(struct compare_side){0});
		return 0;
	}
	/* Each run three times, so that two can stand for three and be compared as runs. */
	const struct compare_summary **sides = malloc(n * STATISTICS_RUNS * sizeof *sides);
	for (uint32_t i = 0; i < n * STATISTICS_RUNS; i++)
		sides[i] = &runs[i % n];
	uint32_t half = (n + 1) / 2;
	struct compare_side before = {.runs = sides, .n = half},
			    after = {.runs = sides + n - half, .n = half};
	try_diff(&before, &after);
	before.n = after.n = n + half;
	after.runs = sides + n;
	try_diff(&before, &after);
	before.n = half;
	static const char rules[] =
		"step.p50 <= 12ms\nkernel[\"a\"].mean <= 80us\ngpu.busy >= 90%\n"
		"findings.forbid = [\"sync-in-loop\"]\n";
	try_budget(rules, sizeof rules - 1, &before);
	for (uint32_t i = 0; i < n; i++)
		summary_free(&runs[i]);
	free(runs);
	free(sides);
	return 0;
}
