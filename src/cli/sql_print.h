/* SPDX-License-Identifier: Apache-2.0 */
/* sql_print.h - the answers of `headway sql` as text: for people, or for programs. */
#ifndef HWY_CLI_SQL_PRINT_H
#define HWY_CLI_SQL_PRINT_H

#include <stdio.h>

#include "base/json.h"
#include "cli/kit/table.h"
#include "sql/sql.h"

enum sql_format { SQL_FORMAT_TABLE, SQL_FORMAT_CSV, SQL_FORMAT_JSON, SQL_FORMAT_MARKDOWN };
extern const char *const sql_format_names[];

struct sql_print {
	FILE *out;
	enum sql_format format;
	uint64_t most_rows; /* 0: all */
	int width;          /* columns of the terminal; 0: there is no limit */
	bool colour, utf8;

	/* Members that the functions fill. */
	uint64_t rows;    /* of this answer, so far */
	uint32_t answers; /* begun so far */
	bool is_cut;      /* a row was left out because of most_rows */
	uint32_t n;
	char **names, *align;
	struct table table;
	struct hwy_json json;
};

struct sql_sink sql_print_sink(struct sql_print *print);
/* Prints what is left of the last answer. */
void sql_print_end(struct sql_print *print);
void sql_print_free(struct sql_print *print);

#endif
