/* SPDX-License-Identifier: Apache-2.0 */
/* sql_prompt.h - `headway sql` line by line, and the words that begin with a dot. */
#ifndef HWY_CLI_SQL_PROMPT_H
#define HWY_CLI_SQL_PROMPT_H

#include "cli/sql_print.h"

/* Answers a query, or a word that begins with a dot. False with a sentence. */
bool sql_prompt_answer(struct sql_db *db, const char *query, struct sql_print *print,
		       struct hwy_err *err);
/* Reads queries from the terminal until .quit or the end of input; Ctrl-C stops the query that
 * runs. */
void sql_prompt_run(struct sql_db *db, struct sql_print *print);

#endif
