/* lines.h - text for people on its way to the terminal: lines that fit it, characters it can show. */
#ifndef HWY_CLI_KIT_LINES_H
#define HWY_CLI_KIT_LINES_H

#include <stdbool.h>
#include <stdio.h>

/* Marks a place of a text that lines_put will get: here a line may go on in the next one, which then begins with so
 * many spaces ('indent', below 60). */
void lines_may_break(FILE *text, int indent);
/* Lines wider than 'width' are broken at the marks, as late as possible; what has none stays as wide as it is. */
void lines_put(FILE *out, const char *text, int width, bool utf8);

#endif
