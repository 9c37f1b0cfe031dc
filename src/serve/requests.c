/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - the requests that the page may make (docs/view-protocol.md), each with its
 * arguments and its answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_text.h"
#include "base/path.h"
#include "serve/server.h"
#include "serve/tiles.h"

#define JSON "application/json"
#define BINARY "application/octet-stream"

/* A request that is being answered. */
struct asking {
	const struct requests *all;
	const struct request *request;
	struct answer *answer;
	struct hwy_json json; /* writes to 'memory' where the answer is JSON */
	struct memory_text memory;
};

/* ---- arguments ------------------------------------------------------------------------------- */

/* Reads a whole number from least to most. A missing argument becomes *otherwise; where that is
 * NULL it is an error. */
static bool requests_read_number(const struct asking *a, const char *key, int64_t least,
				 int64_t most, const int64_t *otherwise, int64_t *value,
				 struct hwy_err *err)
{
	const char *text = a->request->argument(a->request, key);
	if ((!text || !*text) && otherwise) {
		*value = *otherwise;
		return true;
	}
	char *end = NULL;
	errno = 0;
	*value = text ? strtoll(text, &end, 10) : 0;
	if (!text || !*text || *end || errno || *value < least || *value > most)
		return hwy_fail(err, "'%s' must be a whole number from %" PRId64 " to %" PRId64,
				key, least, most);
	return true;
}

static bool read_trace(const struct asking *a, uint32_t *trace, struct hwy_err *err)
{
	int64_t zero = 0, value;
	if (!requests_read_number(a, "t", 0, (int64_t)a->all->n - 1, &zero, &value, err))
		return false;
	*trace = (uint32_t)value;
	return true;
}

static bool read_window(const struct asking *a, const struct view_trace *view, int64_t *from,
			int64_t *to, struct hwy_err *err)
{
	int64_t limit = INT64_C(1) << 53, begin = view->from - view->origin,
		end = view->to - view->origin;
	if (!requests_read_number(a, "from", 0, limit, &begin, from, err) ||
	    !requests_read_number(a, "to", 0, limit, &end, to, err))
		return false;
	return *from < *to || hwy_fail(err, "'from' must be before 'to'");
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Answers with a JSON object of one or two texts; 'error' may be NULL. */
static void answer_texts(struct asking *a, unsigned status, const char *state, const char *error)
{
	struct memory_text memory;
	memory_text_begin(&memory);
	struct hwy_json json = {.out = memory.out};
	json_begin_object(&json);
	if (state)
		json_put_text(&json, "state", state);
	if (error)
		json_put_text(&json, "error", error);
	json_end_object(&json);
	memory_text_end(&memory);
	a->answer->status = status;
	a->answer->type = JSON;
	a->answer->body.n = 0;
	hwy_bytes_put(&a->answer->body, memory.text, memory.length);
	free(memory.text);
}

static const char *diagnosis_state(const struct asking *a, uint32_t trace)
{
	static const char *const names[] = {"none", "pending", "ready", "failed"};
	struct worker *worker = &a->all->workers[trace];
	pthread_mutex_lock(&worker->lock);
	enum worker_state state = worker->state;
	/* A diagnosis that was sent stays valid when the worker ends. */
	if (state == WORKER_BROKEN && worker->frames[WORKER_DIAGNOSIS].bytes &&
	    !worker->frames[WORKER_FAILED].bytes)
		state = WORKER_DONE;
	pthread_mutex_unlock(&worker->lock);
	return names[state];
}

/* Yields the name of the program that was recorded, or else the name of the file. */
static const char *trace_title(const struct view_trace *view)
{
	for (uint32_t p = 0; p < view->trace->n_processes; p++) {
		const char *name = hwy_str(view->trace, view->trace->processes[p].name);
		if (*name)
			return hwy_basename(name);
	}
	return hwy_basename(view->source);
}

static void put_trace(struct asking *a, uint32_t number)
{
	const struct view_trace *view = &a->all->traces[number];
	const struct hwy_trace *trace = view->trace;
	char text[64];
	json_begin_object(&a->json);
	json_put_text(&a->json, "file", hwy_basename(view->source));
	json_put_text(&a->json, "title", trace_title(view));
	snprintf(text, sizeof text, "%" PRId64, view->origin);
	json_put_text(&a->json, "origin", text);
	json_put_int(&a->json, "start", view->from - view->origin);
	json_put_int(&a->json, "end", view->to - view->origin);
	json_put_int(&a->json, "spans", trace->n_spans);
	snprintf(text, sizeof text, "%" PRId64,
		 (int64_t)((uint64_t)trace->wall + (uint64_t)view->origin));
	json_put_text(&a->json, "wall_ns", trace->wall == HWY_NONE ? NULL : text);
	const char *format = hwy_property(trace, "source.format");
	const char *version = hwy_property(trace, "source.version");
	snprintf(text, sizeof text, "%.30s %.30s", format ? format : "", version ? version : "");
	json_put_text(&a->json, "source", text);
	json_put_text(&a->json, "diagnosis", diagnosis_state(a, number));
	json_end_object(&a->json);
}

static bool ask_info(struct asking *a, struct hwy_err *err)
{
	(void)err;
	json_begin_object(&a->json);
	json_put_int(&a->json, "protocol", VIEW_PROTOCOL);
	json_put_text(&a->json, "version", HEADWAY_VERSION);
	json_put_bool(&a->json, "inline", a->all->is_inline);
	json_put_bool(&a->json, "keep", a->all->keep);
	json_key(&a->json, "left_out");
	json_begin_array(&a->json);
	for (uint32_t i = 0; a->all->left_out && a->all->left_out[i]; i++)
		json_textz(&a->json, a->all->left_out[i]);
	json_end_array(&a->json);
	json_key(&a->json, "traces");
	json_begin_array(&a->json);
	for (uint32_t t = 0; t < a->all->n; t++)
		put_trace(a, t);
	json_end_array(&a->json);
	json_end_object(&a->json);
	return true;
}

static bool ask_alive(struct asking *a, struct hwy_err *err)
{
	(void)err;
	json_begin_object(&a->json);
	json_key(&a->json, "diagnosis");
	json_begin_array(&a->json);
	for (uint32_t t = 0; t < a->all->n; t++)
		json_textz(&a->json, diagnosis_state(a, t));
	json_end_array(&a->json);
	json_end_object(&a->json);
	return true;
}

static bool ask_bye(struct asking *a, struct hwy_err *err)
{
	(void)err;
	a->answer->status = 204;
	return true;
}

static bool ask_page(struct asking *a, struct hwy_err *err)
{
	(void)err;
	a->answer->type = "text/html; charset=utf-8";
	hwy_bytes_put(&a->answer->body, built_page, (size_t)(built_page_end - built_page));
	return true;
}

static bool ask_lanes(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	if (!read_trace(a, &t, err))
		return false;
	return lane_tree_answer(&a->all->traces[t], &a->json, err);
}

static bool ask_tiles(struct asking *a, struct hwy_err *err)
{
	const uint8_t *body = a->request->body;
	uint64_t n = a->request->n_body >= 4 ? hwy_little_read(body, 4) : 0;
	if (n > VIEW_TILES || a->request->n_body != 4 + n * VIEW_TILE_REQUEST)
		return hwy_fail(err, "a list of at most %d tiles is expected", VIEW_TILES);
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *from = body + 4 + i * VIEW_TILE_REQUEST;
		struct tile tile = {
			.trace = from[0],
			.level = from[1],
			.lane = (uint32_t)hwy_little_read(from + 4, 4),
			.index = (int64_t)hwy_little_read(from + 8, 8),
		};
		if (tile.trace >= a->all->n)
			return hwy_fail(err, "there is no trace %" PRIu32, tile.trace);
		struct view_trace *view = &a->all->traces[tile.trace];
		if (!view_pause(view, err) || !tiles_put(view, &tile, &a->answer->body, err))
			return false;
	}
	return true;
}

static bool ask_names(struct asking *a, struct hwy_err *err)
{
	size_t n = a->request->n_body;
	if (n < 4 || n % 4 || n / 4 - 1 > VIEW_NAMES)
		return hwy_fail(err, "a list of at most %d names is expected", VIEW_NAMES);
	uint64_t t = hwy_little_read(a->request->body, 4);
	if (t >= a->all->n)
		return hwy_fail(err, "there is no trace %" PRIu64, t);
	span_names_answer(&a->all->traces[t], &a->json, a->request->body + 4,
			  (uint32_t)(n / 4 - 1));
	return true;
}

static bool ask_span(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t id;
	return read_trace(a, &t, err) &&
	       requests_read_number(a, "id", 0, UINT32_MAX, NULL, &id, err) &&
	       detail_answer_span(&a->all->traces[t], &a->json, (uint32_t)id, err);
}

static bool ask_window(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t lane, from, to;
	return read_trace(a, &t, err) &&
	       requests_read_number(a, "lane", 0, UINT32_MAX, NULL, &lane, err) &&
	       read_window(a, &a->all->traces[t], &from, &to, err) &&
	       detail_answer_window(&a->all->traces[t], &a->json, (uint32_t)lane, from, to, err);
}

static bool read_direction(const struct asking *a, int64_t *direction, struct hwy_err *err)
{
	int64_t one = 1;
	return requests_read_number(a, "dir", -1, 1, &one, direction, err) &&
	       (*direction != 0 || hwy_fail(err, "'dir' must be 1 or -1"));
}

static bool ask_next(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t id, direction, any, no = 0;
	return read_trace(a, &t, err) &&
	       requests_read_number(a, "id", 0, UINT32_MAX, NULL, &id, err) &&
	       read_direction(a, &direction, err) &&
	       requests_read_number(a, "any", 0, 1, &no, &any, err) &&
	       detail_answer_next(&a->all->traces[t], &a->json, (uint32_t)id, (int)direction,
				  any != 0, err);
}

/* Reads the words that a search looks for; without any, "". */
static bool read_words(const struct asking *a, const char **text, struct hwy_err *err)
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
	int64_t n, skip, usual = 1024, none = -1, zero = 0;
	if (!read_trace(a, t, err) ||
	    !read_window(a, &a->all->traces[*t], &search->from, &search->to, err) ||
	    !read_words(a, &search->text, err) ||
	    !requests_read_number(a, "n", 1, most, &usual, &n, err) ||
	    !requests_read_number(a, "lane", 0, UINT32_MAX, &none, &search->lane, err) ||
	    !requests_read_number(a, "skip", 0, INT64_MAX, &zero, &skip, err))
		return false;
	search->n = (uint32_t)n;
	search->skip = (uint64_t)skip;
	return true;
}

static bool ask_search(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	struct search search;
	return read_search(a, 4096, &t, &search, err) &&
	       search_answer(&a->all->traces[t], &a->json, &search, err);
}

static bool ask_marks(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	struct search search;
	return read_search(a, VIEW_PIXELS, &t, &search, err) &&
	       search_answer_marks(&a->all->traces[t], &a->json, &search, err);
}

static bool ask_hit(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	const char *text;
	int64_t direction, none = -1, zero = 0;
	struct search_place from;
	return read_trace(a, &t, err) && read_words(a, &text, err) &&
	       requests_read_number(a, "id", 0, UINT32_MAX, &none, &from.id, err) &&
	       requests_read_number(a, "from", 0, INT64_C(1) << 53, &zero, &from.time, err) &&
	       read_direction(a, &direction, err) &&
	       search_answer_hit(&a->all->traces[t], &a->json, text, from, (int)direction, err);
}

/* Yields the gaps or the path. They come once and stay until the server ends, so they can be read
 * without the worker's lock. */
static struct annotations read_annotations_of(struct worker *worker, bool path)
{
	pthread_mutex_lock(&worker->lock);
	struct annotations all = path ? worker->path : worker->gaps;
	pthread_mutex_unlock(&worker->lock);
	return all;
}

static bool ask_interval(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t from, to;
	if (!read_trace(a, &t, err) || !read_window(a, &a->all->traces[t], &from, &to, err))
		return false;
	struct annotations gaps = read_annotations_of(&a->all->workers[t], false);
	return interval_answer(&a->all->traces[t], &a->json, gaps.v ? &gaps : NULL, from, to, err);
}

/* ---- results of the diagnosis ---------------------------------------------------------------- */

/* Whether the diagnosis has a result; where it has none, the answer says why. The worker's lock
 * must be held. */
static bool has_result(struct asking *a, const struct worker *worker, bool is_there)
{
	if (is_there)
		return true;
	const char *why = (const char *)worker->frames[WORKER_FAILED].bytes;
	if (worker->state == WORKER_BROKEN || worker->state == WORKER_NONE)
		answer_texts(a, 200, "failed", why ? why : "the diagnosis ended early");
	else
		answer_texts(a, 202, "pending", NULL);
	return false;
}

static bool ask_frame(struct asking *a, enum worker_tag tag, struct hwy_err *err)
{
	uint32_t t;
	if (!read_trace(a, &t, err))
		return false;
	struct worker *worker = &a->all->workers[t];
	a->answer->type = JSON;
	pthread_mutex_lock(&worker->lock);
	if (has_result(a, worker, worker->frames[tag].bytes))
		hwy_bytes_put(&a->answer->body, worker->frames[tag].bytes, worker->frames[tag].n);
	pthread_mutex_unlock(&worker->lock);
	return true;
}

static bool ask_diagnosis(struct asking *a, struct hwy_err *err)
{
	return ask_frame(a, WORKER_DIAGNOSIS, err);
}
static bool ask_steps(struct asking *a, struct hwy_err *err)
{
	return ask_frame(a, WORKER_STEPS, err);
}
static bool ask_headway(struct asking *a, struct hwy_err *err)
{
	return ask_frame(a, WORKER_HEADWAY, err);
}
static bool ask_edits(struct asking *a, struct hwy_err *err)
{
	return ask_frame(a, WORKER_EDITS, err);
}

static bool ask_roofline(struct asking *a, struct hwy_err *err)
{
	return ask_frame(a, WORKER_ROOFLINE, err);
}

static bool ask_annotations(struct asking *a, bool path, struct hwy_err *err)
{
	uint32_t t;
	int64_t from, to, n, usual = 1024;
	if (!read_trace(a, &t, err) || !read_window(a, &a->all->traces[t], &from, &to, err) ||
	    !requests_read_number(a, "n", 1, VIEW_PIXELS, &usual, &n, err))
		return false;
	struct worker *worker = &a->all->workers[t];
	struct annotations all = read_annotations_of(worker, path);
	pthread_mutex_lock(&worker->lock);
	bool is_there = has_result(a, worker, all.v);
	pthread_mutex_unlock(&worker->lock);
	if (is_there)
		annotations_answer(&all, from, to, (uint32_t)n, &a->answer->body);
	return true;
}

static bool ask_gaps(struct asking *a, struct hwy_err *err)
{
	return ask_annotations(a, false, err);
}
static bool ask_path(struct asking *a, struct hwy_err *err)
{
	return ask_annotations(a, true, err);
}

static bool ask_whatif(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t phase, usual = -1;
	const char *edits = a->request->argument(a->request, "edits");
	if (!read_trace(a, &t, err) ||
	    !requests_read_number(a, "phase", -1, 65535, &usual, &phase, err))
		return false;
	edits = edits ? edits : "";
	if (strlen(edits) > 1024 || strpbrk(edits, "\r\n"))
		return hwy_fail(err, "'edits' is too long or has more than one line");
	struct worker *worker = &a->all->workers[t];
	pthread_mutex_lock(&worker->lock);
	bool is_ready = has_result(a, worker, worker->state == WORKER_DONE);
	pthread_mutex_unlock(&worker->lock);
	char question[1100];
	snprintf(question, sizeof question, "%" PRId64 " %s\n", phase, edits);
	a->answer->type = JSON;
	if (is_ready && !worker_ask(worker, question, a->request->is_abandoned, a->request->from,
				    &a->answer->body))
		return hwy_fail(err, "the replay did not answer");
	return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
	LOCKED = 1,  /* the answer reads a trace, so the lock of the traces is held */
	AS_JSON = 2, /* the answer is written through asking.json */
};

static const struct kind {
	const char *path, *method;
	bool (*ask)(struct asking *a, struct hwy_err *err);
	unsigned how;
} kinds[] = {
	{"", "GET", ask_page, 0},
	{"info", "GET", ask_info, LOCKED | AS_JSON},
	{"alive", "GET", ask_alive, AS_JSON},
	{"bye", "POST", ask_bye, 0},
	{"lanes", "GET", ask_lanes, LOCKED | AS_JSON},
	{"tiles", "POST", ask_tiles, LOCKED},
	{"names", "POST", ask_names, LOCKED | AS_JSON},
	{"span", "GET", ask_span, LOCKED | AS_JSON},
	{"at", "GET", ask_window, LOCKED | AS_JSON},
	{"next", "GET", ask_next, LOCKED | AS_JSON},
	{"search", "GET", ask_search, LOCKED | AS_JSON},
	{"marks", "GET", ask_marks, LOCKED | AS_JSON},
	{"hit", "GET", ask_hit, LOCKED | AS_JSON},
	{"interval", "GET", ask_interval, LOCKED | AS_JSON},
	{"diagnosis", "GET", ask_diagnosis, 0},
	{"steps", "GET", ask_steps, 0},
	{"headway", "GET", ask_headway, 0},
	{"gaps", "GET", ask_gaps, 0},
	{"path", "GET", ask_path, 0},
	{"edits", "GET", ask_edits, 0},
	{"whatif", "GET", ask_whatif, 0},
	{"roofline", "GET", ask_roofline, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *find_kind(const char *path)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i].path, path) == 0)
			return &kinds[i];
	return NULL;
}

bool requests_has_path(const char *path)
{
	return find_kind(path) != NULL;
}

/* Fills the answer while the lock of the traces is held, where the kind of request needs it. */
static bool ask_in_turn(struct asking *a, const struct kind *kind, struct hwy_err *err)
{
	if (!(kind->how & LOCKED))
		return kind->ask(a, err);
	struct turn turn = {.is_abandoned = a->request->is_abandoned, .from = a->request->from};
	if (a->all->turns && !turns_begin(a->all->turns, &turn, err)) {
		a->answer->status = 503;
		return false;
	}
	for (uint32_t t = 0; t < a->all->n; t++)
		view_trim(&a->all->traces[t]);
	bool ok = kind->ask(a, err);
	/* A pause that failed ends a request that is right in itself. */
	if (!ok && turn.is_ended)
		a->answer->status = 503;
	if (a->all->turns)
		turns_end(a->all->turns);
	return ok;
}

static void answer_kind(struct asking *a, const struct kind *kind)
{
	struct hwy_err err = {0};
	a->answer->type = kind->how & AS_JSON ? JSON : BINARY;
	if (kind->how & AS_JSON) {
		memory_text_begin(&a->memory);
		a->json.out = a->memory.out;
	}
	bool ok = ask_in_turn(a, kind, &err);
	if (kind->how & AS_JSON) {
		memory_text_end(&a->memory);
		if (ok)
			hwy_bytes_put(&a->answer->body, a->memory.text, a->memory.length);
		free(a->memory.text);
	}
	if (!ok)
		answer_texts(a, a->answer->status == 503 ? 503 : 400, NULL, err.text);
	if (a->answer->status == 204)
		a->answer->type = NULL;
}

void requests_answer(const struct requests *requests, const struct request *request,
		     struct answer *answer)
{
	const struct kind *kind = find_kind(request->path);
	*answer = (struct answer){.status = 200};
	struct asking asking = {.all = requests, .request = request, .answer = answer};
	if (!kind)
		answer->status = 404;
	else if (strcmp(kind->method, request->method) != 0)
		answer->status = 405;
	else
		answer_kind(&asking, kind);
}
