/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_findings.h - the findings of the report for people, for analyze_text.c. */
#ifndef HWY_CLI_ANALYZE_FINDINGS_H
#define HWY_CLI_ANALYZE_FINDINGS_H

#include "cli/analyze_print.h"
#include "cli/kit/paint.h"

/* The report while it is being written. */
struct analyze_page {
	FILE *out;
	const struct analyze_view *view;
	const struct analyze_run *run;
	int width; /* columns */
};

static inline const char *analyze_page_paint(const struct analyze_page *page, enum paint which)
{
	return paint(page->view->colour, which);
}

/* Prints a place; where the line is too long, the module begins a line that is indented. */
void analyze_findings_print_place(const struct analyze_page *page,
				  const struct hwy_finding_place *place, int indent);
/* Prints the findings of one phase, at most 'most'; the first finding of the longest phase is
 * printed in full. Yields how many findings the phase has. */
uint32_t analyze_findings_print(const struct analyze_page *page, uint32_t phase, uint32_t most);
/* Prints that a phase is healthy, or that no finding explains its idle time; nothing where
 * findings do. */
void analyze_findings_print_health(const struct analyze_page *page, uint32_t phase);
/* Prints the kernels that take the time of a healthy phase, and how to look into them. */
void analyze_findings_print_inside(const struct analyze_page *page, uint32_t phase);
/* Prints suspects of a phase that are innocent. */
void analyze_findings_print_acquittals(const struct analyze_page *page, uint32_t phase);

#endif
