/* SPDX-License-Identifier: Apache-2.0 */
/* counter_data.h - counter data as the mock libcupti writes and reads it (NVIDIA's own layout is not known). */
#ifndef HWY_TESTS_COUNTER_DATA_H
#define HWY_TESTS_COUNTER_DATA_H

#include <stdint.h>

enum { MOCK_COUNTER_MAGIC = 0x4d434450 };

struct mock_counter_data {
	uint32_t magic;
	uint32_t most, n; /* samples or ranges: room, and how many there are */
	uint32_t spare;
	struct mock_counter_range {
		uint64_t start, end; /* ns of the device's clock */
	} ranges[];
};

/* The value of a metric in a range, the same whoever asks: 0 to 100 where the name ends with "pct…elapsed" or ".pct", a
 * clock of 1.98 GHz for ".per_second", 1000 a us for ".sum". */
double mock_counter_value(const char *metric, const struct mock_counter_range *range);

#endif
