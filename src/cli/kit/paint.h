/* SPDX-License-Identifier: Apache-2.0 */
/* paint.h - colours and weights of text on a terminal: the only place that knows escape codes.
 *
 *   bool colour = cli_colour(stdout);
 *   printf("%sslower%s\n", paint(colour, PAINT_RED), paint(colour, PAINT_PLAIN));
 */
#ifndef HWY_CLI_KIT_PAINT_H
#define HWY_CLI_KIT_PAINT_H

#include <stdbool.h>

enum paint {
	PAINT_PLAIN, /* ends every other paint */
	PAINT_BOLD,
	PAINT_FAINT,
	PAINT_RED,
	PAINT_GREEN,
	PAINT_YELLOW,
	PAINT_BLUE,
	PAINT_MAGENTA,
	PAINT_CYAN,
	PAINTS
};

/* Yields the escape code that switches a paint on; "" where 'colour' (see cli_colour) is false. */
const char *paint(bool colour, enum paint which);

#endif
