/* words.h - numbers as sentences of a diagnosis say them. The results are small values: words_time(n).at. */
#ifndef HWY_DIAGNOSE_WORDS_H
#define HWY_DIAGNOSE_WORDS_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct words {
	char at[40];
};

struct words words_time(int64_t ns);    /* "585 µs", "10.4 ms": three digits */
struct words words_share(double share); /* "6.9 %" */
struct words words_each(double count);  /* "12", "0.1" */
/* "1 copy", "2 copies", "0.2 copies" */
struct words words_many(double count, const char *one, const char *more);
struct words words_times(double count);      /* "once", "twice", "12 times", "0.1 times" */
struct words words_bytes(uint64_t bytes);    /* "16.8 MB" */
struct words words_rate(double bytes_per_s); /* "25.1 GB/s" */
/* The script of a command line, else its program, without the folder: that part of the text. */
const char *words_program(const char *command, size_t *length);
char *words_format(struct hwy_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
