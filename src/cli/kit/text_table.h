/* SPDX-License-Identifier: Apache-2.0 */
/* text_table.h - a report of `headway stats` as a table for people: numbers with the units that
 * suit them, columns that line up, names cut to fit the terminal. */
#ifndef HWY_CLI_KIT_TEXT_TABLE_H
#define HWY_CLI_KIT_TEXT_TABLE_H

#include "cli/kit/report_table.h"
#include "cli/kit/table.h"

struct text_table {
	const struct report_table_options *options;
	const struct stats_column *columns;
	struct table table;
	char *align; /* the letters for table.align, one for each column */
};

void text_table_begin(struct text_table *text_table, const struct stats_column *columns,
		      uint32_t n);
void text_table_row(struct text_table *text_table, const struct stats_cell *cells);
/* Prints the rows and frees them. The report had 'rows' rows, of which perhaps not all were
 * added. 'is_first' is false where another report was printed before. */
void text_table_end(struct text_table *text_table, const struct stats_report *report, uint64_t rows,
		    bool is_first);
void text_table_free(struct text_table *text_table);

#endif
