/* SPDX-License-Identifier: Apache-2.0 */
/* worker_roofline.c - the worker's side of worker.h: kernels and operators under the roofs of their devices, as a frame. */
#include <stdlib.h>

#include "analyze/roofline.h"
#include "base/memory_text.h"
#include "serve/worker.h"

enum {
	/* The most points that are sent, those with the greatest gain: the page draws each of them. */
	MOST_POINTS = 2000,
};

static void put_failure(struct hwy_json *json, const struct hwy_err *err)
{
	json_begin_object(json);
	json_put_text(json, "state", "failed");
	json_put_text(json, "error", err->text);
	json_end_object(json);
}

void worker_tell_roofline(FILE *out, const struct hwy_analysis *analysis)
{
	struct hwy_roofline roofline;
	struct memory_text memory;
	struct hwy_err err;
	memory_text_begin(&memory);
	struct hwy_json json = {.out = memory.out};
	if (roofline_from_shapes(&roofline, analysis->trace, NULL, &err)) {
		roofline_sort(&roofline);
		if (roofline.n_points > MOST_POINTS)
			roofline.n_points = MOST_POINTS;
		roofline_put_json(&json, &roofline);
	} else {
		put_failure(&json, &err);
	}
	roofline_free(&roofline);
	memory_text_end(&memory);
	worker_tell_frame(out, WORKER_ROOFLINE, memory.text, memory.length);
	free(memory.text);
}
