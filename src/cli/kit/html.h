/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - pages of HTML: text that cannot become markup, and the style that all pages share. */
#ifndef HWY_CLI_KIT_HTML_H
#define HWY_CLI_KIT_HTML_H

#include <stdint.h>
#include <stdio.h>

/* Writes text of a recording as text of a page, for content and for quoted attributes: markup is
 * escaped; control characters, characters that turn the writing direction, and bytes that are no
 * UTF-8 become U+FFFD. At most 'most' characters are written, then "…"; 0 means all of them. */
void html_text(FILE *out, const char *text, uint32_t most);
/* Writes the page up to its opened body; its title is "TITLE - COMMAND". The page's policy
 * forbids to load anything. */
void html_begin(FILE *out, const char *title, const char *command);
void html_end(FILE *out);

#endif
