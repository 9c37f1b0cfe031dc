/* SPDX-License-Identifier: Apache-2.0 */
/* budget_fuzz.c - any text as a budget of `headway gate`, held against real runs: refused with a line,
 * or judged rule by rule.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/gate.h"

#ifndef FUZZ_CORPUS
#error "FUZZ_CORPUS must name the folder of seeds"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The runs of a baseline, read once. */
static const struct compare_summary **the_runs(uint32_t *n)
{
	static const struct compare_summary **list;
	static uint32_t n_list;
	static char text[1 << 20];
	if (!list) {
		struct hwy_err err;
		FILE *file = fopen(FUZZ_CORPUS "/compare/two.json", "r");
		size_t length = file ? fread(text, 1, sizeof text, file) : 0;
		const struct compare_summary *runs =
			summary_read("two.json", text, length, &n_list, &err);
		if (!runs)
			abort();
		fclose(file);
		list = malloc(n_list * sizeof *list);
		for (uint32_t i = 0; i < n_list; i++)
			list[i] = &runs[i];
	}
	*n = n_list;
	return list;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct compare_budget budget;
	struct compare_gate gate = {0};
	struct hwy_err err = {0};
	struct compare_side side = {0};
	side.runs = the_runs(&side.n);
	bool ok = budget_read(&budget, "budget", (const char *)bytes, size, NULL, &err) &&
		  gate_budget(&gate, &budget, &side, &err);
	assert(ok || (err.text[0] && !strchr(err.text, '\n')));
	gate_free(&gate);
	budget_free(&budget);
	return 0;
}
