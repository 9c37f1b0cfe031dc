/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - the requests that the page may make (docs/view-protocol.md), each with its
 * arguments and its answer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lang.h"
#include "base/path.h"
#include "serve/asking.h"
#include "serve/flame_request.h"
#include "serve/headway_series.h"
#include "serve/lane_choice.h"
#include "serve/selection.h"
#include "serve/tiles.h"

#define JSON "application/json"
#define BINARY "application/octet-stream"

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

/* Yields a number that is the same whenever this recording is opened and, in all likelihood,
 * another for every other one: the page keeps a person's notes under it. */
static uint64_t trace_identity(const struct view_trace *view)
{
	const int64_t about[] = {view->trace->n_spans, view->from, view->to, view->trace->wall};
	return hwy_hash(about, sizeof about);
}

void requests_identities(const struct requests *requests, char text[REQUESTS_IDENTITIES])
{
	*text = 0;
	for (uint32_t t = 0; t < requests->n; t++)
		snprintf(text + strlen(text), REQUESTS_IDENTITIES - strlen(text), "%s%016" PRIx64,
			 t > 0 ? "." : "", trace_identity(&requests->traces[t]));
}

static void put_trace(struct asking *a, uint32_t number)
{
	const struct view_trace *view = &a->all->traces[number];
	const struct hwy_trace *trace = view->trace;
	char text[64];
	json_begin_object(&a->json);
	snprintf(text, sizeof text, "%016" PRIx64, trace_identity(view));
	json_put_text(&a->json, "id", text);
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
	json_put_bool(&a->json, "kept", a->all->is_kept);
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

static bool ask_lanes(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	if (!asking_read_trace(a, &t, err))
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

/* Reads 't' and 'id': a trace, and the number of a span in it, which may not exist. */
static bool read_span(const struct asking *a, struct view_trace **view, uint32_t *id,
		      struct hwy_err *err)
{
	uint32_t t;
	int64_t number;
	if (!asking_read_trace(a, &t, err) ||
	    !asking_read_number(a, "id", 0, UINT32_MAX, NULL, &number, err))
		return false;
	*view = &a->all->traces[t];
	*id = (uint32_t)number;
	return true;
}

static bool ask_span(struct asking *a, struct hwy_err *err)
{
	struct view_trace *view;
	uint32_t id;
	return read_span(a, &view, &id, err) && detail_answer_span(view, &a->json, id, err);
}

static bool ask_chain(struct asking *a, struct hwy_err *err)
{
	struct view_trace *view;
	uint32_t id;
	return read_span(a, &view, &id, err) && span_chain_answer(view, &a->json, id, err);
}

static bool ask_window(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	int64_t lane, from, to;
	return asking_read_trace(a, &t, err) &&
	       asking_read_number(a, "lane", 0, UINT32_MAX, NULL, &lane, err) &&
	       asking_read_window(a, &a->all->traces[t], &from, &to, err) &&
	       detail_answer_window(&a->all->traces[t], &a->json, (uint32_t)lane, from, to, err);
}

static bool ask_next(struct asking *a, struct hwy_err *err)
{
	struct view_trace *view;
	uint32_t id;
	int64_t direction, any, no = 0;
	return read_span(a, &view, &id, err) && asking_read_direction(a, &direction, err) &&
	       asking_read_number(a, "any", 0, 1, &no, &any, err) &&
	       detail_answer_next(view, &a->json, id, (int)direction, any != 0, err);
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

static bool ask_selection(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	struct selection selection;
	uint8_t *lanes = NULL;
	if (!asking_read_trace(a, &t, err))
		return false;
	struct view_trace *view = &a->all->traces[t];
	if (!asking_read_window(a, view, &selection.from, &selection.to, err) ||
	    !lane_choice_read(view, a->request->argument(a->request, "lanes"), &lanes, err))
		return false;
	struct annotations gaps = read_annotations_of(&a->all->workers[t], false);
	selection.gaps = annotations_are_known(&gaps) ? &gaps : NULL;
	selection.lanes = lanes;
	selection.from += view->origin;
	selection.to += view->origin;
	bool ok = selection_answer(view, &a->json, &selection, err);
	free(lanes);
	return ok;
}

/* ---- results of the diagnosis ---------------------------------------------------------------- */

/* Whether the diagnosis has a result; if not, the answer says why. The worker's lock must be
 * held. */
static bool has_result(struct asking *a, const struct worker *worker, bool is_there)
{
	if (is_there)
		return true;
	const char *why = (const char *)worker->frames[WORKER_FAILED].bytes;
	if (worker->state == WORKER_BROKEN || worker->state == WORKER_NONE)
		answer_texts(a, 200, "failed", why ? why : hwy_tr("the diagnosis ended early"));
	else
		answer_texts(a, 202, "pending", NULL);
	return false;
}

/* Answers with what the worker says to a question, if its diagnosis is ready. 'what' says in the
 * error what the process does: "replays". */
static bool ask_worker(struct asking *a, struct worker *worker, const char *question,
		       const char *what, struct hwy_err *err)
{
	pthread_mutex_lock(&worker->lock);
	bool is_ready = has_result(a, worker, worker->state == WORKER_DONE);
	pthread_mutex_unlock(&worker->lock);
	a->answer->type = JSON;
	if (!is_ready || worker_ask(worker, question, a->request->is_abandoned, a->request->from,
				    &a->answer->body))
		return true;
	/* The request was right. */
	a->answer->status = 503;
	return hwy_fail(err, "the process that %s did not answer", what);
}

static bool ask_frame(struct asking *a, enum worker_tag tag, struct hwy_err *err)
{
	uint32_t t;
	if (!asking_read_trace(a, &t, err))
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
/* A window of a trace in which the headway of a device may be looked for exactly. */
struct headway_window {
	struct view_trace *view;
	struct asked_parts asked;
	bool ok;
	struct hwy_err *err;
};

static bool find_headway(void *self, int64_t device, struct device_lead *parts)
{
	struct headway_window *w = self;
	bool is_known = false;
	if (device >= w->view->trace->n_devices || !w->ok)
		return false;
	w->ok = device_lead_parts(w->view, (uint32_t)device, w->asked.from + w->view->origin,
				  w->asked.to + w->view->origin, parts, w->asked.n, &is_known,
				  w->err);
	return is_known;
}

/* The answer is written through a->json, unless it says why there is none. */
static bool ask_headway(struct asking *a, struct hwy_err *err)
{
	struct asked_parts asked;
	if (!asking_read_parts(a, VIEW_PIXELS, &asked, err))
		return false;
	struct worker *worker = &a->all->workers[asked.trace];
	pthread_mutex_lock(&worker->lock);
	/* The frame comes once and stays until the server ends, so it can be read without the
	 * lock. */
	const struct hwy_bytes *series = &worker->frames[WORKER_HEADWAY];
	bool is_there = has_result(a, worker, series->bytes);
	pthread_mutex_unlock(&worker->lock);
	struct headway_window window = {
		&a->all->traces[asked.trace],
		asked,
		true,
		err,
	};
	const struct headway_finer finer = {find_headway, &window};
	if (is_there)
		headway_series_answer(series, asked.from, asked.to, asked.n,
				      a->request->argument(a->request, "from") ? &finer : NULL,
				      &a->json);
	return window.ok;
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
	struct asked_parts asked;
	if (!asking_read_parts(a, VIEW_PIXELS, &asked, err))
		return false;
	struct worker *worker = &a->all->workers[asked.trace];
	struct annotations all = read_annotations_of(worker, path);
	pthread_mutex_lock(&worker->lock);
	bool is_there = has_result(a, worker, annotations_are_known(&all));
	pthread_mutex_unlock(&worker->lock);
	if (is_there)
		annotations_answer(&all, asked.from, asked.to, asked.n, &a->answer->body);
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

/* Asks the worker about a phase, by default the main one: a prediction, or WORKER_APPLICABLE. */
static bool ask_replay(struct asking *a, const char *edits, struct hwy_err *err)
{
	uint32_t t;
	int64_t phase, usual = -1;
	if (!asking_read_trace(a, &t, err) ||
	    !asking_read_number(a, "phase", -1, 65535, &usual, &phase, err))
		return false;
	if (strlen(edits) > 1024 || strpbrk(edits, "\r\n"))
		return hwy_fail(err, "'edits' is too long or has more than one line");
	char question[1100];
	snprintf(question, sizeof question, "%" PRId64 " %s\n", phase, edits);
	return ask_worker(a, &a->all->workers[t], question, "replays", err);
}

static bool ask_whatif(struct asking *a, struct hwy_err *err)
{
	const char *edits = a->request->argument(a->request, "edits");
	return ask_replay(a, edits ? edits : "", err);
}

static bool ask_applicable(struct asking *a, struct hwy_err *err)
{
	return ask_replay(a, WORKER_APPLICABLE, err);
}

static bool ask_flame(struct asking *a, struct hwy_err *err)
{
	struct flame_request flame;
	return flame_request_read(a, &flame, err) &&
	       ask_worker(a, &a->all->workers[flame.trace], flame.question, "adds up", err);
}

static bool ask_sql(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	if (!asking_read_trace(a, &t, err))
		return false;
	char *question = query_read_sql(a, err);
	if (!question)
		return false;
	bool ok = ask_worker(a, &a->all->workers[t], question, "answers SQL", err);
	free(question);
	return ok;
}

static bool ask_compare(struct asking *a, struct hwy_err *err)
{
	struct worker *worker =
		a->all->comparison ? comparison_worker(a->all->comparison, err) : NULL;
	if (!worker)
		return a->all->comparison ? false : hwy_fail(err, "there is one recording only");
	a->answer->type = JSON;
	pthread_mutex_lock(&worker->lock);
	const struct hwy_bytes *frame = &worker->frames[WORKER_COMPARE];
	if (has_result(a, worker, frame->bytes))
		hwy_bytes_put(&a->answer->body, frame->bytes, frame->n);
	pthread_mutex_unlock(&worker->lock);
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
	{"", "GET", page_ask, 0},
	{"late", "GET", page_ask_late, 0},
	{"info", "GET", ask_info, LOCKED | AS_JSON},
	{"alive", "GET", ask_alive, AS_JSON},
	{"bye", "POST", ask_bye, 0},
	{"lanes", "GET", ask_lanes, LOCKED | AS_JSON},
	{"tiles", "POST", ask_tiles, LOCKED},
	{"names", "POST", ask_names, LOCKED | AS_JSON},
	{"span", "GET", ask_span, LOCKED | AS_JSON},
	{"chain", "GET", ask_chain, LOCKED | AS_JSON},
	{"at", "GET", ask_window, LOCKED | AS_JSON},
	{"next", "GET", ask_next, LOCKED | AS_JSON},
	{"search", "GET", query_ask_search, LOCKED | AS_JSON},
	{"marks", "GET", query_ask_marks, LOCKED | AS_JSON},
	{"hit", "GET", query_ask_hit, LOCKED | AS_JSON},
	{"table", "GET", query_ask_table, LOCKED | AS_JSON},
	{"selection", "GET", ask_selection, LOCKED | AS_JSON},
	{"diagnosis", "GET", ask_diagnosis, 0},
	{"steps", "GET", ask_steps, 0},
	{"headway", "GET", ask_headway, LOCKED | AS_JSON},
	{"gaps", "GET", ask_gaps, 0},
	{"path", "GET", ask_path, 0},
	{"edits", "GET", ask_edits, 0},
	{"sql", "GET", ask_sql, 0},
	{"questions", "GET", query_ask_questions, AS_JSON},
	{"whatif", "GET", ask_whatif, 0},
	{"applicable", "GET", ask_applicable, 0},
	{"roofline", "GET", ask_roofline, 0},
	{"export", "GET", export_ask_piece, 0},
	{"export-size", "GET", export_ask_size, AS_JSON},
	{"flame", "GET", ask_flame, 0},
	{"compare", "GET", ask_compare, 0},
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
	/* The request was right, but it took too long, or nobody waits for it any more. */
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
