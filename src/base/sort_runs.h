/* SPDX-License-Identifier: Apache-2.0 */
/* sort_runs.h - sorts a list that is nearly in order, with little memory.
 *
 * qsort of glibc needs as much memory again as the list has. A list of records, in the order in
 * which they were written, has few elements out of place: this sort copies those parts of it only.
 */
#ifndef HWY_BASE_SORT_RUNS_H
#define HWY_BASE_SORT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether *a must stand before *b; false where they are equal. 'context' is that of
 * hwy_sort_runs. */
typedef bool hwy_is_before(const void *a, const void *b, const void *context);

/* Sorts n elements of 'size' bytes, 8 or 16. Elements that are equal keep their order. */
void hwy_sort_runs(void *list, uint32_t n, size_t size, hwy_is_before *is_before,
		   const void *context);

#endif
