/* SPDX-License-Identifier: Apache-2.0 */
/* pm_backlog.c - see pm_backlog.h.
 *
 * Slots stand in a ring, in the order of their samples: first … first + n are in use. A slot is
 * filled by the decoding thread, evaluated by any of the workers, and written by the worker that
 * finds it the oldest and done. All fields of a slot's state and of the ring are under 'lock';
 * the content of a slot belongs to whoever its state says.
 */
#include "run/counters/pm_backlog.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { WORKER_NICE = 10, LEAST_SLOTS = 4, MOST_SLOTS = 4096, MOST_WORKERS = 16 };

enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_READY, SLOT_WORKING, SLOT_DONE };

/* memory of one image; those that are not in use wait for the next, the last used one first */
struct room {
	struct pm_image image;
	double *values; /* set.n for each sample */
	bool *has;      /* which samples have values */
	struct room *next;
};

struct slot {
	enum slot_state state;
	struct room *room;
};

struct pm_backlog {
	struct pm_backlog_settings s;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	struct room *spare;
	uint32_t n_slots, first, n;
	bool is_writing, is_over;
	_Atomic uint64_t evaluated;
	uint64_t written, failed, waiting, holes;
	struct hwy_err reason; /* why the last that failed did */
	int64_t last_end;      /* of the last row; belongs to the worker that writes */
	pthread_t threads[MOST_WORKERS];
	uint32_t n_threads;
};

static struct slot *slot_at(struct pm_backlog *b, uint32_t index)
{
	return &b->slots[(b->first + index) % b->n_slots];
}

/* Evaluates the samples of an image; yields how many have no values. */
static uint64_t evaluate_image(struct pm_backlog *b, struct cupti_host *host, struct room *room,
			       struct hwy_err *err)
{
	const struct pm_set *set = b->s.set;
	const struct pm_image *image = &room->image;
	uint64_t failed = 0;
	for (size_t i = 0; i < image->n; i++) {
		double *values = room->values + i * set->n;
		room->has[i] = false;
		atomic_fetch_add(&b->evaluated, 1);
		if (!image->lengths[i])
			continue;
		room->has[i] = host && cupti_host_evaluate(host, image->data, image->bytes, i,
							   set->names, set->n, values, err);
		failed += !room->has[i];
		for (size_t m = 0; room->has[i] && m < set->n; m++)
			values[m] = pm_set_scaled(&set->metrics[m], values[m], image->lengths[i]);
	}
	return failed;
}

static void write_gap(struct pm_backlog *b, int64_t from)
{
	double none[PM_MOST_METRICS];
	for (size_t m = 0; m < b->s.set->n; m++)
		none[m] = NAN;
	b->s.row(b->s.to, from, none, b->s.set->n);
	b->last_end = 0;
}

/* Writes the rows of an image; yields how many, and adds the holes between them. */
static uint64_t write_image(struct pm_backlog *b, const struct room *room, uint64_t *holes)
{
	const struct pm_image *image = &room->image;
	uint64_t written = 0;
	bool is_hole = false;
	for (size_t i = 0; i < image->n; i++) {
		is_hole |= image->after_hole[i];
		if (!room->has[i])
			continue;
		if (is_hole && b->last_end) {
			(*holes)++;
			write_gap(b, b->last_end);
		}
		is_hole = false;
		b->s.row(b->s.to, image->starts[i], room->values + i * b->s.set->n, b->s.set->n);
		b->last_end = image->starts[i] + image->lengths[i];
		written++;
	}
	if (image->gap)
		write_gap(b, image->gap);
	return written;
}

/* Makes a slot free; its memory is the next that is used. With the lock held. */
static void give_room(struct pm_backlog *b, struct slot *slot)
{
	slot->room->next = b->spare;
	b->spare = slot->room;
	*slot = (struct slot){SLOT_FREE, NULL};
}

/* Writes the oldest slots that are done, unless another worker does. Called, and returns, with
 * the lock held. */
static void write_done(struct pm_backlog *b)
{
	if (b->is_writing)
		return;
	b->is_writing = true;
	while (b->n && slot_at(b, 0)->state == SLOT_DONE) {
		struct slot *slot = slot_at(b, 0);
		uint64_t holes = 0;
		pthread_mutex_unlock(&b->lock);
		uint64_t written = write_image(b, slot->room, &holes);
		pthread_mutex_lock(&b->lock);
		b->written += written;
		b->holes += holes;
		b->waiting -= slot->room->image.n;
		give_room(b, slot);
		b->first = (b->first + 1) % b->n_slots;
		b->n--;
		pthread_cond_broadcast(&b->changed);
	}
	b->is_writing = false;
}

static struct slot *next_ready(struct pm_backlog *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (slot_at(b, i)->state == SLOT_READY)
			return slot_at(b, i);
	return NULL;
}

static void *backlog_work(void *with)
{
	struct pm_backlog *b = with;
	struct hwy_err err = {"no host object"};
	setpriority(PRIO_PROCESS, (id_t)gettid(), WORKER_NICE);
	struct cupti_host *host = cupti_host_make(b->s.library, ABI_CUPTI_PM_SAMPLING, b->s.chip,
						  b->s.availability, &err);
	pthread_mutex_lock(&b->lock);
	while (!b->is_over) {
		struct slot *slot = next_ready(b);
		if (!slot) {
			pthread_cond_wait(&b->changed, &b->lock);
			continue;
		}
		slot->state = SLOT_WORKING;
		pthread_mutex_unlock(&b->lock);
		uint64_t failed = evaluate_image(b, host, slot->room, &err);
		pthread_mutex_lock(&b->lock);
		b->failed += failed;
		if (failed)
			b->reason = err;
		slot->state = SLOT_DONE;
		write_done(b);
	}
	pthread_mutex_unlock(&b->lock);
	cupti_host_free(host);
	return NULL;
}

static uint32_t count_slots(const struct pm_backlog_settings *s)
{
	uint64_t bytes = s->data_bytes + s->most * (s->set->n * sizeof(double) + 16);
	uint64_t n = s->most_bytes / bytes;
	return n < LEAST_SLOTS ? LEAST_SLOTS : n > MOST_SLOTS ? MOST_SLOTS : (uint32_t)n;
}

struct pm_backlog *pm_backlog_start(const struct pm_backlog_settings *settings, struct hwy_err *err)
{
	struct pm_backlog *b = hwy_zalloc(sizeof *b);
	pthread_condattr_t monotonic;
	b->s = *settings;
	b->n_slots = count_slots(settings);
	b->slots = hwy_zarray(b->n_slots, sizeof *b->slots);
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &monotonic);
	while (b->n_threads < settings->threads && b->n_threads < MOST_WORKERS &&
	       pthread_create(&b->threads[b->n_threads], NULL, backlog_work, b) == 0)
		b->n_threads++;
	if (b->n_threads)
		return b;
	pm_backlog_free(b);
	hwy_fail(err, "no thread can be started to evaluate counters");
	return NULL;
}

static struct room *new_room(const struct pm_backlog *b)
{
	struct room *room = hwy_zalloc(sizeof *room);
	room->image.data = hwy_alloc(b->s.data_bytes);
	room->image.starts = hwy_array(b->s.most, sizeof *room->image.starts);
	room->image.lengths = hwy_array(b->s.most, sizeof *room->image.lengths);
	room->image.after_hole = hwy_array(b->s.most, sizeof *room->image.after_hole);
	room->values = hwy_array(b->s.most * b->s.set->n, sizeof *room->values);
	room->has = hwy_array(b->s.most, sizeof *room->has);
	return room;
}

static void free_room(struct room *room)
{
	free(room->image.data);
	free(room->image.starts);
	free(room->image.lengths);
	free(room->image.after_hole);
	free(room->values);
	free(room->has);
	free(room);
}

struct pm_image *pm_backlog_take(struct pm_backlog *b)
{
	struct slot *slot = NULL;
	struct room *room = NULL;
	pthread_mutex_lock(&b->lock);
	if (b->n < b->n_slots) {
		slot = slot_at(b, b->n++);
		slot->state = SLOT_FILLING;
		room = b->spare;
		if (room)
			b->spare = room->next;
	}
	pthread_mutex_unlock(&b->lock);
	if (!slot)
		return NULL;
	slot->room = room ? room : new_room(b);
	slot->room->image.n = 0;
	slot->room->image.gap = 0;
	slot->room->image.bytes = b->s.data_bytes;
	memset(slot->room->image.after_hole, 0, b->s.most * sizeof(bool));
	return &slot->room->image;
}

void pm_backlog_put(struct pm_backlog *b, struct pm_image *image)
{
	pthread_mutex_lock(&b->lock);
	struct slot *slot = slot_at(b, b->n - 1); /* the one that is filled is the newest */
	if (image->n || image->gap) {
		slot->state = SLOT_READY;
		b->waiting += image->n;
		pthread_cond_broadcast(&b->changed);
	} else {
		give_room(b, slot);
		b->n--;
	}
	pthread_mutex_unlock(&b->lock);
}

uint32_t pm_backlog_wait(struct pm_backlog *b, int ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms % 1000 * 1000000L;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&b->lock);
	while (b->n && pthread_cond_timedwait(&b->changed, &b->lock, &until) != ETIMEDOUT)
		;
	uint32_t left = b->n;
	pthread_mutex_unlock(&b->lock);
	return left;
}

void pm_backlog_count(struct pm_backlog *b, struct pm_backlog_counts *counts)
{
	pthread_mutex_lock(&b->lock);
	*counts = (struct pm_backlog_counts){
		.evaluated = atomic_load(&b->evaluated),
		.written = b->written,
		.failed = b->failed,
		.waiting = b->waiting,
		.holes = b->holes,
		.reason = b->reason,
	};
	pthread_mutex_unlock(&b->lock);
}

void pm_backlog_free(struct pm_backlog *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->is_over = true;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	for (uint32_t i = 0; i < b->n_threads; i++)
		pthread_join(b->threads[i], NULL);
	for (uint32_t i = 0; i < b->n_slots; i++)
		if (b->slots[i].room)
			free_room(b->slots[i].room);
	for (struct room *room; (room = b->spare);) {
		b->spare = room->next;
		free_room(room);
	}
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	free(b->slots);
	free(b);
}
