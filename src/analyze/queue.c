/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - see queue.h. */
#include "analyze/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantile.h"

void queue_launches_add(struct queue_launches *launches, int64_t enqueued, int64_t begun,
			int64_t delay)
{
	if (launches->n == launches->cap) {
		uint32_t cap = launches->cap;
		launches->enqueued = hwy_grow(launches->enqueued, &cap, sizeof *launches->enqueued);
		cap = launches->cap;
		launches->begun = hwy_grow(launches->begun, &cap, sizeof *launches->begun);
		launches->delay =
			hwy_grow(launches->delay, &launches->cap, sizeof *launches->delay);
	}
	/* Work that starts before its call (the clocks of CPU and GPU disagree) was never
	 * waiting. */
	launches->enqueued[launches->n] = enqueued < begun ? enqueued : begun;
	launches->begun[launches->n] = begun;
	launches->delay[launches->n] = delay > 0 ? delay : 0;
	launches->n++;
}

void queue_launches_free(struct queue_launches *launches)
{
	free(launches->enqueued);
	free(launches->begun);
	free(launches->delay);
	*launches = (struct queue_launches){0};
}

/* A radix sort over the bytes in which the values differ: delays differ in two or three, so this
 * beats qsort. Most streams are fed by one thread, and then their launches are in order already. */
static void radix_sort(int64_t *values, uint32_t n)
{
	int64_t least = values[0], most = values[0];
	bool sorted = true;
	for (uint32_t i = 1; i < n; i++) {
		sorted &= values[i - 1] <= values[i];
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	if (sorted)
		return;
	uint64_t range = (uint64_t)most - (uint64_t)least;
	int64_t *spare = hwy_array(n, sizeof *spare), *from = values, *to = spare;
	for (unsigned shift = 0; shift < 64 && range >> shift; shift += 8) {
		uint32_t places[257] = {0};
		for (uint32_t i = 0; i < n; i++)
			places[(((uint64_t)from[i] - (uint64_t)least) >> shift & 255) + 1]++;
		for (unsigned byte = 0; byte < 256; byte++)
			places[byte + 1] += places[byte];
		for (uint32_t i = 0; i < n; i++)
			to[places[((uint64_t)from[i] - (uint64_t)least) >> shift & 255]++] =
				from[i];
		int64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != values)
		memcpy(values, from, n * sizeof *values);
	free(spare);
}

/* ---- the length over time -------------------------------------------------------------------- */

struct run { /* a walk along the changes of the length; at one time launches come before starts */
	const struct queue_launches *launches;
	uint32_t enqueued, begun; /* how many launches and how many starts have passed */
	/* The queue's length after the current change, and when that change was. */
	int64_t time, length;
};

static bool run_next(struct run *run)
{
	const struct queue_launches *launches = run->launches;
	if (run->begun == launches->n)
		return false;
	bool grows = run->enqueued < launches->n &&
		     launches->enqueued[run->enqueued] <= launches->begun[run->begun];
	run->time = grows ? launches->enqueued[run->enqueued++] : launches->begun[run->begun++];
	run->length += grows ? 1 : -1;
	return true;
}

static void queue_describe(struct hwy_queue *queue, const uint64_t *counts)
{
	long double sum = 0, squares = 0;
	queue->min = queue->max;
	for (int64_t length = queue->max; length >= 0; length--) {
		sum += (long double)counts[length] * (long double)length;
		if (counts[length])
			queue->min = length;
	}
	long double mean = sum / (long double)queue->n;
	for (int64_t length = 0; length <= queue->max; length++) {
		long double off = (long double)length - mean;
		squares += (long double)counts[length] * off * off;
	}
	queue->mean = (double)mean;
	queue->deviation = queue->n > 1 ? (double)sqrtl(squares / (long double)(queue->n - 1)) : 0;
	queue->quarter = hwy_histogram_interpolated(counts, queue->n, 0.25);
	queue->median = hwy_histogram_interpolated(counts, queue->n, 0.5);
	queue->three_quarters = hwy_histogram_interpolated(counts, queue->n, 0.75);
}

static void add_point(struct hwy_queue *queue, uint32_t most, int64_t time, int64_t length)
{
	if (queue->n_series && queue->series[queue->n_series - 1].time == time)
		queue->series[queue->n_series - 1].length = length;
	else if (queue->n_series < most)
		queue->series[queue->n_series++] = (struct hwy_queue_point){time, length};
}

static void every_change(const struct queue_launches *launches, uint32_t most,
			 struct hwy_queue *queue)
{
	struct run run = {.launches = launches};
	while (run_next(&run))
		add_point(queue, most, run.time, run.length);
}

/* Makes one point for each stretch of time: the queue's largest length in the stretch, the length
 * at its begin included. */
static void largest_lengths(const struct queue_launches *launches, uint32_t most,
			    struct hwy_queue *queue)
{
	int64_t from = launches->enqueued[0], to = launches->begun[launches->n - 1];
	int64_t stretch = (to - from) / most + 1;
	struct run run = {.launches = launches};
	int64_t largest = 0, before = 0, at = from;
	while (run_next(&run)) {
		while (run.time >= at + stretch) {
			add_point(queue, most, at, largest);
			at += stretch;
			largest = before;
		}
		before = run.length;
		largest = run.length > largest ? run.length : largest;
	}
	add_point(queue, most, at, largest);
}

void queue_measure(struct queue_launches *launches, uint32_t most_points, struct hwy_queue *queue)
{
	*queue = (struct hwy_queue){.n = 2ull * launches->n, .exact = true};
	if (launches->n == 0)
		return;
	radix_sort(launches->enqueued, launches->n);
	radix_sort(launches->begun, launches->n);
	struct run run = {.launches = launches};
	while (run_next(&run))
		queue->max = run.length > queue->max ? run.length : queue->max;

	/* counts[length] for each length 0 … max */
	uint64_t *counts = hwy_zarray((size_t)queue->max + 1, sizeof *counts);
	long double area = 0;
	int64_t from = launches->enqueued[0], before = from, length = 0;
	run = (struct run){.launches = launches};
	while (run_next(&run)) {
		area += (long double)length * (long double)(run.time - before);
		before = run.time;
		length = run.length;
		counts[length]++;
	}
	queue->time_mean = before > from ? (double)(area / (long double)(before - from)) : 0;
	queue_describe(queue, counts);
	free(counts);

	if (most_points == 0)
		return;
	queue->exact = queue->n <= most_points;
	queue->series = hwy_array(most_points, sizeof *queue->series);
	if (queue->exact)
		every_change(launches, most_points, queue);
	else
		largest_lengths(launches, most_points, queue);
}

/* ---- delays ---------------------------------------------------------------------------------- */

void queue_delays_measure(struct queue_launches *launches, int64_t late,
			  struct queue_delays *delays)
{
	uint32_t n = launches->n;
	delays->n = n;
	if (n == 0)
		return;
	radix_sort(launches->delay, n);
	long double sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		sum += (long double)launches->delay[i];
		delays->late += launches->delay[i] > late;
	}
	delays->min = launches->delay[0];
	delays->median = hwy_interpolated(launches->delay, n, 50);
	delays->p95 = hwy_interpolated(launches->delay, n, 95);
	delays->max = launches->delay[n - 1];
	delays->mean = (double)(sum / n);
}
