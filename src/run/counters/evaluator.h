/* SPDX-License-Identifier: Apache-2.0 */
/* evaluator.h - many samples of counter data into the values of one set of metrics, fast.
 *
 * The names of the metrics are looked up once. CUPTI's own evaluation (cupti_host_evaluate) yields the same values
 * and is used where libnvperf_host lacks what is needed. An evaluator belongs to one thread; evaluators of
 * different threads may work at the same time.
 */
#ifndef HWY_RUN_COUNTERS_EVALUATOR_H
#define HWY_RUN_COUNTERS_EVALUATOR_H

#include "run/counters/cupti_host.h"

struct evaluator;

/* Makes an evaluator for 'n' metrics of a chip. The texts, the availability image and the library must outlive
 * it. 'data' is an initialised image of the counter data to come: it has the device's number of SMs and such. */
struct evaluator *evaluator_make(const struct cupti_library *library,
				 enum abi_cupti_profiler profiler, const char *chip,
				 const uint8_t *availability, const uint8_t *data, size_t bytes,
				 const char *const *metrics, size_t n, struct hwy_err *err);
/* Writes the n values of one sample; NaN where the sample does not say. */
bool evaluator_values(struct evaluator *evaluator, const uint8_t *data, size_t bytes, size_t sample,
		      double *values, struct hwy_err *err);
bool evaluator_is_fast(const struct evaluator *evaluator); /* false: CUPTI's own way is used */
void evaluator_free(struct evaluator *evaluator);

#endif
