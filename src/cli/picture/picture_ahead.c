/* SPDX-License-Identifier: Apache-2.0 */
/* picture_ahead.c - the CPU's lead over a device: how many ops are enqueued and have not ended. */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/picture/picture.h"

void picture_queue_add(struct picture_queue *queue, int64_t enqueued, int64_t ended)
{
	HWY_GROW(queue->enqueued, queue->n, queue->cap_enqueued);
	HWY_GROW(queue->ended, queue->n, queue->cap_ended);
	/* An op cannot end before it is enqueued, but the clocks of CPU and device may disagree. */
	queue->enqueued[queue->n] = enqueued < ended ? enqueued : ended;
	queue->ended[queue->n++] = ended;
}

static int64_t picture_ahead_inside(const struct hwy_picture *picture, int64_t time)
{
	return time < picture->from ? picture->from : time > picture->to ? picture->to : time;
}

void picture_ahead(const struct hwy_picture *picture, struct picture_queue *queue,
		   struct picture_row *row)
{
	uint32_t begun = 0, ended = 0, n = queue->n;
	double area = 0; /* sum of lead (ops) times time (ns) */
	int64_t last = picture->from;
	if (n) {
		qsort(queue->enqueued, n, sizeof *queue->enqueued, hwy_ascending);
		qsort(queue->ended, n, sizeof *queue->ended, hwy_ascending);
	}
	while (ended < n) {
		bool begins = begun < n && queue->enqueued[begun] < queue->ended[ended];
		int64_t time = begins ? queue->enqueued[begun] : queue->ended[ended];
		area += (double)(begun - ended) *
			(double)(picture_ahead_inside(picture, time) - last);
		last = picture_ahead_inside(picture, time);
		if (begins)
			begun++;
		else
			ended++;
		if (time >= picture->from && time < picture->to && begun - ended > row->most_ahead)
			row->most_ahead = begun - ended;
	}
	row->n_ahead = n;
	row->mean_ahead = area / (double)(picture->to - picture->from);
	free(queue->enqueued);
	free(queue->ended);
	*queue = (struct picture_queue){0};
}
