/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - see fold.h. */
#include "base/fold.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether a number that ends before this character is a part of a word: "2d", "128x". */
static bool goes_on(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

void hwy_fold_numbers(char *text)
{
	char *to = text;
	for (const char *from = text; *from;) {
		size_t digits = is_digit(*from) ? strspn(from, "0123456789") : 0;
		bool begins = from != text && strchr("_# /-:.,=([", from[-1]);
		if (digits && begins && !goes_on(from[digits])) {
			*to++ = 'N';
			from += digits;
		} else {
			for (size_t i = digits ? digits : 1; i > 0; i--)
				*to++ = *from++;
		}
	}
	*to = '\0';
}
