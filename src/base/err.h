/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - one sentence about what went wrong, in words that cannot harm a terminal.
 *
 * Functions that can fail return bool and take a struct hwy_err last. On false, the text is one
 * line a user can act on: the file, the place, the reason. No newline at the end.
 */
#ifndef HWY_BASE_ERR_H
#define HWY_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/utf8.h"

struct hwy_err {
	char text[1024];
};

/* Control characters become '?', those beyond ASCII (0x80 … 0x9f, which UTF-8 writes in two bytes)
 * and bytes that are no UTF-8 too: no text from a file moves a terminal's cursor or splits a
 * line. */
void hwy_sanitize(char *text, size_t length);

/* Yields what the system calls an error, errno of a call that failed, in the reader's language:
 * the C library's own sentences would need an installed locale. */
const char *hwy_strerror(int number);

/* Writes a sentence to 'err' (control characters become '?') and yields false, so that callers can
 * return the result. The format is a key of lang/: it is translated here. */
bool hwy_fail(struct hwy_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* the analyzer does not see that hwy_fail always yields false */
#define hwy_fail(...) ((void)(hwy_fail)(__VA_ARGS__), false)
#endif

#endif
