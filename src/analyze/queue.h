/* queue.h - how much work waits on a stream, and how long a launch takes to become work.
 *
 * The queue of a stream grows by one when a call starts that enqueues work there, and shrinks by
 * one when that work starts. A graph's launch is one entry, however many nodes it has on the
 * stream.
 */
#ifndef HWY_ANALYZE_QUEUE_H
#define HWY_ANALYZE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct hwy_queue_point {
	int64_t time, length;
};

struct hwy_queue {
	uint64_t n; /* changes: two an entry */
	int64_t max;
	double time_mean; /* over time, from the first launch to the last start */
	/* over the changes, as pandas describes them */
	double mean, deviation, quarter, median, three_quarters;
	int64_t min;
	struct hwy_queue_point *series;
	uint32_t n_series;
	bool exact; /* the series has every change; if not, the largest length of each stretch */
};

struct hwy_delays { /* from the end of the call to the start of its work, never below 0 */
	uint64_t n;
	int64_t min, median, p95, max;
	double mean;
	uint64_t late;          /* above the threshold */
	uint64_t short_kernels; /* kernels that took less time than the call that launched them */
	uint64_t short_ops;     /* the same, copies and fills included */
};

/* The launches of one stream, in order of the work's start; arrays of n. */
struct hwy_launches {
	int64_t *enqueued; /* start of the call; sorted by queue_measure */
	int64_t *begun;    /* start of the work */
	int64_t *delay;    /* sorted by delays_measure */
	uint32_t n, cap;
};

void launches_add(struct hwy_launches *launches, int64_t enqueued, int64_t begun, int64_t delay);
void launches_free(struct hwy_launches *launches);
void queue_measure(struct hwy_launches *launches, uint32_t most_points, struct hwy_queue *queue);
/* Fills in all but the counts of short work. */
void delays_measure(struct hwy_launches *launches, int64_t late, struct hwy_delays *delays);

#endif
