/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - prints text so that lines fit the terminal and the terminal can show each character. */
#ifndef HWY_CLI_KIT_LINES_H
#define HWY_CLI_KIT_LINES_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a mark into a text for lines_put: the line may be broken here, and the new line then
 * begins with 'indent' spaces (below 60). */
void lines_may_break(FILE *text, int indent);
/* Prints a text. Lines wider than 'width' are broken at their marks, as late as possible; lines
 * without marks stay as wide as they are. */
void lines_put(FILE *out, const char *text, int width, bool utf8);
/* Prints a text in ASCII: "µs" is "us", "→" is "->"; what has no such spelling is "?". */
void lines_put_plain(FILE *out, const char *text);

#endif
