/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_measured_test.c - kernels that were measured on an H200: what fewer counters still tell. */
#include "make_trace.h"

#include <math.h>

#include "analyze/kernel_table.h"
#include "recordings.h"
#include "run/kernels/kernels.h"

static struct hwy_err err;

static struct kernel_table table_of(struct hwy_trace *trace)
{
	struct kernel_table table;
	assert_true(kernel_table_make(&table, trace, &err));
	return table;
}

/* Leaves the counters of --set roofline. */
static void keep_roofline(struct hwy_trace *trace)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < trace->n_measures; i++)
		if (kernels_metric_is_of_roofline(hwy_str(trace, trace->measures[i].metric)))
			trace->measures[n++] = trace->measures[i];
	assert_true(n > 0 && n < trace->n_measures);
	trace->n_measures = n;
}

static void the_counters_of_the_roofline_tell_the_same_bounds_and_gains(void **state)
{
	static const char *const names[] = {"gpu/twelve_own.hwy", "gpu/twelve_torch.hwy"};
	for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
		struct hwy_trace *full = recording_open(names[f], "/nowhere"),
				 *less = recording_open(names[f], "/nowhere");
		assert_non_null(full);
		keep_roofline(less);
		struct kernel_table all = table_of(full), some = table_of(less);
		assert_int_equal(all.n, some.n);
		for (uint32_t i = 0; i < all.n; i++) {
			assert_string_equal(all.kernels[i].point.name, some.kernels[i].point.name);
			assert_string_equal(kernel_bound_name(&all.kernels[i]),
					    kernel_bound_name(&some.kernels[i]));
			assert_int_equal(all.kernels[i].point.gain_ns,
					 some.kernels[i].point.gain_ns);
			/* No reason is made up of those that were not read. */
			for (int s = 0; s < COUNTERS_STALLS && some.kernels[i].is_measured; s++)
				assert_true(isnan(some.kernels[i].counters.stalls[s]));
		}
		kernel_table_free(&all);
		kernel_table_free(&some);
		hwy_trace_free(full);
		hwy_trace_free(less);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counters_of_the_roofline_tell_the_same_bounds_and_gains),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
