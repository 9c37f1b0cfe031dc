/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.c - the numbers that a constraint leaves, as a closed range.
 *
 * The range may hold more than the constraint allows (start > 5 gives 5 …): SQLite checks every
 * row again, and a value that is no number (start > '7') leaves the range as it is. It never
 * holds less.
 */
#include "sql/bounds.h"

#include <math.h>

/* A floating-point number as int64_t; values beyond become the nearest int64_t. */
static int64_t clamp_real(double value)
{
	if (value >= 0x1p63)
		return INT64_MAX;
	return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

void sql_bounds_cut(struct sql_bounds *bounds, char letter, sqlite3_value *value)
{
	int64_t low, high;
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER: low = high = sqlite3_value_int64(value); break;
	case SQLITE_FLOAT:
		low = clamp_real(floor(sqlite3_value_double(value)));
		high = clamp_real(ceil(sqlite3_value_double(value)));
		break;
	default: return;
	}
	if (letter != '<' && low > bounds->low)
		bounds->low = low;
	if (letter != '>' && high < bounds->high)
		bounds->high = high;
}
