/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - numbers as text for people. Every function names its definition; the result is a small
 * value:
 *
 *   printf("%s of %s\n", hwy_say_time3(585000).text, hwy_say_bytes3(1500000).text); // 585 µs of 1.50 MB
 *
 * "3" in a name: three significant digits, but all digits before the point (5.85, 58.5, 585);
 * "4": four of them. Minus signs are '-' in plain numbers and "−" (U+2212) where a change is
 * told. Texts are UTF-8.
 */
#ifndef HWY_BASE_SAY_H
#define HWY_BASE_SAY_H

#include <stdbool.h>
#include <stdint.h>

struct hwy_words {
	char text[64];
};

/* ---- times ----------------------------------------------------------------------------------- */

struct hwy_words hwy_say_time3(int64_t ns);        /* "0 ns", "585 µs", "10.4 ms", "-1.50 s" */
struct hwy_words hwy_say_time3_signed(int64_t ns); /* "0", "811 µs", "−811 µs" */
struct hwy_words hwy_say_time3_change(int64_t ns); /* "0", "+811 µs", "−811 µs" */
struct hwy_words hwy_say_time4(int64_t ns); /* "7 ns", "4.812 s", "-10.40 ms"; exact rounding */
/* Yields a threshold in the largest unit that divides it: "30 µs", "2 s"; else as hwy_say_time4
 * does. */
struct hwy_words hwy_say_time_whole(int64_t ns);
/* Yields a place on a ruler in the unit that fits the distance 'tick' between marks: "0", "1500 µs"
 * (no utf8: "1500 us"). */
struct hwy_words hwy_say_time_on_ruler(int64_t ns, int64_t tick, bool utf8);
struct hwy_words hwy_say_wall_clock(int64_t unix_ns); /* "2025-11-02 14:03:22 UTC" */

/* ---- shares: 0.069 is 6.9 % ------------------------------------------------------------------ */

struct hwy_words hwy_say_share(double share);          /* "6.9 %", "69 %", "99.6 %" */
struct hwy_words hwy_say_share_change(double share);   /* "+6.8 %", "−12 %", "0.0 %" */
struct hwy_words hwy_say_share_1decimal(double share); /* "92.1 %" */
/* Yields part / whole with one decimal: "92.1 %"; "<0.1 %" where part is above 0 and the share
 * would be shown as 0 (also where whole is 0). */
struct hwy_words hwy_say_part_1decimal(int64_t part, int64_t whole);

/* ---- counts ---------------------------------------------------------------------------------- */

struct hwy_words hwy_say_count_grouped(uint64_t count); /* "12,345" */
/* Groups the digits of a number by thousands: "-1234567.8" becomes "-1,234,567.8". */
struct hwy_words hwy_say_digits_grouped(const char *digits);
/* Yields a mean count: whole numbers from 100 on and where nearly whole ("12"), else one decimal
 * ("1.5"); below 0.95 two decimals, below 0.01 four: what is rare is not 0. */
struct hwy_words hwy_say_count_mean(double count);
/* Yields hwy_say_count_mean with its noun: "1 copy", "2 copies", "0.20 copies". */
struct hwy_words hwy_say_count_of(double count, const char *one, const char *more);
struct hwy_words hwy_say_count_times(double count); /* "once", "twice", "12 times", "0.10 times" */
/* Yields "12" where the count is whole (to 0.005) or from 100 on, else one decimal from 10 on,
 * below 10 two: "0.50". */
struct hwy_words hwy_say_count_2decimals(double count);
/* Yields a whole number where the count is nearly whole (by 0.0005), else three decimals: "12",
 * "0.500". */
struct hwy_words hwy_say_count_3decimals(double count);

/* ---- bytes: powers of 1000 ------------------------------------------------------------------- */

/* Yields "1 bytes", "1.50 MB" and so on up to EB, with exact rounding. */
struct hwy_words hwy_say_bytes3(uint64_t bytes);
struct hwy_words hwy_say_bytes3_signed(int64_t bytes); /* "-1.50 MB" */
/* Yields "1 byte", "16.8 MB", "1500 GB": GB is the largest unit. */
struct hwy_words hwy_say_bytes3_to_gb(uint64_t bytes);
/* Yields "25.1 GB/s" or "0.50 MB/s": GB/s and MB/s are the only units. */
struct hwy_words hwy_say_rate3(double bytes_per_s);
/* Yields "139.8 GiB": powers of 1024, because devices are sold by them. */
struct hwy_words hwy_say_gib4(uint64_t bytes);

#endif
