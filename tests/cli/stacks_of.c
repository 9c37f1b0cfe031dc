/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_of.c - prints the calls of a report, each with its stack: stacks_of FILE.
 *
 * One line a call: its name, then " < function file:line" for each frame, the innermost first.
 */
#include "print.h"

int main(int argc, char **argv)
{
	struct hwy_trace *trace = open_trace(argc, argv, HWY_KIND_BIT(HWY_API));
	if (!trace)
		return 2;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_API && row < strip->rows; row++) {
			printf("%s", hwy_str(trace, hwy_get(strip, HWY_NAME, row)));
			print_stack(trace, strip, row, " <");
		}
	}
	hwy_trace_free(trace);
	return 0;
}
