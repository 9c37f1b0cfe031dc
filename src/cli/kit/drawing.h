/* drawing.h - a picture (cli/picture/picture.h) in characters: names, a row a thread and a device, a ruler. */
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
	bool ruler, lead, legend; /* lines over and under the rows */
};

/* Cells that fit a line of 'width' columns beside the labels and the notes at the end of rows. */
uint32_t drawing_cells(int width, const char *indent);
void drawing_print(const struct drawing *drawing);

#endif
