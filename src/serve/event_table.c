/* SPDX-License-Identifier: Apache-2.0 */
/* event_table.c - see event_table.h: the answer of the request 'table', and the results that are
 * kept. */
#include "serve/event_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/answers.h"

const char *const event_column_words[EVENT_COLUMNS] = {
	"start", "dur",   "name", "kind", "lane", "step", "latency", "bytes", "rate", "line",
	"count", "total", "mean", "min",  "max",  "p50",  "p90",     "p99",   "sd",
};
const char *const event_group_words[EVENT_GROUPS] = {"",    "name", "kind", "lane", "thread",
						     "gpu", "rank", "step", "line"};

/* ---- results that are kept ------------------------------------------------------------------- */

static void result_free(struct event_result *result)
{
	free(result->key);
	free(result->ids);
	free(result->groups);
	free(result->same_step);
	free(result);
}

void event_results_free(struct view_trace *view)
{
	while (view->results) {
		struct event_result *next = view->results->next;
		result_free(view->results);
		view->results = next;
	}
}

/* Yields a text of all arguments of a request on which its result depends. The order of groups
 * is not among them, because groups are sorted when they are written. */
static char *key_of(const struct event_request *r)
{
	size_t size = strlen(r->text) + strlen(r->lanes) + 128;
	char *key = hwy_array(size, 1);
	snprintf(key, size, "%d %d %d %d %" PRId64 " %" PRId64 " %s %s", r->group,
		 r->group ? 0 : (int)r->sort, r->steps.is_known, r->is_whole,
		 r->is_whole ? 0 : r->from, r->is_whole ? 0 : r->to, r->lanes, r->text);
	return key;
}

static struct event_result *find_kept(const struct view_trace *view, const char *key)
{
	for (struct event_result *result = view->results; result; result = result->next)
		if (strcmp(result->key, key) == 0)
			return result;
	return NULL;
}

static void event_table_keep(struct view_trace *view, struct event_result *result)
{
	uint32_t n = 0;
	result->next = view->results;
	view->results = result;
	for (struct event_result **at = &view->results; *at; n++) {
		struct event_result *one = *at;
		if (n < EVENT_KEPT) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		result_free(one);
	}
}

/* Yields the result of a request: a kept one, or a new one that is then kept. Making a new one
 * pauses, so other requests may have changed view->results afterwards. */
static struct event_result *event_table_find(struct view_trace *view,
					     const struct event_request *request,
					     struct hwy_err *err)
{
	char *key = key_of(request);
	struct event_result *result = find_kept(view, key);
	if (result) {
		free(key);
		return result;
	}
	result = hwy_zalloc(sizeof *result);
	result->key = key;
	if (!event_scan(view, request, result, err)) {
		result_free(result);
		return NULL;
	}
	event_table_keep(view, result);
	return result;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct event_row {
	uint32_t id, place; /* the span, and its place on the page */
	uint32_t lane, step, line;
	uint8_t look;
	int64_t name, start, dur, latency, bytes;
};

static int by_id(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_row_place(const void *a, const void *b)
{
	const struct event_row *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

static bool read_row(struct span_facts *facts, const struct step_times *steps,
		     struct event_row *row, struct hwy_err *err)
{
	struct hwy_trace *trace = facts->view->trace;
	uint32_t at;
	int64_t name, what;
	const struct hwy_strip *strip = hwy_strip_of(trace, row->id, &at);
	bool has_bytes = (hwy_kind_columns[strip->kind] & HWY_COL_BIT(HWY_BYTES)) != 0;
	if (!span_facts_peek(facts, strip, HWY_START, at, &row->start, err) ||
	    !span_facts_peek(facts, strip, HWY_DUR, at, &row->dur, err) ||
	    !span_facts_peek(facts, strip, HWY_NAME, at, &name, err) ||
	    !span_facts_peek(facts, strip, span_names_column(strip->kind), at, &what, err) ||
	    (has_bytes && !span_facts_peek(facts, strip, HWY_BYTES, at, &row->bytes, err)) ||
	    !span_facts_latency(facts, strip, at, row->start, &row->latency, err) ||
	    !span_facts_line(facts, strip, at, &row->line, err))
		return false;
	row->lane = strip->lane;
	row->look = span_color(trace, strip->kind, name);
	row->name = span_names_make(trace, strip->kind, name, what);
	row->step = span_facts_step(facts, steps, strip, row->start);
	return true;
}

static void put_number_or_null(struct hwy_json *json, bool is_known, int64_t number)
{
	if (is_known)
		json_int(json, number);
	else
		json_null(json);
}

static void put_event_row(const struct span_facts *facts, const struct step_times *steps,
			  struct hwy_json *json, const struct event_row *row,
			  struct hwy_index *names)
{
	bool fresh, has_step = row->step != STEP_TIMES_NONE;
	const uint32_t key = (uint32_t)row->name;
	uint32_t *name = hwy_index_put(names, &key, sizeof key, &fresh);
	if (fresh)
		*name = names->count - 1;
	json_begin_array(json);
	json_int(json, row->id);
	json_int(json, row->lane);
	json_int(json, row->look);
	json_int(json, *name);
	json_int(json, row->start - facts->view->origin);
	json_int(json, row->dur);
	put_number_or_null(json, has_step, has_step ? steps->v[row->step].number : 0);
	put_number_or_null(json, row->latency >= 0, row->latency);
	put_number_or_null(json, row->bytes > 0, row->bytes);
	struct hwy_bytes line = {0};
	span_facts_line_text(facts, row->line, &line);
	json_text(json, line.n ? (const char *)line.bytes : "", line.n);
	hwy_bytes_free(&line);
	json_end_array(json);
}

/* Yields the id of the span in the i-th row. A falling order reverses only the rows that have
 * what the table is sorted by; the others stay last. */
static uint32_t id_at(const struct event_result *result, bool falls, uint64_t i)
{
	return result->ids[falls && i < result->n_known ? result->n_known - 1 - i : i];
}

/* Reads the rows of a page in the order of their ids, so that every chunk of a column is read
 * once. */
static struct event_row *read_page(struct span_facts *facts, const struct event_request *request,
				   const struct event_result *result, uint32_t *n,
				   struct hwy_err *err)
{
	uint64_t left = request->skip < result->n ? result->n - request->skip : 0;
	*n = left < request->n ? (uint32_t)left : request->n;
	struct event_row *rows = hwy_zarray(*n, sizeof *rows);
	bool ok = true;
	for (uint32_t i = 0; i < *n; i++) {
		rows[i].id = id_at(result, request->falls, request->skip + i);
		rows[i].place = i;
	}
	/* The result is not used from here on: during the pauses below other requests may free
	 * it. */
	qsort(rows, *n, sizeof *rows, by_id);
	for (uint32_t i = 0; ok && i < *n; i++)
		ok = (i % 64 != 0 || view_pause(facts->view, err)) &&
		     read_row(facts, &request->steps, &rows[i], err);
	qsort(rows, *n, sizeof *rows, by_row_place);
	if (!ok)
		free(rows);
	return ok ? rows : NULL;
}

/* Writes the texts of the names, in the order of the numbers by which the rows refer to them. */
static void put_row_names(const struct view_trace *view, struct hwy_json *json,
			  const struct event_row *rows, uint32_t n, const struct hwy_index *names)
{
	uint32_t next = 0;
	json_key(json, "names");
	json_begin_array(json);
	for (uint32_t i = 0; i < n && next < names->count; i++) {
		const uint32_t key = (uint32_t)rows[i].name;
		if (*hwy_index_get(names, &key, sizeof key) != next)
			continue;
		span_names_put(json, span_names_text(view->trace, key));
		next++;
	}
	json_end_array(json);
}

static void put_row_number(struct hwy_json *json, const struct event_request *request,
			   const struct event_result *result)
{
	uint64_t i = 0;
	if (request->at < 0)
		return;
	while (i < result->n && id_at(result, request->falls, i) != request->at)
		i++;
	json_key(json, "at");
	put_number_or_null(json, i < result->n, (int64_t)i);
}

static bool put_rows(struct view_trace *view, struct hwy_json *json,
		     const struct event_request *request, const struct event_result *result,
		     struct hwy_err *err)
{
	uint32_t n;
	put_row_number(json, request, result);
	struct span_facts *facts = span_facts_of(view);
	struct event_row *rows = read_page(facts, request, result, &n, err);
	struct hwy_index names = {0};
	if (!rows)
		return false;
	json_key(json, "list");
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		put_event_row(facts, &request->steps, json, &rows[i], &names);
	json_end_array(json);
	put_row_names(view, json, rows, n, &names);
	hwy_index_free(&names);
	free(rows);
	return true;
}

bool event_table_answer(struct view_trace *view, struct hwy_json *json,
			const struct event_request *request, struct hwy_err *err)
{
	struct event_result *result = event_table_find(view, request, err);
	if (!result)
		return false;
	json_begin_object(json);
	json_put_text(json, "q", request->text);
	json_put_int(json, "rows", (int64_t)result->sums.count);
	json_put_int(json, "total", result->sums.total);
	json_put_int(json, "min", result->sums.least);
	json_put_int(json, "max", result->sums.most);
	json_put_int(json, "skip", (int64_t)request->skip);
	bool ok = true;
	if (request->group)
		event_groups_put(view, json, request, result);
	else
		ok = put_rows(view, json, request, result, err);
	json_end_object(json);
	return ok;
}
