/* SPDX-License-Identifier: Apache-2.0 */
/* paint.c - see paint.h. */
#include "cli/kit/paint.h"

const char *paint(bool colour, enum paint which)
{
	static const char *const codes[PAINTS] = {
		[PAINT_PLAIN] = "\033[0m",  [PAINT_BOLD] = "\033[1m",
		[PAINT_FAINT] = "\033[2m",  [PAINT_RED] = "\033[31m",
		[PAINT_GREEN] = "\033[32m", [PAINT_YELLOW] = "\033[33m",
		[PAINT_BLUE] = "\033[34m",  [PAINT_MAGENTA] = "\033[35m",
		[PAINT_CYAN] = "\033[36m",
	};
	return colour ? codes[which] : "";
}
