/* SPDX-License-Identifier: Apache-2.0 */
/* inline.c - see inline.h. */
#include "serve/inline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "serve/tiles.h"

enum {
	/* How many levels below the top level the page gets, for lanes whose tiles never become
	 * lists of spans. */
	COUNTER_LEVELS = 6,
	DEVICE_LEVELS = 8,
	/* Bytes that the sentences about what was left out add to the entry 'info' at most. */
	LEFT_OUT_BYTES = 8192,
	ENTRY_ROWS = 1024, /* number of spans whose columns one entry holds */
};

/* A page that is being written. Its data is an object of entries: "key":"base64 of gzip". */
struct writing {
	struct inline_page *page;
	/* The page in the language in use: up to where its data stands, and from there on. */
	struct hwy_bytes begin;
	const char *rest;
	struct requests requests;
	struct hwy_bytes entries;
	uint64_t reserve_bytes; /* bytes of the page that stay free for entries that must fit */
	/* By trace: the most bytes that the names take which tiles have used so far. */
	uint64_t names_size[SERVER_TRACES];
	/* By trace and by id of a name: 1 where a tile of the page uses the name. */
	uint8_t *names[SERVER_TRACES];
	uint64_t n_lost_tiles;
	unsigned lost_level; /* the highest level of which a tile did not fit */
	uint64_t n_lost_rows;
};

/* An entry of JSON that is being written. */
struct json_entry {
	struct hwy_json json;
	struct memory_text memory;
};

/* ---- entries --------------------------------------------------------------------------------- */

static void put_base64(struct hwy_bytes *out, const uint8_t *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *to = hwy_bytes_add(out, (n + 2) / 3 * 4);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16;
		three |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= i + 2 < n ? bytes[i + 2] : 0;
		*to++ = (uint8_t)digits[three >> 18];
		*to++ = (uint8_t)digits[three >> 12 & 63];
		*to++ = (uint8_t)(i + 1 < n ? digits[three >> 6 & 63] : '=');
		*to++ = (uint8_t)(i + 2 < n ? digits[three & 63] : '=');
	}
}

/* Yields the size that the page would have if no entry were added but those for which room is
 * reserved, and the names that its tiles use. */
static uint64_t size_of_page(const struct writing *w)
{
	uint64_t size =
		w->begin.n + w->entries.n + w->reserve_bytes + (uint64_t)(built_page_end - w->rest);
	for (uint32_t t = 0; t < w->page->n; t++)
		size += w->names_size[t];
	return size;
}

/* Adds an entry. Where the page would become too large nothing is added, and the result is
 * false. */
static bool put_entry(struct writing *w, const char *key, const void *bytes, size_t n)
{
	struct hwy_bytes small = {0};
	size_t before = w->entries.n;
	/* The page expects gzip, even where gzip makes an entry longer. */
	gzip(bytes, n, 9, &small);
	struct memory_text quoted;
	memory_text_begin(&quoted);
	json_escape(quoted.out, key, strlen(key));
	memory_text_end(&quoted);
	/* Keys contain what users typed and traces say: no "</script>" may end the page's
	 * script. */
	for (size_t i = 0; i < quoted.length; i++)
		quoted.text[i] = quoted.text[i] == '<' ? '_' : quoted.text[i];
	if (w->entries.n)
		hwy_bytes_put(&w->entries, ",\n", 2);
	hwy_bytes_put(&w->entries, quoted.text, quoted.length);
	hwy_bytes_put(&w->entries, ":\"", 2);
	put_base64(&w->entries, small.bytes, small.n);
	hwy_bytes_put(&w->entries, "\"", 1);
	free(quoted.text);
	free(small.bytes);
	bool fits = size_of_page(w) <= w->page->most;
	if (!fits)
		w->entries.n = before;
	return fits;
}

__attribute__((format(printf, 2, 3))) static void leave_out(struct inline_page *page,
							    const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	/* Several missing entries may have the same sentence, which is listed once. */
	for (unsigned i = 0; i < page->n_left_out; i++)
		if (strcmp(page->left_out[i], text) == 0)
			return;
	if (page->n_left_out < INLINE_LEFT_OUT)
		page->left_out[page->n_left_out++] =
			hwy_arena_text(&page->arena, text, strlen(text));
}

/* ---- plain answers --------------------------------------------------------------------------- */

struct argument {
	const char *key, *value;
};

static const char *inline_argument(const struct request *request, const char *key)
{
	for (const struct argument *one = request->from; one->key; one++)
		if (strcmp(one->key, key) == 0)
			return one->value;
	return NULL;
}

static struct answer answer_of(struct writing *w, const char *path, const char *trace,
			       const char *edits)
{
	struct argument arguments[] = {{"t", trace}, {"n", "4096"}, {"edits", edits}, {NULL, NULL}};
	struct request request = {
		.method = "GET", .path = path, .argument = inline_argument, .from = arguments};
	struct answer answer;
	requests_answer(&w->requests, &request, &answer);
	return answer;
}

static void put_answer(struct writing *w, const char *key, const char *path, const char *trace,
		       const char *edits)
{
	struct answer answer = answer_of(w, path, trace, edits);
	if (answer.status == 200 && !put_entry(w, key, answer.body.bytes, answer.body.n))
		leave_out(w->page, "%s", hwy_tr(path));
	free(answer.body.bytes);
}

/* Puts an answer without which the page does not start. Where the answer does not fit, the error
 * says how large the page must be allowed to be. */
static bool put_needed(struct writing *w, const char *key, const char *path, const char *trace,
		       struct hwy_err *err)
{
	struct answer answer = answer_of(w, path, trace, NULL);
	uint64_t most = w->page->most;
	w->page->most = UINT64_MAX;
	put_entry(w, key, answer.body.bytes, answer.body.n);
	w->page->most = most;
	free(answer.body.bytes);
	/* The other answers of the page's first picture take about a quarter more. */
	uint64_t needed_mb = (size_of_page(w) * 5 / 4 + 999999) / 1000000;
	return size_of_page(w) <= most ||
	       hwy_fail(err,
			"the page does not fit into %" PRIu64
			" MB: its list of lanes alone takes more; --max-size=%" PRIu64
			" holds the lanes and a little of what is on them",
			most / 1000000, needed_mb);
}

static void put_answers(struct writing *w, uint32_t number)
{
	static const char *const paths[] = {HWY_KEY("diagnosis"), HWY_KEY("steps"),
					    HWY_KEY("headway"), HWY_KEY("edits"),
					    HWY_KEY("roofline")};
	char trace[16], key[64];
	snprintf(trace, sizeof trace, "%" PRIu32, number);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		snprintf(key, sizeof key, "%s?t=%s", paths[i], trace);
		put_answer(w, key, paths[i], trace, NULL);
	}
	snprintf(key, sizeof key, "whatif/%s/", trace);
	put_answer(w, key, HWY_KEY("whatif"), trace, "");
}

/* Puts the flame graphs of the whole recording and of its steady steps, as the page asks for
 * them at first. */
static void put_flames(struct writing *w, uint32_t number)
{
	static const char *const kinds[] = {"samples", "operators", "stacks&python=1"};
	char trace[16], kind[16], key[64];
	snprintf(trace, sizeof trace, "%" PRIu32, number);
	for (unsigned i = 0; i < 2 * (sizeof kinds / sizeof *kinds); i++) {
		const char *of = kinds[i / 2], *python = strchr(of, '=');
		bool is_steady = i % 2 == 1;
		snprintf(kind, sizeof kind, "%.*s", (int)strcspn(of, "&"), of);
		struct argument arguments[] = {{"t", trace},
					       {"kind", kind},
					       {"steps", is_steady ? "1" : "0"},
					       {"python", python ? python + 1 : "0"},
					       {NULL, NULL}};
		struct request request = {.method = "GET",
					  .path = "flame",
					  .argument = inline_argument,
					  .from = arguments};
		struct answer answer;
		requests_answer(&w->requests, &request, &answer);
		snprintf(key, sizeof key, "flame?t=%s&kind=%s%s", trace, of,
			 is_steady ? "&steps=1" : "");
		if (answer.status == 200 && !put_entry(w, key, answer.body.bytes, answer.body.n))
			leave_out(w->page, "%s", hwy_tr("flame graphs"));
		free(answer.body.bytes);
	}
}

/* Puts gaps or the critical path: unmerged, unless that takes more than a tenth of the page;
 * then merged as for a screen of VIEW_PIXELS pixels. */
static void put_annotations(struct writing *w, const char *kind,
			    const struct annotations *annotations, uint32_t number)
{
	const struct view_trace *view = &w->page->traces[number];
	bool is_unmerged = annotations->n < w->page->most / 10 / VIEW_ANNOTATION;
	struct hwy_bytes encoded = {0};
	char key[64];
	annotations_answer(annotations, view->from - view->origin, view->to - view->origin,
			   is_unmerged ? UINT32_MAX : VIEW_PIXELS, &encoded);
	snprintf(key, sizeof key, "%s/%" PRIu32, kind, number);
	if (!put_entry(w, key, encoded.bytes, encoded.n))
		leave_out(w->page, "%s", hwy_tr(kind));
	free(encoded.bytes);
}

/* Puts the prediction for every suggested list of edits. The lists are found as "edits":"…" in
 * the answer to the request 'edits'; worker_tell.c wrote that text, so its form is known. */
static void put_suggested(struct writing *w, uint32_t number)
{
	enum { MOST_SUGGESTIONS = 12 };
	static const char wanted[] = "\"finding\":";
	struct worker *worker = &w->page->workers[number];
	char trace[16], edits[512], key[600];
	snprintf(trace, sizeof trace, "%" PRIu32, number);
	const char *at = (const char *)worker->frames[WORKER_EDITS].bytes;
	for (int i = 0; at && i < MOST_SUGGESTIONS && (at = strstr(at, wanted)); i++) {
		at = strstr(at, "\"edits\":\"");
		if (!at)
			break;
		at += strlen("\"edits\":\"");
		size_t n = strcspn(at, "\"\\");
		if (at[n] != '"' || n == 0 || n >= sizeof edits)
			continue;
		memcpy(edits, at, n);
		edits[n] = 0;
		snprintf(key, sizeof key, "whatif/%s/%s", trace, edits);
		put_answer(w, key, "whatif", trace, edits);
	}
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Notes the names that the spans of a tile have. The tile comes from tiles_put and is therefore
 * well-formed. */
static void note_names(struct writing *w, const struct hwy_bytes *tile, uint32_t trace)
{
	uint8_t form = tile->bytes[VIEW_TILE_FORM_AT];
	uint32_t n = (uint32_t)hwy_little_read(tile->bytes + VIEW_TILE_COUNT_AT, 4);
	struct hwy_bytes_reader reader = hwy_bytes_reader(tile->bytes, tile->n);
	hwy_bytes_take(&reader, VIEW_TILE_HEAD);
	if (form == VIEW_SUMMARY) {
		unsigned mask = hwy_bytes_read_byte(&reader), bytes_per_bucket = 1;
		bytes_per_bucket += hwy_bytes_read_byte(&reader);
		uint32_t n_long = (uint32_t)hwy_bytes_read_little(&reader, 2);
		for (unsigned bit = 0; bit < 4; bit++)
			bytes_per_bucket += mask >> bit & 1;
		bytes_per_bucket += mask & VIEW_HAS_COLORS ? 1u : 0u;
		bytes_per_bucket += mask & VIEW_HAS_COUNTS ? 2u : 0u;
		hwy_bytes_take(&reader, (uint64_t)bytes_per_bucket * n);
		n = n_long;
	} else if (form != VIEW_SPANS) {
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		for (int skipped = 0; skipped < 3; skipped++) /* skips id, start, duration */
			hwy_bytes_read_varint(&reader);
		uint64_t name = hwy_bytes_read_varint(&reader);
		hwy_bytes_take(&reader, 2); /* skips colour and depth */
		if (!w->names[trace][name]) {
			w->names[trace][name] = 1;
			uint32_t length =
				span_names_text(w->page->traces[trace].trace, (int64_t)name).length;
			w->names_size[trace] += length < VIEW_NAME ? length + 12 : VIEW_NAME + 12;
		}
	}
}

/* The tiles that are to be written, from coarse to fine. */
struct queue {
	struct tile *v;
	uint32_t n, cap, next;
};

static void want(struct queue *queue, struct tile tile)
{
	HWY_GROW(queue->v, queue->n, queue->cap);
	queue->v[queue->n++] = tile;
}

/* Yields the lowest level at which the recording is not longer than one tile; the recording may
 * touch two tiles. */
static unsigned top_level(const struct view_trace *view)
{
	unsigned level = 0;
	while (level < VIEW_LEVELS - 1 && (view->to - view->from) >> (level + VIEW_TILE_BITS) > 0)
		level++;
	return level;
}

static void want_top(struct queue *queue, const struct view_trace *view, uint32_t trace,
		     uint32_t lane)
{
	unsigned level = top_level(view), by = level + VIEW_TILE_BITS;
	int64_t first = (view->from - view->origin) >> by, last = (view->to - view->origin) >> by;
	for (int64_t index = first; index <= last; index++)
		want(queue, (struct tile){trace, level, lane, index});
}

static bool put_tile(struct writing *w, struct queue *queue, const struct tile *tile,
		     struct hwy_err *err)
{
	struct hwy_bytes encoded = {0};
	struct view_trace *view = &w->page->traces[tile->trace];
	if (!tiles_put(view, tile, &encoded, err)) {
		free(encoded.bytes);
		return false;
	}
	uint8_t form = encoded.bytes[VIEW_TILE_FORM_AT];
	char key[80];
	snprintf(key, sizeof key, "tile/%" PRIu32 "/%" PRIu32 "/%u/%" PRId64, tile->trace,
		 tile->lane, tile->level, tile->index);
	bool fits = form == VIEW_NOTHING || put_entry(w, key, encoded.bytes, encoded.n);
	if (!fits) {
		w->n_lost_tiles++;
		w->lost_level = tile->level > w->lost_level ? tile->level : w->lost_level;
	} else if (form != VIEW_NOTHING) {
		note_names(w, &encoded, tile->trace);
	}
	unsigned levels = form == VIEW_COUNTER         ? COUNTER_LEVELS
			  : tile->lane & VIEW_HARDWARE ? DEVICE_LEVELS
						       : VIEW_LEVELS;
	if (fits && tile->level > 0 && (form == VIEW_SUMMARY || form == VIEW_COUNTER) &&
	    tile->level + levels > top_level(view))
		for (int64_t half = 0; half < 2; half++)
			want(queue, (struct tile){tile->trace, tile->level - 1, tile->lane,
						  tile->index * 2 + half});
	free(encoded.bytes);
	return true;
}

static bool put_tiles(struct writing *w, struct hwy_err *err)
{
	struct queue queue = {0};
	bool ok = true;
	for (uint32_t t = 0; t < w->page->n; t++) {
		const struct view_trace *view = &w->page->traces[t];
		for (uint32_t d = 0; d < view_unions(view); d++)
			want_top(&queue, view, t, VIEW_HARDWARE | d);
		for (uint32_t l = 0; l < view->trace->n_lanes; l++)
			if (view->lanes[l].n > 0)
				want_top(&queue, view, t, l);
		for (uint32_t p = 0; p < view->projected.n; p++)
			want_top(&queue, view, t, VIEW_PROJECTED | p);
	}
	while (ok && queue.next < queue.n) {
		struct tile tile = queue.v[queue.next++];
		ok = put_tile(w, &queue, &tile, err);
	}
	free(queue.v);
	return ok;
}

/* ---- texts, links, columns ------------------------------------------------------------------- */

static struct hwy_json *entry_begin(struct json_entry *entry)
{
	memory_text_begin(&entry->memory);
	entry->json = (struct hwy_json){.out = entry->memory.out};
	return &entry->json;
}

/* Ends the entry "KEY/TRACE". Yields false where the entry does not fit. */
static bool entry_end(struct writing *w, struct json_entry *entry, const char *key, uint32_t trace)
{
	char full[64];
	memory_text_end(&entry->memory);
	snprintf(full, sizeof full, "%s/%" PRIu32, key, trace);
	bool fits = put_entry(w, full, entry->memory.text, entry->memory.length);
	free(entry->memory.text);
	return fits;
}

static void inline_put_names(struct writing *w, uint32_t trace)
{
	const struct view_trace *view = &w->page->traces[trace];
	struct json_entry entry;
	struct hwy_json *json = entry_begin(&entry);
	json_begin_object(json);
	for (uint32_t i = 0; i < view->trace->strings.n + SPAN_NAMES_MADE; i++) {
		char key[32];
		if (!w->names[trace][i])
			continue;
		snprintf(key, sizeof key, "%" PRIu32, i);
		json_key(json, key);
		span_names_put(json, span_names_text(view->trace, i));
	}
	json_end_object(json);
	w->names_size[trace] = 0; /* the entry itself replaces the estimate */
	if (!entry_end(w, &entry, "names", trace))
		leave_out(w->page, "%s", hwy_tr("names"));
}

static bool put_links(struct writing *w, uint32_t trace, struct hwy_err *err)
{
	struct json_entry entry;
	bool ok = inline_data_put_links(&w->page->traces[trace], entry_begin(&entry), err);
	if (!entry_end(w, &entry, "links", trace))
		leave_out(w->page, "%s", hwy_tr("which call enqueued which work"));
	inline_data_put_stacks(&w->page->traces[trace], entry_begin(&entry));
	if (!entry_end(w, &entry, "stacks", trace))
		leave_out(w->page, "%s", hwy_tr("stacks"));
	return ok;
}

/* Puts the columns of spans, strip after strip in turns: what does not fit is then missing at
 * the end of every lane. */
static bool put_columns(struct writing *w, uint32_t trace, struct hwy_err *err)
{
	const struct hwy_trace *recorded = w->page->traces[trace].trace;
	bool ok = true, more = true;
	for (uint32_t row = 0; ok && more; row += ENTRY_ROWS) {
		more = false;
		for (uint32_t s = 0; ok && s < recorded->n_strips; s++) {
			const struct hwy_strip *strip = &recorded->strips[s];
			if (row >= strip->rows || strip->kind == HWY_COUNTER)
				continue;
			more = true;
			uint32_t n =
				strip->rows - row < ENTRY_ROWS ? strip->rows - row : ENTRY_ROWS;
			if (w->n_lost_rows > 0) {
				w->n_lost_rows += n;
				continue;
			}
			struct json_entry entry;
			char key[32];
			snprintf(key, sizeof key, "rows/%" PRIu32, trace);
			ok = inline_data_put_rows(&w->page->traces[trace], entry_begin(&entry), s,
						  row, n, err);
			if (!entry_end(w, &entry, key, strip->first + row))
				w->n_lost_rows += n;
		}
	}
	return ok;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void write_page(const struct writing *w, FILE *out)
{
	fwrite(w->begin.bytes, 1, w->begin.n, out);
	fputs("<script>window.HEADWAY_INLINE={\n", out);
	fwrite(w->entries.bytes, 1, w->entries.n, out);
	fputs("\n}</script>\n", out);
	fwrite(w->rest, 1, (size_t)(built_page_end - w->rest), out);
}

static void tell_losses(struct writing *w)
{
	struct inline_page *page = w->page;
	uint64_t mb = page->most / 1000000;
	if (w->n_lost_tiles > 0)
		leave_out(page,
			  hwy_tr("details finer than %s: they do not fit into %" PRIu64 " MB"),
			  hwy_say_time4(INT64_C(1) << (w->lost_level + 1)).text, mb);
	if (w->n_lost_rows > 0)
		leave_out(page,
			  hwy_tr("the columns and stacks of %s spans: they do not fit into %" PRIu64
				 " MB"),
			  hwy_say_count_grouped(w->n_lost_rows).text, mb);
}

/* Puts the lanes of every trace, and keeps room for 'info', which is written last because it
 * names what was left out. */
static bool put_all_needed(struct writing *w, struct hwy_err *err)
{
	if (!put_needed(w, "info", "info", "0", err))
		return false;
	w->reserve_bytes = w->entries.n + LEFT_OUT_BYTES;
	w->entries.n = 0;
	bool ok = true;
	for (uint32_t t = 0; ok && t < w->page->n; t++) {
		char trace[16], key[32];
		snprintf(trace, sizeof trace, "%" PRIu32, t);
		snprintf(key, sizeof key, "lanes?t=%s", trace);
		ok = put_needed(w, key, "lanes", trace, err);
	}
	return ok;
}

/* The order decides what is left out where the page becomes too large: what the page cannot do
 * without and what everybody sees come first, what a click shows comes last. */
static bool inline_put_all(struct writing *w, struct hwy_err *err)
{
	uint32_t n = w->page->n;
	bool ok = put_all_needed(w, err);
	for (uint32_t t = 0; ok && t < n; t++) {
		put_answers(w, t);
		put_suggested(w, t);
		put_annotations(w, HWY_KEY("gaps"), &w->page->workers[t].gaps, t);
		put_annotations(w, HWY_KEY("path"), &w->page->workers[t].path, t);
	}
	if (w->page->compare &&
	    !put_entry(w, "compare", w->page->compare, strlen(w->page->compare)))
		leave_out(w->page, "%s", hwy_tr("the comparison"));
	ok = ok && put_tiles(w, err);
	for (uint32_t t = 0; ok && t < n; t++)
		put_flames(w, t);
	for (uint32_t t = 0; ok && t < n; t++)
		inline_put_names(w, t);
	for (uint32_t t = 0; ok && t < n; t++)
		ok = put_links(w, t, err);
	for (uint32_t t = 0; ok && t < n; t++)
		ok = put_columns(w, t, err);
	tell_losses(w);
	w->reserve_bytes = 0;
	return ok && put_needed(w, "info", "info", "0", err);
}

bool inline_write(struct inline_page *page, FILE *out, struct hwy_err *err)
{
	struct writing w = {.page = page};
	w.rest = page_language_begin(&w.begin);
	if (!w.rest)
		return hwy_fail(
			err,
			"this build of headway has no page, it was built without npm: npm --prefix web ci && make");
	w.requests = (struct requests){.traces = page->traces,
				       .workers = page->workers,
				       .n = page->n,
				       .is_inline = true,
				       .left_out = page->left_out};
	for (uint32_t t = 0; t < page->n; t++)
		w.names[t] = hwy_zarray(page->traces[t].trace->strings.n + SPAN_NAMES_MADE, 1);
	bool ok = inline_put_all(&w, err);
	if (ok)
		write_page(&w, out);
	for (uint32_t t = 0; t < page->n; t++)
		free(w.names[t]);
	hwy_bytes_free(&w.entries);
	hwy_bytes_free(&w.begin);
	return ok;
}

void inline_free(struct inline_page *page)
{
	hwy_arena_free(&page->arena);
}
