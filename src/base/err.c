/* err.c - see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hwy_tame(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c < 0x20 || c == 0x7f) {
			text[i] = '?';
		} else if (c == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] < 0xa0) {
			text[i++] = '?';
			text[i] = '?';
		}
	}
}

bool hwy_fail(struct hwy_err *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	hwy_tame(err->text, strlen(err->text));
	return false;
}
