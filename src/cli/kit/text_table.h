/* text_table.h - a report as a table for people: units that suit, columns that line up, names cut to fit. */
#ifndef HWY_CLI_KIT_TEXT_TABLE_H
#define HWY_CLI_KIT_TEXT_TABLE_H

#include "cli/kit/report_table.h"

struct people {
	const struct table_options *options;
	const struct stats_column *columns;
	uint32_t n;
	char **cells; /* row by row */
	uint32_t n_cells, cap;
};

void people_begin(struct people *people, const struct stats_column *columns, uint32_t n);
void people_row(struct people *people, const struct stats_cell *cells);
/* Prints and forgets. 'rows' counts those that were not kept too. */
void people_end(struct people *people, const struct stats_report *report, uint64_t rows,
		bool later);
void people_free(struct people *people);

#endif
