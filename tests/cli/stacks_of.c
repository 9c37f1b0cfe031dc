/* stacks_of.c - prints the calls of a report, each with its stack: stacks_of FILE.
 *
 * One line a call: its name, then " < function file:line" for each frame, the innermost first.
 */
#include <stdio.h>
#include <string.h>

#include "trace/file.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	struct hwy_err err = {""};
	struct hwy_trace *trace = argc == 2 ? hwy_file_open(argv[1], &err) : NULL;
	if (!trace || !hwy_need(trace, HWY_KIND_BIT(HWY_API), UINT64_MAX, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_API && row < strip->rows; row++) {
			printf("%s", hwy_str(trace, hwy_get(strip, HWY_NAME, row)));
			for (int64_t at = hwy_get(strip, HWY_STACK, row); at > 0;
			     at = trace->stacks[at - 1].parent) {
				const struct hwy_frame *frame =
					&trace->frames[trace->stacks[at - 1].frame];
				printf(" < %s %s:%d", hwy_str(trace, frame->function),
				       base_name(hwy_str(trace, frame->file)), (int)frame->line);
			}
			putchar('\n');
		}
	}
	hwy_trace_free(trace);
	return 0;
}
