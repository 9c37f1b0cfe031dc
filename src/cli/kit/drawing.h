/* SPDX-License-Identifier: Apache-2.0 */
/* drawing.h - prints a picture (cli/picture/picture.h) in characters: a ruler, names, a row for
 * each thread and each device. */
#ifndef HWY_CLI_KIT_DRAWING_H
#define HWY_CLI_KIT_DRAWING_H

#include <stdio.h>

#include "cli/picture/picture.h"

struct drawing {
	FILE *out;
	const struct hwy_trace *trace;
	const struct hwy_picture *picture;
	const char *indent;
	bool utf8, colour;
	bool ruler, lead, legend; /* which lines are printed above and below the rows */
};

/* Yields how many cells fit a line of 'width' columns, between a row's label and its note. */
uint32_t drawing_cells(int width, const char *indent);
void drawing_print(const struct drawing *drawing);

#endif
