/* SPDX-License-Identifier: Apache-2.0 */
/* event_sort.c - sorts millions of ids by 64-bit keys: digit by digit, the lowest digit first,
 * so that the time is in proportion to the number of ids. It pauses (view_pause) between slices
 * of work. */
#include <stdlib.h>

#include "serve/event_table.h"

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	SLICE = 1 << 18, /* elements between two pauses */
};

/* Yields how many bits a value has, up to its highest 1; 0 has none. */
static unsigned key_bits(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

struct half {
	uint64_t *keys;
	uint32_t *ids;
};

static bool sort_digit(const struct view_trace *view, struct half from, struct half to, uint32_t n,
		       unsigned shift, struct hwy_err *err)
{
	uint32_t places[DIGITS] = {0};
	for (uint32_t i = 0; i < n; i++)
		places[from.keys[i] >> shift & (DIGITS - 1)]++;
	for (uint32_t d = 0, sum = 0; d < DIGITS; d++) {
		uint32_t count = places[d];
		places[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i % SLICE == 0 && !view_pause(view, err))
			return false;
		uint32_t place = places[from.keys[i] >> shift & (DIGITS - 1)]++;
		to.keys[place] = from.keys[i];
		to.ids[place] = from.ids[i];
	}
	return true;
}

bool event_sort(const struct view_trace *view, uint64_t *keys, uint32_t *ids, uint32_t n,
		struct hwy_err *err)
{
	uint64_t least = UINT64_MAX, most = 0;
	bool is_sorted = true, ok = true;
	for (uint32_t i = 0; i < n; i++) {
		is_sorted &= i == 0 || keys[i - 1] <= keys[i];
		least = keys[i] < least ? keys[i] : least;
		most = keys[i] > most ? keys[i] : most;
	}
	if (is_sorted)
		return true;
	for (uint32_t i = 0; i < n; i++)
		keys[i] -= least;
	struct half here = {keys, ids},
		    there = {hwy_array(n, sizeof *keys), hwy_array(n, sizeof *ids)};
	const struct half rest = there;
	for (unsigned shift = 0; ok && shift < key_bits(most - least); shift += DIGIT_BITS) {
		ok = sort_digit(view, here, there, n, shift, err);
		struct half swapped = here;
		here = there;
		there = swapped;
	}
	if (ok && here.ids != ids) {
		memcpy(ids, here.ids, n * sizeof *ids);
		memcpy(keys, here.keys, n * sizeof *keys);
	}
	for (uint32_t i = 0; ok && i < n; i++)
		keys[i] += least;
	free(rest.keys);
	free(rest.ids);
	return ok;
}
