/* SPDX-License-Identifier: Apache-2.0 */
/* worker_roofline.c - the worker's side of worker.h: kernels and operators under the roofs of
 * their devices, as a frame.
 *
 * Kernels come from kernel_table.h. What a kernel computed and moved was measured by counters,
 * or else follows from the shapes of its operator; a kernel of which neither is known is sent
 * with its time alone. What an operator computed follows from its shapes. */
#include <stdlib.h>

#include "analyze/kernel_table.h"
#include "base/memory_text.h"
#include "serve/worker.h"

enum {
	/* The most points that are sent, those with the greatest gain: the page draws each of
	 * them. */
	MOST_POINTS = 2000,
};

/* Writes the points of the table. They are copied, because the table has its kernels and its
 * operators in two lists. */
static void put_table(struct hwy_json *json, const struct kernel_table *table)
{
	struct hwy_roofline all = table->roofline;
	const struct hwy_roofline *shapes = &table->shapes;
	all.points = hwy_array((size_t)table->n + shapes->n_points, sizeof *all.points);
	all.n_points = 0;
	for (uint32_t i = 0; i < table->n; i++) {
		struct roofline_point *point = &all.points[all.n_points++];
		*point = table->kernels[i].point;
		point->advice = table->kernels[i].advice;
		point->n_advice = table->kernels[i].n_advice;
	}
	for (uint32_t i = 0; i < shapes->n_points; i++)
		if (shapes->points[i].kind == ROOFLINE_OPERATOR)
			all.points[all.n_points++] = shapes->points[i];
	roofline_sort(&all);
	if (all.n_points > MOST_POINTS)
		all.n_points = MOST_POINTS;
	roofline_put_json(json, &all);
	free(all.points);
}

static void put_failure(struct hwy_json *json, const struct hwy_err *err)
{
	json_begin_object(json);
	json_put_text(json, "state", "failed");
	json_put_text(json, "error", err->text);
	json_end_object(json);
}

void worker_tell_roofline(FILE *out, const struct hwy_analysis *analysis)
{
	struct kernel_table table;
	struct memory_text memory;
	struct hwy_err err;
	memory_text_begin(&memory);
	struct hwy_json json = {.out = memory.out};
	if (kernel_table_make(&table, analysis->trace, &err)) {
		put_table(&json, &table);
		kernel_table_free(&table);
	} else {
		put_failure(&json, &err);
	}
	memory_text_end(&memory);
	worker_tell_frame(out, WORKER_ROOFLINE, memory.text, memory.length);
	free(memory.text);
}
