/* SPDX-License-Identifier: Apache-2.0 */
/* report_table.h - rows of a report of `headway stats` as text: for people, or for programs.
 *
 *   struct report_table *table = report_table_new(options);
 *   report_table_report(table, report); // before each report
 *   stats_run(trace, report, wanted, report_table_sink(table), err);
 *   bool had_rows = report_table_end(table); // after each report
 *   report_table_free(table); // ends the output
 */
#ifndef HWY_CLI_KIT_REPORT_TABLE_H
#define HWY_CLI_KIT_REPORT_TABLE_H

#include <stdio.h>

#include "stats/stats.h"

enum report_table_format {
	REPORT_TABLE_TEXT,
	REPORT_TABLE_CSV,
	REPORT_TABLE_TSV,
	REPORT_TABLE_JSON,
	REPORT_TABLE_MARKDOWN,
	REPORT_TABLE_FORMATS
};
/* The names "table", "csv", …, with NULL at the end. */
extern const char *const report_table_format_names[REPORT_TABLE_FORMATS + 1];

struct report_table_options {
	FILE *out;
	enum report_table_format format;
	enum stats_time_unit unit;
	bool unit_given; /* the user chose a unit; false: each number has the unit that suits it */
	uint64_t rows;   /* the most rows of a report that are printed; 0: all rows */
	bool several;    /* more than one report follows: JSON is then an object of reports */
	int width;       /* columns of the terminal; 0: there is no limit */
	bool colour, utf8;
};

struct report_table;
struct report_table *report_table_new(const struct report_table_options *options);
const struct stats_sink *report_table_sink(struct report_table *table);
void report_table_report(struct report_table *table, const struct stats_report *report);
bool report_table_end(struct report_table *table);
void report_table_free(struct report_table *table);

#endif
