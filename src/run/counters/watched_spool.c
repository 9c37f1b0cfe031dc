/* SPDX-License-Identifier: Apache-2.0 */
/* watched_spool.c - what the watcher writes: definitions into one spool, values into another,
 * which is a ring where the run keeps its last seconds only. Each is made when its first record
 * is: a machine without a GPU gets no empty files.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "run/counters/watched.h"
#include "run/perf/perf_spool.h"
#include "run/run.h"

struct watched_spool {
	pthread_mutex_t
		lock; /* held for the time of one record; all fields belong to who holds it */
	const char *directory;
	const struct rec_control *control;
	struct perf_spool *definitions, *values;
	struct hwy_index texts;   /* maps a text to its id */
	struct hwy_index devices; /* maps a uuid to the device's number */
	uint32_t n_texts, n_devices, n_lanes;
	bool has_definitions, has_values; /* the spool was made, or cannot be */
};

struct watched_spool *watched_spool_new(const char *directory, const struct rec_control *control)
{
	struct watched_spool *spool = hwy_zalloc(sizeof *spool);
	spool->directory = hwy_copy(directory, strlen(directory) + 1);
	spool->control = control;
	pthread_mutex_init(&spool->lock, NULL);
	return spool;
}

static struct perf_spool *make_spool(const struct watched_spool *spool, const char *name,
				     uint32_t keep_s)
{
	struct perf_spool *made = perf_spool_open(spool->directory, name, keep_s, run_now);
	if (made)
		perf_spool_limit(made, spool->control);
	return made;
}

static struct perf_spool *definitions_of(struct watched_spool *spool)
{
	if (!spool->has_definitions)
		spool->definitions = make_spool(spool, "counters.spool", 0);
	spool->has_definitions = true;
	return spool->definitions;
}

static struct perf_spool *values_of(struct watched_spool *spool)
{
	if (!spool->has_values)
		spool->values = make_spool(spool, "counters.0.spool", spool->control->keep_s);
	spool->has_values = true;
	return spool->values;
}

static void *reserve(struct perf_spool *spool, enum rec_type type, size_t bytes)
{
	return spool ? perf_spool_reserve(spool, type, bytes) : NULL;
}

static void watched_put_text(struct watched_spool *spool, enum rec_type type, uint32_t value,
			     const char *text)
{
	size_t length = strnlen(text, REC_MAX_TEXT);
	struct rec_string *record =
		reserve(definitions_of(spool), type, offsetof(struct rec_string, text) + length);
	if (!record)
		return;
	record->head.value = value;
	record->length = (uint32_t)length;
	memcpy(record->text, text, length);
	perf_spool_publish(spool->definitions);
}

static uint32_t watched_text(struct watched_spool *spool, const char *text)
{
	bool fresh;
	uint32_t *id = hwy_index_put(&spool->texts, text, strlen(text), &fresh);
	if (!fresh)
		return *id;
	uint32_t number = *id = REC_COUNTER_FIRST_TEXT + spool->n_texts++;
	watched_put_text(spool, REC_STRING, number, text);
	return number;
}

uint32_t watched_device(struct watched *watched, const uint8_t uuid[16], const char *name)
{
	struct watched_spool *spool = watched_spool_of(watched);
	bool fresh;
	pthread_mutex_lock(&spool->lock);
	uint32_t *number = hwy_index_put(&spool->devices, uuid, 16, &fresh);
	if (fresh)
		*number = spool->n_devices++;
	uint32_t device = *number, text = watched_text(spool, name);
	struct rec_counter_device *record =
		fresh ? reserve(definitions_of(spool), REC_COUNTER_DEVICE, sizeof *record) : NULL;
	if (record) {
		record->head.value = device;
		memcpy(record->uuid, uuid, sizeof record->uuid);
		record->name = text;
		perf_spool_publish(spool->definitions);
	}
	pthread_mutex_unlock(&spool->lock);
	return device;
}

void watched_tell_facts(struct watched *watched, uint32_t device, const uint8_t uuid[16],
			const struct watched_facts *facts)
{
	struct watched_spool *spool = watched_spool_of(watched);
	pthread_mutex_lock(&spool->lock);
	struct rec_counter_device *record =
		reserve(definitions_of(spool), REC_COUNTER_DEVICE, sizeof *record);
	if (record) {
		record->head.value = device;
		memcpy(record->uuid, uuid, sizeof record->uuid);
		record->power_limit_mw = facts->power_limit_mw;
		record->most_sm_mhz = facts->most_sm_mhz;
		record->most_memory_mhz = facts->most_memory_mhz;
		perf_spool_publish(spool->definitions);
	}
	pthread_mutex_unlock(&spool->lock);
}

static void put_lane(struct watched_spool *spool, uint32_t number, uint32_t device,
		     const struct watched_lane *lane)
{
	uint32_t name = watched_text(spool, lane->name), unit = watched_text(spool, lane->unit);
	struct rec_counter_lane *record =
		reserve(definitions_of(spool), REC_COUNTER_LANE, sizeof *record);
	if (!record)
		return;
	record->head.value = number;
	record->head.flags = lane->flags;
	record->device = device;
	record->name = name;
	record->unit = unit;
	perf_spool_publish(spool->definitions);
}

uint32_t watched_lanes(struct watched *watched, uint32_t device, const struct watched_lane *lanes,
		       uint32_t n)
{
	struct watched_spool *spool = watched_spool_of(watched);
	pthread_mutex_lock(&spool->lock);
	uint32_t first = spool->n_lanes;
	spool->n_lanes += n;
	for (uint32_t i = 0; i < n; i++)
		put_lane(spool, first + i, device, &lanes[i]);
	pthread_mutex_unlock(&spool->lock);
	return first;
}

void watched_value(struct watched *watched, uint32_t lane, int64_t time, double value)
{
	struct watched_spool *spool = watched_spool_of(watched);
	pthread_mutex_lock(&spool->lock);
	struct rec_counter_value *record =
		reserve(values_of(spool), REC_COUNTER_VALUE, sizeof *record);
	if (record) {
		record->head.value = lane;
		record->time = time;
		record->value = value;
		perf_spool_publish(spool->values);
	}
	pthread_mutex_unlock(&spool->lock);
}

void watched_row(struct watched *watched, uint32_t first_lane, int64_t time, const double *values,
		 uint32_t n)
{
	struct watched_spool *spool = watched_spool_of(watched);
	size_t bytes = n * sizeof *values;
	pthread_mutex_lock(&spool->lock);
	struct rec_counter_row *record = reserve(values_of(spool), REC_COUNTER_ROW,
						 offsetof(struct rec_counter_row, values) + bytes);
	if (record) {
		record->head.value = first_lane;
		record->time = time;
		record->count = n;
		memcpy(record->values, values, bytes);
		perf_spool_publish(spool->values);
	}
	pthread_mutex_unlock(&spool->lock);
}

void watched_total(struct watched *watched, uint32_t device, int64_t time,
		   enum rec_counter_total_kind kind, uint64_t value, bool is_first)
{
	struct watched_spool *spool = watched_spool_of(watched);
	pthread_mutex_lock(&spool->lock);
	struct rec_counter_total *record =
		reserve(values_of(spool), REC_COUNTER_TOTAL, sizeof *record);
	if (record) {
		record->head.value = device;
		record->head.flags = is_first ? REC_TOTAL_FIRST : 0;
		record->time = time;
		record->kind = kind;
		record->value = value;
		perf_spool_publish(spool->values);
	}
	pthread_mutex_unlock(&spool->lock);
}

void watched_note(struct watched *watched, int severity, const char *format, ...)
{
	struct watched_spool *spool = watched_spool_of(watched);
	char text[1200];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&spool->lock);
	watched_put_text(spool, REC_NOTE, (uint32_t)severity, text);
	pthread_mutex_unlock(&spool->lock);
}

void watched_property(struct watched *watched, const char *name, const char *format, ...)
{
	struct watched_spool *spool = watched_spool_of(watched);
	char text[1200];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&spool->lock);
	watched_put_text(spool, REC_PROPERTY, watched_text(spool, name), text);
	pthread_mutex_unlock(&spool->lock);
}

void watched_drop(struct watched *watched, const char *reason, uint64_t count)
{
	struct watched_spool *spool = watched_spool_of(watched);
	pthread_mutex_lock(&spool->lock);
	uint32_t text = watched_text(spool, reason);
	struct rec_drop *record = reserve(definitions_of(spool), REC_DROP, sizeof *record);
	if (record) {
		record->count = count;
		record->time = run_now();
		record->reason = text;
		perf_spool_publish(spool->definitions);
	}
	pthread_mutex_unlock(&spool->lock);
}
