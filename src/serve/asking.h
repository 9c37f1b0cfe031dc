/* SPDX-License-Identifier: Apache-2.0 */
/* asking.h - a request that is being answered, and the arguments that many requests have.
 *
 * requests.c lists the requests. A family of requests with a file of its own reads its arguments
 * with these functions. Each yields false with a sentence for the page where an argument is missing
 * or wrong.
 */
#ifndef HWY_SERVE_ASKING_H
#define HWY_SERVE_ASKING_H

#include "base/memory_text.h"
#include "serve/server.h"

/* A request that is being answered. */
struct asking {
	const struct requests *all;
	const struct request *request;
	struct answer *answer;
	struct hwy_json json; /* writes to 'memory' where the answer is JSON */
	struct memory_text memory;
};

/* Reads a whole number from least to most. A missing argument becomes *otherwise; where that is
 * NULL it is an error. */
bool asking_read_number(const struct asking *a, const char *key, int64_t least, int64_t most,
			const int64_t *otherwise, int64_t *value, struct hwy_err *err);
/* Reads 't', the number of a trace; 0 where it is missing. */
bool asking_read_trace(const struct asking *a, uint32_t *trace, struct hwy_err *err);
/* Reads 'from' and 'to', ns after the view's origin; where they are missing, the whole trace. */
bool asking_read_window(const struct asking *a, const struct view_trace *view, int64_t *from,
			int64_t *to, struct hwy_err *err);
/* A window of a trace in equal parts, such as the pixels of the page. */
struct asked_parts {
	uint32_t trace;
	int64_t from, to; /* ns after the view's origin */
	uint32_t n;
};
/* Reads 't', 'from', 'to' and 'n', at most 'most' parts; 1024 where 'n' is missing. */
bool asking_read_parts(const struct asking *a, int64_t most, struct asked_parts *parts,
		       struct hwy_err *err);
/* Reads 'dir', 1 or -1; 1 where it is missing. */
bool asking_read_direction(const struct asking *a, int64_t *direction, struct hwy_err *err);
/* The steps of a trace, as far as the worker has told them. */
struct step_times asking_step_times(const struct asking *a, uint32_t trace);

/* ---- requests_query.c: what a query asks for ---- */

bool query_ask_search(struct asking *a, struct hwy_err *err);
bool query_ask_marks(struct asking *a, struct hwy_err *err);
bool query_ask_hit(struct asking *a, struct hwy_err *err);
bool query_ask_table(struct asking *a, struct hwy_err *err);
/* Reads 'q', a query in SQL, and yields it as a question for the worker, to be freed. NULL with
 * a sentence where it is too long or is no text. */
char *query_read_sql(const struct asking *a, struct hwy_err *err);
bool query_ask_questions(struct asking *a, struct hwy_err *err);

/* ---- page_language.c: the page without its second script, and that script with its sentences - */

bool page_ask(struct asking *a, struct hwy_err *err);
bool page_ask_late(struct asking *a, struct hwy_err *err);

/* ---- requests_export.c: a piece of the recording as a file, and how many spans it would have - */

bool export_ask_piece(struct asking *a, struct hwy_err *err);
bool export_ask_size(struct asking *a, struct hwy_err *err);

#endif
