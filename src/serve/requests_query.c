/* SPDX-License-Identifier: Apache-2.0 */
/* requests_query.c - the requests that take a query: search, marks, hit and table (query.h), sql
 * and questions (sql/sql.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/asking.h"
#include "serve/event_table.h"
#include "sql/questions.h"

enum { MOST_SKIPPED = 1 << 20 }; /* hits of a lane before those that are listed */

/* Reads the query; "" where it is missing. */
static bool read_query(const struct asking *a, const char **text, struct hwy_err *err)
{
	*text = a->request->argument(a->request, "q");
	*text = *text ? *text : "";
	return strlen(*text) <= VIEW_NAME ||
	       hwy_fail(err, "'q' is longer than %d bytes", VIEW_NAME);
}

/* Reads a search whose window has at most 'most' parts. */
static bool read_search(const struct asking *a, int64_t most, uint32_t *t, struct search *search,
			struct hwy_err *err)
{
	int64_t skip, none = -1, zero = 0;
	struct asked_parts asked;
	if (!asking_read_parts(a, most, &asked, err) || !read_query(a, &search->text, err) ||
	    !asking_read_number(a, "lane", 0, UINT32_MAX, &none, &search->lane, err) ||
	    !asking_read_number(a, "skip", 0, MOST_SKIPPED, &zero, &skip, err))
		return false;
	*t = asked.trace;
	search->from = asked.from;
	search->to = asked.to;
	search->n = asked.n;
	search->skip = (uint64_t)skip;
	search->steps = asking_step_times(a, *t);
	return true;
}

bool query_ask_search(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	struct search search;
	return read_search(a, 4096, &t, &search, err) &&
	       search_answer(&a->all->traces[t], &a->json, &search, err);
}

bool query_ask_marks(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	struct search search;
	return read_search(a, VIEW_PIXELS, &t, &search, err) &&
	       search_answer_marks(&a->all->traces[t], &a->json, &search, err);
}

bool query_ask_hit(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	const char *text;
	int64_t direction, none = -1, zero = 0;
	struct search_place from;
	return asking_read_trace(a, &t, err) && read_query(a, &text, err) &&
	       asking_read_number(a, "id", 0, UINT32_MAX, &none, &from.id, err) &&
	       asking_read_number(a, "from", 0, INT64_C(1) << 53, &zero, &from.time, err) &&
	       asking_read_direction(a, &direction, err) &&
	       search_answer_hit(&a->all->traces[t], &a->json, text, asking_step_times(a, t), from,
				 (int)direction, err);
}

/* ---- table ----------------------------------------------------------------------------------- */

/* Reads one of n words; a missing argument is the word 'otherwise'. */
static bool read_choice(const struct asking *a, const char *key, const char *const *words,
			unsigned n, unsigned otherwise, unsigned *choice, struct hwy_err *err)
{
	const char *text = a->request->argument(a->request, key);
	*choice = otherwise;
	for (unsigned i = 0; text && *text && i < n; i++)
		if (strcmp(words[i], text) == 0) {
			*choice = i;
			return true;
		}
	return !text || !*text || hwy_fail(err, "there is no '%s' called '%.40s'", key, text);
}

static bool read_order(const struct asking *a, struct event_request *request, struct hwy_err *err)
{
	unsigned group, sort;
	int64_t direction;
	if (!read_choice(a, "group", event_group_words, EVENT_GROUPS, EVENT_BY_NOTHING, &group,
			 err))
		return false;
	if (!read_choice(a, "sort", event_column_words, EVENT_COLUMNS,
			 group ? EVENT_TOTAL : EVENT_START, &sort, err) ||
	    !asking_read_direction(a, &direction, err))
		return false;
	if (group == EVENT_BY_NOTHING && sort >= EVENT_COUNT)
		return hwy_fail(err, "only groups can be sorted by '%s'", event_column_words[sort]);
	request->group = group;
	request->sort = sort;
	request->falls = direction < 0;
	return true;
}

bool query_ask_table(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t skip, n, zero = 0, usual = 100, none = -1;
	struct event_request request = {0};
	if (!asking_read_trace(a, &t, err))
		return false;
	struct view_trace *view = &a->all->traces[t];
	const char *lanes = a->request->argument(a->request, "lanes");
	if (!read_query(a, &request.text, err) ||
	    !asking_read_window(a, view, &request.from, &request.to, err) ||
	    !read_order(a, &request, err) ||
	    !asking_read_number(a, "skip", 0, UINT32_MAX, &zero, &skip, err) ||
	    !asking_read_number(a, "n", 0, EVENT_PAGE, &usual, &n, err) ||
	    !asking_read_number(a, "at", 0, UINT32_MAX, &none, &request.at, err))
		return false;
	request.lanes = lanes ? lanes : "";
	request.is_whole =
		request.from <= view->from - view->origin && request.to >= view->to - view->origin;
	request.skip = (uint64_t)skip;
	request.n = (uint32_t)n;
	request.steps = asking_step_times(a, t);
	return event_table_answer(view, &a->json, &request, err);
}

/* ---- SQL ------------------------------------------------------------------------------------- */

char *query_read_sql(const struct asking *a, struct hwy_err *err)
{
	const char *text;
	if (!read_query(a, &text, err))
		return NULL;
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\t' && *c != '\n' && *c != '\r') {
			hwy_fail(err, "the query has a character that is no text");
			return NULL;
		}
	size_t size = strlen(WORKER_SQL_WORD) + strlen(text) + 2;
	char *question = hwy_array(size, 1);
	snprintf(question, size, WORKER_SQL_WORD "%s", text);
	for (char *c = question; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = WORKER_SQL_NEWLINE;
	strcat(question, "\n");
	return question;
}

bool query_ask_questions(struct asking *a, struct hwy_err *err)
{
	(void)err;
	json_begin_array(&a->json);
	for (const struct sql_question *question = sql_questions; question->name; question++) {
		const char *about = question->text + strlen("-- ");
		json_begin_object(&a->json);
		json_put_text(&a->json, "name", question->name);
		json_key(&a->json, "about");
		json_text(&a->json, about, strcspn(about, "\n"));
		json_put_text(&a->json, "text", question->text);
		json_end_object(&a->json);
	}
	json_end_array(&a->json);
	return true;
}
