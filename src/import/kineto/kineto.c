/* kineto.c - reads a PyTorch profiler (Kineto) Chrome trace, plain or gzip.
 *
 * The text is walked over once, event by event, through a window: memory grows with what is kept, not with
 * the file. What old and broken recorders wrote is read as far as it can be told what was meant; an event
 * that cannot is left out and counted. A file that ends too early is an error, except that the Chrome format
 * lets a bare array of events do without its closing bracket.
 */
#include "import/kineto/kineto.h"

#include <stdlib.h>
#include <string.h>

static uint64_t kineto_offset_of(const struct kineto *k, const char *at)
{
	return k->source.before + (uint64_t)(at - k->source.window);
}

static bool fail_at(struct kineto *k, uint64_t offset, const char *what)
{
	return hwy_fail(k->err, "%s: %s at byte %llu", source_path(&k->source), what,
			(unsigned long long)offset);
}

static bool more(struct kineto *k)
{
	return source_more(&k->source, k->progress, k->err);
}

static const char *kineto_skip_space(const char *at)
{
	while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
		at++;
	return at;
}

/* ---- finding the way back after an event that is not JSON ------------------------------------------ */

enum { RESTART_TEXT = 256 }; /* bytes behind a place that are looked at to know what it is */

/* Is there one of these keys at 'at', with its colon? */
static bool is_key_of(const char *at, const char *end, const char *const *keys, size_t n_keys)
{
	if (*at != '"' || at >= end)
		return false;
	for (size_t i = 0; i < n_keys; i++) {
		size_t n = strlen(keys[i]);
		if ((size_t)(end - at) > n + 2 && memcmp(at + 1, keys[i], n) == 0 &&
		    at[n + 1] == '"')
			return *kineto_skip_space(at + n + 2) == ':';
	}
	return false;
}

/* Does an event start here? Objects nested in one may have such keys, but hardly a phase. */
static bool is_event_start(const char *at, const char *end)
{
	static const char *const keys[] = {"ph",  "name", "cat",  "ts", "pid",
					   "tid", "dur",  "args", "id"};
	end = end - at < RESTART_TEXT ? end : at + RESTART_TEXT;
	return is_key_of(kineto_skip_space(at + 1), end, keys, sizeof keys / sizeof *keys) &&
	       memmem(at, (size_t)(end - at), "\"ph\"", 4);
}

/* Does the list of events end here? Lists nested in an event are not followed by these. */
static bool is_list_end(const char *at, const char *end)
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
	at = kineto_skip_space(at + 1);
	if (*at == '}')
		return kineto_skip_space(at + 1) >= end;
	return *at == ',' &&
	       is_key_of(kineto_skip_space(at + 1), end, keys, sizeof keys / sizeof *keys);
}

/* Moves 'at' to where reading can go on: an event, or the end of the list. False: not in this window; then
 * 'at' is where to look when more is there. 'before' is the last byte before 'at' that is not space. */
static bool find_restart(const char **at, char *before, const char *end, bool finished)
{
	for (; end - *at > (finished ? 0 : RESTART_TEXT); ++*at) {
		char c = **at;
		if (c == '{' && *before != ':' && *before != '[' && is_event_start(*at, end))
			return true;
		if (c == ']' && is_list_end(*at, end))
			return true;
		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			*before = c;
	}
	return false;
}

/* Leaves the event at the source's place out; 'ended' when none follows. False: reading failed. */
static bool leave_out(struct kineto *k, bool *ended)
{
	struct source *source = &k->source;
	const char *at = kineto_skip_space(source->at);
	char before = 0;
	if (*at == ',')
		at = kineto_skip_space(at + 1);
	if (k->drops[DROP_NOT_JSON]++ == 0)
		k->first_bad = kineto_offset_of(k, at);
	if (*at == '{')
		before = *at++;
	for (;;) {
		*ended = !find_restart(&at, &before, source->end, source->finished);
		source->at = at;
		if (!*ended || source->finished)
			return true;
		if (!more(k))
			return false;
		at = source->at;
	}
}

/* ---- the events ------------------------------------------------------------------------------------ */

/* Guessing where strings end: in how long an event, and how often in vain before it is given up. */
enum { LENIENT_BYTES = 1 << 18, LENIENT_FAILURES = 1000 };

/* Where strings may hold bare quotes, ends are guessed; these guesses took in what is not theirs. */
static bool is_believable(const struct kineto_event *event)
{
	const struct scan_value *name = &event->name, *cat = &event->cat;
	return !memmem(name->at, name->length, "\"ph\"", 4) && !memchr(cat->at, '"', cat->length);
}

enum step { STEP_EVENT, STEP_END, STEP_FAILED, STEP_CUT };

/* Reads the next event, or the end of the list. 'fresh': no comma is due. */
static enum step next_event(struct kineto *k, bool fresh)
{
	struct source *source = &k->source;
	for (bool lenient = false;;) {
		struct scan scan = scan_over(source->at, source->end);
		scan.fresh = fresh;
		scan.lenient = lenient;
		if (scan_element(&scan) && kineto_read_event(k, &scan) &&
		    (!lenient || is_believable(&k->event))) {
			kineto_add_event(k);
			source->at = scan.at;
			return STEP_EVENT;
		}
		bool is_long = lenient && source->end - source->at > LENIENT_BYTES;
		if (scan.status == SCAN_DEEP) {
			fail_at(k, kineto_offset_of(k, scan.at), "nested deeper than 64");
			return STEP_FAILED;
		}
		if (scan.status == SCAN_MORE && !source->finished && !is_long) {
			if (!more(k))
				return STEP_FAILED;
		} else if (scan.status == SCAN_MORE && !lenient) {
			return STEP_CUT;
		} else if (scan.status == SCAN_OK && scan.at[-1] == ']') {
			source->at = scan.at;
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

/* Behind the bracket that opens the list. 'is_bare': the list is all there is. */
static bool kineto_read_events(struct kineto *k, bool is_bare)
{
	enum step step = next_event(k, true);
	while (step == STEP_EVENT)
		step = next_event(k, false);
	if (step == STEP_FAILED)
		return false;
	if (step == STEP_END)
		return true;
	if (!is_bare || k->n_kept == 0)
		return fail_at(k, kineto_offset_of(k, k->source.end),
			       "truncated: the list of events ends");
	kineto_add_diagnostic(k, 2,
			      "the list of events has no closing bracket; the file may be cut off");
	k->source.at = k->source.end;
	return true;
}

/* ---- the file -------------------------------------------------------------------------------------- */

static bool is_events(struct hwy_text key)
{
	return key.length == 11 && memcmp(key.at, "traceEvents", 11) == 0;
}

enum member { MEMBER_EVENTS, MEMBER_OTHER, MEMBER_NONE, MEMBER_FAILED };

/* Reads the next member of the top-level object; of traceEvents only the opening bracket. */
static enum member next_member(struct kineto *k, bool fresh)
{
	struct source *source = &k->source;
	uint64_t first_bad = 0;
	for (bool lenient = false;;) {
		struct scan scan = scan_over(source->at, source->end);
		struct hwy_text key;
		struct scan_value value;
		scan.fresh = fresh;
		scan.lenient = lenient;
		bool has_key = scan_key(&scan, &key);
		if (has_key && is_events(key) && scan_peek(&scan) == '[') {
			source->at = scan.at + 1;
			return MEMBER_EVENTS;
		}
		if (has_key && scan_value(&scan, &value)) {
			kineto_add_member(k, key, &value);
			source->at = scan.at;
			return MEMBER_OTHER;
		}
		if (!has_key && scan.status == SCAN_OK) {
			source->at = scan.at;
			return MEMBER_NONE;
		}
		if (scan.status == SCAN_MORE && !source->finished) {
			if (!more(k))
				return MEMBER_FAILED;
		} else if (scan.status == SCAN_BAD && !lenient) {
			lenient = true;
			first_bad = kineto_offset_of(k, scan.at);
		} else {
			fail_at(k, lenient ? first_bad : kineto_offset_of(k, scan.at),
				lenient                    ? "not JSON"
				: scan.status == SCAN_DEEP ? "nested deeper than 64"
							   : "truncated: the file ends");
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
			if (!kineto_read_events(k, false))
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

/* Reads what follows, so that a gzip file is checked to its end. */
static bool read_rest(struct kineto *k)
{
	bool has_rest = false;
	for (;;) {
		k->source.at = kineto_skip_space(k->source.at);
		has_rest |= k->source.at < k->source.end;
		k->source.at = k->source.end;
		if (k->source.finished)
			break;
		if (!more(k))
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
	while (source->end - source->at < 4 && !source->finished)
		if (!more(k))
			return false;
	if (source->end - source->at >= 3 && memcmp(source->at, "\xef\xbb\xbf", 3) == 0)
		source->at += 3; /* a byte order mark */
	while ((source->at = kineto_skip_space(source->at)) >= source->end && !source->finished)
		if (!more(k))
			return false;
	char first = *source->at;
	if (source->at >= source->end || (first != '{' && first != '['))
		return hwy_fail(k->err, "%s: not JSON; is this a PyTorch trace?",
				source_path(source));
	source->at++;
	if (!(first == '{' ? read_object(k) : kineto_read_events(k, true)))
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

/* Times without a base count from 1970, or, in files that were cut down or made by hand, from anywhere:
 * before 2001 nobody recorded such a trace. */
static const int64_t EARLIEST_WALL = 1000000000000000000;

static struct hwy_trace *kineto_finish(struct kineto *k)
{
	bool has_base = k->base != HWY_NONE;
	int64_t base = has_base ? k->base : 0;
	kineto_add_marks(k);
	k->drops[DROP_NO_PAIR] += kineto_free_begins(k);
	kineto_add_drops(k);
	kineto_settle(k);
	k->trace->wall = base;
	struct hwy_trace *trace = hwy_builder_finish(k->b, true);
	k->b = NULL;
	if (!trace) {
		hwy_fail(k->err, "%s: more than %u spans", source_path(&k->source), HWY_MOST_SPANS);
		return NULL;
	}
	kineto_add_edges(k, trace, base - trace->wall);
	if (!has_base && trace->wall < EARLIEST_WALL)
		trace->wall = HWY_NONE;
	return trace;
}

static void free_all(struct kineto *k)
{
	hwy_builder_free(k->b);
	source_close(&k->source);
	kineto_free_who(k);
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

/* One pass over the file. NULL without 'failed': the hints it needs, or has made, come first. */
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
		trace = kineto_finish(k);
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
		kineto_hints_done(&hints);
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
