/* report_table.h - rows of a report as text: for people, or for programs.
 *
 *   struct table *table = table_new(options);
 *   table_report(table, report); // before each report
 *   stats_run(trace, report, wanted, table_sink(table), err);
 *   bool had_rows = table_end(table); // after each report
 *   table_free(table); // ends the output
 */
#ifndef HWY_CLI_KIT_REPORT_TABLE_H
#define HWY_CLI_KIT_REPORT_TABLE_H

#include <stdio.h>

#include "stats/stats.h"

enum table_format { TABLE_PEOPLE, TABLE_CSV, TABLE_TSV, TABLE_JSON, TABLE_MARKDOWN, TABLE_FORMATS };
extern const char
	*const table_format_names[TABLE_FORMATS + 1]; /* "table", "csv", …; NULL at the end */

struct table_options {
	FILE *out;
	enum table_format format;
	enum stats_time_unit unit;
	bool unit_given; /* else people see the unit that suits each number */
	uint64_t rows;   /* the most rows of a report; 0: all */
	bool several;    /* more than one report will come: JSON is an object of them then */
	int width;       /* of the terminal; 0: any */
	bool colour, utf8;
};

struct table;
struct table *table_new(const struct table_options *options);
const struct stats_sink *table_sink(struct table *table);
void table_report(struct table *table, const struct stats_report *report);
bool table_end(struct table *table);
void table_free(struct table *table);

#endif
