/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.h - converts times of a foreign clock (an OpenCL device's) to our clock (CLOCK_MONOTONIC).
 *
 * A sight is one observation: when the foreign clock showed 'foreign', the offset (our time minus
 * the foreign time) was between 'low' and 'high'; either bound may be open. The fit is a line of
 * straight pieces between knots. The line keeps within all sights, changes as slowly as they allow,
 * and never lets time run backwards. All times are in ns.
 */
#ifndef HWY_INGEST_CLOCKS_H
#define HWY_INGEST_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCKS_OPEN_LOW (-(INT64_C(1) << 61))
#define CLOCKS_OPEN_HIGH (INT64_C(1) << 61)

struct clocks_sight {
	int64_t foreign, low, high;
};
struct clocks_fit {
	struct clocks_knot {
		int64_t foreign, offset; /* a time on our clock is 'foreign' + 'offset' */
	} * knots; /* sorted by 'foreign'; between two knots the offset is interpolated */
	uint32_t n;
	uint32_t conflicts; /* how many sights the line does not pass between 'low' and 'high' of */
	int64_t worst;      /* the most ns by which the line misses a sight */
	int64_t rate;       /* the most ns per second by which the offset may change */
};

/* Fits a line to sights. Foreign times, lows and highs must lie within ±2^61; n > 0. Sorts the
 * sights. */
void clocks_fit(struct clocks_fit *fit, struct clocks_sight *sights, uint32_t n);
/* Makes a line through moments whose times on both clocks are known exactly, in any order. */
void clocks_join(struct clocks_fit *fit, const struct clocks_knot *moments, uint32_t n);
/* Yields the number of sights that the fit misses by more than 'slack' ns. */
uint32_t clocks_misses(const struct clocks_fit *fit, const struct clocks_sight *sights, uint32_t n,
		       int64_t slack);
/* A foreign time on our clock; never decreases with the foreign time. Beyond the knots the nearest
 * knot's offset holds. */
int64_t clocks_to_ours(const struct clocks_fit *fit, int64_t foreign);
void clocks_free(struct clocks_fit *fit);

#endif
