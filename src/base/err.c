/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/lang.h"

void hwy_sanitize(char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		unsigned char c = (unsigned char)text[i];
		n = c < 0x80 ? 1 : hwy_utf8_length(text + i, length - i);
		bool is_control = c < 0x20 || c == 0x7f ||
				  (n == 2 && c == 0xc2 && (unsigned char)text[i + 1] < 0xa0);
		if (n == 0 || is_control) {
			n = n ? n : 1;
			memset(text + i, '?', n);
		}
	}
}

const char *hwy_strerror(int number)
{
	return hwy_tr(strerror(number));
}

#undef hwy_fail
bool hwy_fail(struct hwy_err *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, hwy_tr(format), args);
	va_end(args);
	hwy_sanitize(err->text, strlen(err->text));
	return false;
}
