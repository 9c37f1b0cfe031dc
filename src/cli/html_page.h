/* SPDX-License-Identifier: Apache-2.0 */
/* html_page.h - the self-contained page that `headway view --html` and `headway analyze --format
 * html` write. */
#ifndef HWY_CLI_HTML_PAGE_H
#define HWY_CLI_HTML_PAGE_H

#include "cli/analyze_print.h"
#include "cli/kit/cli.h"

enum { HTML_PAGE_MB = 20, HTML_PAGE_MOST_MB = 2000 };

/* The option --max-size. The command's struct options needs a field 'max_mb', a uint64_t. */
#define HTML_PAGE_SIZE_OPTION                                                                      \
	{                                                                                          \
		0, "max-size", "MB",                                                               \
			"of the page, at most (default: 20); it says what had to be left out",     \
			CLI_READ, CLI_AT(max_mb), .read = html_page_read_size                      \
	}
void html_page_read_size(const struct cli_value *value);

/* Writes a page with the timelines and diagnoses of one or two views, of at most 'max_mb' MB (0:
 * HTML_PAGE_MB), and says on standard error what had to be left out. Exits with 2 where this
 * build has no page. */
void html_page_write(FILE *out, const struct analyze_view *views, uint32_t n, uint64_t max_mb);

#endif
