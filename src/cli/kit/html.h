/* html.h - a page of its own: text that cannot become markup, and the one style of all pages. */
#ifndef HWY_CLI_KIT_HTML_H
#define HWY_CLI_KIT_HTML_H

#include <stdint.h>
#include <stdio.h>

/* Text of a recording as text of a page, in content and in quoted attributes: markup is escaped; control
 * characters, those that turn the writing direction, and what is no UTF-8 become U+FFFD. At most 'most'
 * characters, then "…" (0: all of them). */
void html_text(FILE *out, const char *text, uint32_t most);
/* "<title>TITLE - COMMAND" up to the opened body. The page asks nothing of any network, and its policy says so. */
void html_begin(FILE *out, const char *title, const char *command);
void html_end(FILE *out);

#endif
