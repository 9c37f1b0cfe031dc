/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_rows.h - the table in what `ncu --csv` printed, row by row.
 *
 * ncu prints its table behind its own messages ("==PROF== …") and behind whatever the program
 * printed. The lines before the header are skipped; inside of the table, lines of ncu's
 * messages, and lines that do not begin with a quote, are skipped and counted.
 *
 *   struct ncu_rows rows;
 *   if (!ncu_rows_open(&rows, path, SOURCE_WINDOW, err))
 *           return false;
 *   while (ncu_rows_next(&rows, progress, err) && rows.n > 0)
 *           puts(rows.fields[0].at);
 *   ncu_rows_close(&rows);
 */
#ifndef HWY_IMPORT_NCU_NCU_ROWS_H
#define HWY_IMPORT_NCU_NCU_ROWS_H

#include "base/bytes.h"
#include "base/strings.h"
#include "import/source.h"

enum { NCU_MOST_FIELDS = 1 << 16 }; /* columns of a table; ncu --set full has about 2,000 */

struct ncu_rows {
	/* The row read last; n is 0 at the end of the file. The texts end with a 0 and are valid
	 * until the next row is read. */
	struct hwy_text *fields;
	uint32_t n, cap;
	bool is_header;   /* the row has a field "Kernel Name" and is the names of the columns */
	uint64_t line;    /* the number of the row's first line, from 1 */
	uint64_t skipped; /* lines of the program's output inside of the table */

	struct source source;
	uint64_t next_line;
	bool in_table; /* the header was read */
	bool is_bare;  /* the header has no quotes: another program has written the table again */
	struct hwy_bytes text;
};

bool ncu_rows_open(struct ncu_rows *rows, const char *path, size_t window, struct hwy_err *err);
/* Reads the next row; rows->n is 0 at the end. False: the file cannot be read, or the row is
 * broken. */
bool ncu_rows_next(struct ncu_rows *rows, const struct hwy_progress *progress, struct hwy_err *err);
void ncu_rows_close(struct ncu_rows *rows);

#endif
