/* SPDX-License-Identifier: Apache-2.0 */
/* paint.c - see paint.h.
 *
 * The terminal's own colours are used: its theme knows its background. Many themes have one yellow,
 * cyan and green for dark and light backgrounds, which nobody can read on white; where the terminal
 * says that its background is light, darker ones are taken.
 */
#include "cli/kit/paint.h"

#include <stdlib.h>
#include <string.h>

/* COLORFGBG, which many terminals set, is "foreground;background" or "foreground;other;background",
 * numbers of the 16 colours; 7 and 15 are the light ones. */
static bool is_light(void)
{
	const char *colours = getenv("COLORFGBG");
	const char *background = colours ? strrchr(colours, ';') : NULL;
	return background && (strcmp(background, ";7") == 0 || strcmp(background, ";15") == 0);
}

const char *paint(bool colour, enum paint which)
{
	static const char *const codes[PAINTS] = {
		[PAINT_PLAIN] = "\033[0m",  [PAINT_BOLD] = "\033[1m",
		[PAINT_FAINT] = "\033[2m",  [PAINT_RED] = "\033[31m",
		[PAINT_GREEN] = "\033[32m", [PAINT_YELLOW] = "\033[33m",
		[PAINT_BLUE] = "\033[34m",  [PAINT_MAGENTA] = "\033[35m",
		[PAINT_CYAN] = "\033[36m",
	};
	/* Of the 256 colours; NULL: as on a dark background. */
	static const char *const on_light[PAINTS] = {
		[PAINT_GREEN] = "\033[38;5;28m",
		[PAINT_YELLOW] = "\033[38;5;130m",
		[PAINT_CYAN] = "\033[38;5;30m",
	};
	if (!colour)
		return "";
	return on_light[which] && is_light() ? on_light[which] : codes[which];
}
