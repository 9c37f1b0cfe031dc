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

	/* text */
	const char *indent; /* printed before each row; NULL: nothing */
	bool colour;        /* headings are faint */
	bool is_ruled;      /* a line is drawn under the headings */
	bool hides_empty;   /* columns without text under their heading are left out */
	bool is_ascii;      /* the rule and the mark of a cut text are ASCII characters */
	int width; /* columns of the terminal, for which 'l' columns are cut; 0: any width fits */

	/* Markdown */
	bool is_markup; /* the cells are Markdown already: nothing in them is escaped */
	const char *left_rule, *right_rule; /* under the headings; NULL: "---" and "---:" */

	/* filled by the functions below */
	char **cells; /* row by row */
	uint32_t n_cells, cap;
};

/* Adds one cell. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a whole row of table->columns texts. NULL is a cell of no width at all in Markdown: "|
 * |", not "|  |". */
void table_row(struct table *table, const char *const *texts);
/* A duration in ns, with four digits and the unit that suits it: "603.4 ms"; 0 is a dash. */
void table_time(struct table *table, int64_t ns);
/* A text of at most 'most' columns: cut, and ended with "…", where it is longer. */
void table_cut_text(struct table *table, const char *text, int most);
void table_count(struct table *table, uint64_t count); /* "9,096"; 0 is a dash */
void table_percent(struct table *table, int64_t part,
		   int64_t whole); /* "92.1 %"; "" where part is 0 */

/* Prints the table and frees its cells; the table can then be filled again. */
void table_print(struct table *table, FILE *out);
void table_free(struct table *table);

#endif
