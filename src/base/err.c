/* err.c - see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

bool hwy_fail(struct hwy_err *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	/* Names from hostile files must not move the terminal's cursor or split the line. */
	for (char *c = err->text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return false;
}
