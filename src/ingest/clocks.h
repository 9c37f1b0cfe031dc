/* clocks.h - a foreign clock on ours, from moments that are known between two times of ours.
 *
 * A sight says: when the foreign clock showed 'foreign', ours minus it was between 'low' and 'high' (either may
 * be open). The fit is a line of short straight pieces that keeps within all sights, changes as slowly as they
 * allow, and never lets time run backwards.
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
		int64_t foreign, offset; /* what is added to the foreign time */
	} * knots;                       /* in order of time; between them in proportion */
	uint32_t n;
	uint32_t conflicts; /* sights that are not kept */
	int64_t worst;      /* by how much at most */
	int64_t rate;       /* how far the clocks drift apart at most: ns a second */
};

/* Foreign times, lows and highs must lie within ±2^61; sorts the sights. n > 0. */
void clocks_fit(struct clocks_fit *fit, struct clocks_sight *sights, uint32_t n);
/* From moments known on both clocks ('offset' is exact), in any order; sorts them. */
void clocks_join(struct clocks_fit *fit, const struct clocks_knot *moments, uint32_t n);
/* Sights that the fit misses by more than 'slack'. */
uint32_t clocks_misses(const struct clocks_fit *fit, const struct clocks_sight *sights, uint32_t n,
		       int64_t slack);
/* Never decreases with the foreign time. Beyond the knots the nearest one's offset holds. */
int64_t clocks_ours(const struct clocks_fit *fit, int64_t foreign);
void clocks_free(struct clocks_fit *fit);

#endif
