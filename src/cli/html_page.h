/* html_page.h - the self-contained page of `headway view --html` and `headway analyze --format html`: one function. */
#ifndef HWY_CLI_HTML_PAGE_H
#define HWY_CLI_HTML_PAGE_H

#include "cli/analyze_print.h"
#include "cli/kit/cli.h"

enum { PAGE_MB = 20, PAGE_MOST_MB = 2000 };

/* The option --max-size: struct options has the field 'max_mb', a uint64_t. */
#define PAGE_SIZE_OPTION                                                                           \
	{                                                                                          \
		0, "max-size", "MB",                                                               \
			"of the page, at most (default: 20); it says what had to be left out",     \
			CLI_READ, CLI_AT(max_mb), .read = page_read_size                           \
	}
void page_read_size(const struct cli_value *value);

/* Timeline and diagnosis of one or two views, at most so many MB (0: PAGE_MB); what was left out is said on standard
 * error. Exits with 2 where there is no page to write. */
void page_write(FILE *out, const struct analyze_view *views, uint32_t n, uint64_t max_mb);

#endif
