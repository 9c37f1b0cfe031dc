/* SPDX-License-Identifier: Apache-2.0 */
/* questions.h - questions in SQL that come with the program: `headway sql FILE -f NAME`. */
#ifndef HWY_SQL_QUESTIONS_H
#define HWY_SQL_QUESTIONS_H

#include <stddef.h>

struct sql_question {
	const char *name;
	const char *text; /* begins with "-- " and what it answers, in one line */
};
extern const struct sql_question sql_questions[]; /* the last element has the name NULL */
/* Finds the question of this name, with or without ".sql"; NULL where there is none. */
const struct sql_question *sql_find_question(const char *name);

#endif
