/* err.c - see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t hwy_utf8_length(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char c = at[0];
	size_t n = c < 0x80                 ? 1
		   : c >= 0xc2 && c <= 0xdf ? 2
		   : (c & 0xf0) == 0xe0     ? 3
		   : c >= 0xf0 && c <= 0xf4 ? 4
					    : 0;
	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates and what lies beyond U+10FFFF */
	if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) ||
	    (c == 0xf0 && at[1] < 0x90) || (c == 0xf4 && at[1] > 0x8f))
		return 0;
	return n;
}

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

bool hwy_fail(struct hwy_err *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	hwy_sanitize(err->text, strlen(err->text));
	return false;
}
