/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - whether events are recorded now, and records about the recording itself (notes,
 * drops, properties).
 *
 * All processes of the run share the state behind the settings (spool/record.h): it is writable
 * for processes that have given up their rights too, so that nothing here does more with it than
 * record, stop recording, or count.
 */
#include "collect/collect.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/process.h"

/* Tests build the collector without the files of cuda/: there cuda_follow_control is NULL. */
#pragma weak cuda_follow_control

struct rec_control *collect_control;
_Thread_local bool collect_is_ours;

bool collect_is_on(uint32_t traces)
{
	struct rec_control *control = collect_control;
	return control && !process.timeless && (control->traces & traces) &&
	       atomic_load_explicit((_Atomic uint32_t *)&control->recording,
				    memory_order_relaxed) &&
	       !atomic_load_explicit((_Atomic uint32_t *)&control->finished, memory_order_relaxed);
}

int64_t collect_now(void)
{
	struct timespec now;
	if (process.timeless)
		return process.start;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Writes a record whose text follows in the record instead of being an id. */
static void collect_put_text(enum rec_type type, uint32_t value, const char *text, size_t length)
{
	if (length > REC_MAX_TEXT)
		length = REC_MAX_TEXT;
	size_t bytes = offsetof(struct rec_string, text) + length;
	struct rec_string *record =
		collect_reserve(type, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.value = value;
	record->length = (uint32_t)length;
	memcpy(record->text, text, length);
	collect_publish(record);
}

void collect_note(int severity, const char *format, ...)
{
	int saved = errno;
	char text[1024];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (length > 0)
		collect_put_text(REC_NOTE, (uint32_t)severity, text, strnlen(text, sizeof text));
	errno = saved;
}

void collect_drop(const char *reason, uint64_t count)
{
	uint32_t text = collect_string_z(reason);
	struct rec_drop *record = collect_reserve(REC_DROP, 1);
	if (!record)
		return;
	record->count = count;
	record->time = collect_now();
	record->reason = text;
	collect_publish(record);
}

void collect_property(const char *name, const char *value)
{
	collect_put_text(REC_PROPERTY, collect_string_z(name), value, strlen(value));
}

/* Ends the recording after a capture range: for good, unless capture ranges are to be repeated. */
static void end_capture(struct rec_control *control)
{
	_Atomic uint32_t *finished = (_Atomic uint32_t *)&control->finished;
	if (control->capture == REC_CAPTURE_NONE)
		return;
	if (control->capture_end == 0) {
		atomic_store(finished, 1);
		return;
	}
	_Atomic uint32_t *repeats = (_Atomic uint32_t *)&control->repeats;
	uint32_t left = atomic_load(repeats);
	while (left && !atomic_compare_exchange_weak(repeats, &left, left - 1))
		;
	if (left == 1)
		atomic_store(finished, 1);
}

void collect_set_recording(bool on)
{
	struct rec_control *control = collect_control;
	if (!control || (on && atomic_load((_Atomic uint32_t *)&control->finished)) ||
	    (!on && control->capture && control->capture_end == REC_CAPTURE_END_NONE))
		return;
	bool was = atomic_exchange((_Atomic uint32_t *)&control->recording, on);
	if (was == on)
		return;
	if (!on)
		end_capture(control);
	struct rec_time *record = collect_reserve(REC_RECORDING, 1);
	if (record) {
		record->head.value = on;
		record->time = collect_now();
		collect_publish(record);
	}
	if (cuda_follow_control)
		cuda_follow_control();
}
