/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.c - see clocks.h.
 *
 * With a rate R that bounds how fast the offset can change, each sight narrows all others: an
 * offset that was at least L at one moment is at least L - R·t a time t away from it. Two passes
 * over the sights give every sight the narrowest bounds that follow from all of them; from sight to
 * sight both bounds then change by at most R·t. The middle of the bounds is the fit: it keeps
 * within every sight and changes by at most R·t. Of the rates below, the smallest that leaves no
 * sight without room is taken, so that a steady clock gets a steady fit. All arithmetic is in
 * integers.
 */
#include "ingest/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

/* Quartz crystals differ by up to 100 ns a second, time servers slew a clock by up to 500 ns a
 * second. */
static const int64_t RATES_NS_PER_S[] = {2, 20, 100, 500, 2000};
enum { RATES = sizeof RATES_NS_PER_S / sizeof *RATES_NS_PER_S };

static int clocks_by_time(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* By how many ns the offset may change in 'time' ns: rounded up, but never more than 'time', or
 * time would run backwards. */
static int64_t most_change(int64_t time, int64_t rate)
{
	return (int64_t)(((__int128)time * rate + 999999999) / 1000000000);
}

static void narrow_sight(struct clocks_sight *sight, const struct clocks_sight *by, int64_t slack)
{
	if (by->low > CLOCKS_OPEN_LOW && by->low - slack > sight->low)
		sight->low = by->low - slack;
	if (by->high < CLOCKS_OPEN_HIGH && by->high + slack < sight->high)
		sight->high = by->high + slack;
}

static void narrow_all(struct clocks_sight *sights, uint32_t n, int64_t rate)
{
	for (uint32_t i = 1; i < n; i++)
		narrow_sight(&sights[i], &sights[i - 1],
			     most_change(sights[i].foreign - sights[i - 1].foreign, rate));
	for (uint32_t i = n - 1; i-- > 0;)
		narrow_sight(&sights[i], &sights[i + 1],
			     most_change(sights[i + 1].foreign - sights[i].foreign, rate));
}

static int64_t middle(const struct clocks_sight *sight)
{
	if (sight->low <= CLOCKS_OPEN_LOW)
		return sight->high >= CLOCKS_OPEN_HIGH ? 0 : sight->high;
	if (sight->high >= CLOCKS_OPEN_HIGH)
		return sight->low;
	/* The sum does not overflow: 'low' and 'high' are within ±2^62. */
	int64_t sum = sight->low + sight->high;
	return sum >> 1; /* the shift rounds down, negative sums too */
}

static void count_misses(struct clocks_fit *fit, const struct clocks_sight *sights, uint32_t n)
{
	fit->conflicts = 0;
	fit->worst = 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t offset = fit->knots[i].offset, miss = 0;
		if (offset < sights[i].low)
			miss = sights[i].low - offset;
		else if (offset > sights[i].high)
			miss = offset - sights[i].high;
		fit->conflicts += miss > 0;
		fit->worst = miss > fit->worst ? miss : fit->worst;
	}
}

void clocks_fit(struct clocks_fit *fit, struct clocks_sight *sights, uint32_t n)
{
	struct clocks_sight *narrowed = hwy_array(n, sizeof *narrowed);
	*fit = (struct clocks_fit){.knots = hwy_array(n, sizeof *fit->knots), .n = n};
	qsort(sights, n, sizeof *sights, clocks_by_time);
	for (int r = 0; r < RATES; r++) {
		memcpy(narrowed, sights, n * sizeof *narrowed);
		narrow_all(narrowed, n, RATES_NS_PER_S[r]);
		for (uint32_t i = 0; i < n; i++)
			fit->knots[i] =
				(struct clocks_knot){sights[i].foreign, middle(&narrowed[i])};
		fit->rate = RATES_NS_PER_S[r];
		count_misses(fit, sights, n);
		if (fit->conflicts == 0)
			break;
	}
	free(narrowed);
}

void clocks_join(struct clocks_fit *fit, const struct clocks_knot *moments, uint32_t n)
{
	*fit = (struct clocks_fit){.knots = hwy_copy_array(moments, n, sizeof *moments), .n = n};
	qsort(fit->knots, n, sizeof *fit->knots, clocks_by_time);
}

static int64_t offset_at(const struct clocks_fit *fit, int64_t foreign)
{
	uint32_t next = HWY_FIRST(i, 0u, fit->n, fit->knots[i].foreign > foreign);
	if (next == 0)
		return fit->knots[0].offset;
	const struct clocks_knot *a = &fit->knots[next - 1], *b = &fit->knots[next];
	if (next == fit->n)
		return a->offset;
	__int128 part = (__int128)(b->offset - a->offset) * (foreign - a->foreign);
	int64_t time = b->foreign - a->foreign;
	__int128 share = part / time;
	/* A negative share is rounded down too. */
	return a->offset + (int64_t)(share - (part % time < 0));
}

int64_t clocks_to_ours(const struct clocks_fit *fit, int64_t foreign)
{
	return foreign + offset_at(fit, foreign);
}

uint32_t clocks_misses(const struct clocks_fit *fit, const struct clocks_sight *sights, uint32_t n,
		       int64_t slack)
{
	uint32_t misses = 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t offset = offset_at(fit, sights[i].foreign);
		misses += offset < sights[i].low - slack || offset > sights[i].high + slack;
	}
	return misses;
}

void clocks_free(struct clocks_fit *fit)
{
	free(fit->knots);
	*fit = (struct clocks_fit){0};
}
