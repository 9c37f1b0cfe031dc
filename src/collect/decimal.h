/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - numbers as text, on stacks that have no room for snprintf (2.5 KiB with glibc). */
#ifndef HWY_COLLECT_DECIMAL_H
#define HWY_COLLECT_DECIMAL_H

#include <stdint.h>
#include <string.h>

/* Copies a text and a number behind it, without a 0 byte; yields the end. At most 10 digits. */
static inline char *decimal_put(char *into, const char *text, uint32_t number)
{
	char digits[10];
	unsigned n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	size_t length = strlen(text);
	memcpy(into, text, length);
	into += length;
	while (n)
		*into++ = digits[--n];
	return into;
}

#endif
