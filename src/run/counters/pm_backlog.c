/* SPDX-License-Identifier: Apache-2.0 */
/* pm_backlog.c - see pm_backlog.h.
 *
 * Slots stand in a ring, in the order of their samples: first … first + n are in use. A slot is filled by the
 * decoding thread, evaluated by any of the workers, and written by the worker that finds it the oldest and done. All
 * fields of a slot's state and of the ring are under 'lock'; the content of a slot belongs to whoever its state says.
 */
#include "run/counters/pm_backlog.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { WORKER_NICE = 10, LEAST_SLOTS = 4, MOST_SLOTS = 4096, MOST_WORKERS = 16 };

enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_READY, SLOT_WORKING, SLOT_DONE };

struct slot {
	enum slot_state state;
	struct pm_image image;
	double *values; /* set.n for each sample */
	bool *has;      /* which samples have values */
};

struct pm_backlog {
	struct pm_backlog_settings s;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	uint32_t n_slots, first, n;
	bool is_writing, is_over;
	uint64_t failed;
	pthread_t threads[MOST_WORKERS];
	uint32_t n_threads;
};

static struct slot *slot_at(struct pm_backlog *b, uint32_t index)
{
	return &b->slots[(b->first + index) % b->n_slots];
}

/* Evaluates the samples of a slot; yields how many have no values. */
static uint64_t evaluate_slot(const struct pm_backlog *b, struct cupti_host *host,
			      struct slot *slot)
{
	const struct pm_set *set = b->s.set;
	struct hwy_err err;
	uint64_t failed = 0;
	for (size_t i = 0; i < slot->image.n; i++) {
		double *values = slot->values + i * set->n;
		slot->has[i] = false;
		if (!slot->image.lengths[i])
			continue;
		slot->has[i] = host && cupti_host_evaluate(host, slot->image.data, b->s.data_bytes,
							   i, set->names, set->n, values, &err);
		failed += !slot->has[i];
		for (size_t m = 0; slot->has[i] && m < set->n; m++)
			values[m] =
				pm_set_scaled(&set->metrics[m], values[m], slot->image.lengths[i]);
	}
	return failed;
}

static void write_slot(const struct pm_backlog *b, const struct slot *slot)
{
	double none[PM_MOST_METRICS];
	for (size_t i = 0; i < slot->image.n; i++)
		if (slot->has[i])
			b->s.row(b->s.to, slot->image.starts[i], slot->values + i * b->s.set->n,
				 b->s.set->n);
	for (size_t m = 0; m < b->s.set->n; m++)
		none[m] = NAN;
	if (slot->image.gap)
		b->s.row(b->s.to, slot->image.gap, none, b->s.set->n);
}

/* Writes the oldest slots that are done, unless another worker does. Called, and returns, with the lock held. */
static void write_done(struct pm_backlog *b)
{
	if (b->is_writing)
		return;
	b->is_writing = true;
	while (b->n && slot_at(b, 0)->state == SLOT_DONE) {
		struct slot *slot = slot_at(b, 0);
		pthread_mutex_unlock(&b->lock);
		write_slot(b, slot);
		pthread_mutex_lock(&b->lock);
		slot->state = SLOT_FREE;
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
	struct hwy_err err;
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
		uint64_t failed = evaluate_slot(b, host, slot);
		pthread_mutex_lock(&b->lock);
		b->failed += failed;
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

/* Memory of a slot is taken when the slot is needed for the first time: most never are. */
static void make_slot(const struct pm_backlog *b, struct slot *slot)
{
	if (slot->image.data)
		return;
	slot->image.data = hwy_alloc(b->s.data_bytes);
	slot->image.starts = hwy_array(b->s.most, sizeof *slot->image.starts);
	slot->image.lengths = hwy_array(b->s.most, sizeof *slot->image.lengths);
	slot->values = hwy_array(b->s.most * b->s.set->n, sizeof *slot->values);
	slot->has = hwy_array(b->s.most, sizeof *slot->has);
}

struct pm_image *pm_backlog_take(struct pm_backlog *b)
{
	struct slot *slot = NULL;
	pthread_mutex_lock(&b->lock);
	if (b->n < b->n_slots) {
		slot = slot_at(b, b->n++);
		slot->state = SLOT_FILLING;
	}
	pthread_mutex_unlock(&b->lock);
	if (!slot)
		return NULL;
	make_slot(b, slot);
	slot->image.n = 0;
	slot->image.gap = 0;
	return &slot->image;
}

void pm_backlog_put(struct pm_backlog *b, struct pm_image *image)
{
	pthread_mutex_lock(&b->lock);
	struct slot *slot = slot_at(b, b->n - 1); /* the one that is filled is the newest */
	if (image->n || image->gap) {
		slot->state = SLOT_READY;
		pthread_cond_broadcast(&b->changed);
	} else {
		slot->state = SLOT_FREE;
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

uint64_t pm_backlog_failed(const struct pm_backlog *b)
{
	return b->failed;
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
	for (uint32_t i = 0; i < b->n_slots; i++) {
		free(b->slots[i].image.data);
		free(b->slots[i].image.starts);
		free(b->slots[i].image.lengths);
		free(b->slots[i].values);
		free(b->slots[i].has);
	}
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	free(b->slots);
	free(b);
}
