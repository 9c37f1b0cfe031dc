/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - the ready questions, sql/NAME.sql of the source tree, inside the program
 * (cmake/questions.cmake). */
#include "sql/questions.h"

#include <string.h>

const struct sql_question sql_questions[] = {
#include HEADWAY_QUESTIONS
	{NULL, NULL},
};

const struct sql_question *sql_find_question(const char *name)
{
	size_t length = strlen(name);
	if (length > 4 && strcmp(name + length - 4, ".sql") == 0)
		length -= 4;
	for (const struct sql_question *question = sql_questions; question->name; question++)
		if (strlen(question->name) == length && memcmp(question->name, name, length) == 0)
			return question;
	return NULL;
}
