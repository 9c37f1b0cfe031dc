/* units.h - numbers as people read them. The results are small values: units_count(n).at prints. */
#ifndef HWY_CLI_KIT_UNITS_H
#define HWY_CLI_KIT_UNITS_H

#include <stdint.h>

struct units_text {
	char at[40];
};

struct units_text units_count(uint64_t n);     /* "12,345" */
struct units_text units_bytes(uint64_t bytes); /* "1.50 MB": powers of 1000, three digits */
struct units_text units_gib(uint64_t bytes);   /* "139.8 GiB", as devices are sold */
struct units_text units_time(int64_t ns);      /* "4.812 s": four digits */
struct units_text units_wall(int64_t unix_ns); /* "2025-11-02 14:03:22 UTC" */

#endif
