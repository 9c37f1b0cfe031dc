/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - tables of texts: cells are added row by row, then printed as text, Markdown or HTML.
 *
 *   struct table table = {.columns = 3, .heads = 1, .indent = "  "};
 *   table_row(&table, (const char *[]){"kernel", "time", "count"});
 *   table_cell(&table, "%s", "gemm");
 *   table_time(&table, 603400000);
 *   table_count(&table, 9096);
 *   table_print(&table, stdout);
 *
 * prints, as text, columns that are as wide as their widest cell:
 *
 *     kernel      time  count
 *     gemm    603.4 ms  9,096
 *
 * Text of a recording may be given as it is: each format replaces or escapes what it cannot hold.
 */
#ifndef HWY_CLI_KIT_TABLE_H
#define HWY_CLI_KIT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_HTML };

struct table {
	enum table_format format;
	uint32_t columns;
	/* A letter for each column, 'l' for flush left, 'r' for flush right; the last letter
	 * stands for all further columns too. NULL means "lr": a name, then numbers. */
	const char *align;
	uint32_t heads; /* leading rows that hold headings: 0 or 1; Markdown and HTML need 1 */

	/* Members for text. */
	const char *indent; /* printed before each row; NULL: nothing */
	bool colour;        /* print the headings faint */
	bool is_ruled;      /* a line is drawn under the headings */
	bool hides_empty;   /* columns without text under their heading are left out */
	bool is_ascii;      /* the rule and the mark of a cut text are ASCII characters */
	int width;          /* of the terminal: texts in 'l' columns are cut to fit; 0: no limit */

	/* Members for Markdown. */
	bool is_markup; /* the cells are Markdown already: nothing in them is escaped */
	/* The rules under left-aligned and right-aligned headings; NULL: "---" and "---:". */
	const char *left_rule, *right_rule;

	/* Members that the functions below fill. */
	char **cells; /* the cells' texts, row by row */
	uint32_t n_cells, cap;
};

/* Add one cell to a table. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a whole row of table->columns texts. NULL is a cell of no width at all in Markdown: "|
 * |", not "|  |". */
void table_row(struct table *table, const char *const *texts);
/* Adds a duration in ns, with four digits and the unit that suits it: "603.4 ms"; 0 becomes a
 * dash. */
void table_time(struct table *table, int64_t ns);
/* Adds a text of at most 'most' columns; a longer text is cut and ends with "…". */
void table_cut_text(struct table *table, const char *text, int most);
void table_count(struct table *table, uint64_t count); /* adds "9,096"; a dash for 0 */
/* Adds the percentage of 'part' in 'whole': "92.1 %"; "" where part is 0. */
void table_percent(struct table *table, int64_t part, int64_t whole);

/* The columns of the terminal that the table takes as text, before texts are cut to fit its
 * width. */
int table_text_width(const struct table *table);
/* Prints the table and frees its cells; the table can then be filled again. */
void table_print(struct table *table, FILE *out);
void table_free(struct table *table);

#endif
