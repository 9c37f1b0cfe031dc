/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_evaluate.c - counter data of launches into values, in a child process.
 *
 * A counter that cannot be evaluated is not a number; it never takes others with it: they are
 * evaluated together, and one by one where that fails.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/counters/cupti_host.h"
#include "run/kernels/kernels_internal.h"

struct evaluation {
	const struct kernels_order *order;
	const struct kernels_rows *rows;
	const struct kernels_answers *answers;
	double *values; /* shared: for each image the metrics of the order */
};

static void evaluate_image(const struct evaluation *e, struct cupti_host *host,
			   const struct kernels_image *image, double *values)
{
	const struct kernels_order *order = e->order;
	const struct kernels_row *row = &e->rows->rows[image->row];
	const char *names[KERNELS_METRICS] = {NULL};
	uint32_t which[KERNELS_METRICS], n = 0;
	double got[KERNELS_METRICS];
	struct hwy_err ignored;
	for (uint32_t i = 0; i < order->n_metrics; i++)
		if (row->has[i]) {
			which[n] = i;
			names[n++] = order->metrics[i];
		}
	bool together =
		cupti_host_evaluate(host, image->data, image->bytes, 0, names, n, got, &ignored);
	for (uint32_t i = 0; i < n; i++) {
		if (!together && !cupti_host_evaluate(host, image->data, image->bytes, 0, &names[i],
						      1, &got[i], &ignored))
			got[i] = NAN;
		values[which[i]] = got[i];
	}
}

/* Runs in a child process. */
static bool evaluate_all(void *argument, struct hwy_err *err)
{
	const struct evaluation *e = argument;
	struct cupti_library *library = cupti_library_open(NULL, err);
	if (!library)
		return false;
	struct cupti_host *hosts[KERNELS_ROWS] = {0};
	for (uint32_t i = 0; i < e->answers->n_images; i++) {
		const struct kernels_image *image = &e->answers->images[i];
		if (image->row >= e->rows->n)
			continue;
		struct cupti_host **host = &hosts[image->row];
		if (!*host)
			*host = cupti_host_make(library, ABI_CUPTI_RANGE_PROFILER,
						e->rows->rows[image->row].name, NULL, err);
		if (!*host)
			return false;
		evaluate_image(e, *host, image, e->values + (size_t)i * e->order->n_metrics);
	}
	return true;
}

static void add_launch(const struct evaluation *e, uint32_t index, struct kernels_found *found)
{
	const struct kernels_image *image = &e->answers->images[index];
	uint32_t n = e->order->n_metrics;
	if (image->target >= e->order->n_targets || image->row >= e->rows->n)
		return;
	HWY_GROW(found->launches, found->n_launches, found->cap_launches);
	found->launches[found->n_launches++] = (struct kernels_launch){
		.target = image->target,
		.device = image->device,
		.pid = image->pid,
		.ordinal = image->ordinal,
		.values = hwy_copy_array(e->values + (size_t)index * n, n, sizeof(double)),
	};
}

bool kernels_evaluate(const struct kernels_order *order, const struct kernels_rows *rows,
		      const struct kernels_answers *answers, struct kernels_found *found,
		      struct hwy_err *err)
{
	size_t n = (size_t)answers->n_images * order->n_metrics, bytes = n * sizeof(double);
	struct evaluation e = {order, rows, answers, kernels_shared(bytes)};
	if (!e.values)
		return hwy_fail(err, "no memory for the values of %u launches", answers->n_images);
	for (size_t i = 0; i < n; i++)
		e.values[i] = NAN;
	bool done = answers->n_images == 0 || kernels_apart(evaluate_all, &e, err);
	for (uint32_t i = 0; done && i < answers->n_images; i++)
		add_launch(&e, i, found);
	kernels_unshare(e.values, bytes);
	return done;
}
