/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_event.c - reads one event, its members as slices of the window, and hands it on by its
 * phase.
 *
 * Members come in any order ("args" may stand before "cat"), so nothing is decided before all
 * members are read.
 */
#include <stdlib.h>
#include <string.h>

#include "import/kineto/kineto.h"

/* Times between these limits (about 1938 to 2096) can be added and subtracted without overflow,
 * also after time 0 was moved to the first event. */
static const int64_t EARLIEST_NS = -(HWY_TIME_LIMIT >> 4),
		     LATEST_NS = HWY_TIME_LIMIT - (HWY_TIME_LIMIT >> 4) - 1;

static void keep_arg(struct kineto_event *event, struct hwy_text key,
		     const struct scan_value *value)
{
	HWY_GROW(event->args, event->n_args, event->cap_args);
	enum kineto_key id = kineto_key_of(key.at, key.length);
	if (event->n_args < UINT16_MAX)
		event->arg_refs[id] = (uint16_t)hwy_ref32(event->n_args);
	event->args[event->n_args++] = (struct kineto_arg){key, *value, id};
}

static bool read_args(struct kineto_event *event, struct scan *scan)
{
	struct scan_value value;
	struct hwy_text key;
	event->n_args = 0;
	memset(event->arg_refs, 0, sizeof event->arg_refs);
	if (scan_peek(scan) != '{')
		return scan_value(scan, &value);
	scan_enter(scan, '{');
	while (scan_key(scan, &key)) {
		if (!scan_value(scan, &value))
			return false;
		keep_arg(event, key, &value);
	}
	event->arg_refs[KEY_OTHER] = HWY_REF_NONE;
	return scan->status == SCAN_OK;
}

static bool read_time(struct scan *scan, int64_t *time, bool *has)
{
	struct scan_value value;
	if (!scan_value(scan, &value))
		return false;
	*has = (value.type == SCAN_NUMBER || value.type == SCAN_STRING) &&
	       scan_decimal(value.text, value.length, 3, time);
	return true;
}

static bool read_phase(struct scan *scan, char *phase)
{
	struct scan_value value;
	if (!scan_value(scan, &value))
		return false;
	*phase = value.type == SCAN_STRING && value.length == 1 ? value.text[0] : 0;
	return true;
}

static bool read_member(struct kineto_event *event, struct scan *scan, struct hwy_text key)
{
	struct scan_value ignored;
	const char *at = key.at;
	switch (key.length) {
	case 2:
		if (memcmp(at, "ph", 2) == 0)
			return read_phase(scan, &event->phase);
		if (memcmp(at, "ts", 2) == 0)
			return read_time(scan, &event->ts, &event->has_ts);
		if (memcmp(at, "id", 2) == 0)
			return scan_value(scan, &event->id);
		break;
	case 3:
		if (memcmp(at, "cat", 3) == 0)
			return scan_value(scan, &event->cat);
		if (memcmp(at, "pid", 3) == 0)
			return scan_value(scan, &event->pid);
		if (memcmp(at, "tid", 3) == 0)
			return scan_value(scan, &event->tid);
		if (memcmp(at, "dur", 3) == 0)
			return read_time(scan, &event->dur, &event->has_dur);
		break;
	case 4:
		if (memcmp(at, "name", 4) == 0)
			return scan_value(scan, &event->name);
		if (memcmp(at, "args", 4) == 0)
			return read_args(event, scan);
	}
	return scan_value(scan, &ignored);
}

/* Where the ends of strings are guessed: whether the key is a second name or time, which is another
 * event's. */
static bool is_of_next_event(const struct kineto_event *event, struct hwy_text key)
{
	return (event->name.type && key.length == 4 && memcmp(key.at, "name", 4) == 0) ||
	       (event->has_ts && key.length == 2 && memcmp(key.at, "ts", 2) == 0);
}

static void clear_event(struct kineto_event *event)
{
	event->phase = 0;
	event->has_ts = event->has_dur = false;
	event->cat = event->name = event->pid = event->tid = event->id =
		(struct scan_value){.text = ""};
	event->n_args = 0;
	memset(event->arg_refs, 0, sizeof event->arg_refs);
}

bool kineto_read_event(struct kineto *k, struct scan *scan)
{
	struct kineto_event *event = &k->event;
	struct scan_value value;
	struct hwy_text key;
	clear_event(event);
	/* The element of the list is no object, and counts as an event without a phase. */
	if (scan_peek(scan) != '{')
		return scan_value(scan, &value);
	const char *from = scan->cursor;
	scan_enter(scan, '{');
	while (scan_key(scan, &key)) {
		if (__builtin_expect(scan->lenient, 0) && is_of_next_event(event, key)) {
			scan->status = SCAN_BAD;
			return false;
		}
		if (!read_member(event, scan, key))
			return false;
	}
	if (scan->status != SCAN_OK)
		return false;
	event->text = (struct hwy_text){from, (uint32_t)(scan->cursor - from)};
	event->category =
		event->cat.type == SCAN_STRING ? kineto_category_of(&event->cat) : CAT_OTHER;
	return true;
}

struct kineto_id kineto_read_id(struct kineto *k, const struct scan_value *value)
{
	struct kineto_id id = {.number = HWY_NONE};
	if (!scan_integer(value, &id.number) && value->type != SCAN_NONE) {
		id.number = HWY_NONE;
		id.text = kineto_text_id(k, value);
	}
	return id;
}

static bool is_in_time(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	if (!event->has_ts || (event->phase == 'X' && !event->has_dur)) {
		k->drops[DROP_NO_TIME]++;
		return false;
	}
	if (event->ts < EARLIEST_NS || event->ts > LATEST_NS) {
		k->drops[DROP_TIME_RANGE]++;
		return false;
	}
	if (!event->has_dur || event->dur < 0)
		event->dur = 0;
	if (event->dur > LATEST_NS - event->ts)
		event->dur = LATEST_NS - event->ts;
	return true;
}

/* Events of a category that no rule knows may be the work of a device that Headway does not
 * know. */
static void kineto_note_foreign(struct kineto *k)
{
	if (k->event.category != CAT_OTHER || k->event.cat.type != SCAN_STRING)
		return;
	if (k->n_foreign++ == 0)
		k->foreign_category = kineto_text_id(k, &k->event.cat);
}

static void add_span_by_category(struct kineto *k)
{
	switch (k->event.category) {
	case CAT_KERNEL:
	case CAT_COPY:
	case CAT_FILL: kineto_add_work(k); break;
	case CAT_API: kineto_add_call(k); break;
	case CAT_OP: kineto_add_op(k); break;
	case CAT_ANNOTATION: kineto_add_annotation(k); break;
	case CAT_DEVICE_ANNOTATION: kineto_add_device_annotation(k); break;
	case CAT_SYNC: kineto_add_sync(k); break;
	case CAT_EVENT: kineto_add_cuda_event(k); break;
	case CAT_PYTHON: kineto_add_python(k); break;
	case CAT_LIBRARY: kineto_add_library(k); break;
	case CAT_OVERHEAD: kineto_add_overhead(k); break;
	default: kineto_note_foreign(k); kineto_add_other(k);
	}
}

static void add_timed(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	if (k->collecting) {
		kineto_collect_hints(k);
		return;
	}
	switch (event->phase) {
	case 'X': add_span_by_category(k); break;
	case 'i':
	case 'I':
	case 'R': kineto_add_instant(k); break;
	case 'C': kineto_add_counter(k); break;
	case 's':
	case 't':
	case 'f':
		if (event->category == CAT_FORWARD_FLOW)
			kineto_keep_flow(k);
		else if (event->category == CAT_LAUNCH_FLOW)
			k->n_launch_flows++;
		break;
	default: k->drops[DROP_PHASE]++;
	}
}

void kineto_add_event(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	struct kineto_begin *begin = NULL;
	k->n_events++;
	if (event->phase == 0) {
		k->drops[DROP_NO_PHASE]++;
		return;
	}
	k->n_kept++;
	if (event->phase == 'M') {
		kineto_add_metadata(k);
		return;
	}
	if (!is_in_time(k))
		return;
	if (event->phase == 'B')
		kineto_keep_begin(k);
	else if (event->phase == 'E' && !(begin = kineto_end_pair(k)))
		k->drops[DROP_NO_PAIR]++;
	else
		add_timed(k);
	free(begin);
}
