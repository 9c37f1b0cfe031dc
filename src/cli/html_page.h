/* html_page.h - the self-contained page of `headway view --html` and `headway analyze --format html`: one function. */
#ifndef HWY_CLI_HTML_PAGE_H
#define HWY_CLI_HTML_PAGE_H

#include "cli/analyze_print.h"

enum { PAGE_MB = 20, PAGE_MOST_MB = 2000 };

#define PAGE_SIZE_HELP "of the page, at most (default: 20); it says what had to be left out"
/* The value of --max-size; exits with a misuse where it makes no sense. */
struct cli;
uint64_t page_size(const struct cli *cli, const char *value);

/* Timeline and diagnosis of one or two views, at most so many MB (0: PAGE_MB); what was left out is said on standard
 * error. Exits with 2 where there is no page to write. */
void page_write(FILE *out, const struct analyze_view *views, uint32_t n, uint64_t max_mb);

#endif
