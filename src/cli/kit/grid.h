/* grid.h - a small table for people: columns as wide as their widest cell, the first flush left, the others right.
 *
 *   struct grid grid = {.columns = 3};
 *   grid_cell(&grid, "name");
 *   grid_cell(&grid, "%d", 1);
 *   grid_cell(&grid, "%d", 2);
 *   grid_print(&grid, out, "  "); // also frees the cells
 */
#ifndef HWY_CLI_KIT_GRID_H
#define HWY_CLI_KIT_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct grid {
	uint32_t columns;
	uint32_t head; /* leading rows printed faint, when 'colour' */
	int colour;
	bool ends_in_text; /* the last column is flush left too */
	char **cells;      /* row by row */
	uint32_t n, cap;
};

void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A duration in ns with four digits and the unit that suits it: "603.4 ms"; 0 is a dash. */
void grid_time(struct grid *grid, int64_t ns);
/* A text of at most so many columns: cut, and ended with "…", where it is longer. */
void grid_text(struct grid *grid, const char *text, int most);
void grid_count(struct grid *grid, uint64_t count); /* 9,096 */
void grid_percent(struct grid *grid, int64_t part, int64_t whole);
void grid_print(struct grid *grid, FILE *out, const char *indent);

/* The same texts for use in sentences; 'text' has room for GRID_TEXT bytes. */
enum { GRID_TEXT = 48 };
const char *grid_time_text(char *text, int64_t ns);
const char *grid_percent_text(char *text, int64_t part, int64_t whole);
int grid_columns_of(const char *text); /* columns on the screen */

#endif
