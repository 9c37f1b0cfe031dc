/* SPDX-License-Identifier: Apache-2.0 */
/* kineto.c - reads a PyTorch profiler (Kineto) Chrome trace, plain or gzip.
 *
 * The text is read event by event through a window: memory grows with the trace, not with the file.
 * Files of old and broken recorders are read as far as their meaning is clear; an event whose
 * meaning is not clear is left out and counted. A file that ends too early is an error, except that
 * the Chrome format allows a bare array of events without its closing bracket.
 */
#include "import/kineto/kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "trace/find_messages.h"

static uint64_t offset_of(const struct kineto *k, const char *cursor)
{
	return k->source.before + (uint64_t)(cursor - k->source.window);
}

static bool fail_at(struct kineto *k, uint64_t offset, const char *what)
{
	return hwy_fail(k->err, "%s: %s at byte %llu", source_path(&k->source), hwy_tr(what),
			(unsigned long long)offset);
}

static bool read_more(struct kineto *k)
{
	return source_more(&k->source, k->progress, k->err);
}

static const char *skip_space(const char *cursor)
{
	while (*cursor == ' ' || *cursor == '\n' || *cursor == '\r' || *cursor == '\t')
		cursor++;
	return cursor;
}

/* ---- finding the way back after an event that is not JSON
 * ------------------------------------------ */

enum { RESTART_BYTES = 256 }; /* how many bytes is_event_start and is_list_end look ahead */

/* Whether one of the keys in 'keys', in quotes and followed by a colon, stands at 'cursor'. */
static bool is_key_of(const char *cursor, const char *end, const char *const *keys, size_t n_keys)
{
	if (*cursor != '"' || cursor >= end)
		return false;
	for (size_t i = 0; i < n_keys; i++) {
		size_t n = strlen(keys[i]);
		if ((size_t)(end - cursor) > n + 2 && memcmp(cursor + 1, keys[i], n) == 0 &&
		    cursor[n + 1] == '"')
			return *skip_space(cursor + n + 2) == ':';
	}
	return false;
}

/* Whether an event starts at 'cursor'. Objects inside an event may have such keys too, but hardly a
 * "ph". */
static bool is_event_start(const char *cursor, const char *end)
{
	static const char *const keys[] = {"ph",  "name", "cat",  "ts", "pid",
					   "tid", "dur",  "args", "id"};
	end = end - cursor < RESTART_BYTES ? end : cursor + RESTART_BYTES;
	return is_key_of(skip_space(cursor + 1), end, keys, sizeof keys / sizeof *keys) &&
	       memmem(cursor, (size_t)(end - cursor), "\"ph\"", 4);
}

/* Whether the list of events ends at 'cursor'. After a list inside an event none of these keys
 * follows. */
static bool is_list_end(const char *cursor, const char *end)
{
	static const char *const keys[] = {
		"schemaVersion",
		"deviceProperties",
		"distributedInfo",
		"baseTimeNanoseconds",
		"traceName",
		"displayTimeUnit",
		"record_shapes",
		"with_stack",
		"with_flops",
		"with_modules",
		"profile_memory",
		"trace_id",
		"host_name",
		"INFO",
		"WARNING",
		"ERROR",
		"cupti_version",
		"cuda_runtime_version",
		"cuda_driver_version",
		"roctracer_version",
		"hip_runtime_version",
		"hip_driver_version",
		"metadata",
		"username",
	};
	cursor = skip_space(cursor + 1);
	if (*cursor == '}')
		return skip_space(cursor + 1) >= end;
	return *cursor == ',' &&
	       is_key_of(skip_space(cursor + 1), end, keys, sizeof keys / sizeof *keys);
}

/* Moves *cursor to where reading can go on: to an event, or to the end of the list. False: the
 * window has no such place, and *cursor is where the search goes on in the next window. *before is
 * the last byte before *cursor that is not space. */
static bool find_restart(const char **cursor, char *before, const char *end, bool finished)
{
	for (; end - *cursor > (finished ? 0 : RESTART_BYTES); ++*cursor) {
		char c = **cursor;
		if (c == '{' && *before != ':' && *before != '[' && is_event_start(*cursor, end))
			return true;
		if (c == ']' && is_list_end(*cursor, end))
			return true;
		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			*before = c;
	}
	return false;
}

/* Skips the event at source->cursor; *ended: no event follows. False: reading failed. */
static bool leave_out(struct kineto *k, bool *ended)
{
	struct source *source = &k->source;
	const char *cursor;
	char before = 0;
	for (;;) {
		cursor = skip_space(source->cursor);
		if (*cursor == ',')
			cursor = skip_space(cursor + 1);
		if (cursor < source->end || source->finished)
			break;
		if (!read_more(k)) /* the window ends in the space before the event */
			return false;
	}
	if (k->drops[DROP_NOT_JSON]++ == 0)
		k->first_bad = offset_of(k, cursor);
	if (*cursor == '{')
		before = *cursor++;
	for (;;) {
		*ended = !find_restart(&cursor, &before, source->end, source->finished);
		source->cursor = cursor;
		if (!*ended || source->finished)
			return true;
		if (!read_more(k))
			return false;
		cursor = source->cursor;
	}
}

/* ---- the events
 * ------------------------------------------------------------------------------------ */

/* Limits for guessing where strings with bare quotes end: the length of an event in which it is
 * tried, and the number of events that were left out before it is tried no more. */
enum { LENIENT_BYTES = 1 << 18, LENIENT_FAILURES = 1000 };

/* Whether guessed ends of strings can be right: a name that holds "ph", or a category that holds a
 * quote, took in other members. */
static bool is_believable(const struct kineto_event *event)
{
	const struct scan_value *name = &event->name, *cat = &event->cat;
	return !memmem(name->text, name->length, "\"ph\"", 4) &&
	       !memchr(cat->text, '"', cat->length);
}

enum step { STEP_EVENT, STEP_END, STEP_FAILED, STEP_CUT };

/* Reads the next event, or the end of the list. 'fresh': no comma stands before the event. */
static enum step next_event(struct kineto *k, bool fresh)
{
	struct source *source = &k->source;
	for (bool lenient = false;;) {
		struct scan scan = scan_over(source->cursor, source->end);
		scan.fresh = fresh;
		scan.lenient = lenient;
		if (scan_element(&scan) && kineto_read_event(k, &scan) &&
		    (!lenient || is_believable(&k->event))) {
			kineto_add_event(k);
			source->cursor = scan.cursor;
			return STEP_EVENT;
		}
		bool is_long = lenient && source->end - source->cursor > LENIENT_BYTES;
		if (scan.status == SCAN_DEEP) {
			fail_at(k, offset_of(k, scan.cursor), HWY_KEY("nested deeper than 64"));
			return STEP_FAILED;
		}
		if (scan.status == SCAN_MORE && !source->finished && !is_long) {
			if (!read_more(k))
				return STEP_FAILED;
		} else if (scan.status == SCAN_MORE && !lenient) {
			return STEP_CUT;
		} else if (scan.status == SCAN_OK && scan.cursor[-1] == ']') {
			source->cursor = scan.cursor;
			return STEP_END;
		} else if (!lenient && k->drops[DROP_NOT_JSON] < LENIENT_FAILURES) {
			lenient = true;
		} else {
			bool ended;
			if (!leave_out(k, &ended))
				return STEP_FAILED;
			if (ended)
				return STEP_CUT;
			fresh = true;
			lenient = false;
		}
	}
}

/* Reads the list of events, whose opening bracket was read. 'is_bare': the file is only this
 * list. */
static bool read_events(struct kineto *k, bool is_bare)
{
	enum step step = next_event(k, true);
	while (step == STEP_EVENT)
		step = next_event(k, false);
	if (step == STEP_FAILED)
		return false;
	if (step == STEP_END)
		return true;
	if (!is_bare || k->n_kept == 0)
		return fail_at(k, offset_of(k, k->source.end),
			       HWY_KEY("truncated: the list of events ends"));
	kineto_add_diagnostic(k, 2,
			      "the list of events has no closing bracket; the file may be cut off");
	k->source.cursor = k->source.end;
	return true;
}

/* ---- the file
 * -------------------------------------------------------------------------------------- */

static bool is_events(struct hwy_text key)
{
	return key.length == 11 && memcmp(key.at, "traceEvents", 11) == 0;
}

enum member { MEMBER_EVENTS, MEMBER_OTHER, MEMBER_NONE, MEMBER_FAILED };

/* Reads the next member of the top-level object; of the member traceEvents, only the opening
 * bracket. */
static enum member next_member(struct kineto *k, bool fresh)
{
	struct source *source = &k->source;
	uint64_t first_bad = 0;
	for (bool lenient = false;;) {
		struct scan scan = scan_over(source->cursor, source->end);
		struct hwy_text key;
		struct scan_value value;
		scan.fresh = fresh;
		scan.lenient = lenient;
		bool has_key = scan_key(&scan, &key);
		if (has_key && is_events(key) && scan_peek(&scan) == '[') {
			source->cursor = scan.cursor + 1;
			return MEMBER_EVENTS;
		}
		if (has_key && scan_value(&scan, &value)) {
			kineto_add_member(k, key, &value);
			source->cursor = scan.cursor;
			return MEMBER_OTHER;
		}
		if (!has_key && scan.status == SCAN_OK) {
			source->cursor = scan.cursor;
			return MEMBER_NONE;
		}
		if (scan.status == SCAN_MORE && !source->finished) {
			if (!read_more(k))
				return MEMBER_FAILED;
		} else if (scan.status == SCAN_BAD && !lenient) {
			lenient = true;
			first_bad = offset_of(k, scan.cursor);
		} else {
			fail_at(k, lenient ? first_bad : offset_of(k, scan.cursor),
				lenient                    ? HWY_KEY("not JSON")
				: scan.status == SCAN_DEEP ? HWY_KEY("nested deeper than 64")
							   : HWY_KEY("truncated: the file ends"));
			return MEMBER_FAILED;
		}
	}
}

static bool read_object(struct kineto *k)
{
	bool has_events = false, fresh = true;
	for (;; fresh = false) {
		switch (next_member(k, fresh)) {
		case MEMBER_FAILED: return false;
		case MEMBER_OTHER: break;
		case MEMBER_EVENTS:
			has_events = true;
			if (!read_events(k, false))
				return false;
			break;
		case MEMBER_NONE:
			if (!has_events)
				return hwy_fail(k->err,
						"%s: no traceEvents; is this a PyTorch trace?",
						source_path(&k->source));
			return true;
		}
	}
}

/* Reads the bytes behind the trace, so that the checksum of a gzip file is checked. */
static bool read_rest(struct kineto *k)
{
	bool has_rest = false;
	for (;;) {
		k->source.cursor = skip_space(k->source.cursor);
		has_rest |= k->source.cursor < k->source.end;
		k->source.cursor = k->source.end;
		if (k->source.finished)
			break;
		if (!read_more(k))
			return false;
	}
	if (has_rest)
		kineto_add_diagnostic(k, 2, "text behind the end of the trace was ignored");
	if (k->source.garbage)
		kineto_add_diagnostic(k, 2, "bytes behind the end of the gzip data were ignored");
	return true;
}

static bool kineto_read_text(struct kineto *k)
{
	struct source *source = &k->source;
	while (source->end - source->cursor < 4 && !source->finished)
		if (!read_more(k))
			return false;
	/* Skips the byte order mark. */
	if (source->end - source->cursor >= 3 && memcmp(source->cursor, "\xef\xbb\xbf", 3) == 0)
		source->cursor += 3;
	while ((source->cursor = skip_space(source->cursor)) >= source->end && !source->finished)
		if (!read_more(k))
			return false;
	char first = *source->cursor;
	if (source->cursor >= source->end || (first != '{' && first != '['))
		return hwy_fail(k->err, "%s: not JSON; is this a PyTorch trace?",
				source_path(source));
	source->cursor++;
	if (!(first == '{' ? read_object(k) : read_events(k, true)))
		return false;
	if (k->n_kept == 0 && k->drops[DROP_NOT_JSON] > 0)
		return hwy_fail(k->err, "%s: no event can be read; the first is at byte %llu",
				source_path(source), (unsigned long long)k->first_bad);
	if (k->n_kept == 0 && (first == '[' || k->n_events > 0))
		return hwy_fail(k->err,
				"%s: a list, but not of trace events; is this a PyTorch trace?",
				source_path(source));
	return read_rest(k);
}

/* Without baseTimeNanoseconds times count from 1970, or from any moment in files that were cut down
 * or made by hand. Nobody recorded such a trace before 2001, so earlier times are no wall-clock
 * times. */
static const int64_t EARLIEST_WALL_NS = 1000000000000000000;

static void add_foreign_property(struct kineto *k)
{
	if (k->n_foreign == 0)
		return;
	struct hwy_text category = k->trace->strings.texts[k->foreign_category];
	char text[160];
	snprintf(text, sizeof text, "%llu events, such as %.100s", (unsigned long long)k->n_foreign,
		 category.at);
	hwy_add_property(k->b, "device.events_not_understood", text);
}

static struct hwy_trace *finish_trace(struct kineto *k)
{
	bool has_base = k->base != HWY_NONE;
	int64_t base = has_base ? k->base : 0;
	kineto_add_marks(k);
	k->drops[DROP_NO_PAIR] += kineto_free_begins(k);
	kineto_add_drops(k);
	kineto_assign_processes(k);
	kineto_describe_devices(k);
	add_foreign_property(k);
	k->trace->wall = base;
	struct hwy_trace *trace = hwy_builder_finish(k->b, true);
	k->b = NULL;
	if (!trace) {
		hwy_fail(k->err, "%s: more than %u spans", source_path(&k->source), HWY_MOST_SPANS);
		return NULL;
	}
	kineto_add_edges(k, trace, base - trace->wall);
	if (!has_base && trace->wall < EARLIEST_WALL_NS)
		trace->wall = HWY_NONE;
	hwy_find_messages(trace);
	return trace;
}

static void free_all(struct kineto *k)
{
	hwy_builder_free(k->b);
	source_close(&k->source);
	kineto_free_ids(k);
	kineto_free_begins(k);
	free(k->event.args);
	free(k->scratch);
	free(k->late_lanes);
	free(k->flows);
	free(k->marks);
	free(k);
}

static bool needs_hints(const struct kineto *k)
{
	return !k->hints->ready && !k->collecting &&
	       (k->several_callers || (k->n_work_without_id && k->n_launch_flows));
}

enum pass { PASS_READ, PASS_COLLECT };

/* One pass over the file. NULL without *failed: the pass collected hints, or found that the file
 * needs them. */
static struct hwy_trace *read_file(const char *path, size_t window, struct kineto_hints *hints,
				   enum pass pass, const struct hwy_progress *progress,
				   struct hwy_err *err, bool *failed)
{
	struct kineto *k = hwy_zalloc(sizeof *k);
	struct hwy_trace *trace = NULL;
	k->b = hwy_builder_new();
	k->trace = hwy_builder_trace(k->b);
	k->progress = progress;
	k->err = err;
	k->hints = hints;
	k->collecting = pass == PASS_COLLECT;
	k->caller = k->first_host = k->rank = k->world = k->base = HWY_NONE;
	hwy_new_hosts(k->b);
	hwy_add_property(k->b, "source.format", "kineto");
	*failed = !source_open(&k->source, path, window, err) || !kineto_read_text(k);
	if (!*failed && !k->collecting && !needs_hints(k)) {
		trace = finish_trace(k);
		*failed = !trace;
	}
	free_all(k);
	return trace;
}

struct hwy_trace *import_kineto_window(const char *path, size_t window,
				       const struct hwy_progress *progress, struct hwy_err *err)
{
	struct kineto_hints hints = {0};
	bool failed;
	struct hwy_trace *trace =
		read_file(path, window, &hints, PASS_READ, progress, err, &failed);
	if (!trace && !failed) {
		read_file(path, window, &hints, PASS_COLLECT, progress, err, &failed);
		kineto_count_votes(&hints);
		if (!failed)
			trace = read_file(path, window, &hints, PASS_READ, progress, err, &failed);
	}
	kineto_hints_free(&hints);
	return trace;
}

struct hwy_trace *import_kineto(const char *path, const struct hwy_progress *progress,
				struct hwy_err *err)
{
	return import_kineto_window(path, SOURCE_WINDOW, progress, err);
}
