/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - how much work waits on a stream, and how long a launch takes to become work.
 *
 * The queue of a stream grows by one when a call starts that enqueues work there, and shrinks by
 * one when that work starts. The launch of a graph is one entry, however many nodes the graph
 * has on the stream.
 */
#ifndef HWY_ANALYZE_QUEUE_H
#define HWY_ANALYZE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct hwy_queue_point {
	int64_t time, length;
};

struct hwy_queue {
	uint64_t n; /* how often the queue's length changed: twice for each entry */
	int64_t max;
	double time_mean; /* mean length over time, from the first launch to the last start */
	/* Statistics of the queue's length after each change, computed as pandas' describe()
	 * does. */
	double mean, deviation, quarter, median, three_quarters;
	int64_t min;
	struct hwy_queue_point *series;
	uint32_t n_series;
	/* True where the series has every change; false where each point is the largest length
	 * in a stretch of time. */
	bool exact;
};

struct queue_delays { /* ns from the end of a call to the start of its work, never below 0 */
	uint64_t n;
	int64_t min, median, p95, max;
	double mean;
	uint64_t late;          /* how many delays are above hwy_breakdown_options.late */
	uint64_t short_kernels; /* kernels that took less time than the call that launched them */
	uint64_t short_ops;     /* kernels, copies and fills that took less time than their call */
};

/* The launches of one stream, in order of the work's start: each array has n elements. */
struct queue_launches {
	/* When each call started, at most 'begun'; queue_measure sorts the array. */
	int64_t *enqueued;
	int64_t *begun; /* when the work of each launch started */
	/* The ns from the end of each call to the start of its work; queue_delays_measure sorts
	 * the array. */
	int64_t *delay;
	uint32_t n, cap;
};

void queue_launches_add(struct queue_launches *launches, int64_t enqueued, int64_t begun,
			int64_t delay);
void queue_launches_free(struct queue_launches *launches);
void queue_measure(struct queue_launches *launches, uint32_t most_points, struct hwy_queue *queue);
/* Fills in all fields of 'delays' but short_kernels and short_ops; delays above 'late' ns count
 * as late. */
void queue_delays_measure(struct queue_launches *launches, int64_t late,
			  struct queue_delays *delays);

#endif
