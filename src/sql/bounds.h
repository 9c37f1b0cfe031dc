/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the numbers that the constraints of a query leave, as a closed range. */
#ifndef HWY_SQL_BOUNDS_H
#define HWY_SQL_BOUNDS_H

#include <sqlite3.h>
#include <stdint.h>

struct sql_bounds {
	int64_t low, high; /* both belong to the range; low > high: no number does */
};
#define SQL_UNBOUNDED                                                                              \
	{                                                                                          \
		INT64_MIN, INT64_MAX                                                               \
	}

/* Cuts the range by a constraint: '=' value, '<' at most the value, '>' at least the value. */
void sql_bounds_cut(struct sql_bounds *bounds, char letter, sqlite3_value *value);

#endif
